import HeirloomStore

/// The place of one tree's objects that decisions removed, while a candidate is built.
struct RemovedObjects: Hashable, Sendable {
  /// The numbers of the tree's entities.
  let entities: ClosedRange<Int>
  /// The temporary table of the removed objects, quoted.
  let table: String
  /// The temporary table of the objects that stay, quoted.
  let rows: String

  /// The query of the successor of the object with the key `?1`: a key and an entity number, or NULL.
  ///
  /// It has no row for an object that nobody removed.
  var successor: String {
    "SELECT r.pk, r.ent FROM \(table) AS m LEFT JOIN \(rows) AS r ON r.pk = m.survivor WHERE m.pk = ?1"
  }

  /// The query of the objects that were merged into the one with the key `?1`: entity numbers and keys in the source.
  var predecessors: String {
    "SELECT m.sent, m.spk FROM \(table) AS m WHERE m.survivor = ?1 ORDER BY m.place, m.seq"
  }
}

/// A link by which an entity mapping comes to objects that decisions removed.
struct RemovedLink: Hashable, Sendable {
  /// The name of the entity mapping that asked.
  let mapping: String
  /// The source entity of the mapping; `nil` if it has none.
  let entity: String?
  /// The relationship of the source; `nil` if a policy asked otherwise.
  let relationship: String?
}
