import HeirloomMapping
import HeirloomModel

/// A reader of compiled mapping models (`.cdm`) and of the archives inside mapping sources.
///
/// Unknown classes and keys become warnings.
struct MappingArchiveReader {
  private var reader: ModelArchiveReader

  static func read(_ bytes: [UInt8]) throws(MappingReadingError) -> ReadMappingModel {
    let archive: KeyedArchive
    do throws(FormatError) {
      archive = try KeyedArchive(bytes)
    } catch {
      if error == .notKeyedArchive {
        throw MappingReadingError(problem: .notMappingModel(found: "a property list without a mapping model"))
      }
      throw MappingReadingError(problem: .malformed(reason: error.description))
    }
    var reader = MappingArchiveReader(reader: ModelArchiveReader(archive))
    var found: String?
    var mappings: [EntityMapping] = []
    do throws(FormatError) {
      let root = try reader.reader.decoder.root()
      let classes = try reader.reader.decoder.classNames(of: root)
      if classes.contains("NSMappingModel") {
        mappings = try reader.entityMappings(of: root)
      } else {
        let isModel = classes.contains("NSManagedObjectModel")
        found = isModel ? "a compiled model" : "an archive of the class \"\(classes[0].prefix(80))\""
      }
    } catch {
      throw MappingReadingError(problem: .malformed(reason: error.description))
    }
    if let found { throw MappingReadingError(problem: .notMappingModel(found: found)) }
    return ReadMappingModel(
      mappingModel: MappingModel(entityMappings: mappings), warnings: reader.reader.warnings)
  }

  static func expression(
    _ bytes: [UInt8], _ place: String
  ) throws(FormatError) -> (expression: ValueExpression, warnings: [ModelReadingWarning]) {
    var reader = ModelArchiveReader(try KeyedArchive(bytes))
    let expression = try reader.expression(try reader.decoder.root(), place)
    return (expression, reader.warnings)
  }

  static func userInfo(
    _ bytes: [UInt8], _ place: String
  ) throws(FormatError) -> (userInfo: [String: String], warnings: [ModelReadingWarning]) {
    var reader = ModelArchiveReader(try KeyedArchive(bytes))
    guard let entries = try reader.decoder.entries(of: try reader.decoder.root()) else {
      throw .senseless("the user info is not a dictionary")
    }
    return (try reader.userInfo(entries, place), reader.warnings)
  }

  // MARK: - Entity mappings

  private static let mappingKeys: Set<String> = [
    "NSMappingName", "NSMappingType", "NSSourceEntityName", "NSSourceEntityVersionHash", "NSDestinationEntityName",
    "NSDestinationEntityVersionHash", "NSSourceExpression", "NSAttributeMappings", "NSRelationshipMappings",
    "NSEntityMigrationPolicyClassName", "NSUserInfo",
  ]
  private static let propertyKeys: Set<String> = [
    "NSDestinationPropertyName", "NSValueExpression", "NSPropertyTransforms", "NSUserInfo",
  ]

  private mutating func entityMappings(of root: ArchivedObject) throws(FormatError) -> [EntityMapping] {
    try reader.checkKeys(of: root, "the mapping model", ["NSEntityMappings", "NSEntityMappingsByName"])
    var mappings: [EntityMapping] = []
    for reference in try reader.decoder.elements("NSEntityMappings", of: root) {
      guard let object = try reader.decoder.object(reference) else {
        throw .senseless("an entity mapping is not an object")
      }
      mappings.append(try entityMapping(object))
    }
    return mappings
  }

  private mutating func entityMapping(_ object: ArchivedObject) throws(FormatError) -> EntityMapping {
    let source = try reader.nonEmptyString("NSSourceEntityName", of: object)
    let destination = try reader.nonEmptyString("NSDestinationEntityName", of: object)
    var mapping = EntityMapping(
      from: source, to: destination, name: try reader.nonEmptyString("NSMappingName", of: object),
      policyNamed: try reader.nonEmptyString("NSEntityMigrationPolicyClassName", of: object))
    let place = "\"\(mapping.name)\""
    try checkClass(of: object, "NSEntityMapping", place)
    try reader.checkKeys(of: object, place, Self.mappingKeys)
    mapping.sourceEntityVersionHash = try hash("NSSourceEntityVersionHash", of: object, place)
    mapping.destinationEntityVersionHash = try hash("NSDestinationEntityVersionHash", of: object, place)
    mapping.mappingType = try mappingType(of: object, mapping, place)
    mapping.sourceExpression = try expression("NSSourceExpression", of: object, "the source of \(place)")
    mapping.attributeMappings = try propertyMappings("NSAttributeMappings", of: object, place)
    mapping.relationshipMappings = try propertyMappings("NSRelationshipMappings", of: object, place)
    mapping.userInfo = try reader.userInfo(of: object, place)
    mapping.openProperties = EntityMapping.OpenProperties()
    return mapping
  }

