import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The statement that fills one table of entities from one source table, with the details of its columns.
struct TableTransfer {
  /// The table in the candidate.
  let table: String
  /// The table in the store.
  let sourceTable: String
  /// The entity numbers of the rows that are taken.
  let sourceNumbers: [Int]
  /// The entity numbers that these rows get, if the candidate's table has other rows; `nil` otherwise.
  let destinationNumbers: [Int]?
  /// The key that a row gets, over the source row `s`.
  let key: String
  /// The columns of the candidate's table with the expression that gives each.
  let columns: [(name: String, expression: ColumnExpression)]

  /// Returns the query of the source rows.
  ///
  /// - Parameter expressions: The result columns, over the source row `s`.
  /// - Returns: A `SELECT` of the rows that are taken.
  func select(_ expressions: [String]) -> String {
    let numbers = sourceNumbers.map(String.init).joined(separator: ", ")
    return "SELECT \(expressions.joined(separator: ", ")) FROM \(SchemaName.rows(of: sourceTable, as: "s"))"
      + " WHERE s.\(quote(PhysicalName.entity)) IN (\(numbers))"
  }

  /// The statement.
  var sql: String {
    let names = columns.map { quote($0.name) }.joined(separator: ", ")
    return "INSERT INTO \(quote(SchemaName.candidate)).\(quote(table)) (\(names)) "
      + select(columns.map(\.expression.sql)) + " ORDER BY s.\(quote(PhysicalName.primaryKey))"
  }

  /// Returns the transfer to a table with its columns in another order.
  func into(_ table: PhysicalTable) -> TableTransfer {
    let expressions = Dictionary(columns.map { ($0.name, $0.expression) }, uniquingKeysWith: { first, _ in first })
    return TableTransfer(
      table: table.name, sourceTable: sourceTable, sourceNumbers: sourceNumbers,
      destinationNumbers: destinationNumbers, key: key,
      columns: table.columns.map { ($0.name, expressions[$0.name] ?? .null) })
  }

  /// The columns whose values are not the stored ones, without bookkeeping.
  var rewrittenColumns: [(name: String, expression: ColumnExpression)] {
    columns.filter { !$0.expression.isVerbatim && $0.expression.sql != "NULL" }
  }
}

/// An expression for some entities of a table.
final class RoutedExpression {
  /// The route of the entity whose rows the expression serves.
  let route: EntityRoute
  /// The expression.
  let expression: ColumnExpression

  init(route: EntityRoute, expression: ColumnExpression) { (self.route, self.expression) = (route, expression) }
}

extension TableTransfer {
  /// Joins the expressions of several entities into one for the table's column.
  ///
  /// - Parameters:
  ///   - routed: One expression for each entity that has the column's property.
  ///   - tree: All entities of the table.
  ///   - isPrivate: True if the rows of the other entities hold NULL in the columns that the expressions read.
  /// - Returns: The table's expression.
  static func combine(_ routed: [RoutedExpression], in tree: TreeRoute, isPrivate: Bool) -> ColumnExpression {
    var groups: [(expression: ColumnExpression, numbers: [Int])] = []
    for entry in routed {
      if let index = groups.firstIndex(where: { $0.expression == entry.expression }) {
        groups[index].numbers.append(entry.route.sourceNumber)
      } else {
        groups.append((entry.expression, [entry.route.sourceNumber]))
      }
    }
    guard let first = groups.first else { return .null }
    let origins = Set(groups.filter { $0.expression != .null }.map(\.expression.origin))
    if groups.count == 1, routed.count == tree.routes.count || first.expression == .null { return first.expression }
    if groups.count == 1, isPrivate, first.expression.isVerbatim { return first.expression }
    func isOf(_ numbers: [Int]) -> String {
      "s.\(quote(PhysicalName.entity)) IN (\(numbers.map(String.init).joined(separator: ", ")))"
    }
    let cases = groups.filter { $0.expression != .null }.map { "WHEN \(isOf($0.numbers)) THEN \($0.expression.sql)" }
    func any(_ condition: KeyPath<ColumnExpression, String?>) -> String? {
      let parts = groups.compactMap { group in
        group.expression[keyPath: condition].map { "(\(isOf(group.numbers)) AND (\($0)))" }
      }
      return parts.isEmpty ? nil : parts.chained(by: "OR")
    }
    var combined = ColumnExpression(sql: "CASE " + cases.joined(separator: " ") + " END", isVerbatim: false)
      .from(origins.count == 1 ? origins.first ?? nil : nil)
    for (expression, numbers) in groups {
      for number in numbers { combined.byNumber[number] = expression }
    }
    (combined.change, combined.overflow) = (any(\.change), any(\.overflow))
    return combined
  }
}
