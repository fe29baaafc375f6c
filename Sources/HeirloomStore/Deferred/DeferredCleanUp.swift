/// Each piece is one ordinary transaction that also changes the list in the metadata.
struct DeferredCleanUp {
  let store: PersistentStore

  static let rowsPerPiece: Int64 = 5_000
  /// Estimated from the table's first 20 rows; a single row may be larger.
  static let bytesPerPiece: Int64 = 16 << 20
  static let pagesPerPiece: Int64 = 1_000

  private var connection: Connection { store.connection }

  /// Returns true if more is left; if it throws, nothing was done.
  func runPiece() throws(DeferredMigrationError) -> Bool {
    var pending = DeferredMigration()
    do {
      // Reading needs no lock; the transaction reads again what it acts on.
      guard try metadata().hasDeferredMigration else { return false }
      pending = try left().pending
      guard !store.isReadOnly, !store.isView else { throw failure(.readOnly, pending) }
      guard !connection.isInTransaction else { throw failure(.inUse, pending) }
      // SQLite truncates the file after it has deleted the journal. If a power failure keeps the truncation but not the
      // deletion, the journal lacks the truncated pages. `EXTRA` has the deletion on the disk first.
      let level = try connection.firstInteger("PRAGMA synchronous") ?? 2
      try connection.execute("PRAGMA synchronous = EXTRA")
      defer { try? connection.execute("PRAGMA synchronous = \(level)") }
      // No trigger watches what is removed.
      try connection.setRunsTriggers(false)
      defer { try? connection.setRunsTriggers(true) }
      try connection.execute("BEGIN IMMEDIATE")
      do {
        let (isMore, metadata) = try runPieceInTransaction(&pending)
        try connection.execute("COMMIT")
        if let metadata { store.metadata = metadata }
        return isMore
      } catch {
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        throw error
      }
    } catch let error as DeferredMigrationError {
      throw error
    } catch let error as StoreError {
      throw failure(error.problem == .inUse ? .inUse : .store(error), pending)
    } catch let error as SQLiteError {
      throw failure(error.isBusy ? .inUse : .store(StoreError(error, path: store.path)), pending)
    } catch {
      let problem = StoreError.Problem.database(code: 1, message: "\(error)")
      throw failure(.store(StoreError(path: store.path, problem: problem)), pending)
    }
  }

  private func failure(
    _ problem: DeferredMigrationError.Problem, _ pending: DeferredMigration
  ) -> DeferredMigrationError {
    DeferredMigrationError(path: store.path, pending: pending, problem: problem)
  }

  private func metadata() throws(StoreError) -> StoreMetadata {
    try StoreMetadata(connection: connection, path: store.path)
  }

  private func left() throws(SQLiteError) -> (pending: DeferredMigration, actual: ActualSchema) {
    let actual = try ActualSchema(of: connection)
    return (actual.pending(under: store.schema), actual)
  }

  /// The caller rolls back on an error; `metadata` is `nil` if it didn't change.
  private func runPieceInTransaction(
    _ pending: inout DeferredMigration
  ) throws -> (isMore: Bool, metadata: StoreMetadata?) {
    var metadata = try metadata()
    guard metadata.isCompatible(with: store.model, configuration: store.configuration) else {
      throw failure(.otherVersion, pending)
    }
    guard metadata.hasDeferredMigration else { return (false, metadata) }
    guard metadata.deferredMigration != nil else { throw failure(.unlisted, pending) }
    let actual: ActualSchema
    (pending, actual) = try left()
    let rest = try run(pending, actual)
    guard rest != metadata.deferredMigration else { return (true, nil) }
    metadata.deferredMigration = rest.isEmpty ? nil : rest
    try metadata.write(to: connection)
    return (!rest.isEmpty, metadata)
  }

  private func run(_ pending: DeferredMigration, _ actual: ActualSchema) throws -> DeferredMigration {
    var rest = pending
    if let name = pending.missingIndexes.first {
      if let index = store.schema.indexes.first(where: { $0.name == name }) { try connection.execute(index.sql) }
      rest.missingIndexes.removeFirst()
    } else if let name = pending.unusedIndexes.first {
      try connection.execute("DROP INDEX \(quote(name))")
      rest.unusedIndexes.removeFirst()
    } else if let table = pending.tables.first {
      if try removeRows(of: table, actual) { rest.tables.removeFirst() }
    } else if let table = pending.columns.keys.min(), let column = pending.columns[table]?.first {
      try drop(column, of: table, actual, pending)
      rest.columns[table]?.removeFirst()
      if rest.columns[table]?.isEmpty == true { rest.columns[table] = nil }
    } else if pending.releasesPages {
      rest.releasesPages = try !releasePages()
    }
    return rest
  }

  /// Returns true once the table is dropped.
  private func removeRows(of table: String, _ actual: ActualSchema) throws(SQLiteError) -> Bool {
    // The table's indexes are dropped first, because each row would be looked up in them.
    if let index = actual.objects.first(where: { $0.kind == .index && $0.table == table && $0.sql != nil }) {
      try connection.execute("DROP INDEX \(quote(index.name))")
      return false
    }
    let columns = actual.table(named: table)?.columns ?? []
    // Without a row number, some rows can't be selected for deletion, so the table is dropped whole.
    guard let number = connection.rowNumber(of: table, columns) else {
      try connection.execute("DROP TABLE \(quote(table))")
      return true
    }
    let lengths = columns.map { "COALESCE(LENGTH(t.\(quote($0.name))), 1)" }.chained(by: "+")
    let size =
      try connection.firstInteger(
        "SELECT CAST(AVG(\(lengths.isEmpty ? "1" : lengths)) AS INTEGER) FROM (SELECT * FROM \(quote(table)) LIMIT 20) AS t"
      ) ?? 1
    let count = max(1, min(Self.rowsPerPiece, Self.bytesPerPiece / max(1, size)))
    try connection.execute(
      "DELETE FROM \(quote(table)) WHERE \(number) IN (SELECT \(number) FROM \(quote(table)) ORDER BY 1 LIMIT ?1)",
      [.integer(count)])
    guard try connection.firstInteger("SELECT 1 FROM \(quote(table)) LIMIT 1") == nil else { return false }
    try connection.execute("DROP TABLE \(quote(table))")
    return true
  }

  /// SQLite rewrites all rows of the table.
  private func drop(
    _ column: String, of table: String, _ actual: ActualSchema, _ pending: DeferredMigration
  ) throws {
    let name = "\(table).\(column)"
    for object in actual.objects where object.table == table && object.sql != nil {
      // An index would make the statement fail, and a trigger would make every save fail.
      guard object.speaks(ofColumn: column) else { continue }
      throw failure(.usedByApp(object: object.name, column: name), pending)
    }
    // Otherwise, a view of the app that lost its table long ago would make the statement fail.
    try connection.execute("PRAGMA legacy_alter_table = ON")
    defer { try? connection.execute("PRAGMA legacy_alter_table = OFF") }
    try connection.execute("ALTER TABLE \(quote(table)) DROP COLUMN \(quote(column))")
  }

  private func releasePages() throws(SQLiteError) -> Bool {
    guard try connection.firstInteger("PRAGMA auto_vacuum") == 2 else { return true }
    try connection.execute("PRAGMA incremental_vacuum(\(Self.pagesPerPiece))")
    return try connection.firstInteger("PRAGMA freelist_count") == 0
  }
}
