import HeirloomFormats
import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// A planner that makes the plan of a migration from the store.
///
/// It writes nothing but temporary tables; the same planner serves the preview and the run under the lock.
struct MigrationPlanner {
  let connection: Connection
  /// The store's file, for messages.
  let storePath: String
  var sourceModel: ManagedObjectModel
  var destinationModel: ManagedObjectModel
  var mapping: MappingModel
  /// The choices of the run.
  var settings: RunSettings
  /// The generation that the candidate's metadata will name.
  let generation: String

  private var policies: MigrationPolicyRegistry { settings.policies }

  /// Makes the plan.
  ///
  /// - Throws: ``MigrationError`` when the mapping can't be carried out, or the store is not what the model says.
  func plan() throws(MigrationError) -> MigrationPlan {
    do {
      return try makePlan()
    } catch let error as MigrationError {
      throw error
    } catch let error as SQLiteError {
      throw MigrationError(error)
    } catch let error as StoreError {
      if case .damaged(let reason) = error.problem { throw .damaged(.store, reason: reason) }
      throw .database(reason: error.description, coreDataCode: error.coreDataCode ?? 134080)
    } catch {
      throw .database(reason: "\(error)", coreDataCode: 134110)
    }
  }

  /// Refuses tables that SQLite can't make, before anything is begun.
  private func checkWidth(of schema: PhysicalSchema) throws(MigrationError) {
    // SQLite's own limit, which no distribution raises.
    let limit = 2000
    guard let table = schema.tables.first(where: { $0.columns.count > limit }) else { return }
    let reason = "The new model needs \(table.columns.count) columns in the table \"\(table.name.prefix(80))\";"
    throw .database(reason: reason + " SQLite has at most \(limit) in one.", coreDataCode: 134110)
  }

  private func makePlan() throws -> MigrationPlan {
    let actual = try ActualSchema(of: connection, database: SchemaName.store)
    let storeMetadata = try StoreMetadata(connection: connection, database: SchemaName.store, path: storePath)
    try checkBookkeeping(actual)
    // The store's tables tell which part of the model it holds, and that is what is migrated.
    guard let configuration = storeMetadata.configuration(of: sourceModel, heldBy: actual) ?? nil,
      try namesNoEntity(outside: configuration)
    else {
      return try makePlan(of: nil, storeMetadata, actual)
    }
    var part = self
    (part.sourceModel, part.destinationModel, part.mapping) = try parts(inConfiguration: configuration)
    return try part.makePlan(of: (configuration, self), storeMetadata, actual)
  }

  /// Returns true if the store counts objects of a configuration's entities only.
  ///
  /// A store that held more has lost tables: what is left must not be taken for the part that has no others.
  private func namesNoEntity(outside configuration: String) throws -> Bool {
    let part = Set(try sourceModel.part(inConfiguration: configuration)?.entities.map(\.name) ?? [])
    let others = Set(sourceModel.entities.map(\.name)).subtracting(part)
    let table = "\(quote(SchemaName.store)).\(quote(PhysicalName.primaryKeyTable))"
    let names = try connection.rows("SELECT \(quote(PhysicalName.name)) FROM \(table)")
    return !names.contains { row in row.first?.text.map(others.contains) == true }
  }

