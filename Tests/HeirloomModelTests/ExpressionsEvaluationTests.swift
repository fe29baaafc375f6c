import HeirloomModel
import Testing

/// An object for tests: values by name.
private final class Record: ValueSource {
  var values: [String: EvaluatedValue]
  init(_ values: [String: EvaluatedValue] = [:]) { self.values = values }
  var valueIdentity: AnyHashable { ObjectIdentifier(self) }
  func value(forKey key: String) -> EvaluatedValue? { values[key] }
}

struct ExpressionsEvaluationTests {
  /// A folder of three items, one without a price.
  private static var folder: EvaluatedValue {
    func tag(_ name: String) -> EvaluatedValue { .object(Record(["name": .string(name)])) }
    let red = tag("red")
    let items: [EvaluatedValue] = [
      .object(Record(["price": .integer(3), "name": .string("Pen"), "tags": .list([red, tag("new")])])),
      .object(Record(["price": .value(.decimal("4.5")), "name": .string("Äpfel"), "tags": .list([red])])),
      .object(Record(["price": .null, "name": .string("Box"), "tags": .list([])])),
    ]
    return .object(
      Record([
        "name": .string("Été à Paris"), "n": .integer(7), "x": .double(2.5), "nothing": .null, "flag": .boolean(true),
        "day": .value(.date(1000)), "items": .list(items), "first": items[0], "empty": .list([]), "nothing2": .null,
        "id": .value(.uuid(Array(0..<16))), "data": .value(.binary([1, 2, 3])), "size": .integer(1),
      ]))
  }

  private static var evaluator: ExpressionEvaluator {
    ExpressionEvaluator(
      variables: ["source": folder, "v": .integer(5)],
      functions: [
        "double:": { _, arguments in
          guard case .value(.integer(let value)) = arguments.first else { return .null }
          return .integer(value * 2)
        },
        "keyed:": { receiver, arguments in .list([receiver] + arguments) },
      ], now: 12.5)
  }

  /// Returns the kinds of values, since equality takes 1 and 1.0 for the same.
  private static func kinds(_ value: EvaluatedValue) -> String {
    switch value {
    case .null: return "-"
    case .object: return "o"
    case .list(let elements): return "[" + elements.map(kinds).joined() + "]"
    case .value(let value):
      switch value {
      case .integer: return "i"
      case .double: return "d"
      case .decimal: return "m"
      case .string: return "s"
      case .date: return "t"
      default: return "?"
      }
    }
  }

