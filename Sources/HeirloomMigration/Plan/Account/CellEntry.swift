import HeirloomModel
import HeirloomStore

/// The source of a candidate column's values: an SQL expression, the store's columns that it reads, and the conditions
/// under which a value changes or doesn't fit.
package struct CellEntry: Hashable {
  /// The expression, over the source row `s`.
  package let sql: String
  /// True if the stored value is copied unchanged.
  package let isVerbatim: Bool
  /// The source column the value comes from, changed or not; `nil` if it comes from no column.
  package var origin: String?
  /// The source columns that an expression of a mapping reads.
  var read: Set<String> = []
  /// The source columns that the expression reads in some rows only; `nil` if it reads the same columns in all rows.
  var partlyRead: PartialReading?
  /// The entries by entity number; empty if this entry applies to all rows.
  var byNumber: [Int: CellEntry] = [:]
  /// The condition, over the source row `s`, that the value changes; `nil` if it never does.
  var change: String?
  /// The source columns that a number is computed from, with the rows in which it is rounded; `nil` if it never is.
  var rounding: PartialReading?
  /// The condition, over the source row `s`, that the value is out of the type's range; `nil` if it never is.
  var overflow: String?

  /// Returns a copy with another ``origin``.
  func from(_ column: String?) -> CellEntry {
    var entry = self
    entry.origin = column
    return entry
  }

  /// Returns the source columns that the values are computed from in the rows of an entity.
  func columnsRead(ofRowsNumbered number: Int) -> Set<String> {
    byNumber.isEmpty ? columnsRead : byNumber[number]?.columnsRead(ofRowsNumbered: number) ?? []
  }

  /// Returns the entry of the rows of an entity; `nil` if they get no values.
  func ofRows(numbered number: Int) -> CellEntry? { byNumber.isEmpty ? self : byNumber[number] }

  /// Returns the source columns that are read in some rows of an entity only; `nil` for none.
  func columnsPartlyRead(ofRowsNumbered number: Int) -> PartialReading? { ofRows(numbered: number)?.partlyRead }

  /// Source columns with the rows in which an expression reads them.
  struct PartialReading: Hashable {
    let columns: Set<String>
    /// The condition on the source row `s`.
    let condition: String
  }

  private var columnsRead: Set<String> { origin.map { read.union([$0]) } ?? read }

  /// Returns an entry for an expression that wraps this one, for example to replace NULL.
  func inside(_ sql: String) -> CellEntry {
    var entry = CellEntry(sql: sql, isVerbatim: false)
    (entry.origin, entry.read) = (origin, read)
    (entry.change, entry.overflow) = (change, overflow)
    (entry.partlyRead, entry.rounding) = (partlyRead, rounding)
    return entry
  }

  static let null = CellEntry(sql: "NULL", isVerbatim: true)

  /// Returns the entry of a column of entity numbers: a quoted name, and each source number's destination number.
  static func renumbering(_ column: String, _ numbers: [Int: Int]) -> CellEntry {
    guard numbers.contains(where: { $0.key != $0.value }) else {
      return CellEntry(sql: column, isVerbatim: true)
    }
    let cases = numbers.ordered { $0.key < $1.key }.map { "WHEN \($0.key) THEN \($0.value)" }
    return CellEntry(sql: "CASE \(column) \(cases.joined(separator: " ")) END", isVerbatim: false)
  }
}
