/// A lexer for Swift files; it looks up and evaluates nothing.
struct SwiftLexer {
  private let bytes: [UInt8]
  private var position = 0
  private var line: Int32 = 1
  private var tokens: [SwiftToken] = []
  private var isFirstOnLine = true
  private var followsSpace = true
  /// Of the number signs that were counted last.
  private var poundsEnd = 0

  private static let depthLimit = 32
  /// For a regular expression literal, in bytes; without it, a line of slashes would be slow.
  private static let expressionLimit = 2_000

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  private func byte(_ offset: Int = 0) -> UInt8 {
    position + offset < bytes.count ? bytes[position + offset] : 0
  }

  private func isAt(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { text in
      position + text.count <= bytes.count && text.elementsEqual(bytes[position..<position + text.count])
    }
  }

  mutating func allTokens() throws(SwiftSourceError) -> [SwiftToken] {
    if isAt("#!") { skipLine() }
    while position < bytes.count {
      if try skipSpace() { continue }
      let start = position
      let startLine = line
      var name: Range<Int>?
      let kind: SwiftToken.Kind
      switch byte() {
      case UInt8(ascii: "\""):
        try skipString(depth: 0)
        kind = .string
      case UInt8(ascii: "#"):
        kind = try skipPounds()
      case UInt8(ascii: "`"):
        position += 1
        while position < bytes.count, byte() != UInt8(ascii: "`"), byte() != 10 { position += 1 }
        guard byte() == UInt8(ascii: "`") else {
          throw SwiftSourceError(line: Int(line), reason: "this name isn't closed")
        }
        name = start + 1..<position
        position += 1
        kind = .word
      case let first where Self.beginsWord(first):
        while position < bytes.count, Self.beginsWord(byte()) || Self.isDigit(byte()) { position += 1 }
        kind = .word
      case let first where Self.isDigit(first):
        skipNumber()
        kind = .number
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
        position += 1
        kind = .opening
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
        position += 1
        kind = .closing
      case UInt8(ascii: "-") where byte(1) == UInt8(ascii: ">"):
        position += 2
        kind = .arrow
      case UInt8(ascii: "/") where isExpression():
        skipExpression()
        kind = .string
      default:
        position += 1
        kind = .symbol
      }
      let range = name ?? start..<position
      tokens.append(
        SwiftToken(
          kind: kind, isFirstOnLine: isFirstOnLine, followsSpace: followsSpace, line: startLine,
          start: Int32(range.lowerBound), end: Int32(range.upperBound)))
      (isFirstOnLine, followsSpace) = (false, false)
    }
    return tokens
  }

  private static func beginsWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
      UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  // MARK: - Space and comments

