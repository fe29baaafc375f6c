/// The text of an expression or predicate as its tokens, which are changed and put together again.
struct TextMutation {
  private var tokens: [String]
  private let other: [String]

  /// Pieces of the other text are inserted.
  init(_ text: String, with other: String) {
    tokens = Self.tokens(text)
    self.other = Self.tokens(other)
  }

  private static let words = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "[cd]", "[n]", "ANY", "ALL",
    "NONE",
    "==", "!=", "<", ">=", "&&", "||", "!", "+", "-", "*", "/", "**", "&", "|", "^", "~", "<<", ">>", ":=", "(", ")",
    "{", "}",
    "[", "]", ",", ".", ":", "$x", "$source", "@count", "@sum", "@avg", "SELF", "NIL", "TRUE", "#", "%@", "%K", "%d",
    "''",
    "\"\"", "0", "1", "-1", "0x", "1e400", "1e-400", "9223372036854775807", "9223372036854775808", "00ff", "UNION",
    "INTERSECT", "MINUS", "FIRST", "LAST", "SIZE", "SUBQUERY(items, $x, ", "TERNARY(", "FETCH(", "FUNCTION(", "CAST(",
    "name", "items", "items.name", "list", "user.items", "now()", "count:(", "sum:(", "median:(", "modulus:by:(",
    "raise:toPower:(", "leftshift:by:(", "castObject:toType:(", "objectFrom:withIndex:(", "'*?*?*?*'", "'(a*)*b'",
    "'\\\\'",
    "\\", "'[a-'", "'(?i'", "'\\\\p{L}{1,1000}'", "'NSDecimalNumber'", "'NSDate'", "'NSData'", "\u{0}", "é",
    "\u{1F600}",
  ]

  /// Words, and single other characters.
  static func tokens(_ text: String) -> [String] {
    var tokens: [String] = []
    var isWord = false
    for character in text {
      let continues = character.isLetter || character.isNumber || character == "_"
      if continues, isWord, let last = tokens.popLast() {
        tokens.append(last + String(character))
      } else {
        tokens.append(String(character))
      }
      isWord = continues
    }
    return tokens
  }

  mutating func mutate(using random: inout FuzzRandom) {
    for _ in 0...random.below(3) {
      let place = random.below(tokens.count + 1)
      switch random.below(9) {
      case 0 where place < tokens.count: tokens.remove(at: place)
      case 1 where place < tokens.count: tokens[place] = random.pick(Self.words)
      case 2 where place < tokens.count: tokens.swapAt(place, random.below(tokens.count))
      case 3:
        let start = random.below(other.count)
        tokens.insert(contentsOf: other[start..<min(other.count, start + 1 + random.below(12))], at: place)
      case 4:
        let open = random.pick(["(", "NOT ", "-", "{", "[", "TERNARY(", "~", "a.b[", "SUBQUERY(items, $x, "])
        let count = random.pick([1, 3, 63, 64, 65, 1000, 100_000])
        tokens.insert(String(repeating: open, count: count), at: random.once(in: 3) ? place : 0)
        let close = ["(": ")", "{": "}", "[": "]", "a.b[": "]"][open] ?? ""
        tokens.append(String(repeating: close, count: count))
      case 5: tokens = ["("] + tokens + [")"] + random.pick([[" == "], [" AND "], [" + "], [" OR "], [" IN "]]) + other
      case 6:
        let end = min(tokens.count, place + 1 + random.below(8))
        let piece = tokens[min(place, end)..<end]
        let count = random.pick([1, 2, 50])
        tokens.insert(contentsOf: Array(repeating: Array(piece), count: count).flatMap { $0 }, at: place)
      case 7: tokens.insert(random.text(), at: place)
      default: tokens.insert(" " + random.pick(Self.words) + " ", at: place)
      }
    }
  }

  var encoded: [UInt8] { Array(tokens.joined().utf8) }
}
