import HeirloomModel

/// The parsing of predicates and expressions, shared by all readers.
enum ExpressionReading {
  /// Parses a predicate; one that can't be parsed is kept as text.
  static func predicate(_ text: String) -> PredicateDescription {
    (try? PredicateDescription(parsing: text)) ?? .unparsed(text)
  }

  /// Parses an expression; one that can't be parsed is kept as text.
  static func expression(_ text: String) -> ValueExpression {
    (try? ValueExpression(parsing: text)) ?? .unparsed(text)
  }
}
