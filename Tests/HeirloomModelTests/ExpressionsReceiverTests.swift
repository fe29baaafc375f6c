import HeirloomModel
import Testing

/// Functions that plain values understand, and predicates with placeholders for arguments.
struct ExpressionsReceiverTests {
  private static var evaluator: ExpressionEvaluator {
    ExpressionEvaluator(
      variables: ["s": .string("Ann 😀 Lee"), "n": .double(-7.9), "d": .value(.date(10)), "nothing": .null])
  }

  @Test(arguments: [
    (
      "FUNCTION($s, 'componentsSeparatedByString:', ' ')",
      ConstantValue.array(["Ann", "😀", "Lee"].map { .value(.string($0)) })
    ),
    ("FUNCTION($s, 'componentsSeparatedByString:', '')", .array([.value(.string("Ann 😀 Lee"))])),
    ("FUNCTION($s, 'componentsSeparatedByString:', ' ')[LAST]", .value(.string("Lee"))),
    ("FUNCTION($s, 'substringFromIndex:', 7)", .value(.string("Lee"))),
    ("FUNCTION($s, 'substringToIndex:', 0)", .value(.string(""))),
    ("FUNCTION($s, 'substringToIndex:', 6)", .value(.string("Ann 😀"))),
    ("FUNCTION($s, 'stringByAppendingString:', '!')", .value(.string("Ann 😀 Lee!"))),
    (
      "FUNCTION($s, 'stringByReplacingOccurrencesOfString:withString:', 'e', 'o')", .value(.string("Ann 😀 Loo"))
    ),
    ("FUNCTION($s, 'hasPrefix:', 'Ann')", .value(.boolean(true))),
    ("FUNCTION($s, 'hasSuffix:', 'Ann')", .value(.boolean(false))),
    ("FUNCTION('12abc', 'integerValue')", .value(.integer(12))),
    ("FUNCTION('abc', 'integerValue')", .value(.integer(0))),
    ("FUNCTION($n, 'integerValue')", .value(.integer(-7))), ("FUNCTION(3, 'stringValue')", .value(.string("3"))),
    ("FUNCTION('1.5', 'doubleValue')", .value(.double(1.5))),
    ("FUNCTION(' -3.5 km', 'doubleValue')", .value(.double(-3.5))),
    ("FUNCTION('0x10', 'doubleValue')", .value(.double(0))),
    ("FUNCTION('.5e1e', 'doubleValue')", .value(.double(5))), ("FUNCTION('7.e', 'doubleValue')", .value(.double(7))),
    ("FUNCTION('+.', 'doubleValue')", .value(.double(0))), ("FUNCTION('inf', 'doubleValue')", .value(.double(0))),
    ("FUNCTION('1e+', 'doubleValue')", .value(.double(1))), ("FUNCTION('', 'doubleValue')", .value(.double(0))),
    ("FUNCTION($d, 'dateByAddingTimeInterval:', 5)", .value(.date(15))),
    ("FUNCTION($nothing, 'uppercaseString')", .null), ("FUNCTION({1, 2}, 'objectAtIndex:', 1)", .value(.integer(2))),
    ("FUNCTION({'a', 'b'}, 'componentsJoinedByString:', '-')", .value(.string("a-b"))),
  ])
  func `values understand functions of Foundation's classes`(text: String, expected: ConstantValue) throws {
    let expression = try ValueExpression(parsing: text)
    try Self.evaluator.check(expression)
    let found = try Self.evaluator.evaluate(expression, on: .null)
    let isSame = found == EvaluatedValue(expected)
    #expect(isSame, "\(found)")
  }

  @Test(arguments: [
    "FUNCTION($s, 'substringFromIndex:', 11)", "FUNCTION($s, 'substringFromIndex:', -1)",
    // The first is between the two halves of a character.
    "FUNCTION($s, 'substringToIndex:', 5)", "FUNCTION(3, 'uppercaseString')", "FUNCTION($s, 'uppercaseString', 1)",
    "FUNCTION($s, 'stringByAppendingString:', $nothing)", "FUNCTION('99999999999999999999', 'integerValue')",
    "FUNCTION(1e300, 'integerValue')", "FUNCTION($s, 'launchRockets')", "FUNCTION({1}, 'objectAtIndex:', 1)",
  ])
  func `what has no value is told`(text: String) throws {
    let expression = try ValueExpression(parsing: text)
    #expect(throws: EvaluationError.self) { try Self.evaluator.evaluate(expression, on: .null) }
  }

  @Test func `arguments become constants and key paths`() throws {
    let predicate = try PredicateDescription(
      format: "%K ==[c] %@ AND size IN %@ AND a.%K > %d",
      arguments: [
        .value(.string("select.in")), .value(.string("\" OR 1 == 1")),
        .array([.value(.integer(1)), .null]), .value(.string("b.c")), .value(.integer(-3)),
      ])
    let expected = try PredicateDescription(
      parsing: "#select.#in ==[c] \"\\\" OR 1 == 1\" AND size IN {1, nil} AND a.b.c > -3")
    guard case .and(var conditions) = predicate, case .comparison(var list) = conditions[1] else {
      Issue.record("\(predicate)")
      return
    }
    // A list argument is one constant, a list in text an aggregate.
    #expect(list.right == .constant(.array([.value(.integer(1)), .null])))
    list.right = .aggregate([.constant(.value(.integer(1))), .constant(.null)])
    conditions[1] = .comparison(list)
    #expect(PredicateDescription.and(conditions) == expected)
  }

  @Test func `variables are replaced, but not those of a SUBQUERY's own`() throws {
    let predicate = try PredicateDescription(parsing: "SUBQUERY(items, $x, $x.size > $y).@count > $x")
    let replaced = predicate.replacingVariables(["x": .constant(.value(.integer(1))), "y": .keyPath("limit")])
    #expect(try replaced == PredicateDescription(parsing: "SUBQUERY(items, $x, $x.size > limit).@count > 1"))
  }

  @Test(arguments: [
    ("$source.a.b", ["a"]), ("FUNCTION($source, 'valueForKey:', 'c')", ["c"]), ("a + $source.b", ["a", "b"]),
    ("TERNARY($source.a == 1, b, SUBQUERY($source.c, $x, $x.z == 1).@count)", ["a", "b", "c"]), ("'text'", []),
    ("$other.a", []),
  ])
  func `an expression tells the properties that it reads`(text: String, names: [String]) throws {
    let paths = try ValueExpression(parsing: text).pathsRead(of: "source")
    #expect(
      paths.map { Set($0.compactMap { path in path.split(separator: ".").first.map(String.init) }) } == Set(names))
  }

  @Test(arguments: ["$source", "SELF", "FUNCTION($entityPolicy, 'f:', $source)", "$source.@count"])
  func `an expression that takes the object may read anything`(text: String) throws {
    #expect(try ValueExpression(parsing: text).pathsRead(of: "source") == nil)
  }
}
