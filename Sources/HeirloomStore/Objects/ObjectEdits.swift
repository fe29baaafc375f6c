/// The sets of those objects of one entity that code changes or deletes, where that may undo what was made before.
package final class ObjectEdits {
  /// The set of objects of which a watched value was set.
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

  /// Notes that a slot of an object is set.
  @inline(__always)
  func note(slot: Int, of key: Int64) {
    if isWatched[slot], !sets.ignoresEdits { sets.insert(key, into: changed) }
  }

  /// Notes that an object is deleted.
  func noteDeletion(of key: Int64) {
    if !sets.ignoresEdits { sets.insert(key, into: deleted) }
  }
}
