import HeirloomMigration
import HeirloomModel
import HeirloomStore

/// What a database is made of, and how many rows it has.
struct DatabaseLook {
  /// The file's settings.
  private(set) var database: DiagnosticsReport.Database
  /// What the store says of itself; `nil` if it can't be read.
  private(set) var metadata: StoreMetadata?
  /// The statements that made the schema.
  private(set) var schema: [String] = []
  /// The objects by entity.
  private(set) var entities: [DiagnosticsReport.Entity] = []
  /// The rows by table.
  private(set) var tables: [DiagnosticsReport.Table] = []
  /// What could not be read.
  private(set) var problems: [String] = []

  /// Looks at a database.
  ///
  /// - Parameters:
  ///   - connection: The database.
  ///   - path: The store's file.
  /// - Throws: `StoreError` if not even its schema can be read.
  init(_ connection: Connection, path: String) throws(StoreError) {
    func number(_ pragma: String) -> Int64? {
      try? connection.firstInteger("PRAGMA \(pragma)")
    }
    database = DiagnosticsReport.Database(
      journalMode: connection.hasWALHeader ? "wal" : "rollback", pageSize: number("page_size"),
      pages: number("page_count"), freePages: number("freelist_count"),
      encoding: (try? connection.firstValue("PRAGMA encoding"))?.text,
      userVersion: number("user_version"), autoVacuum: number("auto_vacuum"))
    let actual: ActualSchema
    do throws(SQLiteError) {
      // All of it belongs to one state.
      try connection.execute("BEGIN")
      actual = try ActualSchema(of: connection)
    } catch {
      throw StoreError(error, path: path)
    }
    do throws(StoreError) {
      metadata = try StoreMetadata(connection: connection, path: path)
    } catch {
      problems.append("the metadata: \(error.description)")
    }
    schema = actual.objects.compactMap { $0.sql.map(SQLListing.text) }
    do throws(SQLiteError) {
      entities = try StoreCensus(connection: connection, actual: actual).entities.map { entity in
        DiagnosticsReport.Entity(
          name: PlainText.line(entity.name, limit: 400), number: entity.number, superentity: entity.superentity,
          highestKey: entity.highestKey,
          rows: entity.rows)
      }
    } catch {
      problems.append("the list of entities: \(error.message)")
    }
    // What stands behind a virtual table is another program's code.
    tables = actual.tables.filter { !$0.isVirtual }.prefix(5000).map { table in
      let count = try? connection.rowCount(of: quote(table.name))
      let name = PlainText.line(table.name, limit: 400)
      if count == nil { problems.append("the table \(name) can't be read to the end") }
      return DiagnosticsReport.Table(name: name, rows: count)
    }
  }
}
