import HeirloomFormats
import HeirloomModel
import HeirloomStore

struct MetadataSteps {
  let steps: [MigrationStep]
  let warnings: [String]
  let foreign: ForeignBookkeeping
  let list: [UInt8]

  /// Describes the whole model, whatever the configuration; `generation` identifies the candidate.
  init(
    metadata: StoreMetadata, model: ManagedObjectModel, in crossing: Crossing, generation: String,
    deferral: DeferredMigration, memory: PlanningMemory
  ) throws {
    let destination = crossing.destination
    let candidate = quote(SchemaName.candidate)
    var warnings: [String] = []
    var foreign = ForeignBookkeeping(crossing)
    var statements = PhysicalSchema.bookkeepingStatements.map { PlannedStatement(statementInCandidate($0)) }

    for entity in destination.entities {
      // Entities of a tree share its keys, so only the root's row counts them.
      let highest = entity.superentityNumber == 0 ? crossing.routing.keys.highest[entity.name] ?? 0 : 0
      statements.append(
        PlannedStatement(
          "INSERT INTO \(candidate).\(quote(PhysicalName.primaryKeyTable)) VALUES (?1, ?2, ?3, ?4)",
          values: [
            .integer(Int64(entity.number)), .text(entity.name), .integer(Int64(entity.superentityNumber)),
            .integer(highest),
          ]))
    }
    let columns = [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity, PhysicalName.maximum].map(quote)
    statements.append(
      PlannedStatement(
        // The store's table may have additional columns.
        "INSERT INTO \(candidate).\(quote(PhysicalName.primaryKeyTable)) SELECT \(columns.joined(separator: ", ")) FROM "
          + "\(quote(SchemaName.store)).\(quote(PhysicalName.primaryKeyTable)) WHERE \(quote(PhysicalName.entity)) > "
          + "\(foreign.frameworkNumber - 1)"))

    var updated = metadata
    updated.adopt(model)
    updated.generation = generation
    // An earlier migration's clean-up is not left in the candidate.
    updated.deferredMigration = deferral.isEmpty ? nil : deferral
    list = try updated.propertyList()
    statements.append(
      PlannedStatement(
        "INSERT INTO \(candidate).\(quote(PhysicalName.metadataTable)) VALUES (1, ?1, ?2)",
        values: [.text(updated.identifier), .blob(list)]))
    do throws(FormatError) {
      statements.append(
        PlannedStatement(
          "INSERT INTO \(candidate).\(quote(PhysicalName.modelCacheTable)) VALUES (?1)",
          values: [.blob(try memory.cache(of: model))]))
    } catch {
      // It is only a cache: the store is complete without it.
      warnings.append("the migrated store gets no copy of its model: \(error)")
      foreign.hasModel = false
    }
    self.foreign = foreign
    self.warnings = warnings + foreign.warnings
    statements += foreign.statements
    steps = [
      MigrationStep(
        kind: .writeMetadata, subject: PhysicalName.metadataTable,
        summary: "Write entity numbers, metadata and the model", statements: statements)
    ]
  }
}
