import HeirloomModel

/// The kind of a compiled expression's value, as far as it is known before a row is read.
enum ValueKind: String, Hashable, Sendable {
  case integer, boolean, double, decimal, number, string, date, binary, uuid, uri

  init?(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64: self = .integer
    case .boolean: self = .boolean
    case .double, .float: self = .double
    case .decimal: self = .decimal
    case .string: self = .string
    case .date: self = .date
    case .binary, .transformable: self = .binary
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .undefined, .objectID, .composite: return nil
    }
  }

  var isNumeric: Bool {
    switch self {
    case .integer, .boolean, .double, .decimal, .number: true
    case .string, .date, .binary, .uuid, .uri: false
    }
  }

  /// SQLite compares and orders values of both kinds correctly.
  func isComparable(to other: ValueKind) -> Bool { self == other || isNumeric && other.isNumeric }
}
