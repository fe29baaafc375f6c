/// A value that an app archived with `NSKeyedArchiver` in a binary or transformable attribute.
///
/// ```swift
/// let questions = try ArchivedValue(decoding: bytes).arrayValue ?? []
/// let texts = questions.map(\.stringValue)          // nil for a missing answer
/// let bytes = try ArchivedValue.array(["Why?", .null]).encoded()
/// ```
public indirect enum ArchivedValue: Hashable, Sendable {
  /// Nothing, `NSNull`.
  case null
  /// A truth value.
  case boolean(Bool)
  /// A whole number.
  case integer(Int64)
  /// A floating-point number.
  case double(Double)
  /// A decimal number (`NSDecimalNumber`), as text.
  case decimal(String)
  /// Text, without the attributes of attributed text.
  case string(String)
  /// Bytes.
  case data([UInt8])
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  /// A UUID, 16 bytes.
  case uuid([UInt8])
  /// A URL's text.
  case url(String)
  /// An array or an ordered set.
  case array([ArchivedValue])
  /// A set, in the order of the archive.
  case set([ArchivedValue])
  /// A dictionary; keys are mostly text.
  case dictionary([ArchivedValue: ArchivedValue])
  /// An object of any other class, with its archived members by key.
  case object(className: String, members: [String: ArchivedValue])

  /// Decodes an archive.
  ///
  /// Bytes from a store are not trusted: time and memory are proportional to their number, whatever they contain.
  ///
  /// - Parameter bytes: A whole archive, as written by `NSKeyedArchiver`.
  /// - Throws: ``ArchivedValueError``.
  public init(decoding bytes: some Collection<UInt8>) throws(ArchivedValueError) {
    self = try ArchivedValueReader.value(Array(bytes), limits: Limits())
  }

  package init(decoding bytes: some Collection<UInt8>, limits: Limits) throws(ArchivedValueError) {
    self = try ArchivedValueReader.value(Array(bytes), limits: limits)
  }

  /// Encodes the value as `NSKeyedArchiver` would, so that Apple's frameworks can decode it.
  ///
  /// - Returns: A whole archive.
  /// - Throws: ``ArchivedValueError/unsupportedClass(_:)`` for an ``object(className:members:)``, or
  ///   ``ArchivedValueError/unencodable(reason:)``.
  public func encoded() throws(ArchivedValueError) -> [UInt8] {
    try ArchivedValueWriter.bytes(of: self)
  }

  package struct Limits: Hashable, Sendable {
    package var byteCount: Int = 64 << 20
    package var depth: Int = 128
    /// A shared value counts each time.
    package var valueCount: Int = 1_000_000
    /// Of text and data; a shared value counts each time.
    package var contentByteCount: Int = 256 << 20

    package init() {}
  }
}

extension ArchivedValue {
  /// True for ``null``.
  public var isNull: Bool { self == .null }

  /// The text; `nil` for another value.
  public var stringValue: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// The truth value, also of the numbers 0 and 1; `nil` for another value.
  public var booleanValue: Bool? {
    switch self {
    case .boolean(let value): value
    case .integer(0): false
    case .integer(1): true
    default: nil
    }
  }

  /// The whole number; `nil` for another value.
  public var integerValue: Int64? {
    guard case .integer(let value) = self else { return nil }
    return value
  }

  /// The floating-point or whole number; `nil` for another value.
  public var doubleValue: Double? {
    switch self {
    case .double(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }

  /// The bytes; `nil` for another value.
  public var dataValue: [UInt8]? {
    guard case .data(let value) = self else { return nil }
    return value
  }

  /// The seconds since 2001-01-01 00:00:00 UTC; `nil` for another value.
  public var dateValue: Double? {
    guard case .date(let value) = self else { return nil }
    return value
  }

  /// The elements of an array or a set; `nil` for another value.
  public var arrayValue: [ArchivedValue]? {
    switch self {
    case .array(let elements), .set(let elements): elements
    default: nil
    }
  }

  /// The entries of a dictionary; `nil` for another value.
  public var dictionaryValue: [ArchivedValue: ArchivedValue]? {
    guard case .dictionary(let entries) = self else { return nil }
    return entries
  }

  /// The value for a text key of a dictionary or an object; `nil` if there is none.
  public subscript(_ key: String) -> ArchivedValue? {
    switch self {
    case .dictionary(let entries): entries[.string(key)]
    case .object(_, let members): members[key]
    default: nil
    }
  }

  /// Returns an array of texts; `nil` becomes `null`.
  public static func strings(_ texts: [String?]) -> ArchivedValue {
    .array(texts.map { $0.map { .string($0) } ?? .null })
  }
}

extension ArchivedValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Creates a text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates a whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Creates a floating-point number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Creates a truth value.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// Creates an array.
  public init(arrayLiteral elements: ArchivedValue...) { self = .array(elements) }
  /// Creates a dictionary; the last of equal keys is used.
  public init(dictionaryLiteral elements: (ArchivedValue, ArchivedValue)...) {
    self = .dictionary(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}
