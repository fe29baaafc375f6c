package import HeirloomFormats
package import HeirloomModel

/// The model that SwiftData makes of listed classes, as far as their source tells it for sure.
///
/// The rules are those of stores whose source is public; what no store shows is named, and isn't guessed.
package struct SwiftDataModelBuilder {
  /// Something that the source doesn't tell for sure.
  package struct Doubt: Hashable, Sendable {
    /// The entity's name.
    package let entity: String
    /// The property's name, or `nil` for the entity itself.
    package let property: String?
    let place: SwiftPlace
    /// The reason, without a full stop.
    package let reason: String
  }

  private let source: SwiftDataSource
  /// The entities, by name.
  private(set) var entities: [String: EntityDescription] = [:]
  /// The classes of the entities.
  private(set) var classes: [String: SwiftDeclaration] = [:]
  /// What isn't certain; an entity without any has the version hash that SwiftData gives it.
  package private(set) var doubts: [Doubt] = []

  private var links: [String: [SwiftDataLink]] = [:]

  /// Builds the model of some classes and of all that they refer to.
  ///
  /// - Parameters:
  ///   - roots: The listed classes.
  ///   - source: The declarations.
  package init(of roots: [SwiftDeclaration], in source: SwiftDataSource) {
    self.source = source
    var waiting = Array(roots.reversed())
    while let declaration = waiting.popLast() {
      guard classes[declaration.name] == nil else {
        if classes[declaration.name]?.path != declaration.path {
          doubt(declaration, nil, declaration.place, "another class of this name is in the schema too")
        }
        continue
      }
      classes[declaration.name] = declaration
      waiting += read(declaration).reversed()
    }
    var inverses = SwiftDataInverses(links: links)
    inverses.resolve()
    for (entity, found) in inverses.links {
      for link in found {
        guard let position = entities[entity]?.relationships.firstIndex(where: { $0.name == link.name }) else {
          continue
        }
        entities[entity]?.relationships[position].inverseRelationship = link.inverse
        if let reason = link.doubt {
          doubts.append(Doubt(entity: entity, property: link.name, place: link.place, reason: reason))
        }
      }
    }
  }

  /// Returns the names of entities that are not certain.
  package var uncertainEntities: Set<String> { Set(doubts.map(\.entity)) }

  private mutating func doubt(_ owner: SwiftDeclaration, _ property: String?, _ place: SwiftPlace, _ reason: String) {
    doubts.append(Doubt(entity: owner.name, property: property, place: place, reason: reason))
  }

  // MARK: - Classes

  /// Adds the entity of a class, and returns the classes that it refers to.
  private mutating func read(_ owner: SwiftDeclaration) -> [SwiftDeclaration] {
    var entity = EntityDescription(name: owner.name)
    var found: [SwiftDeclaration] = []
    if owner.isGeneric { doubt(owner, nil, owner.place, "the class is generic") }
    if owner.isConditional { doubt(owner, nil, owner.place, "the class stands in a branch of #if") }
    for parent in owner.inherited {
      if case .named(let names) = parent, case .type(let declaration)? = source.meaning(of: names, in: owner.path),
        declaration.kind == .classType
      {
        doubt(
          owner, nil, owner.place, "the class inherits from \"\(declaration.name)\"; no store is known that shows how")
      }
    }
    for property in owner.properties where isStored(property) {
      if let reason = objection(to: property) { doubt(owner, property.name, property.place, reason) }
      guard property.attribute("Transient") == nil else { continue }
      guard let type = type(of: property, in: owner) else {
        doubt(
          owner, property.name, property.place,
          "its type follows from an initial value that only the compiler understands")
        continue
      }
      if let target = model(type, in: owner.path) {
        add(property, type, to: target, &entity, owner)
        found.append(target)
      } else {
        add(property, type, &entity, owner)
      }
    }
    readMacros(of: owner, &entity)
    entities[owner.name] = entity
    return found
  }

  /// Returns true for a property that takes room in an object.
  private func isStored(_ property: SwiftProperty) -> Bool { !property.isStatic && property.body == nil }

  private static let attributes: Set<String> = [
    "Attribute", "Relationship", "Transient", "available", "objc", "MainActor",
  ]

  private func objection(to property: SwiftProperty) -> String? {
    if property.isLazy { return "a lazy property, or a pattern, can't be stored" }
    if property.isConditional { return "it stands in a branch of #if" }
    guard let stranger = property.attributes.first(where: { !Self.attributes.contains($0.name) }) else { return nil }
    return "nobody knows here what @\(stranger.name) does to it"
  }

  // MARK: - Types

  /// Returns the type of a property, as written or from a plain initial value.
  private func type(of property: SwiftProperty, in owner: SwiftDeclaration) -> SwiftTypeName? {
    if let type = property.type { return type }
    guard let value = property.initialValue, !value.isEmpty else { return nil }
    return SwiftInitialValue(value, source.tokens(property.place)).type
  }

  /// Returns the model class that a type stands for, without its optional and its brackets.
  private func model(_ type: SwiftTypeName, in scope: [String], depth: Int = 0) -> SwiftDeclaration? {
    switch type {
    case .optional(let inner), .array(let inner): return model(inner, in: scope, depth: depth)
    case .named(let names):
      switch source.meaning(of: names, in: scope) {
      case .type(let found)? where found.has("Model"): return found
      case .alias(let target, let scope)? where depth < 16: return model(target, in: scope, depth: depth + 1)
      default: return nil
      }
    default: return nil
    }
  }

  // MARK: - Attributes

  private mutating func add(
    _ property: SwiftProperty, _ type: SwiftTypeName, _ entity: inout EntityDescription, _ owner: SwiftDeclaration
  ) {
    let macro = property.attribute("Attribute").map { SwiftDataArguments($0, source.tokens($0.place)) }
    let reader = SwiftDataAttributes(source: source)
    var attribute: AttributeDescription
    if macro?.transformer != nil {
      attribute = AttributeDescription(name: property.name, type: .transformable)
      attribute.valueTransformerName = macro?.transformer
      if case .optional = type { attribute.isOptional = true }
    } else {
      switch reader.attribute(property.name, type, in: owner.path) {
      case .success(let made): attribute = made
      case .failure(let problem):
        doubt(owner, property.name, property.place, problem.reason)
        return
      }
    }
    if attribute.composite == nil, let value = property.initialValue {
      attribute.defaultValue = SwiftInitialValue(value, source.tokens(property.place)).value(as: attribute.type)
    }
    if let macro {
      for option in macro.options { apply(option, to: &attribute, &entity, property, owner) }
      attribute.renamingIdentifier = macro.originalName
      attribute.versionHashModifier = macro.hashModifier
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
    case "unique": addConstraint([property.name], to: &entity)
    case "ephemeral": attribute.isTransient = true
    case "externalStorage": attribute.allowsExternalBinaryDataStorage = true
    case "preserveValueOnDeletion": attribute.preservesValueInHistoryOnDeletion = true
    case "spotlight": attribute.isIndexedBySpotlight = true
    case "allowsCloudEncryption": attribute.allowsCloudEncryption = true
    default: doubt(owner, property.name, property.place, "the option .\(option) isn't known here")
    }
  }

  private func addConstraint(_ names: [String], to entity: inout EntityDescription) {
    if !entity.uniquenessConstraints.contains(names) { entity.uniquenessConstraints.append(names) }
  }

  private mutating func readMacros(of owner: SwiftDeclaration, _ entity: inout EntityDescription) {
    for macro in owner.macros where macro.name == "Unique" || macro.name == "Index" {
      let tokens = source.tokens(macro.place)
      for group in tokens.items(macro.arguments) {
        guard let names = SwiftDataArguments.keyPaths(group, tokens) else {
          if macro.name == "Unique" {
            doubt(owner, nil, macro.place, "a constraint of #Unique isn't a list of key paths")
          }
          continue
        }
        if macro.name == "Unique" {
          addConstraint(names, to: &entity)
        } else {
          entity.indexes.append(
            FetchIndexDescription(
              name: "SwiftDataIndexOnBinary" + names.joined(),
              elements: names.map { FetchIndexElementDescription(property: $0) }))
        }
      }
    }
  }

  // MARK: - Relationships

  private mutating func add(
    _ property: SwiftProperty, _ type: SwiftTypeName, to target: SwiftDeclaration, _ entity: inout EntityDescription,
    _ owner: SwiftDeclaration
  ) {
    var relationship = RelationshipDescription(name: property.name, destinationEntity: target.name)
    var inner = type
    if case .optional(let wrapped) = inner { (relationship.isOptional, inner) = (true, wrapped) }
    if case .array(let element) = inner { (relationship.maxCount, inner) = (0, element) }
    guard case .named = inner else {
      return doubt(owner, property.name, property.place, "a relationship of type \(type) isn't known here")
    }
    var link = SwiftDataLink(name: property.name, target: target.name, place: property.place)
    link.isOptional = relationship.isOptional
    if let attribute = property.attribute("Relationship") {
      let macro = SwiftDataArguments(attribute, source.tokens(attribute.place))
      link.hasMacro = true
      link.inverse = macro.inverse
      link.isExplicit = macro.inverse != nil
      if let rule = macro.deleteRule { relationship.deleteRule = rule }
      relationship.renamingIdentifier = macro.originalName
      relationship.versionHashModifier = macro.hashModifier
      for option in macro.options {
        doubt(owner, property.name, property.place, "the option .\(option) of a relationship isn't known here")
      }
      if let unread = macro.unread {
        doubt(owner, property.name, property.place, "\"\(unread)\" of @Relationship is in no store that is known")
      }
    } else if property.attribute("Attribute") != nil {
      doubt(owner, property.name, property.place, "a relationship with @Attribute is in no store that is known")
    }
    links[owner.name, default: []].append(link)
    entity.relationships.append(relationship)
  }
}

extension SwiftDataModelBuilder {
  /// Returns the model of all entities, also of those that aren't certain.
  ///
  /// - Parameter identifier: The number of the schema's version.
  /// - Returns: The model.
  /// - Throws: ``ModelReadingError`` if the entities don't fit together.
  package func model(identifier: String = "1.0.0") throws(ModelReadingError) -> ManagedObjectModel {
    try ModelAssembly.model(
      entities: Array(entities.values), versionIdentifiers: [identifier], configurations: [], fetchRequestTemplates: [])
  }
}
