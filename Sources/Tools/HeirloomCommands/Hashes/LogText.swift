import Foundation

/// Removes what consoles, mail and JSON add to a message.
enum LogText {
  /// An escaped `\n`, which isn't a line end of the file.
  static let lineEnd: UInt8 = 0x0B

  private static let newline = UInt8(ascii: "\n")
  private static let backslash = UInt8(ascii: "\\")

  /// The same lines, without escapes and line prefixes.
  ///
  /// A run of backslashes counts as one, because nested descriptions in JSON double each.
  static func plain(_ raw: [UInt8]) -> [UInt8] {
    let bytes = utf8(raw)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var position = 0
    var isLineStart = true
    while position < bytes.count {
      if isLineStart { position = contentStart(of: bytes, from: position) }
      guard position < bytes.count else { break }
      let byte = bytes[position]
      isLineStart = byte == newline
      switch byte {
      case backslash: position = unescape(bytes, position, &result)
      case UInt8(ascii: "&"):
        let found = references.first { bytes[position...].starts(with: $0.text.utf8) }
        result.append(found.map(\.byte) ?? byte)
        position += found.map { $0.text.utf8.count } ?? 1
      case 0xC2, 0xE2:
        let found = characters.first { bytes[position...].starts(with: $0.text.utf8) }
        result += found.map { Array($0.plain.utf8) } ?? [byte]
        position += found.map { $0.text.utf8.count } ?? 1
      default:
        result.append(byte)
        position += 1
      }
    }
    return result
  }

  /// They occur in hashes' notations.
  private static let references: [(text: String, byte: UInt8)] = [
    ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")), ("&quot;", UInt8(ascii: "\"")),
    ("&#34;", UInt8(ascii: "\"")), ("&amp;", UInt8(ascii: "&")),
  ]

  /// Editors and chats substitute them for plain characters.
  private static let characters: [(text: String, plain: String)] = [
    ("\u{201C}", "\""), ("\u{201D}", "\""), ("\u{2026}", "..."), ("\u{A0}", " "),
  ]

  private static func utf8(_ raw: [UInt8]) -> [UInt8] {
    guard raw.starts(with: [0xFF, 0xFE]) || raw.starts(with: [0xFE, 0xFF]) else { return raw }
    return String(data: Data(raw), encoding: .utf16).map { Array($0.utf8) } ?? raw
  }

  /// Returns the position after the escape.
  private static func unescape(_ bytes: [UInt8], _ start: Int, _ result: inout [UInt8]) -> Int {
    var position = start
    var units: [UInt16] = []
    while true {
      var end = position
      while end < bytes.count, bytes[end] == backslash { end += 1 }
      guard end > position, end + 5 <= bytes.count, bytes[end] | 0x20 == UInt8(ascii: "u"),
        let unit = UInt16(String(decoding: bytes[end + 1..<end + 5], as: UTF8.self), radix: 16)
      else { break }
      units.append(unit)
      position = end + 5
    }
    guard units.isEmpty else {
      result += String(decoding: units, as: UTF16.self).utf8
      return position
    }
    while position < bytes.count, bytes[position] == backslash { position += 1 }
    guard position < bytes.count else { return position }
    switch bytes[position] {
    case UInt8(ascii: "n"): result.append(lineEnd)
    case UInt8(ascii: "r"), UInt8(ascii: "t"): result.append(UInt8(ascii: " "))
    default: return position
    }
    return position + 1
  }

  // MARK: Beginnings of lines

  /// After the quote marks of mail, the time and the process at the start of a line.
  private static func contentStart(of bytes: [UInt8], from start: Int) -> Int {
    var position = start
    while position < bytes.count, [0x20, 0x09, 0x3E, 0x7C, 0x2A].contains(bytes[position]) { position += 1 }
    let line = bytes[position..<min(position + 200, bytes.count)].prefix { $0 != newline }
    guard var end = endOfTime(line) else { return position }
    if end < line.endIndex, line[end] == UInt8(ascii: "\t") {
      // Console's columns: kind, time, process, message.
      guard let tab = line[(end + 1)...].firstIndex(of: UInt8(ascii: "\t")) else { return position }
      end = tab + 1
    } else if let process = endOfProcess(line[end...]) {
      end = process
    }
    return afterDecorations(line[end...])
  }

  /// After a time of day that only a date or the kind of message precedes.
  private static func endOfTime(_ line: ArraySlice<UInt8>) -> Int? {
    let head = line.prefix(48).prefix { ![0x3D, 0x22, 0x7B, 0x5B, 0x28, 0x3C, 0x3B].contains($0) }
    let pattern = Array("00:00:00".utf8)
    guard head.count >= pattern.count else { return nil }
    let found = (head.startIndex...head.endIndex - pattern.count).first { start in
      pattern.indices.allSatisfy { offset in
        let byte = head[start + offset]
        return pattern[offset] == UInt8(ascii: ":") ? byte == pattern[offset] : byte.isDigit
      }
    }
    return found.map { found in line[found...].firstIndex(where: \.isSpace) ?? line.endIndex }
  }

  /// After `App[736:39183]`, or after the process column of the tool `log`.
  private static func endOfProcess(_ line: ArraySlice<UInt8>) -> Int? {
    let head = line.prefix { ![0x3D, 0x22, 0x7B, 0x3C].contains($0) }
    if let bracket = head.firstIndex(of: UInt8(ascii: "[")) {
      let inside = head[(bracket + 1)...].prefix { $0.hexadecimalValue != nil || $0 == UInt8(ascii: ":") }
      if !inside.isEmpty, inside.endIndex < line.endIndex, line[inside.endIndex] == UInt8(ascii: "]") {
        return inside.endIndex + 1
      }
    }
    let words = head.drop(while: \.isSpace)
    guard words.starts(with: Array("0x".utf8)) else { return nil }
    return zip(words.indices, words.dropFirst()).first { head[$0.0] == UInt8(ascii: ":") && $0.1 == 0x20 }.map {
      $0.0 + 1
    }
  }

  /// After library, subsystem and kind of a message, such as `(CoreData) [error] <Error>: `.
  private static func afterDecorations(_ line: ArraySlice<UInt8>) -> Int {
    var rest = line
    while let byte = rest.first {
      let close = [
        UInt8(ascii: "("): UInt8(ascii: ")"), UInt8(ascii: "["): UInt8(ascii: "]"),
        UInt8(ascii: "<"): UInt8(ascii: ">"),
      ][byte]
      if byte.isSpace || byte == UInt8(ascii: ":") {
        rest = rest.dropFirst()
      } else if let close {
        let name = rest.dropFirst().prefix { $0.isASCIILetter || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") }
        // `<dict>` is content.
        guard !name.isEmpty, name.endIndex < rest.endIndex, rest[name.endIndex] == close,
          byte != UInt8(ascii: "<") || name[name.startIndex] < UInt8(ascii: "a")
        else { break }
        rest = rest[(name.endIndex + 1)...]
      } else {
        break
      }
    }
    return rest.startIndex
  }
}
