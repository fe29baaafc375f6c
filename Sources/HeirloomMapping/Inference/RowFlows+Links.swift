import HeirloomModel

extension RowFlows {
  func addLinks(of flow: RowFlow, to collector: inout EffectCollector) {
    for relationship in destination.relationships(of: flow.destination.name) where !relationship.isTransient {
      guard let owner = destination.declaringEntity(ofProperty: relationship.name, in: flow.destination.name) else {
        continue
      }
      let kinds: [DataEffect.Kind]
      var lost: [String] = []
      let origin = flow.origin(of: relationship.name)
      switch origin {
      case .unknown: continue
      case .none, .constant: kinds = effects(ofNew: relationship)
      case .property(let name):
        let before = source.relationship(named: name, of: flow.source.name)
        if let before, !before.isTransient {
          let targets = targets(of: before, as: relationship)
          lost = (targets.foreign + targets.dropped).ordered()
          kinds = effects(of: relationship, from: before, isLosing: !lost.isEmpty, leftOut: targets.leftOut)
        } else {
          kinds = effects(ofNew: relationship)
        }
      }
      for kind in kinds {
        let isMissing = kind == .missingLink(otherSide: nil)
        collector.add(
          kind, entity: owner.name, properties: [relationship.name],
          rows: [flow.rows([origin.name], lostTargets: isMissing ? lost : [])])
      }
    }
  }

  private func effects(ofNew relationship: RelationshipDescription) -> [DataEffect.Kind] {
    let side: DataEffect.SourceRelationship?
    switch otherSide(of: relationship) {
    case .unknown: return []
    case .none: side = nil
    case .source(let relationship): side = relationship
    }
    var kinds: [DataEffect.Kind] = []
    if relationship.isToMany {
      if relationship.minCount > 0 { kinds.append(.tooFewLinks(minimum: relationship.minCount)) }
      if relationship.maxCount > 0, side != nil { kinds.append(.tooManyLinks(maximum: relationship.maxCount)) }
    } else {
      if !relationship.isOptional { kinds.append(.missingLink(otherSide: side)) }
      if let side { kinds.append(.severalLinks(otherSide: side)) }
    }
    return kinds
  }

  private func effects(
    of relationship: RelationshipDescription, from before: RelationshipDescription, isLosing: Bool,
    leftOut: [DataEffect.Rows]
  ) -> [DataEffect.Kind] {
    var kinds: [DataEffect.Kind] = []
    if !leftOut.isEmpty { kinds.append(.leftOutLinks(to: leftOut)) }
    if relationship.isToMany {
      let mayShare = source.storedInverse(of: before).map { $0.relationship.isToMany } ?? !before.isToMany
      if destination.storedInverse(of: relationship) == nil, mayShare { kinds.append(.sharedLinks) }
      if relationship.minCount > max(before.minCount, 0) || relationship.minCount > 0 && isLosing {
        kinds.append(.tooFewLinks(minimum: relationship.minCount))
      }
      let limit = before.maxCount > 0 ? before.maxCount : Int.max
      if relationship.maxCount > 0, relationship.maxCount < limit {
        kinds.append(.tooManyLinks(maximum: relationship.maxCount))
      }
      if before.isOrdered && !relationship.isOrdered { kinds.append(.orderDropped) }
    } else {
      let mayLackLink = before.isOptional || before.isToMany || isLosing || !leftOut.isEmpty
      if !relationship.isOptional && mayLackLink { kinds.append(.missingLink(otherSide: nil)) }
      if before.isToMany { kinds.append(.severalLinks(otherSide: nil)) }
    }
    return kinds
  }

  /// A relationship that continues several of the source may have no room for all links.
  func addMergedLinks(to collector: inout EffectCollector) {
    for entity in destination.entities {
      for relationship in entity.relationships where !relationship.isTransient {
        let isShared = relationship.isToMany && destination.storedInverse(of: relationship) == nil
        guard isShared || !relationship.isToMany, origins(of: relationship, in: entity.name).count > 1 else { continue }
        let flows = flows(intoTreeOf: entity.name).filter { mayHaveObjects($0.source) && !$0.isOpaque }
        guard !flows.isEmpty else { continue }
        collector.add(
          isShared ? .sharedLinks : .severalLinks(otherSide: nil), entity: entity.name,
          properties: [relationship.name],
          rows: flows.map { $0.rows([$0.origin(of: relationship.name).name]) })
      }
    }
  }

  /// The relationships of the source whose links one relationship gets, by entity and name.
  ///
  /// Of a relationship and its inverse, it lists one.
  private func origins(of relationship: RelationshipDescription, in entity: String) -> Set<[String]> {
    func origins(_ name: String, _ entity: String) -> [(place: [String], inverse: [String]?)] {
      flows(intoTreeOf: entity).compactMap { flow in
        guard let origin = flow.origin(of: name).name,
          let owner = source.declaringEntity(ofProperty: origin, in: flow.source.name),
          let described = owner.relationships.first(where: { $0.name == origin }), !described.isTransient
        else { return nil }
        return (
          [owner.name, origin], source.storedInverse(of: described).map { [$0.entity.name, $0.relationship.name] }
        )
      }
    }
    let own = origins(relationship.name, entity)
    let other = destination.storedInverse(of: relationship).map { origins($0.relationship.name, $0.entity.name) } ?? []
    let known = Set(own.map(\.place) + own.compactMap(\.inverse))
    return Set(own.map { [$0.place, $0.inverse ?? $0.place].min { $0.lexicographicallyPrecedes($1) } ?? $0.place })
      .union(other.map(\.place).filter { !known.contains($0) })
  }
}
