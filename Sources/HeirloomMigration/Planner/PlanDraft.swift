import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Everything a plan is derived from: both schemas, entity routes, row counts, findings in the rows, decisions.
final class PlanDraft {
  /// The planner of that part of the models that the store holds.
  let planner: MigrationPlanner
  let crossing: Crossing
  /// None of these stops the migration.
  let drift: [SchemaDrift]
  let framework: FrameworkRows
  let findings: [StoreQuestions.Finding]

  /// The model that the metadata will name: the whole one, even for a configuration's store.
  private let namedModel: ManagedObjectModel
  private let metadata: StoreMetadata
  private let conditions: SourceConditions
  private let taken: MappingConditions
  private let effects: EffectQuestions
  private let room: SurplusLinks
  private let scannedTables: Set<String>
  /// The tables whose objects may lose content or need a decision.
  private let concerned: Set<String>
  private let decisions: DecisionDraft
  private let decidedByRow: RowRunDecisions

  var source: PhysicalSchema { crossing.source }
  var destination: PhysicalSchema { crossing.destination }
  private var connection: Connection { planner.connection }
  private var split: MappingSplit { crossing.split }

  init(
    _ planner: MigrationPlanner, _ metadata: StoreMetadata, _ actual: ActualSchema,
    naming namedModel: ManagedObjectModel
  ) throws {
    (self.planner, self.metadata, self.namedModel) = (planner, metadata, namedModel)
    let (connection, mapping) = (planner.connection, planner.mapping)
    let memory = planner.settings.memory
    let known = memory.schema(of: planner.sourceModel, actual: actual)
    drift = actual.drift(from: known)
    if let fatal = drift.first(where: \.isFatal) {
      throw MigrationError.storeContradictsModel(reason: fatal.description)
    }
    let source = known.adding(actual.unknownColumns(under: known))
    let asked = memory.schema(of: planner.destinationModel, joinOwners: planner.keptJoinOwners(of: source))
    try planner.checkWidth(of: asked)
    let counts = try StoreCounts(connection: connection, schema: source, usesIndexes: planner.settings.damage.isEmpty)

    let functions = planner.policies.evaluatorFunctions
    let compiled = try CompiledMappings(
      mapping, source: source, destination: asked.model, functions: functions,
      storeIdentifier: metadata.identifier, connection: connection)
    conditions = SourceConditions(mapping: mapping, source: source, functions: functions, connection: connection)
    try conditions.check()
    let split = MappingSplit(mapping, source: source.model, destination: asked.model, compiled: compiled)
    try planner.checkPolicies(of: split.byRow)
    let routing = try EntityRouting(
      mapping: split.declarative, compiled: compiled, keepingKeys: split.keptRoots, source: source,
      destination: asked, counts: counts, connection: connection)
    let plain = Crossing(
      actual: actual, source: source, destination: asked, split: split, routing: routing, counts: counts)
    let crossing = try plain.to(asked.adding(UnknownColumns(crossing: plain).carried))
      .findingMisleadingKeys(connection: connection)
    self.crossing = crossing
    try planner.checkWidth(of: crossing.destination)
    framework = try FrameworkRows(crossing, connection: connection)

    // When an entity becomes abstract, Core Data leaves its rows in their table.
    let abstractEntities = source.model.entities.filter { $0.isAbstract && counts.byEntity[$0.name, default: 0] > 0 }
    let all = memory.effects(
      of: mapping, from: try source.modelEnforced(drift), to: asked.model,
      abstractEntities: Set(abstractEntities.map(\.name)))
    let room = SurplusLinks(crossing, effects: all)
    self.room = room
    let computed = try ComputedValues(
      planner.settings.decisions, effects: all, mapping: mapping, in: crossing, functions: functions,
      connection: connection)
    let possible = computed.replacing(all.filter { !room.cover($0) })
    taken = try conditions.takenRows()
    concerned = Set(possible.flatMap(\.rows).compactMap { source.table(ofEntity: $0.entity)?.name })
    effects = EffectQuestions(possible, in: crossing, conditions: taken, computed: computed)
    var questions = effects.questions
    questions.countWrongKeyNumbers(in: source)
    findings = try questions.answers(from: connection)
    scannedTables = Set(questions.tables)
    for case .contradiction(let reason) in findings { throw MigrationError.storeContradictsModel(reason: reason) }
    try planner.checkDecisions()
    decisions = DecisionDraft(
      planner.settings.decisions, effects: possible, findings: findings, computed: computed,
      destination: crossing.destination.model)
    decidedByRow = try decisions.rowRun(split.byRow, questions: effects, connection: connection)
  }

