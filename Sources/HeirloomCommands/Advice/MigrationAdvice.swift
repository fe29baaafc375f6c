import Heirloom

/// The commands that a refused migration is answered with, which know the models that were given.
struct MigrationAdvice {
  /// Returns the command that prints Swift source to start a mapping of a store from; `nil` where none works.
  let skeleton: (_ store: String) -> String?
  /// Returns the command that acknowledges all losses of a plan in the history's lock; `nil` where none does.
  let acknowledgement: (_ plan: MigrationPlan) -> String?
}
