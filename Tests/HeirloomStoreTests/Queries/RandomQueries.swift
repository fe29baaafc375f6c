import HeirloomModel
import TestSupport

/// A generator of random conditions and expressions about objects of one entity, the same for each seed.
struct RandomQueries {
  private let model: ManagedObjectModel
  private let entity: String
  private var random: SplitMix64
  /// Values that objects have, so that constants match.
  private let samples: [AttributeValue]

  init(model: ManagedObjectModel, entity: String, samples: [AttributeValue], seed: UInt64) {
    self.model = model
    self.entity = entity
    self.samples = samples
    random = SplitMix64(seed: seed)
  }

  private mutating func below(_ count: Int) -> Int { random.below(count) }
  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[random.below(elements.count)] }

  // MARK: Paths

  /// Through at most the given number of to-one relationships.
  private mutating func scalarPath(from entity: String, steps: Int = 2) -> String? {
    let toOne = model.relationships(of: entity).filter { !$0.isToMany && !$0.isTransient }
    if steps > 0, !toOne.isEmpty, below(3) == 0 {
      let relationship = pick(toOne)
      return scalarPath(from: relationship.destinationEntity, steps: steps - 1).map { "\(relationship.name).\($0)" }
    }
    let attributes = model.attributes(of: entity)
    guard !attributes.isEmpty else { return nil }
    var attribute = pick(attributes)
    var path = attribute.name
    while let elements = attribute.composite?.elements {
      attribute = pick(elements)
      path += ".\(attribute.name)"
    }
    return path
  }

  /// To a composite attribute or one in it, through at most one to-one relationship.
  private mutating func compositePath(from entity: String, steps: Int = 1) -> String? {
    let toOne = model.relationships(of: entity).filter { !$0.isToMany && !$0.isTransient }
    if steps > 0, !toOne.isEmpty, below(3) == 0 {
      let relationship = pick(toOne)
      return compositePath(from: relationship.destinationEntity, steps: 0).map { "\(relationship.name).\($0)" }
    }
    let composites = model.attributes(of: entity).filter { $0.composite != nil }
    guard !composites.isEmpty else { return nil }
    var attribute = pick(composites)
    var path = attribute.name
    while let inner = attribute.composite?.elements.filter({ $0.composite != nil }), !inner.isEmpty, below(2) == 0 {
      attribute = pick(inner)
      path += ".\(attribute.name)"
    }
    return path
  }

  private mutating func collectionPath(from entity: String) -> (path: String, entity: String)? {
    let relationships = model.relationships(of: entity).filter { !$0.isTransient }
    let toMany = relationships.filter(\.isToMany)
    let toOne = relationships.filter { !$0.isToMany }
    if !toOne.isEmpty, below(4) == 0 {
      let relationship = pick(toOne)
      return collectionPath(from: relationship.destinationEntity).map { ("\(relationship.name).\($0.path)", $0.entity) }
    }
    guard !toMany.isEmpty else { return nil }
    let relationship = pick(toMany)
    if below(6) == 0, let inner = collectionPath(from: relationship.destinationEntity) {
      return ("\(relationship.name).\(inner.path)", inner.entity)
    }
    return (relationship.name, relationship.destinationEntity)
  }

  private mutating func toOnePath(from entity: String) -> String? {
    let toOne = model.relationships(of: entity).filter { !$0.isToMany && !$0.isTransient }
    return toOne.isEmpty ? nil : pick(toOne).name
  }

  // MARK: Expressions

  private mutating func constant() -> ValueExpression {
    switch below(9) {
    case 0: return .constant(.null)
    case 1: return .constant(.value(.integer(Int64(below(40) - 20))))
    case 2: return .constant(.value(.double(Double(below(400)) / 8 - 10)))
    case 3:
      return .constant(.value(.string(pick(["", "a", "Text", "é", "E\u{301}", "0", "*1*", "t?xt", "[a-z]+ .*"]))))
    case 4: return .constant(.value(.boolean(below(2) == 0)))
    case 5: return .constant(.value(.date(Double(below(1000)) * 1000.5)))
    default: return samples.isEmpty ? .constant(.null) : .constant(.value(pick(samples)))
    }
  }

  mutating func expression(depth: Int, from entity: String, _ operand: ValueExpression) -> ValueExpression {
    func path(_ path: String) -> ValueExpression { .keyPath(operand: operand, path: path) }
    switch below(depth > 0 ? 18 : 7) {
    case 0...4: return scalarPath(from: entity).map(path) ?? constant()
    case 5, 6: return constant()
    case 7:
      guard let members = collectionPath(from: entity) else { return constant() }
      return path("\(members.path).@count")
    case 8:
      guard let members = collectionPath(from: entity), let last = scalarPath(from: members.entity) else {
        return constant()
      }
      return path("\(members.path).\(pick(["@min", "@max", "@sum", "@avg"])).\(last)")
    case 9, 10:
      let selector = pick(["add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "raise:toPower:"])
      return .function(
        operand: nil, selector: selector,
        arguments: (0..<2).map { _ in expression(depth: depth - 1, from: entity, operand) })
    case 11, 12:
      let selector = pick(["length:", "uppercase:", "lowercase:", "canonical:", "abs:", "floor:", "sqrt:", "noindex:"])
      return .function(
        operand: nil, selector: selector, arguments: [expression(depth: depth - 1, from: entity, operand)])
    case 13:
      return .conditional(
        predicate: predicate(depth: depth - 1, from: entity, operand),
        then: expression(depth: depth - 1, from: entity, operand),
        otherwise: expression(depth: depth - 1, from: entity, operand))
    case 14:
      guard let members = collectionPath(from: entity) else { return constant() }
      return .keyPath(
        operand: .subquery(
          collection: path(members.path), variable: "v\(depth)",
          predicate: predicate(depth: depth - 1, from: members.entity, .variable("v\(depth)"))), path: "@count")
    case 15:
      let parts = ValueExpression.function(
        operand: expression(depth: depth - 1, from: entity, operand), selector: "componentsSeparatedByString:",
        arguments: [.constant(.value(.string(pick([" ", "e", "tt", "'"]))))])
      let index = pick([
        ValueExpression.constant(.value(.integer(0))), .constant(.value(.integer(1))),
        .function(operand: nil, selector: "FIRST", arguments: []),
        .function(operand: nil, selector: "LAST", arguments: []),
      ])
      return .function(operand: nil, selector: "objectFrom:withIndex:", arguments: [parts, index])
    case 16 where below(2) == 0:
      return .function(
        operand: expression(depth: depth - 1, from: entity, operand),
        selector: pick(["substringFromIndex:", "substringToIndex:"]),
        arguments: [
          below(3) == 0 ? expression(depth: 0, from: entity, operand) : .constant(.value(.integer(Int64(below(9)))))
        ])
    case 16:
      return .function(
        operand: expression(depth: depth - 1, from: entity, operand),
        selector: pick(["uppercaseString", "stringValue", "integerValue", "length"]), arguments: [])
    default:
      return .function(
        operand: nil, selector: "castObject:toType:",
        arguments: [
          expression(depth: depth - 1, from: entity, operand),
          .constant(.value(.string(pick(["NSString", "NSNumber"])))),
        ])
    }
  }

  mutating func expression(depth: Int) -> ValueExpression { expression(depth: depth, from: entity, .evaluatedObject) }

  mutating func predicate(depth: Int) -> PredicateDescription {
    predicate(depth: depth, from: entity, .evaluatedObject)
  }

  private mutating func predicate(
    depth: Int, from entity: String, _ operand: ValueExpression
  ) -> PredicateDescription {
    switch below(depth > 0 ? 9 : 1) {
    case 1: return .not(predicate(depth: depth - 1, from: entity, operand))
    case 2: return .and((0..<2 + below(2)).map { _ in predicate(depth: depth - 1, from: entity, operand) })
    case 3: return .or((0..<2 + below(2)).map { _ in predicate(depth: depth - 1, from: entity, operand) })
    default: return comparison(depth: max(0, depth - 1), from: entity, operand)
    }
  }

  private mutating func comparison(
    depth: Int, from entity: String, _ operand: ValueExpression
  ) -> PredicateDescription {
    var left = expression(depth: depth, from: entity, operand)
    var modifier = PredicateDescription.Modifier.direct
    var right = below(3) == 0 ? expression(depth: depth, from: entity, operand) : constant()
    var comparator = pick([
      PredicateDescription.Comparator.equal, .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan,
      .greaterThanOrEqual, .beginsWith, .endsWith, .like, .contains, .matches, .in, .between,
    ])
    switch below(9) {
    case 8:
      if let path = compositePath(from: entity) {
        left = .keyPath(operand: operand, path: path)
        right =
          if below(3) > 0 { .constant(.null) } else {
            compositePath(from: entity).map { .keyPath(operand: operand, path: $0) } ?? .constant(.null)
          }
        comparator = pick([.equal, .notEqual])
      } else if let members = collectionPath(from: entity), let last = compositePath(from: members.entity, steps: 0) {
        modifier = pick([.any, .all])
        left = .keyPath(operand: operand, path: "\(members.path).\(last)")
        right = .constant(.null)
        comparator = pick([.equal, .notEqual])
      }
    case 0, 1:
      if let members = collectionPath(from: entity) {
        modifier = pick([.any, .all])
        let last = below(5) == 0 ? toOnePath(from: members.entity) : scalarPath(from: members.entity)
        left = .keyPath(operand: operand, path: [members.path, last].compactMap { $0 }.joined(separator: "."))
      }
    case 2:
      if let path = toOnePath(from: entity) {
        left = .keyPath(operand: operand, path: path)
        right = below(2) == 0 ? .constant(.null) : operand
        comparator = pick([.equal, .notEqual])
      }
    case 3:
      if let members = collectionPath(from: entity), let last = scalarPath(from: members.entity) {
        left = .keyPath(operand: operand, path: "\(members.path).\(last)")
        comparator = .contains
      }
    default: break
    }
    switch comparator {
    case .in:
      if below(4) > 0 { right = .aggregate((0..<below(4)).map { _ in constant() }) }
    case .between: right = .aggregate([constant(), constant()])
    default: break
    }
    return .comparison(
      .init(
        left: left, comparator: comparator, right: right, modifier: modifier, isCaseInsensitive: below(4) == 0,
        isDiacriticInsensitive: below(4) == 0))
  }
}