  /// `whole` has the models that the plan names; `configuration` is `nil` for a whole store.
  func plan(of whole: MigrationPlanner, configuration: String?) throws -> MigrationPlan {
    let size = try StoreSize(connection: connection)
    let (parts, builder) = try chosenParts(size)
    try checkIndexes(parts, builder)
    let steps = builder == .rebuild ? parts.rebuildSteps : parts.alteringSteps
    try parts.foreign.check(steps)
    let written = steps.compactMap(\.rows).reduce(0, +)
    let selections = try valueSelections()
    let account = Account(
      crossing, mapping: planner.mapping, taken: taken, room: room, effects: effects,
      transfers: parts.transfers, joins: parts.joins, bookkeeping: parts.metadata.foreign, selections: selections)
    let rowRun =
      split.byRow.isEmpty
      ? nil
      : RowRunParts(
        of: crossing, derivedTables: parts.backfill.tablesFollowingCode, removals: parts.rowDecisions.removals,
        decided: decidedByRow, account: account, valueSelections: selections)
    let (counted, scanned) = try account.findings(from: connection)
    let findings = findings + counted
    for case .contradiction(let reason) in findings { throw MigrationError.storeContradictsModel(reason: reason) }
    let entries =
      findings.compactMap { if case .entry(let entry) = $0 { entry } else { nil } } + parts.rowDecisions.entries
    let losses = entries.map(\.loss)
    try planner.settings.account?(
      AccountSources(
        of: [whole.sourceModel, whole.destinationModel], account, parts, entries: entries, connection: connection))
    return MigrationPlan(
      source: whole.sourceModel, destination: whole.destinationModel, configuration: configuration,
      mapping: planner.mapping, builder: builder, steps: steps,
      rows: crossing.entityRows(removing: parts.rowDecisions.removedObjects),
      hopLosses: losses, blockers: parts.rowDecisions.blockers, hopDecisions: parts.rowDecisions.outcomes,
      warnings: warnings(parts, findings: findings, losses: losses),
      rowsRewritten: written, bytesBuilt: size.bytes,
      // Per second, proof included: about 100 MB if rebuilt or 400 MB if only copied, and 500,000 rows.
      estimatedDuration: .seconds(
        0.05 + Double(size.bytes) / (builder == .rebuild ? 100_000_000 : 400_000_000) + Double(written) / 500_000),
      hopDeferred: parts.deferral,
      checks: ProofChecks(parts, builder: builder, scanned: scannedTables.union(scanned)).checks,
      staying: builder == .cloneAndAlter ? parts.staying : [:],
      unknownColumns: destination.unknownColumns,
      rowRun: rowRun,
      isSelfContained: isDeclarative && !conditions.exist && planner.settings.decisions.isEmpty,
      quarantine: parts.rowDecisions.quarantine)
  }

  /// Throws ``DamagedIndexes`` if an index that the counts used, or that the run would read,
  /// differs from its table; ``MigrationError`` if the mapping has code.
  private func checkIndexes(_ parts: CandidateParts, _ builder: MigrationPlan.Builder) throws {
    guard crossing.counts.usesIndexes || !split.byRow.isEmpty else { return }
    let isCopy = builder == .cloneAndAlter
    // Tables that are neither counted nor written are copied with their indexes.
    let alone =
      isCopy ? Set(parts.unwrittenTables.values.map(\.sourceTable)).subtracting(concerned) : []
    let tables = source.tables.filter { !alone.contains($0.name) }
    let foreign = parts.foreignRows.map(\.subject).filter { !isCopy || framework.rewrites[$0] != nil }
    // Decisions, derived values and code find other objects by the indexes of keys. Comparing all keys for code would
    // take a quarter of the run's time, so the entries of its indexes are counted instead.
    let isByCode = !split.byRow.isEmpty
    let follows = isCopy && !(parts.backfill.steps.isEmpty && planner.settings.decisions.isEmpty)
    let check = IndexCheck(connection: connection)
    var damage: [String] = []
    for table in follows || isByCode ? source.tables : tables {
      let keys = Set(table.columns.filter(\.role.isReference).map(\.name) + [PhysicalName.entity])
      damage += try check.findings(
        in: table.name, of: isByCode ? keys : nil, comparing: follows ? keys : [PhysicalName.entity])
    }
    for table in foreign { damage += try check.findings(in: table) }
    guard !damage.isEmpty else { return }
    // A new plan wouldn't help: code finds related objects by these indexes.
    guard split.byRow.isEmpty else {
      throw MigrationError.damaged(
        .store,
        reason: damage.joined(separator: "; ") + ", and the mapping's code would find related objects through it")
    }
    throw DamagedIndexes(findings: damage)
  }

