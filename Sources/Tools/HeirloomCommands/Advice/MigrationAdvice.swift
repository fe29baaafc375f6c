import Heirloom

/// The commands to suggest when a migration is refused, with the models that the user gave.
struct MigrationAdvice {
  /// The command that prints Swift source for the missing mapping; `nil` if it would fail too.
  let skeleton: (_ store: String) -> String?
  /// The command that acknowledges all of a plan's losses in the lock; `nil` if there is none.
  let acknowledgement: (_ plan: MigrationPlan) -> String?
}
