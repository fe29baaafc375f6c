struct ExpressionPrinter {
  enum Style {
    /// Core Data's text, except where it would parse to another value.
    case exact
    /// Core Data's exact text, as in version hashes.
    case hashed
  }

  let style: Style
  private(set) var text: String = ""

  init(style: Style) { self.style = style }

  /// The precedence of an operand that needs no parentheses.
  private static let postfixPrecedence = 10
  private static let prefixPrecedence = 9

  // MARK: - Values

  mutating func write(_ expression: ValueExpression, minimum: Int = 0) {
    let needsParentheses = precedence(of: expression) < minimum
    if needsParentheses { text += "(" }
    writeBare(expression)
    if needsParentheses { text += ")" }
  }

  private func precedence(of expression: ValueExpression) -> Int {
    switch expression {
    case .setOperation: FunctionSelector.setOperationPrecedence
    case .unparsed: -1
    case .constant(.value(.integer)), .constant(.value(.double)): Self.prefixPrecedence
    case .function(nil, FunctionSelector.complement, let arguments) where arguments.count == 1: Self.prefixPrecedence
    case .function(nil, let selector, let arguments): infix(selector, arguments)?.precedence ?? Self.postfixPrecedence
    default: Self.postfixPrecedence
    }
  }

  private func infix(_ selector: String, _ arguments: [ValueExpression]) -> FunctionSelector.Infix? {
    guard arguments.count == 2 else { return nil }
    return FunctionSelector.infixes.first { $0.selector == selector }
  }

  private mutating func writeBare(_ expression: ValueExpression) {
    switch expression {
    case .constant(let constant): write(constant)
    case .evaluatedObject: text += "SELF"
    case .variable(let name): text += "$" + name
    case .keyPath(let operand, let path): write(path, of: operand)
    case .function(let operand, let selector, let arguments): write(selector, of: operand, arguments)
    case .aggregate(let elements):
      text += "{"
      write(elements)
      text += "}"
    case .subquery(let collection, let variable, let predicate):
      text += "SUBQUERY("
      write(collection)
      text += ", $" + variable + ", "
      write(predicate)
      text += ")"
    case .fetch(let request, let context, let countOnly):
      text += "FETCH("
      write([request, context])
      text += countOnly ? ", YES)" : ", NO)"
    case .conditional(let predicate, let then, let otherwise):
      text += "TERNARY("
      write(predicate)
      text += ", "
      write([then, otherwise])
      text += ")"
    case .setOperation(let operation, let left, let right):
      write(left, minimum: FunctionSelector.setOperationPrecedence)
      text += " " + operation.rawValue + " "
      write(right, minimum: FunctionSelector.setOperationPrecedence + 1)
    case .unparsed(let original): text += original
    }
  }

  private mutating func write(_ expressions: [ValueExpression]) {
    for (index, expression) in expressions.enumerated() {
      if index > 0 { text += ", " }
      write(expression)
    }
  }

  // MARK: - Key paths

  private mutating func write(_ path: String, of operand: ValueExpression) {
    switch operand {
    case .evaluatedObject: break
    case .keyPath:
      text += "("
      write(operand)
      text += ")."
    default:
      write(operand, minimum: Self.postfixPrecedence)
      text += "."
    }
    let names = path.names(separatedBy: ".")
    text += names.map { escaped(String($0)) }.joined(separator: ".")
  }

  private func escaped(_ name: String) -> String {
    ReservedWord(name) == nil ? name : "#" + name
  }

  // MARK: - Functions

  private mutating func write(_ selector: String, of operand: ValueExpression?, _ arguments: [ValueExpression]) {
    if let operand, !(style == .hashed && operand == .constant(.className(FunctionSelector.builtInReceiver))) {
      text += "FUNCTION("
      write(operand)
      text += ", " + Self.quoted(selector)
      // Core Data writes a space before the comma here.
      if !arguments.isEmpty { text += style == .hashed ? " , " : ", " }
      write(arguments)
      text += ")"
      return
    }
    if writeSpecial(selector, arguments) { return }
    text += escaped(selector) + "("
    write(arguments)
    text += ")"
  }

  /// Returns false for a function without a notation of its own.
  private mutating func writeSpecial(_ selector: String, _ arguments: [ValueExpression]) -> Bool {
    if let infix = infix(selector, arguments) {
      write(arguments[0], minimum: infix.precedence + (infix.isRightAssociative ? 1 : 0))
      text += " " + infix.sign + " "
      write(arguments[1], minimum: infix.precedence + (infix.isRightAssociative ? 0 : 1))
      return true
    }
    switch (selector, arguments.count) {
    case (FunctionSelector.index, 2):
      // The operand needs parentheses if it would otherwise merge with the index, as in `(a)[0]`; an index isn't part
      // of a path.
      write(arguments[0], minimum: Self.postfixPrecedence)
      text += "["
      if case .function(nil, let symbol, let none) = arguments[1], none.isEmpty,
        FunctionSelector.indexSymbols.contains(symbol)
      {
        text += symbol
      } else {
        write(arguments[1])
      }
      text += "]"
      return true
    case (FunctionSelector.complement, 1):
      text += "~"
      write(arguments[0], minimum: Self.prefixPrecedence)
      return true
    case (FunctionSelector.cast, 2):
      // `CAST` of a constant parses as a constant, so the function is written out where that would happen.
      if style == .exact, case .constant(.value(.string(let type))) = arguments[1],
        ConstantValue(casting: arguments[0], to: type) != nil
      {
        return false
      }
      text += "CAST("
      write(arguments)
      text += ")"
      return true
    default:
      return false
    }
  }

  // MARK: - Predicates

  mutating func write(_ predicate: PredicateDescription) {
    switch predicate {
    case .alwaysTrue: text += "TRUEPREDICATE"
    case .alwaysFalse: text += "FALSEPREDICATE"
    case .comparison(let comparison): write(comparison)
    case .and(let conditions): write(conditions, word: " AND ", empty: "TRUEPREDICATE")
    case .or(let conditions): write(conditions, word: " OR ", empty: "FALSEPREDICATE")
    case .not(let condition):
      text += "NOT "
      writeOperand(condition)
    case .unparsed(let original): text += original
    }
  }

  private mutating func write(_ conditions: [PredicateDescription], word: String, empty: String) {
    if conditions.isEmpty { text += empty }
    if conditions.count == 1 { return write(conditions[0]) }
    for (index, condition) in conditions.enumerated() {
      if index > 0 { text += word }
      writeOperand(condition)
    }
  }

  private mutating func writeOperand(_ condition: PredicateDescription) {
    switch condition {
    case .and(let inner) where inner.count == 1, .or(let inner) where inner.count == 1:
      writeOperand(inner[0])
    case .and(let inner) where inner.count > 1, .or(let inner) where inner.count > 1:
      parenthesize(condition)
    case .unparsed:
      parenthesize(condition)
    default:
      write(condition)
    }
  }

  private mutating func parenthesize(_ condition: PredicateDescription) {
    text += "("
    write(condition)
    text += ")"
  }

  private mutating func write(_ comparison: PredicateDescription.Comparison) {
    switch comparison.modifier {
    case .direct: break
    case .any: text += "ANY "
    case .all: text += "ALL "
    }
    write(comparison.left, minimum: 0)
    text += " " + comparison.comparator.text
    let options =
      (comparison.isCaseInsensitive ? "c" : "") + (comparison.isDiacriticInsensitive ? "d" : "")
      + (comparison.isNormalized ? "n" : "")
    if !options.isEmpty { text += "[" + options + "]" }
    text += " "
    write(comparison.right, minimum: 0)
  }

  // MARK: - Constants

  private mutating func write(_ constant: ConstantValue) {
    switch constant {
    case .null: text += "nil"
    case .value(let value): text += style == .exact ? Self.exactText(value) : Self.hashedText(value)
    case .className(let name): text += style == .exact ? Self.cast(Self.quoted(name), .class) : name
    case .array(let elements):
      if style == .exact { text += "CAST(" }
      text += "{"
      for (index, element) in elements.enumerated() {
        if index > 0 { text += ", " }
        write(element)
      }
      text += "}"
      if style == .exact { text += ", " + Self.quoted(CastType.array.rawValue) + ")" }
    }
  }
}

extension PredicateDescription.Comparator {
  var text: String {
    switch self {
    case .lessThan: "<"
    case .lessThanOrEqual: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqual: ">="
    case .equal: "=="
    case .notEqual: "!="
    case .matches: "MATCHES"
    case .like: "LIKE"
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .in: "IN"
    case .customSelector: "CUSTOMSELECTOR"
    case .contains: "CONTAINS"
    case .between: "BETWEEN"
    }
  }
}
