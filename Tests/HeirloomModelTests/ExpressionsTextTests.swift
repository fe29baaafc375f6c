import Foundation
import HeirloomModel
import Testing

/// Text comparisons, checked against Foundation's (ICU's) where that is the model.
struct ExpressionsTextTests {
  private static func holds(
    _ left: String, _ comparator: PredicateDescription.Comparator, _ right: String,
    c: Bool = false, d: Bool = false
  ) throws -> Bool {
    try ExpressionEvaluator().evaluate(
      .comparison(
        .init(
          left: .evaluatedObject, comparator: comparator, right: .constant(.value(.string(right))),
          isCaseInsensitive: c,
          isDiacriticInsensitive: d)), on: .string(left))
  }

  private static func icuMatches(_ text: String, _ pattern: String) -> Bool? {
    guard let expression = try? NSRegularExpression(pattern: "\\A(?:" + pattern + ")\\z") else { return nil }
    return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
  }

  @Test(arguments: [
    "\\A[^@]+@([^@\\.]+\\.)+[^@\\.]+\\z", "[A-Z]{2,3}\\d*", "a|b|", "(?i)abc", "(?i:a)b", "a(?i)b|c", ".*", "(?s).*",
    "^a$", "\\bfoo\\b.*", "[\\w\\-]+", "\\S+\\s\\S+", "[^\\d]+", "\\p{Lu}\\p{L}*", "\\P{L}+", "(a+)+", "(?:ab)*",
    "(?<year>\\d{4})-\\d\\d", "a{0}", "a{2}", "a{1,}b", "\\x61\\u0062", "\\Qa.b\\E", "[a\\]]+", "[-a]+", "[a-]+", "()*",
    "(a|ab)(c|bcd)(d*)", "(?m)a$\\n^b", "a\\Z", "[\\n\\t ]*", "\\.", "x*?y+?", "[^]a]", "[]a]+", "(?#note)a", ".", "..",
  ])
  func `a regular expression fits what ICU's fits`(pattern: String) throws {
    let texts = [
      "", "a", "b", "ab", "AB", "Ab", "aB", "c", "C", "abc", "ABC", "aaa", "aa", "aab", "abab", "AB12", "ABCD", "a@b.c",
      "a@b",
      "foo bar", "foobar", "foo", "x-y_z", "a b", "12", "Émile", "émile", "2024-05", "a.b", "axb", "a]", "a-", "-",
      "\n", "a\n",
      "a\nb", "abcd", "xxyy", "y", "!?", "e\u{301}", "😀", "ſ", "\t ", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    ]
    for text in texts {
      let expected = try #require(Self.icuMatches(text, pattern) as Bool?, "ICU refuses \(pattern)")
      #expect(try Self.holds(text, .matches, pattern) == expected, "\(pattern) on \(text.debugDescription)")
    }
  }

  @Test(arguments: 0..<4)
  func `random regular expressions fit what ICU's fit`(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    func pattern(_ depth: Int, _ random: inout SplitMix64) -> String {
      switch Int.random(in: 0..<(depth > 0 ? 9 : 4), using: &random) {
      case 0, 1: return ["a", "b", "\\d", ".", "[ab]", "[^a]", "\\w", "\\b"].randomElement(using: &random) ?? "a"
      case 2: return ["a", "b", "1"].randomElement(using: &random) ?? "a"
      case 3: return ["[a-c1]", "\\s", "", "$", "^"].randomElement(using: &random) ?? "a"
      case 4, 5: return pattern(depth - 1, &random) + pattern(depth - 1, &random)
      case 6: return "(" + pattern(depth - 1, &random) + "|" + pattern(depth - 1, &random) + ")"
      case 7:
        return "(" + pattern(depth - 1, &random) + ")"
          + (["*", "+", "?", "{1,2}"].randomElement(using: &random) ?? "*")
      default: return "(?:" + pattern(depth - 1, &random) + ")"
      }
    }
    for _ in 0..<60 {
      let pattern = pattern(4, &random)
      for _ in 0..<12 {
        let text = String(
          (0..<Int.random(in: 0...5, using: &random)).map { _ in "ab1 ".randomElement(using: &random) ?? "a" })
        let expected = try #require(Self.icuMatches(text, pattern) as Bool?)
        #expect(try Self.holds(text, .matches, pattern) == expected, "\(pattern) on \(text.debugDescription)")
      }
    }
  }

