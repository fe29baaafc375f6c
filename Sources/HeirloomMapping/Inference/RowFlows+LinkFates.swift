package import HeirloomModel

/// The fate of the links from objects of one entity to those of another, where no mapping is sure to carry them.
package struct LinkFate {
  /// The relationship of the destination that has no room for them: entity and name; `nil` if it has none for them.
  package let heir: [String]?
  /// The owners whose links are not carried; `nil` for all of the entity's.
  package let rows: DataEffect.Rows?
  /// True if a mapping without code carries them, wherever both ends become something.
  package let isCarried: Bool
  /// Mappings of the owners.
  package let own: [RowFlow]
  /// Mappings of the targets.
  package let others: [RowFlow]
  /// Those that carry the links by default.
  package let ownCarriers: [RowFlow]
  /// Those that carry the links by default, in the inverse.
  package let otherCarriers: [RowFlow]

  package var isOwnByCode: Bool { own.contains(where: \.isOpaque) }
  /// Code makes the objects at either end.
  package var isByCode: Bool { isOwnByCode || others.contains(where: \.isOpaque) }
}

extension RowFlows {
  /// `nil` if the links are carried, go with their owners, or are reported for the inverse.
  ///
  /// A relationship and its inverse hold the same link: it is carried if either side carries it,
  /// which follows from the mappings of the two objects.
  package func fate(
    ofLinksFrom owner: String, to target: String, _ relationship: RelationshipDescription,
    _ inverse: RelationshipDescription?
  ) -> LinkFate? {
    let own = flows(fromSource: owner)
    guard !own.isEmpty else { return nil }
    let others = flows(fromSource: target)
    let (carriers, back) = carriers(of: relationship, inverse, own, others)
    let certain = carriers.filter { !$0.isOpaque }
    let rows = RowFlow.losing(of: own, carried: own.map { flow in certain.contains { $0 === flow } })
    let fate = LinkFate(
      heir: own.lazy.compactMap { $0.heirs[relationship.name]?.first }.first, rows: rows,
      isCarried: rows == nil || back.contains { !$0.isOpaque }, own: own, others: others, ownCarriers: carriers,
      otherCarriers: back)
    // Code may make nothing of an object at one end.
    if fate.isCarried, !fate.isByCode { return nil }
    // The side that code makes reports them, if it has the links.
    if fate.isByCode { return !fate.isOwnByCode && inverse != nil ? nil : fate }
    // The inverse has a place for links to other objects only, and reports them.
    if fate.heir == nil, let inverse, others.contains(where: { $0.heirs[inverse.name] != nil }) { return nil }
    return fate
  }

  /// Mappings that carry the links by default: of the owners, and in the inverse of the targets.
  package func carriers(
    of relationship: RelationshipDescription, _ inverse: RelationshipDescription?, _ own: [RowFlow],
    _ others: [RowFlow]
  ) -> (own: [RowFlow], back: [RowFlow]) {
    (
      own.filter { carries($0, relationship.name, to: others) },
      inverse.map { inverse in others.filter { carries($0, inverse.name, to: own) } } ?? []
    )
  }

  /// Links from any owner to the entities of a group have one fate.
  ///
  /// A tree of hundreds of entities has a few groups, and tens of thousands of pairs.
  package func groups(
    _ targets: [String], from owners: [String], _ relationship: RelationshipDescription,
    _ inverse: RelationshipDescription?
  ) -> [[String]] {
    guard targets.count > 1 else { return targets.isEmpty ? [] : [targets] }
    let own = owners.flatMap(flows(fromSource:))
    let heirs = Set(own.flatMap { $0.heirs[relationship.name, default: []] })
    let ends = Set(heirs.compactMap { destination.relationship(named: $0[1], of: $0[0])?.destinationEntity }).ordered()
    let isOwnByCode = own.contains(where: \.isOpaque)
    var groups: [[String]] = []
    var places: [[String]: Int] = [:]
    for target in targets {
      let flows = flows(fromSource: target)
      // Links that code may carry are reported by the names of the mappings.
      let isByCode = isOwnByCode || flows.contains(where: \.isOpaque)
      let key = flows.flatMap { flow -> [String] in
        let reached = ends.filter { destination.isEntity(flow.destination.name, kindOf: $0) }
        let inverses =
          inverse.map { flow.heirs[$0.name, default: []].joined() + [flow.reads($0.name) ? "*" : ""] } ?? []
        return [isByCode ? flow.mapping : "", flow.isOpaque ? "*" : ""] + reached + [""] + inverses + [""]
      }
      if let place = places[key] {
        groups[place].append(target)
      } else {
        places[key] = groups.count
        groups.append([target])
      }
    }
    return groups
  }

  private func carries(_ flow: RowFlow, _ relationship: String, to others: [RowFlow]) -> Bool {
    flow.reads(relationship)
      || flow.heirs[relationship, default: []].contains { heir in
        guard let end = destination.relationship(named: heir[1], of: heir[0])?.destinationEntity else { return false }
        // A policy may make objects of any entity.
        return others.contains { $0.isOpaque || destination.isEntity($0.destination.name, kindOf: end) }
      }
  }

  func addLostLinks(to collector: inout EffectCollector) {
    /// By the entity and name of the destination's relationship that has no room for them.
    var foreign: [[String]: (targets: Set<String>, rows: [String: DataEffect.Rows])] = [:]
    for entity in source.entities {
      for relationship in entity.relationships where !relationship.isTransient {
        let inverse = source.storedInverse(of: relationship)?.relationship
        let targets = source.entityTree(from: relationship.destinationEntity).filter(mayHaveObjects).map(\.name)
        let owners = source.entityTree(from: entity.name).filter(mayHaveObjects).map(\.name)
        let groups = groups(targets, from: owners, relationship, inverse)
        for owner in owners {
          var dropped: [DataEffect.Rows] = []
          for targets in groups {
            guard let fate = fate(ofLinksFrom: owner, to: targets[0], relationship, inverse), !fate.isByCode,
              let lost = fate.rows
            else { continue }
            let rows = DataEffect.Rows(
              entity: lost.entity, destinationEntity: lost.destinationEntity, properties: [relationship.name],
              takenBy: lost.takenBy, notTakenBy: lost.notTakenBy)
            if let heir = fate.heir {
              foreign[heir, default: ([], [:])].targets.formUnion(targets)
              foreign[heir]?.rows[owner] = rows
            } else if !dropped.contains(rows) {
              dropped.append(rows)
            }
          }
          if !dropped.isEmpty {
            collector.add(.linksDropped, entity: entity.name, properties: [relationship.name], rows: dropped)
          }
        }
      }
    }
    for (heir, links) in foreign {
      collector.add(
        .foreignLinks(to: links.targets.ordered()), entity: heir[0], properties: [heir[1]],
        rows: links.rows.values.ordered { [$0.entity] })
    }
  }
}
