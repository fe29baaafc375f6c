import HeirloomModel

/// A generator of random predicates and expressions that are the same for each seed.
struct RandomExpressions {
  private var random: SplitMix64
  private let textLetters: [Character]

  init(seed: UInt64, textLetters: [Character] = Array("aB1 \\\"'\n\u{1}é😀#%$")) {
    random = SplitMix64(seed: seed)
    self.textLetters = textLetters
  }

  private static let names = [
    "a", "name", "items", "_x1", "größe", "size", "first", "in", "LIKE", "Any", "true", "count", "subquery", "union",
    "e", "x0", "FUNCTION", "nil",
  ]
  private static let selectors = [
    "count:", "sum:", "canonical:", "now", "f:g:", "add:to:", "from:subtract:", "multiply:by:", "divide:by:",
    "raise:toPower:", "bitwiseAnd:with:", "leftshift:by:", "onesComplement:", "objectFrom:withIndex:",
    "castObject:toType:", "like", "cast:", "FIRST", "random",
  ]

  private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  private mutating func path() -> String {
    var names = (0...below(3)).map { _ in pick(Self.names) }
    if below(5) == 0 { names.insert(pick(["@count", "@sum", "@distinctUnionOfSets"]), at: below(names.count + 1)) }
    return names.joined(separator: ".")
  }

  private mutating func text() -> String { String((0..<below(6)).map { _ in pick(textLetters) }) }

  private mutating func double() -> Double {
    switch below(4) {
    case 0: Double(below(2000) - 1000)
    case 1: Double.random(in: -1...1, using: &random)
    case 2: Double(sign: .plus, exponent: below(1000) - 500, significand: 1.3)
    default: Double(below(2_000_000_000)) / 1_000_000 + 700_000_000
    }
  }

  mutating func constant(depth: Int) -> ConstantValue {
    switch below(depth > 0 ? 12 : 11) {
    case 0: .null
    case 1, 2: .value(.integer(below(3) == 0 ? Int64.random(in: .min ... .max, using: &random) : Int64(below(40) - 20)))
    case 3: .value(.double(double()))
    case 4: .value(.decimal("\(below(1000)).5"))
    case 5: .value(.string(text()))
    case 6: .value(.boolean(below(2) == 0))
    case 7: .value(.date(double()))
    case 8: .value(.binary((0..<below(4)).map { _ in UInt8(below(256)) }))
    case 9: .value(.uuid((0..<16).map { _ in UInt8(below(256)) }))
    case 10: below(2) == 0 ? .value(.uri(text())) : .className(pick(Self.names))
    default: .array((0..<below(3)).map { _ in constant(depth: depth - 1) })
    }
  }

  mutating func expression(depth: Int) -> ValueExpression {
    guard depth > 0 else { return leaf() }
    switch below(14) {
    case 0: return .keyPath(operand: expression(depth: depth - 1), path: path())
    case 1, 2, 3, 4, 5: return function(depth: depth)
    case 6: return .aggregate(expressions(depth: depth))
    case 7:
      return .subquery(
        collection: expression(depth: depth - 1), variable: pick(["x", "y1"]), predicate: predicate(depth: depth - 1))
    case 8:
      return .conditional(
        predicate: predicate(depth: depth - 1), then: expression(depth: depth - 1),
        otherwise: expression(depth: depth - 1))
    case 9:
      return .setOperation(
        pick([.union, .intersect, .minus]), expression(depth: depth - 1), expression(depth: depth - 1))
    case 10:
      return .fetch(
        request: expression(depth: depth - 1), context: expression(depth: depth - 1), countOnly: below(2) == 0)
    default: return leaf()
    }
  }

  private mutating func leaf() -> ValueExpression {
    switch below(4) {
    case 0: .constant(constant(depth: 1))
    case 1: .variable(pick(["source", "manager", "FETCH_SOURCE"]))
    case 2: .evaluatedObject
    default: .keyPath(path())
    }
  }

  private mutating func expressions(depth: Int) -> [ValueExpression] {
    (0..<below(4)).map { _ in expression(depth: depth - 1) }
  }

  private mutating func function(depth: Int) -> ValueExpression {
    let operand = below(5) == 0 ? expression(depth: depth - 1) : nil
    let selector = pick(Self.selectors)
    var arguments = expressions(depth: depth)
    // Format text can't give a function without colons any arguments.
    if operand == nil, !selector.contains(":") { arguments = [] }
    // Most calls have as many arguments as colons, so that operators are tried.
    if below(5) > 0, operand == nil {
      let wanted = selector.count { $0 == ":" }
      arguments = (0..<wanted).map { _ in expression(depth: depth - 1) }
      if selector == "castObject:toType:", below(2) == 0 {
        arguments[1] = .constant(.value(.string(pick(["NSDate", "NSData", "NSUUID", "NSArray", "Other"]))))
      }
    }
    return .function(operand: operand, selector: selector, arguments: arguments)
  }

  mutating func predicate(depth: Int) -> PredicateDescription {
    guard depth > 0 else { return below(8) == 0 ? .alwaysTrue : comparison(depth: 0) }
    switch below(8) {
    case 0: return .alwaysFalse
    case 1: return .not(predicate(depth: depth - 1))
    case 2, 3: return .and((0..<2 + below(2)).map { _ in predicate(depth: depth - 1) })
    case 4: return .or((0..<2 + below(2)).map { _ in predicate(depth: depth - 1) })
    default: return comparison(depth: depth - 1)
    }
  }

  private mutating func comparison(depth: Int) -> PredicateDescription {
    .comparison(
      .init(
        left: expression(depth: depth),
        comparator: pick([
          .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .equal, .notEqual, .matches, .like,
          .beginsWith, .endsWith, .in, .customSelector, .contains, .between,
        ]),
        right: expression(depth: depth), modifier: pick([.direct, .direct, .all, .any]),
        isCaseInsensitive: below(4) == 0, isDiacriticInsensitive: below(4) == 0, isNormalized: below(4) == 0))
  }
}