  /// Makes the plan for the part of the models that the store holds.
  ///
  /// `whole` is the configuration of that part, with the planner of the whole models; `nil` if the store holds them.
  private func makePlan(
    of whole: (configuration: String, planner: MigrationPlanner)?, _ storeMetadata: StoreMetadata,
    _ actual: ActualSchema
  ) throws -> MigrationPlan {
    let source = PhysicalSchema(model: sourceModel, actual: actual)
    let drift = actual.drift(from: source)
    if let fatal = drift.first(where: \.isFatal) {
      throw MigrationError.storeContradictsModel(reason: fatal.description)
    }
    let destination = PhysicalSchema(model: destinationModel, joinOwners: keptJoinOwners(of: source))
    try checkWidth(of: destination)
    let counts = try StoreCounts(connection: connection, schema: source)
    let compiled = try CompiledMappings(
      mapping, source: source, destination: destinationModel, functions: policies.evaluatorFunctions,
      storeIdentifier: storeMetadata.identifier, connection: connection)
    let conditions = SourceConditions(
      mapping: mapping, source: source, functions: policies.evaluatorFunctions, connection: connection)
    try conditions.check()
    let split = MappingSplit(mapping, source: sourceModel, destination: destinationModel, compiled: compiled)
    try checkPolicies(of: split.byRow)
    let routing = try EntityRouting(
      mapping: split.declarative, compiled: compiled, keepingKeys: split.keptRoots, source: source,
      destination: destination, counts: counts, connection: connection)

    let framework = try FrameworkRows(
      actual: actual, routing: routing, split: split, source: source, destination: destination, connection: connection)
    func metadata(leaving deferral: DeferredMigration = DeferredMigration()) throws -> MetadataSteps {
      try MetadataSteps(
        metadata: storeMetadata, model: whole?.planner.destinationModel ?? destinationModel, source: source,
        destination: destination, routing: routing, generation: generation,
        deferral: deferral)
    }
    let room = LinkRoom(routing: routing, source: source, destination: destination)
    let possible = mapping.effects(from: sourceModel, to: destinationModel).filter { !room.cover($0) }
    let taken = try conditions.takenRows()
    let effects = EffectQuestions(
      possible, source: source, destination: destinationModel, counts: counts.byEntity, conditions: taken)
    var questions = effects.questions
    room.ask(&questions)
    let findings = try questions.answers(from: connection)
    for case .contradiction(let reason) in findings { throw MigrationError.storeContradictsModel(reason: reason) }
    let draft = try DecisionDraft(settings.decisions, effects: possible, findings: findings, destination: destination)
    let decidedByRow = try draft.rowRun(split.byRow, questions: effects, connection: connection)
    func makeParts(defers: Bool) throws -> CandidateParts {
      var parts = try CandidateParts(
        actual: actual, source: source, destination: destination, routing: routing, byRow: split.byRow, counts: counts,
        framework: framework, metadata: try metadata(), decided: draft.values, recomputes: draft.isActive,
        defers: defers,
        connection: connection)
      parts.rowDecisions = try draft.rowDecisions(
        of: parts, routing: routing, questions: effects, connection: connection)
      parts.rowDecisions.add(decidedByRow, decisions: settings.decisions, source: source)
      return parts
    }
    let size = try StoreSize(connection: connection)
    var parts = try makeParts(defers: settings.defers && split.byRow.isEmpty && !mapping.hasExpressions)
    var used = try settings.builder.choose(for: parts, size: size, connection: connection)
    if used == .rebuild, !parts.deferral.isEmpty {
      // A new file holds nothing that could be left in it.
      parts = try makeParts(defers: false)
      used = try settings.builder.choose(for: parts, size: size, connection: connection)
    }
    if !parts.deferral.isEmpty { parts.metadata = try metadata(leaving: parts.deferral) }
    let steps = used == .rebuild ? parts.rebuildSteps : parts.alteringSteps
    let written = steps.compactMap(\.rows).reduce(0, +)
    let leftOut = try conditions.losses(counts, taken)
    let notes = MappingWarnings(mapping: mapping, source: sourceModel, destination: destinationModel)
    let dropped =
      findings.compactMap { finding -> MigrationLoss? in
        if case .loss(let loss) = finding { loss } else { nil }
      } + parts.rowDecisions.losses
    return MigrationPlan(
      source: whole?.planner.sourceModel ?? sourceModel,
      destination: whole?.planner.destinationModel ?? destinationModel, configuration: whole?.configuration,
      mapping: mapping, builder: used,
      steps: steps,
      rows: counts.entityRows(
        routing: routing, byRow: split.byRow, source: source, destination: destination,
        removed: parts.rowDecisions.removedObjects),
      losses: dropped + leftOut.losses, blockers: parts.rowDecisions.blockers, decisions: parts.rowDecisions.outcomes,
      warnings: dropped.compactMap { mistakenIdentifier($0) ?? mistakenIdentifier($0, routing: routing) }
        + notes.leftOut(dropped) + notes.leftToPolicies(counts.byEntity) + leftOut.warnings + routing.keys.warnings
        + parts.backfill.warnings
        + findings.compactMap { if case .warning(let text) = $0 { text } else { nil } }
        + drift.filter { !$0.isFatal }.compactMap { Self.warning(of: $0, in: source) } + parts.metadata.warnings
        + parts.foreign.warnings + framework.warnings,
      rowsRewritten: written, bytesNeeded: size.bytes + size.bytes / 10 + 64 << 20,
      // About 100 MB, or 400 MB that are only copied, and 500,000 rows a second, with the proof.
      estimatedSeconds: 0.05 + Double(size.bytes) / (used == .rebuild ? 100_000_000 : 400_000_000) + Double(written)
        / 500_000,
      deferred: parts.deferral,
      checks: ProofChecks(parts, builder: used, scanned: Set(questions.tables)).checks,
      rowRun: split.byRow.isEmpty
        ? nil
        : RowRunParts(
          source: source, destination: destination, split: split, keys: routing.keys,
          derivedTables: parts.backfill.tablesFollowingCode, removals: parts.rowDecisions.removals,
          decided: decidedByRow,
          valueSelections: try valueSelections(
            of: split.byRow, source: source, destination: destination, decided: decidedByRow.values)),
      isSelfContained: split.byRow.isEmpty && !mapping.hasExpressions && !conditions.exist
        && settings.decisions.isEmpty,
      quarantine: parts.rowDecisions.quarantine)
  }

