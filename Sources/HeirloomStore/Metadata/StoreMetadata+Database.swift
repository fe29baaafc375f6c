import Foundation
import HeirloomFormats

extension StoreMetadata {
  /// `path` is the store's file, for messages and to compare its size.
  package init(connection: Connection, database: String = "main", path: String) throws(StoreError) {
    var rows: [(identifier: String?, propertyList: [UInt8]?)] = []
    var expectedSize: Int64 = 0
    var size: Int64?
    do throws(SQLiteError) {
      // One statement is one transaction, so the sizes belong to the same state as the row.
      let statement = try connection.prepare(
        """
        SELECT m.\(quote(PhysicalName.uuid)), m.\(quote(PhysicalName.propertyList)), c.page_count * s.page_size
        FROM \(quote(database)).\(quote(PhysicalName.metadataTable)) AS m,
          pragma_page_count(?1) AS c, pragma_page_size(?1) AS s WHERE \(Self.isPlain(database)) LIMIT 2
        """)
      try statement.bind(database, at: 1)
      while try statement.step() {
        rows.append(
          (
            statement.storageClass(at: 0) == .text ? statement.text(at: 0) : nil,
            statement.storageClass(at: 1) == .blob ? statement.blob(at: 1) : nil
          ))
        expectedSize = statement.integer(at: 2)
        if size == nil { size = StoreReading.completeSize(of: path) }
      }
    } catch {
      throw StoreReading.error(error, connection: connection, database: database, path: path)
    }
    if let size, size < expectedSize {
      // SQLite rounds up to whole pages and doesn't notice that the last one is cut.
      throw StoreError(path: path, problem: .truncated(byteCount: size, expectedByteCount: expectedSize))
    }
    if rows.isEmpty, (try? connection.firstInteger("SELECT \(Self.isPlain(database))")) != 1 {
      throw StoreError(
        path: path,
        problem: .invalidMetadata(
          reason: "\(PhysicalName.metadataTable) is a view, virtual or computed; expected a plain table."))
    }
    guard rows.count == 1 else {
      let count = rows.isEmpty ? 0 : Self.rowCount(connection, database)
      throw StoreError(path: path, problem: .metadataRowCount(count))
    }
    guard let identifier = rows[0].identifier, !identifier.isEmpty else {
      throw StoreError(path: path, problem: .invalidMetadata(reason: "the store has no identifier."))
    }
    guard let propertyList = rows[0].propertyList else {
      throw StoreError(path: path, problem: .invalidMetadata(reason: "the property list is missing."))
    }
    try self.init(propertyList: propertyList, identifier: identifier, path: path)
  }

  /// SQLite checks first that the metadata are a plain table: reading others could run forever.
  private static func isPlain(_ database: String) -> String {
    "EXISTS (SELECT 1 FROM \(quote(database)).sqlite_schema WHERE name = \(quoteLiteral(PhysicalName.metadataTable))"
      + " AND type = 'table' AND rootpage > 0 AND sql NOT LIKE '%as%')"
  }

  private static func rowCount(_ connection: Connection, _ database: String) -> Int {
    let table = "\(quote(database)).\(quote(PhysicalName.metadataTable))"
    return (try? connection.rowCount(of: table)).flatMap { Int(exactly: $0) } ?? 2
  }

  /// The caller opens a transaction.
  package func write(to connection: Connection, database: String = "main") throws(SQLiteError) {
    let list: [UInt8]
    do throws(FormatError) {
      list = try propertyList()
    } catch {
      throw SQLiteError(extendedCode: StoreReading.misuseCode, message: error.description)
    }
    let table = "\(quote(database)).\(quote(PhysicalName.metadataTable))"
    // The row may have other programs' columns.
    try connection.execute(
      "UPDATE \(table) SET \(quote(PhysicalName.version)) = 1, \(quote(PhysicalName.uuid)) = ?1,"
        + " \(quote(PhysicalName.propertyList)) = ?2", [.text(identifier), .blob(list)])
    guard connection.changes == 0 else { return }
    try connection.execute(
      "INSERT INTO \(table) (\(quote(PhysicalName.version)), \(quote(PhysicalName.uuid)),"
        + " \(quote(PhysicalName.propertyList))) VALUES (1, ?1, ?2)",
      [.text(identifier), .blob(list)])
  }
}
