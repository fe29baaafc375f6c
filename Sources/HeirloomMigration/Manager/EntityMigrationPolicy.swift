public import HeirloomMapping
public import HeirloomModel
public import HeirloomStore

/// Carries out one entity mapping, object by object.
///
/// A migration visits every mapping three times, in the mapping model's order: the first time makes objects, the second relates
/// them, the third looks whether all is right. One policy object serves its mapping through all three, so it may keep what it
/// needs from one to the next. A subclass overrides the steps in which inference is not enough and leaves the others as they are.
///
/// An error that a step throws ends the migration; the store stays as it was.
open class EntityMigrationPolicy: EntityMappingPolicy {
  /// Creates a policy for one entity mapping of one migration.
  public required init() {}

  /// Whether ``createRelationships(forDestination:in:manager:)`` has something to do.
  ///
  /// A policy that sets all relationships while it makes the objects may say no, which spares a pass over them.
  open var createsRelationships: Bool { true }

  /// Starts the mapping, before its first source object.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Whatever is to end the migration.
  open func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Makes the destination objects of one source object: none, one or several.
  ///
  /// As it stands, it makes one, gives it the values of the attribute mappings and associates both. An override that doesn't
  /// call it associates what it makes by ``MigrationManager/associate(source:destination:for:)``.
  ///
  /// - Parameters:
  ///   - source: The source object.
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Whatever is to end the migration.
  open func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    _ = try manager.createDestinationInstance(forSource: source, in: mapping)
  }

  /// Ends the making of objects, after the mapping's last source object.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Whatever is to end the migration.
  open func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Sets the relationships of one destination object; all objects of all mappings are there.
  ///
  /// As it stands, it evaluates the relationship mappings. It is called for each object that was associated by the mapping.
  ///
  /// - Parameters:
  ///   - destination: The destination object.
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Whatever is to end the migration.
  open func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try manager.createRelationships(of: destination, in: mapping)
  }

  /// Ends the setting of relationships, after the mapping's last object.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Whatever is to end the migration.
  open func endRelationshipCreation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Looks whether what the mapping made is right, before required properties are looked at.
  ///
  /// It is called once and fetches the objects that it looks at from ``MigrationManager/destinationContext``.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Whatever is to end the migration.
  open func performCustomValidation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Ends the mapping, after the validation and before the migrated store is proven and takes the store's place.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Whatever is to end the migration.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Calls a function that an expression of the mapping sends to `$entityPolicy`.
  ///
  /// - Parameters:
  ///   - selector: The function's name, such as `shortName:`.
  ///   - arguments: Its arguments.
  ///   - manager: The migration.
  /// - Returns: `nil` if the policy has no such function; a function of ``MigrationManager/functions`` serves then.
  /// - Throws: Whatever is to end the migration.
  open func call(
    _ selector: String, _ arguments: [EvaluatedValue], manager: MigrationManager
  ) throws -> EvaluatedValue? { nil }
}
