package import HeirloomModel

/// Reads the member `model` of a snapshot of format 1.
package enum ModelContentReader {
  package static func model(_ value: JSONValue) throws(ModelReadingError) -> ManagedObjectModel {
    var object = try SnapshotObject(value, place: "model")
    let configurations = try object.list("configurations") { value, place throws(ModelReadingError) in
      var object = try SnapshotObject(value, place: place)
      let configuration = ConfigurationDescription(
        name: try object.requiredString("name"), entityNames: try object.strings("entities"))
      try object.finish()
      return configuration
    }
    let entities = try object.list("entities", entity)
    let templates = try object.list("fetchRequestTemplates", fetchRequest)
    let identifiers = try object.strings("versionIdentifiers")
    try object.finish()
    return try ModelAssembly.model(
      entities: entities, versionIdentifiers: identifiers, configurations: configurations,
      fetchRequestTemplates: templates)
  }

  private static func entity(_ value: JSONValue, _ place: String) throws(ModelReadingError) -> EntityDescription {
    var object = try SnapshotObject(value, place: place)
    var entity = EntityDescription(name: try object.requiredString("name"))
    entity.isAbstract = try object.flag("abstract")
    entity.attributes = try object.list("attributes") { value, place throws(ModelReadingError) in
      try attribute(value, place, depth: 0)
    }
    entity.managedObjectClassName = try object.string("className")
    entity.codeGenerationType = try object.string("codeGenerationType")
    entity.coreSpotlightDisplayNameExpression = try expression("coreSpotlightDisplayNameExpression", of: &object)
    entity.fetchedProperties = try object.list("fetchedProperties", fetchedProperty)
    entity.indexes = try object.list("indexes", index)
    entity.relationships = try object.list("relationships", relationship)
    entity.renamingIdentifier = try object.string("renamingIdentifier")
    entity.superentity = try object.string("superentity")
    entity.uniquenessConstraints = try object.list("uniquenessConstraints", SnapshotObject.strings)
    entity.userInfo = try object.dictionary("userInfo")
    entity.versionHashModifier = try object.string("versionHashModifier")
    try object.finish()
    return entity
  }

  private static func type(_ name: String, _ place: String) throws(ModelReadingError) -> AttributeType {
    guard let type = AttributeType(name: name) else { throw SnapshotObject.unexpected("the name of a type", place) }
    return type
  }

  private static func attribute(
    _ value: JSONValue, _ place: String, depth: Int
  ) throws(ModelReadingError) -> AttributeDescription {
    guard depth <= 16 else { throw SnapshotObject.unexpected("an attribute that is nested less deeply", place) }
    var object = try SnapshotObject(value, place: place)
    let typeName = try object.requiredString("type")
    var attribute = AttributeDescription(
      name: try object.requiredString("name"), type: try type(typeName, "\(place).type"))
    attribute.allowsCloudEncryption = try object.flag("allowsCloudEncryption")
    attribute.allowsExternalBinaryDataStorage = try object.flag("allowsExternalBinaryDataStorage")
    if let value = object.take("composite") {
      var composite = try SnapshotObject(value, place: "\(place).composite")
      let elements = try composite.list("elements") { value, place throws(ModelReadingError) in
        try self.attribute(value, place, depth: depth + 1)
      }
      attribute.composite = CompositeAttributeDescription(name: try composite.string("name"), elements: elements)
      try composite.finish()
    }
    if let value = object.take("defaultValue") {
      attribute.defaultValue = try ModelExpressionReader.value(value, "\(place).defaultValue")
    }
    if let value = object.take("derivation") {
      var derivation = try SnapshotObject(value, place: "\(place).derivation")
      attribute.derivation = DerivedAttributeDescription(
        derivationExpression: try ModelExpressionReader.expression(
          try derivation.required("expression"), "\(place).derivation.expression"),
        filteringPredicate: try predicate("filteringPredicate", of: &derivation))
      try derivation.finish()
    }
    attribute.isIndexedBySpotlight = try object.flag("indexedBySpotlight")
    attribute.isOptional = try object.flag("optional")
    attribute.preservesValueInHistoryOnDeletion = try object.flag("preservesValueInHistoryOnDeletion")
    attribute.renamingIdentifier = try object.string("renamingIdentifier")
    attribute.isStoredInExternalRecord = try object.flag("storedInExternalRecord")
    attribute.isTransient = try object.flag("transient")
    attribute.userInfo = try object.dictionary("userInfo")
    if object.has("usesScalarValueType") { attribute.usesScalarValueType = try object.flag("usesScalarValueType") }
    attribute.validationRules = try object.list("validationRules", validationRule)
    attribute.attributeValueClassName = try object.string("valueClassName")
    attribute.valueTransformerName = try object.string("valueTransformerName")
    attribute.versionHashModifier = try object.string("versionHashModifier")
    try object.finish()
    return attribute
  }

  private static func relationship(
    _ value: JSONValue, _ place: String
  ) throws(ModelReadingError) -> RelationshipDescription {
    var object = try SnapshotObject(value, place: place)
    var relationship = RelationshipDescription(
      name: try object.requiredString("name"), destinationEntity: try object.requiredString("destinationEntity"))
    let ruleName = try object.requiredString("deleteRule")
    guard let rule = DeleteRule.allCases.first(where: { $0.name == ruleName }) else {
      throw SnapshotObject.unexpected("the name of a delete rule", "\(place).deleteRule")
    }
    relationship.deleteRule = rule
    relationship.isIndexedBySpotlight = try object.flag("indexedBySpotlight")
    relationship.inverseRelationship = try object.string("inverseRelationship")
    relationship.maxCount = try count("maxCount", of: &object)
    relationship.minCount = try count("minCount", of: &object)
    relationship.isOptional = try object.flag("optional")
    relationship.isOrdered = try object.flag("ordered")
    relationship.renamingIdentifier = try object.string("renamingIdentifier")
    relationship.isTransient = try object.flag("transient")
    relationship.userInfo = try object.dictionary("userInfo")
    relationship.validationRules = try object.list("validationRules", validationRule)
    relationship.versionHashModifier = try object.string("versionHashModifier")
    try object.finish()
    return relationship
  }

  /// Counts are 32-bit numbers in version hashes.
  private static func count(_ key: String, of object: inout SnapshotObject) throws(ModelReadingError) -> Int {
    guard let number = try object.integer(key), Int32(exactly: number) != nil else {
      throw SnapshotObject.unexpected("a count", "\(object.place).\(key)")
    }
    return number
  }

  private static func fetchedProperty(
    _ value: JSONValue, _ place: String
  ) throws(ModelReadingError) -> FetchedPropertyDescription {
    var object = try SnapshotObject(value, place: place)
    var property = FetchedPropertyDescription(
      name: try object.requiredString("name"),
      fetchRequest: try fetchRequest(try object.required("fetchRequest"), "\(place).fetchRequest"))
    property.isIndexedBySpotlight = try object.flag("indexedBySpotlight")
    property.isOptional = try object.flag("optional")
    property.renamingIdentifier = try object.string("renamingIdentifier")
    property.userInfo = try object.dictionary("userInfo")
    property.versionHashModifier = try object.string("versionHashModifier")
    try object.finish()
    return property
  }

  private static func fetchRequest(
    _ value: JSONValue, _ place: String
  ) throws(ModelReadingError) -> FetchRequestDescription {
    var object = try SnapshotObject(value, place: place)
    var request = FetchRequestDescription(
      name: try object.requiredString("name"), entityName: try object.requiredString("entity"))
    request.fetchBatchSize = try object.integer("fetchBatchSize") ?? 0
    request.fetchLimit = try object.integer("fetchLimit") ?? 0
    request.fetchOffset = try object.integer("fetchOffset") ?? 0
    request.havingPredicate = try predicate("havingPredicate", of: &object)
    request.includesPendingChanges = try !object.flag("ignoresPendingChanges")
    request.includesPropertyValues = try !object.flag("ignoresPropertyValues")
    request.includesSubentities = try !object.flag("ignoresSubentities")
    request.predicate = try predicate("predicate", of: &object)
    request.propertiesToFetch = try object.strings("propertiesToFetch")
    request.propertiesToGroupBy = try object.strings("propertiesToGroupBy")
    request.relationshipKeyPathsForPrefetching = try object.strings("relationshipKeyPathsForPrefetching")
    guard let type = FetchRequestDescription.ResultType(rawValue: try object.integer("resultType") ?? 0) else {
      throw SnapshotObject.unexpected("the number of a result type", "\(place).resultType")
    }
    request.resultType = type
    request.returnsDistinctResults = try object.flag("returnsDistinctResults")
    request.returnsObjectsAsFaults = try !object.flag("returnsObjectsWithValues")
    request.sortDescriptors = try object.list("sortDescriptors") { value, place throws(ModelReadingError) in
      var object = try SnapshotObject(value, place: place)
      let isDescending = try object.flag("descending")
      let descriptor = SortDescription(keyPath: try object.requiredString("keyPath"), ascending: !isDescending)
      try object.finish()
      return descriptor
    }
    try object.finish()
    return request
  }

  private static func index(_ value: JSONValue, _ place: String) throws(ModelReadingError) -> FetchIndexDescription {
    var object = try SnapshotObject(value, place: place)
    let elements = try object.list("elements") { value, place throws(ModelReadingError) in
      var object = try SnapshotObject(value, place: place)
      let subject: FetchIndexElementDescription.Subject
      if let expression = try expression("expression", of: &object) {
        subject = .expression(expression, try type(try object.requiredString("type"), "\(place).type"))
      } else {
        subject = .property(try object.requiredString("property"))
      }
      var element = FetchIndexElementDescription(subject: subject)
      element.isAscending = try !object.flag("descending")
      element.collation = try object.flag("rTree") ? .rTree : .binary
      try object.finish()
      return element
    }
    let index = FetchIndexDescription(
      name: try object.requiredString("name"), elements: elements,
      partialIndexPredicate: try predicate("partialIndexPredicate", of: &object))
    try object.finish()
    return index
  }

  private static func validationRule(_ value: JSONValue, _ place: String) throws(ModelReadingError) -> ValidationRule {
    var object = try SnapshotObject(value, place: place)
    var rule = ValidationRule(
      predicate: try ModelExpressionReader.predicate(try object.required("predicate"), "\(place).predicate"))
    if let code = try object.integer("code") {
      rule.warning = .code(code)
    } else if let text = try object.string("message") {
      rule.warning = .message(text)
    }
    try object.finish()
    return rule
  }

  private static func expression(
    _ key: String, of object: inout SnapshotObject
  ) throws(ModelReadingError) -> ValueExpression? {
    guard let value = object.take(key) else { return nil }
    return try ModelExpressionReader.expression(value, "\(object.place).\(key)")
  }

  private static func predicate(
    _ key: String, of object: inout SnapshotObject
  ) throws(ModelReadingError) -> PredicateDescription? {
    guard let value = object.take(key) else { return nil }
    return try ModelExpressionReader.predicate(value, "\(object.place).\(key)")
  }
}
