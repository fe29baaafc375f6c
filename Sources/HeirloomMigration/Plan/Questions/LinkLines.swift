import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The lines of the ledger for links that no relationship of the destination takes over.
///
/// A link is one thing, which a relationship and its inverse both account for: it goes on if either side takes it,
/// which follows from the entities of the two objects. Links of objects that go are told with these, and links of
/// objects that code makes are its own. A key that leads to no object is no link.
struct LinkLines {
  let crossing: Crossing

  /// Links of one name that are lost: queries with `owner` and `target`, and the entities of the targets.
  private struct Line {
    var queries: [String] = []
    var targets: Set<String> = []
  }

  /// The relationship that a loss is told for: one of the destination, by entity and name, or the source's own.
  private struct LossPlace {
    let heir: [String]?
  }

  /// The links of a relationship by the account of either side: a query with `owner` and `target`, and their trees.
  private struct Links {
    let sql: String
    let ownerRoot: String
    let targetRoot: String
  }

  private var source: PhysicalSchema { crossing.source }

  /// Asks for the links between objects whose entities have no way to be linked in the destination.
  func ask(_ questions: inout StoreQuestions) {
    /// Links to objects that a relationship of the destination can't lead to, by its entity and name.
    var foreign: [[String]: Line] = [:]
    for entity in source.model.entities {
      for relationship in entity.relationships {
        guard let links = links(of: relationship, declaredBy: entity.name) else { continue }
        var dropped = Line()
        for owner in concrete(entity.name) {
          // Code links what it makes.
          guard !crossing.isByCode(owner), let route = crossing.routing.bySource[owner] else { continue }
          let heirs = heirs(of: relationship.name, in: route)
          var targets: [[String]?: [String]] = [:]
          for target in concrete(relationship.destinationEntity) {
            guard let place = place(ofLinksFrom: route, heirs, to: target, relationship) else { continue }
            targets[place.heir, default: []].append(target)
          }
          for (heir, targets) in targets.sorted(by: { ($0.key ?? []).utf16Precedes($1.key ?? []) }) {
            let query = between(owner, targets, links)
            if let heir {
              foreign[heir, default: Line()].queries.append(query)
              foreign[heir]?.targets.formUnion(targets)
            } else {
              dropped.queries.append(query)
            }
          }
        }
        tell(dropped, as: .linksDropped, [entity.name, relationship.name], &questions)
      }
    }
    for (heir, line) in foreign.sorted(by: { $0.key.utf16Precedes($1.key) }) {
      let targets = line.targets.sorted { $0.utf16Precedes($1) }
      tell(line, as: .foreignLinks(to: targets), heir, &questions)
    }
  }

  private func tell(_ line: Line, as kind: DataEffect.Kind, _ name: [String], _ questions: inout StoreQuestions) {
    guard !line.queries.isEmpty else { return }
    let reason = DataEffect(kind: kind, entity: name[0], properties: [name[1]], rows: []).description
    let counts = line.queries.map { "SELECT COUNT(DISTINCT owner) AS owners, COUNT(*) AS links FROM (\($0))" }
    questions.countLinks(counts) { rows, links in
      .loss(MigrationLoss(entity: name[0], property: name[1], reason: reason, rows: rows, links: links, kind: .links))
    }
  }

  /// Returns the entities of a tree that have objects.
  private func concrete(_ entity: String) -> [String] {
    source.model.entityTree(from: entity).map(\.name).filter { crossing.counts.byEntity[$0, default: 0] > 0 }
  }

  /// Returns the place at which the loss of links to objects of an entity is told: the relationship of the destination
  /// that would take them if it led there, else the source's own; `nil` if they go on, or the other side tells it.
  private func place(
    ofLinksFrom owner: EntityRoute, _ heirs: [[String]], to target: String, _ relationship: RelationshipDescription
  ) -> LossPlace? {
    guard !crossing.isByCode(target) else { return nil }
    guard let route = crossing.routing.bySource[target] else { return LossPlace(heir: heirs.first) }
    let model = crossing.destination.model
    func leads(_ heir: [String], to entity: String) -> Bool {
      model.relationship(named: heir[1], of: heir[0]).map { model.isEntity(entity, kindOf: $0.destinationEntity) }
        ?? false
    }
    if heirs.contains(where: { leads($0, to: route.destination) }) { return nil }
    if let inverse = source.model.inverse(of: relationship) {
      let others = self.heirs(of: inverse.relationship.name, in: route)
      if others.contains(where: { leads($0, to: owner.destination) }) { return nil }
      // The other side leads to objects of another kind only, and tells it.
      if heirs.isEmpty, !others.isEmpty { return nil }
    }
    return LossPlace(heir: heirs.first)
  }

  /// Returns the relationships of the destination that continue one of a route's source, by entity and name.
  private func heirs(of relationship: String, in route: EntityRoute) -> [[String]] {
    let model = crossing.destination.model
    return route.properties.values.filter { $0.sourceRelationshipName == relationship }.compactMap { property in
      guard let owner = model.declaringEntity(ofProperty: property.name, in: route.destination),
        model.relationship(named: property.name, of: owner.name)?.isTransient == false
      else { return nil }
      return [owner.name, property.name]
    }.sorted { $0.utf16Precedes($1) }
  }

  /// Returns the links of a relationship by the account of either side, as a query; `nil` if it isn't stored.
  private func links(of relationship: RelationshipDescription, declaredBy entity: String) -> Links? {
    guard let own = source.links(of: relationship.name, in: entity, isReversed: false) else { return nil }
    let other = source.model.inverse(of: relationship).flatMap {
      source.links(of: $0.relationship.name, in: $0.entity.name, isReversed: true)
    }
    let accounts = [own.sql] + [other?.sql].compactMap { $0 == own.sql ? nil : $0 }
    return Links(
      sql: accounts.map { "SELECT owner, target FROM (\($0))" }.joined(separator: " UNION "),
      ownerRoot: own.ownerRoot, targetRoot: own.targetRoot)
  }

  /// Returns the links from objects of one entity to objects of others.
  private func between(_ owner: String, _ targets: [String], _ links: Links) -> String {
    func end(_ name: String, _ root: String, _ entities: [String]) -> String {
      let table = source.table(ofEntity: root)?.name ?? ""
      let numbers = entities.compactMap { source.entity(named: $0) }.map { String($0.number) }
      return " JOIN \(SchemaName.rows(of: table, as: name)) ON \(name).\(quote(PhysicalName.primaryKey)) = k.\(name)"
        + " AND \(name).\(quote(PhysicalName.entity)) IN (\(numbers.joined(separator: ", ")))"
    }
    return "SELECT k.owner AS owner, k.target AS target FROM (\(links.sql)) AS k"
      + end("owner", links.ownerRoot, [owner]) + end("target", links.targetRoot, targets)
  }
}
