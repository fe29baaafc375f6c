import Heirloom
import HeirloomMigration
import HeirloomModel
import HeirloomStore

final class DatabaseInspection {
  private(set) var database: DiagnosticsReport.Database
  private(set) var metadata: StoreMetadata?
  private(set) var schema: [String] = []
  private(set) var entities: [DiagnosticsReport.Entity] = []
  private(set) var tables: [DiagnosticsReport.Table] = []
  private(set) var problems: [String] = []

  /// Throws only if the schema can't be read; other failures become problems.
  init(_ connection: Connection, path: String) throws(StoreError) {
    func number(_ pragma: String) -> Int64? {
      try? connection.firstInteger("PRAGMA \(pragma)")
    }
    database = DiagnosticsReport.Database(
      journalMode: connection.headerJournalMode.rawValue, pageSize: number("page_size"),
      pages: number("page_count"), freePages: number("freelist_count"),
      encoding: (try? connection.firstValue("PRAGMA encoding"))?.text,
      userVersion: number("user_version"), autoVacuum: number("auto_vacuum"))
    let actual: ActualSchema
    do throws(SQLiteError) {
      // One transaction, to read everything in one state.
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
    // A virtual table may run another program's code.
    tables = actual.tables.filter { !$0.isVirtual }.prefix(5000).map { table in
      let count = try? connection.rowCount(of: quote(table.name))
      let name = PlainText.line(table.name, limit: 400)
      if count == nil { problems.append("the table \(name) can't be read to the end") }
      return DiagnosticsReport.Table(name: name, rows: count)
    }
  }
}
