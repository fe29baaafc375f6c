package import Foundation
package import HeirloomFormats
package import HeirloomModel

/// The copy of its model that a store holds.
///
/// Core Data writes it whenever it opens a store with a changed model. It is a cache: a store without one is complete.
package enum StoreModelCache {
  /// Reads the model from a store without changing it; `nil` if the store holds none.
  ///
  /// It is the store's own only if its hashes are those of the metadata: ask
  /// ``StoreMetadata/isCompatible(with:configuration:)``. Throws ``StoreError`` if the store can't be read or the copy
  /// is damaged.
  package static func model(inStoreAt url: URL) throws(StoreError) -> ManagedObjectModel? {
    try StoreReading.withQuietConnection(toStoreAt: url.path) { connection throws(StoreError) in
      try model(connection: connection, path: url.path)?.model
    }
  }

  /// Reads the model from an open database; `nil` if there is none.
  ///
  /// Throws ``StoreError`` if the database can't be read or the copy is damaged; `path` is for messages.
  package static func model(
    connection: Connection, database: String = "main", path: String
  ) throws(StoreError) -> ReadModel? {
    let content: [UInt8]
    do throws(SQLiteError) {
      let schema = "\(quote(database)).sqlite_schema"
      // Only a real column of a real table is read: a view or a computed column would be evaluated.
      let exists = try connection.firstInteger(
        "SELECT COUNT(*) FROM \(schema) AS s, pragma_table_xinfo(s.name, ?2) AS c WHERE s.type = 'table' AND s.name = ?1"
          + " AND s.rootpage > 0 AND c.name = ?3 AND c.hidden = 0",
        [.text(PhysicalName.modelCacheTable), .text(database), .text(PhysicalName.content)])
      guard exists == 1 else { return nil }
      let table = "\(quote(database)).\(quote(PhysicalName.modelCacheTable))"
      let value = try connection.firstValue("SELECT \(quote(PhysicalName.content)) FROM \(table) LIMIT 1")
      guard let bytes = value?.blob, !bytes.isEmpty else { return nil }
      content = bytes
    } catch {
      throw StoreError(error, path: path)
    }
    do throws(ModelReadingError) {
      return try ModelArchiveReader.readCache(content)
    } catch {
      throw StoreError(path: path, problem: .invalidModelCache(reason: error.description))
    }
  }

  /// Writes the model as the only row, inside a transaction; the table must exist.
  ///
  /// If the model can't be archived, this leaves the table empty and returns false.
  @discardableResult
  package static func write(
    _ model: ManagedObjectModel, to connection: Connection, database: String = "main"
  ) throws(SQLiteError) -> Bool {
    let table = "\(quote(database)).\(quote(PhysicalName.modelCacheTable))"
    try connection.execute("DELETE FROM \(table)")
    // It is a cache: a store without it is complete, and Core Data writes it when it next opens the store.
    guard let content = try? ModelArchiveWriter.cache(model) else { return false }
    try connection.execute("INSERT INTO \(table) (\(quote(PhysicalName.content))) VALUES (?1)", [.blob(content)])
    return true
  }
}
