import Heirloom

/// The source of a model as Xcode writes it, as far as the benchmarks' large model needs it.
///
/// Attributes with their types and defaults of integers, relationships, indexes of one property; anything else is left out.
enum ModelSourceText {
  /// Returns the content of the file `contents` in an `.xcdatamodel`.
  static func of(_ model: ManagedObjectModel) -> String {
    let identifier = model.versionIdentifiers.first ?? ""
    let entities = model.entities.map { entity(of: $0) }.joined()
    return """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" systemVersion="22G91" \
      minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="\(identifier)">
      \(entities)</model>

      """
  }

  private static func entity(of entity: EntityDescription) -> String {
    let attributes = entity.attributes.map { attribute in
      var text = "        <attribute name=\"\(attribute.name)\" optional=\"\(attribute.isOptional ? "YES" : "NO")\""
      text += " attributeType=\"\(attribute.type.name)\""
      if case .integer(let value)? = attribute.defaultValue { text += " defaultValueString=\"\(value)\"" }
      return text + " usesScalarValueType=\"NO\"/>\n"
    }
    let relationships = entity.relationships.map { relationship in
      let other = relationship.destinationEntity
      return "        <relationship name=\"\(relationship.name)\" optional=\"YES\""
        + (relationship.maxCount == 1 ? " maxCount=\"1\"" : " toMany=\"YES\"")
        + " deletionRule=\"Nullify\" destinationEntity=\"\(other)\""
        + " inverseName=\"\(relationship.inverseRelationship ?? "")\" inverseEntity=\"\(other)\"/>\n"
    }
    let indexes = entity.indexes.map { index in
      let elements = index.elements.compactMap { element -> String? in
        guard case .property(let name) = element.subject else { return nil }
        return "            <fetchIndexElement property=\"\(name)\" type=\"Binary\" order=\"ascending\"/>\n"
      }
      return "        <fetchIndex name=\"\(index.name)\">\n\(elements.joined())        </fetchIndex>\n"
    }
    return "    <entity name=\"\(entity.name)\" representedClassName=\"\(entity.name)\" syncable=\"YES\">\n"
      + (attributes + relationships + indexes).joined() + "    </entity>\n"
  }
}
