import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension Crossing {
  /// The source's links for a relationship of the destination, with its owners as `owner`.
  ///
  /// They come from the source relationships that the mapping names for the entities that have it.
  /// Source relationships that it names for the inverse are reversed and added, unless they are the
  /// inverse of one already included. So if relationships of sibling entities become one of their
  /// parent, the links of all are kept, whichever side of each the mapping names.
  func links(of relationship: RelationshipDescription, declaredBy entity: String) -> LinkUnion? {
    var known: Set<[String]> = []
    let own = queries(of: relationship.name, below: entity, isReversed: false, known: &known)
    guard let inverse = destination.model.storedInverse(of: relationship),
      inverse.entity.name != entity || inverse.relationship.name != relationship.name
    else { return LinkUnion(own: own, reversed: []) }
    let reversed = queries(of: inverse.relationship.name, below: inverse.entity.name, isReversed: true, known: &known)
    return LinkUnion(own: own, reversed: reversed.filter { !own.contains($0) })
  }

  /// Leaves out inverses of relationships in `known`.
  private func queries(
    of relationship: String, below entity: String, isReversed: Bool, known: inout Set<[String]>
  ) -> [LinkQuery] {
    var found: [LinkQuery] = []
    for heir in destination.model.entityTree(from: entity) {
      guard let route = routing.byDestination[heir.name],
        let name = route.properties[relationship]?.sourceRelationshipName,
        let described = source.model.relationship(named: name, of: route.source),
        let owner = source.model.declaringEntity(ofProperty: name, in: route.source),
        let query = source.links(of: name, in: route.source, isReversed: isReversed)
      else { continue }
      if isReversed, let other = source.model.storedInverse(of: described),
        known.contains([other.entity.name, other.relationship.name])
      {
        continue
      }
      if !isReversed { known.insert([owner.name, name]) }
      if !found.contains(query) { found.append(query) }
    }
    return found
  }

  /// Links whose two ends survive, with the destination's keys and each end's entity number.
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
      // No link is kept, but the enclosing queries need the columns.
      return "SELECT owner, target, NULL AS owner_entity, NULL AS target_entity, position, inverse_position"
        + " FROM (\(links.sql)) WHERE 0"
    }
    return links.joined(parts, " owner_entity, target_entity,")
  }

  /// True if a key that is copied unchanged refers to the same object, at both ends.
  func keepsKeys(_ links: LinkUnion, relationship: RelationshipDescription, declaredBy entity: String) -> Bool {
    func roots(of entity: String) -> [String] {
      destination.model.rootEntity(of: entity).map { routing.sourceRoots(ofTree: $0.name) } ?? []
    }
    let (owners, targets) = (roots(of: entity), roots(of: relationship.destinationEntity))
    return links.parts.allSatisfy { owners == [$0.ownerRoot] && targets == [$0.targetRoot] }
  }

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
      " JOIN \(SchemaName.rows(of: table, as: alias))"
        + " ON \(alias).\(quote(PhysicalName.primaryKey)) = k.\(name) AND \(number) IN (\(surviving))",
      routing.keys.moved("k.\(name)", from: root, to: destinationRoot),
      CellEntry.renumbering(number, numbers).sql
    )
  }
}
