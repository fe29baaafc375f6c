import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The stores and mappings of a run object by object.
final class RowRunSetting {
  /// The connection to the store, with the candidate attached.
  let connection: Connection
  let parts: RowRunParts
  /// All entity mappings.
  let mapping: MappingModel
  let mappingNames: Set<String>
  let sourceStore: PersistentStore
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
    // Code sees both as the same store when it names objects and reads external data.
    let metadata = try StoreMetadata(connection: connection, database: SchemaName.store, path: store.path)
    sourceStore = PersistentStore(
      viewing: connection, database: SchemaName.store, path: store.externalPath, schema: parts.source,
      metadata: metadata,
      isReadOnly: true)
    destinationStore = PersistentStore(
      viewing: connection, database: SchemaName.candidate, path: store.externalPath, schema: parts.destination,
      metadata: metadata)
  }

  /// Releases all statements, so the candidate can be detached.
  func close() {
    try? sourceStore.close()
    try? destinationStore.close()
  }
}
