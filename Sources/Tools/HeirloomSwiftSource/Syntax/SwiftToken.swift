/// A token of Swift source: a word, a literal, a bracket or one character of an operator.
struct SwiftToken: Hashable, Sendable {
  enum Kind: UInt8, Sendable {
    /// A keyword or name; the range excludes backticks.
    case word
    case number
    /// A string of any form with its interpolations, or a regular expression.
    case string
    case opening
    case closing
    case arrow
    case symbol
  }

  let kind: Kind
  let isFirstOnLine: Bool
  /// Whitespace or a comment precedes the token.
  let followsSpace: Bool
  /// From 1.
  let line: Int32
  let start: Int32
  let end: Int32
}

/// The tokens of a Swift file, with the partner of each bracket.
struct SwiftTokens: Sendable {
  /// Of a file, in bytes.
  static let byteLimit = 4 << 20

  private let bytes: [UInt8]
  let tokens: [SwiftToken]
  /// For a bracket, the position of the matching one; otherwise -1.
  private let partners: [Int32]

  /// Throws `SwiftSourceError` if a string, a comment or a bracket isn't closed.
  init(_ bytes: [UInt8]) throws(SwiftSourceError) {
    guard bytes.count <= Self.byteLimit else {
      throw SwiftSourceError(line: 1, reason: "the file has more than \(Self.byteLimit >> 20) MiB")
    }
    var lexer = SwiftLexer(bytes)
    tokens = try lexer.allTokens()
    self.bytes = bytes
    var partners = [Int32](repeating: -1, count: tokens.count)
    var open: [Int] = []
    for (index, token) in tokens.enumerated() {
      switch token.kind {
      case .opening: open.append(index)
      case .closing:
        guard let last = open.popLast(), Self.closes(bytes[Int(tokens[last].start)], bytes[Int(token.start)]) else {
          throw SwiftSourceError(line: Int(token.line), reason: "this bracket closes none")
        }
        (partners[last], partners[index]) = (Int32(index), Int32(last))
      default: break
      }
    }
    if let last = open.last {
      throw SwiftSourceError(line: Int(tokens[last].line), reason: "this bracket isn't closed")
    }
    self.partners = partners
  }

  private static func closes(_ opening: UInt8, _ closing: UInt8) -> Bool {
    switch opening {
    case UInt8(ascii: "("): closing == UInt8(ascii: ")")
    case UInt8(ascii: "["): closing == UInt8(ascii: "]")
    default: closing == UInt8(ascii: "}")
    }
  }

  var count: Int { tokens.count }

  func text(_ index: Int) -> String {
    guard tokens.indices.contains(index) else { return "" }
    return String(decoding: bytes[Int(tokens[index].start)..<Int(tokens[index].end)], as: UTF8.self)
  }

  func text(_ range: Range<Int>) -> String {
    guard let first = range.first, let last = range.last, tokens.indices.contains(last) else { return "" }
    return String(decoding: bytes[Int(tokens[first].start)..<Int(tokens[last].end)], as: UTF8.self)
  }

  func excerpt(_ range: Range<Int>) -> String {
    let limit = 200
    guard range.count > limit, let first = range.first else { return text(range) }
    return text(first..<first + limit) + "…"
  }

  func has(_ text: StaticString, at index: Int) -> Bool {
    guard tokens.indices.contains(index) else { return false }
    let token = tokens[index]
    // A name in backticks is never a keyword.
    guard !isQuoted(index), Int(token.end - token.start) == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { $0.elementsEqual(bytes[Int(token.start)..<Int(token.end)]) }
  }

  func isWord(at index: Int) -> Bool { tokens.indices.contains(index) && tokens[index].kind == .word }

  func isQuoted(_ index: Int) -> Bool {
    isWord(at: index) && tokens[index].start > 0 && bytes[Int(tokens[index].start) - 1] == UInt8(ascii: "`")
  }

  var imports: Set<String> {
    var names: Set<String> = []
    for index in tokens.indices.dropLast() where has("import", at: index) && isWord(at: index + 1) {
      // `import struct Journal.Entry`
      let isKind = isWord(at: index + 2) && !tokens[index + 2].isFirstOnLine
      names.insert(text(isKind ? index + 2 : index + 1))
    }
    return names
  }

  func line(_ index: Int) -> Int { tokens.indices.contains(index) ? Int(tokens[index].line) : 0 }

  func partner(_ index: Int) -> Int { Int(partners[index]) }

  /// After the token, or after the matching bracket of an opening one.
  func next(_ index: Int) -> Int {
    tokens[index].kind == .opening ? partner(index) + 1 : index + 1
  }

  func inside(_ opening: Int) -> Range<Int> { opening + 1..<partner(opening) }

  /// `nil` for any token but a string literal without interpolation or escapes.
  func plainString(_ index: Int) -> String? {
    guard tokens.indices.contains(index), tokens[index].kind == .string else { return nil }
    let text = text(index)
    guard text.hasPrefix("\""), !text.hasPrefix("\"\"\""), text.utf8.count >= 2, !text.contains("\\") else {
      return nil
    }
    return String(text.dropFirst().dropLast())
  }

  func items(_ range: Range<Int>) -> [Range<Int>] { parts(range) { has(",", at: $0) } }
}

package struct SwiftSourceError: Error, Hashable, Sendable {
  /// From 1.
  package let line: Int
  /// Without a full stop.
  package let reason: String
}
