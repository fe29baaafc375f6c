/// The rows that go to a file instead of into the candidate: told by temporary tables that are there when it is built.
struct QuarantineQuery: Hashable, Sendable {
  /// Queries of: the key and the entity number in the store, the number of the decision, and the key and the entity number of
  /// the equal object that stays, if that is why.
  let queries: [String]
  /// All decisions.
  let decisions: [DataDecision]
  /// The number of rows.
  let rows: Int64
}
