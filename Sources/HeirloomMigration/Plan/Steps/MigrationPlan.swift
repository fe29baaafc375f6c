public import HeirloomMapping
public import HeirloomModel
public import HeirloomStore
import HeirloomVault

/// The plan of a migration of one store, counted on that store before anything changes.
///
/// Where the migration takes several hops, ``losses``, ``decisions`` and ``deferred`` are those of all of them, and
/// everything else is the first hop's: ``hops`` has a plan of each.
public struct MigrationPlan: Hashable, Sendable {
  /// The model that made the store.
  public let source: ManagedObjectModel
  /// The model that the store will have.
  public let destination: ManagedObjectModel
  /// The configuration whose part of the models the store holds; `nil` for all of it.
  public let configuration: String?
  /// The mapping from the source to the destination, as far as the store holds their entities and properties.
  public let mapping: MappingModel
  /// The builder of the candidate.
  public let builder: Builder
  /// The steps, in order.
  public let steps: [MigrationStep]
  /// The objects of each entity before and after, sorted by entity name.
  ///
  /// An entity that exists on one side has `nil` on the other. Objects that policies make are counted once they are
  /// made: before the run, their entities have `nil` after.
  public package(set) var rows: [EntityRows]
  /// The losses of this hop.
  private(set) var hopLosses: [MigrationLoss]
  /// The blockers that stop the migration until somebody decides.
  public let blockers: [MigrationBlocker]
  /// The outcomes of decisions in this hop, in the order in which they were given.
  package internal(set) var hopDecisions: [DecisionOutcome]
  /// The warnings about things that may surprise, though nothing is lost.
  public package(set) var warnings: [String]
  /// The number of rows that are written anew.
  public let rowsRewritten: Int64
  /// The estimated size of what is built beside the store, in bytes.
  package var bytesBuilt: Int64
  /// A rough time for a machine of the year 2020.
  public let estimatedDuration: Duration
  /// The clean-up that this hop leaves for later.
  let hopDeferred: DeferredMigration

  /// True when the store has objects and the destination has a place for none of them.
  ///
  /// Nobody knows before the run what code makes of objects, so it counts as a place.
  public var losesEveryObject: Bool {
    guard rowRun == nil else { return false }
    let before = rows.reduce(Int64(0)) { $0 + ($1.before ?? 0) }
    return before > 0 && !rows.contains { $0.after != nil && ($0.before ?? 0) > 0 }
  }

  /// A way to make a candidate; both give the same tables, rows, indexes and triggers.
  public enum Builder: String, Hashable, Sendable {
    /// A fresh file, filled table by table.
    case rebuild
    /// A copy of the store with only the differences changed: for plans that leave most rows where they are.
    case cloneAndAlter
  }

  /// The comparisons of the proof between the store and the candidate.
  package private(set) var checks: [ProofCheck]
  /// The tables and indexes that stay where they are in a copy of the store, by their names in the candidate.
  package let staying: [String: StayingObject]
  /// The columns that no model knows and that come along, by table of the candidate.
  let unknownColumns: [String: [PhysicalColumn]]
  /// The mappings that run object by object, with their data; `nil` if all run as SQL.
  package let rowRun: RowRunParts?
  /// True when the plan holds on any connection to the same rows.
  ///
  /// Then nothing in it calls functions or tables that the planner made on its own connection.
  package let isSelfContained: Bool
  /// The query of the rows that go to a file, once the candidate is built; `nil` if none do.
  let quarantine: QuarantineQuery?
  /// The plans of the hops after this one, where the path has several.
  private(set) var laterHops: [MigrationPlan] = []
  /// The results of mappings that ran object by object; none before the run.
  public private(set) var mappingResults: [EntityMappingResult] = []
  /// True if the whole mapping was inferred, and no code of a stage runs before or after it.
  package var isInferred = false
  /// The number of hops that the store takes, of which the plan may know the first alone.
  package var hopCount = 1
  /// The steps that the lock leaves to the app's code, though there is none: `"1" → "2"`.
  package var stepsWithoutCode: [String] = []
}

extension MigrationPlan {
  /// Free space that the volume must have, in bytes: for this store, with a margin, and what has to stay free.
  public var bytesNeeded: Int64 {
    Int64(clamping: StoreVault.Configuration().bytesNeeded(toBuild: UInt64(max(0, bytesBuilt))))
  }

  /// The part of ``bytesNeeded`` that stays free, for everything else on the volume.
  package static var bytesReserved: Int64 { Int64(clamping: StoreVault.Configuration().reservedBytes) }

