/// An expression in a model or mapping model (`NSExpression`).
public indirect enum ValueExpression: Hashable, Sendable {
  /// A fixed value.
  case constant(ConstantValue)
  /// `SELF`, the object or value that the expression is evaluated on.
  case evaluatedObject
  /// A variable, by name without its `$`.
  case variable(String)
  /// The value at a key path of the operand, such as `author.name` or `items.@count`.
  case keyPath(operand: ValueExpression, path: String)
  /// A function with arguments, named by its selector, such as `count:`, `now`, `add:to:`.
  ///
  /// The operand is `nil` for the built-in functions and the receiver for `FUNCTION(receiver, selector, …)`.
  /// Operators are functions: `a + b` is `add:to:`, `a[0]` is `objectFrom:withIndex:`, `CAST(a, "T")` is
  /// `castObject:toType:`. The keywords in `a[FIRST]`, `a[LAST]` and `a[SIZE]` are functions without arguments.
  case function(operand: ValueExpression?, selector: String, arguments: [ValueExpression])
  /// A list, written `{a, b}`.
  case aggregate([ValueExpression])
  /// `SUBQUERY(collection, $variable, predicate)`.
  case subquery(collection: ValueExpression, variable: String, predicate: PredicateDescription)
  /// `FETCH(request, context, countOnly)`.
  case fetch(request: ValueExpression, context: ValueExpression, countOnly: Bool)
  /// `TERNARY(predicate, a, b)`.
  case conditional(predicate: PredicateDescription, then: ValueExpression, otherwise: ValueExpression)
  /// `a UNION b`, `a INTERSECT b`, `a MINUS b`.
  case setOperation(SetOperator, ValueExpression, ValueExpression)
  /// Text that could not be parsed, unchanged.
  case unparsed(String)

  /// An operation on two collections.
  public enum SetOperator: String, Hashable, Sendable {
    /// Elements of either.
    case union = "UNION"
    /// Elements of both.
    case intersect = "INTERSECT"
    /// Elements of the first that are not in the second.
    case minus = "MINUS"
  }
}

/// A fixed value in an expression.
public indirect enum ConstantValue: Hashable, Sendable {
  /// No value.
  case null
  /// A value of one of the attribute types.
  case value(AttributeValue)
  /// A list of values.
  case array([ConstantValue])
  /// A class by its name, as the receiver of a function.
  case className(String)
}

extension ValueExpression {
  /// Returns a key path of the evaluated object.
  public static func keyPath(_ path: String) -> ValueExpression {
    .keyPath(operand: .evaluatedObject, path: path)
  }
}
