import HeirloomStore

/// Where objects of one tree are found that decisions removed, while a candidate is built.
struct RemovedObjects: Hashable, Sendable {
  /// The numbers of the tree's entities.
  let entities: ClosedRange<Int>
  /// The temporary table of the removed objects, quoted.
  let table: String
  /// The temporary table of those that stay, quoted.
  let rows: String

  /// The query of what took the place of the object with the key `?1`: a key and an entity number, or NULL.
  ///
  /// It has no row for an object that nobody removed.
  var successor: String {
    "SELECT r.pk, r.ent FROM \(table) AS m LEFT JOIN \(rows) AS r ON r.pk = m.survivor WHERE m.pk = ?1"
  }

  /// The query of what was merged into the object with the key `?1`: entity numbers and keys in the source.
  var predecessors: String {
    "SELECT m.sent, m.spk FROM \(table) AS m WHERE m.survivor = ?1 ORDER BY m.place, m.seq"
  }
}

/// A way by which an entity mapping comes to objects that decisions removed.
struct RemovedLink: Hashable, Sendable {
  /// The name of the entity mapping that asked.
  let mapping: String
  /// The entity of its source; `nil` if it has none.
  let entity: String?
  /// The relationship of the source; `nil` if a policy asked otherwise.
  let relationship: String?
}
