/// The rows that go to a file instead of the candidate, as temporary tables tell when it is built.
struct QuarantineQuery: Hashable, Sendable {
  /// Queries of the key and the entity number in the store, the number of the decision, and the kept equal object.
  ///
  /// That object is given by key and entity number, if it is the reason.
  let queries: [String]
  /// All decisions.
  let decisions: [DataDecision]
  /// The number of rows.
  let rows: Int64
}
