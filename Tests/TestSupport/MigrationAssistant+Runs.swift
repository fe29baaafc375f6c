package import Foundation
package import Heirloom
package import Testing

extension MigrationAssistant {
  /// The assistant of most tests, and of most apps: the snapshot of the model is beside the store.
  package convenience init(
    _ url: URL, _ history: ModelHistory, _ configuration: Configuration = Configuration(),
    files: any FileOperations = POSIXFileOperations(), builder: BuilderChoice = .automatic,
    vaultConfiguration: VaultConfiguration = VaultConfiguration()
  ) {
    self.init(
      storeURL: url, modelController: ModelController(storeURL: url), history: history, configuration: configuration,
      files: files, builder: builder, vaultConfiguration: vaultConfiguration)
  }

  /// That of an app whose history is two versions, of which "1" is the first.
  package convenience init(
    _ url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel,
    _ configuration: Configuration = Configuration(), builder: BuilderChoice = .automatic,
    vaultConfiguration: VaultConfiguration = VaultConfiguration()
  ) {
    self.init(
      url, ModelHistory(current: destination, earlier: [("1", source)]), configuration, builder: builder,
      vaultConfiguration: vaultConfiguration)
  }

  /// Requires that the store is migrated.
  @discardableResult
  package func migrate(sourceLocation: SourceLocation = #_sourceLocation) throws -> MigrationReport {
    let outcome = try migrateStore()
    return try #require(outcome.report, "\(outcome)", sourceLocation: sourceLocation)
  }

  /// Requires that the store is current.
  package func requireNothingToDo(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let outcome = try migrateStore()
    let isCurrent = if case .upToDate = outcome { true } else { false }
    try #require(isCurrent, "\(outcome)", sourceLocation: sourceLocation)
  }
}

extension MigrationOutcome {
  /// `nil` unless the store was migrated.
  package var report: MigrationReport? { if case .migrated(let report) = self { report } else { nil } }
}

extension MigrationAssistant.Configuration {
  /// The usual one but for what is given.
  package init(
    mappings: [MappingModel]? = nil, decisions: [DataDecision]? = nil, losses: LossPolicy? = nil,
    incompatibleStore: IncompatibleStorePolicy? = nil, storeTimeout: Duration? = nil,
    defersLightweightMigration: Bool? = nil, keptVersions: Int? = nil
  ) {
    self.init()
    if let mappings { self.mappings = mappings }
    if let decisions { self.decisions = decisions }
    if let losses { self.losses = losses }
    if let incompatibleStore { self.incompatibleStore = incompatibleStore }
    if let storeTimeout { self.storeTimeout = storeTimeout }
    if let defersLightweightMigration { self.defersLightweightMigration = defersLightweightMigration }
    if let keptVersions { self.keptVersions = keptVersions }
  }
}
