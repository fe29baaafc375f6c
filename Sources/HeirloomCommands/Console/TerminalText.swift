/// Text for people, made of what stands in files of anybody's.
enum TerminalText {
  /// Returns text with characters shown by their numbers that a terminal would obey.
  ///
  /// The name of an entity may hold anything: a sequence that clears the screen, moves what was written or sets the
  /// window's title, or one that turns the direction of writing so that a name looks like another.
  ///
  /// - Parameters:
  ///   - text: The text, of one or more lines.
  ///   - keepsStyle: Whether sequences that ``TextStyle`` writes stay.
  ///   - isJSON: Whether the text is JSON, whose escapes have another form.
  /// - Returns: Text whose only control character is the line feed.
  static func harmless(_ text: String, keepsStyle: Bool = false, isJSON: Bool = false) -> String {
    // Nearly all text has none of the bytes that such characters begin with.
    guard text.utf8.contains(where: { $0 < 0x20 && $0 != 0x0A || $0 == 0x7F || $0 == 0xC2 || $0 == 0xE2 }) else {
      return text
    }
    var result = ""
    var rest = text.unicodeScalars[...]
    while let scalar = rest.first {
      if keepsStyle, scalar == "\u{1B}", let style = TextStyle.sequences.first(where: { rest.starts(with: $0) }) {
        result.unicodeScalars += style
        rest = rest.dropFirst(style.count)
        continue
      }
      rest.removeFirst()
      guard isCommand(scalar) else {
        result.unicodeScalars.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      result += isJSON ? "\\u" + String(repeating: "0", count: 4 - digits.count) + digits : "\\u{\(digits)}"
    }
    return result
  }

  private static func isCommand(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0A: false
    case ..<0x20, 0x7F..<0xA0: true
    // Embeddings, overrides and isolates of the direction of writing, and the separators of lines.
    case 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension TextStyle {
  /// What the styles write.
  fileprivate static let sequences: [String.UnicodeScalarView] = ["0", "1", "2", "31", "32", "33"].map {
    "\u{1B}[\($0)m".unicodeScalars
  }
}