  @Test(
    arguments: [
      ("n + 1 * 2", "9"), ("n / 2", "3"), ("n / 2.0", "3.5"), ("x * 2", "5.0"),
      ("n - -1", "8"), ("modulus:by:(n, 4)", "3"), ("2 ** 10", "1024"),
      ("2 ** -1", "0.5"),
      ("2.0 ** 3", "8.0"), ("9 ** 0.5", "3.0"), ("n + nothing", "nil"), ("nothing ** 2", "nil"),
      ("-n", "-7"),
      ("~n & 255", "248"), ("1 << 4 | 1", "17"), ("1 << 200", "0"), ("n >> -1", "14"),
      ("flag + 1", "2"), ("day + 10", "CAST(1010, 'NSDate')"), ("day - 10", "CAST(990, 'NSDate')"),
      ("now() - day", "-987.5"), ("day - nothing", "nil"),
      ("items.@count", "3"), ("count:(items)", "3"), ("items.@count.whatever", "3"),
      ("items.@sum.price", "7.5"), ("sum:(items.price)", "7.5"), ("items.@avg.price", "3.75"),
      ("items.@max.price", "CAST('4.5', 'NSDecimalNumber')"), ("items.@min.price", "3"),
      ("empty.@sum.price", "0"),
      ("empty.@max.price", "nil"), ("empty.@avg.price", "nil"), ("nothing.@count", "0"), ("nothing.a.b", "nil"),
      ("items.@max.name", "'Äpfel'"), ("items.@firstObject.name", "'Pen'"),
      ("items.@lastObject.price", "nil"), ("empty.@firstObject", "nil"),
      ("items.tags.name", "{{'red', 'new'}, {'red'}, {}}"),
      ("items.@distinctUnionOfSets.tags.name", "{'red', 'new'}"),
      ("items.@unionOfArrays.tags.name", "{'red', 'new', 'red'}"),
      ("items.@distinctUnionOfObjects.price", "{3, CAST('4.5', 'NSDecimalNumber')}"),
      ("items.@unionOfObjects.price", "{3, CAST('4.5', 'NSDecimalNumber')}"),
      ("median:({1, 9, 2, 4})", "3.0"), ("stddev:(2, 4, 4, 4, 5, 5, 7, 9)", "2.0"),
      ("max:(1, 3, 2)", "3"),
      ("min:({})", "nil"), ("average:(1, 2)", "1.5"), ("distinct:({1, 1.0, TRUE, 2})", "{1, 2}"),
      ("items[0].name", "'Pen'"), ("items[FIRST].name", "'Pen'"), ("items[LAST].name", "'Box'"),
      ("items[SIZE]", "3"), ("empty[LAST]", "nil"), ("SELF[\"n\"]", "7"), ("nothing[0]", "nil"),
      ("first.#size", nil), ("#size", "1"),
      ("uppercase(name)", "'ÉTÉ À PARIS'"), ("lowercase:(name)", "'été à paris'"),
      ("canonical:(name)", "'ete a paris'"), ("name.length", "11"), ("length:(data)", "3"),
      ("uppercase:(nothing)", "nil"), ("name.lowercaseString", "'été à paris'"),
      ("abs:(-3)", "3"), ("floor:(2.7)", "2.0"), ("ceiling:(2.1)", "3.0"),
      ("trunc:(-2.7)", "-2.0"),
      ("floor:(n)", "7"), ("sqrt:(16)", "4.0"),
      ("{1, 2, 3} UNION {3, 4}", "{1, 2, 3, 4}"), ("{1, 2} INTERSECT {2, 3}", "{2}"),
      ("{1, 2} MINUS {2.0}", "{1}"),
      ("SUBQUERY(items, $i, $i.price > 3).@count", "1"),
      (
        "SUBQUERY(items, $i, ANY $i.tags.name == 'red' AND $i.price < $v).name",
        "{'Pen', 'Äpfel'}"
      ),
      ("TERNARY(n > 5, 'big', 'small')", "'big'"), ("TERNARY(n > 8, 1 / 0, 'small')", "'small'"),
      ("$source.n", "7"), ("FUNCTION($source, 'double:', n)", "14"), ("double(n)", "14"),
      ("FUNCTION(1, 'keyed:', 2)", "{1, 2}"), ("FUNCTION($source, 'valueForKeyPath:', 'first.price')", "3"),
      ("FUNCTION(CAST('_NSPredicateUtilities', 'Class'), 'count:', items)", "3"),
      ("CAST(n, 'NSString')", "'7'"), ("CAST('12', 'NSNumber')", "12"),
      ("CAST(n, 'NSDate')", "CAST(7, 'NSDate')"),
      ("CAST(day, 'NSNumber')", "1000.0"), ("CAST(x, 'NSString')", "'2.5'"),
      ("CAST(nothing, 'NSDate')", "nil"),
      ("'a'", "'a'"), ("noindex:(n)", "7"), ("SELF.first.name", "'Pen'"),
    ] as [(String, String?)])
  func `evaluates expressions`(text: String, expected: String?) throws {
    let expression = try ValueExpression(parsing: text)
    guard let expected else {
      #expect(throws: EvaluationError.self) { try Self.evaluator.evaluate(expression, on: Self.folder) }
      return
    }
    let found = try Self.evaluator.evaluate(expression, on: Self.folder)
    let constant = try ExpressionEvaluator().evaluate(ValueExpression(parsing: expected), on: .null)
    #expect(found == constant)
    #expect(found.hashValue == constant.hashValue)
    #expect(Self.kinds(found) == Self.kinds(constant))
    try Self.evaluator.check(expression)
  }

