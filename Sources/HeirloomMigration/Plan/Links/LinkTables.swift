import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Temporary tables of links, for relationships whose storage changes.
///
/// Each has the columns `owner`, `target`, `owner_entity`, `target_entity` (the destination's keys
/// and numbers) and `position`. The primary key is (owner, target), so finding the links of one row
/// is fast whatever indexes the store has. In a table of pairs, owner and target are each unique.
struct LinkTables {
  struct Table: Equatable {
    let name: String
    let subject: String
    let query: String
    /// True when each object may be in one link only; the links with the lowest keys are kept.
    let isOfPairs: Bool
  }

  static let namePrefix = "heirloom_links_"

  private(set) var tables: [Table] = []
  private let prefix: String

  init(prefix: String = Self.namePrefix) {
    self.prefix = prefix
  }

  var steps: [MigrationStep] {
    tables.map { table in
      let columns = "target_entity INTEGER, owner_entity INTEGER, position INTEGER"
      let statement =
        table.isOfPairs
        ? "CREATE TEMP TABLE \(quote(table.name)) (owner INTEGER PRIMARY KEY, target INTEGER UNIQUE, \(columns))"
        : "CREATE TEMP TABLE \(quote(table.name)) (owner INTEGER, target INTEGER, \(columns),"
          + " PRIMARY KEY (owner, target)) WITHOUT ROWID"
      // Of conflicting links the first is kept, so pairs are inserted in the order of their keys.
      let order = table.isOfPairs ? " ORDER BY owner, target" : ""
      return MigrationStep(
        kind: .gatherLinks, subject: table.subject, summary: "Gather the links of \(table.subject)",
        statements: [
          PlannedStatement(statement),
          PlannedStatement(
            "INSERT OR IGNORE INTO temp.\(quote(table.name)) (owner, target, target_entity, owner_entity, position) "
              + table.query + order),
        ])
    }
  }

  /// The same for all entities that have the relationship; `nil` if it is new.
  mutating func table(
    for relationship: RelationshipDescription, of entity: String, in crossing: Crossing
  ) -> Table? {
    guard let links = crossing.links(of: relationship, declaredBy: entity) else { return nil }
    let owned = crossing.filtered(links, relationship: relationship, declaredBy: entity)
    return add(
      subject: "\(entity).\(relationship.name)",
      query: "SELECT owner, target, target_entity, owner_entity, position FROM (\(owned))")
  }

  /// The same for both sides; with `isReversed`, the relationship's owners are the table's targets.
  mutating func pairs(
    of relationship: RelationshipDescription, declaredBy entity: String, in crossing: Crossing
  ) -> (table: Table, isReversed: Bool)? {
    let side = PairSide(of: relationship, declaredBy: entity, in: crossing.destination.model)
    let (relationship, entity) = (side.relationship, side.entity)
    guard let links = crossing.links(of: relationship, declaredBy: entity) else { return nil }
    let owned = crossing.filtered(links, relationship: relationship, declaredBy: entity)
    let table = add(
      subject: "\(entity).\(relationship.name)",
      // A one-to-one relationship has no order.
      query: "SELECT owner, target, target_entity, owner_entity, NULL FROM (\(owned))", isOfPairs: true)
    return (table, side.isReversed)
  }

  /// Its members are the table's owners.
  mutating func table(
    forInverseless relationship: RelationshipDescription, of entity: String, in crossing: Crossing
  ) -> Table? {
    guard let links = crossing.links(of: relationship, declaredBy: entity) else { return nil }
    let owned = crossing.filtered(links, relationship: relationship, declaredBy: entity)
    return add(
      subject: "\(entity).\(relationship.name)",
      query: "SELECT target, owner, owner_entity, target_entity, position FROM (\(owned))")
  }

  private mutating func add(subject: String, query: String, isOfPairs: Bool = false) -> Table {
    if let known = tables.first(where: { $0.query == query && $0.isOfPairs == isOfPairs }) { return known }
    let table = Table(
      name: "\(prefix)\(tables.count + 1)", subject: subject, query: query, isOfPairs: isOfPairs)
    tables.append(table)
    return table
  }
}

/// The side from which a one-to-one relationship's links are collected: first by entity and name.
struct PairSide {
  let relationship: RelationshipDescription
  let entity: String
  let isReversed: Bool

  init(of relationship: RelationshipDescription, declaredBy entity: String, in model: ManagedObjectModel) {
    if let inverse = model.storedInverse(of: relationship),
      [inverse.entity.name, inverse.relationship.name].lexicographicallyPrecedes(
        [entity, relationship.name], by: { $0.utf16Precedes($1) })
    {
      (self.relationship, self.entity, isReversed) = (inverse.relationship, inverse.entity.name, true)
    } else {
      (self.relationship, self.entity, isReversed) = (relationship, entity, false)
    }
  }
}
