import Foundation
import Heirloom
import HeirloomOutput

/// The inspection of a store: its metadata, the model that made it and the objects it holds.
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
    /// The hash in the model, if one fits.
    var versionHash: VersionHash?
    /// The hash in the metadata.
    var storedHash: VersionHash?
    /// The number of objects of exactly this entity, without subentities.
    var rows: Int64?
  }

  let path: String
  let metadata: StoreMetadata
  private(set) var model: ManagedObjectModel?
  private(set) var origin = Origin.none
  /// The version's name; `nil` if the model isn't a known version.
  private(set) var versionName: String?
  /// The configuration of the model whose entities the store holds; `nil` for all entities.
  private(set) var configuration: String?
  /// The entities, sorted by name.
  private(set) var entities: [Entity] = []
  /// The clean-up left by a deferred migration, one phrase each.
  private(set) var deferred: [String] = []
  /// True if the last commits are in the `-wal` file.
  let hasLog: Bool
  /// The irregularities, in sentences.
  private(set) var notes: [String] = []
  /// The error that would stop a migration, as found in the rows.
  private(set) var contradiction: MigrationError?
  /// True if some rows lack an entity number of their table, but can be of one entity only.
  private(set) var hasRowsWithoutNumber = false

  /// A function that returns the known versions with a store's hashes, the likeliest first.
  typealias Known = ([String: VersionHash]) -> [VersionCandidate]

  /// Inspects a store; `known` finds versions by the store's hashes.
  ///
  /// Throws `StoreError` for a file that isn't a readable store.
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

  /// The error if no model fits a store.
  var modelIsMissing: MigrationAssistantError { .noModel(storePath: path, nearest: []) }

  // MARK: Finding the model

  /// Finds the model by the assistant's rules.
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

  /// Returns the snapshot beside a store, or the one in the folder of a previous version, if it fits.
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

  /// True if the metadata fits the model or one of its configurations.
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
