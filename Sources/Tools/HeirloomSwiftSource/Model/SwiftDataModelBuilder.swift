package import HeirloomFormats
package import HeirloomModel

/// The model that SwiftData generates for listed classes, as far as their source determines it.
///
/// The rules are taken from stores whose source is public. A case that no such store shows is
/// reported, not guessed.
package struct SwiftDataModelBuilder {
  /// A part of the model that the source doesn't determine.
  package struct Doubt: Hashable, Sendable {
    package let entity: String
    /// `nil` for the entity itself.
    package let property: String?
    package let place: SwiftPlace
    /// Without a full stop.
    package let reason: String
  }

  private let source: SwiftDataSource
  private(set) var entities: [String: EntityDescription] = [:]
  private(set) var classes: [String: SwiftDeclaration] = [:]
  /// An entity without a doubt has SwiftData's version hash.
  package private(set) var doubts: [Doubt] = []

  /// Omitted because another class with their name comes first.
  private(set) var namesakes: [SwiftDeclaration] = []

  private var links: [String: [SwiftDataLink]] = [:]
  /// Entities that may have further relationships than those that were read.
  private var open: Set<String> = []
  /// Inverses declared by properties that may or may not be relationships.
  private var claims: [(entity: String, property: String, claimant: String)] = []

  /// Also reads all classes that the listed ones refer to.
  package init(of roots: [SwiftDeclaration], in source: SwiftDataSource) {
    self.source = source.resolvingExtensions()
    var waiting = Array(roots.map(source.resolving).reversed())
    while let declaration = waiting.popLast() {
      guard let known = classes[declaration.name] else {
        classes[declaration.name] = declaration
        guard classes.count <= Self.classLimit else {
          doubt(declaration, nil, declaration.place, "the schema has more than \(Self.classLimit) classes")
          break
        }
        waiting += read(declaration).reversed()
        continue
      }
      guard !known.isSame(as: declaration) else { continue }
      doubt(declaration, nil, declaration.place, "another class of this name is in the schema too")
      namesakes.append(declaration)
    }
    let clashing = Set(namesakes.map(\.name))
    for entity in links.keys {
      for (position, link) in links[entity, default: []].enumerated() where clashing.contains(link.target) {
        links[entity]?[position].doubt = "two classes in the schema are called \(link.target)"
      }
    }
    for claim in claims {
      guard let position = links[claim.entity]?.firstIndex(where: { $0.name == claim.property }) else { continue }
      links[claim.entity]?[position].doubt =
        "\(claim.claimant) names it as its inverse, and may be a relationship or not"
    }
    var inverses = SwiftDataInverses(links: links, open: open)
    inverses.resolve()
    for (entity, found) in inverses.links.sorted(by: { $0.key < $1.key }) {
      // The links are in the same order as the relationships.
      for (position, link) in found.enumerated() {
        entities[entity]?.relationships[position].inverseRelationship = link.inverse
        if let reason = link.doubt {
          doubts.append(Doubt(entity: entity, property: link.name, place: link.place, reason: reason))
        }
      }
    }
  }

  package var uncertainEntities: Set<String> { Set(doubts.map(\.entity)) }

  private mutating func doubt(_ owner: SwiftDeclaration, _ property: String?, _ place: SwiftPlace, _ reason: String) {
    doubts.append(Doubt(entity: owner.name, property: property, place: place, reason: reason))
  }

  // MARK: - Classes

  /// For a class; a SQLite table has fewer columns.
  private static let propertyLimit = 5_000
  private static let classLimit = 5_000

  private mutating func read(_ owner: SwiftDeclaration) -> [SwiftDeclaration] {
    var entity = EntityDescription(name: owner.name)
    var found: [SwiftDeclaration] = []
    var names: Set<String> = []
    readHead(of: owner)
    if owner.properties.count > Self.propertyLimit {
      doubt(owner, nil, owner.place, "the class has more than \(Self.propertyLimit) properties")
      open.insert(owner.name)
    }
    for property in owner.properties.prefix(Self.propertyLimit) where !property.isStatic {
      guard property.isStored else {
        if property.attribute("Attribute") != nil || property.attribute("Relationship") != nil {
          doubt(owner, property.name, property.place, "no known store has a computed property with a macro")
        }
        continue
      }
      let objection = objection(to: property)
      // Of declarations in several branches of a condition, the first counts.
      guard names.insert(property.name).inserted else {
        doubt(owner, property.name, property.place, "the class declares it twice")
        open.insert(owner.name)
        continue
      }
      if property.attribute("Transient") != nil {
        if let objection {
          doubt(owner, property.name, property.place, objection)
          open.insert(owner.name)
        }
        continue
      }
      guard let type = source.type(of: property, in: owner) else {
        doubt(
          owner, property.name, property.place,
          objection ?? "its type follows from an initial value that only the compiler understands")
        open.insert(owner.name)
        continue
      }
      found += type.models
      if let target = type.target {
        add(property, to: target, objection, &entity, owner)
      } else {
        if let objection { doubt(owner, property.name, property.place, objection) }
        let count = entity.attributes.count
        add(property, type, &entity, owner)
        // A property that may not be an attribute may be a relationship and the inverse of another.
        if !type.models.isEmpty || entity.attributes.count == count && type.isUnread { open.insert(owner.name) }
      }
    }
    readMacros(of: owner, &entity)
    entities[owner.name] = entity
    return found
  }

  private mutating func readHead(of owner: SwiftDeclaration) {
    let namesakes = source.candidates(for: owner.path, in: SwiftScope(path: [], head: 0, file: owner.place.file))
    if namesakes.types.count + namesakes.aliases.count > 1 {
      doubt(owner, nil, owner.place, "the class is declared more than once")
    }
    if !owner.has("Model") { doubt(owner, nil, owner.place, "the class has no @Model") }
    if owner.isGeneric { doubt(owner, nil, owner.place, "the class is generic") }
    for attribute in owner.attributes
    where !["Model", "MainActor", "available"].contains(attribute.name) {
      doubt(owner, nil, attribute.place, "the effect of @\(attribute.name) on the class isn't known")
      open.insert(owner.name)
    }
    for added in source.extensions(of: owner.path) {
      for macro in added.macros where !Self.silentMacros.contains(macro.name) {
        doubt(owner, nil, macro.place, "the effect of #\(macro.name) in an extension on the class isn't known")
      }
    }
    for (index, parent) in owner.inherited.enumerated() {
      switch source.type(parent, in: owner.scope.outer) {
      case .declared(let declaration) where declaration.kind == .interface: continue
      case .library(let name) where index > 0 || SwiftDataSource.harmlessProtocols.contains(name): continue
      case let type:
        doubt(
          owner, nil, owner.place, "the class may inherit from \(type), and no known store shows how that is stored")
        open.insert(owner.name)
      }
    }
  }

  private static let attributes: Set<String> = [
    "Attribute", "Relationship", "Transient", "available", "objc", "MainActor",
  ]

  private func objection(to property: SwiftProperty) -> String? {
    if property.isLazy { return "a lazy property, or a pattern, can't be stored" }
    if property.isConditional { return "it is in a branch of #if" }
    if property.isQuoted { return "its name is in backticks, and no known store shows whether they are part of it" }
    let names = property.attributes.map(\.name)
    if Set(names).count < names.count { return "it has the same macro twice" }
    guard let stranger = names.first(where: { !Self.attributes.contains($0) }) else { return nil }
    return "the effect of @\(stranger) on it isn't known"
  }

  // MARK: - Attributes

  private mutating func add(
    _ property: SwiftProperty, _ type: SwiftDataType, _ entity: inout EntityDescription, _ owner: SwiftDeclaration
  ) {
    let macro = property.attribute("Attribute").map { SwiftDataArguments($0, source.tokens($0.place)) }
    if let relationship = property.attribute("Relationship") {
      let inverse = SwiftDataArguments(relationship, source.tokens(relationship.place)).inverse
      if let inverse, case .declared(let other) = source.type(.named(inverse.root), in: owner.scope) {
        claims.append((other.name, inverse.name, "\(owner.name).\(property.name)"))
      }
      doubt(owner, property.name, property.place, "@Relationship before a value of type \(type) isn't known here")
    }
    var attribute: AttributeDescription
    var reader = SwiftDataAttributes(source: source)
    switch reader.attribute(property.name, type, transformer: macro?.transformer) {
    case .success(let made): attribute = made
    case .failure(let problem):
      doubt(owner, property.name, property.place, problem.reason)
      return
    }
    if attribute.composite == nil, let value = property.initialValue {
      attribute.defaultValue = SwiftInitialValue(value, source.tokens(property.place)).value(as: attribute.type)
    }
    if let macro {
      for option in macro.options { apply(option, to: &attribute, &entity, property, owner) }
      attribute.renamingIdentifier = macro.originalName
      attribute.versionHashModifier = macro.hashModifier
      if macro.hashModifier != nil {
        doubt(owner, property.name, property.place, "no known store has a hash modifier")
      }
      if let unread = macro.unread {
        doubt(owner, property.name, property.place, "\"\(unread)\" of @Attribute isn't known here")
      }
    }
    entity.attributes.append(attribute)
  }

  private mutating func apply(
    _ option: String, to attribute: inout AttributeDescription, _ entity: inout EntityDescription,
    _ property: SwiftProperty, _ owner: SwiftDeclaration
  ) {
    switch option {
    case "unique": entity.uniquenessConstraints.append([property.name])
    case "ephemeral" where attribute.composite == nil && attribute.type != .transformable:
      attribute.isTransient = true
    case "externalStorage" where attribute.type == .binary: attribute.allowsExternalBinaryDataStorage = true
    case "spotlight": attribute.isIndexedBySpotlight = true
    case "allowsCloudEncryption": attribute.allowsCloudEncryption = true
    default:
      if option == "preserveValueOnDeletion" { attribute.preservesValueInHistoryOnDeletion = true }
      doubt(owner, property.name, property.place, "no known store has the option .\(option) here")
    }
  }

  // MARK: - Macros of a class

  private static let silentMacros: Set<String> = ["warning", "error", "sourceLocation"]

  private mutating func readMacros(of owner: SwiftDeclaration, _ entity: inout EntityDescription) {
    for macro in owner.macros where !Self.silentMacros.contains(macro.name) {
      let tokens = source.tokens(macro.place)
      switch macro.name {
      case "Unique": readConstraints(macro, tokens, &entity, owner)
      case "Index": readIndexes(macro, tokens, &entity, owner)
      default:
        doubt(owner, nil, macro.place, "the effect of #\(macro.name) on the class isn't known")
        open.insert(owner.name)
      }
    }
    if owner.macros.count(where: { $0.name == "Unique" }) > 1 {
      doubt(owner, nil, owner.place, "no known store has a class with #Unique twice")
    }
    checkConstraints(of: &entity, owner)
  }

  /// Removes constraints on properties without a column, and notes those that no known store has.
  private mutating func checkConstraints(of entity: inout EntityDescription, _ owner: SwiftDeclaration) {
    let constraints = entity.uniquenessConstraints
    guard !constraints.isEmpty else { return }
    var known: Set<[String]> = []
    entity.uniquenessConstraints = constraints.filter { known.insert($0).inserted }
    if known.count < constraints.count {
      doubt(owner, nil, owner.place, "no known store has the same constraint twice")
    }
    let relationships = Set(entity.relationships.map(\.name))
    var columns: [String: AttributeDescription] = [:]
    for attribute in entity.attributes where !attribute.isTransient { columns[attribute.name] = attribute }
    for name in Set(constraints.joined()).subtracting(relationships).sorted(by: <) {
      let attribute = columns[name]
      if let attribute, attribute.composite == nil, attribute.type != .transformable { continue }
      doubt(owner, name, owner.place, "no known store has a constraint on a property of this kind")
    }
    let names = relationships.union(columns.keys)
    entity.uniquenessConstraints.removeAll { !names.isSuperset(of: $0) }
  }

  private mutating func readConstraints(
    _ macro: SwiftAttribute, _ tokens: SwiftTokens, _ entity: inout EntityDescription, _ owner: SwiftDeclaration
  ) {
    if macro.isConditional { doubt(owner, nil, macro.place, "#Unique is in a branch of #if") }
    if let subject = macro.subject, !means(subject, owner, in: owner.scope) {
      doubt(owner, nil, macro.place, "#Unique is about \(subject)")
    }
    for group in tokens.items(macro.arguments) {
      if let names = names(group, tokens, owner) {
        entity.uniquenessConstraints.append(names)
      } else {
        doubt(owner, nil, macro.place, "a constraint of #Unique isn't a list of key paths to properties of the class")
      }
    }
  }

  private mutating func readIndexes(
    _ macro: SwiftAttribute, _ tokens: SwiftTokens, _ entity: inout EntityDescription, _ owner: SwiftDeclaration
  ) {
    let properties = Set(entity.properties.map(\.name))
    for group in tokens.items(macro.arguments) {
      guard let names = names(group, tokens, owner), properties.isSuperset(of: names) else {
        doubt(owner, nil, macro.place, "an index of #Index isn't a list of key paths to stored properties of the class")
        continue
      }
      entity.indexes.append(
        FetchIndexDescription(
          name: "SwiftDataIndexOnBinary" + names.joined(),
          elements: names.map { FetchIndexElementDescription(property: $0) }))
    }
  }

  private func names(_ range: Range<Int>, _ tokens: SwiftTokens, _ owner: SwiftDeclaration) -> [String]? {
    guard let paths = SwiftDataKeyPath.list(range, tokens),
      paths.allSatisfy({ $0.root.isEmpty || means(.named($0.root), owner, in: owner.scope) })
    else { return nil }
    return paths.map(\.name)
  }

  private func means(_ type: SwiftTypeName, _ model: SwiftDeclaration, in scope: SwiftScope) -> Bool {
    guard case .declared(let found) = source.type(type, in: scope) else { return false }
    return found.isSame(as: model)
  }

  // MARK: - Relationships

  private mutating func add(
    _ property: SwiftProperty, to target: SwiftDataType.Target, _ objection: String?,
    _ entity: inout EntityDescription, _ owner: SwiftDeclaration
  ) {
    var relationship = RelationshipDescription(name: property.name, destinationEntity: target.model.name)
    relationship.isOptional = target.isOptional
    if target.isToMany { relationship.maxCount = 0 }
    var link = SwiftDataLink(name: property.name, target: target.model.name, place: property.place)
    (link.isOptional, link.isToMany) = (target.isOptional, target.isToMany)
    link.doubt = objection
    if let attribute = property.attribute("Relationship") {
      let macro = SwiftDataArguments(attribute, source.tokens(attribute.place))
      link.hasMacro = true
      link.inverse = macro.inverse?.name
      link.isExplicit = macro.inverse != nil
      if let rule = macro.deleteRule { relationship.deleteRule = rule }
      relationship.renamingIdentifier = macro.originalName
      relationship.versionHashModifier = macro.hashModifier
      if let option = macro.options.first { link.doubt = "no known store has the option .\(option) here" }
      if macro.hashModifier != nil { link.doubt = "no known store has a hash modifier" }
      if let unread = macro.unread { link.doubt = "no known store has \"\(unread)\" of @Relationship" }
      if let inverse = macro.inverse, !means(.named(inverse.root), target.model, in: owner.scope) {
        link.doubt = "its inverse doesn't seem to be a property of \(target.model.name)"
      }
    }
    if property.attribute("Attribute") != nil {
      link.doubt = "no known store has a relationship with @Attribute"
    }
    links[owner.name, default: []].append(link)
    entity.relationships.append(relationship)
  }
}

extension SwiftDataModelBuilder {
  /// Source locations, by `Entity` and `Entity.property`.
  package var places: [String: String] {
    var result: [String: String] = [:]
    for (entity, declaration) in classes {
      result[entity] = source.text(declaration.place)
      for property in declaration.properties where !property.isStatic {
        result["\(entity).\(property.name)"] = source.text(property.place)
      }
    }
    return result
  }

  /// Uncertain entities are included.
  package func model(identifier: String = "1.0.0") throws(ModelReadingError) -> ManagedObjectModel {
    try ModelAssembly.model(
      entities: Array(entities.values), versionIdentifiers: [identifier], configurations: [], fetchRequestTemplates: [])
  }
}
