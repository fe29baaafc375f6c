import HeirloomModel

/// A reader of model sources: the file `contents` of an `.xcdatamodel`.
///
/// Unknown elements and attributes become warnings; those of Xcode's editor alone are ignored.
package struct ModelSourceReader {
  private(set) var warnings: [ModelReadingWarning] = []
  private var composites: [String: MarkupElement] = [:]
  /// Composite elements that may still be created: nested composites could multiply without bound.
  private var remainingElements = 10_000
  private var hasStrayText = false

  private init() {}

  package static func read(_ bytes: [UInt8]) throws(ModelReadingError) -> ReadModel {
    guard !bytes.isEmpty else { throw ModelReadingError(problem: .notModel(.emptyFile)) }
    let root = try ModelReadingError.wrapping { () throws(FormatError) in try MarkupReader.rootElement(of: bytes) }
    // Sources of mapping models are XML stores of Xcode.
    guard root.name != "database" else {
      let isMapping = root.children(named: "object").contains { $0["type"]?.hasPrefix("XDDEV") ?? false }
      throw ModelReadingError(problem: .notModel(isMapping ? .mappingModel : .xmlStore))
    }
    guard root.name == "model" else { throw ModelReadingError(problem: .notModel(.otherXML(rootElement: root.name))) }
    var reader = ModelSourceReader()
    let model = try reader.model(root)
    // Git conflict markers may be text between elements.
    if reader.hasStrayText, let conflict = MarkupReader.conflict(in: bytes) {
      throw ModelReadingError(conflict)
    }
    return ReadModel(model: model, warnings: reader.warnings)
  }

  // MARK: - The model

  private mutating func model(_ root: MarkupElement) throws(ModelReadingError) -> ManagedObjectModel {
    check(
      root, "model",
      attributes: [
        "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "sourceLanguage",
        "userDefinedModelVersionIdentifier", "name", "macOSVersion", "iOSVersion", "usedWithSwiftData",
        "usedWithCloudKit",
      ],
      children: ["entity", "composite", "fetchRequest", "configuration", "elements"])
    for composite in root.children(named: "composite") {
      let name = try required("name", of: composite)
      guard composites.updateValue(composite, forKey: name) == nil else {
        throw malformed("the composite type \"\(name)\" is described twice", composite)
      }
    }
    var entities: [EntityDescription] = []
    for element in root.children(named: "entity") { entities.append(try entity(element)) }
    var requests: [FetchRequestDescription] = []
    for element in root.children(named: "fetchRequest") { requests.append(try fetchRequest(element)) }
    var configurations: [ConfigurationDescription] = []
    for element in root.children(named: "configuration") { configurations.append(try configuration(element)) }
    do throws(ModelReadingError) {
      let model = try ModelAssembly.model(
        entities: entities, versionIdentifiers: root["userDefinedModelVersionIdentifier"].map { [$0] } ?? [],
        configurations: configurations, fetchRequestTemplates: requests)
      checkInverses(in: root, model)
      return model
    } catch {
      guard case .inconsistent(let fault) = error.problem else { throw error }
      // An unreadable part is the most likely cause.
      if let cause = warnings.first(where: \.isFault) {
        throw ModelReadingError(
          problem: .malformed(reason: "\(cause.description) \(fault.description)"), line: cause.line)
      }
      throw ModelReadingError(problem: error.problem, line: root.line(of: fault.names))
    }
  }

  /// A relationship without an inverse gets no warning.
  private mutating func checkInverses(in root: MarkupElement, _ model: ManagedObjectModel) {
    for entity in root.children(named: "entity") {
      for element in entity.children(named: "relationship") {
        guard let inverse = element[nonEmpty: "inverseName"], let destination = element["destinationEntity"] else {
          continue
        }
        let place = "\(entity["name"] ?? "").\(element["name"] ?? "")"
        guard let other = model.relationship(named: inverse, of: destination) else {
          warn(.invalidValue(inverse, of: "inverseName"), place, element)
          continue
        }
        if other.inverseRelationship != element["name"] {
          warn(.oneSidedInverse("\(destination).\(inverse)"), place, element)
        }
      }
    }
  }

  private mutating func configuration(_ element: MarkupElement) throws(ModelReadingError) -> ConfigurationDescription {
    let name = try required("name", of: element)
    check(element, name, attributes: ["name", "usedWithCloudKit"], children: ["memberEntity"])
    var entityNames: [String] = []
    for member in element.children {
      check(member, name, attributes: ["name"], children: [])
      if member.name == "memberEntity" { entityNames.append(try required("name", of: member)) }
    }
    return ConfigurationDescription(name: name, entityNames: entityNames)
  }

  private mutating func entity(_ element: MarkupElement) throws(ModelReadingError) -> EntityDescription {
    let name = try required("name", of: element)
    check(
      element, name,
      attributes: [
        "name", "representedClassName", "parentEntity", "isAbstract", "syncable", "codeGenerationType",
        "versionHashModifier", "elementID", "coreSpotlightDisplayNameExpression",
      ],
      children: [
        "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes", "uniquenessConstraints",
        "userInfo",
      ])
    var entity = EntityDescription(name: name)
    entity.superentity = element[nonEmpty: "parentEntity"]
    entity.isAbstract = boolean("isAbstract", of: element, name)
    entity.managedObjectClassName = element[nonEmpty: "representedClassName"].flatMap {
      $0 == ArchivedNames.defaultObjectClass ? nil : $0
    }
    entity.renamingIdentifier = renamingIdentifier(of: element, name: name)
    entity.versionHashModifier = element[nonEmpty: "versionHashModifier"]
    entity.codeGenerationType = element[nonEmpty: "codeGenerationType"]
    if let text = element[nonEmpty: "coreSpotlightDisplayNameExpression"] {
      entity.coreSpotlightDisplayNameExpression = expression(text, name, element)
    }
    entity.userInfo = try userInfo(of: element, name)
    for child in element.children {
      switch child.name {
      case "attribute": entity.attributes.append(try attribute(child, entity: name))
      case "relationship": entity.relationships.append(try relationship(child, entity: name))
      case "fetchedProperty": entity.fetchedProperties.append(try fetchedProperty(child, entity: name))
      default: break
      }
    }
    entity.uniquenessConstraints = try uniquenessConstraints(of: element, name)
    entity.indexes = try indexes(of: element, name)
    return entity
  }

  private mutating func uniquenessConstraints(
    of element: MarkupElement, _ entity: String
  ) throws(ModelReadingError) -> [[String]] {
    var result: [[String]] = []
    for list in element.children(named: "uniquenessConstraints") {
      check(list, entity, attributes: [], children: ["uniquenessConstraint"])
      for constraint in list.children(named: "uniquenessConstraint") {
        check(constraint, entity, attributes: [], children: ["constraint"])
        var names: [String] = []
        for member in constraint.children(named: "constraint") {
          check(member, entity, attributes: ["value"], children: [])
          names.append(try required("value", of: member))
        }
        if !names.isEmpty { result.append(names) }
      }
    }
    return result
  }

  // MARK: - Attributes

  private mutating func attribute(
    _ element: MarkupElement, entity: String, depth: Int = 0
  ) throws(ModelReadingError) -> AttributeDescription {
    let name = try required("name", of: element)
    let owner = "\(entity).\(name)"
    check(
      element, owner,
      attributes: [
        "name", "attributeType", "optional", "transient", "indexed", "usesScalarValueType", "defaultValueString",
        "defaultDateTimeInterval", "minDateTimeInterval", "maxDateTimeInterval", "minValueString", "maxValueString",
        "regularExpressionString", "allowsExternalBinaryDataStorage", "allowsCloudEncryption",
        "preserveAfterDeletion", "spotlightIndexingEnabled", "storedInTruthFile", "valueTransformerName",
        "customClassName", "derived", "derivationExpression", "composite", "versionHashModifier", "elementID",
        "syncable",
      ],
      children: ["userInfo"])
    var type = AttributeType.undefined
    if let typeName = element[nonEmpty: "attributeType"] {
      guard let known = AttributeType(name: typeName), known != .objectID else {
        throw malformed("the attribute \"\(owner)\" has the unknown type \"\(typeName.prefix(80))\"", element)
      }
      type = known
    }
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = boolean("optional", of: element, owner)
    _ = boolean("indexed", of: element, owner)
    attribute.isTransient = boolean("transient", of: element, owner)
    attribute.renamingIdentifier = renamingIdentifier(of: element, name: name)
    attribute.versionHashModifier = element[nonEmpty: "versionHashModifier"]
    attribute.allowsExternalBinaryDataStorage = boolean("allowsExternalBinaryDataStorage", of: element, owner)
    attribute.preservesValueInHistoryOnDeletion = boolean("preserveAfterDeletion", of: element, owner)
    attribute.allowsCloudEncryption = boolean("allowsCloudEncryption", of: element, owner)
    attribute.isIndexedBySpotlight = boolean("spotlightIndexingEnabled", of: element, owner)
    attribute.isStoredInExternalRecord = boolean("storedInTruthFile", of: element, owner)
    attribute.attributeValueClassName = element[nonEmpty: "customClassName"]
    attribute.valueTransformerName = element[nonEmpty: "valueTransformerName"]
    if element["usesScalarValueType"] != nil {
      attribute.usesScalarValueType = boolean("usesScalarValueType", of: element, owner)
    }
    attribute.userInfo = try userInfo(of: element, owner)
    attribute.defaultValue = defaultValue(of: element, type: type, owner)
    attribute.validationRules = validationRules(of: element, type: type, owner)
    checkFit(of: element, type: type, owner)
    if boolean("derived", of: element, owner) {
      let text = try required("derivationExpression", of: element)
      attribute.derivation = DerivedAttributeDescription(
        derivationExpression: expression(text, owner, element))
    }
    if type == .composite { attribute.composite = try composite(of: element, owner, depth: depth) }
    return attribute
  }

  /// Warns about settings that apply only to other attribute types.
  private mutating func checkFit(of element: MarkupElement, type: AttributeType, _ owner: String) {
    let isLimited = type.isNumeric || type == .date || type == .string
    let isDerived = Self.boolean(element["derived"] ?? "NO") ?? false
    let fits: [(name: String, isFit: Bool)] = [
      ("minValueString", isLimited), ("maxValueString", isLimited), ("regularExpressionString", type == .string),
      ("defaultDateTimeInterval", type == .date), ("minDateTimeInterval", type == .date),
      ("maxDateTimeInterval", type == .date), ("composite", type == .composite),
      ("derivationExpression", isDerived),
    ]
    for (name, isFit) in fits where !isFit {
      if let text = element[nonEmpty: name] { warn(.invalidValue(text, of: name), owner, element) }
    }
  }

  private mutating func composite(
    of element: MarkupElement, _ owner: String, depth: Int
  ) throws(ModelReadingError) -> CompositeAttributeDescription {
    let name = try required("composite", of: element)
    guard depth < CompositeAttributeDescription.depthLimit else {
      throw malformed("the composite type \"\(name)\" is nested too deeply or contains itself", element)
    }
    guard let type = composites[name] else {
      throw malformed("the composite type \"\(name)\" of \"\(owner)\" is not described", element)
    }
    // Other settings belong to each attribute; the composite type has no place for them.
    check(type, name, attributes: ["name"], children: ["attribute", "userInfo"])
    // Omitting user info does no harm; omitting a property would lose its data.
    if let stranger = type.children.first(where: { $0.name != "attribute" && $0.name != "userInfo" }) {
      throw malformed(
        "the composite type \"\(name)\" contains <\(stranger.name.prefix(80))>"
          + (stranger["name"].map { " \"\($0.prefix(80))\"" } ?? "") + "; its elements can only be attributes", stranger
      )
    }
    var elements: [AttributeDescription] = []
    for child in type.children(named: "attribute") {
      remainingElements -= 1
      guard remainingElements >= 0 else { throw malformed("composite types have too many elements", element) }
      elements.append(try attribute(child, entity: owner, depth: depth + 1))
    }
    return CompositeAttributeDescription(name: name, elements: elements)
  }

  // MARK: - Relationships

  private mutating func relationship(
    _ element: MarkupElement, entity: String
  ) throws(ModelReadingError) -> RelationshipDescription {
    let name = try required("name", of: element)
    let owner = "\(entity).\(name)"
    check(
      element, owner,
      attributes: [
        "name", "optional", "transient", "toMany", "minCount", "maxCount", "deletionRule", "ordered",
        "destinationEntity", "inverseName", "inverseEntity", "indexed", "versionHashModifier",
        "spotlightIndexingEnabled", "storedInTruthFile", "elementID", "syncable",
      ],
      children: ["userInfo"])
    var relationship = RelationshipDescription(
      name: name, destinationEntity: try required("destinationEntity", of: element))
    relationship.inverseRelationship = element[nonEmpty: "inverseName"]
    relationship.isOptional = boolean("optional", of: element, owner)
    _ = boolean("indexed", of: element, owner)
    relationship.isTransient = boolean("transient", of: element, owner)
    let isToMany = boolean("toMany", of: element, owner)
    relationship.minCount = count("minCount", of: element, owner) ?? 0
    relationship.maxCount = count("maxCount", of: element, owner) ?? (isToMany ? 0 : 1)
    if let rule = element[nonEmpty: "deletionRule"] {
      if let known = DeleteRule.allCases.first(where: { $0.name == rule }) {
        relationship.deleteRule = known
      } else {
        warn(.invalidValue(rule, of: "deletionRule"), owner, element)
      }
    }
    relationship.isOrdered = boolean("ordered", of: element, owner)
    relationship.renamingIdentifier = renamingIdentifier(of: element, name: name)
    relationship.versionHashModifier = element[nonEmpty: "versionHashModifier"]
    relationship.isIndexedBySpotlight = boolean("spotlightIndexingEnabled", of: element, owner)
    if boolean("storedInTruthFile", of: element, owner) {
      warn(.invalidValue(element["storedInTruthFile"] ?? "", of: "storedInTruthFile"), owner, element)
    }
    relationship.userInfo = try userInfo(of: element, owner)
    return relationship
  }
}

