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
    entities.append(entity("Zone", [("name", .string)]))
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
        + words([("userDefinedModelVersionIdentifier", model.versionIdentifiers.first)]) + ">",
    ]
    for entity in model.entities {
      let className = words([("representedClassName", entity.managedObjectClassName)])
      lines.append("    <entity name=\"\(entity.name)\"\(className) syncable=\"YES\">")
      for attribute in entity.attributes {
        var value: String?
        if case .integer(let integer) = attribute.defaultValue { value = String(integer) }
        let words = words([
          ("name", attribute.name), ("optional", attribute.isOptional ? "YES" : nil),
          ("attributeType", attribute.type.name), ("defaultValueString", value),
          ("elementID", attribute.renamingIdentifier),
        ])
        lines.append("        <attribute\(words)/>")
      }
      for relationship in entity.relationships {
        let isToOne = relationship.maxCount == 1
        let inverse = relationship.inverseRelationship
        let words = words([
          ("name", relationship.name), ("optional", relationship.isOptional ? "YES" : nil),
          ("maxCount", isToOne ? "1" : nil), ("toMany", isToOne ? nil : "YES"), ("deletionRule", "Nullify"),
          ("destinationEntity", relationship.destinationEntity), ("inverseName", inverse),
          ("inverseEntity", inverse.map { _ in relationship.destinationEntity }),
        ])
        lines.append("        <relationship\(words)/>")
      }
      for index in entity.indexes {
        lines.append("        <fetchIndex name=\"\(index.name)\">")
        for element in index.elements {
          guard case .property(let name) = element.subject else { continue }
          lines.append("            <fetchIndexElement property=\"\(name)\" type=\"Binary\" order=\"ascending\"/>")
        }
        lines.append("        </fetchIndex>")
      }
      lines.append("    </entity>")
    }
    lines += ["</model>", ""]
    return Array(lines.joined(separator: "\n").utf8)
  }

  private static func words(_ attributes: [(name: String, value: String?)]) -> String {
    attributes.compactMap { name, value in value.map { " \(name)=\"\($0)\"" } }.joined()
  }
}
