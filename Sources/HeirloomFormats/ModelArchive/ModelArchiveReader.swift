import HeirloomModel

/// A reader of compiled models (`.mom`) and of model caches in stores, which have the same form.
///
/// Unknown classes and keys become warnings.
package struct ModelArchiveReader {
  var decoder: KeyedArchiveDecoder
  private(set) var warnings: [ModelReadingWarning] = []
  private var entityNames: [Int: String] = [:]

  init(_ archive: KeyedArchive) {
    decoder = KeyedArchiveDecoder(archive)
  }

  package static func read(_ bytes: [UInt8]) throws(ModelReadingError) -> ReadModel {
    guard !bytes.isEmpty else { throw ModelReadingError(problem: .notModel(.emptyFile)) }
    let archive: KeyedArchive
    do throws(FormatError) {
      archive = try KeyedArchive(bytes)
    } catch {
      if error == .notKeyedArchive { throw ModelReadingError(problem: .notModel(.otherPropertyList)) }
      throw ModelReadingError(error)
    }
    var reader = ModelArchiveReader(archive)
    let parts = try ModelReadingError.wrapping { () throws(FormatError) in try reader.parts() }
    if let problem = parts.problem { throw ModelReadingError(problem: problem) }
    let model = try ModelAssembly.model(
      entities: parts.entities, versionIdentifiers: parts.versionIdentifiers, configurations: parts.configurations,
      fetchRequestTemplates: parts.fetchRequestTemplates)
    return ReadModel(model: model, warnings: reader.warnings)
  }

  /// A store's cache is an archive that is compressed without a container.
  package static func readCache(_ bytes: [UInt8]) throws(ModelReadingError) -> ReadModel {
    let archive = try ModelReadingError.wrapping { () throws(FormatError) in try Compression.inflate(bytes) }
    return try read(archive)
  }

  // MARK: - The model

  private struct ModelParts {
    var entities: [EntityDescription] = []
    var versionIdentifiers: [String] = []
    var configurations: [ConfigurationDescription] = []
    var fetchRequestTemplates: [FetchRequestDescription] = []
    /// A problem that makes the other parts useless.
    var problem: ModelReadingError.Problem?
  }

  private mutating func parts() throws(FormatError) -> ModelParts {
    var parts = ModelParts()
    let root = try decoder.root()
    let rootClasses = try decoder.classNames(of: root)
    guard rootClasses.contains("NSManagedObjectModel") else {
      // Xcode before 4.3 archived its own classes.
      let isOldSource = rootClasses[0].hasPrefix("XD")
      let isMapping = rootClasses.contains("NSMappingModel")
      parts.problem = .notModel(isMapping ? .mappingModel : isOldSource ? .oldBinaryModel : .otherPropertyList)
      return parts
    }
    try checkKeys(
      of: root, "model",
      [
        "NSEntities", "NSVersionIdentifiers", "NSFetchRequestTemplates", "NSConfigurations", "CDMCompilerToolVersion",
        "CDMCompilerXcodeVersion",
      ])
    for entry in try decoder.entries("NSEntities", of: root) {
      guard let object = try decoder.object(entry.value) else { continue }
      guard entityNames[entry.value] == nil else { continue }
      entityNames[entry.value] = try decoder.string("NSEntityName", of: object) ?? entry.key
      parts.entities.append(try entity(object))
    }
    removeInherited(from: &parts.entities)
    for element in try decoder.elements("NSVersionIdentifiers", of: root) {
      if let identifier = try decoder.string(element) {
        parts.versionIdentifiers.append(identifier)
      } else {
        warn(.invalidValue("a value that is not text", of: "NSVersionIdentifiers"), "model")
      }
    }
    for entry in try decoder.entries("NSConfigurations", of: root) where entry.key != "PF_DEFAULT_CONFIGURATION_NAME" {
      guard let set = try decoder.object(entry.value) else { continue }
      var names: [String] = []
      for element in try decoder.elements(of: set) {
        if let name = try entityName(element) {
          names.append(name)
        } else {
          warn(.invalidValue("a value that is not an entity", of: "NSConfigurations"), entry.key)
        }
      }
      parts.configurations.append(ConfigurationDescription(name: entry.key, entityNames: names))
    }
    for entry in try decoder.entries("NSFetchRequestTemplates", of: root) {
      guard let object = try decoder.object(entry.value) else { continue }
      parts.fetchRequestTemplates.append(try fetchRequest(object, name: entry.key, place: entry.key))
    }
    return parts
  }

  /// Caches repeat all inherited properties, constraints and indexes.
  private mutating func removeInherited(from entities: inout [EntityDescription]) {
    let all = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for index in entities.indices {
      var visited: Set<String> = [entities[index].name]
      var next = entities[index].superentity
      while let parent = next.flatMap({ all[$0] }), visited.insert(parent.name).inserted, visited.count < 64 {
        let inherited = Dictionary(
          parent.properties.map { ($0.name, AnyHashable($0)) }, uniquingKeysWith: { first, _ in first })
        for property in entities[index].properties {
          // An entity can't redeclare an inherited property, so a differing copy is dropped.
          guard let original = inherited[property.name], original != AnyHashable(property) else { continue }
          warn(.differingCopy(of: parent.name), "\(entities[index].name).\(property.name)")
        }
        entities[index].attributes.removeAll { inherited[$0.name] != nil }
        entities[index].relationships.removeAll { inherited[$0.name] != nil }
        entities[index].fetchedProperties.removeAll { inherited[$0.name] != nil }
        entities[index].uniquenessConstraints.removeAll { parent.uniquenessConstraints.contains($0) }
        entities[index].indexes.removeAll { parent.indexes.contains($0) }
        next = parent.superentity
      }
    }
  }

  // MARK: - Entities

  private mutating func entity(_ object: ArchivedObject) throws(FormatError) -> EntityDescription {
    guard let name = try decoder.string("NSEntityName", of: object) else { throw .senseless("an entity has no name") }
    try checkKeys(
      of: object, name,
      [
        "NSEntityName", "NSRenamingIdentifier", "NSClassNameForEntity", "NSProperties", "NSSubentities",
        "NSSuperentity", "NSManagedObjectModel", "NSUserInfo", "NSVersionHashModifier", "NSIsAbstract",
        "NSCompoundIndexes", "NSFetchIndexDescriptions", "NSUniqueTuples", "NSCoreSpotlightDisplayNameExpression",
      ])
    let type = try decoder.classNames(of: object)[0]
    if type != "NSEntityDescription" { warn(.unknownClass(type), name) }
    var entity = EntityDescription(name: name)
    entity.renamingIdentifier = try renamingIdentifier(of: object, name: name)
    entity.managedObjectClassName = try nonEmptyString("NSClassNameForEntity", of: object).flatMap {
      $0 == ArchivedNames.defaultObjectClass ? nil : $0
    }
    entity.versionHashModifier = try nonEmptyString("NSVersionHashModifier", of: object)
    entity.isAbstract = try decoder.boolean("NSIsAbstract", of: object)
    entity.userInfo = try userInfo(of: object, name)
    if let parent = try decoder.object("NSSuperentity", of: object) {
      entity.superentity = try decoder.string("NSEntityName", of: parent)
    }
    if let expression = try decoder.object("NSCoreSpotlightDisplayNameExpression", of: object) {
      entity.coreSpotlightDisplayNameExpression = try self.expression(expression, name)
    }
    let lineage = try ancestors(of: object)
    var indexedNames: [String] = []
    for entry in try decoder.entries("NSProperties", of: object) {
      try addProperty(entry.value, to: &entity, lineage: lineage, indexedNames: &indexedNames)
    }
    entity.uniquenessConstraints = try nameLists("NSUniqueTuples", of: object)
    entity.indexes = try indexes(of: object, name, indexedNames: indexedNames)
    return entity
  }

  private mutating func ancestors(of object: ArchivedObject) throws(FormatError) -> Set<Int> {
    var references: Set<Int> = []
    var current = object
    while references.count < 64, let parent = try decoder.object("NSSuperentity", of: current),
      references.insert(parent.reference).inserted
    { current = parent }
    return references
  }

  private mutating func addProperty(
    _ reference: Int, to entity: inout EntityDescription, lineage: Set<Int>, indexedNames: inout [String]
  ) throws(FormatError) {
    guard var object = try decoder.object(reference) else { return }
    var classes = try decoder.classNames(of: object)
    if classes.contains("_NSPropertyDescriptionProxy") {
      // An inherited property; the declaring entity lists the underlying one.
      guard let underlying = try decoder.object("NSUnderlyingProperty", of: object) else { return }
      object = underlying
      classes = try decoder.classNames(of: object)
    }
    if let owner = try decoder.object("NSEntity", of: object), lineage.contains(owner.reference) { return }
    if try decoder.boolean("NSIsIndexed", of: object), let name = try decoder.string("NSPropertyName", of: object) {
      indexedNames.append(name)
    }
    if !Self.propertyClasses.contains(classes[0]) {
      // An object of a subclass is read as its known superclass.
      warn(.unknownClass(classes[0]), entity.name)
    }
    if classes.contains("NSAttributeDescription") {
      entity.attributes.append(try attribute(object, classes, entity: entity.name))
    } else if classes.contains("NSRelationshipDescription") {
      entity.relationships.append(try relationship(object, entity: entity.name))
    } else if classes.contains("NSFetchedPropertyDescription") {
      entity.fetchedProperties.append(try fetchedProperty(object, entity: entity.name))
    } else {
      // An unreadable property may have a column: a model without it would describe another store.
      throw .senseless("entity \"\(entity.name)\" has a property of the unknown class \"\(classes[0])\"")
    }
  }

  private static let propertyClasses: Set<String> = [
    "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription",
    "NSRelationshipDescription", "NSFetchedPropertyDescription",
  ]

  mutating func entityName(_ reference: Int) throws(FormatError) -> String? {
    if let name = entityNames[reference] { return name }
    guard let object = try decoder.object(reference) else { return nil }
    return try decoder.string("NSEntityName", of: object)
  }
}

