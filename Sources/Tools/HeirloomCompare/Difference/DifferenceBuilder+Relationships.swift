import HeirloomMapping
import HeirloomModel

extension DifferenceBuilder {
  func addNew(_ relationship: RelationshipDescription, in entity: EntityDescription) {
    let isAmbiguous =
      correspondence.pair(ofDestination: entity.name)?.ambiguities.contains {
        $0.destinations.contains(relationship.name)
      } ?? false
    add(
      .relationshipAdded, entity.name, relationship.name, after: relationship.summary,
      effect: isAmbiguous ? .refused : linksOfNew(relationship), isHashed: !relationship.isTransient)
  }

  private func linksOfNew(_ relationship: RelationshipDescription) -> ModelChange.Effect {
    if relationship.isTransient { return .nothing }
    if !relationship.isToMany && !relationship.isOptional { return .rowsDecide }
    // The links are those of the inverse, read backwards.
    return correspondence.sourceOfInverse(of: relationship) == nil ? .empty : .kept
  }

  func addChanges(of new: RelationshipDescription, from old: RelationshipDescription, in entity: String) {
    let name = new.name
    let isStored = !new.isTransient && !old.isTransient
    let isHashed = !new.isTransient || !old.isTransient
    // Links that a new destination entity drops can't be kept by the other changes.
    let areKept = isStored && linksToDestination(of: new, from: old) == .kept
    let kept: ModelChange.Effect = areKept ? .kept : .nothing
    if old.name != name {
      add(.relationshipRenamed, entity, name, before: old.name, after: name, effect: kept, isHashed: isHashed)
    }
    if new.isTransient != old.isTransient {
      add(
        new.isTransient ? .becameTransient : .becamePersistent, entity, name,
        effect: new.isTransient ? .dropped : linksOfNew(new), isHashed: true)
    }
    addDestination(of: new, from: old, in: entity, isStored: isStored, isHashed: isHashed)
    addInverse(of: new, from: old, in: entity, kept: kept, isHashed: isHashed)
    addCounts(of: new, from: old, in: entity, isStored: areKept, isHashed: isHashed)
    if new.isOptional && !old.isOptional { add(.becameOptional, entity, name, isHashed: isHashed) }
    if !new.isOptional && old.isOptional {
      let effect: ModelChange.Effect = !isStored ? .nothing : new.isToMany ? .kept : .rowsDecide
      add(.becameRequired, entity, name, effect: effect, isHashed: isHashed)
    }
    compare(.hashModifierChanged, entity, name, old.versionHashModifier, new.versionHashModifier, isHashed: isHashed) {
      $0
    }
    compare(.deleteRuleChanged, entity, name, old.deleteRule, new.deleteRule) { $0.name }
    compare(.renamingIdentifierChanged, entity, name, old.renamingIdentifier, new.renamingIdentifier) { $0 }
    compare(.spotlightIndexingChanged, entity, name, old.isIndexedBySpotlight, new.isIndexedBySpotlight, text: switched)
    compare(.validationChanged, entity, name, old.validationRules, new.validationRules)
    compare(.userInfoChanged, entity, name, old.userInfo, new.userInfo)
  }

  private func addDestination(
    of new: RelationshipDescription, from old: RelationshipDescription, in entity: String, isStored: Bool,
    isHashed: Bool
  ) {
    if isContinued(old.destinationEntity, as: new.destinationEntity) {
      guard old.destinationEntity != new.destinationEntity else { return }
      add(
        .destinationRenamed, entity, new.name, before: old.destinationEntity, after: new.destinationEntity,
        effect: isStored ? .kept : .nothing, isHashed: isHashed)
      return
    }
    add(
      .destinationChanged, entity, new.name, before: old.destinationEntity, after: new.destinationEntity,
      effect: isStored ? linksToDestination(of: new, from: old) : .nothing, isHashed: isHashed)
  }

