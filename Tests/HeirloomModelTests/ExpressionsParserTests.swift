import Foundation
import HeirloomModel
import TestSupport
import Testing

struct ExpressionsParserTests {
  static func path(_ path: String) -> ValueExpression { .keyPath(path) }
  static func integer(_ value: Int64) -> ValueExpression { .constant(.value(.integer(value))) }
  static func text(_ value: String) -> ValueExpression { .constant(.value(.string(value))) }
  static func call(_ selector: String, _ arguments: ValueExpression...) -> ValueExpression {
    .function(operand: nil, selector: selector, arguments: arguments)
  }
  static func equal(_ left: ValueExpression, _ right: ValueExpression) -> PredicateDescription {
    .comparison(.init(left: left, comparator: .equal, right: right))
  }

  @Test(
    arguments: [
      ("items.@count", path("items.@count")),
      ("chat.serverId", path("chat.serverId")),
      ("canonical:(name)", call("canonical:", path("name"))),
      ("now()", call("now")),
      ("count:(items)", call("count:", path("items"))),
      ("sum:(items.price)", call("sum:", path("items.price"))),
      ("uppercase(name)", call("uppercase:", path("name"))),
      ("add:to:(1, 2)", call("add:to:", integer(1), integer(2))),
      ("foo: bar: (1)", nil),
      // A fuzzer found this: it was read as a function whose name can't be written.
      ("@sum (a)", nil),
      ("SELF", .evaluatedObject),
      ("self.name", path("name")),
      ("SELF.@count", path("@count")),
      ("orders.@distinctUnionOfSets.items.name", path("orders.@distinctUnionOfSets.items.name")),
      ("#size", path("size")),
      ("a.#in.#size", path("a.in.size")),
      ("größe_2", path("größe_2")),
      ("size", path("size")),
      ("first.last", path("first.last")),
      ("$FETCH_SOURCE.name", .keyPath(operand: .variable("FETCH_SOURCE"), path: "name")),
      ("$FETCHED_PROPERTY", .variable("FETCHED_PROPERTY")),
      ("(a).b", .keyPath(operand: path("a"), path: "b")),
      ("a[0]", call("objectFrom:withIndex:", path("a"), integer(0))),
      ("a[FIRST].b", .keyPath(operand: call("objectFrom:withIndex:", path("a"), call("FIRST")), path: "b")),
      ("a[size]", call("objectFrom:withIndex:", path("a"), call("SIZE"))),
      ("a[size + 1]", call("objectFrom:withIndex:", path("a"), call("add:to:", path("size"), integer(1)))),
      ("a[\"key\"]", call("objectFrom:withIndex:", path("a"), text("key"))),
      ("{1, 'two', NIL}", .aggregate([integer(1), text("two"), .constant(.null)])),
      ("{}", .aggregate([])),
      ("a + b * c", call("add:to:", path("a"), call("multiply:by:", path("b"), path("c")))),
      ("(a + b) * c", call("multiply:by:", call("add:to:", path("a"), path("b")), path("c"))),
      ("a - b - c", call("from:subtract:", call("from:subtract:", path("a"), path("b")), path("c"))),
      ("a ** b ** c", call("raise:toPower:", path("a"), call("raise:toPower:", path("b"), path("c")))),
      ("a / -2", call("divide:by:", path("a"), integer(-2))),
      ("a-1", call("from:subtract:", path("a"), integer(1))),
      ("-a", call("from:subtract:", integer(0), path("a"))),
      ("flags & 4 | 1", call("bitwiseOr:with:", call("bitwiseAnd:with:", path("flags"), integer(4)), integer(1))),
      (
        "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:' , \"MoodToMood\", $source.mood)",
        .function(
          operand: .variable("manager"), selector: "destinationInstancesForEntityMappingNamed:sourceInstances:",
          arguments: [text("MoodToMood"), .keyPath(operand: .variable("source"), path: "mood")])
      ),
      (
        "SUBQUERY(items, $x, $x.price > 3).@count",
        .keyPath(
          operand: .subquery(
            collection: path("items"), variable: "x",
            predicate: .comparison(
              .init(
                left: .keyPath(operand: .variable("x"), path: "price"), comparator: .greaterThan, right: integer(3)))),
          path: "@count")
      ),
      (
        "TERNARY(a == 1, b, c)",
        .conditional(predicate: equal(path("a"), integer(1)), then: path("b"), otherwise: path("c"))
      ),
      ("CAST(b, 'NSString')", call("castObject:toType:", path("b"), text("NSString"))),
      ("CAST(10.5, 'NSDate')", .constant(.value(.date(10.5)))),
      ("CAST(10, 'NSDate')", .constant(.value(.date(10)))),
      ("CAST('00ff', 'NSData')", .constant(.value(.binary([0, 255])))),
      ("CAST('00f', 'NSData')", call("castObject:toType:", text("00f"), text("NSData"))),
      ("CAST('NSString', 'Class')", .constant(.className("NSString"))),
      (
        "FETCH(FUNCTION($manager, 'a:', 'b'), $manager.sourceContext, NO)",
        .fetch(
          request: .function(operand: .variable("manager"), selector: "a:", arguments: [text("b")]),
          context: .keyPath(operand: .variable("manager"), path: "sourceContext"), countOnly: false)
      ),
      (
        "a UNION b MINUS {1}",
        .setOperation(.minus, .setOperation(.union, path("a"), path("b")), .aggregate([integer(1)]))
      ),
      ("union intersect minus", .setOperation(.intersect, path("union"), path("minus"))),
      ("TRUE", .constant(.value(.boolean(true)))),
      ("no", .constant(.value(.boolean(false)))),
      ("0x1F", integer(31)),
      ("-9223372036854775808", integer(.min)),
      ("9223372036854775808", .constant(.value(.decimal("9223372036854775808")))),
      ("-1.5e3", .constant(.value(.double(-1500)))),
      (".5", .constant(.value(.double(0.5)))),
      ("2E-2", .constant(.value(.double(0.02)))),
      (#""a\"b\\c\n\u00e9\ud83d\ude00'""#, text("a\"b\\c\né😀'")),
      (#"'it\'s'"#, text("it's")),
    ] as [(String, ValueExpression?)])
  func `parses expressions`(text: String, expected: ValueExpression?) throws {
    guard let expected else {
      #expect(throws: ExpressionError.self) { try ValueExpression(parsing: text) }
      return
    }
    #expect(try ValueExpression(parsing: text) == expected)
  }

  @Test(
    arguments: [
      (["a = 1", "a==1", "(a) == (1)", "((a == 1))", "a\t=\n1"], .equal),
      (["a != 1", "a <> 1"], .notEqual),
      (["a < 1", "a<1"], .lessThan),
      (["a <= 1", "a =< 1"], .lessThanOrEqual),
      (["a > 1"], .greaterThan),
      (["a >= 1", "a => 1"], .greaterThanOrEqual),
      (["a beginswith 1", "a BEGINSWITH 1"], .beginsWith),
      (["a ENDSWITH 1"], .endsWith),
      (["a CONTAINS 1", "a contains(1)"], .contains),
      (["a LIKE 1", "a Like 1"], .like),
      (["a MATCHES 1"], .matches),
      (["a IN 1"], .in),
      (["a BETWEEN 1"], .between),
    ] as [([String], PredicateDescription.Comparator)])
  func `parses comparisons in all spellings`(texts: [String], comparator: PredicateDescription.Comparator) throws {
    for text in texts {
      let expected = PredicateDescription.comparison(
        .init(left: Self.path("a"), comparator: comparator, right: Self.integer(1)))
      #expect(try PredicateDescription(parsing: text) == expected, "\(text)")
    }
  }

  static let a = equal(path("a"), integer(1))
  static let b = equal(path("b"), integer(2))
  static let c = equal(path("c"), integer(3))

  @Test(
    arguments: [
      ("TRUEPREDICATE", .alwaysTrue),
      ("falsepredicate", .alwaysFalse),
      ("a == 1 AND b == 2 && c == 3", .and([a, b, c])),
      ("a == 1 or b == 2 || c == 3", .or([a, b, c])),
      ("a == 1 OR b == 2 AND c == 3", .or([a, .and([b, c])])),
      ("(a == 1 OR b == 2) AND c == 3", .and([.or([a, b]), c])),
      ("a == 1 AND (b == 2 AND c == 3)", .and([a, .and([b, c])])),
      ("NOT a == 1 AND b == 2", .and([.not(a), b])),
      ("!(a == 1 AND b == 2)", .not(.and([a, b]))),
      ("NOT NOT a == 1", .not(.not(a))),
      ("NONE a == 1", .not(.comparison(.init(left: path("a"), comparator: .equal, right: integer(1), modifier: .any)))),
      ("a NOT IN {1}", .not(.comparison(.init(left: path("a"), comparator: .in, right: .aggregate([integer(1)]))))),
      (
        "a IN (1, 2)",
        .comparison(.init(left: path("a"), comparator: .in, right: .aggregate([integer(1), integer(2)])))
      ),
      (
        "SOME t.n ==[cd] 'x'",
        .comparison(
          .init(
            left: path("t.n"), comparator: .equal, right: text("x"), modifier: .any, isCaseInsensitive: true,
            isDiacriticInsensitive: true))
      ),
      (
        "ALL n BEGINSWITH[n] 'x'",
        .comparison(
          .init(left: path("n"), comparator: .beginsWith, right: text("x"), modifier: .all, isNormalized: true))
      ),
      ("(a + 1) == 2", equal(call("add:to:", path("a"), integer(1)), integer(2))),
    ] as [(String, PredicateDescription)])
  func `parses conditions`(text: String, expected: PredicateDescription) throws {
    #expect(try PredicateDescription(parsing: text) == expected)
  }

  @Test(
    arguments: [
      ("", .unexpectedEnd(offset: 0, expected: "a value")),
      ("a", .unexpected(found: "a value", offset: 0, expected: "a condition, such as a comparison")),
      ("a ==", .unexpectedEnd(offset: 4, expected: "a value")),
      ("a == 1 b", .unexpected(found: "\"b\"", offset: 7, expected: "an operator or the end")),
      ("(a == 1", .unexpectedEnd(offset: 7, expected: "\")\"")),
      ("a == 'x", .unterminatedString(offset: 5)),
      (#"a == "\ud83d""#, .invalidEscape(offset: 6)),
      (#"a == "\uZZZZ""#, .invalidEscape(offset: 6)),
      ("a == 12ab", .invalidNumber(text: "12ab", offset: 5)),
      ("a == 1e", .invalidNumber(text: "1e", offset: 5)),
      ("a == 1e999", .invalidNumber(text: "1e999", offset: 5)),
      ("a == 0xFFFFFFFFFFFFFFFFF", .invalidNumber(text: "0xFFFFFFFFFFFFFFFFF", offset: 5)),
      ("like == 1", .reservedWord(word: "like", offset: 0)),
      ("a ==[l] 1", .unknownOption(text: "l", offset: 5)),
      ("a == %@", .formatArgument(offset: 5)),
      ("%K == 1", .formatArgument(offset: 0)),
      ("a == 1 == 2", .unexpected(found: "\"==\"", offset: 7, expected: "an operator or the end")),
      ("(a == 1) == 2", .unexpected(found: "a condition", offset: 0, expected: "a value")),
      ("ANY a", .unexpectedEnd(offset: 5, expected: "a comparison")),
      ("a NOT 1", .unexpected(found: "1", offset: 6, expected: "a comparison operator, such as IN")),
      ("a == $", .unexpectedEnd(offset: 6, expected: "the name of a variable")),
      ("a. == 1", .unexpected(found: "\"==\"", offset: 3, expected: "the name of a property")),
      ("a == ;", .unexpected(found: "\";\"", offset: 5, expected: "a value or an operator")),
      ("FUNCTION(a, b) == 1", .unexpected(found: "\"b\"", offset: 12, expected: "a selector in quotes")),
      ("FETCH(a, b, c) == 1", .unexpected(found: "\"c\"", offset: 12, expected: "YES or NO")),
      ("SUBQUERY(a, b, c == 1) == 1", .unexpected(found: "\"b\"", offset: 12, expected: "a variable, such as $x")),
      ("a[0 == 1", .unexpected(found: "a condition", offset: 2, expected: "a value")),
    ] as [(String, ExpressionError)])
  func `says where a text stops being a predicate`(text: String, expected: ExpressionError) {
    #expect(throws: expected) { try PredicateDescription(parsing: text) }
    #expect(PredicateDescription(keeping: text) == .unparsed(text))
    #expect(expected.description.hasSuffix("."))
  }

  @Test(arguments: [
    String(repeating: "(", count: 20_000),
    String(repeating: "(", count: 20_000) + "a" + String(repeating: ")", count: 20_000) + " == 1",
    String(repeating: "-", count: 20_000) + "a == 1",
    String(repeating: "~", count: 20_000) + "a == 1",
    String(repeating: "!", count: 20_000) + "a == 1",
    String(repeating: "NOT ", count: 20_000) + "a == 1",
    String(repeating: "a + ", count: 20_000) + "a == 1",
    String(repeating: "a ** ", count: 20_000) + "a == 1",
    String(repeating: "a UNION ", count: 20_000) + "a == 1",
    "a" + String(repeating: "[0]", count: 20_000) + " == 1",
    String(repeating: "{", count: 20_000),
    String(repeating: "f(", count: 20_000),
    String(repeating: "a == 1 AND (", count: 20_000),
    String(repeating: "TERNARY(", count: 20_000),
    String(repeating: "SUBQUERY(a, $x, ", count: 20_000),
    String(repeating: "a[", count: 20_000),
  ])
  func `refuses deep nesting instead of overflowing the stack`(text: String) {
    let outcome = onSmallStack { PredicateDescription(keeping: text) == .unparsed(text) }
    #expect(outcome == true)
  }

  @Test func `reads the deepest text allowed on a small stack`() {
    let text = String(repeating: "(", count: 63) + "a == 1" + String(repeating: ")", count: 63)
    #expect(onSmallStack { PredicateDescription(keeping: text) == Self.a } == true)
    let calls = String(repeating: "f:(", count: 60) + "a" + String(repeating: ")", count: 60) + " == 1"
    #expect(onSmallStack { PredicateDescription(keeping: calls) != .unparsed(calls) } == true)
  }

  @Test func `counts the levels of the tree, whatever they are made of`() {
    // Each is flat as text but deep as a tree, and deep only on one side.
    var text = "a" + String(repeating: "[0]", count: 50)
    for _ in 0..<6 {
      text = "SUBQUERY(\(text), $x, TRUEPREDICATE OR b == 1).@count == 1 AND b == 1 OR c == 1 AND d == 1"
      text = "TERNARY(\(text), 1, 2)"
    }
    #expect(throws: ExpressionError.self) { try ValueExpression(parsing: text) }
    for sign in ["+", "-", "~"] {
      var text = "a"
      for _ in 0..<12 { text = "\(sign)(\(text)\(String(repeating: " + a", count: 6)))" }
      #expect(throws: ExpressionError.self, "\(sign)") { try ValueExpression(parsing: text) }
    }
  }

  @Test func `refuses a giant text`() throws {
    let text = "a == '" + String(repeating: "x", count: 1 << 20) + "'"
    #expect(throws: ExpressionError.tooLong(limit: 1 << 20)) { try PredicateDescription(parsing: text) }
    let flat = Array(repeating: "a == 1", count: 5_000).joined(separator: " OR ")
    guard case .or(let conditions) = try PredicateDescription(parsing: flat) else {
      Issue.record("not a disjunction")
      return
    }
    #expect(conditions.count == 5_000)
  }

  @Test func `survives any mutation of a text`() {
    var generator = SplitMix64(seed: 7)
    let seeds = [
      "ANY a.b ==[cd] \"x\\n\" AND NOT (c IN {1, 2.5e3, nil} OR SUBQUERY(i, $x, $x.p > 0x1f).@count < 3)",
      "TERNARY(a BETWEEN {1, 2}, FUNCTION($m, 'f:g:', b, c)[FIRST].d, CAST(1.5, \"NSDate\")) != a ** -b",
    ]
    let noise = Array("()[]{}'\"\\$#@%.,:;!=<>&|*-+0x1eE_~ \u{0}\u{e9}\u{301}")
    var accepted = 0
    for seed in seeds {
      for _ in 0..<1500 {
        var characters = Array(seed)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          let place = Int.random(in: 0..<characters.count, using: &generator)
          switch Int.random(in: 0..<3, using: &generator) {
          case 0: characters.remove(at: place)
          case 1: characters[place] = noise.randomElement(using: &generator) ?? " "
          default: characters.insert(noise.randomElement(using: &generator) ?? " ", at: place)
          }
        }
        if (try? PredicateDescription(parsing: String(characters))) != nil { accepted += 1 }
      }
    }
    // Some mutations keep the grammar, most don't.
    #expect(accepted > 100 && accepted < 2500)
  }
}

/// A small random number generator that gives the same numbers on each run.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
