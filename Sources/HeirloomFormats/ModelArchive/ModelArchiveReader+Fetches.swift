import HeirloomModel

extension ModelArchiveReader {
  /// The bits of `NSFetchRequestFlags`.
  private enum RequestBits {
    static let distinctResults = 0x1
    static let subentities = 0x2
    static let propertyValues = 0x4
    static let faults = 0x8
    static let pendingChanges = 0x10
    static let known = 0x1F
  }

  mutating func fetchRequest(
    _ object: ArchivedObject, name: String, place: String, fallbackEntity: String = ""
  ) throws(FormatError) -> FetchRequestDescription {
    try checkKeys(
      of: object, place,
      [
        "NSEntity", "NSPredicate", "NSSortDescriptors", "NSResultType", "NSFetchLimit", "NSFetchOffset", "NSBatchSize",
        "NSValuesToFetch", "NSValuesToGroupBy", "NSHavingPredicate", "NSRelationshipKeyPathsForPrefetching",
        "NSAllocationType", "NSHasFetchRequestFlags", "NSFetchRequestFlags",
      ])
    var request = FetchRequestDescription(name: name, entityName: fallbackEntity)
    if case .reference(let reference)? = try object.member("NSEntity"), let entity = try entityName(reference) {
      request.entityName = entity
    }
    if let predicate = try decoder.object("NSPredicate", of: object) {
      request.predicate = try self.predicate(predicate, place)
    }
    if let predicate = try decoder.object("NSHavingPredicate", of: object) {
      request.havingPredicate = try self.predicate(predicate, place)
    }
    for reference in try decoder.elements("NSSortDescriptors", of: object) {
      guard let descriptor = try decoder.object(reference), let key = try decoder.string("NSKey", of: descriptor)
      else {
        warn(.invalidValue("a value without a key", of: "NSSortDescriptors"), place)
        continue
      }
      try checkKeys(of: descriptor, place, ["NSKey", "NSAscending", "NSSelector", "NSReverseNullOrder"])
      let selector = try decoder.string("NSSelector", of: descriptor)
      if let selector, selector != "compare:" { warn(.invalidValue(selector, of: "NSSelector"), place) }
      if try decoder.boolean("NSReverseNullOrder", of: descriptor) {
        warn(.invalidValue("YES", of: "NSReverseNullOrder"), place)
      }
      let isAscending = try decoder.boolean("NSAscending", of: descriptor)
      request.sortDescriptors.append(SortDescription(keyPath: key, ascending: isAscending))
    }
    let code = try decoder.integer("NSResultType", of: object) ?? 0
    if let type = FetchRequestDescription.ResultType(rawValue: code) {
      request.resultType = type
    } else {
      warn(.invalidValue(String(code), of: "NSResultType"), place)
    }
    request.fetchLimit = try decoder.integer("NSFetchLimit", of: object) ?? 0
    request.fetchOffset = try decoder.integer("NSFetchOffset", of: object) ?? 0
    request.fetchBatchSize = try decoder.integer("NSBatchSize", of: object) ?? 0
    request.propertiesToFetch = try names(try decoder.elements("NSValuesToFetch", of: object))
    request.propertiesToGroupBy = try names(try decoder.elements("NSValuesToGroupBy", of: object))
    request.relationshipKeyPathsForPrefetching = try names(
      try decoder.elements("NSRelationshipKeyPathsForPrefetching", of: object))
    if let flags = try decoder.integer("NSFetchRequestFlags", of: object) {
      let unknown = flags & ~RequestBits.known
      if unknown != 0 { warn(.invalidValue(String(unknown), of: "NSFetchRequestFlags"), place) }
      request.returnsDistinctResults = flags & RequestBits.distinctResults != 0
      request.includesSubentities = flags & RequestBits.subentities != 0
      request.includesPropertyValues = flags & RequestBits.propertyValues != 0
      request.returnsObjectsAsFaults = flags & RequestBits.faults != 0
      request.includesPendingChanges = flags & RequestBits.pendingChanges != 0
    }
    return request
  }

