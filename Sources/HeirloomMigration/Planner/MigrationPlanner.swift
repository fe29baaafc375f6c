import HeirloomFormats
import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// It writes temporary tables only, so one planner serves the preview and the run under the lock.
struct MigrationPlanner {
  let connection: Connection
  /// Only for messages.
  let storePath: String
  var sourceModel: ManagedObjectModel
  var destinationModel: ManagedObjectModel
  var mapping: MappingModel
  var settings: RunSettings
  /// The generation that the candidate's metadata will name.
  let generation: String

  var policies: MigrationPolicyRegistry { settings.policies }

  func plan() throws(MigrationError) -> MigrationPlan {
    do {
      do {
        return try makePlan()
      } catch let damaged as DamagedIndexes {
        // The second plan doesn't count by indexes, and builds a new file.
        var careful = self
        careful.settings.damage += damaged.findings.map { "\($0); it is rebuilt" }
        return try careful.makePlan()
      }
    } catch let error as MigrationError {
      throw error
    } catch let error as SQLiteError {
      guard error.isCorrupt else { throw MigrationError(error) }
      throw .damaged(.store, reason: RepairableDamage.reason("\(error)", in: connection))
    } catch let error as StoreError {
      if case .damaged(let reason) = error.problem { throw .damaged(.store, reason: reason) }
      throw .database(reason: error.description, coreDataCode: error.coreDataCode ?? 134080)
    } catch {
      throw .database(reason: "\(error)", coreDataCode: 134110)
    }
  }

  func checkWidth(of schema: PhysicalSchema) throws(MigrationError) {
    // SQLite's default limit, which no distribution raises.
    let limit = 2000
    if let table = schema.tables.first(where: { $0.columns.count > limit }) {
      let reason = "The new model needs \(table.columns.count) columns in the table \"\(table.name.prefix(80))\";"
      throw .database(reason: reason + " SQLite allows at most \(limit) in one.", coreDataCode: 134110)
    }
    // Heirloom couldn't open a store with a longer statement in its schema.
    let length = Connection.statementLength
    guard let table = schema.tables.first(where: { $0.sql.utf8.count > length }) else { return }
    let reason = "The new model needs a statement of \(table.sql.utf8.count) bytes for the table"
    throw .database(
      reason: reason + " \"\(table.name.prefix(80))\"; Heirloom reads at most \(length): shorten names of properties.",
      coreDataCode: 134110)
  }

  private func makePlan() throws -> MigrationPlan {
    let actual = try ActualSchema(of: connection, database: SchemaName.store)
    let storeMetadata = try StoreMetadata(connection: connection, database: SchemaName.store, path: storePath)
    try checkBookkeeping(actual)
    // If the store's tables belong to one configuration, only its part of the models is migrated.
    guard let configuration = storeMetadata.configuration(of: sourceModel, heldBy: actual) ?? nil,
      try namesNoEntity(outside: configuration)
    else {
      return try PlanDraft(self, storeMetadata, actual, naming: destinationModel).plan(of: self, configuration: nil)
    }
    var part = self
    (part.sourceModel, part.destinationModel, part.mapping) = try parts(inConfiguration: configuration)
    return try PlanDraft(part, storeMetadata, actual, naming: destinationModel).plan(
      of: self, configuration: configuration)
  }

  /// A store that lists other entities lost their tables and must not pass for a configuration's.
  private func namesNoEntity(outside configuration: String) throws -> Bool {
    let part = Set(try sourceModel.part(inConfiguration: configuration)?.entities.map(\.name) ?? [])
    let others = Set(sourceModel.entities.map(\.name)).subtracting(part)
    let table = "\(quote(SchemaName.store)).\(quote(PhysicalName.primaryKeyTable))"
    let names = try connection.rows("SELECT \(quote(PhysicalName.name)) FROM \(table)")
    return !names.contains { row in row.first?.text.map(others.contains) == true }
  }

  /// Throws ``MigrationError/unfitConfiguration(_:reason:)`` if a model lacks the configuration or
  /// part of it, or if an entity mapping would move objects into it or out of it.
  private func parts(
    inConfiguration name: String
  ) throws(MigrationError) -> (ManagedObjectModel, ManagedObjectModel, MappingModel) {
    func part(_ model: ManagedObjectModel, _ role: String) throws(MigrationError) -> ManagedObjectModel {
      do throws(ModelError) {
        if let part = try model.part(inConfiguration: name) { return part }
      } catch {
        throw .unfitConfiguration(name, reason: "in the \(role) model it is not complete: \(error)")
      }
      throw .unfitConfiguration(name, reason: "the \(role) model has no configuration of that name")
    }
    let (source, destination) = (try part(sourceModel, "source"), try part(destinationModel, "destination"))
    var mappings: [EntityMapping] = []
    for mapping in mapping.entityMappings {
      let takes = mapping.sourceEntityName.map { source.entity(named: $0) != nil }
      let gives = mapping.destinationEntityName.map { destination.entity(named: $0) != nil }
      guard let takes, let gives, takes != gives else {
        if takes ?? gives ?? true { mappings.append(mapping) }
        continue
      }
      let names = "\"\(mapping.sourceEntityName ?? "")\" → \"\(mapping.destinationEntityName ?? "")\""
      throw .unfitConfiguration(
        name, reason: "the mapping \(names) would \(takes ? "move objects out of it" : "take objects of another store")"
      )
    }
    return (source, destination, MappingModel(entityMappings: mappings))
  }

  func checkPolicies(of mappings: [EntityMapping]) throws(MigrationError) {
    let unknown = policies.unknownPolicies(of: mappings)
    guard unknown.isEmpty else { throw .unknownPolicies(names: unknown, known: policies.policyNames) }
  }

  /// Only the table of entities records which keys were assigned.
  private func checkBookkeeping(_ actual: ActualSchema) throws(MigrationError) {
    let table = actual.table(named: PhysicalName.primaryKeyTable)
    for column in [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity, PhysicalName.maximum]
    where table?.column(named: column) == nil {
      let missing = table == nil ? "the table" : "the column \(column) of the table"
      throw .storeContradictsModel(reason: "\(missing) \(PhysicalName.primaryKeyTable) is missing")
    }
  }

  /// As `Entity.relationship`; if a relationship joins objects of one entity, it isn't known which
  /// side's name Core Data uses for the table.
  func keptJoinOwners(of source: PhysicalSchema) -> Set<String> {
    var owners: Set<String> = []
    for table in source.tables {
      guard case .links(let entity, let name) = table.kind else { continue }
      for entityMapping in mapping.entityMappings(fromEntity: entity) {
        for property in entityMapping.relationshipMappings where property.sourceRelationshipName == name {
          owners.insert("\(entityMapping.destinationEntityName ?? "").\(property.name)")
        }
      }
    }
    return owners
  }
}
