import HeirloomMapping
import HeirloomModel

extension DifferenceBuilder {
  func addNew(_ attribute: AttributeDescription, in entity: EntityDescription) {
    let isAmbiguous =
      correspondence.pair(ofDestination: entity.name)?.ambiguities.contains { $0.destinations.contains(attribute.name) }
      ?? false
    add(
      .attributeAdded, entity.name, attribute.name, after: attribute.summary,
      effect: isAmbiguous ? .refused : valueOfNew(attribute), isHashed: !attribute.isTransient)
  }

  func valueOfNew(_ attribute: AttributeDescription) -> ModelChange.Effect {
    if attribute.isTransient { return .nothing }
    if attribute.derivation != nil { return .computed }
    if attribute.composite == nil {
      if let value = attribute.defaultValue { return .filled(value) }
      return attribute.isOptional ? .empty : .rowsDecide
    }
    let isLacking = AttributeLeaves(from: nil, to: attribute).leaves.contains {
      !$0.isOptional && $0.leaf.defaultValue == nil
    }
    return isLacking ? .rowsDecide : .empty
  }

  func addChanges(of new: AttributeDescription, from old: AttributeDescription, in entity: String) {
    let isStored = !new.isTransient || !old.isTransient
    if old.name != new.name {
      add(
        .attributeRenamed, entity, new.name, before: old.name, after: new.name, effect: isStored ? .kept : .nothing,
        isHashed: isStored)
    }
    addChanges(of: new, from: old, in: entity, path: new.name, isOptional: false)
  }

  /// All changes but that of the name.
  private func addChanges(
    of new: AttributeDescription, from old: AttributeDescription, in entity: String, path: String, isOptional: Bool
  ) {
    let isStored = !new.isTransient && !old.isTransient
    let isEitherStored = !new.isTransient || !old.isTransient
    if new.isTransient != old.isTransient {
      let effect: ModelChange.Effect =
        new.isTransient ? (old.hasOwnValues ? .dropped : .nothing) : valueOfNew(new)
      add(new.isTransient ? .becameTransient : .becamePersistent, entity, path, effect: effect, isHashed: true)
    }
    if new.type != old.type {
      let conversion = AttributeConversion(from: old.type, to: new.type)
      let effect: ModelChange.Effect =
        if !isStored {
          .nothing
        } else if new.derivation != nil {
          .computed
        } else if !conversion.isPossible {
          .refused
        } else {
          conversion.mayOverflow ? .rowsDecide : .converted
        }
      add(
        .typeChanged, entity, path, before: old.type.name, after: new.type.name, effect: effect,
        isHashed: isEitherStored)
    }
    if new.isOptional && !old.isOptional { add(.becameOptional, entity, path, isHashed: isEitherStored) }
    if !new.isOptional && old.isOptional {
      let effect: ModelChange.Effect =
        if !isStored || new.derivation != nil || isOptional || new.composite != nil {
          .nothing
        } else {
          new.defaultValue.map { .filled($0) } ?? .rowsDecide
        }
      add(.becameRequired, entity, path, effect: effect, isHashed: isEitherStored)
    }
    addStorageChanges(of: new, from: old, in: entity, path: path, isStored: isStored, isHashed: isEitherStored)
    compare(.defaultChanged, entity, path, old.defaultValue, new.defaultValue) { $0?.description }
    addUnstoredChanges(of: new, from: old, in: entity, path: path)
    addElements(of: new, from: old, in: entity, path: path, isOptional: isOptional || new.isOptional)
  }

  private func addStorageChanges(
    of new: AttributeDescription, from old: AttributeDescription, in entity: String, path: String, isStored: Bool,
    isHashed: Bool
  ) {
    switch (old.derivation, new.derivation) {
    case (nil, nil): break
    case (nil, let after?):
      add(
        .derivationAdded, entity, path, after: after.derivationExpression.description, effect: .computed,
        isHashed: isHashed)
    case (.some, nil): add(.derivationRemoved, entity, path, effect: .kept, isHashed: isHashed)
    case (let before?, let after?) where before != after:
      add(
        .derivationChanged, entity, path, before: before.derivationExpression.description,
        after: after.derivationExpression.description, effect: .computed, isHashed: isHashed)
    default: break
    }
    if new.allowsExternalBinaryDataStorage && !old.allowsExternalBinaryDataStorage {
      add(.externalStorageEnabled, entity, path, effect: isStored ? .kept : .nothing, isHashed: isHashed)
    }
    if !new.allowsExternalBinaryDataStorage && old.allowsExternalBinaryDataStorage {
      let isRefused = isStored && AttributeConversion(from: old.type, to: new.type).isPossible && new.derivation == nil
      add(.externalStorageDisabled, entity, path, effect: isRefused ? .refused : .nothing, isHashed: isHashed)
    }
    compare(
      .historyPreservationChanged, entity, path, old.preservesValueInHistoryOnDeletion,
      new.preservesValueInHistoryOnDeletion, isHashed: isHashed, text: switched)
    compare(.hashModifierChanged, entity, path, old.versionHashModifier, new.versionHashModifier, isHashed: isHashed) {
      $0
    }
  }

