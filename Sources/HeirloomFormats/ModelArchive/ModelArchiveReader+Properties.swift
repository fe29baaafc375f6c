import HeirloomModel

extension ModelArchiveReader {
  private static let commonKeys: Set<String> = [
    "NSPropertyName", "NSEntity", "NSRenamingIdentifier", "NSIsOptional", "NSIsTransient", "NSIsReadOnly",
    "NSIsIndexed",
    "NSIndexedBySpotlight", "NSUserInfo", "NSVersionHashModifier", "NSValidationPredicates", "NSValidationWarnings",
    "_P",
  ]
  private static let attributeKeys = commonKeys.union([
    "NSAttributeType", "NSAttributeValueClassName", "NSDefaultValue", "NSValueTransformerName", "NSFlagsKey",
    "NSDerivationExpression", "NSFilteringPredicate", "NSCompositeElements",
  ])
  private static let relationshipKeys = commonKeys.union([
    "NSDestinationEntity", "_NSDestinationEntityName", "NSInverseRelationship", "_NSInverseRelationshipName",
    "NSMinCount", "NSMaxCount", "NSDeleteRule", "NSIsOrdered",
  ])
  private static let fetchedPropertyKeys = commonKeys.union(["NSFetchRequest", "_NSFetchRequestEntityName"])

  /// The bits of `_P` that no other key repeats.
  private enum PropertyBits {
    static let indexedBySpotlight = 0x100
    static let storedInExternalRecord = 0x200
    /// All known bits, including the repeated ones.
    static let known = 0x7FF
  }

  /// The bits of `NSFlagsKey`.
  private enum AttributeBits {
    static let externalStorage = 0x4
    static let preservedOnDeletion = 0x10
  }

  // MARK: - Attributes

  mutating func attribute(
    _ object: ArchivedObject, _ classes: [String], entity: String, depth: Int = 0
  ) throws(FormatError) -> AttributeDescription {
    let name = try self.name(of: object, entity: entity)
    let place = "\(entity).\(name)"
    let code = try decoder.integer("NSAttributeType", of: object)
    guard let type = AttributeType(rawValue: code ?? 0) else {
      throw .senseless("the attribute \"\(place)\" has the unknown type \(code ?? 0)")
    }
    var attribute = AttributeDescription(name: name, type: type)
    try checkKeys(of: object, place, Self.attributeKeys)
    let bits = try decoder.integer("_P", of: object) ?? 0
    attribute.isOptional = try decoder.boolean("NSIsOptional", of: object)
    attribute.isTransient = try decoder.boolean("NSIsTransient", of: object)
    attribute.isIndexedBySpotlight = try isIndexedBySpotlight(object, bits: bits)
    attribute.isStoredInExternalRecord = bits & PropertyBits.storedInExternalRecord != 0
    attribute.renamingIdentifier = try renamingIdentifier(of: object, name: name)
    attribute.versionHashModifier = try nonEmptyString("NSVersionHashModifier", of: object)
    attribute.valueTransformerName = try nonEmptyString("NSValueTransformerName", of: object)
    attribute.attributeValueClassName = try nonEmptyString("NSAttributeValueClassName", of: object).flatMap {
      $0 == type.defaultValueClassName ? nil : $0
    }
    let flags = try decoder.integer("NSFlagsKey", of: object) ?? 0
    attribute.allowsExternalBinaryDataStorage = flags & AttributeBits.externalStorage != 0
    attribute.preservesValueInHistoryOnDeletion = flags & AttributeBits.preservedOnDeletion != 0
    let unknownFlags = flags & ~(AttributeBits.externalStorage | AttributeBits.preservedOnDeletion)
    if unknownFlags != 0 { warn(.invalidValue(String(unknownFlags), of: "NSFlagsKey"), place) }
    attribute.userInfo = try userInfo(of: object, place)
    attribute.validationRules = try validationRules(of: object, place)
    attribute.defaultValue = try defaultValue(of: object, type: type, place)
    if classes.contains("NSDerivedAttributeDescription") {
      attribute.derivation = try derivation(of: object, place)
    }
    if type == .composite { attribute.composite = try composite(of: object, place, depth: depth) }
    return attribute
  }