// MARK: - Parts of elements

extension ModelSourceReader {
  mutating func check(_ element: MarkupElement, _ owner: String, attributes: Set<String>, children: Set<String>) {
    let unknown = element.attributes.keys.filter { !attributes.contains($0) }
    for name in unknown.ordered() {
      warn(
        .unknownAttribute(
          name,
          // Its name in Core Data's API.
          nearest: name == "renamingIdentifier" && attributes.contains("elementID")
            ? "elementID" : NameSuggestion.nearest(to: name, among: attributes.ordered())), owner, element)
    }
    if element.text.utf8.contains(where: { $0 > 0x20 }) {
      hasStrayText = true
      warn(.invalidValue(element.text.trimmingWhitespace, of: element.name), owner, element)
    }
    for child in element.children where !children.contains(child.name) {
      let nearest = NameSuggestion.nearest(to: child.name, among: children.ordered())
      warn(.unknownElement(child.name, nearest: nearest), owner, child)
    }
  }

  mutating func warn(_ kind: ModelReadingWarning.Kind, _ owner: String, _ element: MarkupElement) {
    warnings.append(ModelReadingWarning(kind, place: owner, line: element.line))
  }

  func malformed(_ reason: String, _ element: MarkupElement) -> ModelReadingError {
    ModelReadingError(problem: .malformed(reason: reason), line: element.line)
  }

