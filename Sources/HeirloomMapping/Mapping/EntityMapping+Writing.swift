import HeirloomModel

extension EntityMapping {
  /// Creates a mapping with property mappings that are listed one per line.
  ///
  /// ```swift
  /// EntityMapping(from: "Person", to: "Author", where: "books.@count > 0") {
  ///   PropertyMapping("name", expression: "TERNARY(nick == nil, name, nick)")
  ///   PropertyMapping("works", linksOf: "books")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - source: The name of the source entity; `nil` for an entity that is added.
  ///   - destination: The name of the destination entity; `nil` for an entity that is removed.
  ///   - name: The mapping's name; by default `SOURCE->DESTINATION`.
  ///   - condition: A predicate, as format text, that selects objects of the source; by default all.
  ///   - policy: The name of the policy that creates the objects.
  ///   - userInfo: Free text for policies and expressions.
  ///   - properties: The property mappings; omitted ones are inferred on completion.
  public init(
    from source: String?, to destination: String?, name: String? = nil, where condition: String? = nil,
    policyNamed policy: String? = nil, userInfo: [String: String] = [:],
    @PropertyMappingBuilder _ properties: () -> [PropertyMapping]
  ) {
    self.init(from: source, to: destination, name: name, policyNamed: policy)
    write(condition, userInfo, properties())
  }

  /// Creates a mapping that a Swift class carries out, with property mappings that are listed one per line.
  ///
  /// - Parameters:
  ///   - source: The name of the source entity; `nil` for an entity that is added.
  ///   - destination: The name of the destination entity; `nil` for an entity that is removed.
  ///   - name: The mapping's name; by default `SOURCE->DESTINATION`.
  ///   - condition: A predicate, as format text, that selects objects of the source; by default all.
  ///   - policy: The class, a subclass of `EntityMigrationPolicy`.
  ///   - userInfo: Free text for the policy.
  ///   - properties: The property mappings; omitted ones are inferred on completion.
  public init(
    from source: String?, to destination: String?, name: String? = nil, where condition: String? = nil,
    policy: any EntityMappingPolicy.Type, userInfo: [String: String] = [:],
    @PropertyMappingBuilder _ properties: () -> [PropertyMapping]
  ) {
    self.init(from: source, to: destination, name: name, policy: policy)
    write(condition, userInfo, properties())
  }

  private mutating func write(
    _ condition: String?, _ userInfo: [String: String], _ properties: [PropertyMapping]
  ) {
    self.userInfo = userInfo
    if let condition, let sourceEntityName {
      sourceExpression = .sourceRows(ofEntity: sourceEntityName, predicate: condition)
    }
    // Only the destination model says which of the others are relationships; completion moves them.
    relationshipMappings = properties.filter(\.isOfLinks)
    attributeMappings = properties.filter { !$0.isOfLinks }
  }

  /// Moves the mappings of relationships from the attribute mappings to the relationship mappings.
  func sorted(for destination: EntityDescription, in model: ManagedObjectModel) -> EntityMapping {
    let links = attributeMappings.filter { mapping in
      model.attribute(named: mapping.name, of: destination.name) == nil
        && model.relationship(named: mapping.name, of: destination.name) != nil
    }
    guard !links.isEmpty else { return self }
    var mapping = self
    mapping.attributeMappings.removeAll { links.contains($0) }
    mapping.relationshipMappings += links
    return mapping
  }
}

extension PropertyMapping {
  fileprivate var isOfLinks: Bool {
    switch form {
    case .links, .linksThroughMapping: true
    default: false
    }
  }
}

/// A result builder for property mappings that are listed one per line.
@resultBuilder
public enum PropertyMappingBuilder {
  /// Takes one mapping.
  public static func buildExpression(_ mapping: PropertyMapping) -> [PropertyMapping] { [mapping] }
  /// Takes several mappings.
  public static func buildExpression(_ mappings: [PropertyMapping]) -> [PropertyMapping] { mappings }
  /// Joins the lines.
  public static func buildBlock(_ parts: [PropertyMapping]...) -> [PropertyMapping] { parts.flatMap { $0 } }
  /// Takes the mappings of an `if` without `else`.
  public static func buildOptional(_ part: [PropertyMapping]?) -> [PropertyMapping] { part ?? [] }
  /// Takes the mappings of an `if`.
  public static func buildEither(first part: [PropertyMapping]) -> [PropertyMapping] { part }
  /// Takes the mappings of an `else`.
  public static func buildEither(second part: [PropertyMapping]) -> [PropertyMapping] { part }
  /// Joins the mappings of a loop.
  public static func buildArray(_ parts: [[PropertyMapping]]) -> [PropertyMapping] { parts.flatMap { $0 } }
}
