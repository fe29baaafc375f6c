import HeirloomStore

/// The temporary tables of one entity tree's objects that decisions removed, while a candidate is built.
struct RemovedObjects: Hashable, Sendable {
  let entities: ClosedRange<Int>
  /// The quoted name of the table of removed objects; `rows` is quoted too.
  let table: String
  /// The temporary table of the objects that stay.
  let rows: String

  /// The key and entity number that replace the removed `?1`, or NULLs; no row if it wasn't
  /// removed.
  var successor: String {
    "SELECT r.pk, r.ent FROM \(table) AS m LEFT JOIN \(rows) AS r ON r.pk = m.survivor WHERE m.pk = ?1"
  }

  /// The entity numbers and keys in the source of the objects that were merged into `?1`.
  var predecessors: String {
    "SELECT m.sent, m.spk FROM \(table) AS m WHERE m.survivor = ?1 ORDER BY m.place, m.seq"
  }
}

/// A link from an entity mapping's objects to objects that decisions removed.
struct RemovedLink: Hashable, Sendable {
  let mapping: String
  let entity: String?
  /// `nil` if a policy requested the objects in another way.
  let relationship: String?
}
