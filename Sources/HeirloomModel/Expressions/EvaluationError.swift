/// An expression or predicate that has no value for an object.
///
/// Values of the object stay out of it: they are user data.
@nonexhaustive
public enum EvaluationError: Error, Hashable, Sendable {
  /// The text of the expression could not be parsed.
  case unparsed(String)
  /// A function is neither built in nor among those that were given.
  case unknownFunction(selector: String, known: [String])
  /// A variable has no value.
  case unknownVariable(name: String, known: [String])
  /// An object has no property of that name.
  case unknownKey(String)
  /// An operation or function got a kind of value that it can't use.
  case wrongKind(operation: String, found: String, expected: String)
  /// A function has too many or too few arguments.
  case wrongArgumentCount(selector: String, found: Int, expected: Int)
  /// A number does not fit its type.
  case overflow(operation: String)
  /// A number was divided by zero.
  case divisionByZero
  /// An index is not below the number of elements.
  case indexOutOfRange(index: Int64, count: Int)
  /// The pattern of `MATCHES` is no regular expression that is understood.
  case invalidPattern(pattern: String, reason: String)
  /// The expression asks for something that evaluation does not do.
  case unsupported(String)
  /// The expression is nested more deeply than the limit.
  case tooDeep(limit: Int)
}

extension EvaluationError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
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
      "The object has no property \"\(key.prefix(200))\" that an expression can look at."
    case .wrongKind(let operation, let found, let expected):
      "\(operation) got \(found); expected \(expected)."
    case .wrongArgumentCount(let selector, let found, let expected):
      "The function \"\(selector.prefix(200))\" got \(found) arguments; expected \(expected)."
    case .overflow(let operation):
      "The result of \(operation) is too large for a number; expected one that fits 64 bits or a double."
    case .divisionByZero:
      "A number was divided by zero; expected another divisor."
    case .indexOutOfRange(let index, let count):
      "The index \(index) was asked of \(count) elements; expected one from 0 up to the number of elements."
    case .invalidPattern(let pattern, let reason):
      "The pattern \"\(pattern.prefix(200))\" is no regular expression that is understood: \(reason)."
    case .unsupported(let what):
      "\(what) can't be evaluated here; expected an expression without it."
    case .tooDeep(let limit):
      "The expression is nested more than \(limit) levels deep; expected a simpler one."
    }
  }
}
