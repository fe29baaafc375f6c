import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The lines of the ledger for links that no relationship of the destination takes over.
///
/// A link is one thing, which a relationship and its inverse both account for: it goes on if either side takes it,
/// which follows from the entities of the two objects and from the mappings that take these. Links of objects that go
/// are told with those. Where a policy makes one of the objects, the line stays open until it ran. A key that leads to
/// no object is no link.
struct LinkLines {
  private let crossing: Crossing
  /// The conditions of entity mappings that take only some objects.
  private let taken: TakenRows

  /// The links that only code can take along.
  private(set) var open: [OpenLinks] = []
  /// The links between objects that have no way to be linked in the destination.
  private(set) var entries: [AskedEntry] = []

  /// Links of one name that are lost: queries with `owner` and `target`, and the entities of the targets.
  private struct Lost {
    var queries: [String] = []
    var targets: Set<String> = []
  }

  /// The fate of links that no mapping is sure to take along.
  private struct Fate: Equatable {
    /// The relationship of the destination that the loss is told for; `nil` for the source's own.
    let heir: [String]?
    /// The condition that the owners meet, over the row `s`; `nil` for all.
    let condition: String?
    /// The parts of the mappings; `nil` if no code gets the objects at either end.
    let parts: OpenLinks.Parts?
  }

  /// The links of a relationship by the account of either side: a query with `owner` and `target`, and their trees.
  struct Links {
    let sql: String
    let ownerRoot: String
    let targetRoot: String
  }

  private var source: PhysicalSchema { crossing.source }

  init(_ crossing: Crossing, taken: TakenRows) {
    (self.crossing, self.taken) = (crossing, taken)
    find()
  }

  private mutating func find() {
    /// Links to objects that a relationship of the destination can't lead to, by its entity and name.
    var foreign: [[String]: Lost] = [:]
    for entity in source.model.entities {
      for relationship in entity.relationships {
        guard let links = links(of: relationship, declaredBy: entity.name) else { continue }
        let inverse = source.model.inverse(of: relationship)?.relationship
        var dropped = Lost()
        for owner in concrete(entity.name) {
          var fates: [(fate: Fate, targets: [String])] = []
          for target in concrete(relationship.destinationEntity) {
            guard let fate = fate(ofLinksFrom: owner, to: target, relationship, inverse) else { continue }
            if let place = fates.firstIndex(where: { $0.fate == fate }) {
              fates[place].targets.append(target)
            } else {
              fates.append((fate, [target]))
            }
          }
          for (fate, targets) in fates {
            let query = between(owner, fate.condition, targets, links)
            let name = fate.heir ?? [entity.name, relationship.name]
            if let parts = fate.parts {
              open.append(
                OpenLinks(
                  entity: name[0], property: name[1], owner: owner, relationship: relationship.name, targets: targets,
                  inverse: inverse?.name, query: query, parts: parts))
            } else if fate.heir != nil {
              foreign[name, default: Lost()].queries.append(query)
              foreign[name]?.targets.formUnion(targets)
            } else {
              dropped.queries.append(query)
            }
          }
        }
        tell(dropped, as: .linksDropped, [entity.name, relationship.name])
      }
    }
    for (heir, line) in foreign.ordered(by: { $0.key }) {
      let targets = line.targets.ordered()
      tell(line, as: .foreignLinks(to: targets), heir)
    }
  }

  /// Returns queries of those links by one side's account whose lines are closed: a relationship takes them over.
  ///
  /// - Parameters:
  ///   - relationship: The relationship.
  ///   - entity: The entity that declares it.
  ///   - account: The links that its own side accounts for.
  /// - Returns: Queries with `owner` and `target`.
  func carried(_ relationship: RelationshipDescription, declaredBy entity: String, _ account: LinkQuery) -> [String] {
    let inverse = source.model.inverse(of: relationship)?.relationship
    let links = Links(sql: account.sql, ownerRoot: account.ownerRoot, targetRoot: account.targetRoot)
    return concrete(entity).compactMap { owner in
      // Of links with an end that code makes, the run tells which are there.
      let own = crossing.takers[owner]
      guard !own.isEmpty, !own.contains(where: \.flow.isOpaque) else { return nil }
      let targets = concrete(relationship.destinationEntity).filter { target in
        let others = crossing.takers[target]
        guard !others.contains(where: \.flow.isOpaque) else { return false }
        let (certain, back) = carriers(of: relationship, inverse, own, others)
        return !certain.isEmpty || !back.isEmpty
      }
      return targets.isEmpty ? nil : between(owner, nil, targets, links)
    }
  }

  /// Returns who takes links along by the mapping itself: for the owners, and for the targets by the inverse.
  private func carriers(
    of relationship: RelationshipDescription, _ inverse: RelationshipDescription?, _ own: [Taker], _ others: [Taker]
  ) -> (own: [Taker], back: [Taker]) {
    let model = crossing.destination.model
    return (
      own.filter { $0.carries(relationship.name, to: others, in: model) },
      inverse.map { inverse in others.filter { $0.carries(inverse.name, to: own, in: model) } } ?? []
    )
  }

