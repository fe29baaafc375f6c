import Foundation
import Heirloom
import HeirloomOutput

struct StoreInspection {
  enum Origin: String {
    case snapshot
    case file
    case cache
    case none
  }

  struct Entity {
    let name: String
    var superentity: String?
    /// In the model, if one fits.
    var versionHash: VersionHash?
    var storedHash: VersionHash?
    /// Of exactly this entity, without subentities.
    var rows: Int64?
  }

  let path: String
  let metadata: StoreMetadata
  private(set) var model: ManagedObjectModel?
  private(set) var origin = Origin.none
  /// `nil` if the model isn't a known version.
  private(set) var versionName: String?
  /// Its entities are those that the store holds; `nil` for all entities.
  private(set) var configuration: String?
  private(set) var entities: [Entity] = []
  /// Left by a deferred migration to be cleaned up, one phrase each.
  private(set) var deferred: [String] = []
  /// The last commits are in the `-wal` file.
  let hasLog: Bool
  private(set) var notes: [String] = []
  /// Would stop a migration, as found in the rows.
  private(set) var contradiction: MigrationError?
  /// Some rows lack an entity number of their table, but can be of one entity only.
  private(set) var hasRowsWithoutNumber = false

  /// The likeliest first.
  typealias Known = ([String: VersionHash]) -> [VersionCandidate]

  init(at path: String, known: Known = { _ in [] }) throws(StoreError) {
    try StoreReading.checkLog(besideStoreAt: path)
    self = try StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
      try StoreInspection(connection: connection, path: path, known: known)
    }
  }

  private init(connection: Connection, path: String, known: Known) throws(StoreError) {
    self.path = path
    // One transaction, so metadata and counts are of the same state.
    try Self.converting(path) { () throws(SQLiteError) in try connection.execute("BEGIN") }
    metadata = try StoreMetadata(connection: connection, path: path)
    hasLog = !StoreReading.isComplete(path)
    find(known: known, connection: connection)
    let counts = try Self.converting(path) { () throws(SQLiteError) in
      if let model {
        let actual = try ActualSchema(of: connection)
        configuration = metadata.configuration(of: model, heldBy: actual) ?? nil
        let schema = PhysicalSchema(model: model, configuration: configuration, actual: actual)
        deferred = actual.pending(under: schema).items
        return try RowCounts(connection: connection, schema: schema, actual: actual)
      }
      deferred = metadata.deferredMigration?.items ?? []
      return try RowCounts(connection: connection)
    }
    notes += counts.notes
    (contradiction, hasRowsWithoutNumber) = (counts.contradiction, counts.hasRowsWithoutNumber)
    let hashes = model?.versionHashes() ?? [:]
    entities = metadata.versionHashes.keys.ordered().map { name in
      Entity(
        name: name, superentity: model?.entity(named: name)?.superentity ?? counts.superentities[name],
        versionHash: hashes[name], storedHash: metadata.versionHashes[name], rows: counts.rows[name])
    }
  }

  var rowCount: Int64 { entities.reduce(0) { $0 + ($1.rows ?? 0) } }

  var modelIsMissing: MigrationAssistantError { .noModel(storePath: path, nearest: []) }

  // MARK: Finding the model

  /// By the assistant's rules.
  private mutating func find(known: Known, connection: Connection) {
    let choice = VersionChoice(
      among: known(metadata.versionHashes), snapshot: fittingSnapshot(), identifiers: metadata.versionIdentifiers
    ) { (try? StoreModelCache.model(connection: connection, path: path))?.model }
    if let choice {
      (model, origin, versionName) = (choice.model, choice.isSnapshot ? .snapshot : .file, choice.name)
      if let doubt = choice.doubt { notes.append(doubt) }
    } else if let cached = cachedModel(connection) {
      (model, origin) = (cached, .cache)
    }
  }

  /// Beside the store, or in the folder of a previous version.
  private mutating func fittingSnapshot() -> ManagedObjectModel? {
    let url = URL(fileURLWithPath: path)
    let beside = url.deletingLastPathComponent().appendingPathComponent(StoreLocation.snapshotName)
    for controller in [ModelController(storeURL: url), ModelController(snapshotURL: beside)] {
      do {
        guard let snapshot = try controller.snapshot() else { continue }
        if fits(snapshot.model) { return snapshot.model }
        notes.append(
          "the snapshot \(controller.snapshotURL.path) is of another version than the store, and is ignored")
      } catch {
        notes.append("the snapshot can't be used: \(error)")
      }
    }
    return nil
  }

  private mutating func cachedModel(_ connection: Connection) -> ManagedObjectModel? {
    do throws(StoreError) {
      guard let read = try StoreModelCache.model(connection: connection, path: path) else { return nil }
      notes += read.warnings.map { "in the store's own model: \($0.description)" }
      if fits(read.model) { return read.model }
      let differing = metadata.differingEntities(from: read.model)
      let number = Int64(differing.count)
      notes.append(
        "the store's own copy of its model is of another version: \(counted(number, "entity"))"
          + " \(verb("differ", number)) (\(listText(differing)))")
    } catch {
      notes.append(error.description)
    }
    return nil
  }

  private func fits(_ model: ManagedObjectModel) -> Bool {
    ([nil] + model.configurations.map { Optional($0.name) }).contains { metadata.names(model, configuration: $0) }
  }

  private static func converting<Value>(
    _ path: String, _ body: () throws(SQLiteError) -> Value
  ) throws(StoreError) -> Value {
    do throws(SQLiteError) {
      return try body()
    } catch {
      throw StoreError(error, path: path)
    }
  }
}
