import HeirloomModel
import HeirloomStore

/// The entry of the cells that go into a column of the candidate: the SQL that gives their values, and the cells of the
/// store that go into them, change there, or don't fit.
package struct CellEntry: Hashable {
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
  /// The entries of rows, by the number of their entity; empty if one is of all.
  var byNumber: [Int: CellEntry] = [:]
  /// The condition, over the source row `s`, that the value is another afterwards; `nil` if it never is.
  var change: String?
  /// The source columns that go into a number, with the rows whose number is rounded; `nil` if none is.
  var rounding: PartialReading?
  /// The condition, over the source row `s`, that the value is outside the range of the column's type; `nil` if it never
  /// is.
  var overflow: String?

  /// Returns the entry with the source column that holds its values.
  func from(_ column: String?) -> CellEntry {
    var entry = self
    entry.origin = column
    return entry
  }

  /// Returns the source columns that go into the values of the rows of an entity.
  func columnsRead(ofRowsNumbered number: Int) -> Set<String> {
    byNumber.isEmpty ? columnsRead : byNumber[number]?.columnsRead(ofRowsNumbered: number) ?? []
  }

  /// Returns the entry of the rows of an entity; `nil` if they get no values.
  func ofRows(numbered number: Int) -> CellEntry? { byNumber.isEmpty ? self : byNumber[number] }

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
  func inside(_ sql: String) -> CellEntry {
    var entry = CellEntry(sql: sql, isVerbatim: false)
    (entry.origin, entry.read) = (origin, read)
    (entry.change, entry.overflow) = (change, overflow)
    (entry.partlyRead, entry.rounding) = (partlyRead, rounding)
    return entry
  }

  /// The entry of no value.
  static let null = CellEntry(sql: "NULL", isVerbatim: true)

  /// Returns the entry of a column of entity numbers.
  ///
  /// - Parameters:
  ///   - column: The quoted column with a source entity number.
  ///   - numbers: The source numbers, each with its destination number.
  /// - Returns: The entry; the column itself if no number changes.
  static func renumbering(_ column: String, _ numbers: [Int: Int]) -> CellEntry {
    guard numbers.contains(where: { $0.key != $0.value }) else {
      return CellEntry(sql: column, isVerbatim: true)
    }
    let cases = numbers.ordered { $0.key < $1.key }.map { "WHEN \($0.key) THEN \($0.value)" }
    return CellEntry(sql: "CASE \(column) \(cases.joined(separator: " ")) END", isVerbatim: false)
  }
}