  /// True if SQL alone makes every object, without Heirloom's functions.
  private var isDeclarative: Bool { split.byRow.isEmpty && !planner.mapping.hasExpressions }

  private func chosenParts(_ size: StoreSize) throws -> (CandidateParts, MigrationPlan.Builder) {
    let choice = planner.settings.damage.isEmpty ? planner.settings.builder : .always(.rebuild)
    var parts = try parts(defers: planner.settings.defers && isDeclarative)
    var builder = try choice.choose(for: parts, size: size, connection: connection)
    if builder == .rebuild, !parts.deferral.isEmpty {
      // A new file has no old content whose removal could be deferred.
      parts = try self.parts(defers: false)
      builder = try choice.choose(for: parts, size: size, connection: connection)
    }
    if !parts.deferral.isEmpty { parts.metadata = try metadataSteps(leaving: parts.deferral) }
    return (parts, builder)
  }

  private func parts(defers: Bool) throws -> CandidateParts {
    let parts = try CandidateParts(
      crossing, framework: framework, metadata: try metadataSteps(leaving: DeferredMigration()),
      decided: decisions.values, recomputes: decisions.isActive, defers: defers, connection: connection)
    parts.rowDecisions = try decisions.rowDecisions(of: parts, questions: effects, connection: connection)
    parts.rowDecisions.add(decidedByRow, decisions: planner.settings.decisions, source: source)
    return parts
  }

  private func metadataSteps(leaving deferral: DeferredMigration) throws -> MetadataSteps {
    try MetadataSteps(
      metadata: metadata, model: namedModel, in: crossing, generation: planner.generation, deferral: deferral,
      memory: planner.settings.memory)
  }

  private func valueSelections() throws -> [String: ValueSelection] {
    var selections: [String: ValueSelection] = [:]
    for mapping in split.byRow {
      selections[mapping.name] = try ValueSelection(
        of: mapping, in: crossing, decided: decidedByRow.values, connection: connection)
    }
    return selections
  }
}

extension MigrationPlanner {
  fileprivate func checkDecisions() throws(MigrationError) {
    let own = [sourceModel, destinationModel]
    do throws(MigrationError) {
      try DecisionMatching.check(settings.decisions, in: own)
    } catch {
      // Most decisions are for these two versions; other versions are read only if needed.
      guard let others = settings.otherVersions() else { return }
      if others.isEmpty { throw error }
      try DecisionMatching.check(settings.decisions, in: others + own, beside: settings.standingExpressions())
    }
  }
}

extension MappingModel {
  /// Inference never makes an expression.
  fileprivate var hasExpressions: Bool {
    entityMappings.contains { mapping in
      (mapping.attributeMappings + mapping.relationshipMappings).contains { property in
        if case .expression = property.form { true } else { false }
      }
    }
  }
}

extension PhysicalSchema {
  /// A store that lacks a constraint's unique index may have rows that violate the constraint.
  fileprivate func modelEnforced(_ drift: [SchemaDrift]) throws -> ManagedObjectModel {
    let lacking = Set(drift.compactMap(\.unfitIndex))
    guard !lacking.isEmpty else { return model }
    var entities = model.entities
    for index in indexes where lacking.contains(index.name) {
      guard case .constraint(let name, let properties) = index.kind,
        let position = entities.firstIndex(where: { $0.name == name })
      else { continue }
      entities[position].uniquenessConstraints.removeAll { $0 == properties }
    }
    return try ManagedObjectModel(entities: entities)
  }
}

extension SchemaDrift {
  fileprivate var unfitIndex: String? {
    switch self {
    case .missingIndex(let name), .differentIndex(let name, _, _): name
    default: nil
    }
  }
}