  func required(_ attribute: String, of element: MarkupElement) throws(ModelReadingError) -> String {
    guard let value = element[attribute] else {
      throw malformed("the element <\(element.name)> lacks the attribute \"\(attribute)\"", element)
    }
    return value
  }

  mutating func boolean(
    _ attribute: String, of element: MarkupElement, _ owner: String, default defaultValue: Bool = false
  ) -> Bool {
    guard let text = element[attribute] else { return defaultValue }
    guard let value = Self.boolean(text) else {
      warn(.invalidValue(text, of: attribute), owner, element)
      return defaultValue
    }
    return value
  }

  static func boolean(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "yes", "true", "1": true
    case "no", "false", "0": false
    default: nil
    }
  }

  mutating func count(_ attribute: String, of element: MarkupElement, _ owner: String) -> Int? {
    guard let text = element[nonEmpty: attribute] else { return nil }
    // Counts are 32-bit numbers in version hashes.
    guard let number = Int32(text) else {
      warn(.invalidValue(text, of: attribute), owner, element)
      return nil
    }
    return Int(number)
  }

  func renamingIdentifier(of element: MarkupElement, name: String) -> String? {
    element[nonEmpty: "elementID"].flatMap { $0 == name ? nil : $0 }
  }

  mutating func userInfo(of element: MarkupElement, _ owner: String) throws(ModelReadingError) -> [String: String] {
    var result: [String: String] = [:]
    for info in element.children(named: "userInfo") {
      check(info, owner, attributes: [], children: ["entry"])
      for entry in info.children(named: "entry") {
        check(entry, owner, attributes: ["key", "value"], children: [])
        result[try required("key", of: entry)] = entry["value"] ?? ""
      }
    }
    return result
  }

  mutating func predicate(_ text: String, _ owner: String, _ element: MarkupElement) -> PredicateDescription {
    let predicate = ExpressionReading.predicate(text)
    if case .unparsed = predicate { warn(.unparsedExpression(text), owner, element) }
    return predicate
  }

  mutating func expression(_ text: String, _ owner: String, _ element: MarkupElement) -> ValueExpression {
    let expression = ExpressionReading.expression(text)
    if case .unparsed = expression { warn(.unparsedExpression(text), owner, element) }
    return expression
  }
}