  private func addUnstoredChanges(
    of new: AttributeDescription, from old: AttributeDescription, in entity: String, path: String
  ) {
    compare(.renamingIdentifierChanged, entity, path, old.renamingIdentifier, new.renamingIdentifier) { $0 }
    compare(.valueClassChanged, entity, path, old.attributeValueClassName, new.attributeValueClassName) { $0 }
    compare(.transformerChanged, entity, path, old.valueTransformerName, new.valueTransformerName) { $0 }
    compare(.cloudEncryptionChanged, entity, path, old.allowsCloudEncryption, new.allowsCloudEncryption, text: switched)
    compare(
      .externalRecordChanged, entity, path, old.isStoredInExternalRecord, new.isStoredInExternalRecord, text: switched)
    compare(
      .spotlightIndexingChanged, entity, path, old.isIndexedBySpotlight, new.isIndexedBySpotlight, text: switched)
    compare(.validationChanged, entity, path, old.validationRules, new.validationRules)
    compare(.userInfoChanged, entity, path, old.userInfo, new.userInfo)
    // Only model sources contain these two.
    if let before = old.usesScalarValueType, let after = new.usesScalarValueType {
      compare(.scalarTypeChanged, entity, path, before, after, text: switched)
    }
    if let before = old.composite?.name, let after = new.composite?.name {
      compare(.compositeTypeRenamed, entity, path, before, after) { $0 }
    }
  }

  private func addElements(
    of new: AttributeDescription, from old: AttributeDescription, in entity: String, path: String, isOptional: Bool
  ) {
    guard let before = old.composite?.elements, let after = new.composite?.elements else { return }
    let matching = IdentifierMatching(from: before.map(\.identified), to: after.map(\.identified))
    var order: [String] = []
    for element in after {
      let elementPath = "\(path).\(element.name)"
      guard let name = matching.sources[element.name], let origin = before.first(where: { $0.name == name }) else {
        let isAmbiguous = matching.ambiguities.contains { $0.destinations.contains(element.name) }
        let value = valueOfNew(element)
        add(
          .elementAdded, entity, elementPath, after: element.summary,
          effect: isAmbiguous ? .refused : value == .rowsDecide && isOptional ? .empty : value, isHashed: true)
        continue
      }
      order.append(name)
      if name != element.name {
        add(.elementRenamed, entity, elementPath, before: name, after: element.name, effect: .kept, isHashed: true)
      }
      addChanges(of: element, from: origin, in: entity, path: elementPath, isOptional: isOptional)
    }
    for element in before where matching.destinations[element.name] == nil {
      let isAmbiguous = matching.ambiguities.contains { $0.sources.contains(element.name) }
      let effect: ModelChange.Effect = element.isTransient ? .nothing : .dropped
      add(
        .elementRemoved, entity, "\(path).\(element.name)", before: element.type.name,
        effect: isAmbiguous ? .refused : effect, isHashed: !element.isTransient)
    }
    if order != before.map(\.name).filter({ matching.destinations[$0] != nil }) {
      add(.elementsReordered, entity, path)
    }
  }

  func switched(_ isOn: Bool) -> String? { isOn ? "on" : "off" }
}

extension AttributeDescription {
  /// With the words that determine the value of existing objects.
  fileprivate var summary: String {
    var words = [type.name]
    if isTransient { words.append("transient") }
    if derivation != nil { words.append("derived") }
    if derivation == nil && !isTransient { words.append(isOptional ? "optional" : "required") }
    return words.joined(separator: ", ")
  }
}
