import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The stores and mappings of a run of entity mappings object by object.
final class RowRunSetting {
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
