public import HeirloomMapping
public import HeirloomModel
public import HeirloomMigration
public import HeirloomStore

/// An app's delegate, which answers what inference can't decide and hears what happens.
///
/// Every method has a default and is called on the thread that called the assistant. The asynchronous calls take the
/// delegate themselves: ``MigrationAssistant/migrateStore(with:delegate:)`` has a thread of its own, and
/// ``MigrationAssistant/migrateStore(with:mainActorDelegate:)`` calls it on the main actor. A method that throws stops
/// the migration: the store is then as it was.
public protocol MigrationAssistantDelegate: AnyObject {
  /// Asks the delegate for a mapping after obstacles to inference, or before losses that nobody consented to.
  ///
  /// Such losses are values, links or objects that are there and that the inferred mapping would lose. What the mapping
  /// leaves open is inferred: say only what could not be.
  ///
  /// - Parameters:
  ///   - assistant: The assistant that asks.
  ///   - source: The model to start from: that of the store, or of a version on its path.
  ///   - destination: The model to arrive at: the current one, or that of a version on the path.
  ///   - need: The obstacles, or the losses with their numbers of rows.
  /// - Returns: A mapping, or `nil`. With obstacles, `nil` stops the migration with
  ///   ``MigrationAssistantError/mappingNeeded(storePath:obstacles:skeleton:)``; with losses, the migration goes on as
  ///   ``MigrationAssistant/Configuration/losses`` says. For a path over several versions of a known order, the
  ///   delegate is then asked about each hop that needs it.
  /// - Throws: Any error that is to stop the migration.
  func migrationAssistant(
    _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
    need: MappingNeed
  ) throws -> MappingModel?

  /// Tells the delegate that no mapping can be inferred, before it is asked for one.
  func migrationAssistant(
    _ assistant: MigrationAssistant, didFailToInferMappingFrom source: ManagedObjectModel,
    to destination: ManagedObjectModel, obstacles: [MappingObstacle])

  /// Asks the delegate whether to go on, with the losses and the blockers counted on the store.
  ///
  /// - Parameters:
  ///   - assistant: The assistant that asks.
  ///   - plan: The plan, made under the lock.
  /// - Returns: The decision; the default is ``MigrationDecision/automatic``.
  /// - Throws: Any error that is to stop the migration.
  func migrationAssistant(_ assistant: MigrationAssistant, shouldMigrate plan: MigrationPlan) throws
    -> MigrationDecision

  /// Asks the delegate which model made a store that is to be migrated, before anything else is believed.
  ///
  /// Only what the app knows better is worth saying. That may be the model of a version that the history doesn't have.
  /// Or it is one of several versions with equal hashes, if the store's identifiers, its own copy and the snapshot
  /// don't tell which.
  ///
  /// - Parameters:
  ///   - assistant: The assistant that asks.
  ///   - metadata: The store's metadata.
  /// - Returns: A model, which is used if its version hashes equal the store's; `nil`, the default, to find it
  ///   otherwise.
  /// - Throws: Any error that is to stop the migration.
  func migrationAssistant(
    _ assistant: MigrationAssistant, modelForStoreWith metadata: StoreMetadata
  ) throws -> ManagedObjectModel?

  /// Tells the delegate each event, so that an app can log or count it.
  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent)
}

extension MigrationAssistantDelegate {
  /// Returns no mapping.
  public func migrationAssistant(
    _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
    need: MappingNeed
  ) throws -> MappingModel? { nil }

  /// Does nothing.
  public func migrationAssistant(
    _ assistant: MigrationAssistant, didFailToInferMappingFrom source: ManagedObjectModel,
    to destination: ManagedObjectModel, obstacles: [MappingObstacle]
  ) {}

  /// Leaves the decision to the assistant's rules.
  public func migrationAssistant(
    _ assistant: MigrationAssistant, shouldMigrate plan: MigrationPlan
  ) throws -> MigrationDecision { .automatic }

  /// Returns no model.
  public func migrationAssistant(
    _ assistant: MigrationAssistant, modelForStoreWith metadata: StoreMetadata
  ) throws -> ManagedObjectModel? { nil }

  /// Does nothing.
  public func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {}
}