  private mutating func derivation(
    of object: ArchivedObject, _ place: String
  ) throws(FormatError) -> DerivedAttributeDescription? {
    guard let expression = try decoder.object("NSDerivationExpression", of: object) else {
      warn(.invalidValue("", of: "NSDerivationExpression"), place)
      return nil
    }
    var derivation = DerivedAttributeDescription(derivationExpression: try self.expression(expression, place))
    if let predicate = try decoder.object("NSFilteringPredicate", of: object) {
      derivation.filteringPredicate = try self.predicate(predicate, place)
    }
    return derivation
  }

  private mutating func composite(
    of object: ArchivedObject, _ place: String, depth: Int
  ) throws(FormatError) -> CompositeAttributeDescription {
    guard depth < CompositeAttributeDescription.depthLimit else {
      throw .senseless("the composite \"\(place)\" is nested too deeply or contains itself")
    }
    let references = try decoder.elements("NSCompositeElements", of: object)
    // The default of a composite is a dictionary of its elements' defaults.
    let defaults = try decoder.entries("NSDefaultValue", of: object)
    var elements: [AttributeDescription] = []
    for reference in references {
      guard let element = try decoder.object(reference) else {
        throw .senseless("the composite \"\(place)\" contains an element that is not an object")
      }
      let classes = try decoder.classNames(of: element)
      guard classes.contains("NSAttributeDescription") else {
        throw .senseless("the composite \"\(place)\" contains an object of the class \"\(classes.first ?? "")\"")
      }
      var attribute = try attribute(element, classes, entity: place, depth: depth + 1)
      if attribute.defaultValue == nil, let entry = defaults.first(where: { $0.key == attribute.name }) {
        let node = try decoder.node(entry.value)
        attribute.defaultValue = try value(node, of: attribute.type, place)
      }
      elements.append(attribute)
    }
    return CompositeAttributeDescription(elements: elements)
  }

  // MARK: - Relationships

  mutating func relationship(
    _ object: ArchivedObject, entity: String
  ) throws(FormatError) -> RelationshipDescription {
    let name = try self.name(of: object, entity: entity)
    let place = "\(entity).\(name)"
    try checkKeys(of: object, place, Self.relationshipKeys)
    var destination = try decoder.string("_NSDestinationEntityName", of: object)
    if case .reference(let reference)? = try object.member("NSDestinationEntity"),
      let current = try entityName(reference)
    {
      destination = current
    }
    guard let destination else { throw .senseless("the relationship \"\(place)\" has no destination") }
    var relationship = RelationshipDescription(name: name, destinationEntity: destination)
    relationship.inverseRelationship = try nonEmptyString("_NSInverseRelationshipName", of: object)
    if let inverse = try decoder.object("NSInverseRelationship", of: object) {
      relationship.inverseRelationship = try decoder.string("NSPropertyName", of: inverse)
    }
    let bits = try decoder.integer("_P", of: object) ?? 0
    relationship.isOptional = try decoder.boolean("NSIsOptional", of: object)
    relationship.isTransient = try decoder.boolean("NSIsTransient", of: object)
    relationship.isIndexedBySpotlight = try isIndexedBySpotlight(object, bits: bits)
    relationship.minCount = try count("NSMinCount", of: object, place) ?? 0
    relationship.maxCount = try count("NSMaxCount", of: object, place) ?? 0
    let code = try decoder.integer("NSDeleteRule", of: object) ?? DeleteRule.nullify.rawValue
    if let rule = DeleteRule(rawValue: code) {
      relationship.deleteRule = rule
    } else {
      warn(.invalidValue(String(code), of: "NSDeleteRule"), place)
    }
    relationship.isOrdered = try decoder.boolean("NSIsOrdered", of: object)
    relationship.renamingIdentifier = try renamingIdentifier(of: object, name: name)
    relationship.versionHashModifier = try nonEmptyString("NSVersionHashModifier", of: object)
    relationship.userInfo = try userInfo(of: object, place)
    relationship.validationRules = try validationRules(of: object, place)
    return relationship
  }

