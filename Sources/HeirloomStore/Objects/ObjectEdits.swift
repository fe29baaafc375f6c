/// The sets of those objects of one entity that code changes or deletes, where that may undo what was made before.
package final class ObjectEdits {
  /// The columns and links of an entity that are watched.
  package struct Watched {
    /// The columns of values.
    package var values: Set<String> = []
    /// The columns of keys.
    package var keys: Set<String> = []
    /// The relationships whose links are in a table of their own.
    package var joins: Set<String> = []

    /// Watches nothing.
    package init() {}
  }

  /// The set of objects of which a watched value was set.
  package let changed: Int
  /// The set of objects of which a watched link was set or removed.
  package let relinked: Int
  /// The set of objects that were deleted.
  package let deleted: Int
  private let sets: ObjectSets
  /// The sets by slot; -1 for a slot that isn't watched.
  private let numbers: [Int]
  private let joins: Set<String>

  init(_ watched: Watched, columns: [String], in sets: ObjectSets) {
    self.sets = sets
    let (changed, relinked) = (sets.add(), sets.add())
    (self.changed, self.relinked, deleted) = (changed, relinked, sets.add())
    numbers = columns.map { watched.values.contains($0) ? changed : watched.keys.contains($0) ? relinked : -1 }
    joins = watched.joins
  }

  /// Notes that a slot of an object is set.
  @inline(__always)
  func note(slot: Int, of key: Int64) {
    guard !sets.ignoresEdits else { return }
    let number = numbers[slot]
    if number >= 0 { sets.insert(key, into: number) }
  }

  /// Notes that a link of an object is removed.
  func noteUnlink(_ relationship: String, of key: Int64) {
    if !sets.ignoresEdits, joins.contains(relationship) { sets.insert(key, into: relinked) }
  }

  /// Notes that an object is deleted.
  func noteDeletion(of key: Int64) {
    if !sets.ignoresEdits { sets.insert(key, into: deleted) }
  }
}
