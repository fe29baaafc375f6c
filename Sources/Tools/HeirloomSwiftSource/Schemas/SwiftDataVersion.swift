import HeirloomFormats
import HeirloomModel

/// A schema with the model generated from its source.
struct SwiftDataVersion {
  struct Property {
    let declaration: SwiftProperty
    /// The last component of the type's name, without a question mark.
    let type: String
    /// `nil` for a relationship or an unknown property.
    let attribute: AttributeDescription?
    let originalName: String?
    /// Existing rows get a value for the property.
    let hasDefault: Bool
    let isCertain: Bool

    var name: String { declaration.name }
    var place: SwiftPlace { declaration.place }
  }

  struct Dependency {
    let type: SwiftDeclaration
    /// The class that has the property; `nil` for a type that the schema lists.
    let owner: SwiftDeclaration?
    let place: SwiftPlace?
  }

  let schema: SwiftDataSchemas.Schema
  let classes: [String: SwiftDeclaration]
  let entities: [String: EntityDescription]
  let namesakes: [SwiftDeclaration]
  /// In hexadecimal, of the certain entities.
  let hashes: [String: String]
  let reasons: [SwiftDataSchemas.Fault]

  private let source: SwiftDataSource
  private let doubts: [SwiftDataModelBuilder.Doubt]

  init(_ schema: SwiftDataSchemas.Schema, in source: SwiftDataSource) {
    let builder = SwiftDataModelBuilder(of: schema.roots, in: source)
    (self.schema, self.source, doubts) = (schema, source, builder.doubts)
    (classes, entities, namesakes) = (builder.classes, builder.entities, builder.namesakes)
    var reasons =
      schema.faults
      + doubts.map { doubt in
        let name = doubt.property.map { "\(doubt.entity).\($0)" } ?? doubt.entity
        return SwiftDataSchemas.Fault(place: doubt.place, reason: "\(name) is not certain, since \(doubt.reason)")
      }
    var hashes: [String: VersionHash] = [:]
    do throws(ModelReadingError) {
      hashes = try builder.model().versionHashes()
    } catch {
      reasons.append(SwiftDataSchemas.Fault(place: schema.place, reason: error.description))
    }
    self.reasons = reasons
    let uncertain = builder.uncertainEntities
    self.hashes = hashes.filter { !uncertain.contains($0.key) }.mapValues(\.description)
  }

  var name: String { schema.name }

  /// The entities and all of their hashes are certainly those of SwiftData.
  var isCertain: Bool { reasons.isEmpty }

  var entityNames: [String] { entities.keys.sorted { NaturalOrder.precedes($0, $1) } }

  /// `nil` for a class that is uncertain as a whole.
  func properties(of name: String) -> [Property]? {
    guard let owner = classes[name], let entity = entities[name],
      !doubts.contains(where: { $0.entity == name && $0.property == nil })
    else { return nil }
    let doubted = Set(doubts.filter { $0.entity == name }.map(\.property))
    return Self.stored(owner).compactMap { property in
      let attribute = entity.attributes.first { $0.name == property.name }
      guard attribute?.isTransient != true else { return nil }
      let relationship = entity.relationships.first { $0.name == property.name }
      var type = source.type(of: property, in: owner)
      if case .optional(let wrapped)? = type { type = wrapped }
      return Property(
        declaration: property, type: type.map { "\($0)" } ?? "", attribute: attribute,
        originalName: attribute?.renamingIdentifier ?? relationship?.renamingIdentifier,
        hasDefault: property.initialValue.map { source.tokens(property.place).text($0) != "nil" } ?? false,
        isCertain: !doubted.contains(property.name))
    }
  }

  private static func stored(_ owner: SwiftDeclaration) -> [SwiftProperty] {
    owner.properties.filter { $0.isStored && $0.attribute("Transient") == nil }
  }

  /// The enumeration or structure whose leaves are those of the attribute.
  func composite(_ property: Property, of name: String) -> SwiftDeclaration? {
    guard property.attribute?.composite != nil, let owner = classes[name] else { return nil }
    return source.type(of: property.declaration, in: owner).flatMap(Self.composite)
  }

  private static func composite(_ type: SwiftDataType) -> SwiftDeclaration? {
    switch type {
    case .optional(let wrapped): composite(wrapped)
    case .declared(let found) where found.kind == .structure || found.kind == .enumeration: found
    default: nil
    }
  }

  // MARK: - Dependencies

  var dependencies: [Dependency] {
    var result = schema.roots.map { Dependency(type: $0, owner: nil, place: nil) }
    for name in entityNames {
      guard let owner = classes[name] else { continue }
      for property in Self.stored(owner) {
        guard let type = source.type(of: property, in: owner) else { continue }
        let isComposite = entities[name]?.attributes.first { $0.name == property.name }?.composite != nil
        for found in type.models + (isComposite ? values(type) : []) {
          result.append(Dependency(type: found, owner: owner, place: property.place))
        }
      }
    }
    return result
  }

  /// Those whose members or cases are leaves; an enumeration with a raw type has none.
  private func values(_ type: SwiftDataType, depth: Int = 0) -> [SwiftDeclaration] {
    guard depth < 12, let found = Self.composite(type) else { return [] }
    guard found.kind == .structure else {
      let raw = try? source.rawType(of: found)
      return raw == nil ? [found] : []
    }
    let members = found.properties.filter(\.isStored).compactMap { source.type(of: $0, in: found) }
    return [found] + members.flatMap { values($0, depth: depth + 1) }
  }

  // MARK: - Comparison

  func equals(_ other: SwiftDataVersion) -> Bool { isCertain && other.isCertain && hashes == other.hashes }

  /// Entities, properties and indexes, whether or not they are hashed.
  func differences(from other: SwiftDataVersion) -> [String] {
    entityNames.flatMap { name -> [String] in
      guard let entity = entities[name], let old = other.entities[name], entity != old else { return [] }
      let attributes = entity.attributes.filter { !old.attributes.contains($0) }.map(\.name)
      let relationships = entity.relationships.filter { !old.relationships.contains($0) }.map(\.name)
      let names = (attributes + relationships).map { "\(name).\($0)" }
      return names.isEmpty ? [name] : names
    }
  }
}

extension SwiftDataVersion {
  /// As in source, without quotes; `nil` if the cases aren't all plain.
  func rawValues(of enumeration: SwiftDeclaration) -> [(name: String, value: String)]? {
    guard enumeration.kind == .enumeration, let type = try? source.rawType(of: enumeration) else { return nil }
    let tokens = source.tokens(enumeration.place)
    var result: [(name: String, value: String)] = []
    var next: Int? = 0
    for item in enumeration.cases {
      guard !item.isConditional else { return nil }
      var value = item.name
      if type == .integer64 {
        let written = item.rawValue.map { tokens.text($0).filter { $0 != "_" } }
        guard let number = written.map({ Int($0) }) ?? next else { return nil }
        (value, next) = ("\(number)", number == .max ? nil : number + 1)
      } else if let range = item.rawValue {
        guard range.count == 1, let text = tokens.plainString(range.lowerBound) else { return nil }
        value = text
      }
      result.append((item.name, value))
    }
    return result
  }
}
