import HeirloomModel

enum ExpressionReading {
  static func predicate(_ text: String) -> PredicateDescription {
    (try? PredicateDescription(parsing: text)) ?? .unparsed(text)
  }

  static func expression(_ text: String) -> ValueExpression {
    (try? ValueExpression(parsing: text)) ?? .unparsed(text)
  }
}
