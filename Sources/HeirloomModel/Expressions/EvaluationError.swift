/// A failed evaluation of an expression or predicate.
///
/// The error doesn't contain values of the object: they are user data.
@nonexhaustive
public enum EvaluationError: Error, Hashable, Sendable {
  /// The text of an expression that could not be parsed.
  case unparsed(String)
  /// A function that is neither built in nor supplied.
  case unknownFunction(selector: String, known: [String])
  /// A variable without a value.
  case unknownVariable(name: String, known: [String])
  /// A key that names no property of the object.
  case unknownKey(String)
  /// A kind of value that an operation or function can't use.
  case wrongKind(operation: String, found: String, expected: String)
  /// A function with too many or too few arguments.
  case wrongArgumentCount(selector: String, found: Int, expected: Int)
  /// A number that does not fit its type.
  case overflow(operation: String)
  /// A division by zero.
  case divisionByZero
  /// An index outside the range of the elements.
  case indexOutOfRange(index: Int64, count: Int)
  /// A pattern of `MATCHES` that is not a supported regular expression.
  case invalidPattern(pattern: String, reason: String)
  /// A part of the expression that evaluation does not support.
  case unsupported(String)
  /// An expression that is nested more deeply than the limit.
  case tooDeep(limit: Int)
}

extension EvaluationError: CustomStringConvertible {
  /// One sentence with the problem and what was expected.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .unparsed(let text):
      "\"\(text.prefix(200))\" could not be parsed; expected a predicate or expression."
    case .unknownFunction(let selector, let known):
      "There is no function \"\(selector.prefix(200))\"; the known ones are \(known.joined(separator: ", "))."
    case .unknownVariable(let name, let known):
      "The variable $\(name.prefix(200)) has no value; the known ones are "
        + (known.isEmpty ? "none." : known.map { "$" + $0 }.joined(separator: ", ") + ".")
    case .unknownKey(let key):
      "The object has no property \"\(key.prefix(200))\" that an expression can read."
    case .wrongKind(let operation, let found, let expected):
      "\(operation) got \(found); expected \(expected)."
    case .wrongArgumentCount(let selector, let found, let expected):
      "The function \"\(selector.prefix(200))\" got \(found) arguments; expected \(expected)."
    case .overflow(let operation):
      "The result of \(operation) is too large for a number; expected one that fits 64 bits or a double."
    case .divisionByZero:
      "A number was divided by zero; expected another divisor."
    case .indexOutOfRange(let index, let count):
      "The index \(index) is out of range for \(count) elements; expected one from 0 up to the number of elements."
    case .invalidPattern(let pattern, let reason):
      "The pattern \"\(pattern.prefix(200))\" is not a supported regular expression: \(reason)."
    case .unsupported(let what):
      "\(what) can't be evaluated here; expected an expression without it."
    case .tooDeep(let limit):
      "The expression is nested more than \(limit) levels deep; expected a simpler one."
    }
  }
}
