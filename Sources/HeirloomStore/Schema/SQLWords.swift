/// The words of a statement, without quotes, comments and punctuation.
struct SQLWords: Sequence, IteratorProtocol {
  private var rest: Substring.UTF8View
  /// The last byte of punctuation before the last word.
  private(set) var mark: UInt8?
  /// True once a parenthesis was opened.
  private(set) var hasOpenedParenthesis = false
  /// True if the last word was written as a text.
  private(set) var isText = false
  var isFollowedByParenthesis: Bool {
    rest.first { $0 > 0x20 } == UInt8(ascii: "(")
  }

  init(_ sql: String) { rest = sql[...].utf8 }

  mutating func next() -> String? {
    (mark, isText) = (nil, false)
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "-") where rest.dropFirst().first == byte:
        rest = rest.drop { $0 != 0x0A }
      case UInt8(ascii: "/") where rest.dropFirst().first == UInt8(ascii: "*"):
        skipComment()
      case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"), UInt8(ascii: "["):
        isText = byte == UInt8(ascii: "'")
        return quoted(until: byte == UInt8(ascii: "[") ? UInt8(ascii: "]") : byte)
      case _ where Self.isPart(byte):
        let word = rest.prefix(while: Self.isPart)
        rest = rest[word.endIndex...]
        return String(decoding: word, as: UTF8.self)
      default:
        if byte > 0x20 { mark = byte }
        if byte == UInt8(ascii: "(") { hasOpenedParenthesis = true }
        rest = rest.dropFirst()
      }
    }
    return nil
  }

  private mutating func skipComment() {
    rest = rest.dropFirst(2)
    var previous: UInt8 = 0
    while let byte = rest.first {
      rest = rest.dropFirst()
      if previous == UInt8(ascii: "*"), byte == UInt8(ascii: "/") { return }
      previous = byte
    }
  }

  private mutating func quoted(until end: UInt8) -> String {
    let word = rest.dropFirst().prefix { $0 != end }
    rest = rest[word.endIndex...].dropFirst()
    return String(decoding: word, as: UTF8.self)
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }
}

extension SchemaObject {
  /// Functions that make long values of short ones: a short schema could take any time and memory.
  private static let costlyFunctions: Set<String> = [
    "char", "format", "group_concat", "hex", "printf", "quote", "randomblob", "replace", "zeroblob",
  ]

  /// SQLite would call it for each row: in a computed column, a check or an index.
  package var costlyFunction: String? {
    guard kind == .table || kind == .index else { return nil }
    var words = SQLWords(sql ?? "")
    while let word = words.next() {
      if words.isFollowedByParenthesis, Self.costlyFunctions.contains(word.lowercased()) { return word.lowercased() }
    }
    return nil
  }
}

extension SchemaObject {
  /// `names` are in lower case.
  package func word(among names: Set<String>) -> String? {
    var words = SQLWords(sql ?? "")
    while let word = words.next() {
      if names.contains(word.lowercased()) { return word }
    }
    return nil
  }
}

extension ActualSchema {
  package var costlyTables: [String: String] {
    Dictionary(
      objects.compactMap { object in object.costlyFunction.map { (object.table, $0) } },
      uniquingKeysWith: { first, _ in first })
  }
}
