import HeirloomModel

extension ModelArchiveWriter {
  private enum ExpressionType {
    static let constant: Int64 = 0
    static let evaluatedObject: Int64 = 1
    static let variable: Int64 = 2
    static let keyPath: Int64 = 3
    static let function: Int64 = 4
    static let keyPathSpecifier: Int64 = 10
    static let fetchRequest: Int64 = 50
  }

  // MARK: - Fetch requests

  mutating func fetchRequest(_ request: FetchRequestDescription) -> PropertyListValue? {
    var conditions = [KeyedArchiveBuilder.null, KeyedArchiveBuilder.null]
    for (index, condition) in [request.predicate, request.havingPredicate].enumerated() {
      guard let condition else { continue }
      guard let archived = predicate(condition) else { return nil }
      conditions[index] = archived
    }
    let flags =
      (request.returnsDistinctResults ? 0x1 : 0) | (request.includesSubentities ? 0x2 : 0)
      | (request.includesPropertyValues ? 0x4 : 0) | (request.returnsObjectsAsFaults ? 0x8 : 0)
      | (request.includesPendingChanges ? 0x10 : 0)
    let compare = builder.string("compare:")
    let descriptors = request.sortDescriptors.map { descriptor in
      let key = builder.string(descriptor.keyPath)
      return builder.object(
        "NSSortDescriptor",
        [
          "NSKey": key, "NSAscending": .boolean(descriptor.ascending), "NSSelector": compare,
          "NSReverseNullOrder": .boolean(false),
        ])
    }
    let members: [String: PropertyListValue] = [
      "NSEntity": reference(entity: request.entityName), "NSPredicate": conditions[0],
      "NSHavingPredicate": conditions[1],
      "NSSortDescriptors": descriptors.isEmpty
        ? KeyedArchiveBuilder.null : builder.array(descriptors, className: "NSArray"),
      "NSResultType": .integer(Int64(request.resultType.rawValue)), "NSFetchLimit": .integer(Int64(request.fetchLimit)),
      "NSFetchOffset": .integer(Int64(request.fetchOffset)), "NSBatchSize": .integer(Int64(request.fetchBatchSize)),
      "NSValuesToFetch": names(request.propertiesToFetch), "NSValuesToGroupBy": names(request.propertiesToGroupBy),
      "NSRelationshipKeyPathsForPrefetching": names(request.relationshipKeyPathsForPrefetching),
      "NSAllocationType": .integer(0), "NSHasFetchRequestFlags": .boolean(true),
      "NSFetchRequestFlags": .integer(Int64(flags)),
    ]
    return builder.object("NSFetchRequest", members)
  }

  private mutating func names(_ names: [String]) -> PropertyListValue {
    guard !names.isEmpty else { return KeyedArchiveBuilder.null }
    let texts = names.map { builder.string($0) }
    return builder.array(texts, className: "NSArray")
  }

  // MARK: - Predicates

  /// `nil` if its layout is not known.
  mutating func predicate(_ predicate: PredicateDescription) -> PropertyListValue? {
    switch predicate {
    case .comparison(let comparison): self.comparison(comparison)
    case .and(let parts): compound(1, parts)
    case .or(let parts): compound(2, parts)
    case .not(let part): compound(0, [part])
    case .alwaysTrue, .alwaysFalse, .unparsed: nil
    }
  }

  private mutating func compound(_ type: Int64, _ parts: [PredicateDescription]) -> PropertyListValue? {
    var references: [PropertyListValue] = []
    for part in parts {
      guard let reference = predicate(part) else { return nil }
      references.append(reference)
    }
    let list = builder.array(references, className: "NSArray")
    return builder.object("NSCompoundPredicate", ["NSCompoundPredicateType": .integer(type), "NSSubpredicates": list])
  }

  private mutating func comparison(_ comparison: PredicateDescription.Comparison) -> PropertyListValue? {
    let options =
      (comparison.isCaseInsensitive ? 1 : 0) | (comparison.isDiacriticInsensitive ? 2 : 0)
      | (comparison.isNormalized ? 4 : 0)
    var members: [String: PropertyListValue] = [
      "NSOperatorType": .integer(Int64(comparison.comparator.rawValue)),
      "NSModifier": .integer(Int64(comparison.modifier.rawValue)),
    ]
    let className: String
    switch comparison.comparator {
    case .equal, .notEqual:
      className = "NSEqualityPredicateOperator"
      members["NSNegate"] = .boolean(comparison.comparator == .notEqual)
      members["NSOptions"] = .integer(Int64(options))
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      className = "NSComparisonPredicateOperator"
      members["NSVariant"] = .integer(Int64(comparison.comparator.rawValue))
      members["NSOptions"] = .integer(Int64(options))
    case .contains, .in:
      className = "NSInPredicateOperator"
      members["NSFlags"] = .integer(Int64(options))
    case .matches, .like, .beginsWith, .endsWith, .between, .customSelector:
      return nil
    }
    guard let left = expression(comparison.left), let right = expression(comparison.right) else { return nil }
    let operation = builder.object(className, members)
    return builder.object(
      "NSComparisonPredicate",
      ["NSLeftExpression": left, "NSRightExpression": right, "NSPredicateOperator": operation])
  }

