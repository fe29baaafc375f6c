public import Foundation
public import HeirloomModel

/// A value for `%@` or another placeholder in the condition of a fetch.
public protocol FetchArgument {
  /// The argument as a value for expressions.
  var fetchArgument: EvaluatedValue { get }
}

extension String: FetchArgument {
  /// The text.
  public var fetchArgument: EvaluatedValue { .string(self) }
}

extension Int: FetchArgument {
  /// The number.
  public var fetchArgument: EvaluatedValue { .integer(Int64(self)) }
}

extension Int16: FetchArgument {
  /// The number.
  public var fetchArgument: EvaluatedValue { .integer(Int64(self)) }
}

extension Int32: FetchArgument {
  /// The number.
  public var fetchArgument: EvaluatedValue { .integer(Int64(self)) }
}

extension Int64: FetchArgument {
  /// The number.
  public var fetchArgument: EvaluatedValue { .integer(self) }
}

extension Double: FetchArgument {
  /// The number.
  public var fetchArgument: EvaluatedValue { .double(self) }
}

extension Float: FetchArgument {
  /// The number.
  public var fetchArgument: EvaluatedValue { .double(Double(self)) }
}

extension Bool: FetchArgument {
  /// The truth value.
  public var fetchArgument: EvaluatedValue { .boolean(self) }
}

extension Date: FetchArgument {
  /// The date.
  public var fetchArgument: EvaluatedValue { .value(.date(timeIntervalSinceReferenceDate)) }
}

extension Data: FetchArgument {
  /// The bytes.
  public var fetchArgument: EvaluatedValue { .value(.binary(Array(self))) }
}

extension UUID: FetchArgument {
  /// The UUID.
  public var fetchArgument: EvaluatedValue { withUnsafeBytes(of: uuid) { .value(.uuid(Array($0))) } }
}

extension URL: FetchArgument {
  /// The URL's absolute text.
  public var fetchArgument: EvaluatedValue { .value(.uri(absoluteString)) }
}

extension Decimal: FetchArgument {
  /// The number.
  public var fetchArgument: EvaluatedValue { .value(.decimal(description)) }
}

extension AttributeValue: FetchArgument {
  /// The value.
  public var fetchArgument: EvaluatedValue { .value(self) }
}

extension Dictionary: FetchArgument where Key == String, Value == AttributeValue {
  /// The elements of a composite value.
  public var fetchArgument: EvaluatedValue { .value(.composite(self)) }
}

extension ManagedObject: FetchArgument {
  /// The object.
  public var fetchArgument: EvaluatedValue { .object(self) }
}

extension Array: FetchArgument where Element: FetchArgument {
  /// The elements, for `IN`.
  public var fetchArgument: EvaluatedValue { .list(map(\.fetchArgument)) }
}

extension Set: FetchArgument where Element: FetchArgument {
  /// The elements, for `IN`.
  public var fetchArgument: EvaluatedValue { .list(map(\.fetchArgument)) }
}

extension Optional: FetchArgument where Wrapped: FetchArgument {
  /// The value, if there is one.
  public var fetchArgument: EvaluatedValue { self?.fetchArgument ?? .null }
}