  /// Writes the queries of the values that SQL can give to objects that are made one by one.
  private func valueSelections(
    of mappings: [EntityMapping], source: PhysicalSchema, destination: PhysicalSchema, decided: DecidedValues
  ) throws -> [String: ValueSelection] {
    var selections: [String: ValueSelection] = [:]
    for mapping in mappings {
      selections[mapping.name] = try ValueSelection(
        of: mapping, source: source, destination: destination, decided: decided, connection: connection)
    }
    return selections
  }

  /// Returns the parts of the models and of the mapping that a configuration's store holds.
  ///
  /// - Throws: ``MigrationError/unfitConfiguration(_:reason:)`` if the destination has none of that name, or something
  ///   would move to another store or come from one.
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
        name, reason: "the mapping \(names) would \(takes ? "lead out of it" : "take objects of another store")")
    }
    return (source, destination, MappingModel(entityMappings: mappings))
  }

  /// Throws if nobody knows a policy that a mapping names.
  private func checkPolicies(of mappings: [EntityMapping]) throws(MigrationError) {
    let unknown = policies.unknownPolicies(of: mappings)
    guard unknown.isEmpty else { throw .unknownPolicies(names: unknown, known: policies.policyNames) }
  }

  /// Throws if the table of entities is not there: without it nothing says which keys were handed out.
  private func checkBookkeeping(_ actual: ActualSchema) throws(MigrationError) {
    let table = actual.table(named: PhysicalName.primaryKeyTable)
    for column in [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity, PhysicalName.maximum]
    where table?.column(named: column) == nil {
      let missing = table == nil ? "the table" : "the column \(column) of the table"
      throw .storeContradictsModel(reason: "\(missing) \(PhysicalName.primaryKeyTable) is missing")
    }
  }

  /// Returns the relationships of the destination that name join tables, since their sources do in the store.
  ///
  /// This matters for a relationship between objects of one entity: which of the two names Core Data takes isn't known.
  private func keptJoinOwners(of source: PhysicalSchema) -> Set<String> {
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

  /// Returns a warning when objects are dropped although the destination has an entity of their name.
  ///
  /// Renaming identifiers decide, as in Core Data; one set by mistake is hard to see, and some have been shipped.
  private func mistakenIdentifier(_ loss: MigrationLoss) -> String? {
    guard loss.property == nil, loss.consent == nil, let namesake = destinationModel.entity(named: loss.entity) else {
      return nil
    }
    let words =
      "\(loss.rows) objects of \"\(loss.entity)\" are dropped although the destination has an entity of that name:"
    let mappings = mapping.entityMappings(fromEntity: loss.entity)
    // Inference has an entity mapping for each entity, if only one that removes it.
    guard !mappings.isEmpty else {
      return words + " no entity mapping of the given mapping has \"\(loss.entity)\" as its source; is that a mistake?"
    }
    guard namesake.canonicalIdentifier != sourceModel.entity(named: loss.entity)?.canonicalIdentifier else {
      let names = mappings.map { "\"\($0.name)\"" }.joined(separator: ", ")
      return words + " the entity mapping \(names) does not lead there; is that a mistake?"
    }
    return words
      + " its renaming identifier \"\(namesake.canonicalIdentifier)\" says that it is another one; is that a mistake?"
  }

  /// Returns a warning when values or links are dropped although what their objects become has a property of that name.
  private func mistakenIdentifier(_ loss: MigrationLoss, routing: EntityRouting) -> String? {
    guard let name = loss.property, sourceModel.entity(named: loss.entity) != nil else { return nil }
    for entity in sourceModel.entityTree(from: loss.entity) {
      guard let route = routing.bySource[entity.name],
        let owner = destinationModel.declaringEntity(ofProperty: name, in: route.destination),
        let identifier = destinationModel.attribute(named: name, of: owner.name)?.canonicalIdentifier
          ?? destinationModel.relationship(named: name, of: owner.name)?.canonicalIdentifier,
        !isTransient(name, of: owner.name), route.properties[name]?.form ?? .defaultValue == .defaultValue
      else { continue }
      let before =
        sourceModel.attribute(named: name, of: entity.name)?.canonicalIdentifier
        ?? sourceModel.relationship(named: name, of: entity.name)?.canonicalIdentifier ?? name
      guard before != identifier else { continue }
      return
        "\(loss.rows) values of \"\(loss.entity).\(name)\" are dropped although \"\(owner.name)\" has a property of"
        + " that name: by its renaming identifier \"\(identifier)\" it is another one than \"\(before)\"; is that a mistake?"
    }
    return nil
  }

  private func isTransient(_ property: String, of entity: String) -> Bool {
    destinationModel.attribute(named: property, of: entity)?.isTransient
      ?? destinationModel.relationship(named: property, of: entity)?.isTransient ?? false
  }

  /// Returns a warning about a difference of the store from its model; `nil` for most, which mean nothing.
  private static func warning(of drift: SchemaDrift, in source: PhysicalSchema) -> String? {
    switch drift {
    // The oldest versions of Core Data declared the keys of links without a type.
    case .differentType(let table, _, "", _) where source.table(named: table)?.isJoin == true: nil
    case .unknownColumn(let table, let column):
      "the column \(table).\(column) belongs to no property of the model and is left behind"
    case .differentType(let table, let column, let found, let expected):
      "the column \(table).\(column) was declared as \(found.isEmpty ? "no type" : found) where the model asks for"
        + " \(expected); its values are taken over as they are"
    default: nil
    }
  }
}

