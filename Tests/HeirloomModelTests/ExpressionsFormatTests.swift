import HeirloomModel
import Testing

struct ExpressionsFormatTests {
  @Test(arguments: [
    ("SELF>=0", "SELF >= 0"),
    ("name = 'x'", #"name == "x""#),
    ("a == 1 && b <> 2", "a == 1 AND b != 2"),
    ("(a = 1 or b = 2) and c =< 3", "(a == 1 OR b == 2) AND c <= 3"),
    ("a = 1 or b = 2 and c => 3", "a == 1 OR (b == 2 AND c >= 3)"),
    ("some tags.name contains[dc] 'x'", #"ANY tags.name CONTAINS[cd] "x""#),
    ("none tags.name like 'x'", #"NOT ANY tags.name LIKE "x""#),
    ("!(a = 1 && b = 2)", "NOT (a == 1 AND b == 2)"),
    ("x in (1,2)", "x IN {1, 2}"),
    ("x between {1,2}", "x BETWEEN {1, 2}"),
    ("deleted == NULL", "deleted == nil"),
    (#"a == '"\''"#, #"a == "\"'""#),
    ("a == 'line\\nnext\\u0007'", #"a == "line\nnext\u0007""#),
    ("date < CAST(712849305.401525, 'NSDate')", #"date < CAST(712849305.401525, "NSDate")"#),
    ("date < cast(0, 'NSDate')", #"date < CAST(0.000000, "NSDate")"#),
    ("date < CAST(-1.5, 'NSDate')", #"date < CAST(-1.500000, "NSDate")"#),
    ("subquery(e,$s,$s.id=='1').@count>0", #"SUBQUERY(e, $s, $s.id == "1").@count > 0"#),
    ("count:( items )>0", "count:(items) > 0"),
    ("uppercase(a)==b", "uppercase:(a) == b"),
    ("#size == a.first", "#size == a.#first"),
    ("a[last].b == c[size]", "a[LAST].b == c[SIZE]"),
    ("(a+b)*c-(d-e) == 2**3**4", "(a + b) * c - (d - e) == 2 ** 3 ** 4"),
    ("((a*b)+c) == (2**3)**4", "a * b + c == (2 ** 3) ** 4"),
    ("(-1).x == -a", "(-1).x == 0 - a"),
    ("~(a|b) == 0", "~(a | b) == 0"),
    ("ternary(a=1,b,c) == d", "TERNARY(a == 1, b, c) == d"),
    ("a == YES", "a == YES"),
    ("a == 2.0", "a == 2.0"),
    ("a union b == c", "a UNION b == c"),
    ("cast(a,'NSNumber') == 1", #"CAST(a, "NSNumber") == 1"#),
  ])
  func `prints the text of Core Data`(text: String, expected: String) throws {
    let predicate = try PredicateDescription(parsing: text)
    #expect(predicate.predicateFormat == expected)
    #expect(try PredicateDescription(parsing: expected) == predicate)
  }

  @Test(arguments: [
    ("items.@count", "count:(items)"),
    ("a.items.@count", "count:(a.items)"),
    ("items.@sum.price", "sum:(items.price)"),
    ("items.@distinctUnionOfSets.a", "items.@distinctUnionOfSets.a"),
    ("items.@distinctUnionOfObjects.a.@count", "items.@distinctUnionOfObjects.a.@count"),
    ("items.@max.tags.@count", "items.@max.tags.@count"),
    ("@count", "count:(SELF)"),
    ("chat.serverId", "chat.serverId"),
    ("canonical:(name)", "canonical:(name)"),
    ("now()", "now()"),
    ("TRUE", "1"),
    ("2.0", "2"),
    ("0.1", "0.1"),
    ("NULL", "nil"),
    ("'a'", #""a""#),
    ("CAST(1.25, 'NSDate')", #"CAST(1.250000, "NSDate")"#),
    ("CAST(1e-9, 'NSDate')", #"CAST(0.000000, "NSDate")"#),
    ("CAST(-0.9999999, 'NSDate')", #"CAST(-1.000000, "NSDate")"#),
    ("FUNCTION(CAST('_NSPredicateUtilities', 'Class'), 'count:', items)", "count:(items)"),
    ("FUNCTION($manager, 'f:g:', 'x', $source.a)", #"FUNCTION($manager, "f:g:" , "x", $source.a)"#),
  ])
  func `gives version hashes their text`(text: String, expected: String) throws {
    #expect(try ValueExpression(parsing: text).hashFormat == expected)
  }

  @Test func `an archived count and a key path have the same hash text`() {
    let archived = ValueExpression.function(
      operand: .constant(.className("_NSPredicateUtilities")), selector: "count:", arguments: [.keyPath("items")])
    #expect(archived.hashFormat == ValueExpression.keyPath("items.@count").hashFormat)
    #expect(PredicateDescription(keeping: "done == TRUE").hashFormat == "done == 1")
  }

  @Test func `keeps text that could not be parsed`() {
    #expect(ValueExpression.unparsed("a == ?").predicateFormat == "a == ?")
    #expect(PredicateDescription.unparsed("a ? b").predicateFormat == "a ? b")
    let both = PredicateDescription.and([.unparsed("a ? b OR c"), .alwaysTrue])
    #expect(both.predicateFormat == "(a ? b OR c) AND TRUEPREDICATE")
  }

  @Test(
    arguments: [
      .value(.date(.infinity)), .value(.date(1e300)), .value(.date(0.1234567891)), .value(.date(-0.0000001)),
      .value(.double(.infinity)), .value(.double(-.infinity)), .value(.double(.leastNonzeroMagnitude)),
      .value(.double(1e23)),
      .value(.double(-0.1)), .value(.integer(.min)), .value(.integer(.max)), .value(.decimal("-12.50")),
      .value(.decimal("")), .value(.binary([])), .value(.binary([0, 255, 16])), .value(.uri("http://a/b?c=\"d\"")),
      .value(.uuid(Array(0..<16))), .value(.uuid([1, 2])), .value(.boolean(true)), .value(.boolean(false)),
      .value(.string("")), .value(.string("\\\"'\n\r\t\u{0}\u{7f}\u{2028}😀e\u{301}")), .null, .className("NSString"),
      .array([]), .array([.null, .value(.integer(1)), .array([.value(.boolean(true))])]),
    ] as [ConstantValue])
  func `constants come back as they were`(constant: ConstantValue) throws {
    let expression = ValueExpression.constant(constant)
    #expect(try ValueExpression(parsing: expression.predicateFormat) == expression)
  }

  @Test(arguments: 0..<8)
  func `what is printed is parsed to the same`(seed: Int) throws {
    var generator = RandomExpressions(seed: UInt64(seed))
    for _ in 0..<150 {
      let predicate = generator.predicate(depth: 4)
      let text = predicate.predicateFormat
      #expect(try PredicateDescription(parsing: text) == predicate, "\(text)")
      let expression = generator.expression(depth: 4)
      let format = expression.predicateFormat
      #expect(try ValueExpression(parsing: format) == expression, "\(format)")
    }
  }

  @Test(arguments: 0..<4)
  func `spacing and letter case don't matter`(seed: Int) throws {
    var generator = RandomExpressions(seed: UInt64(seed) + 100, textLetters: Array("0123"))
    for _ in 0..<100 {
      let predicate = generator.predicate(depth: 3)
      let tight = predicate.predicateFormat.replacing(", ", with: ",").replacing(" == ", with: "=")
      let wide = predicate.predicateFormat.replacing(" ", with: " \n\t")
      #expect(try PredicateDescription(parsing: tight) == predicate, "\(tight)")
      #expect(try PredicateDescription(parsing: wide) == predicate, "\(wide)")
      var lower = predicate.predicateFormat
      for word in [
        " AND ", " OR ", " IN", " LIKE", " CONTAINS", " BETWEEN", " UNION ", " MINUS ", "TERNARY(", "SUBQUERY(",
        "(NOT ",
        "(ANY ", "(ALL ", " SELF ",
      ] {
        lower = lower.replacing(word, with: word.lowercased())
      }
      #expect(try PredicateDescription(parsing: lower) == predicate, "\(lower)")
    }
  }
}
