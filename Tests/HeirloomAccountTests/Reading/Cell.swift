/// A cell of a table, as SQLite stores it: texts are compared byte by byte.
enum Cell: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text([UInt8])
  case blob([UInt8])

  static func text(_ string: String) -> Cell { .text(Array(string.utf8)) }

  var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

  var string: String? { if case .text(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil } }

  var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let bytes): "CAST(\(Cell.blob(bytes).literal) AS TEXT)"
    case .blob(let bytes): "x'\(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())'"
    }
  }

  /// A column may keep 5 for 5.0.
  func equals(_ other: Cell) -> Bool {
    switch (self, other) {
    case (.integer(let whole), .real(let value)), (.real(let value), .integer(let whole)):
      Int64(exactly: value) == whole
    default: self == other
    }
  }
}

func quoted(_ identifier: String) -> String {
  "\"" + identifier.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}
