package enum TextLayout {
  /// In columns.
  package static func width(of text: String) -> Int {
    text.reduce(0) { $0 + width(of: $1) }
  }

  package static func cut(_ text: String, to columns: Int) -> String {
    guard width(of: text) > columns else { return text }
    guard columns > 0 else { return "" }
    var result = ""
    var left = columns - 1
    for character in text {
      left -= width(of: character)
      guard left >= 0 else { break }
      result.append(character)
    }
    return result + "…"
  }

  /// At least one line; a word that is too wide has its own, and later lines are indented.
  package static func wrapped(_ text: String, to columns: Int, indent: Int = 0) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    var taken: Int?
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      let size = width(of: String(word))
      if let before = taken, before + 1 + size <= columns {
        line += " " + word
        taken = before + 1 + size
      } else if taken == nil {
        (line, taken) = (String(word), size)
      } else {
        lines.append(line)
        (line, taken) = (margin + word, indent + size)
      }
    }
    return lines + [line]
  }

  /// At least one line, broken at spaces.
  ///
  /// Later lines are aligned with the first one's text, after its bullet or column title. The
  /// sequences of ``TextStyle`` take no columns. `unbroken` returns the length of the start of a
  /// text that must stay on one line, spaces included.
  package static func fitted(_ line: String, to columns: Int, unbroken: (Substring) -> Int) -> [String] {
    guard line.utf8.count > columns, width(of: withoutStyle(line[...])) > columns else { return [line] }
    var lines: [String] = []
    var (start, taken, hang, isTitled) = ("", 0, 0, false)
    var rest = line[...]
    while !rest.isEmpty {
      let space = rest.prefix { $0 == " " }.count
      rest = rest.dropFirst(space)
      let whole = unbroken(rest)
      let word = rest.prefix(whole + rest.dropFirst(whole).prefix { $0 != " " }.count)
      rest = rest.dropFirst(word.count)
      let text = withoutStyle(word)
      let size = width(of: text)
      // The margin shrinks if a word needs the space.
      func begin(at margin: Int) {
        taken = min(margin, size > columns ? 2 : columns - size)
        start = String(repeating: " ", count: taken) + word
        taken += size
      }
      if start.isEmpty {
        begin(at: space)
        isTitled = text.count == 1 && text.first?.isLetter == false || text.last == "." && Int(text.dropLast()) != nil
        hang = space + (isTitled ? size + 1 : 2)
        continue
      }
      if space > 1, !isTitled { (hang, isTitled) = (taken + space, true) }
      if taken + space + size <= columns {
        start += String(repeating: " ", count: space) + word
        taken += space + size
      } else {
        lines.append(start)
        begin(at: min(hang, columns / 2))
      }
    }
    return lines + [start]
  }

  private static func withoutStyle(_ text: Substring) -> String {
    var result = ""
    var isStyle = false
    for character in text {
      if character == "\u{1B}" { isStyle = true }
      if !isStyle { result.append(character) }
      if isStyle, character == "m" { isStyle = false }
    }
    return result
  }

  /// Titles wider than `limit`, and all on a narrow terminal, have their text on the lines below.
  package static func table(_ rows: [(title: String, text: String)], columns: Int, limit: Int = 24) -> [String] {
    let isNarrow = columns < 60
    let widest = rows.map { width(of: $0.title) }.filter { $0 <= limit }.max() ?? 0
    let indent = isNarrow ? 6 : widest + 4
    let margin = String(repeating: " ", count: indent)
    return rows.flatMap { row in
      let size = width(of: row.title)
      if isNarrow || size > widest {
        return ["  " + row.title] + wrapped(row.text, to: columns - indent).map { margin + $0 }
      }
      let lines = wrapped(row.text, to: columns - indent)
      let padding = String(repeating: " ", count: widest - size + 2)
      return ["  " + row.title + padding + lines[0]] + lines.dropFirst().map { margin + $0 }
    }
  }

  /// 0 for combining marks, 2 for wide characters.
  private static func width(of character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    // An emoji is wide, whatever scalars it has.
    if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}
