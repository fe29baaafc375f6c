import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// What a plan worked out for the mappings that run object by object.
package struct RowRunParts: Hashable, Sendable {
  let source: PhysicalSchema
  let destination: PhysicalSchema
  /// Which mappings they are.
  let split: MappingSplit
  /// The keys of objects whose mappings run as SQL.
  let keys: KeyPlan
  /// The tables in which derived values follow from what code makes.
  let derivedTables: Set<String>
  /// Where objects are found that decisions removed.
  let removals: [RemovedObjects]
  /// What decisions do to the objects of these mappings.
  let decided: RowRunDecisions

  /// Plans are compared by what they do; this follows from the models and the mapping, which they hold.
  package static func == (left: RowRunParts, right: RowRunParts) -> Bool {
    left.split.byRow == right.split.byRow && left.source.model == right.source.model
      && left.destination.model == right.destination.model
  }

  /// Hashes the mappings.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(split.byRow)
  }
}

/// What a run of entity mappings object by object works on.
struct RowRunSetting {
  /// Holds the store and has the candidate attached.
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
    // Both are the same store for whoever names its objects and reads its external data.
    let metadata = try StoreMetadata(connection: connection, database: SchemaName.store, path: store.path)
    sourceStore = PersistentStore(
      viewing: connection, database: SchemaName.store, path: store.externalPath, schema: parts.source,
      metadata: metadata,
      isReadOnly: true)
    destinationStore = PersistentStore(
      viewing: connection, database: SchemaName.candidate, path: store.externalPath, schema: parts.destination,
      metadata: metadata)
  }

  /// Lets go of all statements, so that the candidate can be detached.
  func close() {
    try? sourceStore.close()
    try? destinationStore.close()
  }
}

/// What code did that no plan could tell.
struct RowRunOutcome {
  /// What became of each mapping's objects.
  let results: [EntityMappingResult]
  /// The objects of each entity of the destination that code may have made or removed, subentities left out.
  let objects: [String: Int64]
  /// The rows of each table that code wrote to.
  let rowCounts: [String: Int64]
  /// How often links were asked for to objects that decisions removed.
  let removedLinks: [RemovedLink: Int64]
}
