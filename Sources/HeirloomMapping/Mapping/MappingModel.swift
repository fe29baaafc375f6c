import HeirloomModel

/// A mapping from the entities of a source model to those of a destination model.
///
/// A mapping model is a plain value: it refers to entities and policies by name and holds no model or store.
public struct MappingModel: Hashable, Sendable {
  /// The entity mappings, in the order in which they are carried out.
  public var entityMappings: [EntityMapping]

  /// Creates a mapping model.
  public init(entityMappings: [EntityMapping]) {
    self.entityMappings = entityMappings
  }

  /// Finds the entity mapping of the given name.
  public func entityMapping(named name: String) -> EntityMapping? {
    entityMappings.first { $0.name == name }
  }

  /// Finds the entity mappings whose source is the given entity, in order.
  public func entityMappings(fromEntity name: String) -> [EntityMapping] {
    entityMappings.filter { $0.sourceEntityName == name }
  }

  /// Finds the entity mappings whose destination is the given entity, in order.
  public func entityMappings(toEntity name: String) -> [EntityMapping] {
    entityMappings.filter { $0.destinationEntityName == name }
  }

  /// Of a mapping model from a file, only open properties are inferred.
  ///
  /// A source entity without an entity mapping is dropped, as in Core Data.
  package var isOfFile: Bool { !entityMappings.isEmpty && entityMappings.allSatisfy { $0.openProperties != nil } }

  /// The sorted names of the policies that the mappings need, without duplicates.
  public var policyNames: [String] {
    Set(entityMappings.compactMap(\.entityMigrationPolicyClassName)).ordered()
  }
}

/// A result builder for entity mappings that are listed one per line.
@resultBuilder
public enum EntityMappingBuilder {
  /// Takes one mapping.
  public static func buildExpression(_ mapping: EntityMapping) -> [EntityMapping] { [mapping] }
  /// Takes several mappings.
  public static func buildExpression(_ mappings: [EntityMapping]) -> [EntityMapping] { mappings }
  /// Joins the lines.
  public static func buildBlock(_ parts: [EntityMapping]...) -> [EntityMapping] { parts.flatMap { $0 } }
  /// Takes the mappings of an `if` without `else`.
  public static func buildOptional(_ part: [EntityMapping]?) -> [EntityMapping] { part ?? [] }
  /// Takes the mappings of an `if`.
  public static func buildEither(first part: [EntityMapping]) -> [EntityMapping] { part }
  /// Takes the mappings of an `else`.
  public static func buildEither(second part: [EntityMapping]) -> [EntityMapping] { part }
  /// Joins the mappings of a loop.
  public static func buildArray(_ parts: [[EntityMapping]]) -> [EntityMapping] { parts.flatMap { $0 } }
}
