import HeirloomModel
import HeirloomStore

/// The source of a candidate column's values: SQL over the source row `s`, and conditions on that
/// row under which a value changes or doesn't fit.
package struct CellEntry: Hashable {
  package let sql: String
  package let isVerbatim: Bool
  /// The source column the value comes from, changed or not; `nil` if it comes from no column.
  package var origin: String?
  /// The source columns that a mapping's expression reads.
  var read: Set<String> = []
  var partlyRead: PartialReading?
  /// The entries by entity number; empty if this entry applies to all rows.
  var byNumber: [Int: CellEntry] = [:]
  var change: String?
  /// The columns that a number is computed from, where it is rounded.
  var rounding: PartialReading?
  var overflow: String?

  func from(_ column: String?) -> CellEntry {
    var entry = self
    entry.origin = column
    return entry
  }

  func columnsRead(ofRowsNumbered number: Int) -> Set<String> {
    byNumber.isEmpty ? columnsRead : byNumber[number]?.columnsRead(ofRowsNumbered: number) ?? []
  }

  func ofRows(numbered number: Int) -> CellEntry? { byNumber.isEmpty ? self : byNumber[number] }

  func columnsPartlyRead(ofRowsNumbered number: Int) -> PartialReading? { ofRows(numbered: number)?.partlyRead }

  /// Source columns with the rows in which an expression reads them.
  struct PartialReading: Hashable {
    let columns: Set<String>
    let condition: String
  }

  private var columnsRead: Set<String> { origin.map { read.union([$0]) } ?? read }

  /// `sql` wraps this entry's expression, for example to replace NULL.
  func inside(_ sql: String) -> CellEntry {
    var entry = CellEntry(sql: sql, isVerbatim: false)
    (entry.origin, entry.read) = (origin, read)
    (entry.change, entry.overflow) = (change, overflow)
    (entry.partlyRead, entry.rounding) = (partlyRead, rounding)
    return entry
  }

  static let null = CellEntry(sql: "NULL", isVerbatim: true)

  /// `column` is quoted; `numbers` maps source to destination numbers.
  static func renumbering(_ column: String, _ numbers: [Int: Int]) -> CellEntry {
    guard numbers.contains(where: { $0.key != $0.value }) else {
      return CellEntry(sql: column, isVerbatim: true)
    }
    let cases = numbers.ordered { $0.key < $1.key }.map { "WHEN \($0.key) THEN \($0.value)" }
    return CellEntry(sql: "CASE \(column) \(cases.joined(separator: " ")) END", isVerbatim: false)
  }
}
