import HeirloomMapping
package import HeirloomModel
import HeirloomStore

/// The conversion of a stored value of one attribute to one of another, in SQL.
///
/// Numbers keep their value. Fractions are truncated if the destination has none. A number that is
/// not 0 is true. NULL becomes the default if a value is now required. Inference allows no other
/// pairs of types.
package enum ValueConversion {
  /// `column` is quoted; with `mustFill`, NULL becomes the default, if there is one.
  package static func entry(
    column: String, from source: AttributeDescription, to destination: AttributeDescription, mustFill: Bool
  ) -> CellEntry {
    var converted = convert(column: column, from: source, to: destination)
    converted.change = change(of: column, to: converted.sql, from: source, to: destination)
    converted.overflow = overflow(column, from: source.type, to: destination.type)
    guard mustFill, let value = destination.defaultValue else { return converted }
    return converted.inside("COALESCE(\(converted.sql), \(literal(value, for: destination)))")
  }

  /// For a value that passes through the types and fillings of several versions.
  static func entry(column: String, from leaves: LeafPair, through steps: [ValueStep]) -> CellEntry {
    var sql = column
    var current = leaves.source
    var overflows: [String] = []
    for step in steps {
      switch step {
      case .converted(let type):
        var next = current
        next.type = type
        sql = convert(column: sql, from: current, to: next).sql
        // 0 and 1 fit everywhere.
        if current.type != .boolean, let condition = overflow(column, from: leaves.source.type, to: type) {
          overflows.append(condition)
        }
        current = next
      case .filled(let value):
        sql = "COALESCE(\(sql), \(literal(value, for: current)))"
      }
    }
    let last = entry(column: sql, from: current, to: leaves.destination, mustFill: leaves.mustFill)
    var whole = CellEntry(sql: last.sql, isVerbatim: false)
    whole.change = change(of: column, to: last.sql, from: leaves.source, to: leaves.destination)
    if current.type != .boolean {
      overflows += [overflow(column, from: leaves.source.type, to: leaves.destination.type)].compactMap { $0 }
    }
    whole.overflow = overflows.isEmpty ? nil : overflows.joined(separator: " OR ")
    return whole
  }

  /// The condition that converting a value back doesn't restore it; `nil` if it always does.
  ///
  /// SQLite compares whole numbers with others exactly, and a text equals no number. Values out of
  /// range are excluded: they stop the migration until they are decided.
  private static func change(
    of column: String, to sql: String, from source: AttributeDescription, to destination: AttributeDescription
  ) -> String? {
    guard sql != column else { return nil }
    // The bytes after the tag are the same, but a value that was not a blob becomes one.
    let isTagged = !source.allowsExternalBinaryDataStorage && destination.allowsExternalBinaryDataStorage
    guard !isTagged else { return "TYPEOF(\(column)) NOT IN ('null', 'blob')" }
    let fits = overflow(column, of: destination.type).map { " AND NOT (\($0))" } ?? ""
    return "\(column) IS NOT NULL AND \(sql) IS NOT \(column)\(fits)"
  }

  private static func convert(
    column: String, from source: AttributeDescription, to destination: AttributeDescription
  ) -> CellEntry {
    switch (source.type, destination.type) {
    case (.double, let type) where type.isInteger, (.float, let type) where type.isInteger,
      (.decimal, let type) where type.isInteger:
      return CellEntry(sql: "CAST(\(column) AS INTEGER)", isVerbatim: false)
    case (let type, .double) where type.isInteger || type == .boolean || type == .decimal,
      (let type, .float) where type.isInteger || type == .boolean || type == .decimal:
      return CellEntry(sql: "CAST(\(column) AS REAL)", isVerbatim: false)
    case (let type, .boolean) where type.isNumeric:
      return CellEntry(sql: "(\(column) <> 0)", isVerbatim: false)
    default:
      // Bytes that may be stored externally begin with a tag; 01 says that they follow.
      if !source.allowsExternalBinaryDataStorage, destination.allowsExternalBinaryDataStorage {
        return CellEntry(sql: "CAST(X'01' || \(column) AS BLOB)", isVerbatim: false)
      }
      return CellEntry(sql: column, isVerbatim: true)
    }
  }

  static func overflow(_ column: String, from source: AttributeType, to type: AttributeType) -> String? {
    AttributeConversion(from: source, to: type).mayOverflow ? overflow(column, of: type) : nil
  }

  static func overflow(_ column: String, of type: AttributeType) -> String? {
    // ABS throws for the lowest integer. Infinite numbers fit, and texts are above all numbers.
    if type == .float {
      let (limit, last) = (Float.greatestFiniteMagnitude, Double.greatestFiniteMagnitude)
      return "(\(column)) NOT BETWEEN -\(limit) AND \(limit) AND (\(column)) BETWEEN -\(last) AND \(last)"
    }
    return type.storedRange.map { "\(column) < \($0.lowerBound) OR \(column) > \($0.upperBound)" }
  }

  package static func literal(_ value: AttributeValue, for attribute: AttributeDescription) -> String {
    switch value.content {
    case .integer(let number): return String(number)
    case .real(let number): return realLiteral(number)
    case .flag(let flag): return flag ? "1" : "0"
    case .text(let text): return value.kind == .decimal ? realLiteral(Double(text) ?? 0) : textLiteral(text)
    case .bytes(let bytes):
      let isTagged = value.kind == .binary && attribute.allowsExternalBinaryDataStorage
      return "X'\((isTagged ? [1] + bytes : bytes).hexadecimal)'"
    // It has no column: the values of its elements are written one by one.
    case .elements: return "NULL"
    }
  }

  private static func realLiteral(_ number: Double) -> String {
    guard number.isFinite else { return number.isNaN ? "NULL" : number < 0 ? "-9e999" : "9e999" }
    return String(number)
  }

  // SQL text ends at a NUL character, so text that contains one is written as its bytes.
  private static func textLiteral(_ text: String) -> String {
    guard !text.utf8.contains(0) else { return "CAST(X'\(Array(text.utf8).hexadecimal)' AS TEXT)" }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }
}

extension AttributeType {
  fileprivate var storedRange: ClosedRange<Int64>? {
    switch self {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    case .integer64: Int64.min...Int64.max
    default: nil
    }
  }
}
