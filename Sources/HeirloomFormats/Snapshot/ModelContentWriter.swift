import HeirloomModel

/// A writer of a model's whole content as canonical JSON of format 1.
///
/// Members with default values are omitted. Keys are written sorted, which tests check. The format never changes:
/// additions need a new format number.
struct ModelContentWriter {
  var json: CanonicalJSONWriter

  init(isIndented: Bool, depth: Int = 0) {
    json = CanonicalJSONWriter(isIndented: isIndented, depth: depth)
  }

  mutating func model(_ model: ManagedObjectModel) {
    json.beginObject()
    list("configurations", model.configurations) { writer, configuration in
      writer.json.beginObject()
      writer.strings("entities", configuration.entityNames)
      writer.string("name", configuration.name)
      writer.json.endObject()
    }
    json.key("entities")
    json.beginArray()
    for entity in model.entities { self.entity(entity) }
    json.endArray()
    list("fetchRequestTemplates", model.fetchRequestTemplates) { $0.fetchRequest($1) }
    json.key("versionIdentifiers")
    json.beginArray()
    for identifier in model.versionIdentifiers { json.string(identifier) }
    json.endArray()
    json.endObject()
  }

  private mutating func entity(_ entity: EntityDescription) {
    json.beginObject()
    flag("abstract", entity.isAbstract)
    list("attributes", entity.attributes) { $0.attribute($1) }
    string("className", entity.managedObjectClassName)
    string("codeGenerationType", entity.codeGenerationType)
    expression("coreSpotlightDisplayNameExpression", entity.coreSpotlightDisplayNameExpression)
    list("fetchedProperties", entity.fetchedProperties) { $0.fetchedProperty($1) }
    list("indexes", entity.indexes) { $0.index($1) }
    string("name", entity.name)
    list("relationships", entity.relationships) { $0.relationship($1) }
    string("renamingIdentifier", entity.renamingIdentifier)
    string("superentity", entity.superentity)
    list("uniquenessConstraints", entity.uniquenessConstraints) { writer, names in
      writer.json.beginArray()
      for name in names { writer.json.string(name) }
      writer.json.endArray()
    }
    dictionary("userInfo", entity.userInfo)
    string("versionHashModifier", entity.versionHashModifier)
    json.endObject()
  }

  private mutating func attribute(_ attribute: AttributeDescription) {
    json.beginObject()
    flag("allowsCloudEncryption", attribute.allowsCloudEncryption)
    flag("allowsExternalBinaryDataStorage", attribute.allowsExternalBinaryDataStorage)
    if let composite = attribute.composite {
      json.key("composite")
      json.beginObject()
      json.key("elements")
      json.beginArray()
      for element in composite.elements { self.attribute(element) }
      json.endArray()
      string("name", composite.name)
      json.endObject()
    }
    if let value = attribute.defaultValue {
      json.key("defaultValue")
      self.value(value)
    }
    if let derivation = attribute.derivation {
      json.key("derivation")
      json.beginObject()
      expression("expression", derivation.derivationExpression)
      predicate("filteringPredicate", derivation.filteringPredicate)
      json.endObject()
    }
    flag("indexedBySpotlight", attribute.isIndexedBySpotlight)
    string("name", attribute.name)
    flag("optional", attribute.isOptional)
    flag("preservesValueInHistoryOnDeletion", attribute.preservesValueInHistoryOnDeletion)
    string("renamingIdentifier", attribute.renamingIdentifier)
    flag("storedInExternalRecord", attribute.isStoredInExternalRecord)
    flag("transient", attribute.isTransient)
    string("type", attribute.type.name)
    dictionary("userInfo", attribute.userInfo)
    if let value = attribute.usesScalarValueType {
      json.key("usesScalarValueType")
      json.boolean(value)
    }
    validationRules(attribute.validationRules)
    string("valueClassName", attribute.attributeValueClassName)
    string("valueTransformerName", attribute.valueTransformerName)
    string("versionHashModifier", attribute.versionHashModifier)
    json.endObject()
  }

  private mutating func relationship(_ relationship: RelationshipDescription) {
    json.beginObject()
    string("deleteRule", relationship.deleteRule.name)
    string("destinationEntity", relationship.destinationEntity)
    flag("indexedBySpotlight", relationship.isIndexedBySpotlight)
    string("inverseRelationship", relationship.inverseRelationship)
    json.key("maxCount")
    json.integer(Int64(relationship.maxCount))
    json.key("minCount")
    json.integer(Int64(relationship.minCount))
    string("name", relationship.name)
    flag("optional", relationship.isOptional)
    flag("ordered", relationship.isOrdered)
    string("renamingIdentifier", relationship.renamingIdentifier)
    flag("transient", relationship.isTransient)
    dictionary("userInfo", relationship.userInfo)
    validationRules(relationship.validationRules)
    string("versionHashModifier", relationship.versionHashModifier)
    json.endObject()
  }