  /// Xcode's compiler marks mappings as copies even if their entities have changed.
  private mutating func mappingType(
    of object: ArchivedObject, _ mapping: EntityMapping, _ place: String
  ) throws(FormatError) -> EntityMapping.MappingType {
    let code = try reader.decoder.integer("NSMappingType", of: object) ?? 0
    guard let type = EntityMapping.MappingType(rawValue: code) else {
      reader.warn(.invalidValue(String(code), of: "NSMappingType"), place)
      return mapping.mappingType
    }
    if type == .undefined { reader.warn(.undefinedEntityMapping, place) }
    if type == .copy, mapping.sourceEntityVersionHash != mapping.destinationEntityVersionHash {
      reader.warn(.copyOfDifferingEntities, place)
      return .transform
    }
    return type
  }

  private mutating func propertyMappings(
    _ key: String, of object: ArchivedObject, _ mapping: String
  ) throws(FormatError) -> [PropertyMapping] {
    var properties: [PropertyMapping] = []
    var names: Set<String> = []
    for reference in try reader.decoder.elements(key, of: object) {
      guard let object = try reader.decoder.object(reference) else {
        throw .senseless("a property mapping of the entity mapping \(mapping) is not an object")
      }
      guard let name = try reader.nonEmptyString("NSDestinationPropertyName", of: object) else {
        throw .senseless("a property mapping of the entity mapping \(mapping) has no name")
      }
      guard names.insert(name).inserted else {
        throw .senseless("the entity mapping \(mapping) maps the property \"\(name.prefix(80))\" twice")
      }
      let place = "\(mapping).\(name)"
      try checkClass(of: object, "NSPropertyMapping", place)
      try reader.checkKeys(of: object, place, Self.propertyKeys)
      if case .object = try reader.decoder.node("NSPropertyTransforms", of: object) {
        reader.warn(.unknownKey("NSPropertyTransforms"), place)
      }
      properties.append(
        PropertyMapping(
          name: name, valueExpression: try expression("NSValueExpression", of: object, place),
          userInfo: try reader.userInfo(of: object, place)))
    }
    return properties
  }

  // MARK: - Members

  private mutating func expression(
    _ key: String, of object: ArchivedObject, _ place: String
  ) throws(FormatError) -> ValueExpression? {
    switch try reader.decoder.node(key, of: object) {
    case .null: nil
    case .object(let object): try reader.expression(object, place)
    // A scalar in place of an expression must not be read as "leave the default".
    case .scalar: throw .senseless("the value expression of \(place) is not an expression")
    }
  }

  private mutating func hash(
    _ key: String, of object: ArchivedObject, _ place: String
  ) throws(FormatError) -> VersionHash? {
    let bytes: [UInt8]
    switch try reader.decoder.node(key, of: object) {
    case .null: return nil
    case .scalar(.data(let data)): bytes = data
    case .object(let object):
      guard case .scalar(.data(let data)) = try reader.decoder.node("NS.data", of: object) else {
        throw .senseless("the value of \"\(key)\" of the entity mapping \(place) is not a version hash")
      }
      bytes = data
    case .scalar: throw .senseless("the value of \"\(key)\" of the entity mapping \(place) is not a version hash")
    }
    do throws(VersionHashError) {
      return try VersionHash(bytes)
    } catch {
      throw .senseless("the value of \"\(key)\" of the entity mapping \(place) has \(bytes.count) bytes instead of 32")
    }
  }

  private mutating func checkClass(
    of object: ArchivedObject, _ name: String, _ place: String
  ) throws(FormatError) {
    let classes = try reader.decoder.classNames(of: object)
    if classes[0] != name { reader.warn(.unknownClass(classes[0]), place) }
  }
}
