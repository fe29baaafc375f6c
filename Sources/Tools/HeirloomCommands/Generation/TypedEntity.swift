import Heirloom

struct TypedEntity {
  private let source: TypedSource
  private let entity: EntityDescription
  private let attributes: [AttributeDescription]
  private let relationships: [RelationshipDescription]
  private let names: [String: String]

  init(_ source: TypedSource, _ entity: EntityDescription) {
    self.source = source
    self.entity = entity
    attributes = source.model.attributes(of: entity.name)
    relationships = source.model.relationships(of: entity.name)
    names = SwiftNames.assigned(to: attributes.map(\.name) + relationships.map(\.name))
  }

  func write(to lines: inout SourceLines) {
    let access = lines.access
    lines.comment(
      "An object of the entity \"\(entity.name)\"\(entity.superentity.map { ", a kind of \"\($0)\"" } ?? "").")
    lines.open("\(access)nonisolated struct \(source.type(of: entity.name)): TypedObject {")
    lines.add("\(access)static let entityName = \(SwiftText.literal(entity.name))")
    lines.add("\(access)static var properties: Properties { Properties(keyPath: \"\") }")
    lines.add("\(access)let managedObject: ManagedObject")
    lines.add("")
    lines.add("\(access)init(unchecked managedObject: ManagedObject) { self.managedObject = managedObject }")
    if !entity.isAbstract, !source.isReadOnly {
      lines.add("")
      lines.comment("Makes a new object, which is in the store after the next save.")
      lines.open("\(access)static func insert(into context: ManagedObjectContext) throws(ManagedObjectError) -> Self {")
      lines.add("Self(unchecked: try context.insert(entityName))")
      lines.close()
    }
    var paths = TypedPaths()
    var taken = source.typeNames.union(names.values)
    for attribute in attributes { write(attribute, &paths, &taken, to: &lines) }
    for relationship in relationships { write(relationship, &paths, to: &lines) }
    for property in source.model.superentities(of: entity.name).reversed().flatMap(\.fetchedProperties)
      + entity.fetchedProperties
    {
      lines.add("")
      lines.leaveOut(
        "the fetched property \"\(property.name)\"", of: entity.name, "the app fetches it itself")
    }
    lines.add("")
    paths.write(to: &lines)
    lines.close()
  }

  private func write(
    _ attribute: AttributeDescription, _ paths: inout TypedPaths, _ taken: inout Set<String>,
    to lines: inout SourceLines
  ) {
    lines.add("")
    let name = names[attribute.name] ?? ""
    let type: String
    if let composite = attribute.composite {
      let composite = TypedComposite(name, composite.elements, entity: entity.name, path: attribute.name, &taken)
      composite.write(to: &lines)
      lines.add("")
      type = composite.type
      paths.add(name, attribute.name, .nested(composite.type), isStored: !attribute.isTransient)
    } else if let known = TypedSource.type(of: attribute) {
      type = known
      paths.add(name, attribute.name, .attribute(known), isStored: !attribute.isTransient)
    } else {
      return lines.leaveOut(
        "the attribute \"\(attribute.name)\"", of: entity.name,
        "its type, \(attribute.type.name), has none in Swift")
    }
    let isComputed = attribute.derivation != nil
    let words =
      [attribute.type.name] + (attribute.isOptional ? ["optional"] : [])
      + (isComputed ? ["computed"] : []) + (attribute.isTransient ? ["in memory only"] : [])
    accessors(
      name, attribute.name, "The attribute \"\(attribute.name)\" (\(words.joined(separator: ", "))).",
      type + (attribute.isOptional ? "?" : ""), get: "typedValue",
      set: isComputed ? nil : "setValue(value.attributeValue, forAttribute: ", to: &lines)
  }

  private func write(
    _ relationship: RelationshipDescription, _ paths: inout TypedPaths, to lines: inout SourceLines
  ) {
    lines.add("")
    guard !relationship.isTransient else {
      return lines.leaveOut(
        "the relationship \"\(relationship.name)\"", of: entity.name, "it is in memory only")
    }
    let name = names[relationship.name] ?? ""
    let type = source.type(of: relationship.destinationEntity)
    let subject = "The relationship \"\(relationship.name)\" to"
    guard !relationship.isToMany else {
      let order = relationship.isOrdered ? "in their order" : "saved ones by primary key, then new ones"
      return accessors(
        name, relationship.name, "\(subject) objects of \"\(relationship.destinationEntity)\", \(order).", "[\(type)]",
        get: "typedObjects", set: "setObjects(value.map(\\.managedObject), forRelationship: ", to: &lines)
    }
    paths.add(name, relationship.name, .nested(type), isStored: true)
    let sign = relationship.isOptional ? "?" : ""
    accessors(
      name, relationship.name,
      "\(subject) one object of \"\(relationship.destinationEntity)\"\(relationship.isOptional ? ", optional" : "").",
      type + sign, get: relationship.isOptional ? "typedObject" : "requiredObject",
      set: "setObject(value\(sign).managedObject, forRelationship: ", to: &lines)
  }

  private func accessors(
    _ name: String, _ property: String, _ sentence: String, _ type: String, get: String, set: String?,
    to lines: inout SourceLines
  ) {
    let (access, spelled, literal) = (lines.access, SwiftNames.spelled(name), SwiftText.literal(property))
    lines.comment(sentence)
    lines.open("\(access)var \(spelled): \(type) {")
    lines.add("get throws(ManagedObjectError) { try managedObject.\(get)(\(literal)) }")
    lines.close()
    guard let set, !source.isReadOnly else { return }
    lines.add("")
    lines.comment("Sets \"\(property)\".")
    let parameter = name == "value" ? name : "\(spelled) value"
    lines.open("\(access)func set(\(parameter): \(type)) throws(ManagedObjectError) {")
    lines.add("try managedObject.\(set)\(literal))")
    lines.close()
  }
}

/// The generated declaration of the paths that a fetch can use.
struct TypedPaths {
  /// An attribute at the end of a path, or a nested declaration of longer paths.
  enum Step {
    case attribute(String)
    case nested(String)
  }

  private var steps: [(name: String, property: String, step: Step)] = []

  /// Skips a property whose name would be parsed as a longer path.
  mutating func add(_ name: String, _ property: String, _ step: Step, isStored: Bool) {
    guard isStored, !property.unicodeScalars.contains("."), property.unicodeScalars.first != "@", property != "self"
    else { return }
    steps.append((name, property, step))
  }

  func write(to lines: inout SourceLines) {
    let access = lines.access
    lines.comment("The properties that fetches name.")
    lines.open("\(access)nonisolated struct Properties {")
    lines.add("private let keyPath: String")
    lines.add("")
    lines.comment("Creates the properties below a key path, which is empty or ends with a point.")
    lines.add("\(access)init(keyPath: String) { self.keyPath = keyPath }")
    lines.add("")
    for (name, property, step) in steps {
      let spelled = SwiftNames.spelled(name)
      lines.comment("The path to \"\(property)\".")
      switch step {
      case .attribute(let type):
        let path = "keyPath + \(SwiftText.literal(property))"
        lines.add("\(access)var \(spelled): TypedAttribute<\(type)> { TypedAttribute(\(path)) }")
      case .nested(let type):
        let path = "keyPath + \(SwiftText.literal(property + "."))"
        lines.add("\(access)var \(spelled): \(type).Properties { .init(keyPath: \(path)) }")
      }
    }
    lines.close()
  }
}
