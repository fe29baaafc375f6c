import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// All that a plan follows from: both schemas, the counts, the ways of entities, the answers of rows, the decisions.
struct PlanDraft {
  /// The planner, with the part of the models that the store holds.
  let planner: MigrationPlanner
  /// The store's schema, as its model asks for it.
  let source: PhysicalSchema
  /// The candidate's schema.
  let destination: PhysicalSchema
  /// The differences of the store from its model, none of which stops the migration.
  let drift: [SchemaDrift]
  let counts: StoreCounts
  let routing: EntityRouting
  let framework: FrameworkRows
  /// The answers of the store to the questions about its rows.
  let findings: [StoreQuestions.Finding]

  /// The model that the metadata will name: the whole one, also for a configuration's store.
  private let namedModel: ManagedObjectModel
  private let metadata: StoreMetadata
  private let actual: ActualSchema
  private let split: MappingSplit
  private let conditions: SourceConditions
  private let taken: TakenRows
  private let effects: EffectQuestions
  private let scannedTables: Set<String>
  private let decisions: DecisionDraft
  private let decidedByRow: RowRunDecisions

  private var connection: Connection { planner.connection }

  /// Gathers what the plan follows from.
  ///
  /// - Parameters:
  ///   - planner: The planner, with the part of the models that the store holds.
  ///   - metadata: The store's metadata.
  ///   - actual: The store's tables.
  ///   - namedModel: The whole destination model.
  /// - Throws: ``MigrationError`` if the mapping can't be carried out, or the store isn't as its model says.
  init(
    _ planner: MigrationPlanner, _ metadata: StoreMetadata, _ actual: ActualSchema,
    naming namedModel: ManagedObjectModel
  ) throws {
    (self.planner, self.metadata, self.actual, self.namedModel) = (planner, metadata, actual, namedModel)
    let (connection, mapping) = (planner.connection, planner.mapping)
    let memory = planner.settings.memory
    source = memory.schema(of: planner.sourceModel, actual: actual)
    drift = actual.drift(from: source)
    if let fatal = drift.first(where: \.isFatal) {
      throw MigrationError.storeContradictsModel(reason: fatal.description)
    }
    destination = memory.schema(of: planner.destinationModel, joinOwners: planner.keptJoinOwners(of: source))
    try planner.checkWidth(of: destination)
    counts = try StoreCounts(connection: connection, schema: source)

    let functions = planner.policies.evaluatorFunctions
    let compiled = try CompiledMappings(
      mapping, source: source, destination: destination.model, functions: functions,
      storeIdentifier: metadata.identifier, connection: connection)
    conditions = SourceConditions(mapping: mapping, source: source, functions: functions, connection: connection)
    try conditions.check()
    split = MappingSplit(mapping, source: source.model, destination: destination.model, compiled: compiled)
    try planner.checkPolicies(of: split.byRow)
    routing = try EntityRouting(
      mapping: split.declarative, compiled: compiled, keepingKeys: split.keptRoots, source: source,
      destination: destination, counts: counts, connection: connection)
    framework = try FrameworkRows(
      actual: actual, routing: routing, split: split, source: source, destination: destination, connection: connection)

    let room = LinkRoom(routing: routing, source: source, destination: destination)
    let possible = memory.effects(of: mapping, from: source.model, to: destination.model).filter { !room.cover($0) }
    taken = try conditions.takenRows()
    effects = EffectQuestions(
      possible, source: source, destination: destination.model, counts: counts.byEntity, conditions: taken)
    var questions = effects.questions
    room.ask(&questions)
    findings = try questions.answers(from: connection)
    scannedTables = Set(questions.tables)
    for case .contradiction(let reason) in findings { throw MigrationError.storeContradictsModel(reason: reason) }
    decisions = try DecisionDraft(
      planner.settings.decisions, effects: possible, findings: findings, destination: destination)
    decidedByRow = try decisions.rowRun(split.byRow, questions: effects, connection: connection)
  }