  @Test(arguments: [
    "(", ")", "a)", "[", "[a", "[]", "*a", "a**+", "a*+", "a++", "a{", "a{,2}", "a{2,1}", "a{99999}", "\\", "\\1",
    "\\k<a>",
    "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?>a)", "(?x)a", "[a[b]]", "[a-z&&[b]]", "[z-a]", "\\p{Greek}", "\\p",
    "\\xg", "\\c",
    "\\x{110000}", "((a{1000}){1000}){1000}", "(){1000}(((){1000}){1000}){1000}", "{",
    String(repeating: "(", count: 5000), String(repeating: "a", count: 20_000),
  ])
  func `a pattern beyond the subset is refused`(pattern: String) {
    #expect(throws: EvaluationError.self) { try Self.holds("a", .matches, pattern) }
  }

  @Test func `no pattern takes exponential time`() throws {
    let text = String(repeating: "a", count: 2000)
    #expect(try !Self.holds(text, .matches, "(a+)+b"))
    #expect(try !Self.holds(text, .matches, "(a|a)*b"))
    #expect(try !Self.holds(text, .like, String(repeating: "*a", count: 20) + "b"))
  }

  @Test(arguments: 0..<4)
  func `LIKE is the regular expression it stands for`(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed) + 50)
    for _ in 0..<300 {
      let pattern = String(
        (0..<Int.random(in: 0...6, using: &random)).map { _ in "ab*?*".randomElement(using: &random) ?? "a" })
      let text = String(
        (0..<Int.random(in: 0...6, using: &random)).map { _ in "ab".randomElement(using: &random) ?? "a" })
      let translated = pattern.replacing("*", with: ".*").replacing("?", with: ".")
      #expect(try Self.holds(text, .like, pattern) == Self.icuMatches(text, translated), "\(pattern) on \(text)")
    }
  }

  @Test func `letters lose the diacritics that Foundation takes from them`() throws {
    var letters = 0
    for value in UInt32(0xc0)..<0x2000 {
      guard let scalar = Unicode.Scalar(value), scalar.properties.isAlphabetic else { continue }
      let text = String(scalar)
      let folded = text.folding(options: .diacriticInsensitive, locale: nil)
      guard folded != text else { continue }
      letters += 1
      #expect(try Self.holds(text, .equal, folded, d: true), "U+\(String(value, radix: 16)) \(text) \(folded)")
    }
    #expect(letters > 500)
  }

  @Test func `letters are equal in both cases`() throws {
    for value in UInt32(0x41)..<0x590 {
      guard let scalar = Unicode.Scalar(value), scalar.properties.changesWhenLowercased else { continue }
      #expect(try Self.holds(String(scalar), .equal, scalar.properties.lowercaseMapping, c: true))
      #expect(try Self.holds(scalar.properties.lowercaseMapping, .contains, String(scalar), c: true))
    }
    #expect(try !Self.holds("a", .equal, "ä", c: true))
    #expect(try Self.holds("ÄRGER", .equal, "arger", c: true, d: true))
    #expect(try Self.holds("Straße", .equal, "STRASSE", c: true) == false)
  }

  @Test func `the canonical form is what Foundation makes of text without case and diacritics`() {
    // Foundation does not know the case of the small letters that Unicode 9 added to Cyrillic.
    let letters = (UInt32(0x20)..<0x1c80).compactMap { Unicode.Scalar($0) }.filter {
      $0.properties.isAlphabetic && $0.properties.generalCategory != .nonspacingMark
    }
    let wrong = letters.map { String($0) }.filter {
      $0.foldedCanonically != $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }
    #expect(wrong == [])
    #expect(letters.count > 4000)
  }

  @Test(arguments: [
    ("ﬁ", "FI", "fi"), ("Straße", "STRASSE", "strasse"), ("ΣΊΣΥΦΟΣ", "σίσυφος", "σισυφοσ"),
    ("İstanbul", "istanbul", "istanbul"),
    ("ŉ", "ʼN", "ʼn"), ("ẞ", "ß", "ss"), ("ı", "ı", "ı"), ("", "", ""),
  ])
  func `texts that differ in case and diacritics only have one canonical form`(one: String, other: String, form: String)
  {
    #expect(one.foldedCanonically == form)
    #expect(other.foldedCanonically == form)
    #expect(form.foldedCanonically == form)
  }
}
