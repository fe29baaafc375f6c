import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// An entity mapping that runs object by object, with everything that is worked out once.
final class RowMapping {
  let mapping: EntityMapping
  let policy: EntityMigrationPolicy
  let destination: PhysicalEntity?
  let source: PhysicalEntity?
  /// The condition on source objects; `nil` for all.
  let predicate: PredicateDescription?
  /// True when an object has the key of its source object.
  let keepsKeys: Bool
  /// The statement that gives the columns of a source row's destination object, as far as SQL can.
  let values: Statement?
  /// The columns that `values` gives.
  let columns: [String]
  /// The attributes whose expressions are evaluated for each object.
  let evaluated: [(mapping: PropertyMapping, target: AttributeTarget)]
  /// The selectors that expressions send to `$entityPolicy`.
  let policySelectors: Set<String>
  /// The number of source objects that the mapping took.
  var sourceObjects: Int = 0
  /// The number of objects of the destination entity that were associated.
  var destinationObjects: Int = 0
  /// The evaluator of the mapping's expressions, once one was evaluated.
  var evaluator: ExpressionEvaluator?
  /// The numbers of the entities of objects that the mapping wrote and nobody has checked yet.
  var writtenEntities: Set<Int> = []
  /// The source key that was last given to a destination object.
  var lastKeptKey: Int64?
  /// The relationship mappings that give a value.
  let relationships: [(mapping: PropertyMapping, relationship: RelationshipDescription)]

  init(_ mapping: EntityMapping, policy: EntityMigrationPolicy, setting: RowRunSetting) throws {
    self.mapping = mapping
    self.policy = policy
    source = mapping.sourceEntityName.flatMap { setting.source.entity(named: $0) }
    destination = mapping.destinationEntityName.flatMap { setting.destination.entity(named: $0) }
    keepsKeys = setting.split.keepsKeys.contains(mapping.name)
    predicate = try Self.predicate(of: mapping)
    let model = setting.destination.model
    evaluated = mapping.attributeMappings.compactMap { property in
      guard
        CompiledMappings.expression(of: property, in: mapping, setting.source.model, model) != nil,
        let name = mapping.destinationEntityName, let target = model.attributeTarget(property.name, of: name)
      else { return nil }
      return (property, target)
    }.sorted { $0.target.path.count < $1.target.path.count }
    relationships = mapping.relationshipMappings.compactMap { property in
      guard property.valueExpression != nil, let name = mapping.destinationEntityName,
        let relationship = model.relationship(named: property.name, of: name), !relationship.isTransient
      else { return nil }
      return (property, relationship)
    }
    policySelectors = Set(
      (mapping.attributeMappings + mapping.relationshipMappings).compactMap(\.valueExpression)
        .flatMap { $0.selectors(sentTo: "entityPolicy") })
    let selection = try ValueSelection(of: mapping, setting: setting)
    columns = selection?.columns ?? []
    if let sql = selection?.sql {
      values = try setting.connection.prepare(sql, isPersistent: true)
    } else {
      values = nil
    }
  }

  /// Returns the condition on the source objects that an entity mapping takes.
  static func predicate(of mapping: EntityMapping) throws -> PredicateDescription? {
    guard let expression = mapping.sourceExpression else { return nil }
    guard let rows = expression.sourceRows else {
      throw MigrationError.unsupportedMapping(
        reason: "the entity mapping \"\(mapping.name)\" takes its objects from \(expression.predicateFormat),"
          + " which is no fetch of a source entity")
    }
    guard rows.entity == mapping.sourceEntityName else {
      throw MigrationError.unsupportedMapping(
        reason: "the entity mapping \"\(mapping.name)\" fetches objects of \"\(rows.entity)\" and is for"
          + " \"\(mapping.sourceEntityName ?? "")\"")
    }
    guard rows.predicate != "TRUEPREDICATE" else { return nil }
    do throws(ExpressionError) {
      return try PredicateDescription(parsing: rows.predicate)
    } catch {
      throw MigrationError.unsupportedMapping(
        reason:
          "the entity mapping \"\(mapping.name)\" takes objects with \(rows.predicate), which can't be read: \(error)")
    }
  }
}