  /// Whitespace or one comment; false if there is neither.
  private mutating func skipSpace() throws(SwiftSourceError) -> Bool {
    switch byte() {
    case 10:
      (line, isFirstOnLine) = (line + 1, true)
      position += 1
    case 0...32: position += 1
    case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"): skipLine()
    case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): try skipComment()
    default: return false
    }
    followsSpace = true
    return true
  }

  private mutating func skipLine() {
    while position < bytes.count, byte() != 10 { position += 1 }
  }

  private mutating func skipComment() throws(SwiftSourceError) {
    let start = line
    var depth = 0
    repeat {
      guard position < bytes.count else {
        throw SwiftSourceError(line: Int(start), reason: "this comment isn't closed")
      }
      if isAt("/*") {
        (depth, position) = (depth + 1, position + 2)
      } else if isAt("*/") {
        (depth, position) = (depth - 1, position + 2)
      } else {
        if byte() == 10 { (line, isFirstOnLine) = (line + 1, true) }
        position += 1
      }
    } while depth > 0
  }

  // MARK: - Literals

  private mutating func skipNumber() {
    let isHexadecimal = isAt("0x")
    while position < bytes.count {
      let exponent = isHexadecimal ? [UInt8(ascii: "p"), UInt8(ascii: "P")] : [UInt8(ascii: "e"), UInt8(ascii: "E")]
      if exponent.contains(byte()), byte(1) == UInt8(ascii: "-") || byte(1) == UInt8(ascii: "+") {
        position += 2
      } else if Self.isDigit(byte()) || Self.beginsWord(byte()) && byte() < 0x80 {
        position += 1
      } else if byte() == UInt8(ascii: "."), Self.isDigit(byte(1)) {
        position += 1
      } else {
        return
      }
    }
  }

  /// From here on; each `#` is read only once.
  private mutating func countPounds() -> Int {
    if poundsEnd < position { poundsEnd = position }
    while poundsEnd < bytes.count, bytes[poundsEnd] == UInt8(ascii: "#") { poundsEnd += 1 }
    return poundsEnd - position
  }

  /// A raw string, a regular expression, or the sign alone.
  private mutating func skipPounds() throws(SwiftSourceError) -> SwiftToken.Kind {
    let count = countPounds()
    if byte(count) == UInt8(ascii: "\"") {
      try skipString(depth: 0)
      return .string
    }
    guard byte(count) == UInt8(ascii: "/"), count > 0 else {
      position += 1
      return .symbol
    }
    let start = line
    position += count + 1
    while position < bytes.count {
      if byte() == UInt8(ascii: "/"), (1...count).allSatisfy({ byte($0) == UInt8(ascii: "#") }) {
        position += count + 1
        return .string
      }
      if byte() == 10 { line += 1 }
      position += 1
    }
    throw SwiftSourceError(line: Int(start), reason: "this regular expression isn't closed")
  }

  private mutating func skipString(depth: Int) throws(SwiftSourceError) {
    let start = line
    var pounds = 0
    while byte() == UInt8(ascii: "#") { (pounds, position) = (pounds + 1, position + 1) }
    func follow(_ offset: Int) -> Bool { (0..<pounds).allSatisfy { byte(offset + $0) == UInt8(ascii: "#") } }
    let isLong = isAt("\"\"\"") && !(pounds > 0 && endsOnLine(follow))
    position += isLong ? 3 : 1
    while position < bytes.count {
      switch byte() {
      case UInt8(ascii: "\"") where isLong ? isAt("\"\"\"") && follow(3) : follow(1):
        position += (isLong ? 3 : 1) + pounds
        return
      case UInt8(ascii: "\\") where follow(1):
        position += 1 + pounds
        if byte() == UInt8(ascii: "(") {
          try skipInterpolation(depth: depth + 1)
        } else {
          if byte() == 10 { line += 1 }
          position += 1
        }
      case 10:
        guard isLong else { throw SwiftSourceError(line: Int(start), reason: "this string isn't closed") }
        line += 1
        position += 1
      default: position += 1
      }
    }
    throw SwiftSourceError(line: Int(start), reason: "this string isn't closed")
  }

  /// True for a raw string that begins with quotation marks as content, as in `#"""#`.
  private func endsOnLine(_ follow: (Int) -> Bool) -> Bool {
    var offset = 2
    while position + offset < bytes.count, byte(offset) != 10, byte(offset) != 13 {
      if byte(offset) == UInt8(ascii: "\""), follow(offset + 1) { return true }
      offset += 1
    }
    return false
  }

  private mutating func skipInterpolation(depth: Int) throws(SwiftSourceError) {
    guard depth <= Self.depthLimit else {
      throw SwiftSourceError(line: Int(line), reason: "strings are nested more than \(Self.depthLimit) levels deep")
    }
    var open = 0
    while position < bytes.count {
      switch byte() {
      case UInt8(ascii: "("): open += 1
      case UInt8(ascii: ")"): open -= 1
      case UInt8(ascii: "\""), UInt8(ascii: "#"):
        let pounds = countPounds()
        if byte(pounds) == UInt8(ascii: "\"") {
          try skipString(depth: depth)
          continue
        }
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"):
        try skipComment()
        continue
      case 10: line += 1
      default: break
      }
      position += 1
      if open == 0 { return }
    }
    throw SwiftSourceError(line: Int(line), reason: "code within a string isn't closed")
  }

  // MARK: - Regular expressions between slashes

  /// True where a slash begins a regular expression rather than an operator.
  private func isExpression() -> Bool {
    guard ![32, 9, 10, 13, UInt8(ascii: "=")].contains(byte(1)) else { return false }
    if let last = tokens.last {
      switch last.kind {
      case .closing, .number, .string: return false
      case .word:
        let word = String(decoding: bytes[Int(last.start)..<Int(last.end)], as: UTF8.self)
        guard ["return", "in", "case", "where", "if", "guard", "while", "try", "await", "else"].contains(word) else {
          return false
        }
      case .opening, .arrow: break
      case .symbol:
        // A slash directly after an operator is part of it.
        guard followsSpace || bytes[Int(last.start)] == UInt8(ascii: ",") else { return false }
      }
    }
    return expressionEnd() != nil
  }

  /// `nil` for operators, as in `reduce(1, /)` and `f(/, /)`.
  private func expressionEnd() -> Int? {
    var index = position + 1
    var (open, isInClass) = (0, false)
    while index < min(bytes.count, position + Self.expressionLimit), bytes[index] != 10 {
      switch bytes[index] {
      case UInt8(ascii: "/"):
        // A regular expression literal can't end with a blank.
        return bytes[index - 1] == 32 || bytes[index - 1] == 9 ? nil : index + 1
      case UInt8(ascii: "\\"): index += 1
      case UInt8(ascii: "["): isInClass = true
      case UInt8(ascii: "]"): isInClass = false
      case UInt8(ascii: "(") where !isInClass: open += 1
      case UInt8(ascii: ")") where !isInClass:
        guard open > 0 else { return nil }
        open -= 1
      default: break
      }
      index += 1
    }
    return nil
  }

  private mutating func skipExpression() {
    position = expressionEnd() ?? position + 1
  }
}
