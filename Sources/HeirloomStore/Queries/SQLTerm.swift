import HeirloomModel

/// A piece of SQL that yields a single value or `NULL`, and never fails.
struct SQLTerm: Equatable, Sendable {
  /// The SQL, which may be an operand of any operator.
  let sql: String
  /// The kind of value that it yields.
  let kind: ValueKind
  /// The whole numbers that it may yield; `nil` if they are not known to have bounds.
  var range: ClosedRange<Int64>?
  /// The text of a constant.
  var text: String?
}

/// A piece of SQL that is true, false or `NULL`, which counts as false.
struct SQLCondition: Equatable, Sendable {
  /// The SQL, which may be an operand of `AND` and `OR`.
  let sql: String
  /// True if evaluating it may fail; then it matters for which rows it is evaluated.
  var isFallible: Bool = false

  static let alwaysTrue = SQLCondition(sql: "1")
  static let alwaysFalse = SQLCondition(sql: "0")
}

/// An object as a row, or as a key that may refer to one.
struct ObjectTerm: Equatable, Sendable {
  /// The object's entity, or an ancestor of it.
  let entity: String
  let place: Place

  enum Place: Hashable, Sendable {
    /// The row of an alias, which exists.
    case row(alias: String)
    /// A key, as SQL, that may be `NULL` or refer to no row.
    case key(String)
    /// A key, as SQL, of a row that is known to exist.
    case knownKey(String)
  }
}

/// An expression compiled to SQL.
indirect enum SQLOperand {
  case null
  case scalar(SQLTerm)
  case object(ObjectTerm)
  /// A composite attribute, or a composite one in it, with its path.
  case composite(ObjectTerm, path: [String])
  case collection(SQLCollection)
  case list([SQLOperand])
}

/// The members of a to-many relationship, or the ends of a path from each of them.
struct SQLCollection {
  /// The tables, for after `FROM`.
  var tables: String
  /// The conditions that join the tables with each other and with the rows around.
  var conditions: [String]
  /// A member: an object, a value or a composite value.
  var element: SQLOperand
  /// True for a list of lists: more than one relationship of the path is to-many.
  var isNested: Bool = false

  /// Everything after `FROM`.
  var tail: String {
    conditions.isEmpty ? tables : "\(tables) WHERE \(conditions.chained(by: "AND"))"
  }
}

/// The reason why an expression can't be compiled to SQL; it may still be evaluated row by row.
package enum CompilationProblem: Error, Hashable, Sendable {
  /// The name of a property that an entity doesn't have.
  case unknownProperty(entity: String, property: String)
  /// An expression that SQL can't compute, or not with the results of an evaluation.
  case unsupported(String)
}

extension CompilationProblem: CustomStringConvertible {
  /// One sentence: what was found.
  package var description: String {
    switch self {
    case .unknownProperty(let entity, let property):
      "Entity \"\(entity)\" has no property \"\(property.prefix(200))\" that an expression can use."
    case .unsupported(let what): "\(what) has no counterpart in SQL."
    }
  }
}

extension ValueKind {
  /// Converts a stored value of this kind for expressions; `nil` if no value of the kind is stored like that.
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
    case (.string, .text(let value)): .string(value)
    case (.uri, .text(let value)): .value(.uri(value))
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
  /// Returns the stored form and kind of a constant; `nil` for one that SQLite can't store, such as NaN.
  static func stored(_ value: AttributeValue) -> (value: SQLiteValue, kind: ValueKind)? {
    switch value {
    case .integer(let number): return (.integer(number), .integer)
    case .boolean(let flag): return (.integer(flag ? 1 : 0), .boolean)
    case .double(let number): return number.isNaN ? nil : (.real(number), .double)
    case .date(let number): return number.isNaN ? nil : (.real(number), .date)
    case .decimal(let text):
      if let whole = Int64(text) { return (.integer(whole), .decimal) }
      guard let number = Double(text), number.isFinite else { return nil }
      return (.real(number), .decimal)
    case .string(let text): return (.text(text), .string)
    case .uri(let text): return (.text(text), .uri)
    case .binary(let bytes): return (.blob(bytes), .binary)
    case .uuid(let bytes): return (.blob(bytes), .uuid)
    case .composite: return nil
    }
  }
}

extension SQLiteValue {
  /// The value as an SQL literal, for statements that are shown before they are run.
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
