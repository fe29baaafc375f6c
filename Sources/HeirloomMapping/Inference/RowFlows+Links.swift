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
      let mayShare = source.inverse(of: before).map { $0.relationship.isToMany } ?? !before.isToMany
      if destination.inverse(of: relationship) == nil, mayShare { kinds.append(.sharedLinks) }
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
}
