import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The lines of links that no mapping carries; see `RowFlows.fate(ofLinksFrom:to:_:_:)`.
///
/// Links of dropped objects are dropped with them. If a policy makes an object at one end, the fate
/// of a link is known only after the run. A dangling key isn't a link.
struct LinkLines {
  private let crossing: Crossing
  private let taken: MappingConditions

  private(set) var open: [PendingLinks] = []
  private(set) var entries: [AskedEntry] = []

  /// `queries` return `owner` and `target`.
  private struct Lost {
    var queries: [String] = []
    var targets: Set<String> = []
  }

  /// The fate of links that no mapping is sure to carry.
  private struct Fate: Equatable {
    /// Names the destination relationship in the loss; `nil` if the loss names the source's own.
    let heir: [String]?
    /// Over the owner's row `s`; `nil` for all.
    let condition: String?
    /// `nil` if no code is given the objects at either end.
    let parts: PendingLinks.Parts?
  }

  /// The links that either side of a relationship stores, as a query with `owner` and `target`.
  struct Links {
    let sql: String
    let ownerRoot: String
    let targetRoot: String
  }

  private var source: PhysicalSchema { crossing.source }

  init(_ crossing: Crossing, taken: MappingConditions) {
    (self.crossing, self.taken) = (crossing, taken)
    find()
  }

  private mutating func find() {
    /// Links to objects that a destination relationship can't refer to, by its entity and name.
    var foreign: [[String]: Lost] = [:]
    for entity in source.model.entities {
      for relationship in entity.relationships {
        guard let links = links(of: relationship, declaredBy: entity.name) else { continue }
        let inverse = source.model.storedInverse(of: relationship)?.relationship
        var dropped = Lost()
        let (owners, all) = (concrete(entity.name), concrete(relationship.destinationEntity))
        let groups = crossing.flows.groups(all, from: owners, relationship, inverse)
        for owner in owners {
          var fates: [(fate: Fate, targets: Set<String>)] = []
          for targets in groups {
            guard let fate = fate(ofLinksFrom: owner, to: targets[0], relationship, inverse) else { continue }
            if let place = fates.firstIndex(where: { $0.fate == fate }) {
              fates[place].targets.formUnion(targets)
            } else {
              fates.append((fate, Set(targets)))
            }
          }
          for (fate, found) in fates {
            let targets = all.filter(found.contains)
            let query = between(owner, fate.condition, targets, links)
            let name = fate.heir ?? [entity.name, relationship.name]
            if let parts = fate.parts {
              open.append(
                PendingLinks(
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

  /// Queries with `owner` and `target`; those of objects that code makes are left out.
  func carried(_ relationship: RelationshipDescription, declaredBy entity: String, _ account: LinkQuery) -> [String] {
    let inverse = source.model.storedInverse(of: relationship)?.relationship
    let links = Links(sql: account.sql, ownerRoot: account.ownerRoot, targetRoot: account.targetRoot)
    return concrete(entity).compactMap { owner in
      // Links of objects that code makes are known only after the run.
      let own = crossing.flows(of: owner)
      guard !own.isEmpty, !own.contains(where: \.isOpaque) else { return nil }
      let targets = concrete(relationship.destinationEntity).filter { target in
        let others = crossing.flows(of: target)
        guard !others.contains(where: \.isOpaque) else { return false }
        let (certain, back) = crossing.flows.carriers(of: relationship, inverse, own, others)
        return !certain.isEmpty || !back.isEmpty
      }
      return targets.isEmpty ? nil : between(owner, nil, targets, links)
    }
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

  /// The entities of the tree that have objects in the store.
  private func concrete(_ entity: String) -> [String] {
    source.model.entityTree(from: entity).map(\.name).filter { crossing.counts.byEntity[$0, default: 0] > 0 }
  }

  /// `nil` if the links are carried, dropped with their owners, or reported for the inverse.
  private func fate(
    ofLinksFrom owner: String, to target: String, _ relationship: RelationshipDescription,
    _ inverse: RelationshipDescription?
  ) -> Fate? {
    guard let fate = crossing.flows.fate(ofLinksFrom: owner, to: target, relationship, inverse) else { return nil }
    let condition = fate.rows.flatMap(taken.condition)
    guard fate.isByCode else { return Fate(heir: fate.heir, condition: condition, parts: nil) }
    let isPassedOver = (fate.ownCarriers + fate.otherCarriers).contains(where: \.isOpaque)
    let parts = PendingLinks.Parts(
      takers: Set((fate.isOwnByCode ? fate.own : fate.others.filter(\.isOpaque)).map(\.mapping)),
      areOwnersTaken: fate.isOwnByCode, ownCarriers: Set(fate.ownCarriers.map(\.mapping)),
      otherCarriers: Set(fate.otherCarriers.map(\.mapping)),
      cause: fate.isCarried ? .leftOut : isPassedOver ? .passedOver : fate.heir != nil ? .foreign : .unmapped)
    return Fate(heir: fate.heir, condition: fate.isCarried ? nil : condition, parts: parts)
  }

  func links(of relationship: RelationshipDescription, declaredBy entity: String) -> Links? {
    guard let own = source.links(of: relationship.name, in: entity, isReversed: false) else { return nil }
    let other = source.model.storedInverse(of: relationship).flatMap {
      source.links(of: $0.relationship.name, in: $0.entity.name, isReversed: true)
    }
    let accounts = [own.sql] + [other?.sql].compactMap { $0 == own.sql ? nil : $0 }
    return Links(
      sql: accounts.map { "SELECT owner, target FROM (\($0))" }.joined(separator: " UNION "),
      ownerRoot: own.ownerRoot, targetRoot: own.targetRoot)
  }

  private func between(_ owner: String, _ condition: String?, _ targets: [String], _ links: Links) -> String {
    func end(_ name: String, _ root: String, _ entities: [String]) -> String {
      let table = source.table(ofEntity: root)?.name ?? ""
      let numbers = entities.compactMap { source.entity(named: $0) }.map { String($0.number) }
      return " JOIN \(SchemaName.rows(of: table, as: name)) ON \(name).\(quote(PhysicalName.primaryKey)) = k.\(name)"
        + " AND \(name).\(quote(PhysicalName.entity)) IN (\(numbers.joined(separator: ", ")))"
    }
    // A mapping's condition is about an object's row, so links are selected by the owner's key.
    let chosen = condition.map {
      " WHERE k.owner IN (SELECT s.\(quote(PhysicalName.primaryKey)) FROM"
        + " \(SchemaName.rows(of: source.table(ofEntity: owner)?.name ?? "", as: "s")) WHERE \($0))"
    }
    return "SELECT k.owner AS owner, k.target AS target FROM (\(links.sql)) AS k"
      + end("owner", links.ownerRoot, [owner]) + end("target", links.targetRoot, targets) + (chosen ?? "")
  }
}
