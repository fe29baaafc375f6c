/// Who says how a candidate is made.
package enum BuilderChoice: Hashable, Sendable {
  /// The planner, by what it counts on the store.
  case automatic
  /// The caller: both builders give the same store, and a test compares them.
  case always(MigrationPlan.Builder)
}
