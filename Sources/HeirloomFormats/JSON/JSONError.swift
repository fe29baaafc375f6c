import HeirloomModel

/// A failure to parse a JSON document.
///
/// Offsets count bytes from the start.
package enum JSONError: Error, Hashable, Sendable {
  /// A text that ends too early.
  case truncated(offset: Int)
  /// An unexpected character.
  case unexpected(offset: Int)
  /// A string with an invalid escape or invalid UTF-8.
  case invalidString(offset: Int)
  /// A number that is malformed or out of range.
  case invalidNumber(offset: Int)
  /// A duplicate key of an object.
  case duplicateKey(String, offset: Int)
  /// Lists and objects that are nested too deeply.
  case tooDeep(limit: Int, offset: Int)
  /// A document with too many values.
  case tooManyValues(limit: Int, offset: Int)
}

extension JSONError: CustomStringConvertible {
  /// One sentence with the problem and what was expected.
  package var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .truncated(let offset): "The JSON text ends too early, at byte \(offset)."
    case .unexpected(let offset): "The JSON text has an unexpected character at byte \(offset)."
    case .invalidString(let offset): "The string at byte \(offset) of the JSON text is invalid."
    case .invalidNumber(let offset): "The number at byte \(offset) of the JSON text is invalid or out of range."
    case .duplicateKey(let key, let offset):
      "The object at byte \(offset) of the JSON text has the key \"\(key.prefix(80))\" twice."
    case .tooDeep(let limit, let offset):
      "The JSON text is nested more than \(limit) levels deep at byte \(offset)."
    case .tooManyValues(let limit, let offset):
      "The JSON text has more than \(limit) values, at byte \(offset)."
    }
  }
}
