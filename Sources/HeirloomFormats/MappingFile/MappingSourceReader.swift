import HeirloomMapping
import HeirloomModel

/// A reader of Xcode's mapping sources (`xcmapping.xml`).
///
/// Entities and attributes are those of Xcode's own model `XDDevMappingModel`. Listed properties that were never edited
/// are left to completion, as Xcode leaves them to its compiler.
struct MappingSourceReader {
  private let store: XMLStoreReader
  private var result = ReadMappingModel(mappingModel: MappingModel(entityMappings: []))
  /// Property mappings that an entity mapping lists; each may be listed once.
  private var used: Set<String> = []

  /// As named in XML stores.
  private enum Entity {
    static let mappingModel = "XDDEVMAPPINGMODEL"
    static let entityMapping = "XDDEVENTITYMAPPING"
    static let attributeMapping = "XDDEVATTRIBUTEMAPPING"
    static let relationshipMapping = "XDDEVRELATIONSHIPMAPPING"
    static let all: Set<String> = [mappingModel, entityMapping, attributeMapping, relationshipMapping]
  }

  /// The non-transient attributes of each entity.
  private static let knownValues: [String: Set<String>] = [
    Entity.mappingModel: ["sourcemodelpath", "destinationmodelpath", "sourcemodeldata", "destinationmodeldata"],
    Entity.entityMapping: [
      "sourcename", "destinationname", "mappingtypename", "mappingnumber", "autogenerateexpression", "name",
      "migrationpolicyclassname", "sourcefilterpredicatestring", "sourceexpressiondata", "userinfodata",
    ],
    Entity.attributeMapping: ["name", "valueexpressiondata", "userinfodata"],
    Entity.relationshipMapping: [
      "name", "valueexpressiondata", "userinfodata", "autogenerateexpression", "sourcekeypath", "sourcemappingname",
    ],
  ]

  static func read(_ bytes: [UInt8]) throws(MappingReadingError) -> ReadMappingModel {
    let root: MarkupElement
    do throws(FormatError) {
      root = try MarkupReader.rootElement(of: bytes)
    } catch {
      throw malformed(error.description)
    }
    guard root.name == "database" else {
      let isModel = root.name == "model"
      let found = isModel ? "a model" : "an XML document with the root element <\(root.name.prefix(80))>"
      throw MappingReadingError(problem: .notMappingModel(found: found))
    }
    let store = try XMLStoreReader(root)
    let models = store.objects.filter { $0.entity == Entity.mappingModel }
    guard let model = models.first else {
      guard let other = store.objects.first(where: { !Entity.all.contains($0.entity) }) else {
        throw malformed("the object with its entity mappings is missing")
      }
      throw MappingReadingError(
        problem: .notMappingModel(found: "an XML store with objects of \"\(other.entity.prefix(80))\""))
    }
    guard models.count == 1 else { throw malformed("there are \(models.count) mapping models in one file") }
    var reader = MappingSourceReader(store: store)
    try reader.read(model)
    return reader.result
  }

  private mutating func read(_ model: XMLStoreReader.Object) throws(MappingReadingError) {
    result.warnings = store.warnings
    result.sourceModelPath = model.text("sourcemodelpath")
    result.destinationModelPath = model.text("destinationmodelpath")
    checkValues()
    var members = Set<String>()
    var mappings: [(number: Int, mapping: EntityMapping)] = []
    for object in try linked("entitymappings", of: model, entity: Entity.entityMapping) {
      guard members.insert(object.id).inserted else { continue }
      let number = object.values["mappingnumber"].flatMap { Int($0) } ?? 0
      let mapping = try entityMapping(object)
      var empty = EntityMapping(from: nil, to: nil, name: mapping.name)
      empty.openProperties = mapping.openProperties
      if mapping == empty {
        // Xcode's button for a new entity mapping creates one, which is easily forgotten.
        warn(.emptyEntityMapping, "\"\(mapping.name)\" in line \(object.line)")
      } else {
        mappings.append((number, mapping))
      }
    }
    for object in store.objects where object.entity == Entity.entityMapping && !members.contains(object.id) {
      warn(.unusedEntityMapping, "\"\(Self.name(of: object))\" in line \(object.line)")
    }
    warnOfOrphans(except: members)
    // Sorting is stable, so equal numbers keep the order of the file.
    result.mappingModel.entityMappings = mappings.ordered { $0.number < $1.number }.map(\.mapping)
  }

