import Foundation
import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The conditions with which entity mappings take only some objects of their source.
struct SourceConditions {
  let mapping: MappingModel
  let source: PhysicalSchema
  let functions: [String: ExpressionEvaluator.Function]
  let connection: Connection

  /// Throws for the first condition that has a syntax error or an unknown name.
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
        throw invalid(
          entityMapping,
          .unknownProperty(
            entity: entity, property: property, nearest: source.model.nearestProperty(to: property, of: entity)))
      } catch {
        // Such a condition is evaluated for each object.
      }
    }
  }

  var exist: Bool {
    mapping.entityMappings.contains { entityMapping in
      entityMapping.sourceExpression.map { $0.sourceRows?.predicate != "TRUEPREDICATE" } ?? false
    }
  }

  func takenRows() throws(MigrationError) -> MappingConditions {
    var taken = MappingConditions()
    for entityMapping in mapping.entityMappings {
      guard let predicate = try condition(of: entityMapping), let name = entityMapping.sourceEntityName,
        let entity = source.entity(named: name)
      else { continue }
      var compiler = compiler(of: entityMapping, entity: name)
      guard let condition = try? compiler.compile(predicate) else {
        taken.unknown.insert(entityMapping.name)
        continue
      }
      // A condition that may fail is evaluated for objects of the entity only.
      let sql = condition.among("s.\(quote(PhysicalName.entity)) = \(entity.number)")
      taken.known[entityMapping.name] = "((\(sql)) IS TRUE)"
    }
    return taken
  }

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

struct MappingConditions {
  /// SQL, true or false and never NULL, by the entity mapping's name; none if it takes all objects.
  var known: [String: String] = [:]
  /// Entity mappings whose conditions must be evaluated for each object.
  var unknown: Set<String> = []

  /// `nil` for all rows; an unknown condition is assumed to be true for every row.
  func condition(of rows: DataEffect.Rows) -> String? {
    var parts: [String] = []
    if !rows.takenBy.isEmpty, areKnown(of: rows) {
      parts.append("(\(rows.takenBy.compactMap { known[$0] }.chained(by: "OR")))")
    }
    parts += rows.notTakenBy.compactMap { known[$0] }.map { "NOT \($0)" }
    return parts.isEmpty ? nil : parts.chained(by: "AND")
  }

  func areKnown(of rows: DataEffect.Rows) -> Bool { rows.takenBy.allSatisfy { known[$0] != nil } }
}
