import HeirloomModel

/// The one place where the readers turn text into predicates and expressions.
enum ExpressionReading {
  /// Returns a predicate; the text itself if it can't be parsed.
  static func predicate(_ text: String) -> PredicateDescription {
    (try? PredicateDescription(parsing: text)) ?? .unparsed(text)
  }

  /// Returns an expression; the text itself if it can't be parsed.
  static func expression(_ text: String) -> ValueExpression {
    (try? ValueExpression(parsing: text)) ?? .unparsed(text)
  }
}