  // MARK: - Entity mappings

  private mutating func entityMapping(_ object: XMLStoreReader.Object) throws(MappingReadingError) -> EntityMapping {
    let name = Self.name(of: object)
    let place = "\"\(name)\""
    var mapping = EntityMapping(
      from: object.text("sourcename"), to: object.text("destinationname"), name: name,
      mappingType: mappingType(of: object, place), policyNamed: object.text("migrationpolicyclassname"))
    if let bytes = try object.bytes("sourceexpressiondata") {
      mapping.sourceExpression = try expression(bytes, "the source of \(place)")
    } else if let source = mapping.sourceEntityName, let predicate = object.text("sourcefilterpredicatestring") {
      mapping.sourceExpression = .sourceRows(ofEntity: source, predicate: predicate)
    }
    mapping.userInfo = try userInfo(of: object, place)
    var unedited = EntityMapping.OpenProperties()
    mapping.attributeMappings = try propertyMappings(
      "attributemappings", of: object, entity: Entity.attributeMapping, place, unedited: &unedited.attributes)
    mapping.relationshipMappings = try propertyMappings(
      "relationshipmappings", of: object, entity: Entity.relationshipMapping, place, unedited: &unedited.relationships)
    mapping.openProperties = unedited
    return mapping
  }

  /// Without a name, Xcode uses `SourceToDestination`, or the only name.
  private static func name(of object: XMLStoreReader.Object) -> String {
    if let name = object.text("name") { return name }
    switch (object.text("sourcename"), object.text("destinationname")) {
    case (let source?, let destination?): return "\(source)To\(destination)"
    case (let source?, nil): return source
    case (nil, let destination?): return destination
    case (nil, nil): return ""
    }
  }

  private mutating func mappingType(
    of object: XMLStoreReader.Object, _ place: String
  ) -> EntityMapping.MappingType {
    guard let text = object.text("mappingtypename") else { return .undefined }
    let type = EntityMapping.MappingType.allCases.first { $0.name == text.lowercased() }
    if type == nil { warn(.invalidValue(text, of: "mappingtypename"), place) }
    return type ?? .undefined
  }

  // MARK: - Property mappings

  private mutating func propertyMappings(
    _ key: String, of owner: XMLStoreReader.Object, entity: String, _ mapping: String, unedited: inout [String]
  ) throws(MappingReadingError) -> [PropertyMapping] {
    var properties: [PropertyMapping] = []
    var names: Set<String> = []
    for object in try linked(key, of: owner, entity: entity) {
      guard let name = object.text("name") else {
        warn(.invalidValue("", of: "name"), "a property mapping of \(mapping) in line \(object.line)")
        continue
      }
      let place = "\(mapping).\(name)"
      guard used.insert(object.id).inserted else {
        throw Self.malformed("the property mapping \(place) in line \(object.line) belongs to two entity mappings")
      }
      guard names.insert(name).inserted else {
        throw Self.malformed("the entity mapping \(mapping) maps the property \"\(name.prefix(80))\" twice")
      }
      let userInfo = try userInfo(of: object, place)
      guard let value = try valueExpression(of: object, name: name, place) else {
        if object.text("autogenerateexpression") == "0" {
          warn(.missingExpression, place)
          properties.append(PropertyMapping(name: name, userInfo: userInfo))
          continue
        }
        if !userInfo.isEmpty { warn(.unknownKey("userinfodata"), "\(place), which has no expression,") }
        unedited.append(name)
        continue
      }
      properties.append(PropertyMapping(name: name, valueExpression: value, userInfo: userInfo))
    }
    unedited = unedited.ordered()
    return properties.ordered(by: \.name)
  }