  @Test(arguments: [
    // Without a value, only == and != see it.
    "nothing == nil", "n != nil", "nothing == nothing2", "nothing != 5", "NOT nothing < 5", "NOT nothing >= 5",
    "NOT nothing <= nothing2",
    "NOT nothing BEGINSWITH ''", "NOT nothing CONTAINS 'a'", "NOT nothing LIKE '*'", "NOT nothing MATCHES '.*'",
    "NOT nothing BETWEEN {1, 2}", "NOT 'a' IN nothing", "nothing IN {1, nil}", "NOT nothing IN {1}",
    // Numbers of all kinds.
    "n == 7.0", "n == 7", "flag == 1", "flag == TRUE", "flag != NO", "n > 6.5", "x >= 2.5", "n <> 8",
    "n BETWEEN {7, 7.5}",
    "NOT n BETWEEN {8, 9}", "9007199254740993 > 9007199254740992.0", "9223372036854775807 < 9223372036854775808.0",
    "CAST('1.50', 'NSDecimalNumber') == 1.5", "day == CAST(1000, 'NSDate')", "day < CAST(1000.5, 'NSDate')",
    "n IN {1, 7.0}", "id == CAST('00010203-0405-0607-0809-0a0b0c0d0e0f', 'NSUUID')",
    // Kinds that have nothing in common are different; that is not an error.
    "n != 'x'", "NOT n == '7'", "items != nil", "first == items[0]", "first != items[1]", "first IN items",
    "NOT items[1] IN {first}", "items CONTAINS first",
    // Text.
    "name == 'Été à Paris'", "NOT name == 'été à paris'", "name ==[c] 'été À PARIS'", "name ==[cd] 'ETE A PARIS'",
    "NOT name ==[c] 'ete a paris'", "name BEGINSWITH 'Ét'", "name BEGINSWITH[cd] 'et'", "NOT name BEGINSWITH 'ét'",
    "name ENDSWITH 'Paris'", "name ENDSWITH[c] 'PARIS'", "name CONTAINS ' à '", "name CONTAINS[d] ' a '",
    "name CONTAINS ''",
    "NOT name CONTAINS 'Paris!'", "'Paris' IN name", "name LIKE 'É*P?ris'", "name LIKE[cd] 'E*'", "NOT name LIKE 'É'",
    "'a*b' LIKE 'a\\\\*b'", "NOT 'axb' LIKE 'a\\\\*b'", "'' LIKE '*'", "'e\\u0301' == 'e\\u0301'",
    "'e\\u0301' !=  '\\u00e9'", "'e\\u0301' ==[n] '\\u00e9'", "'e\\u0301' ==[d] 'e'", "'a' < 'b'", "'B' < 'a'",
    "NOT 'B' <[c] 'a'", "'Ärger' <[d] 'Bein'", "'ΑΣ' ==[c] 'ας'", "name MATCHES '\\\\w+ \\\\S+ P[a-r]*s'",
    "name MATCHES[c] 'été à paris'", "NOT name MATCHES 'Paris'", "name MATCHES[d] 'Ete.*'",
    // Several values.
    "ANY items.price > 4", "NOT ANY items.price > 5", "ALL items.name != ''", "NOT ALL items.price > 3",
    "NONE items.price > 5", "ANY items.tags.name == 'new'", "NOT ANY empty == 1", "ALL empty == 1",
    "NOT ANY nothing == 1",
    "ANY n == 7", "ALL first.price == 3", "ANY items.price == nil", "items.@count == 3",
    "ANY items.name IN {'Pen', 'x'}",
    "SUBQUERY(items, $i, $i.tags.@count == 0).@count == 1",
    // Conditions.
    "TRUEPREDICATE", "NOT FALSEPREDICATE", "n == 7 AND (x == 1 OR x == 2.5)", "NOT (n == 7 AND x == 1)",
    "n == 8 OR NOT x == 1", "FALSEPREDICATE AND 1 / 0 == 1 OR TRUEPREDICATE",
  ])
  func `these conditions hold`(text: String) throws {
    let predicate = try PredicateDescription(parsing: text)
    #expect(try Self.evaluator.evaluate(predicate, on: Self.folder))
    try Self.evaluator.check(predicate)
  }