  private mutating func fetchedProperty(_ property: FetchedPropertyDescription) {
    json.beginObject()
    json.key("fetchRequest")
    fetchRequest(property.fetchRequest)
    flag("indexedBySpotlight", property.isIndexedBySpotlight)
    string("name", property.name)
    flag("optional", property.isOptional)
    string("renamingIdentifier", property.renamingIdentifier)
    dictionary("userInfo", property.userInfo)
    string("versionHashModifier", property.versionHashModifier)
    json.endObject()
  }

  private mutating func fetchRequest(_ request: FetchRequestDescription) {
    json.beginObject()
    string("entity", request.entityName)
    count("fetchBatchSize", request.fetchBatchSize)
    count("fetchLimit", request.fetchLimit)
    count("fetchOffset", request.fetchOffset)
    predicate("havingPredicate", request.havingPredicate)
    flag("ignoresPendingChanges", !request.includesPendingChanges)
    flag("ignoresPropertyValues", !request.includesPropertyValues)
    flag("ignoresSubentities", !request.includesSubentities)
    string("name", request.name)
    predicate("predicate", request.predicate)
    strings("propertiesToFetch", request.propertiesToFetch)
    strings("propertiesToGroupBy", request.propertiesToGroupBy)
    strings("relationshipKeyPathsForPrefetching", request.relationshipKeyPathsForPrefetching)
    count("resultType", request.resultType.rawValue)
    flag("returnsDistinctResults", request.returnsDistinctResults)
    flag("returnsObjectsWithValues", !request.returnsObjectsAsFaults)
    list("sortDescriptors", request.sortDescriptors) { writer, descriptor in
      writer.json.beginObject()
      writer.flag("descending", !descriptor.ascending)
      writer.string("keyPath", descriptor.keyPath)
      writer.json.endObject()
    }
    json.endObject()
  }

  private mutating func index(_ index: FetchIndexDescription) {
    json.beginObject()
    list("elements", index.elements) { writer, element in
      writer.json.beginObject()
      writer.flag("descending", !element.isAscending)
      switch element.subject {
      case .property(let name):
        writer.string("property", name)
        writer.flag("rTree", element.collation == .rTree)
      case .expression(let expression, let type):
        writer.expression("expression", expression)
        writer.flag("rTree", element.collation == .rTree)
        writer.string("type", type.name)
      }
      writer.json.endObject()
    }
    string("name", index.name)
    predicate("partialIndexPredicate", index.partialIndexPredicate)
    json.endObject()
  }

  private mutating func validationRules(_ rules: [ValidationRule]) {
    list("validationRules", rules) { writer, rule in
      writer.json.beginObject()
      switch rule.warning {
      case .code(let code)?:
        writer.json.key("code")
        writer.json.integer(Int64(code))
      case .message(let text)?:
        writer.string("message", text)
      case nil:
        break
      }
      writer.predicate("predicate", rule.predicate)
      writer.json.endObject()
    }
  }
}

// MARK: - Members

extension ModelContentWriter {
  mutating func string(_ key: String, _ text: String?) {
    guard let text else { return }
    json.key(key)
    json.string(text)
  }

  mutating func strings(_ key: String, _ texts: [String]) {
    list(key, texts) { $0.json.string($1) }
  }

  mutating func flag(_ key: String, _ value: Bool) {
    guard value else { return }
    json.key(key)
    json.boolean(true)
  }

  mutating func count(_ key: String, _ number: Int) {
    guard number != 0 else { return }
    json.key(key)
    json.integer(Int64(number))
  }

  mutating func list<Element>(
    _ key: String, _ elements: [Element], _ write: (inout ModelContentWriter, Element) -> Void
  ) {
    guard !elements.isEmpty else { return }
    json.key(key)
    json.beginArray()
    for element in elements { write(&self, element) }
    json.endArray()
  }

  mutating func dictionary(_ key: String, _ entries: [String: String]) {
    guard !entries.isEmpty else { return }
    json.key(key)
    json.beginObject()
    for entry in entries.ordered(by: { $0.key }) { string(entry.key, entry.value) }
    json.endObject()
  }

  mutating func expression(_ key: String, _ expression: ValueExpression?) {
    guard let expression else { return }
    json.key(key)
    self.expression(expression)
  }

  mutating func predicate(_ key: String, _ predicate: PredicateDescription?) {
    guard let predicate else { return }
    json.key(key)
    self.predicate(predicate)
  }
}