  /// Makes the plan.
  ///
  /// - Parameters:
  ///   - whole: The planner of the whole models.
  ///   - configuration: The configuration whose part the store holds; `nil` for all.
  /// - Returns: The plan.
  /// - Throws: ``MigrationError``, or SQLite's error.
  func plan(of whole: MigrationPlanner, configuration: String?) throws -> MigrationPlan {
    let size = try StoreSize(connection: connection)
    let (parts, builder) = try chosenParts(size)
    let steps = builder == .rebuild ? parts.rebuildSteps : parts.alteringSteps
    try parts.foreign.check(steps)
    let written = steps.compactMap(\.rows).reduce(0, +)
    let leftOut = try conditions.losses(counts, taken)
    let dropped =
      findings.compactMap { if case .loss(let loss) = $0 { loss } else { nil } } + parts.rowDecisions.losses
    return MigrationPlan(
      source: whole.sourceModel, destination: whole.destinationModel, configuration: configuration,
      mapping: planner.mapping, builder: builder, steps: steps,
      rows: counts.entityRows(
        routing: routing, byRow: split.byRow, source: source, destination: destination,
        removed: parts.rowDecisions.removedObjects),
      losses: dropped + leftOut.losses, blockers: parts.rowDecisions.blockers, decisions: parts.rowDecisions.outcomes,
      warnings: warnings(parts, dropped: dropped, leftOut: leftOut.warnings),
      rowsRewritten: written, bytesNeeded: size.bytes + size.bytes / 10 + 64 << 20,
      // About 100 MB, or 400 MB that are only copied, and 500,000 rows a second, with the proof.
      estimatedDuration: .seconds(
        0.05 + Double(size.bytes) / (builder == .rebuild ? 100_000_000 : 400_000_000) + Double(written) / 500_000),
      deferred: parts.deferral,
      checks: ProofChecks(parts, builder: builder, scanned: scannedTables).checks,
      staying: builder == .cloneAndAlter ? parts.staying : [:],
      rowRun: split.byRow.isEmpty ? nil : try rowRun(parts),
      isSelfContained: isDeclarative && !conditions.exist && planner.settings.decisions.isEmpty,
      quarantine: parts.rowDecisions.quarantine)
  }

  /// True if SQL alone, without functions of ours, makes every object.
  private var isDeclarative: Bool { split.byRow.isEmpty && !planner.mapping.hasExpressions }

  /// Chooses the builder, and makes the candidate's parts for it.
  private func chosenParts(_ size: StoreSize) throws -> (CandidateParts, MigrationPlan.Builder) {
    let choice = planner.settings.builder
    var parts = try parts(defers: planner.settings.defers && isDeclarative)
    var builder = try choice.choose(for: parts, size: size, connection: connection)
    if builder == .rebuild, !parts.deferral.isEmpty {
      // A new file holds nothing that could be left in it.
      parts = try self.parts(defers: false)
      builder = try choice.choose(for: parts, size: size, connection: connection)
    }
    if !parts.deferral.isEmpty { parts.metadata = try metadataSteps(leaving: parts.deferral) }
    return (parts, builder)
  }

  private func parts(defers: Bool) throws -> CandidateParts {
    var parts = try CandidateParts(
      actual: actual, source: source, destination: destination, routing: routing, byRow: split.byRow, counts: counts,
      framework: framework, metadata: try metadataSteps(leaving: DeferredMigration()), decided: decisions.values,
      recomputes: decisions.isActive, defers: defers, connection: connection)
    parts.rowDecisions = try decisions.rowDecisions(
      of: parts, routing: routing, questions: effects, connection: connection)
    parts.rowDecisions.add(decidedByRow, decisions: planner.settings.decisions, source: source)
    return parts
  }

  private func metadataSteps(leaving deferral: DeferredMigration) throws -> MetadataSteps {
    try MetadataSteps(
      metadata: metadata, model: namedModel, source: source, destination: destination, routing: routing,
      generation: planner.generation, deferral: deferral, memory: planner.settings.memory)
  }

  /// Returns what the run needs for objects that are made one by one.
  private func rowRun(_ parts: CandidateParts) throws -> RowRunParts {
    var selections: [String: ValueSelection] = [:]
    for mapping in split.byRow {
      // The values that SQL can give.
      selections[mapping.name] = try ValueSelection(
        of: mapping, source: source, destination: destination, decided: decidedByRow.values, connection: connection)
    }
    return RowRunParts(
      source: source, destination: destination, split: split, keys: routing.keys,
      derivedTables: parts.backfill.tablesFollowingCode, removals: parts.rowDecisions.removals, decided: decidedByRow,
      valueSelections: selections)
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
