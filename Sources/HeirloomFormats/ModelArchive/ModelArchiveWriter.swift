package import HeirloomModel

/// A writer of the model cache in stores, in Core Data's layout.
///
/// Everything that enters the version hashes is written. Parts whose layout is not known are
/// omitted: predicates such as MATCHES with their validation rules and fetch requests, indexes of
/// expressions, the Spotlight expression, and defaults that are no valid decimal numbers. The names
/// of composite types and of generated code aren't part of archives.
package struct ModelArchiveWriter {
  var builder = KeyedArchiveBuilder()
  private let model: ManagedObjectModel
  private var entities: [String: PropertyListValue] = [:]
  /// By entity and name; each entity repeats the inherited ones.
  private var properties: [String: [String: PropertyListValue]] = [:]
  private let root: PropertyListValue

  init(_ model: ManagedObjectModel) {
    self.model = model
    root = builder.reserve()
  }

  /// Throws ``FormatError`` if a derived attribute can't be archived.
  package static func archive(_ model: ManagedObjectModel) throws(FormatError) -> [UInt8] {
    var writer = ModelArchiveWriter(model)
    try writer.writeModel()
    return try writer.builder.bytes(root: writer.root)
  }

  /// A store's cache column has the archive, compressed without a container.
  package static func cache(_ model: ManagedObjectModel) throws(FormatError) -> [UInt8] {
    try Compression.deflate(archive(model), for: .standard)
  }

  // MARK: - The model

  private mutating func writeModel() throws(FormatError) {
    for entity in model.entities {
      entities[entity.name] = builder.reserve()
      var references: [String: PropertyListValue] = [:]
      for property in lineage(of: entity).flatMap(\.properties) { references[property.name] = builder.reserve() }
      properties[entity.name] = references
    }
    for entity in model.entities { try writeEntity(entity) }
    let identifiers = model.versionIdentifiers.map { builder.string($0) }
    var members: [String: PropertyListValue] = [
      "NSEntities": knownKeys(model.entities.map(\.name)), "NSFetchRequestTemplates": templates(),
      "NSVersionIdentifiers": builder.array(identifiers, className: "NSSet"),
    ]
    if !model.configurations.isEmpty {
      let entries = model.configurations.map { configuration in
        let references = configuration.entityNames.map { reference(entity: $0) }
        return (key: configuration.name, value: builder.array(references, className: "NSSet"))
      }
      members["NSConfigurations"] = builder.dictionary(entries)
    }
    builder.object("NSManagedObjectModel", members, at: root)
  }

  /// The keys of the dictionary of entities are in a strategy of their own.
  private mutating func knownKeys(_ names: [String]) -> PropertyListValue {
    let keys = names.map { builder.string($0) }
    let keyList = builder.array(keys, className: "NSArray")
    let mapping = builder.object(
      "NSKnownKeysMappingStrategy1",
      ["keys": keyList, "length": .integer(Int64(names.count)), "version": .integer(1)])
    let values = builder.array(names.map { reference(entity: $0) }, className: "NSArray")
    let token = builder.string(KeyedArchiveDecoder.emptySlot)
    return builder.object(
      "NSKnownKeysDictionary1",
      ["searchMapping": mapping, "values": values, "emptyToken": token, "version": .integer(1)])
  }

  private mutating func templates() -> PropertyListValue {
    var entries: [(key: String, value: PropertyListValue)] = []
    for template in model.fetchRequestTemplates {
      if let request = fetchRequest(template) { entries.append((template.name, request)) }
    }
    return entries.isEmpty ? KeyedArchiveBuilder.null : builder.dictionary(entries)
  }

  func reference(entity: String?) -> PropertyListValue {
    entity.flatMap { entities[$0] } ?? KeyedArchiveBuilder.null
  }

  private func reference(property: String, of entity: String) -> PropertyListValue {
    properties[entity]?[property] ?? KeyedArchiveBuilder.null
  }

  private func lineage(of entity: EntityDescription) -> [EntityDescription] {
    [entity] + model.superentities(of: entity.name)
  }

  // MARK: - Entities

  private mutating func writeEntity(_ entity: EntityDescription) throws(FormatError) {
    let lineage = lineage(of: entity)
    let indexed = indexedProperties(lineage)
    for ancestor in lineage {
      for attribute in ancestor.attributes {
        let place = reference(property: attribute.name, of: entity.name)
        try writeAttribute(attribute, of: entity.name, isIndexed: indexed.contains(attribute.name), at: place)
      }
      for relationship in ancestor.relationships {
        writeRelationship(relationship, of: entity.name, isIndexed: indexed.contains(relationship.name))
      }
      for property in ancestor.fetchedProperties { writeFetchedProperty(property, of: entity.name) }
    }
    let propertyNames = lineage.flatMap(\.properties).map(\.name)
    let propertyEntries = propertyNames.map { (key: $0, value: reference(property: $0, of: entity.name)) }
    let subentities = model.subentities(of: entity.name).map { (key: $0.name, value: reference(entity: $0.name)) }
    var members: [String: PropertyListValue] = [
      "NSEntityName": builder.string(entity.name),
      "NSRenamingIdentifier": builder.string(entity.canonicalIdentifier),
      "NSClassNameForEntity": builder.string(entity.managedObjectClassName ?? ArchivedNames.defaultObjectClass),
      "NSProperties": builder.dictionary(propertyEntries), "NSSubentities": builder.dictionary(subentities),
      "NSSuperentity": reference(entity: entity.superentity), "NSManagedObjectModel": root,
      "NSUserInfo": userInfo(entity.userInfo), "NSVersionHashModifier": builder.string(entity.versionHashModifier),
    ]
    if entity.isAbstract { members["NSIsAbstract"] = .boolean(true) }
    let compounds = entity.indexes.filter { $0.elements.count > 1 }.compactMap(\.propertyNames)
    members["NSFetchIndexDescriptions"] = fetchIndexes(of: entity)
    members["NSCompoundIndexes"] = nameLists(compounds)
    if !entity.uniquenessConstraints.isEmpty { members["NSUniqueTuples"] = nameLists(entity.uniquenessConstraints) }
    builder.object("NSEntityDescription", members, at: reference(entity: entity.name))
  }

  /// Old readers expect a flag on properties with an index of their own.
  private func indexedProperties(_ lineage: [EntityDescription]) -> Set<String> {
    Set(lineage.flatMap(\.indexes).filter { $0.elements.count == 1 }.compactMap(\.propertyNames).joined())
  }

  private mutating func nameLists(_ lists: [[String]]) -> PropertyListValue {
    let references = lists.map { names in
      let texts = names.map { builder.string($0) }
      return builder.array(texts)
    }
    return builder.array(references)
  }

  mutating func userInfo(_ entries: [String: String]) -> PropertyListValue {
    let sorted = entries.ordered { $0.key }
    let references = sorted.map { (key: $0.key, value: builder.string($0.value)) }
    return builder.dictionary(references, className: "NSDictionary")
  }

  private mutating func fetchIndexes(of entity: EntityDescription) -> PropertyListValue {
    let owner = reference(entity: entity.name)
    var references: [PropertyListValue] = []
    for index in entity.indexes {
      guard let names = index.propertyNames else { continue }
      var condition = KeyedArchiveBuilder.null
      if let predicate = index.partialIndexPredicate {
        // Without its condition, the index would contain more objects than the model specifies.
        guard let archived = self.predicate(predicate) else { continue }
        condition = archived
      }
      let place = builder.reserve()
      let elements = zip(index.elements, names).map { element, name in
        let text = builder.string(name)
        return builder.object(
          "NSFetchIndexElementDescription",
          [
            "NSPropertyName": text, "NSFetchIndexElementType": .integer(Int64(element.collation.rawValue)),
            "NSAscending": .boolean(element.isAscending), "NSFetchIndexDescription": place,
          ])
      }
      let elementList = builder.array(elements, className: "NSArray")
      let name = builder.string(index.name)
      builder.object(
        "NSFetchIndexDescription",
        [
          "NSIndexName": name, "NSEntity": owner, "NSIndexElements": elementList, "NSPartialIndexPredicate": condition,
        ], at: place)
      references.append(place)
    }
    return builder.array(references)
  }

  // MARK: - Properties

  /// An archived property has most of these members both as keys and as bits of `_P`.
  private mutating func commonMembers(
    _ property: some PropertyDescription, of entity: String, isReadOnly: Bool, isIndexed: Bool,
    rules: [ValidationRule], bits extraBits: Int
  ) -> [String: PropertyListValue] {
    var members: [String: PropertyListValue] = [
      "NSPropertyName": builder.string(property.name), "NSEntity": reference(entity: entity),
      "NSRenamingIdentifier": builder.string(property.canonicalIdentifier),
    ]
    var bits = 0x001 | extraBits
    func set(_ bit: Int, _ key: String, _ condition: Bool) {
      guard condition else { return }
      bits |= bit
      members[key] = .boolean(true)
    }
    set(0x002, "NSIsOptional", property.isOptional)
    set(0x004, "NSIsReadOnly", isReadOnly)
    set(0x008, "NSIsTransient", property.isTransient)
    set(0x100, "NSIndexedBySpotlight", property.isIndexedBySpotlight)
    if isIndexed { members["NSIsIndexed"] = .boolean(true) }
    if let (predicates, warnings) = validation(rules) {
      members["NSValidationPredicates"] = predicates
      members["NSValidationWarnings"] = warnings
    } else {
      bits |= 0x010 | 0x020
    }
    if property.userInfo.isEmpty { bits |= 0x040 } else { members["NSUserInfo"] = userInfo(property.userInfo) }
    if let modifier = property.versionHashModifier {
      members["NSVersionHashModifier"] = builder.string(modifier)
    } else {
      bits |= 0x080
    }
    members["_P"] = .integer(Int64(bits))
    return members
  }

  private mutating func validation(
    _ rules: [ValidationRule]
  ) -> (predicates: PropertyListValue, warnings: PropertyListValue)? {
    var predicates: [PropertyListValue] = []
    var warnings: [PropertyListValue] = []
    for rule in rules {
      guard let predicate = predicate(rule.predicate) else { continue }
      predicates.append(predicate)
      switch rule.warning {
      case .code(let code)?: warnings.append(builder.add(.integer(Int64(code))))
      case .message(let text)?: warnings.append(builder.string(text))
      case nil: warnings.append(KeyedArchiveBuilder.null)
      }
    }
    guard !predicates.isEmpty else { return nil }
    return (builder.array(predicates, className: "NSArray"), builder.array(warnings, className: "NSArray"))
  }

  private mutating func writeAttribute(
    _ attribute: AttributeDescription, of entity: String, isIndexed: Bool, at place: PropertyListValue
  ) throws(FormatError) {
    var members = commonMembers(
      attribute, of: entity, isReadOnly: attribute.derivation != nil, isIndexed: isIndexed,
      rules: attribute.validationRules, bits: attribute.isStoredInExternalRecord ? 0x200 : 0)
    let flags =
      (attribute.allowsExternalBinaryDataStorage ? 0x4 : 0) | (attribute.preservesValueInHistoryOnDeletion ? 0x10 : 0)
    members["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
    members["NSAttributeValueClassName"] = builder.string(
      attribute.attributeValueClassName ?? attribute.type.defaultValueClassName)
    members["NSDefaultValue"] = attribute.defaultValue.flatMap { value($0) } ?? KeyedArchiveBuilder.null
    members["NSValueTransformerName"] = builder.string(attribute.valueTransformerName)
    members["NSFlagsKey"] = .integer(Int64(flags))
    var className = "NSAttributeDescription"
    if let derivation = attribute.derivation {
      className = "NSDerivedAttributeDescription"
      guard let expression = expression(derivation.derivationExpression) else {
        throw unsupportedDerivation(entity, attribute)
      }
      members["NSDerivationExpression"] = expression
      members["NSFilteringPredicate"] = KeyedArchiveBuilder.null
      if let filter = derivation.filteringPredicate {
        guard let predicate = predicate(filter) else {
          throw unsupportedDerivation(entity, attribute)
        }
        members["NSFilteringPredicate"] = predicate
      }
    }
    if let composite = attribute.composite {
      className = "NSCompositeAttributeDescription"
      var elements: [PropertyListValue] = []
      for element in composite.elements {
        let place = builder.reserve()
        try writeAttribute(element, of: entity, isIndexed: false, at: place)
        elements.append(place)
      }
      members["NSCompositeElements"] = builder.array(elements)
    }
    builder.object(className, members, at: place)
  }

  private func unsupportedDerivation(_ entity: String, _ attribute: AttributeDescription) -> FormatError {
    FormatError(
      "The expression of the derived attribute \"\(entity).\(attribute.name)\" is of a kind that can't be archived.")
  }

  private mutating func writeRelationship(
    _ relationship: RelationshipDescription, of entity: String, isIndexed: Bool
  ) {
    var members = commonMembers(
      relationship, of: entity, isReadOnly: false, isIndexed: isIndexed, rules: relationship.validationRules,
      bits: relationship.isOrdered ? 0x400 : 0)
    let inverse = model.inverse(of: relationship)?.relationship.name
    members["NSDestinationEntity"] = reference(entity: relationship.destinationEntity)
    members["_NSDestinationEntityName"] = builder.string(relationship.destinationEntity)
    members["NSInverseRelationship"] =
      inverse.map { reference(property: $0, of: relationship.destinationEntity) } ?? KeyedArchiveBuilder.null
    members["_NSInverseRelationshipName"] = builder.string(relationship.inverseRelationship)
    members["NSMinCount"] = .integer(Int64(relationship.minCount))
    members["NSMaxCount"] = .integer(Int64(relationship.maxCount))
    members["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
    if relationship.isOrdered { members["NSIsOrdered"] = .boolean(true) }
    builder.object(
      "NSRelationshipDescription", members, at: reference(property: relationship.name, of: entity))
  }

  private mutating func writeFetchedProperty(_ property: FetchedPropertyDescription, of entity: String) {
    var members = commonMembers(property, of: entity, isReadOnly: true, isIndexed: false, rules: [], bits: 0)
    members["NSFetchRequest"] = fetchRequest(property.fetchRequest) ?? KeyedArchiveBuilder.null
    members["_NSFetchRequestEntityName"] = builder.string(property.fetchRequest.entityName)
    builder.object(
      "NSFetchedPropertyDescription", members, at: reference(property: property.name, of: entity))
  }
}

extension FetchIndexDescription {
  /// `nil` if there is an expression.
  fileprivate var propertyNames: [String]? {
    var names: [String] = []
    for element in elements {
      guard case .property(let name) = element.subject else { return nil }
      names.append(name)
    }
    return names
  }
}
