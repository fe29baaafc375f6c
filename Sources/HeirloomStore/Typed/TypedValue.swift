public import Foundation
public import HeirloomModel

/// A Swift type for attributes' values, used by the code that `heirloom generate` writes.
public protocol TypedValue {
  /// Creates a value from an attribute's; `nil` if this type can't represent it, or can't represent a missing value.
  init?(attributeValue: AttributeValue?)
  /// The value as an attribute holds it; `nil` for no value.
  var attributeValue: AttributeValue? { get }
}

extension Optional: TypedValue where Wrapped: TypedValue {
  /// Creates a value that may be missing.
  public init?(attributeValue: AttributeValue?) {
    guard let attributeValue else {
      self = .none
      return
    }
    guard let value = Wrapped(attributeValue: attributeValue) else { return nil }
    self = .some(value)
  }

  /// The value, if there is one.
  public var attributeValue: AttributeValue? { flatMap(\.attributeValue) }
}

extension String: TypedValue {
  /// Creates a text.
  public init?(attributeValue: AttributeValue?) {
    guard case .string(let text) = attributeValue else { return nil }
    self = text
  }

  /// The text.
  public var attributeValue: AttributeValue? { .string(self) }
}

extension Int16: TypedValue {
  /// Creates a number; `nil` if it is out of range.
  public init?(attributeValue: AttributeValue?) {
    guard case .integer(let number) = attributeValue else { return nil }
    self.init(exactly: number)
  }

  /// The number.
  public var attributeValue: AttributeValue? { .integer(Int64(self)) }
}

extension Int32: TypedValue {
  /// Creates a number; `nil` if it is out of range.
  public init?(attributeValue: AttributeValue?) {
    guard case .integer(let number) = attributeValue else { return nil }
    self.init(exactly: number)
  }

  /// The number.
  public var attributeValue: AttributeValue? { .integer(Int64(self)) }
}

extension Int64: TypedValue {
  /// Creates a number.
  public init?(attributeValue: AttributeValue?) {
    guard case .integer(let number) = attributeValue else { return nil }
    self = number
  }

  /// The number.
  public var attributeValue: AttributeValue? { .integer(self) }
}

extension Double: TypedValue {
  /// Creates a number.
  public init?(attributeValue: AttributeValue?) {
    guard case .double(let number) = attributeValue else { return nil }
    self = number
  }

  /// The number.
  public var attributeValue: AttributeValue? { .double(self) }
}

extension Float: TypedValue {
  /// Creates the nearest number.
  public init?(attributeValue: AttributeValue?) {
    guard case .double(let number) = attributeValue else { return nil }
    self.init(number)
  }

  /// The number.
  public var attributeValue: AttributeValue? { .double(Double(self)) }
}

extension Bool: TypedValue {
  /// Creates a truth value.
  public init?(attributeValue: AttributeValue?) {
    guard case .boolean(let flag) = attributeValue else { return nil }
    self = flag
  }

  /// The truth value.
  public var attributeValue: AttributeValue? { .boolean(self) }
}

extension Decimal: TypedValue {
  /// Creates a number.
  public init?(attributeValue: AttributeValue?) {
    guard case .decimal(let text) = attributeValue else { return nil }
    self.init(string: text)
  }

  /// The number.
  public var attributeValue: AttributeValue? { .decimal(description) }
}

extension Date: TypedValue {
  /// Creates a date.
  public init?(attributeValue: AttributeValue?) {
    guard case .date(let seconds) = attributeValue else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }

  /// The date.
  public var attributeValue: AttributeValue? { .date(timeIntervalSinceReferenceDate) }
}

extension Data: TypedValue {
  /// Creates the bytes of a binary or transformable attribute.
  public init?(attributeValue: AttributeValue?) {
    guard case .binary(let bytes) = attributeValue else { return nil }
    self.init(bytes)
  }

  /// The bytes.
  public var attributeValue: AttributeValue? { .binary(Array(self)) }
}

extension UUID: TypedValue {
  /// Creates a UUID.
  public init?(attributeValue: AttributeValue?) {
    guard case .uuid(let b) = attributeValue, b.count == 16 else { return nil }
    self.init(
      uuid: (b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]))
  }

  /// The UUID.
  public var attributeValue: AttributeValue? { .uuid(withUnsafeBytes(of: uuid) { Array($0) }) }
}

extension URL: TypedValue {
  /// Creates a URL; `nil` if the text isn't one.
  public init?(attributeValue: AttributeValue?) {
    guard case .uri(let text) = attributeValue else { return nil }
    self.init(string: text)
  }

  /// The URL's absolute text.
  public var attributeValue: AttributeValue? { .uri(absoluteString) }
}

extension AttributeValue {
  /// Returns an element of a composite value; `nil` if it has another type, or is missing and the type is not optional.
  public func element<Value: TypedValue>(_ name: String) -> Value? {
    guard let elements else { return nil }
    return Value(attributeValue: elements[name])
  }
}

extension AttributeValue {
  /// Returns the value of a date.
  public static func date(_ date: Date) -> AttributeValue {
    .date(date.timeIntervalSinceReferenceDate)
  }
}
