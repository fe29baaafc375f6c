/// The objects of one entity that code changes or deletes, recorded because this may undo earlier changes.
package final class ObjectEdits {
  /// The set of objects of which a watched column was set.
  package let changed: Int
  /// The set of objects that were deleted.
  package let deleted: Int
  private let sets: ObjectSets
  /// True for the slots of watched columns.
  private let isWatched: [Bool]

  init(_ watched: Set<String>, columns: [String], in sets: ObjectSets) {
    self.sets = sets
    (changed, deleted) = (sets.add(), sets.add())
    isWatched = columns.map(watched.contains)
  }

  @inline(__always)
  func note(slot: Int, of key: Int64) {
    if isWatched[slot], !sets.ignoresEdits { sets.insert(key, into: changed) }
  }

  func noteDeletion(of key: Int64) {
    if !sets.ignoresEdits { sets.insert(key, into: deleted) }
  }
}
