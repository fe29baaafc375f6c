import HeirloomModel

extension ModelArchiveReader {
  private static let expressionDepthLimit = 64
  private static let predicateKeys: Set<String> = [
    "NSLeftExpression", "NSRightExpression", "NSPredicateOperator", "NSCompoundPredicateType", "NSSubpredicates",
  ]
  private static let operatorKeys: Set<String> = [
    "NSOperatorType", "NSModifier", "NSOptions", "NSFlags", "NSNegate", "NSVariant",
  ]
  private static let expressionKeys: Set<String> = [
    "NSExpressionType", "NSConstantValue", "NSConstantValueClassName", "NSVariable", "NSOperand", "NSSelectorName",
    "NSArguments", "NSKeyPath", "NSFRExpression", "NSMOCExpression", "NSCountOnlyFlag", "NSCollection",
  ]

  // MARK: - Predicates

  mutating func predicate(
    _ object: ArchivedObject, _ place: String, depth: Int = 0
  ) throws(FormatError) -> PredicateDescription {
    guard depth < Self.expressionDepthLimit else { throw .tooDeep(limit: Self.expressionDepthLimit) }
    let classes = try decoder.classNames(of: object)
    try checkKeys(of: object, place, Self.predicateKeys)
    switch classes[0] {
    case "NSTruePredicate":
      return .alwaysTrue
    case "NSFalsePredicate":
      return .alwaysFalse
    case "NSComparisonPredicate":
      if let comparison = try comparison(object, place, depth: depth) { return .comparison(comparison) }
    case "NSCompoundPredicate":
      var parts: [PredicateDescription] = []
      for reference in try decoder.elements("NSSubpredicates", of: object) {
        guard let part = try decoder.object(reference) else { continue }
        parts.append(try predicate(part, place, depth: depth + 1))
      }
      switch try decoder.integer("NSCompoundPredicateType", of: object) ?? 0 {
      case 0: if let part = parts.first, parts.count == 1 { return .not(part) }
      case 1: return .and(parts)
      case 2: return .or(parts)
      default: break
      }
    default:
      break
    }
    warn(.unknownClass(classes[0]), place)
    return .unparsed("<\(classes[0])>")
  }

  private mutating func comparison(
    _ object: ArchivedObject, _ place: String, depth: Int
  ) throws(FormatError) -> PredicateDescription.Comparison? {
    guard let left = try decoder.object("NSLeftExpression", of: object),
      let right = try decoder.object("NSRightExpression", of: object),
      let operation = try decoder.object("NSPredicateOperator", of: object),
      let code = try decoder.integer("NSOperatorType", of: operation),
      let comparator = PredicateDescription.Comparator(rawValue: code),
      let modifier = PredicateDescription.Modifier(rawValue: try decoder.integer("NSModifier", of: operation) ?? 0)
    else { return nil }
    try checkKeys(of: operation, place, Self.operatorKeys)
    // Operators on text have their options in NSFlags, those on any value in NSOptions.
    let flags = try decoder.integer("NSFlags", of: operation) ?? 0
    let options = try decoder.integer("NSOptions", of: operation) ?? 0
    let all = flags | options
    return PredicateDescription.Comparison(
      left: try expression(left, place, depth: depth + 1), comparator: comparator,
      right: try expression(right, place, depth: depth + 1), modifier: modifier, isCaseInsensitive: all & 1 != 0,
      isDiacriticInsensitive: all & 2 != 0, isNormalized: all & 4 != 0)
  }

  // MARK: - Expressions

