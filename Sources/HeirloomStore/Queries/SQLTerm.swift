import HeirloomModel

/// Yields a single value or `NULL`, and never fails.
struct SQLTerm: Equatable, Sendable {
  /// May be an operand of any operator.
  let sql: String
  let kind: ValueKind
  /// The whole numbers that it may yield; `nil` if they are not known to have bounds.
  var range: ClosedRange<Int64>?
  var text: String?
}

/// `NULL` counts as false.
struct SQLCondition: Equatable, Sendable {
  /// May be an operand of `AND` and `OR`.
  let sql: String
  var isFallible: Bool = false

  static let alwaysTrue = SQLCondition(sql: "1")
  static let alwaysFalse = SQLCondition(sql: "0")
}

struct ObjectTerm: Equatable, Sendable {
  /// Or an ancestor of the object's entity.
  let entity: String
  let place: Place

  enum Place: Hashable, Sendable {
    case row(alias: String)
    /// SQL that may be `NULL` or refer to no row.
    case key(String)
    /// SQL for the key of a row that is known to exist.
    case knownKey(String)
  }
}

indirect enum SQLOperand {
  case null
  case scalar(SQLTerm)
  case object(ObjectTerm)
  case composite(ObjectTerm, path: [String])
  case collection(SQLCollection)
  case list([SQLOperand])
}

/// The members of a to-many relationship, or the ends of a path from each of them.
struct SQLCollection {
  var tables: String
  /// They join the tables with each other and with the rows around.
  var conditions: [String]
  var element: SQLOperand
  /// More than one relationship of the path is to-many.
  var isNested: Bool = false

  var tail: String {
    conditions.isEmpty ? tables : "\(tables) WHERE \(conditions.chained(by: "AND"))"
  }
}

package enum CompilationProblem: Error, Hashable, Sendable {
  case unknownProperty(entity: String, property: String)
  /// SQL can't compute the expression, or not with the results of an evaluation.
  case unsupported(String)
}

extension CompilationProblem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unknownProperty(let entity, let property):
      "Entity \"\(entity)\" has no property \"\(property.prefix(200))\" that an expression can use."
    case .unsupported(let what): "\(what) has no counterpart in SQL."
    }
  }
}

extension ValueKind {
  func value(of stored: SQLiteValue) -> EvaluatedValue? {
    switch (self, stored) {
    case (_, .null): .null
    case (.integer, .integer(let value)), (.number, .integer(let value)): .integer(value)
    case (.integer, .real(let value)): Int64(exactly: value).map { .integer($0) }
    case (.boolean, .integer(let value)): .boolean(value != 0)
    case (.boolean, .real(let value)): .boolean(value != 0)
    case (.double, .integer(let value)): .double(Double(value))
    case (.double, .real(let value)), (.number, .real(let value)): .double(value)
    case (.decimal, .integer(let value)): .value(.decimal("\(value)"))
    case (.decimal, .real(let value)): value.isFinite ? .value(.decimal(Self.decimalText(value))) : nil
    case (.date, .integer(let value)): .value(.date(Double(value)))
    case (.date, .real(let value)): .value(.date(value))
    case (.string, .text(let text)): .string(text)
    case (_, .text(let text)): isText ? AttributeValue(self, .text(text)).map { .value($0) } : nil
    case (.binary, .blob(let bytes)): .value(.binary(bytes))
    case (.uuid, .blob(let bytes)): bytes.count == 16 ? .value(.uuid(bytes)) : nil
    default: nil
    }
  }

  private static func decimalText(_ number: Double) -> String {
    let text = "\(number)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

extension SQLTerm {
  /// `nil` for a constant that SQLite can't store, such as NaN.
  static func stored(_ value: AttributeValue) -> (value: SQLiteValue, kind: ValueKind)? {
    let kind = value.kind
    switch value.content {
    case .integer(let number): return (.integer(number), kind)
    case .flag(let flag): return (.integer(flag ? 1 : 0), kind)
    case .real(let number): return number.isNaN ? nil : (.real(number), kind)
    case .text(let text) where kind == .decimal:
      if let whole = Int64(text) { return (.integer(whole), kind) }
      guard let number = Double(text), number.isFinite else { return nil }
      return (.real(number), kind)
    case .text(let text): return (.text(text), kind)
    case .bytes(let bytes): return (.blob(bytes), kind)
    case .elements: return nil
    }
  }
}

extension SQLiteValue {
  package var literal: String {
    switch self {
    case .null: return "NULL"
    case .integer(let number): return String(number)
    case .real(let number):
      guard number.isFinite else { return number.isNaN ? "NULL" : number < 0 ? "-9e999" : "9e999" }
      return String(number)
    case .text(let text):
      // SQL text ends at a NUL character, so text that contains one is written as its bytes.
      guard !text.utf8.contains(0) else { return "CAST(X'\(Array(text.utf8).hexadecimal)' AS TEXT)" }
      return quoteLiteral(text)
    case .blob(let bytes): return "X'\(bytes.hexadecimal)'"
    }
  }
}
