/// A failure to parse a predicate or expression.
///
/// Offsets count Unicode scalars from 0.
@nonexhaustive
public enum ExpressionError: Error, Hashable, Sendable {
  /// A text that is longer than the limit, in Unicode scalars.
  case tooLong(limit: Int)
  /// Parentheses, operators or functions that are nested more deeply than the limit.
  case tooDeep(offset: Int, limit: Int)
  /// Another token in the place of `expected`.
  case unexpected(found: String, offset: Int, expected: String)
  /// The end of the text in the place of `expected`.
  case unexpectedEnd(offset: Int, expected: String)
  /// A string without a closing quote, which begins at the offset.
  case unterminatedString(offset: Int)
  /// A backslash in a string that begins no valid escape.
  case invalidEscape(offset: Int)
  /// A malformed or too large number.
  case invalidNumber(text: String, offset: Int)
  /// A reserved word in the place of a name.
  case reservedWord(word: String, offset: Int)
  /// A comparison's option other than `c`, `d` and `n`.
  case unknownOption(text: String, offset: Int)
  /// An argument placeholder, such as `%@`, in a text without arguments.
  case formatArgument(offset: Int)
  /// A different number of placeholders than of arguments.
  case argumentCount(found: Int, expected: Int)
  /// An argument whose kind doesn't match its placeholder.
  case argumentKind(offset: Int, found: String, expected: String)
}

extension ExpressionError: CustomStringConvertible {
  /// One sentence with the problem and what was expected.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .tooLong(let limit):
      "The text is too long for a predicate or expression: expected at most \(CountText.grouped(limit)) characters."
    case .tooDeep(let offset, let limit):
      "At character \(offset + 1) the text is nested more than \(limit) levels deep; expected a simpler one."
    case .unexpected(let found, let offset, let expected):
      "Found \(found) at character \(offset + 1); expected \(expected)."
    case .unexpectedEnd(_, let expected):
      "The text ends too early; expected \(expected)."
    case .unterminatedString(let offset):
      "The string that begins at character \(offset + 1) has no end; expected a closing quote."
    case .invalidEscape(let offset):
      "The escape at character \(offset + 1) is invalid; expected one such as \\n, \\\" or \\u00e9."
    case .invalidNumber(let text, let offset):
      "Found \"\(text)\" at character \(offset + 1); expected a number in the range of a double, such as 12, -1.5e3 or"
        + " 0xff."
    case .reservedWord(let word, let offset):
      "Found the reserved word \"\(word)\" at character \(offset + 1); expected a value (a name is written #\(word))."
    case .unknownOption(let text, let offset):
      "Found the option [\(text)] at character \(offset + 1); expected c, d, n or several of them."
    case .formatArgument(let offset):
      "Found % at character \(offset + 1); expected a value, since there are no arguments to fill in."
    case .argumentCount(let found, let expected):
      "There are \(found) arguments; expected \(expected), one for each place in the text."
    case .argumentKind(let offset, let found, let expected):
      "The argument for the % at character \(offset + 1) is \(found); expected \(expected)."
    }
  }
}