  mutating func expression(
    _ object: ArchivedObject, _ place: String, depth: Int = 0
  ) throws(FormatError) -> ValueExpression {
    guard depth < Self.expressionDepthLimit else { throw .tooDeep(limit: Self.expressionDepthLimit) }
    let classes = try decoder.classNames(of: object)
    try checkKeys(of: object, place, Self.expressionKeys)
    switch classes[0] {
    case "NSSelfExpression":
      return .evaluatedObject
    case "NSConstantValueExpression":
      if let constant = try constant(object, place) { return .constant(constant) }
    case "NSVariableExpression":
      if let name = try decoder.string("NSVariable", of: object) { return .variable(name) }
    case "NSKeyPathExpression", "NSKeyPathSpecifierExpression":
      if let path = try keyPath(object, place, depth: depth) { return path }
    case "NSFunctionExpression":
      if let function = try function(object, place, depth: depth) { return function }
    case "NSFetchRequestExpression":
      if let request = try decoder.object("NSFRExpression", of: object),
        let context = try decoder.object("NSMOCExpression", of: object)
      {
        return .fetch(
          request: try expression(request, place, depth: depth + 1),
          context: try expression(context, place, depth: depth + 1),
          countOnly: try decoder.boolean("NSCountOnlyFlag", of: object))
      }
    case "NSAggregateExpression":
      var elements: [ValueExpression] = []
      for reference in try decoder.elements("NSCollection", of: object) {
        guard let element = try decoder.object(reference) else { continue }
        elements.append(try expression(element, place, depth: depth + 1))
      }
      return .aggregate(elements)
    default:
      break
    }
    warn(.unknownClass(classes[0]), place)
    return .unparsed("<\(classes[0])>")
  }

  private mutating func keyPath(
    _ object: ArchivedObject, _ place: String, depth: Int
  ) throws(FormatError) -> ValueExpression? {
    if let path = try decoder.string("NSKeyPath", of: object) { return .keyPath(path) }
    let arguments = try decoder.elements("NSArguments", of: object)
    guard arguments.count == 1, let argument = try decoder.object(arguments[0]),
      let path = try decoder.string("NSKeyPath", of: argument)
    else { return nil }
    guard let operand = try decoder.object("NSOperand", of: object) else { return .keyPath(path) }
    return .keyPath(operand: try expression(operand, place, depth: depth + 1), path: path)
  }

  private mutating func function(
    _ object: ArchivedObject, _ place: String, depth: Int
  ) throws(FormatError) -> ValueExpression? {
    guard let selector = try decoder.string("NSSelectorName", of: object) else { return nil }
    var arguments: [ValueExpression] = []
    for reference in try decoder.elements("NSArguments", of: object) {
      guard let argument = try decoder.object(reference) else { return nil }
      arguments.append(try expression(argument, place, depth: depth + 1))
    }
    var operand: ValueExpression?
    if let receiver = try decoder.object("NSOperand", of: object) {
      operand = try expression(receiver, place, depth: depth + 1)
    }
    if operand == .constant(.className(ArchivedNames.builtInFunctions)) { operand = nil }
    return .function(operand: operand, selector: selector, arguments: arguments)
  }

  private mutating func constant(
    _ object: ArchivedObject, _ place: String
  ) throws(FormatError) -> ConstantValue? {
    if let name = try decoder.string("NSConstantValueClassName", of: object) { return .className(name) }
    return try constant(try decoder.node("NSConstantValue", of: object), depth: 0)
  }

  private mutating func constant(_ node: KeyedArchive.Node, depth: Int) throws(FormatError) -> ConstantValue? {
    guard depth < Self.expressionDepthLimit else { throw .tooDeep(limit: Self.expressionDepthLimit) }
    if case .null = node { return .null }
    if let value = try value(node) { return .value(value) }
    guard case .object(let object) = node else { return nil }
    let classes = try decoder.classNames(of: object)
    if classes[0] == "NSNull" { return .null }
    guard classes.contains("NSArray") || classes.contains("NSSet") || classes.contains("NSOrderedSet") else {
      return nil
    }
    var elements: [ConstantValue] = []
    for reference in try decoder.elements(of: object) {
      guard let element = try constant(try decoder.node(reference), depth: depth + 1) else { return nil }
      elements.append(element)
    }
    return .array(elements)
  }
}
