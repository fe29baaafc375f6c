/// A condition in a model (`NSPredicate`).
public indirect enum PredicateDescription: Hashable, Sendable {
  /// A condition that is always true: `TRUEPREDICATE`.
  case alwaysTrue
  /// A condition that is always false: `FALSEPREDICATE`.
  case alwaysFalse
  /// A comparison of two expressions.
  case comparison(Comparison)
  /// All of the conditions; an empty list is true.
  case and([PredicateDescription])
  /// Any of the conditions; an empty list is false.
  case or([PredicateDescription])
  /// The negation of a condition.
  case not(PredicateDescription)
  /// Text that could not be parsed, unchanged.
  case unparsed(String)

  /// A comparison of two expressions.
  public struct Comparison: Hashable, Sendable {
    /// The left expression.
    public var left: ValueExpression
    /// The operator that compares the two.
    public var comparator: Comparator
    /// The right expression.
    public var right: ValueExpression
    /// The elements of a to-many left side that must meet the condition.
    public var modifier: Modifier
    /// True when case is ignored: `[c]`.
    public var isCaseInsensitive: Bool
    /// True when diacritics are ignored: `[d]`.
    public var isDiacriticInsensitive: Bool
    /// True when text is compared in normalised form and regardless of locale: `[n]`.
    public var isNormalized: Bool

    /// Creates a comparison.
    public init(
      left: ValueExpression, comparator: Comparator, right: ValueExpression, modifier: Modifier = .direct,
      isCaseInsensitive: Bool = false, isDiacriticInsensitive: Bool = false, isNormalized: Bool = false
    ) {
      self.left = left
      self.comparator = comparator
      self.right = right
      self.modifier = modifier
      self.isCaseInsensitive = isCaseInsensitive
      self.isDiacriticInsensitive = isDiacriticInsensitive
      self.isNormalized = isNormalized
    }
  }

  /// The operator that compares two values.
  ///
  /// Raw values are the codes of model archives (`NSPredicateOperatorType`).
  public enum Comparator: Int, Hashable, Sendable {
    /// `<`
    case lessThan = 0
    /// `<=`
    case lessThanOrEqual = 1
    /// `>`
    case greaterThan = 2
    /// `>=`
    case greaterThanOrEqual = 3
    /// `==`
    case equal = 4
    /// `!=`
    case notEqual = 5
    /// `MATCHES`, a regular expression.
    case matches = 6
    /// `LIKE`, with `*` and `?`.
    case like = 7
    /// `BEGINSWITH`
    case beginsWith = 8
    /// `ENDSWITH`
    case endsWith = 9
    /// `IN`
    case `in` = 10
    /// A selector defined by the app.
    case customSelector = 11
    /// `CONTAINS`
    case contains = 99
    /// `BETWEEN`
    case between = 100
  }

  /// The elements of a to-many left side that must meet a condition.
  ///
  /// Raw values are the codes of model archives.
  public enum Modifier: Int, Hashable, Sendable {
    /// The value itself.
    case direct = 0
    /// `ALL`
    case all = 1
    /// `ANY`
    case any = 2
  }
}