  /// Archives older than fetch indexes have indexed properties and compound indexes.
  mutating func indexes(
    of object: ArchivedObject, _ entity: String, indexedNames: [String]
  ) throws(FormatError) -> [FetchIndexDescription] {
    guard try decoder.object("NSFetchIndexDescriptions", of: object) != nil else {
      let compounds = try nameLists("NSCompoundIndexes", of: object).compactMap(LegacyIndexes.index(ofCompound:))
      return LegacyIndexes.merged(legacy: LegacyIndexes.indexes(ofProperties: indexedNames) + compounds, explicit: [])
    }
    var indexes: [FetchIndexDescription] = []
    var names: Set<String> = []
    for reference in try decoder.elements("NSFetchIndexDescriptions", of: object) {
      guard let index = try decoder.object(reference) else { continue }
      // An inherited index may be listed again.
      if case .reference(let owner)? = try index.member("NSEntity"), owner != object.reference { continue }
      let description = try fetchIndex(index, entity)
      // Some caches list an index twice.
      if names.insert(description.name).inserted { indexes.append(description) }
    }
    return indexes
  }

  private mutating func fetchIndex(
    _ object: ArchivedObject, _ entity: String
  ) throws(FormatError) -> FetchIndexDescription {
    guard let name = try decoder.string("NSIndexName", of: object) else {
      throw .senseless("an index of entity \"\(entity)\" has no name")
    }
    let place = "\(entity), index \(name)"
    try checkKeys(of: object, place, ["NSIndexName", "NSEntity", "NSIndexElements", "NSPartialIndexPredicate"])
    var index = FetchIndexDescription(name: name, elements: [])
    for reference in try decoder.elements("NSIndexElements", of: object) {
      guard let element = try decoder.object(reference) else { continue }
      try checkKeys(
        of: element, place,
        [
          "NSPropertyName", "NSFetchIndexElementType", "NSAscending", "NSFetchIndexDescription", "NSProperty",
          "NSIndexExpression",
        ])
      var member: FetchIndexElementDescription
      if let expression = try indexExpression(of: element, place) {
        member = FetchIndexElementDescription(subject: expression)
      } else if let property = try decoder.string("NSPropertyName", of: element) {
        member = FetchIndexElementDescription(property: property)
      } else {
        throw .senseless("the index \"\(entity).\(name)\" has an element without a property")
      }
      let code = try decoder.integer("NSFetchIndexElementType", of: element) ?? 0
      if let collation = FetchIndexElementDescription.Collation(rawValue: code) {
        member.collation = collation
      } else {
        warn(.invalidValue(String(code), of: "NSFetchIndexElementType"), place)
      }
      member.isAscending = try decoder.boolean("NSAscending", of: element)
      index.elements.append(member)
    }
    if let predicate = try decoder.object("NSPartialIndexPredicate", of: object) {
      index.partialIndexPredicate = try self.predicate(predicate, place)
    }
    return index
  }

  /// The expression of an element is in a property description of its own.
  private mutating func indexExpression(
    of element: ArchivedObject, _ place: String
  ) throws(FormatError) -> FetchIndexElementDescription.Subject? {
    for key in try element.keyNames() where key != "NSFetchIndexDescription" {
      guard let property = try decoder.object(key, of: element),
        try decoder.classNames(of: property).contains("NSExpressionDescription")
      else { continue }
      for key in try property.keyNames() {
        guard let expression = try decoder.object(key, of: property),
          try decoder.classNames(of: expression).contains("NSExpression")
        else { continue }
        let code = try decoder.integer("NSExpressionResultType", of: property) ?? 0
        let type = AttributeType(rawValue: code) ?? .undefined
        return .expression(try self.expression(expression, place), type)
      }
    }
    return nil
  }
}
