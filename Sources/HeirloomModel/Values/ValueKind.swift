/// The kind of a value, one for each case of ``AttributeValue``; raw values are the names in snapshots.
package enum ValueKind: String, Hashable, Sendable {
  case integer, double, decimal, string, boolean, date, binary, uuid, uri, composite
  /// A whole or a floating-point number: an expression's result before a row is read.
  case number

  package init?(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64: self = .integer
    case .double, .float: self = .double
    case .decimal: self = .decimal
    case .string: self = .string
    case .boolean: self = .boolean
    case .date: self = .date
    case .binary, .transformable: self = .binary
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .composite: self = .composite
    case .undefined, .objectID: return nil
    }
  }

  /// For messages.
  package var phrase: String {
    switch self {
    case .integer: "an integer"
    case .double: "a double"
    case .decimal: "a decimal number"
    case .string: "a string"
    case .boolean: "a boolean"
    case .date: "a date"
    case .binary: "binary data"
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .composite: "a composite value"
    case .number: "a number"
    }
  }

  /// Of Foundation, as Core Data reads values.
  package var className: String {
    switch self {
    case .integer, .double, .boolean, .number: "NSNumber"
    case .decimal: "NSDecimalNumber"
    case .string: "NSString"
    case .date: "NSDate"
    case .binary: "NSData"
    case .uuid: "NSUUID"
    case .uri: "NSURL"
    case .composite: "NSDictionary"
    }
  }

  package var isNumeric: Bool {
    switch self {
    case .integer, .boolean, .double, .decimal, .number: true
    default: false
    }
  }

  /// `CAST` to `NSString` converts such values.
  package var hasPlainText: Bool { isNumeric || self == .string || self == .uuid || self == .uri }

  package var isText: Bool { self == .string || self == .uri }

  /// SQLite compares and orders values of both kinds correctly.
  package func isComparable(to other: ValueKind) -> Bool { self == other || isNumeric && other.isNumeric }

  /// Zero, no text or no bytes.
  package var empty: AttributeValue {
    switch self {
    case .integer, .number: .integer(0)
    case .double: .double(0)
    case .decimal: .decimal("0")
    case .string: .string("")
    case .boolean: .boolean(false)
    case .date: .date(0)
    case .binary: .binary([])
    case .uuid: .uuid([UInt8](repeating: 0, count: 16))
    case .uri: .uri("")
    case .composite: .composite([:])
    }
  }
}

/// A value without its kind, as formats write it.
package enum ValueContent: Hashable, Sendable {
  case integer(Int64)
  case real(Double)
  case flag(Bool)
  case text(String)
  case bytes([UInt8])
  case elements([String: AttributeValue])
}

extension AttributeValue {
  package var kind: ValueKind {
    switch self {
    case .integer: .integer
    case .double: .double
    case .decimal: .decimal
    case .string: .string
    case .boolean: .boolean
    case .date: .date
    case .binary: .binary
    case .uuid: .uuid
    case .uri: .uri
    case .composite: .composite
    }
  }

  package var content: ValueContent {
    switch self {
    case .integer(let number): .integer(number)
    case .double(let number), .date(let number): .real(number)
    case .boolean(let flag): .flag(flag)
    case .decimal(let text), .string(let text), .uri(let text): .text(text)
    case .binary(let bytes), .uuid(let bytes): .bytes(bytes)
    case .composite(let elements): .elements(elements)
    }
  }

  /// `nil` if values of the kind have other content.
  package init?(_ kind: ValueKind, _ content: ValueContent) {
    switch (kind, content) {
    case (.integer, .integer(let number)), (.number, .integer(let number)): self = .integer(number)
    case (.double, .real(let number)), (.number, .real(let number)): self = .double(number)
    case (.decimal, .text(let text)): self = .decimal(text)
    case (.string, .text(let text)): self = .string(text)
    case (.boolean, .flag(let flag)): self = .boolean(flag)
    case (.date, .real(let seconds)): self = .date(seconds)
    case (.binary, .bytes(let bytes)): self = .binary(bytes)
    case (.uuid, .bytes(let bytes)): self = .uuid(bytes)
    case (.uri, .text(let text)): self = .uri(text)
    case (.composite, .elements(let elements)): self = .composite(elements)
    default: return nil
    }
  }

  /// The text of a string or URI.
  package var text: String? {
    switch self {
    case .string(let text), .uri(let text): text
    default: nil
    }
  }
}

extension AttributeType {
  /// A store keeps values as SQLite's text.
  package var isText: Bool { ValueKind(self)?.isText == true }

  package static let texts = allCases.filter(\.isText)
}
