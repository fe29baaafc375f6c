public import HeirloomMapping
public import HeirloomModel
public import HeirloomMigration
public import HeirloomStore

/// An app's delegate, which makes the decisions that inference can't make and receives events.
///
/// Every method has a default and is called on the thread that called the assistant. The asynchronous calls take the
/// delegate themselves: ``MigrationAssistant/migrateStore(with:delegate:)`` calls it on a thread of its own, and
/// ``MigrationAssistant/migrateStore(with:mainActorDelegate:)`` on the main actor. A method that throws stops
/// the migration, and the store is unchanged.
public protocol MigrationAssistantDelegate: AnyObject {
  /// Asks the delegate for a mapping after obstacles to inference, or before losses without consent.
  ///
  /// Such losses are values, links or objects in the store that the inferred mapping would lose. Missing parts of the
  /// returned mapping are inferred, so it only needs the parts that inference can't map.
  ///
  /// - Parameters:
  ///   - assistant: The assistant that asks.
  ///   - source: The source model: that of the store, or of a version on its path.
  ///   - destination: The destination model: the current one, or that of a version on the path.
  ///   - need: The obstacles, or the losses with their numbers of rows.
  /// - Returns: A mapping, or `nil`. With obstacles, `nil` stops the migration with
  ///   ``MigrationAssistantError/mappingNeeded(storePath:obstacles:skeleton:)``; with losses,
  ///   ``MigrationAssistant/Configuration/losses`` applies. For a path over several versions of a known order, the
  ///   delegate is first asked about each hop that needs it.
  /// - Throws: Any error, to stop the migration.
  func migrationAssistant(
    _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
    need: MappingNeed
  ) throws -> MappingModel?

  /// Called when no mapping can be inferred, before the delegate is asked for one.
  func migrationAssistant(
    _ assistant: MigrationAssistant, didFailToInferMappingFrom source: ManagedObjectModel,
    to destination: ManagedObjectModel, obstacles: [MappingObstacle])

  /// Asks the delegate whether to continue, with the losses and the blockers counted on the store.
  ///
  /// - Parameters:
  ///   - assistant: The assistant that asks.
  ///   - plan: The plan, made under the lock.
  /// - Returns: The decision; the default is ``MigrationDecision/automatic``.
  /// - Throws: Any error, to stop the migration.
  func migrationAssistant(_ assistant: MigrationAssistant, shouldMigrate plan: MigrationPlan) throws
    -> MigrationDecision

  /// Asks the delegate which model made a store that needs a migration, before any other source is used.
  ///
  /// Return a model only if the app knows more than the store and the history: the model of a version that the history
  /// doesn't have, or one of several versions with equal hashes, if the store's identifiers, its own copy and the
  /// snapshot don't distinguish them.
  ///
  /// - Parameters:
  ///   - assistant: The assistant that asks.
  ///   - metadata: The store's metadata.
  /// - Returns: A model, which is used if its version hashes equal the store's; `nil`, the default, to find it
  ///   otherwise.
  /// - Throws: Any error, to stop the migration.
  func migrationAssistant(
    _ assistant: MigrationAssistant, modelForStoreWith metadata: StoreMetadata
  ) throws -> ManagedObjectModel?

  /// Called for each event, for example to log or count it.
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