  @Test(
    arguments: [
      ("9223372036854775807 + 1", .overflow(operation: "add")),
      ("-9223372036854775808 - 1", .overflow(operation: "subtract")),
      ("9223372036854775807 * 2", .overflow(operation: "multiply")),
      ("-9223372036854775808 / -1", .overflow(operation: "divide")),
      ("modulus:by:(-9223372036854775808, -1)", .overflow(operation: "modulus")),
      ("0 - -9223372036854775808", .overflow(operation: "subtract")),
      ("abs:(-9223372036854775808)", .overflow(operation: "abs:")),
      ("10 ** 19", .overflow(operation: "power")),
      ("10.0 ** 400", .overflow(operation: "power")),
      ("1e308 * 10", .overflow(operation: "multiply")),
      ("sum:(9223372036854775807, 1)", .overflow(operation: "add")),
      ("average:(1e308, 1e308)", .overflow(operation: "average:")),
      ("1 / 0", .divisionByZero), ("1 / 0.0", .divisionByZero), ("modulus:by:(1, 0)", .divisionByZero),
      ("0 ** -1", .divisionByZero),
      ("2 ** 0.3", .unsupported("A power other than a whole number up to 4096")),
      ("2 ** 99999999999", .unsupported("A power other than a whole number up to 4096")),
      ("(-4) ** 0.5", .unsupported("A power other than a whole number up to 4096")),
      ("sqrt:(-1)", .wrongKind(operation: "sqrt:", found: "a negative number", expected: "one from 0 up")),
      ("random:(0)", .wrongKind(operation: "random:", found: "no positive number", expected: "one from 1 up")),
      ("name + 1", .wrongKind(operation: "add", found: "a string", expected: "a number")),
      ("items + 1", .wrongKind(operation: "add", found: "a list", expected: "a number")),
      ("day * 2", .wrongKind(operation: "multiply", found: "a date", expected: "a number")),
      ("x & 1", .wrongKind(operation: "bitwiseAnd:with:", found: "a double", expected: "an integer")),
      ("uppercase:(n)", .wrongKind(operation: "uppercase:", found: "an integer", expected: "a string")),
      ("count:(n)", .wrongKind(operation: "count:", found: "an integer", expected: "a list")),
      ("n.@count", .wrongKind(operation: "@count", found: "an integer", expected: "a list")),
      ("n UNION {1}", .wrongKind(operation: "UNION", found: "an integer", expected: "a list")),
      ("count:(items, items)", .wrongArgumentCount(selector: "count:", found: 2, expected: 1)),
      ("items[3]", .indexOutOfRange(index: 3, count: 3)), ("items[-1]", .indexOutOfRange(index: -1, count: 3)),
      ("missing", .unknownKey("missing")), ("first.missing.x", .unknownKey("missing")), ("n.foo", .unknownKey("foo")),
      ("items.@foo.price", .unknownKey("@foo")),
      ("$nope", .unknownVariable(name: "nope", known: ["source", "v"])),
      ("FETCH(1, 2, NO)", .unsupported("FETCH")),
      ("CAST(items, 'NSDate')", .wrongKind(operation: "CAST", found: "a list", expected: "a single value")),
      ("CAST(name, 'NSDate')", .wrongKind(operation: "CAST", found: "a string", expected: "a value that makes NSDate")),
    ] as [(String, EvaluationError)])
  func `says why an expression has no value`(text: String, expected: EvaluationError) throws {
    let expression = try ValueExpression(parsing: text)
    #expect(throws: expected) { try Self.evaluator.evaluate(expression, on: Self.folder) }
    #expect(expected.description.hasSuffix("."))
  }

