/// The rows that are written to a file instead of the candidate; temporary tables hold them once it is built.
struct QuarantineQuery: Hashable, Sendable {
  /// Queries with columns for the key and entity number in the store, the decision's index, and the key and entity
  /// number of the equal object that is kept, if that is the reason.
  let queries: [String]
  let decisions: [DataDecision]
  let rows: Int64
}