  /// Xcode's editor leaves orphans when a model changes.
  ///
  /// Those of an omitted entity mapping are omitted without a warning.
  private mutating func warnOfOrphans(except members: Set<String>) {
    let kinds = [Entity.attributeMapping, Entity.relationshipMapping]
    for object in store.objects where kinds.contains(object.entity) && !used.contains(object.id) {
      let owners = object.links["entitymapping"] ?? []
      guard owners.allSatisfy({ members.contains($0) || store[$0] == nil }) else { continue }
      warn(.unusedPropertyMapping, "\"\(object.text("name") ?? "")\" in line \(object.line)")
    }
  }

  /// The edited expression, or one of a relationship's key path and mapping name.
  private mutating func valueExpression(
    of object: XMLStoreReader.Object, name: String, _ place: String
  ) throws(MappingReadingError) -> ValueExpression? {
    if let bytes = try object.bytes("valueexpressiondata") { return try expression(bytes, place) }
    let path = object.text("sourcekeypath")
    let mappingName = object.text("sourcemappingname")
    guard path != nil || mappingName != nil else { return nil }
    let sources = path.map { keyPath($0, place) } ?? .keyPath(operand: .variable("source"), path: name)
    guard let mappingName else {
      let relationship = path?.names(separatedBy: ".", omittingEmptySubsequences: true).last.map(String.init) ?? name
      return .function(
        operand: .variable("manager"), selector: ValueExpression.relationshipSelector,
        arguments: [.constant(.value(.string(relationship))), sources])
    }
    return .function(
      operand: .variable("manager"), selector: ValueExpression.entityMappingSelector,
      arguments: [.constant(.value(.string(mappingName))), sources])
  }

  /// From Xcode's field, such as `$source.country`; text that can't be parsed is kept.
  private mutating func keyPath(_ text: String, _ place: String) -> ValueExpression {
    let prefix = "$source."
    if text.hasPrefix(prefix), text.utf8.count > prefix.utf8.count {
      return .keyPath(operand: .variable("source"), path: String(text.dropFirst(prefix.count)))
    }
    let expression = ExpressionReading.expression(text)
    if case .unparsed = expression { warn(.unparsedExpression(text), place) }
    return expression
  }

  // MARK: - Parts

  private mutating func expression(_ bytes: [UInt8], _ place: String) throws(MappingReadingError) -> ValueExpression {
    do throws(FormatError) {
      let read = try MappingArchiveReader.expression(bytes, place)
      result.warnings += read.warnings
      return read.expression
    } catch {
      throw Self.malformed("the expression of \(place) can't be read: \(error.description)")
    }
  }

  private mutating func userInfo(
    of object: XMLStoreReader.Object, _ place: String
  ) throws(MappingReadingError) -> [String: String] {
    guard let bytes = try object.bytes("userinfodata") else { return [:] }
    do throws(FormatError) {
      let read = try MappingArchiveReader.userInfo(bytes, place)
      result.warnings += read.warnings
      return read.userInfo
    } catch {
      throw Self.malformed("the user info of \(place) can't be read: \(error.description)")
    }
  }

  private func linked(
    _ key: String, of object: XMLStoreReader.Object, entity: String
  ) throws(MappingReadingError) -> [XMLStoreReader.Object] {
    var objects: [XMLStoreReader.Object] = []
    for id in object.links[key] ?? [] {
      guard let target = store[id] else {
        throw Self.malformed("the object in line \(object.line) refers to \"\(id.prefix(40))\", which doesn't exist")
      }
      guard target.entity == entity else {
        throw Self.malformed(
          "the object in line \(object.line) refers to an object of \"\(target.entity.prefix(80))\" as its \(key)")
      }
      objects.append(target)
    }
    return objects
  }

  private mutating func checkValues() {
    var unknown: Set<String> = []
    for object in store.objects {
      guard let known = Self.knownValues[object.entity] else {
        if unknown.insert(object.entity).inserted { warn(.unknownClass(object.entity), "line \(object.line)") }
        continue
      }
      for name in object.values.keys.ordered() where !known.contains(name) {
        warn(.unknownKey(name), "line \(object.line)")
      }
    }
  }

  private mutating func warn(_ kind: ModelReadingWarning.Kind, _ place: String) {
    result.warnings.append(ModelReadingWarning(kind, place: place))
  }

  private static func malformed(_ reason: String) -> MappingReadingError {
    MappingReadingError(problem: .malformed(reason: reason))
  }
}
