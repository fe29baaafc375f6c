/// Strict, and safe on hostile input.
package struct JSONReader {
  package static let depthLimit = 256

  /// Values need far more memory than their text.
  package static let valueLimit = 1_000_000

  private let bytes: [UInt8]
  private var valueCount = 0
  private var position = 0

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  package static func value(of bytes: [UInt8]) throws(FormatError) -> JSONValue {
    var reader = JSONReader(bytes)
    reader.skipBlanks()
    let value = try reader.value(depth: 0)
    reader.skipBlanks()
    guard reader.position == bytes.count else { throw .jsonUnexpected(at: reader.position) }
    return value
  }

  private mutating func value(depth: Int) throws(FormatError) -> JSONValue {
    guard position < bytes.count else { throw .jsonEnds(at: position) }
    valueCount += 1
    guard valueCount <= Self.valueLimit else {
      throw FormatError(
        .byte(position), "The JSON text has more than \(Self.valueLimit) values, at byte \(position).")
    }
    switch bytes[position] {
    case UInt8(ascii: "{"): return .object(try object(depth: depth))
    case UInt8(ascii: "["): return .array(try array(depth: depth))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .boolean(true))
    case UInt8(ascii: "f"): return try word("false", .boolean(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw .jsonUnexpected(at: position)
    }
  }

  private mutating func object(depth: Int) throws(FormatError) -> [String: JSONValue] {
    let start = position
    guard depth < Self.depthLimit else { throw .jsonTooDeep(limit: Self.depthLimit, at: start) }
    position += 1
    var result: [String: JSONValue] = [:]
    skipBlanks()
    if take("}") { return result }
    while true {
      skipBlanks()
      guard position < bytes.count else { throw .jsonEnds(at: position) }
      guard bytes[position] == UInt8(ascii: "\"") else { throw .jsonUnexpected(at: position) }
      let key = try string()
      skipBlanks()
      try expect(":")
      skipBlanks()
      guard result.updateValue(try value(depth: depth + 1), forKey: key) == nil else {
        throw FormatError(
          .byte(start), "The object at byte \(start) of the JSON text has the key \"\(key.prefix(80))\" twice.")
      }
      skipBlanks()
      if take("}") { return result }
      try expect(",")
    }
  }

  private mutating func array(depth: Int) throws(FormatError) -> [JSONValue] {
    guard depth < Self.depthLimit else { throw .jsonTooDeep(limit: Self.depthLimit, at: position) }
    position += 1
    var result: [JSONValue] = []
    skipBlanks()
    if take("]") { return result }
    while true {
      skipBlanks()
      result.append(try value(depth: depth + 1))
      skipBlanks()
      if take("]") { return result }
      try expect(",")
    }
  }

  private mutating func word(_ text: StaticString, _ value: JSONValue) throws(FormatError) -> JSONValue {
    let start = position
    for byte in "\(text)".utf8 {
      guard position < bytes.count else { throw .jsonEnds(at: start) }
      guard bytes[position] == byte else { throw .jsonUnexpected(at: position) }
      position += 1
    }
    return value
  }

  private mutating func number() throws(FormatError) -> JSONValue {
    let start = position
    var isInteger = true
    _ = take("-")
    if !take("0") { try digits(start) }
    if take(".") {
      isInteger = false
      try digits(start)
    }
    if take("e") || take("E") {
      isInteger = false
      if !take("-") { _ = take("+") }
      try digits(start)
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let number = Int64(text) { return .integer(number) }
    guard let number = Double(text), number.isFinite else { throw .jsonNumber(at: start) }
    return .double(number)
  }

  private mutating func digits(_ start: Int) throws(FormatError) {
    let first = position
    while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) { position += 1 }
    guard position > first else { throw .jsonNumber(at: start) }
  }

  private mutating func string() throws(FormatError) -> String {
    let start = position
    position += 1
    let first = position
    // Most strings have no escapes and are copied unchanged.
    while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] != UInt8(ascii: "\\"),
      bytes[position] >= 0x20
    { position += 1 }
    var content = Array(bytes[first..<position])
    while true {
      guard position < bytes.count else { throw .jsonEnds(at: start) }
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(wellFormedUTF8: content) else { throw .jsonString(at: start) }
        return text
      case UInt8(ascii: "\\"):
        content.append(contentsOf: try escape(start))
      case ..<0x20:
        throw .jsonString(at: start)
      default:
        content.append(byte)
      }
    }
  }

  private mutating func escape(_ start: Int) throws(FormatError) -> [UInt8] {
    guard position < bytes.count else { throw .jsonEnds(at: start) }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"):
      var units = [try codeUnit(start)]
      if UTF16.isLeadSurrogate(units[0]), take("\\") {
        guard take("u") else { throw .jsonString(at: start) }
        units.append(try codeUnit(start))
      }
      guard let text = String(wellFormedUTF16: units) else { throw .jsonString(at: start) }
      return Array(text.utf8)
    default: throw .jsonString(at: start)
    }
  }

  private mutating func codeUnit(_ start: Int) throws(FormatError) -> UInt16 {
    guard position + 4 <= bytes.count else { throw .jsonEnds(at: start) }
    let text = String(decoding: bytes[position..<position + 4], as: UTF8.self)
    guard text.allSatisfy(\.isHexDigit), let unit = UInt16(text, radix: 16) else { throw .jsonString(at: start) }
    position += 4
    return unit
  }

  private mutating func skipBlanks() {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func expect(_ character: Unicode.Scalar) throws(FormatError) {
    guard position < bytes.count else { throw .jsonEnds(at: position) }
    guard take(character) else { throw .jsonUnexpected(at: position) }
  }
}

extension FormatError {
  fileprivate static func jsonEnds(at offset: Int) -> FormatError {
    FormatError(.byte(offset), "The JSON text ends too early, at byte \(offset).")
  }

  fileprivate static func jsonUnexpected(at offset: Int) -> FormatError {
    FormatError(.byte(offset), "The JSON text has an unexpected character at byte \(offset).")
  }

  fileprivate static func jsonString(at offset: Int) -> FormatError {
    FormatError(.byte(offset), "The string at byte \(offset) of the JSON text is invalid.")
  }

  fileprivate static func jsonNumber(at offset: Int) -> FormatError {
    FormatError(.byte(offset), "The number at byte \(offset) of the JSON text is invalid or out of range.")
  }

  fileprivate static func jsonTooDeep(limit: Int, at offset: Int) -> FormatError {
    FormatError(.byte(offset), "The JSON text is nested more than \(limit) levels deep at byte \(offset).")
  }
}
