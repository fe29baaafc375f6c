import Foundation
import HeirloomStore
import HeirloomModel

/// Damage of a store that costs none of its rows: an index differs from its table, or the file's map of its pages is wrong.
///
/// A copy of the store's pages has it too. A new file, filled row by row, has not.
enum SpareDamage {
  /// Returns what SQLite finds wrong with a store, if its tables are whole.
  ///
  /// It reads the whole file, and compares each index with its table.
  ///
  /// - Parameter connection: The connection that holds the store.
  /// - Returns: A sentence for each index, and one for the map; none where nothing is wrong, or rows may be lost.
  static func findings(in connection: Connection) -> [String] {
    // The constraints of the app's tables are the app's own matter.
    guard (try? connection.execute("PRAGMA ignore_check_constraints = ON")) != nil,
      let rows = try? connection.rows("PRAGMA \(quote(SchemaName.store)).integrity_check(1000)")
    else { return [] }
    let lines = rows.compactMap { $0.first?.text }.flatMap { $0.components(separatedBy: "\n") }
      .filter { !$0.hasPrefix("***") && $0 != "ok" }
    var indexes: [String: Int] = [:]
    var ofMap: [String] = []
    for line in lines {
      // These are its words in all versions since 2007.
      if line.contains("ptr map entry") || line.contains("ptrmap") {
        ofMap.append(line)
      } else if let place = line.range(of: " index ") {
        indexes[String(line[place.upperBound...]), default: 0] += 1
      } else {
        return []
      }
    }
    var findings = indexes.keys.ordered().map { "the index \($0) differs from its table; it is made anew" }
    if let first = ofMap.first {
      findings.append(
        "the store's map of its pages is wrong, so its rows are copied into a new file, which has a right one (SQLite:"
          + " \(first))")
    }
    return findings
  }

  /// Returns the reason of an error about a damaged store with the tables whose pages can't all be read, if there are any.
  static func reason(_ reason: String, in connection: Connection) -> String {
    let tables = (try? ActualSchema(of: connection, database: SchemaName.store))?.tables ?? []
    let unreadable = tables.filter { table in
      do throws(SQLiteError) {
        // Each page of the table's tree is visited.
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

  private static let words = "rows can't be read of"
}