  private func isContinued(_ entity: String, as other: String) -> Bool {
    correspondence.pair(ofSource: entity)?.destination.name == other
  }

  private func linksToDestination(
    of new: RelationshipDescription, from old: RelationshipDescription
  ) -> ModelChange.Effect {
    if isContinued(old.destinationEntity, as: new.destinationEntity) { return .kept }
    let targets = flows.targets(of: old, as: new)
    if targets.kept.isEmpty && !targets.foreign.isEmpty { return .refused }
    return targets.foreign.isEmpty && targets.dropped.isEmpty ? .kept : .dropped
  }

  private func addInverse(
    of new: RelationshipDescription, from old: RelationshipDescription, in entity: String, kept: ModelChange.Effect,
    isHashed: Bool
  ) {
    let before = source.inverse(of: old)?.relationship
    let after = destination.inverse(of: new)?.relationship
    // The version hash of a relationship that is its own inverse contains no inverse.
    let isHashed =
      isHashed && before.flatMap { $0 == old ? nil : $0.name } != after.flatMap { $0 == new ? nil : $0.name }
    let (beforeName, afterName) = (before?.name, after?.name)
    switch (before, after) {
    case (nil, nil):
      // Neither inverse exists in its model, so both count as none.
      compare(.inverseChanged, entity, new.name, old.inverseRelationship, new.inverseRelationship) { $0 }
    case (nil, .some): add(.inverseAdded, entity, new.name, after: afterName, effect: kept, isHashed: isHashed)
    case (.some, nil): add(.inverseRemoved, entity, new.name, before: beforeName, effect: kept, isHashed: isHashed)
    case (let before?, let after?):
      let isContinued = isContinued(before, as: after, in: new.destinationEntity)
      guard !isContinued || before.name != after.name else { return }
      add(
        isContinued ? .inverseRenamed : .inverseChanged, entity, new.name,
        before: before.name == after.name ? "\(old.destinationEntity).\(before.name)" : beforeName,
        after: before.name == after.name ? "\(new.destinationEntity).\(after.name)" : afterName,
        effect: kept, isHashed: isHashed)
    }
  }

  private func isContinued(
    _ before: RelationshipDescription, as after: RelationshipDescription, in entity: String
  ) -> Bool {
    destination.entityTree(from: entity).contains {
      correspondence.sourceRelationship(of: after.name, in: $0.name) == before
    }
  }

  private func addCounts(
    of new: RelationshipDescription, from old: RelationshipDescription, in entity: String, isStored: Bool,
    isHashed: Bool
  ) {
    let kept: ModelChange.Effect = isStored ? .kept : .nothing
    let converted: ModelChange.Effect = isStored ? .converted : .nothing
    if new.isToMany != old.isToMany {
      add(
        new.isToMany ? .becameToMany : .becameToOne, entity, new.name, effect: new.isToMany ? kept : converted,
        isHashed: isHashed)
    } else if new.maxCount != old.maxCount {
      add(
        .maximumCountChanged, entity, new.name, before: "\(old.maxCount)", after: "\(new.maxCount)", effect: kept,
        isHashed: isHashed)
    }
    if new.minCount != old.minCount {
      add(
        .minimumCountChanged, entity, new.name, before: "\(old.minCount)", after: "\(new.minCount)", effect: kept,
        isHashed: isHashed)
    }
    if new.isOrdered != old.isOrdered {
      let loses = old.isToMany && new.isToMany
      add(
        new.isOrdered ? .becameOrdered : .becameUnordered, entity, new.name,
        effect: !new.isOrdered && loses ? converted : kept, isHashed: isHashed)
    }
  }
}

extension RelationshipDescription {
  fileprivate var summary: String {
    var words = [destinationEntity, isToMany ? "to-many" : "to-one"]
    if isOrdered { words.append("ordered") }
    if isTransient { words.append("transient") } else if !isOptional { words.append("required") }
    return words.joined(separator: ", ")
  }
}
