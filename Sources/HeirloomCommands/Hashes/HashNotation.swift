import Heirloom

/// A reader of the forms in which a text has the 32 bytes of a version hash.
///
/// Each function reads a bounded number of bytes from a position on, besides white space.
struct HashNotation {
  /// A hash in the text.
  struct Found {
    let hash: KnownHash
    /// The position after it.
    let end: Int
    /// True where the text ends, or goes on with something else, before the hash does.
    var isCut = false
    /// The hash as far as it is on its first line, where it has several.
    var firstLine: (hash: KnownHash, end: Int)?

    /// True if all bytes are known.
    var isWhole: Bool { hash.byteCount == VersionHash.byteCount }
  }

  private static let digitCount = 2 * VersionHash.byteCount

  /// The text, as ``LogText`` gives it.
  let bytes: [UInt8]

  /// Returns the byte at a position; 0 after the end.
  subscript(position: Int) -> UInt8 { position < bytes.count ? bytes[position] : 0 }

  /// Returns true if a word stands at a position.
  func has(_ word: StaticString, at position: Int) -> Bool {
    guard position + word.utf8CodeUnitCount <= bytes.count else { return false }
    return word.withUTF8Buffer { buffer in buffer.indices.allSatisfy { buffer[$0] == bytes[position + $0] } }
  }

  /// Returns the position of the next byte that is no white space.
  func skipSpace(_ position: Int) -> Int {
    var position = position
    while position < bytes.count, bytes[position].isSpace { position += 1 }
    return position
  }

  // MARK: Hexadecimal digits

  /// Reads `<268efc74 … 1bfb81c0>`, as NSData was described until iOS 12 and macOS 10.14.
  func angle(at start: Int) -> Found? {
    guard self[start] == UInt8(ascii: "<"), let found = digits(at: start + 1) else { return nil }
    guard self[found.end] == UInt8(ascii: ">") else { return cut(found, enough: KnownHash.fewestBytes) }
    return found.isWhole ? Found(hash: found.hash, end: found.end + 1) : nil
  }

  /// Reads `{length = 32, bytes = 0x268efc74 … ... e4ac1d2f 1bfb81c0 }`, as NSData is described since.
  ///
  /// CFData has `capacity = 32` too, and no spaces among the digits.
  func brace(at start: Int) -> Found? {
    var position = skipSpace(start + 1)
    guard self[start] == UInt8(ascii: "{"), has("length", at: position) else { return nil }
    // What is cut before its digits has none.
    var found = Found(hash: KnownHash(), end: position + 6, isCut: true)
    while true {
      let name = position
      while self[position].isASCIILetter { position += 1 }
      let isBytes = has("bytes", at: name)
      position = skipSpace(position)
      guard self[position] == UInt8(ascii: "=") else { return found }
      position = skipSpace(position + 1)
      if isBytes { break }
      let number = position
      while self[position].isDigit, position < number + 4 { position += 1 }
      if has("length", at: name), position > number, !has("32", at: number) || position != number + 2 { return nil }
      position = skipSpace(position)
      guard self[position] == UInt8(ascii: ",") else { return found }
      position = skipSpace(position + 1)
    }
    found = digits(at: position) ?? Found(hash: KnownHash(), end: position)
    let end = skipSpace(found.end)
    guard self[end] == UInt8(ascii: "}") else { return cut(found, enough: 0) }
    return Found(hash: found.hash, end: end + 1)
  }

  /// Reads 64 digits, or some with an ellipsis among them, without any bracket.
  func bare(at start: Int) -> Found? {
    guard let found = digits(at: start), !self[found.end].isNameByte, found.end < bytes.count || found.isWhole else {
      return nil
    }
    return found.isWhole || found.hash.prefix.count >= KnownHash.fewestBytes && !found.hash.suffix.isEmpty ? found : nil
  }

  /// Returns the beginning of a hash whose end is missing, if it has at least a number of bytes.
  ///
  /// Text on further lines need not belong to it.
  private func cut(_ found: Found, enough: Int) -> Found? {
    if found.isWhole { return found }
    let (hash, end) = found.firstLine ?? (found.hash, found.end)
    return hash.prefix.count >= enough ? Found(hash: KnownHash(prefix: hash.prefix), end: end, isCut: true) : nil
  }

  /// Reads digits in groups of any length, perhaps with an ellipsis among them.
  ///
  /// A group that doesn't end as one, such as the first letters of `Added`, isn't taken. After the end of a line, only
  /// groups of eight are, or what makes the last one so: the line may be another message.
  func digits(at start: Int) -> Found? {
    var (before, after): ([UInt8], [UInt8]) = ([], [])
    var (position, end) = (start, start)
    var isElided = false
    var firstLine: (hash: KnownHash, end: Int)?
    if has("0x", at: position) { position += 2 }
    while true {
      let next = skipSpace(position)
      let breaksLine = bytes[min(position, bytes.count)..<next].contains {
        $0 == UInt8(ascii: "\n") || $0 == LogText.lineEnd
      }
      position = next
      if !isElided, !before.isEmpty, has("...", at: position) {
        isElided = true
        while self[position] == UInt8(ascii: ".") { position += 1 }
        end = position
        continue
      }
      let group = position
      while position - group <= Self.digitCount, self[position].hexadecimalValue != nil { position += 1 }
      let count = isElided ? after.count : before.count
      let length = position - group
      guard length > 0, !self[position].isNameByte || self[position] == UInt8(ascii: "."),
        !breaksLine || (count % 8 + length) % 8 == 0
      else { break }
      if breaksLine, firstLine == nil {
        firstLine = (KnownHash(prefix: Self.pairs(before), suffix: Self.pairs(after)), end)
      }
      let values = bytes[group..<position].compactMap(\.hexadecimalValue)
      if isElided { after += values } else { before += values }
      guard before.count + after.count <= Self.digitCount else { return nil }
      end = position
    }
    guard !before.isEmpty else { return nil }
    return Found(
      hash: KnownHash(prefix: Self.pairs(before), suffix: Self.pairs(after)), end: end, firstLine: firstLine)
  }

