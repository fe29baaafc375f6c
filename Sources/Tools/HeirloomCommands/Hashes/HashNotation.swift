import Heirloom

/// Parses the notations of a version hash's 32 bytes in text.
///
/// Each function reads a bounded number of bytes from a position, not counting white space.
struct HashNotation {
  struct Found {
    let hash: KnownHash
    let end: Int
    /// The text ends, or other text follows, before the hash is complete.
    var isCut = false
    /// The part of the hash on its first line, if it has several.
    var firstLine: (hash: KnownHash, end: Int)?

    var isWhole: Bool { hash.byteCount == VersionHash.byteCount }
  }

  private static let digitCount = 2 * VersionHash.byteCount

  /// As normalized by ``LogText``.
  let bytes: [UInt8]

  /// 0 past the end.
  subscript(position: Int) -> UInt8 { position < bytes.count ? bytes[position] : 0 }

  func has(_ word: StaticString, at position: Int) -> Bool {
    guard position + word.utf8CodeUnitCount <= bytes.count else { return false }
    return word.withUTF8Buffer { buffer in buffer.indices.allSatisfy { buffer[$0] == bytes[position + $0] } }
  }

  func skipSpace(_ position: Int) -> Int {
    var position = position
    while position < bytes.count, bytes[position].isSpace { position += 1 }
    return position
  }

  // MARK: Hexadecimal digits

  /// `<268efc74 … 1bfb81c0>`, the description of NSData until iOS 12 and macOS 10.14.
  func angle(at start: Int) -> Found? {
    guard self[start] == UInt8(ascii: "<"), let found = digits(at: start + 1) else { return nil }
    guard self[found.end] == UInt8(ascii: ">") else { return cut(found, enough: KnownHash.fewestBytes) }
    return found.isWhole ? Found(hash: found.hash, end: found.end + 1) : nil
  }

  /// `{length = 32, bytes = 0x268efc74 … ... e4ac1d2f 1bfb81c0 }`, the later description of NSData.
  ///
  /// CFData adds `capacity = 32` and doesn't separate the digits.
  func brace(at start: Int) -> Found? {
    var position = skipSpace(start + 1)
    guard self[start] == UInt8(ascii: "{"), has("length", at: position) else { return nil }
    // A description that is cut off before its digits has no bytes.
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

  /// 64 digits, or fewer with an ellipsis among them, without brackets.
  func bare(at start: Int) -> Found? {
    guard let found = digits(at: start), !self[found.end].isNameByte, found.end < bytes.count || found.isWhole else {
      return nil
    }
    return found.isWhole || found.hash.prefix.count >= KnownHash.fewestBytes && !found.hash.suffix.isEmpty ? found : nil
  }

  /// The start of a hash whose end is missing, if it has at least `enough` bytes.
  ///
  /// Only the first line counts, because later lines may be other text.
  private func cut(_ found: Found, enough: Int) -> Found? {
    if found.isWhole { return found }
    let (hash, end) = found.firstLine ?? (found.hash, found.end)
    return hash.prefix.count >= enough ? Found(hash: KnownHash(prefix: hash.prefix), end: end, isCut: true) : nil
  }

  /// In groups of any length, with or without an ellipsis.
  ///
  /// A group must end at a separator: the first letters of `Added` are no digits. After a line end,
  /// only groups of eight, or digits that complete the last group to eight, are taken, because the
  /// line may be another message.
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

  /// Complete base64 text with its padding.
  func base64(at start: Int) -> Found? {
    var end = start
    while end - start < 43, self[end].base64Value != nil { end += 1 }
    guard end - start == 43, self[end] == UInt8(ascii: "="), self[end + 1] != UInt8(ascii: "=") else { return nil }
    return Found(hash: KnownHash(prefix: Self.decoded(bytes[start..<end])), end: end + 1)
  }

  /// The text of `<data>` in a property list, which may be broken into lines, up to the end or to
  /// `<`.
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

  /// Bits that don't fill a byte are dropped.
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

  /// A literal in source: `[0x26, 0x8e, …]` with 32 numbers, or with four of 64 bits, the least
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

  func quoted(at start: Int) -> Found? {
    let inside = start + 1
    guard let found = angle(at: inside) ?? brace(at: inside) ?? bare(at: inside) ?? base64(at: inside),
      self[found.end] == UInt8(ascii: "\"")
    else { return nil }
    return Found(hash: found.hash, end: found.end + 1)
  }
}

extension KnownHash {
  /// Digits or base64, complete or at least the first four bytes, or a notation used in logs.
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

  /// True for a byte of an unquoted word: a name, a number, a path or base64 text.
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
