public import HeirloomMapping
public import HeirloomModel
public import HeirloomStore

/// A policy that carries out one entity mapping, object by object.
///
/// A migration visits every mapping three times, in the mapping model's order. The first pass makes objects, the second
/// relates them, and the third validates them. One policy object serves its mapping in all three, so it can keep state
/// between them. A subclass overrides the methods where inference is not enough.
///
/// An error that a method throws ends the migration; the store is unchanged.
///
/// It is `nonisolated`, and so are its subclasses even where a target's default is the main actor: a migration calls
/// them on its own thread.
nonisolated open class EntityMigrationPolicy: EntityMappingPolicy {
  /// Creates a policy for one entity mapping of one migration.
  public required init() {}

  /// True when the policy has relationships to create.
  ///
  /// Return false to skip the second pass if the policy sets all relationships while it makes the objects.
  open var createsRelationships: Bool { true }

  /// Starts the mapping, before its first source object.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error, which ends the migration.
  open func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Makes the destination objects of one source object: none, one or several.
  ///
  /// By default, it makes one, sets its attributes by the attribute mappings and associates both objects. An override
  /// that doesn't call `super` must associate the objects that it makes with
  /// ``MigrationManager/associate(source:destination:for:)``.
  ///
  /// - Parameters:
  ///   - source: The source object.
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error, which ends the migration.
  open func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    _ = try manager.createDestinationInstance(forSource: source, in: mapping)
  }

  /// Ends instance creation, after the mapping's last source object.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error, which ends the migration.
  open func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Sets the relationships of one destination object, after the objects of all mappings have been made.
  ///
  /// By default, it evaluates the relationship mappings. It is called for each object that the mapping associated.
  ///
  /// - Parameters:
  ///   - destination: The destination object.
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error, which ends the migration.
  open func createRelationships(
    forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try manager.createRelationships(of: destination, in: mapping)
  }

  /// Ends relationship creation, after the mapping's last object.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error, which ends the migration.
  open func endRelationshipCreation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Validates the mapping's objects, before required properties are checked.
  ///
  /// It is called once, and fetches the objects to validate from ``MigrationManager/destinationContext``.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error, which ends the migration.
  open func performCustomValidation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Ends the mapping, after the validation and before the migrated store is proven and replaces the store.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error, which ends the migration.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Calls a function that an expression of the mapping sends to `$entityPolicy`.
  ///
  /// - Parameters:
  ///   - selector: The function's name, such as `shortName:`.
  ///   - arguments: The function's arguments.
  ///   - manager: The migration.
  /// - Returns: The function's value; `nil` if the policy has no such function, so one of the registry is called.
  /// - Throws: Any error, which ends the migration.
  open func call(
    _ selector: String, _ arguments: [EvaluatedValue], manager: MigrationManager
  ) throws -> EvaluatedValue? { nil }
}
