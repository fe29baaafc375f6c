/// A table or an index of the store that stays where it is in a copy of it.
package struct StayingObject: Hashable, Sendable {
  /// The object's name in the store.
  let sourceName: String
  /// True if no statement of the plan writes its rows or entries: then the copy has the same ones.
  let isUnwritten: Bool
}
