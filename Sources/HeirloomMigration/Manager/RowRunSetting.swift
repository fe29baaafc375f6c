import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The parts of a plan for the mappings that run object by object.
package struct RowRunParts: Hashable, Sendable {
  let source: PhysicalSchema
  let destination: PhysicalSchema
  /// The mappings, divided by how they run.
  let split: MappingSplit
  /// The keys of objects whose mappings run as SQL.
  let keys: KeyPlan
  /// The tables in which derived values follow from the objects that code makes.
  let derivedTables: Set<String>
  /// The places of objects that decisions removed.
  let removals: [RemovedObjects]
  /// The decisions about the objects of these mappings.
  let decided: RowRunDecisions

  /// Compares plans by what they do; the rest follows from the models and the mapping that they hold.
  package static func == (left: RowRunParts, right: RowRunParts) -> Bool {
    left.split.byRow == right.split.byRow && left.source.model == right.source.model
      && left.destination.model == right.destination.model
  }

  /// Hashes the mappings.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(split.byRow)
  }
}

/// The stores and mappings of a run of entity mappings object by object.
struct RowRunSetting {
  /// The connection to the store, with the candidate attached.
  let connection: Connection
  let parts: RowRunParts
  /// All entity mappings.
  let mapping: MappingModel
  /// The names of all entity mappings.
  let mappingNames: Set<String>
  /// The store's objects.
  let sourceStore: PersistentStore
  /// The candidate's objects.
  let destinationStore: PersistentStore

  var source: PhysicalSchema { parts.source }
  var destination: PhysicalSchema { parts.destination }
  var split: MappingSplit { parts.split }
  var keys: KeyPlan { parts.keys }

  init(
    parts: RowRunParts, mapping: MappingModel, store: RunStore
  ) throws {
    let connection = store.connection
    self.connection = connection
    self.parts = parts
    self.mapping = mapping
    mappingNames = Set(mapping.entityMappings.map(\.name))
    // Both are the same store for code that names its objects and reads its external data.
    let metadata = try StoreMetadata(connection: connection, database: SchemaName.store, path: store.path)
    sourceStore = PersistentStore(
      viewing: connection, database: SchemaName.store, path: store.externalPath, schema: parts.source,
      metadata: metadata,
      isReadOnly: true)
    destinationStore = PersistentStore(
      viewing: connection, database: SchemaName.candidate, path: store.externalPath, schema: parts.destination,
      metadata: metadata)
  }

  /// Releases all statements, so that the candidate can be detached.
  func close() {
    try? sourceStore.close()
    try? destinationStore.close()
  }
}

/// The outcome of code that no plan could foresee.
struct RowRunOutcome {
  /// The result of each mapping.
  let results: [EntityMappingResult]
  /// The number of objects of each destination entity that code may have made or removed, without those of subentities.
  let objects: [String: Int64]
  /// The number of rows of each table that code wrote to.
  let rowCounts: [String: Int64]
  /// The number of requests for links to objects that decisions removed.
  let removedLinks: [RemovedLink: Int64]
}