  private static func pairs(_ values: [UInt8]) -> [UInt8] {
    stride(from: 1, to: values.count, by: 2).map { values[$0 - 1] << 4 | values[$0] }
  }

  // MARK: Other forms

  /// Reads base64 text: all of it, with its padding.
  func base64(at start: Int) -> Found? {
    var end = start
    while end - start < 43, self[end].base64Value != nil { end += 1 }
    guard end - start == 43, self[end] == UInt8(ascii: "="), self[end + 1] != UInt8(ascii: "=") else { return nil }
    return Found(hash: KnownHash(prefix: Self.decoded(bytes[start..<end])), end: end + 1)
  }

  /// Reads the text of `<data>` in a property list, which may be broken into lines, to its end or to `<`.
  func data(at start: Int) -> Found? {
    var end = start
    var digits: [UInt8] = []
    while end < bytes.count, bytes[end] != UInt8(ascii: "<"), digits.count <= 44 {
      if bytes[end].base64Value != nil { digits.append(bytes[end]) }
      end += 1
    }
    let hash = KnownHash(prefix: Self.decoded(digits[...]))
    if end == bytes.count, hash.byteCount < VersionHash.byteCount { return Found(hash: hash, end: end, isCut: true) }
    return hash.byteCount == VersionHash.byteCount ? Found(hash: hash, end: end) : nil
  }

  /// Returns the bytes of base64 digits; the last bits are left out where they make no byte.
  static func decoded(_ digits: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var (bits, count): (UInt32, Int) = (0, 0)
    for digit in digits {
      guard let value = digit.base64Value else { continue }
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return result
  }

  /// Reads the form of a literal in source: `[0x26, 0x8e, …]` with 32 numbers, or with four of 64 bits, the least
  /// significant byte first, as CoreStore prints its version locks.
  func numbers(at start: Int) -> Found? {
    var numbers: [UInt64] = []
    var position = start
    repeat {
      position = skipSpace(position + 1)
      let isHexadecimal = has("0x", at: position)
      if isHexadecimal { position += 2 }
      let first = position
      while position < first + 16, self[position].hexadecimalValue != nil { position += 1 }
      let text = String(decoding: bytes[min(first, bytes.count)..<position], as: UTF8.self)
      guard let number = UInt64(text, radix: isHexadecimal ? 16 : 10) else { return nil }
      numbers.append(number)
      position = skipSpace(position)
    } while self[position] == UInt8(ascii: ",") && numbers.count < VersionHash.byteCount
    guard self[position] == UInt8(ascii: "]") else { return nil }
    if numbers.count == 4 {
      let words = numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
      return Found(hash: KnownHash(prefix: words), end: position + 1)
    }
    guard numbers.count == VersionHash.byteCount, numbers.allSatisfy({ $0 < 256 }) else { return nil }
    return Found(hash: KnownHash(prefix: numbers.map { UInt8(truncatingIfNeeded: $0) }), end: position + 1)
  }

  /// Reads any form that stands in quotation marks.
  func quoted(at start: Int) -> Found? {
    let inside = start + 1
    guard let found = angle(at: inside) ?? brace(at: inside) ?? bare(at: inside) ?? base64(at: inside),
      self[found.end] == UInt8(ascii: "\"")
    else { return nil }
    return Found(hash: found.hash, end: found.end + 1)
  }
}

extension KnownHash {
  /// Creates a hash of a word of the command line: hexadecimal digits or base64, whole or at least four bytes from the
  /// start, or one of the forms of a log.
  ///
  /// - Returns: `nil` for anything else.
  init?(argument: String) {
    let notation = HashNotation(bytes: LogText.plain(Array(argument.utf8)))
    let end = notation.bytes.count
    func whole(_ found: HashNotation.Found?) -> KnownHash? {
      found.flatMap { notation.skipSpace($0.end) == end ? $0.hash : nil }
    }
    if let hash = whole(notation.angle(at: 0)) ?? whole(notation.brace(at: 0)) ?? whole(notation.digits(at: 0)) {
      guard hash.byteCount >= Self.fewestBytes else { return nil }
      self = hash
      return
    }
    let digits = notation.bytes.prefix { $0.base64Value != nil }
    guard digits.count >= 6, digits.count <= 43,
      digits.count == end || digits.count == 43 && end == 44 && notation[43] == UInt8(ascii: "=")
    else { return nil }
    self.init(prefix: HashNotation.decoded(digits))
  }
}

extension UInt8 {
  var isSpace: Bool { self == 0x20 || self >= 0x09 && self <= 0x0D }

  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

  var isASCIILetter: Bool { self | 0x20 >= UInt8(ascii: "a") && self | 0x20 <= UInt8(ascii: "z") }

  /// True for a byte of a word that stands without quotation marks: a name, a number, a path, a part of base64 text.
  var isNameByte: Bool {
    isDigit || isASCIILetter || self >= 0x80 || [0x5F, 0x2E, 0x2D, 0x24, 0x2B, 0x2F].contains(self)
  }

  var hexadecimalValue: UInt8? {
    if isDigit { return self - UInt8(ascii: "0") }
    let lower = self | 0x20
    return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "f") ? lower - UInt8(ascii: "a") + 10 : nil
  }

  var base64Value: UInt8? {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): self - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): self - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
