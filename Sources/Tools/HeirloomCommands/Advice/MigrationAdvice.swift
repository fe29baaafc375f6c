import Heirloom

/// The commands to suggest when a migration is refused, with the models that the user gave.
struct MigrationAdvice {
  /// Returns the command that prints Swift source for the missing mapping; `nil` if that command would fail too.
  let skeleton: (_ store: String) -> String?
  /// Returns the command that acknowledges all losses of a plan in the history's lock; `nil` if there is none.
  let acknowledgement: (_ plan: MigrationPlan) -> String?
}
