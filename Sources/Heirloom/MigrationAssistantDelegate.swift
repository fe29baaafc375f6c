public import HeirloomMapping
public import HeirloomModel
public import HeirloomMigration
public import HeirloomStore

/// What an app says when a migration needs more than inference, and what it is told.
///
/// Every method has a default, is called on the thread that called the assistant (which ``MigrationAssistant/migrateStore(with:)``
/// has of its own), and may throw to stop the migration: the store is then as it was.
public protocol MigrationAssistantDelegate: AnyObject {
  /// Asked for a mapping, when inference found obstacles, or when what it found would lose values, links or objects that are there
  /// and nobody consented to that.
  ///
  /// What the mapping leaves open is inferred: say only what could not be.
  ///
  /// - Parameters:
  ///   - assistant: The assistant that asks.
  ///   - source: The model that made the store.
  ///   - destination: The model that the store is to have.
  ///   - need: The obstacles, or the losses with how many rows lose something.
  /// - Returns: A mapping; or `nil`: with obstacles, to stop with ``MigrationAssistantError/mappingNeeded(storePath:obstacles:skeleton:)``,
  ///   with losses, to go on as ``MigrationAssistant/Configuration/losses`` says. For a way over several versions of a known order,
  ///   it is then asked about each step that needs it.
  /// - Throws: Whatever is to stop the migration.
  func migrationAssistant(
    _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
    need: MappingNeed
  ) throws -> MappingModel?

  /// Told that no mapping can be inferred, before it is asked for one.
  func migrationAssistant(
    _ assistant: MigrationAssistant, didFailToInferMappingFrom source: ManagedObjectModel,
    to destination: ManagedObjectModel, obstacles: [MappingObstacle])

  /// Asked whether to go on, with what will be lost and what stands in the way, counted on the store.
  ///
  /// - Parameters:
  ///   - assistant: The assistant that asks.
  ///   - plan: The plan, made under the lock.
  /// - Returns: The decision; the default is ``MigrationDecision/automatic``.
  /// - Throws: Whatever is to stop the migration.
  func migrationAssistant(_ assistant: MigrationAssistant, shouldMigrate plan: MigrationPlan) throws
    -> MigrationDecision

  /// Asked which model made a store that is to be migrated, before anything else is believed.
  ///
  /// Only what the app knows better is worth saying: of versions with equal hashes the one that the store's identifiers, its own
  /// copy and the snapshot don't tell, or the model of a version that the history doesn't have.
  ///
  /// - Parameters:
  ///   - assistant: The assistant that asks.
  ///   - metadata: What the store says of itself.
  /// - Returns: A model, which is used if its version hashes equal the store's; `nil`, which is the default, to find it otherwise.
  /// - Throws: Whatever is to stop the migration.
  func migrationAssistant(
    _ assistant: MigrationAssistant, modelForStoreWith metadata: StoreMetadata
  ) throws -> ManagedObjectModel?

  /// Told of each thing that happens: what an app logs or counts.
  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent)
}

extension MigrationAssistantDelegate {
  /// Gives no mapping.
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

  /// Knows no model.
  public func migrationAssistant(
    _ assistant: MigrationAssistant, modelForStoreWith metadata: StoreMetadata
  ) throws -> ManagedObjectModel? { nil }

  /// Does nothing.
  public func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {}
}

/// What a delegate decides about a plan.
@nonexhaustive
public enum MigrationDecision: Hashable, Sendable {
  /// Go on, unless the store is of an unknown version and would lose something, or ``MigrationAssistant/Configuration/losses`` says
  /// to stop.
  case automatic
  /// Go on and consent to the losses, even of a store of an unknown or newer version.
  case proceed
  /// Go on as ``proceed`` does, with choices for rows that don't fit: the plan is made again with them and carried out.
  case decide([DataDecision])
  /// Don't migrate; the store stays as it is.
  case refuse
}