// MARK: - Parts of objects

extension ModelArchiveReader {
  mutating func warn(_ kind: ModelReadingWarning.Kind, _ place: String) {
    warnings.append(ModelReadingWarning(kind, place: place))
  }

  mutating func checkKeys(of object: ArchivedObject, _ place: String, _ known: Set<String>) throws(FormatError) {
    for key in try object.keyNames() where !known.contains(key) { warn(.unknownKey(key), place) }
  }

  mutating func nonEmptyString(_ key: String, of object: ArchivedObject) throws(FormatError) -> String? {
    try decoder.string(key, of: object).flatMap { $0.isEmpty ? nil : $0 }
  }

  mutating func renamingIdentifier(of object: ArchivedObject, name: String) throws(FormatError) -> String? {
    try nonEmptyString("NSRenamingIdentifier", of: object).flatMap { $0 == name ? nil : $0 }
  }

  mutating func userInfo(of object: ArchivedObject, _ place: String) throws(FormatError) -> [String: String] {
    try userInfo(try decoder.entries("NSUserInfo", of: object), place)
  }

  mutating func userInfo(
    _ entries: [(key: String, value: Int)], _ place: String
  ) throws(FormatError) -> [String: String] {
    var result: [String: String] = [:]
    for entry in entries {
      let node = try decoder.node(entry.value)
      if let text = try decoder.string(node) {
        result[entry.key] = text
      } else if case .scalar(.integer(let number)) = node {
        result[entry.key] = String(number)
      } else if case .scalar(.boolean(let value)) = node {
        result[entry.key] = value ? "YES" : "NO"
      } else {
        warn(.unknownKey(entry.key), "the user info of \(place)")
      }
    }
    return result
  }

  mutating func nameLists(_ key: String, of object: ArchivedObject) throws(FormatError) -> [[String]] {
    var result: [[String]] = []
    for reference in try decoder.elements(key, of: object) {
      guard let list = try decoder.object(reference) else { continue }
      let names = try self.names(try decoder.elements(of: list))
      if !names.isEmpty { result.append(names) }
    }
    return result
  }

  /// Names are stored as text, or as the properties with these names.
  mutating func names(_ references: [Int]) throws(FormatError) -> [String] {
    var result: [String] = []
    for reference in references {
      let node = try decoder.node(reference)
      if let name = try decoder.string(node) {
        result.append(name)
      } else if case .object(let property) = node, let name = try decoder.string("NSPropertyName", of: property) {
        result.append(name)
      }
    }
    return result
  }
}
