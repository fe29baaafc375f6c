/// Recorded because code that changes or deletes objects may undo earlier changes.
package final class ObjectEdits {
  /// The number of the set of objects of which a watched column was set.
  package let changed: Int
  /// The number of the set of deleted objects.
  package let deleted: Int
  private let sets: ObjectSets
  /// By slot.
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
