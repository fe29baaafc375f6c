import Foundation
import HeirloomModel
import HeirloomStore

/// The code of a custom stage, ready to run on a copy of the store.
package struct StageHandler {
  let manager: StagedMigrationManager
  let stage: CustomMigrationStage
  package let kind: StageHandlerKind

  /// `nil` if the stage has no such code.
  package init?(_ kind: StageHandlerKind, of stage: CustomMigrationStage, manager: StagedMigrationManager) {
    guard (kind == .willMigrate ? stage.willMigrateHandler : stage.didMigrateHandler) != nil else { return nil }
    self.manager = manager
    self.stage = stage
    self.kind = kind
  }

  package var stageName: String { manager.stageName(of: stage) }

  /// The file at `path` must be private: it is discarded after a failure.
  ///
  /// External data are read from the folder beside `externalPath`, the path of the original store.
  /// Returns the number of objects of each entity, without those of subentities. An error of the
  /// code is thrown as ``MigrationError/stageFailed(_:)``.
  func run(
    onStoreAt path: String, externalPath: String, model: ManagedObjectModel, progress: Progress?
  ) throws -> [String: Int64] {
    try Self.change(storeAt: path, externalPath: externalPath, model: model, progress: progress) { view in
      try call(with: ManagedObjectContext(store: view), progress: progress)
    }
  }

  /// Changes the objects of a file, as ``run(onStoreAt:externalPath:model:progress:)`` does.
  static func change(
    storeAt path: String, externalPath: String, model: ManagedObjectModel, progress: Progress?,
    _ body: (PersistentStore) throws -> Void
  ) throws -> [String: Int64] {
    let connection = try Connection(path: path, mode: .readWrite)
    // A failed save is rolled back in memory, and the file isn't used after a power loss.
    try connection.execute("PRAGMA journal_mode = MEMORY")
    try connection.execute("PRAGMA synchronous = OFF")
    if let progress { try connection.interrupt(every: 10_000) { progress.isCancelled } }
    let actual = try ActualSchema(of: connection)
    let metadata = try StoreMetadata(connection: connection, path: path)
    let schema = PhysicalSchema(
      model: model, configuration: metadata.configuration(of: model, heldBy: actual) ?? nil, actual: actual)
    try PersistentStore.prepare(connection, for: schema)
    let view = PersistentStore(
      viewing: connection, database: SchemaName.store, path: externalPath, schema: schema, metadata: metadata)
    try body(view)
    try connection.removeInterruption()
    let counts = try StoreCounts(connection: connection, schema: schema)
    try view.close()
    try connection.close()
    return counts.byEntity
  }

  private func call(with context: ManagedObjectContext, progress: Progress?) throws {
    let handler = kind == .willMigrate ? stage.willMigrateHandler : stage.didMigrateHandler
    do {
      try withAutoreleasePool { try handler?(context) }
      try context.throwDeferredError()
      if context.hasChanges { throw StageHandlerError.unsavedChanges }
    } catch {
      if progress?.isCancelled == true { throw MigrationError.cancelled }
      let misplaced = misplacedUse(error, model: context.store.model)
      throw MigrationError.stageFailed(StageFailure(stage: stageName, handler: kind, underlying: misplaced ?? error))
    }
    guard progress?.isCancelled != true else { throw MigrationError.cancelled }
  }

  /// For code that used what only the stage's other model has; `model` is the one that the code
  /// sees.
  private func misplacedUse(_ error: any Error, model: ManagedObjectModel) -> StageHandlerError? {
    let isBefore = kind == .willMigrate
    let (seen, other) = isBefore ? (stage.currentModel, stage.nextModel) : (stage.nextModel, stage.currentModel)
    let subject: String
    let isThere: (ManagedObjectModel) -> Bool
    switch error {
    case ManagedObjectError.unknownEntity(let entity, _), FetchError.unknownEntity(let entity, _),
      FetchError.object(.unknownEntity(let entity, _)):
      subject = "entity \"\(entity)\""
      isThere = { $0.entity(named: entity) != nil }
    case ManagedObjectError.unknownProperty(let entity, let property, _),
      FetchError.unknownProperty(let entity, let property, _),
      FetchError.object(.unknownProperty(let entity, let property, _)):
      subject = "property \"\(entity).\(property)\""
      isThere = { $0.nearestProperty(to: property, of: entity) == property }
    default:
      return nil
    }
    guard !isThere(model), let model = try? other.resolvedModel(), isThere(model) else { return nil }
    return .ofOtherVersion(subject, handler: kind, model: seen.description)
  }
}
