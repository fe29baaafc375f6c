/// A Swift file as its tokens, which are changed and put together again.
///
/// Most changes leave brackets in pairs, so that what stands between them is read.
struct SwiftMutation {
  private var tokens: [String]
  private let other: [String]

  /// In bytes of an input.
  private static let limit = 200_000

  /// Pieces of the other file are inserted.
  init(_ text: String, with other: String) {
    tokens = TextMutation.tokens(text)
    self.other = TextMutation.tokens(other)
  }

  private static let words = [
    "@Model", "@Attribute(.unique)", "@Attribute(.externalStorage)", "@Attribute(originalName: \"code\")", "@Transient",
    "@Relationship", "@Relationship(deleteRule: .cascade, inverse: \\Label.crate)", "@Wrapped", "final", "class",
    "struct", "enum", "actor", "protocol", "extension", "static", "private", "lazy", "weak", "var", "let", "case",
    "func",
    "init", "import", "typealias", "indirect", "where", "some", "any", "get", "didSet", "as", "return", "self", "Self",
    "#Unique<Crate>([\\.code])", "#Index<Crate>([\\.code, \\.size])", "#if DEBUG\n", "\n#else\n", "\n#endif\n", "#",
    "\n",
    ";", ",", ":", "=", "+", "-", "<", ">", "?", "!", "&", "~", ".", "->", "/", "\\", "`", "\"", "\"\"\"", "#\"", "//",
    "/*", "*/", "[]", "{}", "()", "nil", "true", "0x", "-1", "1e400", "V1", "V1.self", "Crate", "Label", "Size", "Int",
    "Int?", "String", "[String]", "[Crate]", "[String: Size]", "Date()", ".init(1, 0, 0)", "Schema([Crate.self])",
    "ModelContainer(for: Crate.self, migrationPlan: Plan.self)", ": VersionedSchema", ": Codable", ".models", "models",
    "stages", "schemas", ".lightweight(fromVersion: V1.self, toVersion: V2.self)", "\u{0}", "é", "\u{1F600}",
  ]
  private static let partners = ["(": ")", "[": "]", "{": "}", "<": ">"]

  /// A group in brackets, some tokens, or a line, in which brackets are in pairs.
  private static func piece(_ tokens: [String], _ random: inout FuzzRandom) -> Range<Int> {
    let start = random.below(tokens.count)
    var (open, end) = (0, start)
    let length = random.pick([1, 3, 12, 60])
    while end < tokens.count, open > 0 || end - start < length {
      if partners[tokens[end]] != nil, tokens[end] != "<" { open += 1 }
      if [")", "]", "}"].contains(tokens[end]) { open -= 1 }
      if open < 0 { break }
      end += 1
    }
    return start..<end
  }

  mutating func mutate(using random: inout FuzzRandom) {
    for _ in 0...random.below(4) where !tokens.isEmpty {
      let piece = Self.piece(tokens, &random)
      let text = tokens[piece].joined()
      switch random.below(12) {
      case 0: tokens.removeSubrange(piece)
      case 1: tokens.replaceSubrange(piece, with: [random.pick(Self.words)])
      case 2: tokens.insert(" \(random.pick(Self.words)) ", at: piece.lowerBound)
      case 3: tokens.insert(contentsOf: other[Self.piece(other, &random)], at: piece.lowerBound)
      case 4: tokens.replaceSubrange(piece, with: other[Self.piece(other, &random)])
      case 5:
        let second = Self.piece(tokens, &random)
        guard !piece.overlaps(second), !piece.isEmpty, !second.isEmpty else { continue }
        let (first, last) = piece.lowerBound < second.lowerBound ? (piece, second) : (second, piece)
        let (one, two) = (Array(tokens[first]), Array(tokens[last]))
        tokens.replaceSubrange(last, with: one)
        tokens.replaceSubrange(first, with: two)
      case 6:
        let count = min(random.pick([2, 3, 20, 500]), Self.limit / 4 / max(1, text.utf8.count))
        let mark = random.pick(["", " ", "\n", ", ", " + "])
        tokens.replaceSubrange(piece, with: [Array(repeating: text, count: max(1, count)).joined(separator: mark)])
      case 7:
        let opening = random.pick(["(", "[", "{", "<", "[String: ", "enum V { ", "Set<", "\"\\(", "(a, "])
        let count = min(random.pick([1, 2, 16, 31, 32, 33, 65, 1000, 20_000]), Self.limit / 4 / opening.utf8.count)
        let closing =
          ["\"\\(": ")\""][opening] ?? Self.partners[opening.first { "([{<".contains($0) }.map(String.init) ?? ""]
        tokens.replaceSubrange(
          piece,
          with: [
            String(repeating: opening, count: count) + text + String(repeating: closing ?? "", count: count)
          ])
      case 8:
        tokens.replaceSubrange(
          piece, with: ["\n#if DEBUG\n\(text)\n#else\n\(random.once(in: 2) ? text : "")\n#endif\n"])
      case 9: tokens.insert(random.text(), at: piece.lowerBound)
      case 10: tokens.insert(contentsOf: Self.tower(random.pick([2, 17, 40]), &random), at: piece.lowerBound)
      default: if random.once(in: 4) { tokens.removeSubrange(piece.lowerBound...) }
      }
      guard encoded.count <= Self.limit else { return tokens = Array(tokens.prefix(100)) }
    }
  }

  /// Declarations that refer to each other, each to several of the next.
  private static func tower(_ height: Int, _ random: inout FuzzRandom) -> [String] {
    let form = random.below(5)
    return ["\n"]
      + (0..<height).map { level in
        switch form {
        case 0: "typealias T\(level) = [T\(level + 1): T\(level + 1)]\n"
        case 1: "struct T\(level): Codable { var a: T\(level + 1); var b: T\(level + 1)? }\n"
        case 2: "protocol T\(level): T\(level + 1), T\(level + 2) {}\n"
        case 3: "static let a\(level) = a\(level + 1) + a\(level + 1)\n"
        default: "@Model final class T\(level) { var a: T\(level + 1)?; var b: [T\(max(0, level - 1))] }\n"
        }
      }
  }

  var encoded: [UInt8] { tokens.flatMap(\.utf8) }
}
