import HeirloomModel

extension RandomModel {
  mutating func applyUnhashed(_ edit: RandomEdit, using random: inout SplitMix64) -> Bool? {
    switch edit {
    case .unhashedChange:
      let entity = random.below(entities.count)
      entities[entity].description.userInfo["note"] = "\(number())"
      entities[entity].description.managedObjectClassName = "Class\(number())"
      if let place = place(using: &random, where: { $0.description.type == .transformable }) {
        self[place].description.valueTransformerName = "Transformer\(number())"
        self[place].description.attributeValueClassName = "Value\(number())"
      }
      return true
    case .defaultOnly:
      guard let place = place(using: &random, where: { $0.elements.isEmpty && !$0.description.isTransient }),
        let value = RandomValues.defaultValue(of: self[place].description.type, using: &random),
        self[place].description.isOptional || self[place].description.defaultValue != nil
      else { return false }
      self[place].description.defaultValue = value
      return true
    case .deleteRule:
      guard let (entity, index) = relationshipPlace(using: &random, where: { _ in true }) else { return false }
      let rule = entities[entity].relationships[index].description.deleteRule
      entities[entity].relationships[index].description.deleteRule = rule == .cascade ? .nullify : .cascade
      return true
    case .validation:
      guard let place = place(using: &random, where: { $0.description.type.isNumeric }) else { return false }
      let rule = PredicateDescription.comparison(
        .init(left: .evaluatedObject, comparator: .lessThan, right: .constant(.value(.integer(Int64(number()))))))
      self[place].description.validationRules = [ValidationRule(predicate: rule)]
      return true
    case .addTransientAttribute:
      guard let added = addAttribute(to: entities[random.below(entities.count)].origin, using: &random),
        let place = places.first(where: { self[$0].key == added.key })
      else { return false }
      self[place].description.isTransient = true
      return true
    case .removeTransientAttribute:
      guard let place = place(elements: false, using: &random, where: { $0.description.isTransient }) else {
        return false
      }
      entities[place.entity].attributes.remove(at: place.path[0])
      return true
    case .addIndex, .removeIndex:
      let entity = random.below(entities.count)
      if edit == .addIndex {
        addIndex(to: entities[entity].origin, using: &random)
      } else {
        guard !entities[entity].indexes.isEmpty else { return false }
        entities[entity].indexes.removeFirst()
      }
      // Without this, nothing would happen until another change.
      if random.below(2) == 0 { entities[entity].description.versionHashModifier = "\(number())" }
      return true
    default: return nil
    }
  }

