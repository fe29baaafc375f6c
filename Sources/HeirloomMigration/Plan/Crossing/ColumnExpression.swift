import HeirloomStore
import HeirloomModel

/// An SQL expression for a column of the candidate.
package struct ColumnExpression: Hashable {
  /// The expression, over the source row `s`.
  package let sql: String
  /// True when the stored value is taken over as it is.
  package let isVerbatim: Bool
  /// The source column that holds the value, changed or not; `nil` for a value from elsewhere.
  package var origin: String?
  /// The source columns that an expression of a mapping reads.
  var read: Set<String> = []
  /// The source columns that the expression reads in some rows only; `nil` if it reads the same ones in all.
  var partlyRead: PartialReading?
  /// The expressions that give the values of rows, by the number of their entity; empty if one gives all.
  var byNumber: [Int: ColumnExpression] = [:]
  /// The condition, over the source row `s`, that the value is another afterwards; `nil` if it never is.
  var change: String?
  /// The source columns that go into a number, with the rows whose number is rounded; `nil` if none is.
  var rounding: PartialReading?
  /// The condition, over the source row `s`, that the value is outside the range of the column's type; `nil` if it never
  /// is.
  var overflow: String?

  /// Returns the expression with the source column that holds its value.
  func from(_ column: String?) -> ColumnExpression {
    var expression = self
    expression.origin = column
    return expression
  }

  /// Returns the source columns that go into the values of the rows of an entity.
  func columnsRead(ofRowsNumbered number: Int) -> Set<String> {
    byNumber.isEmpty ? columnsRead : byNumber[number]?.columnsRead(ofRowsNumbered: number) ?? []
  }

  /// Returns the expression that gives the values of the rows of an entity; `nil` if they get none.
  func ofRows(numbered number: Int) -> ColumnExpression? { byNumber.isEmpty ? self : byNumber[number] }

  /// Returns the source columns that go into the values of some rows of an entity; `nil` for none.
  func columnsPartlyRead(ofRowsNumbered number: Int) -> PartialReading? { ofRows(numbered: number)?.partlyRead }

  /// Source columns with the rows in which an expression reads them.
  struct PartialReading: Hashable {
    let columns: Set<String>
    /// The condition on the source row `s`.
    let condition: String
  }

  private var columnsRead: Set<String> { origin.map { read.union([$0]) } ?? read }

  /// Returns the same value with something around it, such as a value for NULL.
  func inside(_ sql: String) -> ColumnExpression {
    var expression = ColumnExpression(sql: sql, isVerbatim: false)
    (expression.origin, expression.read) = (origin, read)
    (expression.change, expression.overflow) = (change, overflow)
    (expression.partlyRead, expression.rounding) = (partlyRead, rounding)
    return expression
  }

  /// The expression for no value.
  static let null = ColumnExpression(sql: "NULL", isVerbatim: true)

  /// Returns an expression that renumbers entities.
  ///
  /// - Parameters:
  ///   - column: The quoted column with a source entity number.
  ///   - numbers: The source numbers, each with its destination number.
  /// - Returns: The expression; the column itself if no number changes.
  static func renumbering(_ column: String, _ numbers: [Int: Int]) -> ColumnExpression {
    guard numbers.contains(where: { $0.key != $0.value }) else {
      return ColumnExpression(sql: column, isVerbatim: true)
    }
    let cases = numbers.ordered { $0.key < $1.key }.map { "WHEN \($0.key) THEN \($0.value)" }
    return ColumnExpression(sql: "CASE \(column) \(cases.joined(separator: " ")) END", isVerbatim: false)
  }
}
