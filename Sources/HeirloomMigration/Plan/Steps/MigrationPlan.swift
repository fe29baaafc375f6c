public import HeirloomMapping
public import HeirloomModel
public import HeirloomStore
import HeirloomVault

/// The plan of a store's migration, counted in that store before anything changes.
///
/// If the migration takes several hops, ``losses``, ``decisions`` and ``deferred`` cover all of them, and everything
/// else only the first: ``hops`` has a plan for each.
public struct MigrationPlan: Hashable, Sendable {
  /// The model that made the store.
  public let source: ManagedObjectModel
  /// The model that the store will have.
  public let destination: ManagedObjectModel
  /// The configuration of the models that the store holds; `nil` for the whole model.
  public let configuration: String?
  /// The mapping from the source to the destination, limited to the entities and properties that the store holds.
  public let mapping: MappingModel
  /// The builder of the candidate.
  public let builder: Builder
  /// The steps, in order.
  public let steps: [MigrationStep]
  /// The objects of each entity before and after, sorted by entity name.
  ///
  /// An entity that exists on one side only has `nil` on the other. Objects that policies make are counted once they
  /// are made: before the run, their entities have `nil` after.
  public package(set) var rows: [EntityRows]
  private(set) var hopLosses: [MigrationLoss]
  /// The blockers that stop the migration until they are decided.
  public let blockers: [MigrationBlocker]
  /// In the order in which the decisions were given.
  package internal(set) var hopDecisions: [DecisionOutcome]
  /// The warnings about surprising effects that lose nothing.
  public package(set) var warnings: [String]
  /// The number of rows that are rewritten.
  public let rowsRewritten: Int64
  /// An estimate of the size of all files built beside the store.
  package var bytesBuilt: Int64
  /// A rough estimate for a machine of the year 2020.
  public let estimatedDuration: Duration
  let hopDeferred: DeferredMigration

  /// True when the store has objects and the destination can hold none of them.
  ///
  /// The objects that code makes are unknown before the run, so a plan with code is never counted as losing all.
  public var losesEveryObject: Bool {
    guard rowRun == nil else { return false }
    let before = rows.reduce(Int64(0)) { $0 + ($1.before ?? 0) }
    return before > 0 && !rows.contains { $0.after != nil && ($0.before ?? 0) > 0 }
  }

  /// A way to build a candidate; both build the same tables, rows, indexes and triggers.
  public enum Builder: String, Hashable, Sendable {
    /// A new file, filled table by table.
    case rebuild
    /// A copy of the store in which only the differences are changed, for plans that keep most rows in place.
    case cloneAndAlter
  }

  package private(set) var checks: [ProofCheck]
  /// By their names in the candidate.
  package let staying: [String: StayingObject]
  /// Those that are copied, by table of the candidate.
  let unknownColumns: [String: [PhysicalColumn]]
  package let rowRun: RowRunParts?
  /// True when the plan uses no functions or tables that the planner made on its own connection.
  package let isSelfContained: Bool
  /// The rows are written to a file once the candidate is built.
  let quarantine: QuarantineQuery?
  private(set) var laterHops: [MigrationPlan] = []
  /// The results of mappings that ran object by object; none before the run.
  public private(set) var mappingResults: [EntityMappingResult] = []
  /// True if the whole mapping was inferred, and no code of a stage runs before or after it.
  package var isInferred = false
  /// The plan may know only the first of them.
  package var hopCount = 1
  /// The steps that the lock assigns to missing app code: `"1" → "2"`.
  package var stepsWithoutCode: [String] = []
}

extension MigrationPlan {
  /// The free space that the volume must have, in bytes: for the files built, a margin, and space that must remain
  /// free.
  public var bytesNeeded: Int64 {
    Int64(clamping: VaultConfiguration().bytesNeeded(toBuild: UInt64(max(0, bytesBuilt))))
  }

  /// The part of ``bytesNeeded`` that must remain free for everything else on the volume.
  package static var bytesReserved: Int64 { Int64(clamping: VaultConfiguration().reservedBytes) }

  /// The plans of the hops, at least one; each has only its own hop.
  ///
  /// A later hop is planned and counted when its source store exists: before the migration, only the first plan is
  /// known.
  public package(set) var hops: [MigrationPlan] {
    get {
      guard !laterHops.isEmpty else { return [self] }
      var first = self
      first.laterHops = []
      return [first] + laterHops
    }
    set {
      guard let first = newValue.first else { return }
      self = first
      laterHops = Array(newValue.dropFirst())
    }
  }

  /// The clean-up that is left in the migrated store for later; empty unless it was requested.
  public var deferred: DeferredMigration { laterHops.last?.hopDeferred ?? hopDeferred }

  /// The outcome of each decision with the rows of all hops, in the order in which the decisions were given.
  public var decisions: [DecisionOutcome] {
    laterHops.flatMap(\.hopDecisions).reduce(into: hopDecisions) { outcomes, later in
      guard let index = outcomes.firstIndex(where: { $0.decision == later.decision }) else {
        return outcomes.append(later)
      }
      outcomes[index].add(later)
    }
  }

