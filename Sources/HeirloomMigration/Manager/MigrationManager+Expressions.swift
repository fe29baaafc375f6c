import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension MigrationManager {
  /// Lacks `$source` and `$destination`, which differ for each object.
  func evaluator(for run: RowMapping) -> ExpressionEvaluator {
    if let known = run.evaluator { return known }
    let evaluator = makeEvaluator(run)
    run.evaluator = evaluator
    return evaluator
  }

  private func makeEvaluator(_ run: RowMapping) -> ExpressionEvaluator {
    var calls: [String: ExpressionEvaluator.Function] = functions
    calls[ValueExpression.entityMappingSelector] = { [unowned self] _, arguments in
      let (name, objects) = try self.nameAndObjects(arguments, of: ValueExpression.entityMappingSelector)
      return Self.list(try self.destinationInstances(forEntityMappingNamed: name, sourceInstances: objects))
    }
    calls[ValueExpression.relationshipSelector] = { [unowned self] _, arguments in
      let (name, objects) = try self.nameAndObjects(arguments, of: ValueExpression.relationshipSelector)
      return Self.list(try self.destinationInstances(forSourceRelationshipNamed: name, sourceInstances: objects))
    }
    calls[ManagerSource.sourceInstancesSelector] = { [unowned self] _, arguments in
      let (name, objects) = try self.nameAndObjects(arguments, of: ManagerSource.sourceInstancesSelector)
      return Self.list(try self.sourceInstances(forEntityMappingNamed: name, destinationInstances: objects))
    }
    // A policy's function is tried before a registered one of the same name.
    let policy = run.policy
    for selector in run.policySelectors {
      let registered = calls[selector]
      calls[selector] = { [unowned self] receiver, arguments in
        if let value = try policy.call(selector, arguments, manager: self) { return value }
        guard let registered else {
          throw EvaluationError.unknownFunction(selector: selector, known: self.functions.keys.ordered())
        }
        return try registered(receiver, arguments)
      }
    }
    // `now()` has the same value for all objects of a run.
    var evaluator = ExpressionEvaluator(functions: calls, now: startTime)
    evaluator.variables["manager"] = .object(ManagerSource())
    evaluator.variables["entityMapping"] = .object(MappingSource(run.mapping))
    evaluator.variables["entityPolicy"] = .object(ManagerSource())
    return evaluator
  }

  private func nameAndObjects(
    _ arguments: [EvaluatedValue], of selector: String
  ) throws -> (String, [ManagedObject]) {
    guard arguments.count == 2, case .value(.string(let name)) = arguments[0] else {
      throw MigrationManagerError.unfitValue(property: selector, expected: "a name and objects")
    }
    return (name, try Self.objects(in: arguments[1], named: selector))
  }

  private static func list(_ objects: [ManagedObject]) -> EvaluatedValue { .list(objects.map { .object($0) }) }

  private static func objects(in value: EvaluatedValue, named name: String) throws -> [ManagedObject] {
    switch value {
    case .null: return []
    case .list(let elements): return try elements.flatMap { try objects(in: $0, named: name) }
    case .object(let source as ManagedObject): return [source]
    default: throw MigrationManagerError.unfitValue(property: name, expected: "objects")
    }
  }

  static func objects(
    in value: EvaluatedValue, of relationship: RelationshipDescription
  ) throws -> [ManagedObject] {
    try objects(in: value, named: relationship.name)
  }
}
