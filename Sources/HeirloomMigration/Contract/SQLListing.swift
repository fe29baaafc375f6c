import HeirloomModel

/// The text of SQL with names and definitions from a store's schema, safe to read and to feed to a shell.
///
/// The text in a schema need not be one statement: SQLite reads the first and ignores the rest, but a shell would run
/// it. A name may contain line breaks, and an unended comment hides the text that follows. A shell also treats a line
/// that begins with a full stop as its own command.
package enum SQLListing {
  /// In bytes; even a statement of 2,000 columns is shorter.
  private static let limit = 1 << 20

  /// Returns a statement with its semicolon, or a one-line comment if it can't be listed as SQL.
  package static func text(of sql: String) -> String {
    guard sql.utf8.count <= limit else {
      return "-- left out, \(CountText.size(sql.utf8.count)): \(PlainText.line(sql, limit: 400))"
    }
    var scanner = Scanner(sql)
    guard scanner.isOneStatement(), PlainText.escaped(scanner.text, breaksLines: true) == scanner.text,
      // GitHub Actions runs this as a command anywhere in a log.
      !scanner.text.contains("##[")
    else {
      return "-- left out, not safe to run in a shell: \(PlainText.line(sql).replacing("##[", with: "#\\u{23}["))"
    }
    return scanner.text + (scanner.endsInComment ? "\n;" : ";")
  }

  /// A byte reader like SQLite's tokenizer (https://www.sqlite.org/src/file/src/tokenize.c).
  private struct Scanner {
    private let bytes: [UInt8]
    private var position = 0
    /// White space other than line feeds is replaced by spaces.
    private var result: [UInt8] = []
    private(set) var endsInComment = false

    init(_ sql: String) {
      bytes = Array(sql.utf8)
    }

    var text: String { String(decoding: result, as: UTF8.self) }

    private func byte(_ ahead: Int = 0) -> UInt8? {
      position + ahead < bytes.count ? bytes[position + ahead] : nil
    }

    private mutating func take() {
      result.append(bytes[position])
      position += 1
    }

    /// Reads all of it and returns false if a shell could read it as anything but one statement.
    mutating func isOneStatement() -> Bool {
      // The first three tokens, in upper case; empty for a token that isn't a word.
      var beginning: [String] = []
      var isTrigger: Bool {
        beginning.first == "CREATE" && ["TRIGGER", "TEMP", "TEMPORARY"].contains(beginning.dropFirst().first)
          && beginning.dropFirst().contains("TRIGGER")
      }
      // Only END after a semicolon ends a trigger.
      var (isAfterSemicolon, isAfterEnd, isEnded, isLineStart) = (false, false, false, true)
      while let first = byte() {
        if Self.isSpace(first) {
          if first == 0x0A { isLineStart = true }
          result.append(first == 0x0A ? first : 0x20)
          position += 1
          continue
        }
        if first == UInt8(ascii: "-"), byte(1) == first {
          while let byte = byte(), byte != 0x0A { take() }
          endsInComment = byte() == nil
          continue
        }
        if first == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
          guard takeComment() else { return false }
          isLineStart = false
          continue
        }
        // Any token after the end is another statement, and a shell reads its own commands at the start of a line.
        guard !isEnded, !isLineStart || !Self.commands.contains(first) else { return false }
        var word = ""
        switch first {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["):
          guard takeQuoted(until: first == UInt8(ascii: "[") ? UInt8(ascii: "]") : first) else { return false }
        case UInt8(ascii: ";") where !isTrigger || isAfterEnd:
          isEnded = true
          position += 1
        case UInt8(ascii: "$"), UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: ":"):
          // A variable may contain quotes that don't start a string.
          return false
        case _ where Self.isWordByte(first):
          let start = position
          while let byte = byte(), Self.isWordByte(byte) || byte == UInt8(ascii: "$") { take() }
          word = String(decoding: bytes[start..<position], as: UTF8.self).uppercased()
          // Some shells end a statement at a line of this word.
          if isLineStart, word == "GO" { return false }
        default: take()
        }
        if beginning.count < 3 { beginning.append(word) }
        (isAfterEnd, isAfterSemicolon) = (isAfterSemicolon && word == "END", first == UInt8(ascii: ";"))
        (isLineStart, endsInComment) = (false, false)
      }
      return !beginning.isEmpty && (!isTrigger || isEnded || isAfterEnd)
    }

    /// Returns false if the comment is unended.
    private mutating func takeComment() -> Bool {
      take()
      take()
      while let byte = byte() {
        if byte == UInt8(ascii: "*"), self.byte(1) == UInt8(ascii: "/") {
          take()
          take()
          return true
        }
        result.append(Self.isSpace(byte) ? 0x20 : byte)
        position += 1
      }
      return false
    }

    /// Returns false if it is unended or contains a control character.
    private mutating func takeQuoted(until end: UInt8) -> Bool {
      take()
      while let byte = byte() {
        guard byte >= 0x20, byte != 0x7F else { return false }
        take()
        guard byte == end else { continue }
        guard end != UInt8(ascii: "]"), self.byte() == end else { return true }
        take()
      }
      return false
    }

    /// The characters that start a shell's own command at the beginning of a line.
    private static let commands = Set<UInt8>(".#/\\!".utf8)

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(byte) }

    private static func isWordByte(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
        true
      default: false
      }
    }
  }
}