extension String {
  fileprivate var trimmingWhitespace: String {
    var rest = self[...]
    while rest.first?.isWhitespace ?? false { rest.removeFirst() }
    while rest.last?.isWhitespace ?? false { rest.removeLast() }
    return String(rest)
  }
}

extension MarkupElement {
  subscript(nonEmpty attribute: String) -> String? {
    attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension MarkupElement {
  /// From the outside in; the last of several elements of a name.
  fileprivate func line(of names: [String]) -> Int {
    var element = self
    for name in names {
      guard let found = element.last(naming: name) else { break }
      element = found
    }
    return element.line
  }

  private func last(naming name: String) -> MarkupElement? {
    // Xcode's diagram positions are not part of the model.
    let children = children.reversed().filter { $0.name != "elements" }
    return children.first { [$0["name"], $0["value"], $0["property"]].contains(name) }
      ?? children.lazy.compactMap { $0.last(naming: name) }.first
  }
}

extension ModelError {
  /// Names of the faulty parts, from the outside in.
  fileprivate var names: [String] {
    switch self {
    case .invalidName(let name), .duplicateEntity(let name), .missingSuperentity(let name, _),
      .inheritanceCycle(let name), .unequalEntities(let name, _):
      [name]
    case .duplicateProperty(let entity, let name), .missingDestination(let entity, let name, _),
      .missingConstraintProperty(let entity, let name), .missingConfigurationEntity(let entity, let name),
      .invalidComposite(let entity, let name), .duplicateElement(let entity, let name, _),
      .nestedTooDeeply(let entity, let name), .undefinedType(let entity, let name):
      [entity, name]
    case .missingIndexProperty(let entity, let index, let name): [entity, index, name]
    }
  }
}
