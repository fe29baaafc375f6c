import Foundation
import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The value expressions of entity mappings as SQL over source rows `s`.
package struct CompiledMappings {
  private var values: [String: [String: CellEntry]] = [:]
  private(set) var reasons: [String: String] = [:]

  package init() {}

  /// Checks all expressions, and compiles those of mappings without a policy.
  ///
  /// Throws ``MigrationError/invalidExpression(_:)`` for the first that no row can evaluate.
  init(
    _ mapping: MappingModel, source: PhysicalSchema, destination: ManagedObjectModel,
    functions: [String: ExpressionEvaluator.Function], storeIdentifier: String, connection: Connection
  ) throws(MigrationError) {
    for entityMapping in mapping.entityMappings {
      guard let sourceName = entityMapping.sourceEntityName, let entity = entityMapping.destinationEntityName,
        source.entity(named: sourceName) != nil
      else { continue }
      for property in entityMapping.attributeMappings {
        guard let expression = Self.expression(of: property, in: entityMapping, source.model, destination) else {
          continue
        }
        guard let target = destination.attributeTarget(property.name, of: entity) else { continue }
        let attribute = target.description
        let place = ExpressionPlace(
          mapping: entityMapping, property: property, expression: expression, source: source.model,
          functions: functions)
        try place.check()
        guard entityMapping.entityMigrationPolicyClassName == nil else { continue }
        guard attribute.composite == nil, !attribute.isTransient else {
          reasons[entityMapping.name] = "\"\(property.name)\" has no column of its own"
          continue
        }
        var compiler = ExpressionCompiler(
          entity: sourceName, alias: "s", schema: source, database: SchemaName.store, connection: connection,
          evaluator: place.evaluator, rowVariable: "source", writesLiterals: true)
        let value = ValueAdaption(
          mapping: entityMapping.name, source: sourceName, entity: entity, target: target,
          storeIdentifier: storeIdentifier)
        do throws(CompilationProblem) {
          var compiled = try compiler.compile(expression, for: attribute, adapt: value.adapt)
          if !compiled.isEvaluated, !target.isOptional {
            compiled = try compiler.requiring(compiled, otherwise: value.missing)
          }
          let column = destinationType(of: attribute)
          let origin = compiler.columnsRead.first {
            source.table(ofEntity: sourceName)?.column(named: $0)?.type == column
          }
          var entry = CellEntry(sql: compiled.sql, isVerbatim: false).from(origin)
          entry.read = Set(compiler.columnsRead)
          values[entityMapping.name, default: [:]][property.name] = entry
        } catch .unknownProperty(let entity, let name) {
          throw place.unknown(name, of: entity)
        } catch {
          reasons[entityMapping.name] = "\"\(property.name)\": \(error)"
        }
      }
      for property in entityMapping.relationshipMappings {
        guard case .expression(let expression) = property.form else { continue }
        try ExpressionPlace(
          mapping: entityMapping, property: property, expression: expression, source: source.model,
          functions: functions
        ).check()
        reasons[entityMapping.name] = "the relationship \"\(property.name)\" is set by an expression"
      }
    }
  }

  func isCompilable(_ mapping: EntityMapping) -> Bool { reasons[mapping.name] == nil }

  func values(of mapping: EntityMapping) -> [String: CellEntry] { values[mapping.name] ?? [:] }

  /// `nil` if the value can be copied or converted.
  static func expression(
    of property: PropertyMapping, in mapping: EntityMapping, _ source: ManagedObjectModel,
    _ destination: ManagedObjectModel
  ) -> ValueExpression? {
    switch property.form {
    case .expression(let expression): return expression
    case .attribute(let name):
      // A mapping written by hand may copy between any two types.
      guard
        let after = mapping.destinationEntityName.flatMap({ destination.attributeTarget(property.name, of: $0) })?
          .description
      else { return nil }
      guard let before = mapping.sourceEntityName.flatMap({ source.attribute(named: name, of: $0) }) else {
        return property.valueExpression
      }
      if before.isTransient || after.isTransient { return nil }
      let isCopied =
        before.composite == nil && after.composite == nil
        ? AttributeConversion(from: before.type, to: after.type).isPossible
        : before.composite != nil && after.composite != nil
      return isCopied ? nil : property.valueExpression
    default: return nil
    }
  }
}

private func destinationType(of attribute: AttributeDescription) -> SQLColumnType? { SQLColumnType(attribute.type) }

