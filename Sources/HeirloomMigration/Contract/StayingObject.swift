/// A table or an index that stays unchanged or is changed in place in a copy of the store.
package struct StayingObject: Hashable, Sendable {
  let sourceName: String
  /// True if no statement of the plan writes its rows or entries, so the copy has the same ones.
  let isUnwritten: Bool
}
