import HeirloomMigration
import HeirloomModel
import HeirloomStore

/// An inspection of a database: its make-up and its numbers of rows.
final class DatabaseInspection {
  /// The file's settings.
  private(set) var database: DiagnosticsReport.Database
  /// The store's metadata; `nil` if they can't be read.
  private(set) var metadata: StoreMetadata?
  /// The statements that made the schema.
  private(set) var schema: [String] = []
  /// The objects by entity.
  private(set) var entities: [DiagnosticsReport.Entity] = []
  /// The rows by table.
  private(set) var tables: [DiagnosticsReport.Table] = []
  /// The problems that reading met.
  private(set) var problems: [String] = []

  /// Inspects a database.
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
      // One transaction, since all of it belongs to one state.
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
      entities = try ObjectCounts(connection: connection, actual: actual).entities.map { entity in
        DiagnosticsReport.Entity(
          name: PlainText.line(entity.name, limit: 400), number: entity.number, superentity: entity.superentity,
          highestKey: entity.highestKey,
          rows: entity.rows)
      }
    } catch {
      problems.append("the list of entities: \(error.message)")
    }
    // Another program's code may stand behind a virtual table.
    tables = actual.tables.filter { !$0.isVirtual }.prefix(5000).map { table in
      let count = try? connection.rowCount(of: quote(table.name))
      let name = PlainText.line(table.name, limit: 400)
      if count == nil { problems.append("the table \(name) can't be read to the end") }
      return DiagnosticsReport.Table(name: name, rows: count)
    }
  }
}
