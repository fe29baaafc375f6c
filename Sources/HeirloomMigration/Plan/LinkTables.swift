import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Temporary tables of links, for relationships that are stored in another way than before.
///
/// Each has the columns `owner`, `target`, `owner_entity`, `target_entity` (the destination's keys and numbers) and
/// `position`. The primary key is (owner, target), so that looking up the links of one row is fast whatever indexes the store has; in a table
/// of pairs, owner and target are unique each.
struct LinkTables {
  /// One table of links.
  struct Table: Hashable {
    /// The table's name in the `temp` schema.
    let name: String
    /// The relationship that it serves, for a person.
    let subject: String
    /// The query that fills it.
    let query: String
    /// Whether each object may be in one link only; of the links of the query, those with the lowest keys are taken.
    let isOfPairs: Bool
  }

  /// The tables, in the order in which they were asked for.
  private(set) var tables: [Table] = []

  /// The steps that make and fill the tables.
  var steps: [MigrationStep] {
    tables.map { table in
      let columns = "target_entity INTEGER, owner_entity INTEGER, position INTEGER"
      let statement =
        table.isOfPairs
        ? "CREATE TEMP TABLE \(quote(table.name)) (owner INTEGER PRIMARY KEY, target INTEGER UNIQUE, \(columns))"
        : "CREATE TEMP TABLE \(quote(table.name)) (owner INTEGER, target INTEGER, \(columns),"
          + " PRIMARY KEY (owner, target)) WITHOUT ROWID"
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

  /// Returns the table with the links of a to-one relationship of the destination, one route's own.
  ///
  /// The links come from the source relationship that the mapping names, else from that of the inverse, turned round.
  ///
  /// - Returns: `nil` when the source has no such links: the relationship is new.
  mutating func table(
    for relationship: RelationshipDescription, of entity: String, route: EntityRoute, routing: EntityRouting,
    source: PhysicalSchema, destination: PhysicalSchema
  ) -> Table? {
    let queries = LinkQueries(routing: routing, source: source, destination: destination)
    guard let links = queries.links(of: relationship, declaredBy: entity, ownerRoutes: [route]) else { return nil }
    let owned = queries.filtered(links, relationship: relationship, declaredBy: entity)
    return add(
      subject: "\(route.destination).\(relationship.name)",
      query: "SELECT owner, target, target_entity, owner_entity, position FROM (\(owned))")
  }

  /// Returns the table with the links of a one-to-one relationship of the destination, the same for both sides.
  ///
  /// - Returns: The table, and whether the relationship leads from its targets to its owners; `nil` when the source has no
  ///   such links.
  mutating func pairs(
    of relationship: RelationshipDescription, declaredBy entity: String, routing: EntityRouting,
    source: PhysicalSchema, destination: PhysicalSchema
  ) -> (table: Table, isReversed: Bool)? {
    var (relationship, entity) = (relationship, entity)
    var isReversed = false
    if let inverse = destination.model.inverse(of: relationship),
      [inverse.entity.name, inverse.relationship.name].lexicographicallyPrecedes(
        [entity, relationship.name], by: { $0.utf16Precedes($1) })
    {
      (relationship, entity, isReversed) = (inverse.relationship, inverse.entity.name, true)
    }
    let queries = LinkQueries(routing: routing, source: source, destination: destination)
    let owners = destination.model.entityTree(from: entity).compactMap { routing.byDestination[$0.name] }
    guard let links = queries.links(of: relationship, declaredBy: entity, ownerRoutes: owners) else { return nil }
    let owned = queries.filtered(links, relationship: relationship, declaredBy: entity)
    let table = add(
      subject: "\(entity).\(relationship.name)",
      query: "SELECT owner, target, target_entity, owner_entity, NULL FROM (\(owned))", isOfPairs: true)
    return (table, isReversed)
  }

  /// Returns the table with the links of a to-many relationship without inverse, seen from the rows that it leads to.
  mutating func table(
    forInverseless relationship: RelationshipDescription, of entity: String, routing: EntityRouting,
    source: PhysicalSchema, destination: PhysicalSchema
  ) -> Table? {
    let queries = LinkQueries(routing: routing, source: source, destination: destination)
    let owners = destination.model.entityTree(from: entity).compactMap { routing.byDestination[$0.name] }
    guard let links = queries.links(of: relationship, declaredBy: entity, ownerRoutes: owners) else { return nil }
    let owned = queries.filtered(links, relationship: relationship, declaredBy: entity)
    return add(
      subject: "\(entity).\(relationship.name)",
      query: "SELECT target, owner, owner_entity, target_entity, position FROM (\(owned))")
  }

  private mutating func add(subject: String, query: String, isOfPairs: Bool = false) -> Table {
    if let known = tables.first(where: { $0.query == query && $0.isOfPairs == isOfPairs }) { return known }
    let table = Table(
      name: "heirloom_links_\(tables.count + 1)", subject: subject, query: query, isOfPairs: isOfPairs)
    tables.append(table)
    return table
  }
}

/// Writes the queries of links that a relationship of the destination takes over.
struct LinkQueries {
  let routing: EntityRouting
  let source: PhysicalSchema
  let destination: PhysicalSchema

  /// Returns the source's links for a relationship of the destination, seen from its own side.
  ///
  /// - Parameters:
  ///   - relationship: The relationship of the destination.
  ///   - entity: The entity that declares it.
  ///   - ownerRoutes: The routes of the entities that have or inherit it.
  /// - Returns: `nil` when neither it nor its inverse has a source.
  func links(
    of relationship: RelationshipDescription, declaredBy entity: String, ownerRoutes: [EntityRoute]
  ) -> LinkUnion? {
    var own: [LinkQuery] = []
    for route in ownerRoutes {
      guard let name = route.properties[relationship.name]?.sourceRelationshipName,
        let query = source.links(of: name, in: route.source, schema: SchemaName.store, isReversed: false)
      else { continue }
      if !own.contains(query) { own.append(query) }
    }
    if let joined = LinkUnion(own) { return joined }
    guard let inverse = destination.model.inverse(of: relationship) else { return nil }
    var reversed: [LinkQuery] = []
    for descendant in destination.model.entityTree(from: inverse.entity.name) {
      guard let route = routing.byDestination[descendant.name],
        let name = route.properties[inverse.relationship.name]?.sourceRelationshipName,
        let query = source.links(of: name, in: route.source, schema: SchemaName.store, isReversed: true)
      else { continue }
      if !reversed.contains(query) { reversed.append(query) }
    }
    return LinkUnion(reversed)
  }

  /// Returns the links whose two ends survive and fit the destination, with the destination's keys and the entity that each
  /// end becomes.
  func filtered(_ links: LinkUnion, relationship: RelationshipDescription, declaredBy entity: String) -> String {
    let parts = links.parts.compactMap { part -> String? in
      guard let owner = end("owner", entity: entity, root: part.ownerRoot),
        let target = end("target", entity: relationship.destinationEntity, root: part.targetRoot)
      else { return nil }
      return "SELECT \(owner.key) AS owner, \(target.key) AS target, \(owner.number) AS owner_entity,"
        + " \(target.number) AS target_entity, k.position AS position, k.inverse_position AS inverse_position"
        + " FROM (\(part.sql)) AS k\(target.join)\(owner.join)"
    }
    guard !parts.isEmpty else {
      return "SELECT owner, target, NULL AS owner_entity, NULL AS target_entity, position, inverse_position"
        + " FROM (\(links.sql)) WHERE 0"
    }
    return parts.joined(separator: " UNION ALL ")
  }

  /// Whether the ends of all links are of the trees that the destination's two tables draw from, and of no others: a key that
  /// is taken over as it is leads to the same object then.
  func keepsKeys(_ links: LinkUnion, relationship: RelationshipDescription, declaredBy entity: String) -> Bool {
    func roots(of entity: String) -> [String] {
      destination.model.rootEntity(of: entity).map { routing.sourceRoots(ofTree: $0.name) } ?? []
    }
    let (owners, targets) = (roots(of: entity), roots(of: relationship.destinationEntity))
    return links.parts.allSatisfy { owners == [$0.ownerRoot] && targets == [$0.targetRoot] }
  }

  /// The rows at one end of links that become something the end may be; `nil` if none do.
  private func end(_ name: String, entity: String, root: String) -> (join: String, key: String, number: String)? {
    let routes = destination.model.entityTree(from: entity).compactMap { routing.byDestination[$0.name] }
      .filter { source.model.rootEntity(of: $0.source)?.name == root }
    guard let table = routes.first.flatMap({ source.table(ofEntity: $0.source)?.name }),
      let destinationRoot = destination.model.rootEntity(of: entity)?.name
    else { return nil }
    let numbers = Dictionary(
      routes.map { ($0.sourceNumber, $0.destinationNumber) }, uniquingKeysWith: { first, _ in first })
    let surviving = numbers.keys.sorted().map(String.init).joined(separator: ", ")
    let alias = quote("\(name)_row")
    let number = "\(alias).\(quote(PhysicalName.entity))"
    return (
      " JOIN \(quote(SchemaName.store)).\(quote(table)) AS \(alias)"
        + " ON \(alias).\(quote(PhysicalName.primaryKey)) = k.\(name) AND \(number) IN (\(surviving))",
      routing.keys.moved("k.\(name)", from: root, to: destinationRoot),
      TableTransfer.renumbering(number, numbers).sql
    )
  }
}