  /// The plans of the hops, at least one; the plan of a hop has that hop only.
  ///
  /// The plan of a later hop is made and counted when the store before it is there: before the migration, only the
  /// first one is known.
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

  /// The clean-up that is left in the migrated store for later; empty unless that was asked for.
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

  /// The losses that the destination has no place for, hop after hop; the previous version keeps them.
  ///
  /// Links that policies asked for to objects that decisions removed are counted when the policies have asked.
  public var losses: [MigrationLoss] { hopLosses + laterHops.flatMap(\.hopLosses) }

  /// The losses that nobody consented to.
  public var unconsentedLosses: [MigrationLoss] { losses.filter { $0.consent == nil } }

  /// Adds losses that come from files beside the store.
  ///
  /// - Parameters:
  ///   - found: The losses.
  ///   - consented: Losses that may have been consented to.
  package mutating func add(_ found: [MigrationLoss], consented: [MigrationLoss] = []) {
    for var loss in found where !losses.contains(where: { $0.isSame(as: loss) }) {
      loss.consent = consented.first { $0.isSame(as: loss) }?.consent
      hopLosses.append(loss)
    }
  }

  /// Records who consented to losses that nobody consented to before.
  ///
  /// - Parameter consent: Returns the source of the consent to a loss; `nil` if nobody consents.
  package mutating func consent(by consent: (MigrationLoss) -> LossConsent?) {
    for index in hopLosses.indices { hopLosses[index].consent = hopLosses[index].consent ?? consent(hopLosses[index]) }
    for index in laterHops.indices { laterHops[index].consent(by: consent) }
  }

  /// Returns the plan without the consents of one source, for a plan that was carried out on a copy to be counted.
  package func withoutConsent(by source: LossConsent) -> MigrationPlan {
    var plan = self
    for index in plan.hopLosses.indices where plan.hopLosses[index].consent == source {
      plan.hopLosses[index].consent = nil
    }
    plan.laterHops = plan.laterHops.map { $0.withoutConsent(by: source) }
    return plan
  }

  /// Adds the outcome of code that no plan could foresee.
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
      // Both are of the same links, of which SQL had counted those of the objects that it makes.
      if hopLosses[place].links ?? hopLosses[place].rows < loss.links ?? loss.rows { hopLosses[place] = loss }
    }
    for (link, count) in outcome.removedLinks.ordered(by: \.key.mapping) {
      if let entity = link.entity, let relationship = link.relationship {
        hopLosses.append(
          Entry.links(.decidedLinks(name: "\(entity).\(relationship)", areWithin: false), entity, relationship)
            .loss(rows: count))
      } else {
        warnings.append(
          "the policy of the mapping \"\(link.mapping)\" asked \(count) times for what became of objects that don't stay,"
            + " by decision, and got nothing")
      }
    }
    checks += outcome.rowCounts.ordered { $0.key < $1.key }.map { .rowCount(table: $0.key, rows: $0.value) }
  }
}

extension MigrationPlan {
  /// True if carrying it out reads many rows of a copy of the store.
  var readsRows: Bool {
    steps.contains { step in
      switch step.kind {
      case .createIndex, .runMappings: true
      case .changeRows, .computeDerived, .orderMembers, .decideRows: step.rows ?? 1 > 0
      default: false
      }
    }
  }

  /// Takes the numbers of rows that got a new object, by the number of the decision.
  mutating func takeLinks(_ made: [Int: Int64]) {
    for (index, rows) in made where hopDecisions.indices.contains(index) { hopDecisions[index].filled = rows }
  }

  /// Adds the changes that code made after the plan was carried out and proven.
  mutating func takeChangesByCode(objects: [String: Int64]) {
    rows = rows.map { row in
      guard row.after != nil || destination.entity(named: row.entity) != nil else { return row }
      return EntityRows(entity: row.entity, before: row.before, after: objects[row.entity] ?? 0)
    }
    // The checks that hold for any store still have to hold.
    checks = checks.filter { if case .noMore = $0 { true } else { false } }
  }
}

/// The objects of one entity, subentities left out.
public struct EntityRows: Hashable, Sendable {
  /// The entity's name in the destination, or in the source if the destination has none.
  public let entity: String
  /// The number of objects in the store; `nil` if the source has no such entity.
  public let before: Int64?
  /// The number of objects in the migrated store; `nil` if the destination has no such entity.
  public let after: Int64?

  /// Creates a count.
  package init(entity: String, before: Int64?, after: Int64?) {
    self.entity = entity
    self.before = before
    self.after = after
  }
}