  private mutating func count(_ key: String, of object: ArchivedObject, _ place: String) throws(FormatError)
    -> Int?
  {
    guard let number = try decoder.integer(key, of: object) else { return nil }
    // Counts are 32-bit numbers in version hashes.
    guard Int32(exactly: number) != nil else {
      warn(.invalidValue(String(number), of: key), place)
      return nil
    }
    return number
  }

  // MARK: - Fetched properties

  mutating func fetchedProperty(
    _ object: ArchivedObject, entity: String
  ) throws(FormatError) -> FetchedPropertyDescription {
    let name = try self.name(of: object, entity: entity)
    let place = "\(entity).\(name)"
    try checkKeys(of: object, place, Self.fetchedPropertyKeys)
    let fallback = try decoder.string("_NSFetchRequestEntityName", of: object) ?? ""
    var request = FetchRequestDescription(name: ArchivedNames.fetchedPropertyRequest, entityName: fallback)
    if let archived = try decoder.object("NSFetchRequest", of: object) {
      request = try fetchRequest(
        archived, name: ArchivedNames.fetchedPropertyRequest, place: place, fallbackEntity: fallback)
    }
    var property = FetchedPropertyDescription(name: name, fetchRequest: request)
    property.isOptional = try decoder.boolean("NSIsOptional", of: object)
    property.isIndexedBySpotlight = try isIndexedBySpotlight(object, bits: try decoder.integer("_P", of: object) ?? 0)
    property.renamingIdentifier = try renamingIdentifier(of: object, name: name)
    property.versionHashModifier = try nonEmptyString("NSVersionHashModifier", of: object)
    property.userInfo = try userInfo(of: object, place)
    return property
  }

  // MARK: - The common part of properties

  private mutating func name(of object: ArchivedObject, entity: String) throws(FormatError) -> String {
    let name = try decoder.string("NSPropertyName", of: object)
    guard let name else { throw .senseless("a property of entity \"\(entity)\" has no name") }
    return name
  }

  private mutating func isIndexedBySpotlight(_ object: ArchivedObject, bits: Int) throws(FormatError) -> Bool {
    let unknown = bits & ~PropertyBits.known
    if unknown != 0 {
      warn(.invalidValue(String(unknown), of: "_P"), try decoder.string("NSPropertyName", of: object) ?? "a property")
    }
    if bits & PropertyBits.indexedBySpotlight != 0 { return true }
    return try decoder.boolean("NSIndexedBySpotlight", of: object)
  }

  private mutating func validationRules(
    of object: ArchivedObject, _ place: String
  ) throws(FormatError) -> [ValidationRule] {
    let predicates = try decoder.elements("NSValidationPredicates", of: object)
    let warnings = try decoder.elements("NSValidationWarnings", of: object)
    var rules: [ValidationRule] = []
    for (index, reference) in predicates.enumerated() {
      guard let predicate = try decoder.object(reference) else { continue }
      var rule = ValidationRule(predicate: try self.predicate(predicate, place))
      if index < warnings.count {
        let node = try decoder.node(warnings[index])
        if let text = try decoder.string(node) {
          rule.warning = .message(text)
        } else if case .scalar(.integer(let code)) = node, let code = Int(exactly: code) {
          rule.warning = .code(code)
        } else if case .null = node {
          rule.warning = nil
        } else {
          warn(.invalidValue("a value that is neither text nor code", of: "NSValidationWarnings"), place)
        }
      }
      rules.append(rule)
    }
    return rules
  }
}

extension AttributeType {
  /// The class of values if the developer named none.
  var defaultValueClassName: String? { self == .transformable ? nil : ValueKind(self)?.className }
}
