import Foundation
import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension RowMapping {
  /// SQL selects the rows; `condition` is left to check on each.
  func selection(
    setting: RowRunSetting, evaluator: ExpressionEvaluator
  ) -> (rows: RowSelection, condition: PredicateDescription?) {
    let excluded = setting.parts.decided.excludedKeys(of: mapping, source: setting.source).map {
      "\(RowSelection.alias).\(quote(PhysicalName.primaryKey)) NOT IN (\($0))"
    }
    let rest = RowSelection(where: excluded, includesSubentities: false)
    guard let predicate, let source else { return (rest, nil) }
    var compiler = ExpressionCompiler(
      entity: source.name, alias: RowSelection.alias, schema: setting.source, database: SchemaName.store,
      connection: setting.connection, evaluator: evaluator)
    // A condition that may fail is evaluated object by object, so the error names the object.
    guard let condition = try? compiler.compile(predicate), !condition.isFallible else { return (rest, predicate) }
    let parts = ["(\(condition.sql))", excluded].compactMap { $0 }
    return (
      RowSelection(
        where: parts.joined(separator: " AND "), bindings: compiler.bindings(for: [condition.sql]),
        includesSubentities: false), nil
    )
  }
}
