import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The statement that fills an entity table from one source table.
struct TableTransfer {
  let table: String
  let sourceTable: String
  let sourceNumbers: [Int]
  /// `nil` if the candidate's table has no other rows.
  let destinationNumbers: [Int]?
  /// In the destination, over the source row `s`.
  let key: String
  let columns: [(name: String, entry: CellEntry)]

  /// Each source row is named `s` in the expressions.
  func select(_ expressions: [String]) -> String {
    let numbers = sourceNumbers.map(String.init).joined(separator: ", ")
    return "SELECT \(expressions.joined(separator: ", ")) FROM \(SchemaName.rows(of: sourceTable, as: "s"))"
      + " WHERE s.\(quote(PhysicalName.entity)) IN (\(numbers))"
  }

  var sql: String {
    let names = columns.map { quote($0.name) }.joined(separator: ", ")
    return "INSERT INTO \(quote(SchemaName.candidate)).\(quote(table)) (\(names)) "
      + select(columns.map(\.entry.sql)) + " ORDER BY s.\(quote(PhysicalName.primaryKey))"
  }

  func into(_ table: PhysicalTable) -> TableTransfer {
    let entries = Dictionary(columns.map { ($0.name, $0.entry) }, uniquingKeysWith: { first, _ in first })
    return TableTransfer(
      table: table.name, sourceTable: sourceTable, sourceNumbers: sourceNumbers,
      destinationNumbers: destinationNumbers, key: key,
      columns: table.columns.map { ($0.name, entries[$0.name] ?? .null) })
  }

  var rewrittenColumns: [(name: String, entry: CellEntry)] {
    columns.filter { !$0.entry.isVerbatim && $0.entry.sql != "NULL" }
  }
}

final class RoutedEntry {
  let route: EntityRoute
  let entry: CellEntry

  init(route: EntityRoute, entry: CellEntry) { (self.route, self.entry) = (route, entry) }
}

extension TableTransfer {
  /// With `isPrivate`, all other entities' rows have NULL in the columns that the entries read.
  static func combine(_ routed: [RoutedEntry], in tree: TreeRoute, isPrivate: Bool) -> CellEntry {
    var groups: [(entry: CellEntry, numbers: [Int])] = []
    for part in routed {
      if let index = groups.firstIndex(where: { $0.entry == part.entry }) {
        groups[index].numbers.append(part.route.sourceNumber)
      } else {
        groups.append((part.entry, [part.route.sourceNumber]))
      }
    }
    guard let first = groups.first else { return .null }
    let origins = Set(groups.filter { $0.entry != .null }.map(\.entry.origin))
    if groups.count == 1, routed.count == tree.routes.count || first.entry == .null { return first.entry }
    if groups.count == 1, isPrivate, first.entry.isVerbatim { return first.entry }
    func isOf(_ numbers: [Int]) -> String {
      "s.\(quote(PhysicalName.entity)) IN (\(numbers.map(String.init).joined(separator: ", ")))"
    }
    let cases = groups.filter { $0.entry != .null }.map { "WHEN \(isOf($0.numbers)) THEN \($0.entry.sql)" }
    func any(_ condition: KeyPath<CellEntry, String?>) -> String? {
      let parts = groups.compactMap { group in
        group.entry[keyPath: condition].map { "(\(isOf(group.numbers)) AND (\($0)))" }
      }
      return parts.isEmpty ? nil : parts.chained(by: "OR")
    }
    var combined = CellEntry(sql: "CASE " + cases.joined(separator: " ") + " END", isVerbatim: false)
      .from(origins.count == 1 ? origins.first ?? nil : nil)
    for (entry, numbers) in groups {
      for number in numbers { combined.byNumber[number] = entry }
    }
    (combined.change, combined.overflow) = (any(\.change), any(\.overflow))
    return combined
  }
}