  // MARK: - Expressions

  /// `nil` if its layout is not known.
  mutating func expression(_ expression: ValueExpression) -> PropertyListValue? {
    switch expression {
    case .constant(let constant):
      return self.constant(constant)
    case .evaluatedObject:
      return builder.object("NSSelfExpression", ["NSExpressionType": .integer(ExpressionType.evaluatedObject)])
    case .variable(let name):
      let text = builder.string(name)
      return builder.object(
        "NSVariableExpression", ["NSVariable": text, "NSExpressionType": .integer(ExpressionType.variable)])
    case .keyPath(let operand, let path):
      return keyPath(operand, path)
    case .function(let operand, let selector, let arguments):
      let receiver = operand ?? .constant(.className(ArchivedNames.builtInFunctions))
      guard let receiver = self.expression(receiver), let list = list(arguments) else { return nil }
      let text = builder.string(selector)
      return builder.object(
        "NSFunctionExpression",
        [
          "NSOperand": receiver, "NSSelectorName": text, "NSArguments": list,
          "NSExpressionType": .integer(ExpressionType.function),
        ])
    case .fetch(let request, let context, let countOnly):
      guard let request = self.expression(request), let context = self.expression(context) else { return nil }
      return builder.object(
        "NSFetchRequestExpression",
        [
          "NSFRExpression": request, "NSMOCExpression": context, "NSCountOnlyFlag": .boolean(countOnly),
          "NSExpressionType": .integer(ExpressionType.fetchRequest),
        ])
    case .aggregate, .subquery, .conditional, .setOperation, .unparsed:
      return nil
    }
  }

  private mutating func list(_ expressions: [ValueExpression]) -> PropertyListValue? {
    var references: [PropertyListValue] = []
    for expression in expressions {
      guard let reference = self.expression(expression) else { return nil }
      references.append(reference)
    }
    return builder.array(references, className: "NSArray")
  }

  private mutating func keyPath(_ operand: ValueExpression, _ path: String) -> PropertyListValue? {
    // A key path of the object has its own expression type; one of a variable is archived as a function.
    let isOwn = operand == .evaluatedObject
    guard let receiver = expression(operand) else { return nil }
    let text = builder.string(path)
    let specifier = builder.object(
      "NSKeyPathSpecifierExpression",
      ["NSKeyPath": text, "NSExpressionType": .integer(ExpressionType.keyPathSpecifier)])
    let arguments = builder.array([specifier])
    let selector = builder.string(path.contains(".") || !isOwn ? "valueForKeyPath:" : "valueForKey:")
    return builder.object(
      "NSKeyPathExpression",
      [
        "NSOperand": receiver, "NSSelectorName": selector, "NSArguments": arguments,
        "NSExpressionType": .integer(isOwn ? ExpressionType.keyPath : ExpressionType.function),
      ])
  }

  private mutating func constant(_ constant: ConstantValue) -> PropertyListValue? {
    var members: [String: PropertyListValue] = ["NSExpressionType": .integer(ExpressionType.constant)]
    switch constant {
    case .null:
      members["NSConstantValue"] = KeyedArchiveBuilder.null
    case .value(let value):
      guard let reference = self.value(value) else { return nil }
      members["NSConstantValue"] = reference
    case .className(let name):
      members["NSConstantValueClassName"] = builder.string(name)
    case .array:
      return nil
    }
    return builder.object("NSConstantValueExpression", members)
  }

  // MARK: - Values

  /// `nil` for a composite, and for a decimal number with too many digits.
  mutating func value(_ value: AttributeValue) -> PropertyListValue? {
    switch value {
    case .integer(let number): return builder.add(.integer(number))
    case .double(let number): return builder.add(.real(number))
    case .boolean(let value): return builder.add(.boolean(value))
    case .string(let text): return builder.string(text)
    case .binary(let bytes): return builder.add(.data(bytes))
    case .date(let seconds): return builder.object("NSDate", ["NS.time": .real(seconds)])
    case .uuid(let bytes): return builder.object("NSUUID", ["NS.uuidbytes": .data(bytes)])
    case .uri(let text):
      let reference = builder.string(text)
      return builder.object("NSURL", ["NS.base": KeyedArchiveBuilder.null, "NS.relative": reference])
    case .decimal(let text):
      return builder.decimal(text)
    case .composite:
      return nil
    }
  }
}
