/// The types that `CAST` converts constants to, by their names in predicate text.
enum CastType: String {
  case date = "NSDate"
  case uuid = "NSUUID"
  case url = "NSURL"
  case data = "NSData"
  case decimal = "NSDecimalNumber"
  case number = "NSNumber"
  case array = "NSArray"
  case `class` = "Class"
}

extension ConstantValue {
  /// `nil` if the cast must be done for each value.
  init?(casting operand: ValueExpression, to type: String) {
    guard let type = CastType(rawValue: type) else { return nil }
    switch (type, operand) {
    case (.date, .constant(.value(.integer(let seconds)))):
      guard let exact = Double(exactly: seconds) else { return nil }
      self = .value(.date(exact))
    case (.date, .constant(.value(.double(let seconds)))):
      self = .value(.date(seconds))
    case (.uuid, .constant(.value(.string(let text)))):
      guard let bytes = [UInt8](hexadecimal: text.replacing("-", with: "")) else { return nil }
      self = .value(.uuid(bytes))
    case (.url, .constant(.value(.string(let text)))):
      self = .value(.uri(text))
    case (.data, .constant(.value(.string(let text)))):
      guard let bytes = [UInt8](hexadecimal: text) else { return nil }
      self = .value(.binary(bytes))
    case (.decimal, .constant(.value(.string(let text)))):
      self = .value(.decimal(text))
    case (.number, .constant(.value(.string(let text)))):
      // Infinities and NaN, which have no digits.
      guard let value = Double(text), !value.isFinite else { return nil }
      self = .value(.double(value))
    case (.class, .constant(.value(.string(let name)))):
      self = .className(name)
    case (.array, .aggregate(let elements)):
      var constants: [ConstantValue] = []
      for element in elements {
        guard case .constant(let constant) = element else { return nil }
        constants.append(constant)
      }
      self = .array(constants)
    default:
      return nil
    }
  }
}

extension [UInt8] {
  init?(hexadecimal text: String) {
    var bytes: [UInt8] = []
    var high: UInt8?
    for unit in text.utf8 {
      let digit: UInt8
      switch unit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = unit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = unit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = unit - UInt8(ascii: "A") + 10
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    guard high == nil else { return nil }
    self = bytes
  }
}
