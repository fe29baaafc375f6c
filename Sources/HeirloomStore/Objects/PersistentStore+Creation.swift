import CHeirloomSQLite
package import Foundation
package import HeirloomModel

extension PersistentStore {
  /// In bytes.
  package static let pageSize: Int = 4096

  /// There must be no file yet; after an error, the unfinished file is removed.
  ///
  /// Version hashes always come from the model; without metadata, the store gets a new identifier.
  /// By default only its owner may read the file, because a folder's permissions don't imply those
  /// of its files; SQLite gives the side files the same bits.
  package static func create(
    at url: URL, model: ManagedObjectModel, configuration: String? = nil, metadata: StoreMetadata? = nil,
    permissions: UInt16 = 0o600
  ) throws(StoreError) -> PersistentStore {
    let path = url.path
    try checkConfiguration(configuration, of: model, path: path)
    // SQLite would delete a `-wal` without its store, or play a journal back into the new one.
    for suffix in ["-wal", "-journal"] where (DatabaseFile.size(of: path + suffix) ?? 0) > 0 {
      throw StoreError(path: path, problem: .straySideFile(path + suffix))
    }
    var metadata = metadata ?? StoreMetadata(model: model)
    metadata.adopt(model)
    metadata.deferredMigration = nil
    // The generation identifies a file, so a new file gets a new one.
    metadata.generation = StoreMetadata.newGeneration()
    let schema = PhysicalSchema(model: model, configuration: configuration)
    let connection: Connection
    do throws(SQLiteError) {
      connection = try Connection(path: path, mode: .createExclusively(permissions: permissions))
    } catch {
      let exists = DatabaseFile.size(of: path) != nil
      throw exists ? StoreError(path: path, problem: .alreadyExists) : StoreError(error, path: path)
    }
    do throws(SQLiteError) {
      // Both take effect only before the first table is created.
      try connection.execute("PRAGMA page_size = \(pageSize)")
      try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
      try prepare(connection, for: schema)
      try connection.transaction { () throws(SQLiteError) in
        for statement in schema.creationStatements { try connection.execute(statement) }
        try schema.writeEntities(to: connection)
        try metadata.write(to: connection)
        try StoreModelCache.write(model, to: connection)
      }
      try connection.execute("PRAGMA journal_mode = WAL")
    } catch {
      // The file is ours: it was created exclusively a moment ago.
      try? connection.close()
      for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
      throw StoreError(error, path: path)
    }
    return PersistentStore(
      url: url, schema: schema, configuration: configuration, metadata: metadata, isReadOnly: false,
      connection: connection)
  }
}

extension PhysicalSchema {
  /// Inside a transaction; `maxima` has the highest key in use by the name of the root entity.
  package func writeEntities(
    to connection: Connection, database: String = "main", maxima: [String: Int64] = [:]
  ) throws(SQLiteError) {
    let table = "\(quote(database)).\(quote(PhysicalName.primaryKeyTable))"
    try connection.execute("DELETE FROM \(table) WHERE \(quote(PhysicalName.entity)) <= ?1", [.integer(16_000)])
    let statement = try connection.prepare("INSERT INTO \(table) VALUES (?1, ?2, ?3, ?4)")
    for entity in entities {
      try statement.bind([
        .integer(Int64(entity.number)), .text(entity.name), .integer(Int64(entity.superentityNumber)),
        .integer(entity.superentityNumber == 0 ? maxima[entity.name] ?? 0 : 0),
      ])
      try statement.run()
    }
  }
}