extension MappingModel {
  /// True if an expression gives a value, which inference never asks for.
  fileprivate var hasExpressions: Bool {
    entityMappings.contains { mapping in
      (mapping.attributeMappings + mapping.relationshipMappings).contains { property in
        if case .expression = property.form { true } else { false }
      }
    }
  }
}

extension StoreCounts {
  /// Returns the counts before and after, for every concrete entity of either side.
  ///
  /// The results of mappings that run object by object are known only after the run.
  func entityRows(
    routing: EntityRouting, byRow: [EntityMapping], source: PhysicalSchema, destination: PhysicalSchema,
    removed: [String: Int64]
  ) -> [EntityRows] {
    var rows: [EntityRows] = []
    let made = Dictionary(grouping: byRow) { $0.destinationEntityName ?? "" }
    let taken = Set(byRow.compactMap(\.sourceEntityName))
    for entity in destination.model.entities where !entity.isAbstract {
      let route = routing.byDestination[entity.name]
      var count = route.map { byEntity[$0.source, default: 0] }
      guard let mappings = made[entity.name] else {
        rows.append(EntityRows(entity: entity.name, before: count, after: (count ?? 0) - (removed[entity.name] ?? 0)))
        continue
      }
      for name in mappings.compactMap(\.sourceEntityName) where routing.bySource[name] == nil {
        count = (count ?? 0) + byEntity[name, default: 0]
      }
      rows.append(EntityRows(entity: entity.name, before: count, after: nil))
    }
    for entity in source.model.entities
    where routing.bySource[entity.name] == nil && !taken.contains(entity.name) && !entity.isAbstract {
      rows.append(EntityRows(entity: entity.name, before: byEntity[entity.name, default: 0], after: nil))
    }
    return rows.sorted { $0.entity.utf16Precedes($1.entity) }
  }
}
