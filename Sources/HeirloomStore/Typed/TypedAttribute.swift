public import HeirloomModel

/// An attribute with the type of its values, for conditions and sort orders of fetches.
public struct TypedAttribute<Value: TypedValue> {
  /// The path from the fetched objects, through to-one relationships and composite attributes.
  public let keyPath: String

  /// Creates an attribute at a path.
  public init(_ keyPath: String) {
    self.keyPath = keyPath
  }

  /// The order with smaller values first; objects without a value precede them.
  public var ascending: SortDescription { SortDescription(keyPath: keyPath) }
  /// The order with larger values first; objects without a value follow them.
  public var descending: SortDescription { SortDescription(keyPath: keyPath, ascending: false) }

  /// Returns the condition that the value equals another; `nil` matches objects without a value.
  public static func == (attribute: Self, value: Value?) -> PredicateDescription {
    attribute.compared(.equal, value)
  }

  /// Returns the condition that the value differs from another; `nil` matches objects with any value.
  public static func != (attribute: Self, value: Value?) -> PredicateDescription {
    attribute.compared(.notEqual, value)
  }

  /// Returns the condition that the value is one of a list.
  public func isOne(of values: [Value]) -> PredicateDescription {
    .comparison(
      .init(left: .keyPath(keyPath), comparator: .in, right: .aggregate(values.map { Self.constant($0) })))
  }

  private func compared(
    _ comparator: PredicateDescription.Comparator, _ value: Value?
  ) -> PredicateDescription {
    .comparison(.init(left: .keyPath(keyPath), comparator: comparator, right: Self.constant(value)))
  }

  private static func constant(_ value: Value?) -> ValueExpression {
    .constant(value?.attributeValue.map { .value($0) } ?? .null)
  }
}

extension TypedAttribute where Value: Comparable {
  /// Returns the condition that the value is less than a given one.
  public static func < (attribute: Self, value: Value) -> PredicateDescription {
    attribute.compared(.lessThan, value)
  }

  /// Returns the condition that the value is at most a given one.
  public static func <= (attribute: Self, value: Value) -> PredicateDescription {
    attribute.compared(.lessThanOrEqual, value)
  }

  /// Returns the condition that the value is greater than a given one.
  public static func > (attribute: Self, value: Value) -> PredicateDescription {
    attribute.compared(.greaterThan, value)
  }

  /// Returns the condition that the value is at least a given one.
  public static func >= (attribute: Self, value: Value) -> PredicateDescription {
    attribute.compared(.greaterThanOrEqual, value)
  }
}

extension TypedAttribute<String> {
  /// Returns the condition that the text contains another.
  public func contains(_ text: String) -> PredicateDescription { compared(.contains, text) }

  /// Returns the condition that the text begins with another.
  public func hasPrefix(_ text: String) -> PredicateDescription { compared(.beginsWith, text) }

  /// Returns the condition that the text ends with another.
  public func hasSuffix(_ text: String) -> PredicateDescription { compared(.endsWith, text) }
}

extension PredicateDescription {
  /// Returns the condition that both conditions are met.
  public static func && (left: Self, right: Self) -> Self { .and([left, right]) }

  /// Returns the condition that at least one of two conditions is met.
  public static func || (left: Self, right: Self) -> Self { .or([left, right]) }

  /// Returns the opposite of a condition.
  public static prefix func ! (condition: Self) -> Self { .not(condition) }
}
