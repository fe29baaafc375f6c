import HeirloomStore

/// The temporary tables of one entity tree's objects that decisions removed, while a candidate is built.
struct RemovedObjects: Hashable, Sendable {
  /// The numbers of the tree's entities.
  let entities: ClosedRange<Int>
  /// The quoted name of the temporary table of the removed objects.
  let table: String
  /// The quoted name of the temporary table of the objects that stay.
  let rows: String

  /// The query for the successor of the removed object with the key `?1`: its key and entity number, or NULLs.
  ///
  /// It has no row for an object that wasn't removed.
  var successor: String {
    "SELECT r.pk, r.ent FROM \(table) AS m LEFT JOIN \(rows) AS r ON r.pk = m.survivor WHERE m.pk = ?1"
  }

  /// The query for the objects that were merged into the one with the key `?1`: their entity numbers and keys in the
  /// source.
  var predecessors: String {
    "SELECT m.sent, m.spk FROM \(table) AS m WHERE m.survivor = ?1 ORDER BY m.place, m.seq"
  }
}

/// A link from an entity mapping's objects to objects that decisions removed.
struct RemovedLink: Hashable, Sendable {
  /// The name of the entity mapping that requested the objects.
  let mapping: String
  /// The source entity of the mapping; `nil` if it has none.
  let entity: String?
  /// The source relationship; `nil` if a policy requested the objects in another way.
  let relationship: String?
}
