/// Untrusted text, made safe to print on one line.
///
/// A name in a store's schema or metadata may contain anything: a line break, after which the text looks like ours; a
/// terminal control sequence; characters that are invisible or change the writing direction; or 50 MB of letters.
package enum PlainText {
  /// In Unicode scalars; longer than any path.
  package static let limit = 8000

  package static func line(_ text: String, limit: Int = limit) -> String {
    escaped(cut(text, to: limit), breaksLines: false)
  }

  /// Cuts in the middle; the limit counts Unicode scalars.
  package static func cut(_ text: String, to limit: Int) -> String {
    // Each scalar has at least one byte.
    guard text.utf8.count > limit, text.unicodeScalars.dropFirst(limit).first != nil else { return text }
    // Keep the end of a sentence, which gives the reason.
    let tail = limit / 4
    let (first, last) = (text.unicodeScalars.prefix(limit - tail), text.unicodeScalars.suffix(tail))
    let missing = text.utf8.count - String(first).utf8.count - String(last).utf8.count
    return "\(String(first))… (\(CountText.counted(missing, "byte")) left out) …\(String(last))"
  }

  /// `isKept` gets the text from an escape character on, and returns how many scalars to keep.
  package static func escaped(
    _ text: String, breaksLines: Bool, isJSON: Bool = false, isKept: (Substring.UnicodeScalarView) -> Int = { _ in 0 }
  ) -> String {
    // Nearly all text is free of the first bytes of such characters.
    guard text.utf8.contains(where: { mayBegin($0) && !(breaksLines && $0 == 0x0A) }) else { return text }
    var result = ""
    var rest = text.unicodeScalars[...]
    var before: Unicode.Scalar?
    while let scalar = rest.first {
      let kept = scalar == "\u{1B}" ? isKept(rest) : 0
      if kept > 0 {
        result.unicodeScalars += rest.prefix(kept)
        rest = rest.dropFirst(kept)
        continue
      }
      rest.removeFirst()
      if breaksLines && scalar == "\n" || !isHidden(scalar, before: before, after: rest.first) {
        result.unicodeScalars.append(scalar)
      } else {
        result += isJSON ? numberInJSON(scalar) : number(scalar)
      }
      before = scalar
    }
    return result
  }

  /// The first bytes of control characters (C0, DEL, C1), of the range from U+2000 to U+20FF, of
  /// U+00AD, U+061C, U+180E and U+FEFF, and of U+E0000 and higher.
  private static func mayBegin(_ byte: UInt8) -> Bool {
    switch byte {
    case ..<0x20, 0x7F, 0xC2, 0xD8, 0xE1, 0xE2, 0xEF, 0xF3, 0xF4: true
    default: false
    }
  }

  private static func isHidden(_ scalar: Unicode.Scalar, before: Unicode.Scalar?, after: Unicode.Scalar?) -> Bool {
    switch scalar.value {
    case ..<0x20, 0x7F..<0xA0: true
    // Marks, embeddings, overrides and isolates of the writing direction, and line separators.
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F: true
    // Characters without width, which make different names look alike.
    case 0x00AD, 0x180E, 0x200B, 0x2060...0x2065, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE0FFF: true
    // Joiners are part of emoji and some scripts; next to ASCII letters they are deceptive.
    case 0x200C, 0x200D: before?.isASCII ?? true || after?.isASCII ?? true
    // Bytes of a file name that isn't UTF-8, each in a scalar of its own.
    case 0x10FF00...0x10FFFF: true
    default: false
    }
  }

  private static func number(_ scalar: Unicode.Scalar) -> String {
    guard scalar.value >= 0x10FF00 else { return "\\u{\(String(scalar.value, radix: 16))}" }
    return "\\x" + digits(UInt32(scalar.value & 0xFF), count: 2).uppercased()
  }

  private static func numberInJSON(_ scalar: Unicode.Scalar) -> String {
    UTF16.encode(scalar).map { $0.map { "\\u" + digits(UInt32($0), count: 4) }.joined() } ?? ""
  }

  private static func digits(_ number: UInt32, count: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}
