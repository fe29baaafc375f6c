package import Foundation
package import HeirloomFormats
package import HeirloomModel

/// A store without a copy is complete: Core Data writes it when it opens one with a changed model.
package enum StoreModelCache {
  /// The model is the store's own only if its hashes are those of the metadata.
  ///
  /// Ask ``StoreMetadata/isCompatible(with:configuration:)``. `nil` if the store holds none.
  package static func model(inStoreAt url: URL) throws(StoreError) -> ManagedObjectModel? {
    try StoreReading.withQuietConnection(toStoreAt: url.path) { connection throws(StoreError) in
      try model(connection: connection, path: url.path)?.model
    }
  }

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

  /// Inside a transaction; if the model can't be archived, the table is left empty.
  @discardableResult
  package static func write(
    _ model: ManagedObjectModel, to connection: Connection, database: String = "main"
  ) throws(SQLiteError) -> Bool {
    let table = "\(quote(database)).\(quote(PhysicalName.modelCacheTable))"
    try connection.execute("DELETE FROM \(table)")
    guard let content = try? ModelArchiveWriter.cache(model) else { return false }
    try connection.execute("INSERT INTO \(table) (\(quote(PhysicalName.content))) VALUES (?1)", [.blob(content)])
    return true
  }
}
