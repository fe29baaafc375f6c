import HeirloomModel

/// Text that is no JSON document.
///
/// Offsets count bytes from the start.
package enum JSONError: Error, Hashable, Sendable {
  /// The text ends too early.
  case truncated(offset: Int)
  /// A character stands where it can't.
  case unexpected(offset: Int)
  /// A string has an invalid escape or is no valid UTF-8.
  case invalidString(offset: Int)
  /// A number is malformed or out of range.
  case invalidNumber(offset: Int)
  /// An object has a key twice.
  case duplicateKey(String, offset: Int)
  /// Lists and objects are nested too deeply.
  case tooDeep(limit: Int, offset: Int)
  /// The document has too many values.
  case tooManyValues(limit: Int, offset: Int)
}

extension JSONError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
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
