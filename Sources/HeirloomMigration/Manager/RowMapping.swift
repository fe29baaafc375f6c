import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// An entity mapping that runs object by object, with everything that is computed once.
final class RowMapping {
  let mapping: EntityMapping
  let policy: EntityMigrationPolicy
  let destination: PhysicalEntity?
  let source: PhysicalEntity?
  let predicate: PredicateDescription?
  let keepsKeys: Bool
  /// The query for the destination columns of a source row that SQL can compute.
  let values: Statement?
  let columns: [String]
  /// The attributes whose expressions are evaluated for each object.
  let evaluated: [(mapping: PropertyMapping, target: AttributeTarget)]
  /// The selectors that expressions send to `$entityPolicy`.
  let policySelectors: Set<String>
  var sourceObjects: Int = 0
  var destinationObjects: Int = 0
  var deeds: CodeAccount.Deeds?
  var evaluator: ExpressionEvaluator?
  /// The numbers of the entities whose written objects have not been validated yet.
  var writtenEntities: Set<Int> = []
  var lastKeptKey: Int64?
  /// The relationship mappings that have a value.
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
    }.ordered { $0.target.path.count < $1.target.path.count }
    relationships = mapping.relationshipMappings.compactMap { property in
      guard property.valueExpression != nil, let name = mapping.destinationEntityName,
        let relationship = model.relationship(named: property.name, of: name), !relationship.isTransient
      else { return nil }
      return (property, relationship)
    }
    policySelectors = Set(
      (mapping.attributeMappings + mapping.relationshipMappings).compactMap(\.valueExpression)
        .flatMap { $0.selectors(sentTo: "entityPolicy") })
    let selection = setting.parts.valueSelections[mapping.name]
    columns = selection?.columns ?? []
    if let sql = selection?.sql {
      values = try setting.connection.prepare(sql, isPersistent: true)
    } else {
      values = nil
    }
  }

  /// In the order of `columns`.
  func storedValues(ofKey key: Int64) throws -> [SQLiteValue] {
    defer { values?.reset() }
    try values?.bind(key, at: 1)
    guard try values?.step() == true else { return [] }
    return columns.indices.map { values?.value(at: $0) ?? .null }
  }

  static func predicate(of mapping: EntityMapping) throws -> PredicateDescription? {
    guard let expression = mapping.sourceExpression else { return nil }
    guard let rows = expression.sourceRows else {
      throw MigrationError.unsupportedMapping(
        reason: "the source expression of the entity mapping \"\(mapping.name)\" is \(expression.predicateFormat);"
          + " expected a fetch of a source entity")
    }
    guard rows.entity == mapping.sourceEntityName else {
      throw MigrationError.unsupportedMapping(
        reason: "the entity mapping \"\(mapping.name)\" fetches objects of \"\(rows.entity)\" instead of its"
          + " source entity \"\(mapping.sourceEntityName ?? "")\"")
    }
    guard rows.predicate != "TRUEPREDICATE" else { return nil }
    do throws(ExpressionError) {
      return try PredicateDescription(parsing: rows.predicate)
    } catch {
      throw MigrationError.unsupportedMapping(
        reason:
          "the entity mapping \"\(mapping.name)\" has the condition \(rows.predicate), which can't be parsed: \(error)")
    }
  }
}
