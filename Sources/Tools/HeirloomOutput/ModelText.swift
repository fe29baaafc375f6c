package import Heirloom

/// Text and JSON, both with the complete model.
package struct ModelText {
  package let model: ManagedObjectModel

  package init(model: ManagedObjectModel) {
    self.model = model
  }

  /// In the format of a snapshot.
  package var output: OutputValue {
    // Parsing can't fail, because the bytes were just written.
    (try? JSONReader.value(of: ModelSnapshot.canonicalModelBytes(of: model))).map(OutputValue.init) ?? .null
  }

  /// Complete entities, then configurations and fetch requests.
  package func lines(_ style: TextStyle) -> [String] {
    var lines: [String] = []
    for entity in model.entities {
      lines += ["", style.bold(entity.name) + words(Self.features(of: entity))]
      lines += entity.attributes.flatMap { Self.lines(of: $0, indent: 2) }
      lines += entity.relationships.map { "  \($0.name): \(Self.features(of: $0).joined(separator: ", "))" }
      lines += entity.fetchedProperties.map { "  \($0.name): \(Self.features(of: $0).joined(separator: ", "))" }
      lines += entity.indexes.map { "  index \($0.name): \(Self.text(of: $0))" }
      lines += entity.uniquenessConstraints.map { "  unique: \($0.joined(separator: ", "))" }
    }
    for configuration in model.configurations {
      lines += [
        "", "configuration \(style.bold(configuration.name)): \(configuration.entityNames.joined(separator: ", "))",
      ]
    }
    for request in model.fetchRequestTemplates {
      lines += ["", "fetch request \(style.bold(request.name)): \(Self.features(of: request).joined(separator: ", "))"]
    }
    return lines
  }

  private func words(_ features: [String]) -> String {
    features.isEmpty ? "" : ": " + features.joined(separator: ", ")
  }

  // MARK: Entities

  private static func features(of entity: EntityDescription) -> [String] {
    var features: [String] = []
    if let parent = entity.superentity { features.append("parent \(parent)") }
    if entity.isAbstract { features.append("abstract") }
    if let name = entity.managedObjectClassName { features.append("class \(name)") }
    if let type = entity.codeGenerationType { features.append("code generation \(type)") }
    if let expression = entity.coreSpotlightDisplayNameExpression {
      features.append("Spotlight display name \(expression.predicateFormat)")
    }
    return features + identity(entity.renamingIdentifier, entity.versionHashModifier, entity.userInfo)
  }

  /// Common to entities and all kinds of properties.
  private static func identity(
    _ renamingIdentifier: String?, _ versionHashModifier: String?, _ userInfo: [String: String]
  ) -> [String] {
    var features: [String] = []
    if let renamingIdentifier { features.append("renaming identifier \(quoted(renamingIdentifier))") }
    if let versionHashModifier { features.append("hash modifier \(quoted(versionHashModifier))") }
    if !userInfo.isEmpty {
      let entries = userInfo.ordered { $0.key }.map { "\(quoted($0.key)) = \(quoted($0.value))" }
      features.append("user info {\(entries.joined(separator: ", "))}")
    }
    return features
  }

  /// Escaped to stay on one line.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7F {
          result += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }

  // MARK: Attributes

  private static func lines(of attribute: AttributeDescription, indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    let elements = (attribute.composite?.elements ?? []).flatMap { lines(of: $0, indent: indent + 2) }
    return ["\(margin)\(attribute.name): \(features(of: attribute).joined(separator: ", "))"] + elements
  }

  private static func features(of attribute: AttributeDescription) -> [String] {
    var features = [attribute.type.name]
    if let name = attribute.composite?.name { features[0] += " \(name)" }
    features.append(attribute.isOptional ? "optional" : "required")
    if attribute.isTransient { features.append("transient") }
    if let value = attribute.defaultValue { features.append("default \(text(of: value))") }
    if let derivation = attribute.derivation {
      features.append("derived from \(derivation.derivationExpression.predicateFormat)")
      if let predicate = derivation.filteringPredicate { features.append("counting \(predicate.predicateFormat)") }
    }
    if let name = attribute.valueTransformerName { features.append("transformer \(name)") }
    if let name = attribute.attributeValueClassName { features.append("values of \(name)") }
    if attribute.allowsExternalBinaryDataStorage { features.append("external storage") }
    if attribute.preservesValueInHistoryOnDeletion { features.append("preserved after deletion") }
    if attribute.allowsCloudEncryption { features.append("encrypted in CloudKit") }
    if attribute.isIndexedBySpotlight { features.append("indexed by Spotlight") }
    if attribute.isStoredInExternalRecord { features.append("in an external record") }
    if let isScalar = attribute.usesScalarValueType {
      features.append(isScalar ? "scalar in generated code" : "object in generated code")
    }
    return features + attribute.validationRules.map(text)
      + identity(attribute.renamingIdentifier, attribute.versionHashModifier, attribute.userInfo)
  }

  private static func text(of value: AttributeValue) -> String {
    switch value {
    case .string(let text): quoted(text)
    // These bytes are the model's default, not a user's value.
    case .binary(let bytes): "0x" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    default: value.description
    }
  }

  private static func text(of rule: ValidationRule) -> String {
    let warning =
      switch rule.warning {
      case .code(let code): " (error \(code))"
      case .message(let text): " (\(quoted(text)))"
      case nil: ""
      }
    return "valid if \(rule.predicate.predicateFormat)\(warning)"
  }

  // MARK: Relationships

  private static func features(of relationship: RelationshipDescription) -> [String] {
    var features = [
      relationship.isToMany ? "to many \(relationship.destinationEntity)" : "to \(relationship.destinationEntity)"
    ]
    features.append(relationship.inverseRelationship.map { "inverse \($0)" } ?? "no inverse")
    features.append(relationship.isOptional ? "optional" : "required")
    if relationship.isTransient { features.append("transient") }
    if relationship.isOrdered { features.append("ordered") }
    if relationship.minCount != 0 { features.append("at least \(relationship.minCount)") }
    if relationship.isToMany, relationship.maxCount != 0 { features.append("at most \(relationship.maxCount)") }
    features.append("on deletion \(relationship.deleteRule.name)")
    if relationship.isIndexedBySpotlight { features.append("indexed by Spotlight") }
    return features + relationship.validationRules.map(text)
      + identity(relationship.renamingIdentifier, relationship.versionHashModifier, relationship.userInfo)
  }

  // MARK: Fetches and indexes

  private static func features(of property: FetchedPropertyDescription) -> [String] {
    var features = ["fetched property"] + self.features(of: property.fetchRequest, namedBy: property.fetchRequest.name)
    features.append(property.isOptional ? "optional" : "required")
    if property.isIndexedBySpotlight { features.append("indexed by Spotlight") }
    return features + identity(property.renamingIdentifier, property.versionHashModifier, property.userInfo)
  }

  private static func features(of request: FetchRequestDescription, namedBy name: String? = nil) -> [String] {
    var features = ["of \(request.entityName)"]
    // A fetched property's request has this name by default, so it carries no information.
    if let name, name != "fetchedPropertyFetchRequest" { features.append("named \(quoted(name))") }
    if let predicate = request.predicate { features.append("where \(predicate.predicateFormat)") }
    if !request.sortDescriptors.isEmpty {
      let keys = request.sortDescriptors.map { "\($0.keyPath) \($0.ascending ? "ascending" : "descending")" }
      features.append("sorted by \(keys.joined(separator: " then "))")
    }
    switch request.resultType {
    case .managedObjects: break
    case .managedObjectIDs: features.append("gives object identifiers")
    case .dictionaries: features.append("gives dictionaries")
    case .count: features.append("gives a count")
    }
    for (count, word) in [
      (request.fetchLimit, "limit"), (request.fetchOffset, "offset"), (request.fetchBatchSize, "batch size"),
    ] where count != 0 { features.append("\(word) \(count)") }
    if !request.includesSubentities { features.append("without subentities") }
    if !request.includesPropertyValues { features.append("without property values") }
    if !request.includesPendingChanges { features.append("without pending changes") }
    if !request.returnsObjectsAsFaults { features.append("no faults") }
    if request.returnsDistinctResults { features.append("distinct") }
    for (names, word) in [
      (request.propertiesToFetch, "properties"), (request.propertiesToGroupBy, "grouped by"),
      (request.relationshipKeyPathsForPrefetching, "prefetching"),
    ] where !names.isEmpty { features.append("\(word) \(names.joined(separator: " and "))") }
    if let predicate = request.havingPredicate { features.append("having \(predicate.predicateFormat)") }
    return features
  }

  private static func text(of index: FetchIndexDescription) -> String {
    let elements = index.elements.map { element in
      let subject =
        switch element.subject {
        case .property(let name): name
        case .expression(let expression, let type): "(\(expression.predicateFormat)) as \(type.name)"
        }
      return subject + (element.isAscending ? " ascending" : " descending")
        + (element.collation == .rTree ? " R-tree" : "")
    }
    let condition = index.partialIndexPredicate.map { " where \($0.predicateFormat)" } ?? ""
    return elements.joined(separator: ", ") + condition
  }
}