  /// The losses of content that the destination can't hold, hop by hop; the previous version keeps it.
  ///
  /// Links to objects that decisions removed are counted when policies request those objects.
  public var losses: [MigrationLoss] { hopLosses + laterHops.flatMap(\.hopLosses) }

  /// The losses without consent.
  public var unconsentedLosses: [MigrationLoss] { losses.filter { $0.consent == nil } }

  /// Adds losses in files beside the store, with the consent of an equal loss in `consented`.
  package mutating func add(_ found: [MigrationLoss], consented: [MigrationLoss] = []) {
    for var loss in found where !losses.contains(where: { $0.isSame(as: loss) }) {
      loss.consent = consented.first { $0.isSame(as: loss) }?.consent
      hopLosses.append(loss)
    }
  }

  /// `consent` is asked about losses without one; it returns `nil` for a loss without consent.
  package mutating func consent(by consent: (MigrationLoss) -> LossConsent?) {
    for index in hopLosses.indices { hopLosses[index].consent = hopLosses[index].consent ?? consent(hopLosses[index]) }
    for index in laterHops.indices { laterHops[index].consent(by: consent) }
  }

  /// For a plan that was run on a copy only to be counted.
  package func withoutConsent(by source: LossConsent) -> MigrationPlan {
    var plan = self
    for index in plan.hopLosses.indices where plan.hopLosses[index].consent == source {
      plan.hopLosses[index].consent = nil
    }
    plan.laterHops = plan.laterHops.map { $0.withoutConsent(by: source) }
    return plan
  }

  mutating func take(_ outcome: RowRunOutcome) {
    mappingResults = outcome.results
    rows = rows.map { row in
      outcome.objects[row.entity].map { EntityRows(entity: row.entity, before: row.before, after: $0) } ?? row
    }
    let counted = Set(outcome.rowCounts.keys)
    let derived = rowRun?.derivedTables ?? []
    checks = checks.filter { check in
      if case .rowCount(let table, _) = check { return !counted.contains(table) }
      return check.survives(changesOf: counted.union(derived))
    }
    hopLosses += outcome.losses
    // The plan may have counted objects that the policy then made itself.
    for (index, rows) in outcome.filled where hopDecisions.indices.contains(index) {
      hopDecisions[index].filled = max(hopDecisions[index].filled, rows)
    }
    for loss in outcome.recounted {
      let place = hopLosses.firstIndex {
        $0.entity == loss.entity && $0.property == loss.property && $0.kind == loss.kind
      }
      guard let place else {
        hopLosses.append(loss)
        continue
      }
      // Both count the same links; SQL had counted only those of the objects that it makes.
      if hopLosses[place].links ?? hopLosses[place].rows < loss.links ?? loss.rows { hopLosses[place] = loss }
    }
    for (link, count) in outcome.removedLinks.ordered(by: \.key.mapping) {
      if let entity = link.entity, let relationship = link.relationship {
        hopLosses.append(
          Entry.links(.decidedLinks(name: "\(entity).\(relationship)", areWithin: false), entity, relationship)
            .loss(rows: count))
      } else {
        warnings.append(
          "the policy of the mapping \"\(link.mapping)\" requested \(count) objects that decisions had removed,"
            + " and got none")
      }
    }
    checks += outcome.rowCounts.ordered { $0.key < $1.key }.map { .rowCount(table: $0.key, rows: $0.value) }
  }
}

extension MigrationPlan {
  var readsRows: Bool {
    steps.contains { step in
      switch step.kind {
      case .createIndex, .runMappings: true
      case .changeRows, .computeDerived, .orderMembers, .decideRows: step.rows ?? 1 > 0
      default: false
      }
    }
  }

  /// The numbers of rows that got a new object, by the decision's index.
  mutating func takeLinks(_ made: [Int: Int64]) {
    for (index, rows) in made where hopDecisions.indices.contains(index) { hopDecisions[index].filled = rows }
  }

  /// Adds the changes that code made after the plan was carried out and proven.
  mutating func takeChangesByCode(objects: [String: Int64]) {
    rows = rows.map { row in
      guard row.after != nil || destination.entity(named: row.entity) != nil else { return row }
      return EntityRows(entity: row.entity, before: row.before, after: objects[row.entity] ?? 0)
    }
    // Only checks that hold for any store still apply.
    checks = checks.filter { if case .noMore = $0 { true } else { false } }
  }
}

/// The objects of one entity, without those of subentities.
public struct EntityRows: Hashable, Sendable {
  /// The entity's name in the destination, or in the source if the destination has none.
  public let entity: String
  /// The number of objects in the store; `nil` if the source has no such entity.
  public let before: Int64?
  /// The number of objects in the migrated store; `nil` if the destination has no such entity.
  public let after: Int64?

  package init(entity: String, before: Int64?, after: Int64?) {
    self.entity = entity
    self.before = before
    self.after = after
  }
}
