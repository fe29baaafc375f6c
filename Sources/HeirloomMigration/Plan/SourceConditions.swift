import Foundation
import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The conditions by which entity mappings take only some objects of their source.
struct SourceConditions {
  let mapping: MappingModel
  let source: PhysicalSchema
  let functions: [String: ExpressionEvaluator.Function]
  let connection: Connection

  /// Checks all conditions.
  ///
  /// - Throws: ``MigrationError/invalidExpression(_:)`` for the first that can't be read or names what is not there.
  func check() throws(MigrationError) {
    for entityMapping in mapping.entityMappings {
      guard let predicate = try condition(of: entityMapping), let entity = entityMapping.sourceEntityName,
        source.entity(named: entity) != nil
      else { continue }
      do throws(EvaluationError) {
        try evaluator(of: entityMapping).check(predicate)
      } catch {
        throw invalid(entityMapping, .evaluation(error))
      }
      do throws(CompilationProblem) {
        var compiler = compiler(of: entityMapping, entity: entity)
        _ = try compiler.compile(predicate)
      } catch .unknownProperty(let entity, let property) {
        throw invalid(entityMapping, .unknownProperty(entity: entity, property: property))
      } catch {
        // It is evaluated for each object.
      }
    }
  }

  /// Whether there are any.
  var exist: Bool {
    mapping.entityMappings.contains { entityMapping in
      entityMapping.sourceExpression.map { $0.sourceRows?.predicate != "TRUEPREDICATE" } ?? false
    }
  }

  /// Counts the objects that no mapping of their entity takes.
  ///
  /// - Parameter counts: The objects of each entity.
  /// - Returns: Losses, and warnings for what can't be counted before.
  /// - Throws: SQLite's error, or a function's.
  func losses(_ counts: StoreCounts) throws -> (losses: [MigrationLoss], warnings: [String]) {
    var losses: [MigrationLoss] = []
    var warnings: [String] = []
    for entity in source.entities where counts.byEntity[entity.name, default: 0] > 0 {
      let mappings = mapping.entityMappings(fromEntity: entity.name).filter { $0.destinationEntityName != nil }
      var conditions: [String] = []
      var isCounted = true
      for entityMapping in mappings {
        // A mapping without a condition, or with a policy of its own, may take all.
        guard let predicate = try condition(of: entityMapping) else {
          conditions = []
          break
        }
        var compiler = compiler(of: entityMapping, entity: entity.name)
        guard let condition = try? compiler.compile(predicate) else {
          isCounted = false
          continue
        }
        conditions.append("(\(condition.sql) IS TRUE)")
      }
      if !mappings.isEmpty, !isCounted {
        warnings.append(
          "which objects of \"\(entity.name)\" the conditions of the mapping leave out is known only when they are made"
        )
      }
      guard isCounted, !conditions.isEmpty else { continue }
      let rows = try connection.firstInteger(
        "SELECT COALESCE(SUM(NOT (\(conditions.joined(separator: " OR ")))), 0) FROM"
          + " \(quote(SchemaName.store)).\(quote(entity.table)) AS s WHERE s.\(quote(PhysicalName.entity)) = \(entity.number)"
      )
      guard let rows, rows > 0 else { continue }
      losses.append(
        MigrationLoss(
          entity: entity.name, property: nil, reason: "no entity mapping has a condition that takes these objects",
          rows: rows, kind: .objects))
    }
    return (losses, warnings)
  }

  /// The condition of an entity mapping; `nil` if it takes all objects.
  private func condition(of entityMapping: EntityMapping) throws(MigrationError) -> PredicateDescription? {
    guard let rows = entityMapping.sourceExpression?.sourceRows, rows.predicate != "TRUEPREDICATE" else { return nil }
    do throws(ExpressionError) {
      return try PredicateDescription(parsing: rows.predicate)
    } catch {
      throw invalid(entityMapping, .syntax(error))
    }
  }

  private func evaluator(of entityMapping: EntityMapping) -> ExpressionEvaluator {
    var evaluator = ExpressionEvaluator(
      functions: functions, now: Date.now.timeIntervalSinceReferenceDate)
    evaluator.variables["entityMapping"] = .object(MappingSource(entityMapping))
    evaluator.variables["manager"] = .object(ManagerSource())
    evaluator.variables["entityPolicy"] = .object(ManagerSource())
    return evaluator
  }

  private func compiler(of entityMapping: EntityMapping, entity: String) -> ExpressionCompiler {
    ExpressionCompiler(
      entity: entity, alias: "s", schema: source, database: SchemaName.store, connection: connection,
      evaluator: evaluator(of: entityMapping), writesLiterals: true)
  }

  private func invalid(
    _ entityMapping: EntityMapping, _ problem: InvalidExpression.Problem
  ) -> MigrationError {
    .invalidExpression(
      InvalidExpression(
        mapping: entityMapping.name, entity: entityMapping.destinationEntityName ?? "", property: nil, problem: problem)
    )
  }
}

extension RowMapping {
  /// The rows of the source that the mapping takes, if SQL can tell them; `nil` for all, or if each must be looked at.
  func selection(setting: RowRunSetting, evaluator: ExpressionEvaluator) -> RowSelection? {
    guard let predicate, let source else { return nil }
    var compiler = ExpressionCompiler(
      entity: source.name, alias: RowSelection.alias, schema: setting.source, database: SchemaName.store,
      connection: setting.connection, evaluator: evaluator)
    // One that may fail is asked object by object, so that the error names the object.
    guard let condition = try? compiler.compile(predicate), !condition.isFallible else { return nil }
    return RowSelection(
      where: condition.sql, bindings: compiler.bindings(for: [condition.sql]), includesSubentities: false)
  }
}
