import Foundation
import HeirloomStore
import HeirloomModel

/// Damage that costs no rows: an index differs from its table, or the file's pointer map is wrong.
///
/// A copy of the store's pages has it too, but not a new file that is filled row by row.
enum RepairableDamage {
  /// Reads the whole file; the result is empty if SQLite finds nothing, or if rows may be lost.
  static func findings(in connection: Connection) -> [String] {
    // Constraints of the app's tables are up to the app.
    guard (try? connection.execute("PRAGMA ignore_check_constraints = ON")) != nil,
      let rows = try? connection.rows("PRAGMA \(quote(SchemaName.store)).integrity_check(1000)")
    else { return [] }
    let lines = rows.compactMap { $0.first?.text }.flatMap { $0.components(separatedBy: "\n") }
      .filter { !$0.hasPrefix("***") && $0 != "ok" }
    var indexes: [String: Int] = [:]
    var ofMap: [String] = []
    for line in lines {
      // SQLite has used these messages since 2007.
      if line.contains("ptr map entry") || line.contains("ptrmap") {
        ofMap.append(line)
      } else if let place = line.range(of: " index ") {
        indexes[String(line[place.upperBound...]), default: 0] += 1
      } else {
        return []
      }
    }
    var findings = indexes.keys.ordered().map { "the index \($0) differs from its table; it is rebuilt" }
    if let first = ofMap.first {
      findings.append(
        "the store's pointer map is wrong, so its rows are copied to a new file (SQLite: \(first))")
    }
    return findings
  }

  /// Names the tables whose pages can't all be read.
  static func reason(_ reason: String, in connection: Connection) -> String {
    let tables = (try? ActualSchema(of: connection, database: SchemaName.store))?.tables ?? []
    let unreadable = tables.filter { table in
      do throws(SQLiteError) {
        // This visits each page of the table's tree.
        if !table.isVirtual { _ = try connection.rowCount(of: SchemaName.rows(of: table.name)) }
        return false
      } catch {
        return error.isCorrupt
      }
    }.map(\.name)
    // The reason of an error that was wrapped before has them already.
    guard !unreadable.isEmpty, !reason.hasPrefix(words) else { return reason }
    return "\(words) \(unreadable.joined(separator: ", ")); \(reason)"
  }

  private static let words = "rows can't be read from"
}
