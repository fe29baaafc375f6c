import Heirloom

// Two versions of a very large model, and the source format that Xcode writes.
extension BenchmarkModels {
  static let grownEntityCount = 2 * largeEntityCount

  /// In every tenth entity, the later version renames, drops and adds an attribute.
  static func grown() throws -> (earlier: ManagedObjectModel, later: ManagedObjectModel) {
    let earlier = try large(entityCount: grownEntityCount)
    var entities = earlier.entities
    for index in stride(from: 0, to: entities.count, by: 10) {
      var attributes = entities[index].attributes
      attributes.removeAll { $0.name == "property2" }
      for position in attributes.indices where attributes[position].name == "property1" {
        attributes[position].name = "renamed1"
        attributes[position].renamingIdentifier = "property1"
      }
      attributes.append(attribute("added", .string))
      entities[index].attributes = attributes
    }
    var zone = EntityDescription(name: "Zone")
    zone.attributes = [attribute("name", .string)]
    entities.append(zone)
    return (earlier, try ManagedObjectModel(entities: entities, versionIdentifiers: ["later"]))
  }

  /// The file `contents` of an `.xcdatamodel`.
  ///
  /// It supports only the features of these models, whose names need no escaping.
  static func source(of model: ManagedObjectModel) -> [UInt8] {
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
      #"<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" systemVersion="22G91""#
        + #" minimumToolsVersion="Automatic" sourceLanguage="Swift""#
        + (model.versionIdentifiers.first.map { " userDefinedModelVersionIdentifier=\"\($0)\"" } ?? "") + ">",
    ]
    for entity in model.entities {
      let className = entity.managedObjectClassName.map { " representedClassName=\"\($0)\"" } ?? ""
      lines.append("    <entity name=\"\(entity.name)\"\(className) syncable=\"YES\">")
      lines += entity.attributes.map(source)
      lines += entity.relationships.map(source)
      lines += entity.indexes.map(source)
      lines.append("    </entity>")
    }
    lines += ["</model>", ""]
    return Array(lines.joined(separator: "\n").utf8)
  }

  private static func source(of attribute: AttributeDescription) -> String {
    var text = "        <attribute name=\"\(attribute.name)\"" + (attribute.isOptional ? " optional=\"YES\"" : "")
    text += " attributeType=\"\(attribute.type.name)\""
    if case .integer(let value) = attribute.defaultValue { text += " defaultValueString=\"\(value)\"" }
    if let identifier = attribute.renamingIdentifier { text += " elementID=\"\(identifier)\"" }
    return text + "/>"
  }

  private static func source(of relationship: RelationshipDescription) -> String {
    let destination = relationship.destinationEntity
    var text =
      "        <relationship name=\"\(relationship.name)\"" + (relationship.isOptional ? " optional=\"YES\"" : "")
    text += relationship.maxCount == 1 ? " maxCount=\"1\"" : " toMany=\"YES\""
    text += " deletionRule=\"Nullify\" destinationEntity=\"\(destination)\""
    if let inverse = relationship.inverseRelationship {
      text += " inverseName=\"\(inverse)\" inverseEntity=\"\(destination)\""
    }
    return text + "/>"
  }

  private static func source(of index: FetchIndexDescription) -> String {
    let elements = index.elements.map { element in
      guard case .property(let name) = element.subject else { return "" }
      return "            <fetchIndexElement property=\"\(name)\" type=\"Binary\" order=\"ascending\"/>\n"
    }
    return "        <fetchIndex name=\"\(index.name)\">\n\(elements.joined())        </fetchIndex>"
  }
}
