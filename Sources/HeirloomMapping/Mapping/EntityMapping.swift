public import HeirloomModel

/// A mapping from one source entity to one destination entity.
///
/// It covers objects of exactly the source entity: subentities have mappings of their own.
public struct EntityMapping: Hashable, Sendable {
  /// The mapping's name, unique in its mapping model; expressions and policies refer to it.
  public var name: String
  /// The treatment of the source's objects.
  public var mappingType: MappingType
  /// The name of the source entity; `nil` for an entity that is added.
  public var sourceEntityName: String?
  /// The name of the destination entity; `nil` for an entity that is removed.
  public var destinationEntityName: String?
  /// The version hash that the source entity must have.
  public var sourceEntityVersionHash: VersionHash?
  /// The version hash that the destination entity must have.
  public var destinationEntityVersionHash: VersionHash?
  /// The expression that selects the source's objects; `nil` for all of them.
  public var sourceExpression: ValueExpression?
  /// The mappings of attributes, inherited ones included.
  public var attributeMappings: [PropertyMapping]
  /// The mappings of relationships, inherited ones included.
  public var relationshipMappings: [PropertyMapping]
  /// The name of the policy that creates the objects; `nil` for the standard one.
  public var entityMigrationPolicyClassName: String?
  /// `nil` if a registry must find the class by its name.
  package var entityMigrationPolicyClass: PolicyClass?
  /// Free text for policies and expressions.
  public var userInfo: [String: String]
  /// The properties without a mapping that completion infers; `nil` for all of them.
  ///
  /// A mapping that is read from a file has a list, usually an empty one: properties that the file omits get the value
  /// of a newly created object, as in Core Data. A mapping that is written in code omits what can be inferred.
  package var openProperties: OpenProperties?

  /// Properties of the destination that a file lists without a value expression.
  ///
  /// Xcode's compiler gives them the values of source properties of the same name.
  package struct OpenProperties: Hashable, Sendable {
    package var attributes: [String]
    package var relationships: [String]

    package init(attributes: [String] = [], relationships: [String] = []) {
      self.attributes = attributes
      self.relationships = relationships
    }

    func contain(_ name: String) -> Bool { attributes.contains(name) || relationships.contains(name) }
  }

  /// The treatment of a source entity's objects.
  ///
  /// Raw values are the codes of compiled mapping models (`NSEntityMappingType`).
  public enum MappingType: Int, Hashable, Sendable, CaseIterable {
    /// An undecided type, which `MappingModel.completed(from:to:)` derives from the entities.
    case undefined = 0
    /// A treatment that a policy decides.
    case custom = 1
    /// A new entity, which starts without objects.
    case add = 2
    /// A removed entity, whose objects are not carried over.
    case remove = 3
    /// Objects that are carried over as they are.
    case copy = 4
    /// Objects that are carried over with the values of property mappings.
    case transform = 5
  }

  /// Creates a mapping.
  ///
  /// - Parameters:
  ///   - source: The name of the source entity; `nil` for an entity that is added.
  ///   - destination: The name of the destination entity; `nil` for an entity that is removed.
  ///   - name: The mapping's name; by default `SOURCE->DESTINATION`.
  ///   - mappingType: The treatment of the objects.
  ///   - policy: The name of the policy that creates the objects; it makes an undefined type custom.
  ///   - attributeMappings: The mappings of attributes; omitted ones are inferred on completion.
  ///   - relationshipMappings: The mappings of relationships; omitted ones are inferred on completion.
  public init(
    from source: String?, to destination: String?, name: String? = nil, mappingType: MappingType = .undefined,
    policyNamed policy: String? = nil, attributeMappings: [PropertyMapping] = [],
    relationshipMappings: [PropertyMapping] = []
  ) {
    self.name = name ?? Self.defaultName(from: source, to: destination)
    self.mappingType = mappingType == .undefined && policy != nil ? .custom : mappingType
    sourceEntityName = source
    destinationEntityName = destination
    self.attributeMappings = attributeMappings
    self.relationshipMappings = relationshipMappings
    entityMigrationPolicyClassName = policy
    userInfo = [:]
  }

  /// Creates a mapping that a Swift class carries out.
  ///
  /// - Parameters:
  ///   - source: The name of the source entity; `nil` for an entity that is added.
  ///   - destination: The name of the destination entity; `nil` for an entity that is removed.
  ///   - name: The mapping's name; by default `SOURCE->DESTINATION`.
  ///   - policy: The class, a subclass of `EntityMigrationPolicy`.
  ///   - attributeMappings: The mappings of attributes; omitted ones are inferred on completion.
  ///   - relationshipMappings: The mappings of relationships; omitted ones are inferred on completion.
  ///   - userInfo: Free text for the policy.
  public init(
    from source: String?, to destination: String?, name: String? = nil, policy: any EntityMappingPolicy.Type,
    attributeMappings: [PropertyMapping] = [], relationshipMappings: [PropertyMapping] = [],
    userInfo: [String: String] = [:]
  ) {
    let policyClass = PolicyClass(policy)
    self.init(
      from: source, to: destination, name: name, policyNamed: policyClass.name, attributeMappings: attributeMappings,
      relationshipMappings: relationshipMappings)
    entityMigrationPolicyClass = policyClass
    self.userInfo = userInfo
  }

  /// Returns the default name of a mapping.
  ///
  /// - Parameters:
  ///   - source: The name of the source entity.
  ///   - destination: The name of the destination entity.
  /// - Returns: `SOURCE->DESTINATION`, or the one name that isn't `nil`.
  public static func defaultName(from source: String?, to destination: String?) -> String {
    switch (source, destination) {
    case (let source?, let destination?): "\(source)->\(destination)"
    case (let source?, nil): source
    case (nil, let destination?): destination
    case (nil, nil): ""
    }
  }

  /// Finds the mapping of a destination attribute.
  public func attributeMapping(named name: String) -> PropertyMapping? {
    attributeMappings.first { $0.name == name }
  }

  /// Finds the mapping of a destination relationship.
  public func relationshipMapping(named name: String) -> PropertyMapping? {
    relationshipMappings.first { $0.name == name }
  }
}

extension EntityMapping.MappingType {
  /// The name in messages and in the tool's output.
  public var name: String {
    switch self {
    case .undefined: "undefined"
    case .custom: "custom"
    case .add: "add"
    case .remove: "remove"
    case .copy: "copy"
    case .transform: "transform"
    }
  }
}
