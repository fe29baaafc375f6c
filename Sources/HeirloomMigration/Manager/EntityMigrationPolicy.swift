public import HeirloomMapping
public import HeirloomModel
public import HeirloomStore

/// A policy that carries out one entity mapping, object by object.
///
/// A migration visits every mapping three times, in the mapping model's order.
/// The first time makes objects, the second relates them, and the third checks that all is right.
/// One policy object serves its mapping through all three, so it may keep what it needs from one to the next.
/// A subclass overrides the methods where inference is not enough and leaves the others alone.
///
/// An error that a method throws ends the migration; the store stays as it was.
///
/// It is `nonisolated`, and so are its subclasses where a target's default is the main actor: a migration calls them on
/// the thread that it works on.
nonisolated open class EntityMigrationPolicy: EntityMappingPolicy {
  /// Creates a policy for one entity mapping of one migration.
  public required init() {}

  /// True when the policy has relationships to create.
  ///
  /// False spares a pass over the objects, for a policy that sets all relationships while it makes them.
  open var createsRelationships: Bool { true }

  /// Starts the mapping, before its first source object.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error that is to end the migration.
  open func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Makes the destination objects of one source object: none, one or several.
  ///
  /// By default, it makes one, gives it the values of the attribute mappings and associates both. An override that
  /// doesn't call it associates what it makes by ``MigrationManager/associate(source:destination:for:)``.
  ///
  /// - Parameters:
  ///   - source: The source object.
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error that is to end the migration.
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
  /// - Throws: Any error that is to end the migration.
  open func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Sets the relationships of one destination object; by now all objects of all mappings are there.
  ///
  /// By default, it evaluates the relationship mappings. It is called for each object that the mapping associated.
  ///
  /// - Parameters:
  ///   - destination: The destination object.
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error that is to end the migration.
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
  /// - Throws: Any error that is to end the migration.
  open func endRelationshipCreation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Checks that the mapping's objects are right, before required properties are checked.
  ///
  /// It is called once and fetches the objects that it checks from ``MigrationManager/destinationContext``.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error that is to end the migration.
  open func performCustomValidation(for mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Ends the mapping, after the validation and before the migrated store is proven and takes the store's place.
  ///
  /// - Parameters:
  ///   - mapping: The entity mapping.
  ///   - manager: The migration.
  /// - Throws: Any error that is to end the migration.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Calls a function that an expression of the mapping sends to `$entityPolicy`.
  ///
  /// - Parameters:
  ///   - selector: The function's name, such as `shortName:`.
  ///   - arguments: The function's arguments.
  ///   - manager: The migration.
  /// - Returns: `nil` if the policy has no such function; then a function of the registry serves.
  /// - Throws: Any error that is to end the migration.
  open func call(
    _ selector: String, _ arguments: [EvaluatedValue], manager: MigrationManager
  ) throws -> EvaluatedValue? { nil }
}
