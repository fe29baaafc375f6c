import HeirloomModel

extension ModelSourceReader {
  mutating func fetchedProperty(
    _ element: MarkupElement, entity: String
  ) throws(ModelReadingError) -> FetchedPropertyDescription {
    let name = try required("name", of: element)
    let owner = "\(entity).\(name)"
    check(
      element, owner,
      attributes: [
        "name", "optional", "transient", "syncable", "versionHashModifier", "elementID", "spotlightIndexingEnabled",
      ],
      children: ["fetchRequest", "userInfo"])
    let requests = element.children(named: "fetchRequest")
    guard requests.count == 1 else {
      throw malformed("the fetched property \"\(owner)\" has \(requests.count) fetch requests instead of one", element)
    }
    var property = FetchedPropertyDescription(name: name, fetchRequest: try fetchRequest(requests[0]))
    property.isOptional = boolean("optional", of: element, owner)
    property.renamingIdentifier = renamingIdentifier(of: element, name: name)
    property.versionHashModifier = element[nonEmpty: "versionHashModifier"]
    property.isIndexedBySpotlight = boolean("spotlightIndexingEnabled", of: element, owner)
    property.userInfo = try userInfo(of: element, owner)
    return property
  }

  mutating func fetchRequest(_ element: MarkupElement) throws(ModelReadingError) -> FetchRequestDescription {
    let name = try required("name", of: element)
    check(
      element, name,
      attributes: [
        "name", "entity", "predicateString", "resultType", "fetchLimit", "fetchBatchSize", "includeSubentities",
        "includePropertyValues", "includesPendingChanges", "returnObjectsAsFaults", "returnDistinctResults",
      ],
      children: [])
    var request = FetchRequestDescription(name: name, entityName: try required("entity", of: element))
    if let text = element[nonEmpty: "predicateString"] {
      request.predicate = predicate(text, name, element)
    }
    if let text = element[nonEmpty: "resultType"] {
      if let type = Int(text).flatMap(FetchRequestDescription.ResultType.init(rawValue:)) {
        request.resultType = type
      } else {
        warn(.invalidValue(text, of: "resultType"), name, element)
      }
    }
    request.fetchLimit = count("fetchLimit", of: element, name) ?? 0
    request.fetchBatchSize = count("fetchBatchSize", of: element, name) ?? 0
    request.includesSubentities = boolean("includeSubentities", of: element, name, default: true)
    request.includesPropertyValues = boolean("includePropertyValues", of: element, name, default: true)
    request.includesPendingChanges = boolean("includesPendingChanges", of: element, name, default: true)
    request.returnsObjectsAsFaults = boolean("returnObjectsAsFaults", of: element, name, default: true)
    request.returnsDistinctResults = boolean("returnDistinctResults", of: element, name)
    return request
  }

  /// Those of old models come first, in Core Data's order.
  mutating func indexes(of element: MarkupElement, _ entity: String) throws(ModelReadingError)
    -> [FetchIndexDescription]
  {
    var legacy: [FetchIndexDescription] = []
    var indexedNames: [String] = []
    for property in element.children where property.name == "attribute" || property.name == "relationship" {
      // Reading the property has already warned about an invalid value.
      if Self.boolean(property["indexed"] ?? "NO") ?? false { indexedNames.append(try required("name", of: property)) }
    }
    legacy += LegacyIndexes.indexes(ofProperties: indexedNames)
    for list in element.children(named: "compoundIndexes") {
      check(list, entity, attributes: [], children: ["compoundIndex"])
      for compound in list.children(named: "compoundIndex") {
        check(compound, entity, attributes: [], children: ["index"])
        var names: [String] = []
        for member in compound.children(named: "index") {
          check(member, entity, attributes: ["value"], children: [])
          names.append(try required("value", of: member))
        }
        if let index = LegacyIndexes.index(ofCompound: names) { legacy.append(index) }
      }
    }
    var explicit: [FetchIndexDescription] = []
    for index in element.children(named: "fetchIndex") { explicit.append(try fetchIndex(index, entity: entity)) }
    return LegacyIndexes.merged(legacy: legacy, explicit: explicit)
  }

  private mutating func fetchIndex(
    _ element: MarkupElement, entity: String
  ) throws(ModelReadingError) -> FetchIndexDescription {
    let name = try required("name", of: element)
    let owner = "\(entity), index \(name)"
    check(element, owner, attributes: ["name", "partialIndexPredicate"], children: ["fetchIndexElement"])
    var elements: [FetchIndexElementDescription] = []
    for child in element.children(named: "fetchIndexElement") {
      check(child, owner, attributes: ["property", "expression", "expressionType", "type", "order"], children: [])
      var member: FetchIndexElementDescription
      if let property = child[nonEmpty: "property"] {
        member = FetchIndexElementDescription(property: property)
      } else {
        let text = try required("expression", of: child)
        let typeName = child[nonEmpty: "expressionType"] ?? AttributeType.string.name
        guard let type = AttributeType(name: typeName) else {
          throw malformed("the index \"\(name)\" has an expression of unknown type \"\(typeName.prefix(80))\"", child)
        }
        member = FetchIndexElementDescription(subject: .expression(expression(text, owner, child), type))
      }
      switch child["type"] {
      case nil, "Binary": break
      case "RTree": member.collation = .rTree
      case let type?: throw malformed("the index \"\(name)\" has the unknown type \"\(type.prefix(80))\"", child)
      }
      switch child["order"] {
      case nil, "ascending": break
      case "descending": member.isAscending = false
      case let order?: throw malformed("the index \"\(name)\" has the unknown order \"\(order.prefix(80))\"", child)
      }
      elements.append(member)
    }
    var index = FetchIndexDescription(name: name, elements: elements)
    if let text = element[nonEmpty: "partialIndexPredicate"] {
      index.partialIndexPredicate = predicate(text, owner, element)
    }
    return index
  }
}