  private mutating func tell(_ lost: Lost, as kind: DataEffect.Kind, _ name: [String]) {
    guard !lost.queries.isEmpty else { return }
    let cause = LossCause.effect(kind, entity: name[0], properties: [name[1]])
    let entry: Entry =
      kind == .linksDropped
      ? .links(cause, name[0], name[1], from: lost.queries) : .room(cause, name[0], name[1])
    entries.append(
      AskedEntry(
        entry, .links(lost.queries.map { "SELECT COUNT(DISTINCT owner) AS owners, COUNT(*) AS links FROM (\($0))" })))
  }

  /// Returns the entities of a tree that have objects.
  private func concrete(_ entity: String) -> [String] {
    source.model.entityTree(from: entity).map(\.name).filter { crossing.counts.byEntity[$0, default: 0] > 0 }
  }

  /// Returns the fate of the links from objects of one entity to those of another; `nil` if they go on, are told with
  /// their owners, or are told by the other side.
  private func fate(
    ofLinksFrom owner: String, to target: String, _ relationship: RelationshipDescription,
    _ inverse: RelationshipDescription?
  ) -> Fate? {
    let (own, others) = (crossing.takers[owner], crossing.takers[target])
    guard !own.isEmpty else { return nil }
    let (carriers, back) = carriers(of: relationship, inverse, own, others)
    let certain = carriers.filter { !$0.flow.isOpaque }
    let rows = RowFlow.losing(of: own.map(\.flow), carried: own.map { taker in certain.contains { $0 === taker } })
    let isCarried = rows == nil || back.contains { !$0.flow.isOpaque }
    let isOwnByCode = own.contains(where: \.flow.isOpaque)
    let isByCode = isOwnByCode || others.contains(where: \.flow.isOpaque)
    // Code may make nothing of an object at one end.
    if isCarried, !isByCode { return nil }
    // The side that code makes tells it, if it knows of the links.
    if isByCode, !isOwnByCode, inverse?.isTransient == false { return nil }
    let condition = rows.flatMap(taken.condition)
    let heir = own.lazy.compactMap { $0.heirs[relationship.name]?.first }.first
    if isByCode {
      let isPassedOver = (carriers + back).contains(where: \.flow.isOpaque)
      let parts = OpenLinks.Parts(
        takers: Set((isOwnByCode ? own : others.filter(\.flow.isOpaque)).map(\.flow.mapping)),
        areOwnersTaken: isOwnByCode, ownCarriers: Set(carriers.map(\.flow.mapping)),
        otherCarriers: Set(back.map(\.flow.mapping)),
        cause: isCarried ? .leftOut : isPassedOver ? .passedOver : heir != nil ? .foreign : .unmapped)
      return Fate(heir: heir, condition: isCarried ? nil : condition, parts: parts)
    }
    // The other side leads to objects of another kind only, and tells it.
    if heir == nil, let inverse, others.contains(where: { $0.heirs[inverse.name] != nil }) { return nil }
    return Fate(heir: heir, condition: condition, parts: nil)
  }

  /// Returns the links of a relationship by the account of either side, as a query; `nil` if it isn't stored.
  func links(of relationship: RelationshipDescription, declaredBy entity: String) -> Links? {
    guard let own = source.links(of: relationship.name, in: entity, isReversed: false) else { return nil }
    let other = source.model.inverse(of: relationship).flatMap {
      source.links(of: $0.relationship.name, in: $0.entity.name, isReversed: true)
    }
    let accounts = [own.sql] + [other?.sql].compactMap { $0 == own.sql ? nil : $0 }
    return Links(
      sql: accounts.map { "SELECT owner, target FROM (\($0))" }.joined(separator: " UNION "),
      ownerRoot: own.ownerRoot, targetRoot: own.targetRoot)
  }

  /// Returns the links from objects of one entity that meet a condition, to objects of others.
  private func between(_ owner: String, _ condition: String?, _ targets: [String], _ links: Links) -> String {
    func end(_ name: String, _ root: String, _ entities: [String]) -> String {
      let table = source.table(ofEntity: root)?.name ?? ""
      let numbers = entities.compactMap { source.entity(named: $0) }.map { String($0.number) }
      return " JOIN \(SchemaName.rows(of: table, as: name)) ON \(name).\(quote(PhysicalName.primaryKey)) = k.\(name)"
        + " AND \(name).\(quote(PhysicalName.entity)) IN (\(numbers.joined(separator: ", ")))"
    }
    // A mapping's condition is about the row of an object, so it can't be put to links: they are chosen by key.
    let chosen = condition.map {
      " WHERE k.owner IN (SELECT s.\(quote(PhysicalName.primaryKey)) FROM"
        + " \(SchemaName.rows(of: source.table(ofEntity: owner)?.name ?? "", as: "s")) WHERE \($0))"
    }
    return "SELECT k.owner AS owner, k.target AS target FROM (\(links.sql)) AS k"
      + end("owner", links.ownerRoot, [owner]) + end("target", links.targetRoot, targets) + (chosen ?? "")
  }
}
