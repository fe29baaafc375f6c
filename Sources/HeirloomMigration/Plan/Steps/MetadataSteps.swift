import HeirloomFormats
import HeirloomModel
import HeirloomStore

/// The steps that write the store's own metadata: entity numbers, metadata, model cache.
struct MetadataSteps {
  let steps: [MigrationStep]
  /// The parts that are left out, and those of others that come along, one sentence each.
  let warnings: [String]
  /// The content of others in these tables.
  let foreign: ForeignBookkeeping
  /// The property list of the candidate's metadata.
  let list: [UInt8]

  /// Plans the steps from the store's own metadata, whose identifier and app keys are kept.
  ///
  /// They name all of a model, whatever part of it the store holds. `generation` identifies this candidate among all
  /// files; `deferral` is the clean-up that is left in it; `memory` may have the model's archive.
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
        // The store's table may have further columns.
        "INSERT INTO \(candidate).\(quote(PhysicalName.primaryKeyTable)) SELECT \(columns.joined(separator: ", ")) FROM "
          + "\(quote(SchemaName.store)).\(quote(PhysicalName.primaryKeyTable)) WHERE \(quote(PhysicalName.entity)) > "
          + "\(foreign.frameworkNumber - 1)"))

    var updated = metadata
    updated.adopt(model)
    updated.generation = generation
    // The clean-up that an earlier migration left is not in the candidate.
    updated.deferredMigration = deferral.isEmpty ? nil : deferral
    list = try updated.propertyList()
    statements.append(
      PlannedStatement(
        "INSERT INTO \(candidate).\(quote(PhysicalName.metadataTable)) VALUES (1, ?1, ?2)",
        values: [.text(updated.identifier), .blob(list)]))
    do throws(ModelArchiveWritingError) {
      statements.append(
        PlannedStatement(
          "INSERT INTO \(candidate).\(quote(PhysicalName.modelCacheTable)) VALUES (?1)",
          values: [.blob(try memory.cache(of: model))]))
    } catch {
      // It is a cache: the store is complete without it, and its model is beside it.
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
