import Foundation
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// The conversion of stored values, run by SQLite on the values that a column can hold.
///
/// The expected values follow from the rules by hand: numbers keep their value, fractions are cut off where there is no
/// room for them, a number that is not 0 is true, and NULL stays NULL unless a value has become required.
struct ValueConversionTests {
  struct Row: CustomTestStringConvertible, Sendable {
    let from: AttributeType
    let to: AttributeType
    /// The stored value, as an SQL literal.
    let stored: String
    /// SQLite's `quote()` of the result.
    let expected: String
    var testDescription: String { "\(from) \(stored) → \(to)" }

    init(_ from: AttributeType, _ stored: String, _ to: AttributeType, _ expected: String) {
      (self.from, self.to, self.stored, self.expected) = (from, to, stored, expected)
    }
  }

  static let rows: [Row] = [
    // Fractions are cut off, towards 0.
    Row(.double, "3.7", .integer64, "3"), Row(.double, "-3.7", .integer32, "-3"), Row(.float, "2.5", .integer16, "2"),
    Row(.decimal, "9.99", .integer32, "9"), Row(.double, "-0.5", .integer16, "0"),
    Row(.double, "NULL", .integer64, "NULL"),
    // Numbers keep their value, in the form of the new column.
    Row(.integer16, "5", .double, "5.0"), Row(.integer64, "-7", .float, "-7.0"), Row(.boolean, "1", .double, "1.0"),
    Row(.decimal, "1.5", .double, "1.5"), Row(.integer64, "9007199254740991", .integer16, "9007199254740991"),
    Row(.integer16, "5", .integer64, "5"), Row(.boolean, "1", .integer16, "1"), Row(.float, "0.5", .double, "0.5"),
    Row(.integer32, "NULL", .double, "NULL"),
    // Any number that is not 0 is true.
    Row(.integer16, "0", .boolean, "0"), Row(.integer16, "-4", .boolean, "1"), Row(.double, "0.0", .boolean, "0"),
    Row(.double, "0.25", .boolean, "1"), Row(.decimal, "-0.1", .boolean, "1"), Row(.float, "NULL", .boolean, "NULL"),
    // Everything else is taken over as it is, whatever its bytes.
    Row(.string, "'it''s' || char(10)", .string, "'it''s\n'"), Row(.date, "-1.5", .date, "-1.5"),
    Row(.binary, "X'00FF'", .binary, "X'00FF'"), Row(.uuid, "X'0011'", .uuid, "X'0011'"),
    Row(.string, "NULL", .string, "NULL"),
  ]

  private func result(_ entry: CellEntry, of stored: String) throws -> String? {
    let connection = try Connection(path: ":memory:", mode: .memory)
    return try connection.rows("SELECT quote(\(entry.sql)) FROM (SELECT \(stored) AS \"ZV\") AS s")
      .first?.first?.text
  }

  @Test(arguments: rows) func `values are converted by the rules`(row: Row) throws {
    let source = AttributeDescription(name: "v", type: row.from)
    let destination = AttributeDescription(name: "v", type: row.to)
    let entry = ValueConversion.entry(
      column: "s.\"ZV\"", from: source, to: destination, mustFill: false)
    #expect(try result(entry, of: row.stored) == row.expected)
    if entry.isVerbatim { #expect(try result(entry, of: row.stored) == result(.verbatim, of: row.stored)) }
  }

  @Test(arguments: rows) func `a value that has become required is filled only where there is none`(row: Row) throws {
    var destination = Make.attribute("v", row.to, optional: false)
    let (value, text): (AttributeValue, String) =
      switch row.to {
      case .integer16, .integer32, .integer64: (.integer(42), "42")
      case .double, .float, .decimal: (.double(42.5), "42.5")
      case .boolean: (.boolean(true), "1")
      case .date: (.date(42.5), "42.5")
      case .binary, .uuid: (.binary([4, 2]), "X'0402'")
      default: (.string("it's\n"), "'it''s\n'")
      }
    destination.defaultValue = value
    let source = AttributeDescription(name: "v", type: row.from)
    let entry = ValueConversion.entry(column: "s.\"ZV\"", from: source, to: destination, mustFill: true)
    #expect(try result(entry, of: row.stored) == (row.expected == "NULL" ? text : row.expected))
    #expect(try result(entry, of: "NULL") == text)
    let unfilled = ValueConversion.entry(column: "s.\"ZV\"", from: source, to: destination, mustFill: false)
    #expect(try result(unfilled, of: "NULL") == "NULL")
  }

  @Test func `bytes that may lie outside the store get the tag that says where they are`() throws {
    let source = AttributeDescription(name: "v", type: .binary)
    var destination = source
    destination.allowsExternalBinaryDataStorage = true
    let entry = ValueConversion.entry(column: "s.\"ZV\"", from: source, to: destination, mustFill: false)
    #expect(try result(entry, of: "X'AB00'") == "X'01AB00'")
    #expect(try result(entry, of: "NULL") == "NULL")
    #expect(ValueConversion.literal(.binary([0xab]), for: destination) == "X'01ab'")
    #expect(ValueConversion.literal(.binary([0xab]), for: source) == "X'ab'")
  }

  static let texts = ["", "'", "''", "a'b", "\0", "a\0b'c", "🦊\u{301}", "-- /* ;", "\n\r\t", "\\u0000"]

  @Test(arguments: texts) func `a text's literal reads back as the text`(text: String) throws {
    let connection = try Connection(path: ":memory:", mode: .memory)
    let literal = ValueConversion.literal(.string(text), for: AttributeDescription(name: "v", type: .string))
    let bytes = try connection.rows("SELECT hex(\(literal)), typeof(\(literal))").first
    #expect(bytes?[0].text == text.utf8.map { String(format: "%02X", $0) }.joined())
    #expect(bytes?[1].text == "text")
  }

  static let numbers: [Double] = [
    0, -0.0, 0.1, 1e300, -1e-300, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1 / 3,
  ]

  @Test(arguments: numbers) func `a number's literal reads back bit by bit`(number: Double) throws {
    let connection = try Connection(path: ":memory:", mode: .memory)
    let literal = ValueConversion.literal(.double(number), for: AttributeDescription(name: "v", type: .double))
    let value = try connection.rows("SELECT \(literal)").first?.first
    guard case .real(let read)? = value else {
      Issue.record("\(literal) reads as \(String(describing: value))")
      return
    }
    #expect(read.bitPattern == number.bitPattern)
  }

  @Test func `what is no number has a literal of its own`() {
    let attribute = AttributeDescription(name: "v", type: .double)
    #expect(ValueConversion.literal(.double(.nan), for: attribute) == "NULL")
    #expect(ValueConversion.literal(.double(.infinity), for: attribute) == "9e999")
    #expect(ValueConversion.literal(.double(-.infinity), for: attribute) == "-9e999")
  }
}

extension CellEntry {
  fileprivate static let verbatim = ValueConversion.entry(
    column: "s.\"ZV\"", from: AttributeDescription(name: "v", type: .string),
    to: AttributeDescription(name: "v", type: .string),
    mustFill: false)
}