  @Test(
    arguments: [
      ("n < 'a'", .wrongKind(operation: "<", found: "an integer and a string", expected: "two values of one kind")),
      ("day > 5", .wrongKind(operation: ">", found: "a date and an integer", expected: "two values of one kind")),
      ("n BEGINSWITH 'a'", .wrongKind(operation: "BEGINSWITH", found: "an integer", expected: "a string")),
      ("n BETWEEN {1}", .wrongKind(operation: "BETWEEN", found: "1 values", expected: "two bounds")),
      ("n IN 7", .wrongKind(operation: "IN", found: "an integer", expected: "a string")),
      ("name CUSTOMSELECTOR 1", .unsupported("A comparison by a selector of the app's own")),
      ("name MATCHES '('", .invalidPattern(pattern: "(", reason: "a parenthesis is not closed (character 2)")),
    ] as [(String, EvaluationError)])
  func `says why a condition has no answer`(text: String, expected: EvaluationError) throws {
    let predicate = try PredicateDescription(parsing: text)
    #expect(throws: expected) { try Self.evaluator.evaluate(predicate, on: Self.folder) }
  }

  @Test func `an unknown function is found before the first row and the known ones are listed`() throws {
    let text = "TERNARY(a == 1, b, FUNCTION($source, 'mystery:', SUBQUERY(c, $x, $x.y == 1)))"
    let expression = try ValueExpression(parsing: text)
    let error = #expect(throws: EvaluationError.self) { try Self.evaluator.check(expression) }
    guard case .unknownFunction("mystery:", let known) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(known.contains("double:") && known.contains("canonical:") && known == known.sorted())
    #expect(throws: try #require(error)) {
      try Self.evaluator.evaluate(.function(operand: nil, selector: "mystery:", arguments: []), on: .null)
    }
    #expect(throws: EvaluationError.unparsed("?")) { try Self.evaluator.check(ValueExpression.unparsed("?")) }
    #expect(throws: EvaluationError.self) { try Self.evaluator.check(PredicateDescription(parsing: "a MATCHES '['")) }
    #expect(throws: EvaluationError.unknownVariable(name: "x", known: ["source", "v"])) {
      try Self.evaluator.check(PredicateDescription(parsing: "SUBQUERY(a, $x, b == 1).@count == $x"))
    }
  }

  @Test func `fetches through the closure it is given`() throws {
    var evaluator = Self.evaluator
    evaluator.fetch = { request, context, countOnly in .list([request, context, .boolean(countOnly)]) }
    let expression = try ValueExpression(parsing: "FETCH('r', n, YES)")
    #expect(try evaluator.evaluate(expression, on: Self.folder) == .list([.string("r"), .integer(7), .boolean(true)]))
  }

  @Test func `what a value source throws comes through`() throws {
    struct Broken: Error {}
    struct Source: ValueSource {
      var valueIdentity: AnyHashable { 1 }
      func value(forKey key: String) throws -> EvaluatedValue? { throw Broken() }
    }
    #expect(throws: Broken.self) {
      try ExpressionEvaluator().evaluate(ValueExpression(parsing: "a.@count"), on: .object(Source()))
    }
  }

  @Test func `a tree that no text could make is refused rather than recursed into`() {
    var expression = ValueExpression.evaluatedObject
    var predicate = PredicateDescription.alwaysTrue
    for _ in 0..<1000 {
      expression = .function(operand: nil, selector: "noindex:", arguments: [expression])
      predicate = .not(predicate)
    }
    let (deep, deepPredicate) = (expression, predicate)
    #expect(throws: EvaluationError.tooDeep(limit: 200)) { try ExpressionEvaluator().check(deep) }
    #expect(throws: EvaluationError.tooDeep(limit: 200)) { try ExpressionEvaluator().evaluate(deep, on: .null) }
    #expect(throws: EvaluationError.tooDeep(limit: 200)) {
      try ExpressionEvaluator().evaluate(deepPredicate, on: .null)
    }
  }

  @Test(arguments: 0..<6)
  func `random expressions evaluate or throw but never trap`(seed: Int) {
    var generator = RandomExpressions(seed: UInt64(seed) + 500)
    var values = 0
    for _ in 0..<200 {
      let expression = generator.expression(depth: 3)
      if (try? Self.evaluator.evaluate(expression, on: Self.folder)) != nil { values += 1 }
      let predicate = generator.predicate(depth: 3)
      if (try? Self.evaluator.evaluate(predicate, on: Self.folder)) != nil { values += 1 }
    }
    #expect(values > 20)
  }
}