/// The query of a source row's destination values that SQL can give: copied, converted, filled or constant.
private struct ValueSelection {
  let sql: String
  let columns: [String]

  /// Creates the query with the planner for mappings without policies, so that both give the same values.
  ///
  /// `nil` if there is nothing to select.
  init?(of mapping: EntityMapping, setting: RowRunSetting) throws {
    guard let sourceName = mapping.sourceEntityName, let destinationName = mapping.destinationEntityName,
      let sourceTable = setting.source.table(ofEntity: sourceName),
      let table = setting.destination.table(ofEntity: destinationName),
      let number = setting.source.entity(named: sourceName)?.number
    else { return nil }
    var plain = EntityMapping(
      from: sourceName, to: destinationName, name: mapping.name, mappingType: .transform,
      attributeMappings: mapping.attributeMappings.filter { property in
        CompiledMappings.expression(of: property, in: mapping, setting.source.model, setting.destination.model) == nil
      })
    plain.userInfo = mapping.userInfo
    let routing = try EntityRouting(
      mapping: MappingModel(entityMappings: [plain]), compiled: CompiledMappings(), source: setting.source,
      destination: setting.destination,
      counts: StoreCounts(), connection: setting.connection)
    guard let tree = routing.trees.first(where: { $0.sourceRoot != nil }) else { return nil }
    var planner = TreePlanner(
      tree: tree, routing: routing, source: setting.source, destination: setting.destination, sourceCounts: [:],
      links: LinkTables(), decided: setting.parts.decided.values)
    guard let transfer = planner.transfer(table: table) else { return nil }
    let model = setting.destination.model
    var columns: [String] = []
    var expressions: [String] = []
    let mappings = Dictionary(mapping.attributeMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for column in table.columns {
      guard case .attribute(let entity, let path) = column.role, model.isEntity(destinationName, kindOf: entity),
        let property = mappings.value(forLongestBeginningOf: path)?.value,
        property.valueExpression != nil || setting.parts.decided.values.missingValue(atPath: path, of: entity) != nil,
        plain.attributeMappings.contains(property),
        let expression = transfer.columns.first(where: { $0.name == column.name })?.expression
      else { continue }
      columns.append(column.name)
      expressions.append(expression.sql)
    }
    guard !columns.isEmpty else { return nil }
    self.columns = columns
    sql =
      "SELECT \(expressions.joined(separator: ", ")) FROM \(quote(SchemaName.store)).\(quote(sourceTable.name)) AS s"
      + " WHERE s.\(quote(PhysicalName.primaryKey)) = ?1 AND s.\(quote(PhysicalName.entity)) = \(number)"
  }
}

extension ValueExpression {
  /// Returns the selectors of functions that the expression sends to a variable.
  func selectors(sentTo variable: String) -> [String] {
    var found: [String] = []
    for part in parts {
      if case .function(.variable(variable), let selector, _) = part { found.append(selector) }
    }
    return found
  }

  /// Returns the key paths that the expression reads from a variable, or from the object that it stands for.
  func paths(of variable: String) -> [String] {
    parts.compactMap { part in
      switch part {
      case .keyPath(.variable(variable), let path), .keyPath(.evaluatedObject, let path): path
      case .function(.variable(variable), "valueForKey:", let arguments),
        .function(.variable(variable), "valueForKeyPath:", let arguments):
        if arguments.count == 1, case .constant(.value(.string(let path))) = arguments[0] { path } else { nil }
      default: nil
      }
    }
  }

  /// The expression and all its parts, without conditions.
  private var parts: [ValueExpression] {
    let children: [ValueExpression] =
      switch self {
      case .constant, .evaluatedObject, .variable, .unparsed: []
      case .keyPath(let operand, _): [operand]
      case .function(let operand, _, let arguments): (operand.map { [$0] } ?? []) + arguments
      case .aggregate(let elements): elements
      case .subquery(let collection, _, _): [collection]
      case .fetch(let request, let context, _): [request, context]
      case .conditional(_, let then, let otherwise): [then, otherwise]
      case .setOperation(_, let left, let right): [left, right]
      }
    return [self] + children.flatMap(\.parts)
  }
}