/// An expression of a mapping, with the names that it may use.
final class ExpressionPlace {
  let mapping: EntityMapping
  let property: PropertyMapping
  let expression: ValueExpression
  let source: ManagedObjectModel
  let functions: [String: ExpressionEvaluator.Function]

  init(
    mapping: EntityMapping, property: PropertyMapping, expression: ValueExpression, source: ManagedObjectModel,
    functions: [String: ExpressionEvaluator.Function]
  ) {
    (self.mapping, self.property, self.expression) = (mapping, property, expression)
    (self.source, self.functions) = (source, functions)
  }

  /// Without the variables that depend on a row.
  var evaluator: ExpressionEvaluator {
    var evaluator = ExpressionEvaluator(
      functions: functions, now: Date.now.timeIntervalSinceReferenceDate)
    evaluator.variables["entityMapping"] = .object(MappingSource(mapping))
    evaluator.variables["propertyMapping"] = .object(MappingSource(property))
    // They only receive functions here, as when mappings run object by object.
    evaluator.variables["manager"] = .object(ManagerSource())
    evaluator.variables["entityPolicy"] = .object(ManagerSource())
    return evaluator
  }

  /// Throws if no row can evaluate the expression.
  func check() throws(MigrationError) {
    var evaluator = evaluator
    evaluator.variables["source"] = .null
    evaluator.variables["destination"] = .null
    for selector in ManagerSource.selectors { evaluator.functions[selector] = { _, _ in .null } }
    // A policy is asked for its functions only at run time, by name.
    if mapping.entityMigrationPolicyClassName != nil {
      for selector in expression.selectors(sentTo: "entityPolicy") { evaluator.functions[selector] = { _, _ in .null } }
    }
    do throws(EvaluationError) {
      try evaluator.check(expression)
    } catch {
      throw invalid(error)
    }
    for path in expression.paths(of: "source") {
      guard let start = mapping.sourceEntityName, let problem = source.problem(inPath: path, of: start) else {
        continue
      }
      throw unknown(problem.property, of: problem.entity)
    }
  }

  func invalid(_ error: EvaluationError) -> MigrationError { invalid(.evaluation(error)) }

  func unknown(_ property: String, of entity: String) -> MigrationError {
    invalid(
      .unknownProperty(
        entity: entity, property: property, nearest: source.nearestProperty(to: property, of: entity)))
  }

  func invalid(_ problem: InvalidExpression.Problem) -> MigrationError {
    .invalidExpression(
      InvalidExpression(
        mapping: mapping.name, entity: mapping.destinationEntityName ?? "", property: property.name, problem: problem))
  }
}

private final class ValueAdaption {
  let mapping: String
  let source: String
  let entity: String
  let target: AttributeTarget
  let storeIdentifier: String

  init(mapping: String, source: String, entity: String, target: AttributeTarget, storeIdentifier: String) {
    (self.mapping, self.source, self.entity) = (mapping, source, entity)
    (self.target, self.storeIdentifier) = (target, storeIdentifier)
  }

  func adapt(_ value: () throws -> EvaluatedValue, _ primaryKey: Int64) throws -> SQLiteValue {
    do {
      let found = try value().fitted(to: target.description)
      if found == nil, !target.isOptional { throw missingValue(primaryKey) }
      do throws(ValueCoding.EncodingProblem) {
        return try ValueCoding.encode(found, for: target.description)
      } catch {
        throw MigrationManagerError.unfitValue(property: target.name, expected: target.description.type.name)
      }
    } catch {
      throw failure(primaryKey, error)
    }
  }

  func missing(_ primaryKey: Int64) -> any Error { failure(primaryKey, missingValue(primaryKey)) }

  func failure(_ primaryKey: Int64, _ error: any Error) -> EntityMappingFailure {
    let id = ManagedObjectID(storeIdentifier: storeIdentifier, entityName: source, primaryKey: primaryKey)
    let underlying = error as? MigrationManagerError ?? .expressionFailed(property: target.name, reason: "\(error)")
    return EntityMappingFailure(
      mapping: mapping, hook: .createDestinationInstances, entity: source, object: id, underlying: underlying)
  }

  private func missingValue(_ primaryKey: Int64) -> MigrationManagerError {
    .missingValue(entity: entity, property: target.name, primaryKey: primaryKey)
  }
}
