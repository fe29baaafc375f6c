extension ExpressionPrinter {
  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case "\u{0}"..."\u{1f}", "\u{7f}":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  static func cast(_ operand: String, _ type: CastType) -> String {
    "CAST(" + operand + ", " + quoted(type.rawValue) + ")"
  }

  /// Parses to the same value.
  static func exactText(_ value: AttributeValue) -> String {
    switch value {
    case .integer(let value): return "\(value)"
    case .double(let value):
      return value.isFinite ? "\(value)" : cast(quoted("\(value)"), .number)
    case .decimal(let text): return cast(quoted(text), .decimal)
    case .string(let text): return quoted(text)
    case .boolean(let value): return value ? "YES" : "NO"
    case .date(let seconds):
      guard seconds.isFinite else { return cast(exactText(.double(seconds)), .date) }
      let rounded = sixDecimals(seconds)
      return cast(Double(rounded) == seconds ? rounded : "\(seconds)", .date)
    case .binary(let bytes): return cast(quoted(bytes.hexadecimal), .data)
    case .uuid(let bytes): return cast(quoted(bytes.uuidText), .uuid)
    case .uri(let text): return cast(quoted(text), .url)
    case .composite: return "\(value)"
    }
  }

  /// Core Data's text, confirmed for numbers, strings and dates; the corpus has no others.
  static func hashedText(_ value: AttributeValue) -> String {
    switch value {
    case .integer(let value): return "\(value)"
    case .double(let value):
      let text = "\(value)"
      return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    case .decimal(let text): return text
    case .string(let text): return quoted(text)
    case .boolean(let value): return value ? "1" : "0"
    case .date(let seconds): return cast(sixDecimals(seconds), .date)
    case .binary(let bytes): return "<" + bytes.hexadecimal + ">"
    case .uuid(let bytes): return bytes.uuidText
    case .uri(let text): return text
    case .composite: return "\(value)"
    }
  }

  /// As C's `%f` does.
  static func sixDecimals(_ value: Double) -> String {
    let whole = value.rounded(.towardZero)
    guard let integer = Int64(exactly: whole) else { return "\(value)" }
    let millionths = ((value - whole).magnitude * 1_000_000).rounded(.toNearestOrEven)
    let carries = millionths >= 1_000_000
    let magnitude = integer.magnitude + (carries ? 1 : 0)
    let digits = String(carries ? 0 : Int32(millionths))
    let sign = value < 0 ? "-" : ""
    return sign + "\(magnitude)." + String(repeating: "0", count: 6 - digits.utf8.count) + digits
  }
}