  mutating func applyToAttributes(_ edit: RandomEdit, using random: inout SplitMix64) -> Bool? {
    switch edit {
    case .addOptionalAttribute, .addAttributeWithDefault, .addRequiredAttribute:
      let type = Self.storedTypes[random.below(Self.storedTypes.count)]
      let value = RandomValues.defaultValue(of: type, using: &random)
      guard edit != .addAttributeWithDefault || value != nil,
        let added = addAttribute(to: entities[random.below(entities.count)].origin, type: type, using: &random),
        let place = places.first(where: { self[$0].key == added.key })
      else { return false }
      self[place].description.defaultValue = edit == .addAttributeWithDefault ? value : nil
      self[place].description.isOptional =
        edit == .addOptionalAttribute || edit == .addAttributeWithDefault && random.below(2) == 0
      return true
    case .removeAttribute:
      guard
        let place = place(
          elements: false, using: &random, where: { $0.elements.isEmpty && !$0.description.isTransient })
      else { return false }
      entities[place.entity].attributes.remove(at: place.path[0])
      return true
    case .renameAttribute:
      guard let place = place(elements: false, using: &random, where: { !$0.description.isTransient }) else {
        return false
      }
      // This happens once or three times: only the first identifier counts.
      for _ in 0..<1 + 2 * random.below(2) { rename(place, to: newName("a", using: &random)) }
      return true
    case .swapNames:
      guard let first = place(elements: false, using: &random, where: { !$0.description.isTransient }),
        let second = places.filter({ place in
          place.entity == first.entity && place.path.count == 1 && place.path != first.path
            && !self[place].description.isTransient && self[place].derivation == nil
        }).randomElement(using: &random)
      else { return false }
      let names = (self[first].description.name, self[second].description.name)
      rename(first, to: names.1)
      rename(second, to: names.0)
      return (try? model()) != nil
    case .renameWithoutIdentifier:
      guard
        let place = place(
          elements: false, using: &random, where: { !$0.description.isTransient && $0.description.isOptional })
      else { return false }
      self[place].description.name = newName("a", using: &random)
      self[place].description.renamingIdentifier = nil
      self[place].origins = [number()]
      return true
    case .reuseName:
      guard let place = place(elements: false, using: &random, where: { !$0.description.isTransient }) else {
        return false
      }
      let name = self[place].description.name
      var attribute = newAttribute(Self.storedTypes[random.below(Self.storedTypes.count)], using: &random)
      attribute.description.name = name
      attribute.description.isOptional = true
      attribute.description.renamingIdentifier = "again \(attribute.key)"
      attribute.description.versionHashModifier = "\(attribute.key)"
      self[place] = attribute
      return true
    case .requiredToOptional:
      return change(using: &random, where: { !$0.description.isOptional && !$0.description.isTransient }) {
        $0.description.isOptional = true
      }
    case .optionalToRequiredWithDefault:
      guard
        let place = place(
          using: &random, where: { $0.description.isOptional && !$0.description.isTransient && $0.elements.isEmpty }),
        let value = RandomValues.defaultValue(of: self[place].description.type, using: &random)
      else { return false }
      self[place].description.isOptional = false
      self[place].description.defaultValue = value
      return true
    case .optionalToRequired:
      return change(using: &random, where: { $0.description.isOptional && !$0.description.isTransient }) {
        $0.description.isOptional = false
        $0.description.defaultValue = nil
      }
    case .integer16To64:
      return changeType(from: [.integer16], to: [.integer64], using: &random)
    case .integer64ToDouble:
      return changeType(from: [.integer64], to: [.double], using: &random)
    case .otherNumbers:
      let numbers = AttributeType.allCases.filter(\.isNumeric)
      return changeType(from: numbers, to: numbers, using: &random)
    case .booleanInteger:
      let integers = AttributeType.allCases.filter(\.isInteger)
      return random.below(2) == 0
        ? changeType(from: [.boolean], to: integers, using: &random)
        : changeType(from: integers, to: [.boolean], using: &random)
    case .dateDouble:
      return random.below(2) == 0
        ? changeType(from: [.date], to: [.double], using: &random)
        : changeType(from: [.double], to: [.date], using: &random)
    case .incompatibleTypes:
      let pairs: [(AttributeType, AttributeType)] = [
        (.string, .integer64), (.integer32, .string), (.string, .binary), (.date, .string), (.uuid, .string),
        (.boolean, .double), (.string, .uri), (.binary, .transformable), (.decimal, .string),
      ]
      let pair = pairs[random.below(pairs.count)]
      return changeType(from: [pair.0], to: [pair.1], using: &random)
    default: return nil
    }
  }

  mutating func rename(_ place: AttributePlace, to name: String) {
    self[place].description.rename(to: name)
  }

  mutating func change(
    using random: inout SplitMix64, where matches: (Attribute) -> Bool, _ body: (inout Attribute) -> Void
  ) -> Bool {
    guard let place = place(using: &random, where: matches) else { return false }
    body(&self[place])
    return true
  }

  private mutating func changeType(
    from: [AttributeType], to: [AttributeType], using random: inout SplitMix64
  ) -> Bool {
    guard
      let place = place(using: &random, where: { from.contains($0.description.type) && !$0.description.isTransient }),
      let type = to.filter({ $0 != self[place].description.type }).randomElement(using: &random)
    else { return false }
    self[place].description.type = type
    let isNeeded = self[place].description.defaultValue != nil && !self[place].description.isOptional
    let value = RandomValues.defaultValue(of: type, using: &random)
    self[place].description.defaultValue = isNeeded ? value : nil
    self[place].description.allowsExternalBinaryDataStorage = false
    return true
  }
}
