import Foundation
package import HeirloomMapping
package import HeirloomModel
package import HeirloomStore
package import HeirloomVault

/// A migration from one version to another by one mapping, without intermediate stores.
package struct MigrationHop {
  package let source: ManagedObjectModel
  package let destination: ManagedObjectModel
  package var mapping: MappingModel
  /// True while the mapping is inferred and the delegate has not been asked for another one.
  package var isInferred = false
  /// Runs on a copy of the hop's source.
  package var willMigrate: StageHandler?
  /// Runs on the hop's result.
  package var didMigrate: StageHandler?

  package init(
    source: ManagedObjectModel, destination: ManagedObjectModel, mapping: MappingModel, isInferred: Bool = false
  ) {
    self.isInferred = isInferred
    self.source = source
    self.destination = destination
    self.mapping = mapping
  }
}

extension [MigrationHop] {
  /// The code before the hop moves to the first of the others, and the code after it to the last.
  package mutating func replaceHop(at index: Int, by others: [MigrationHop]) {
    guard !others.isEmpty else { return }
    var others = others
    others[0].willMigrate = self[index].willMigrate
    others[others.count - 1].didMigrate = self[index].didMigrate
    replaceSubrange(index...index, with: others)
  }
}

/// Each hop but the last builds a store that only the next one reads, in the candidate's own
/// folder; the store is replaced once, at the end.
package final class CandidateChain {
  private let hold: StoreHold
  private let candidatePath: String
  private var hops: [MigrationHop]
  private var settings: RunSettings
  private let willRun: (StageHandler) -> Void
  /// The plan of the first hop, if it is valid for the held store.
  private let known: MigrationPlan?
  private var last: BuiltCandidate?

  /// `nil` unless the candidate is a copy of the last hop's source.
  package var writtenPages: WrittenPages? { last?.written }
  /// The damage of the held store that made the chain fail although no row is lost; see ``RunSettings/damage``.
  package private(set) var damage: [String] = []
  /// The store between two hops, or the copy that code has changed; it is deleted once the next one is proven.
  private var between: (path: String, connection: Connection)?
  /// A clause for each column of entity numbers that was corrected in the copy that the first hop reads.
  private var corrections: [String] = []

  /// `candidatePath` is an empty file; `known` is the first hop's plan with the same settings, made
  /// from the store as it is now.
  package init(
    hold: StoreHold, candidatePath: String, hops: [MigrationHop], settings: RunSettings, known: MigrationPlan? = nil,
    willRun: @escaping (StageHandler) -> Void = { _ in }
  ) {
    self.hold = hold
    self.candidatePath = candidatePath
    self.hops = hops
    self.settings = settings
    self.known = known
    self.willRun = willRun
  }

  /// Writes nothing: the connection may be read-only, and `storePath` is only for messages.
  ///
  /// If the store contradicts its model, it plans again on a copy with corrected entity numbers and
  /// sets ``RunSettings/correctsNumbers``.
  package static func plan(
    firstOf hops: [MigrationHop], connection: Connection, storePath: String, settings: inout RunSettings
  ) throws(MigrationError) -> MigrationPlan {
    guard let hop = hops.first else { throw .unsupportedMapping(reason: "there is no mapping to carry out") }
    let own = settings.forHop(0, of: hops)
    var (connection, corrections) = (connection, [String]())
    var failure: MigrationError?
    while true {
      if failure != nil || settings.correctsNumbers, corrections.isEmpty {
        let progress = settings.progress
        do {
          if try connection.hasNumbersToCorrect(by: hop.source, path: storePath) {
            let copy = try connection.backUp { progress?.isCancelled == true }
            corrections = try copy.correctNumbers(by: hop.source, path: storePath)
            connection = copy
          }
        } catch {
          throw failure ?? (error as? SQLiteError).map { MigrationError($0) }
            ?? .database(reason: "\(error)", coreDataCode: 134080)
        }
        // If nothing was corrected, the failure has another cause.
        if corrections.isEmpty, let failure { throw failure }
        settings.correctsNumbers = true
      }
      do throws(MigrationError) {
        var plan = try CandidateRun.plan(hop, connection: connection, storePath: storePath, settings: own)
        plan.warnings = corrections + plan.warnings
        return plan
      } catch {
        guard error.isContradiction, failure == nil, corrections.isEmpty else { throw error }
        failure = error
      }
    }
  }

  /// An answer to a hop's plan, other than to carry it out.
  package enum Answer {
    case decisions([DataDecision])
    /// They lead from the hop's source to its destination.
    case hops([MigrationHop])
  }

  /// An endless series of answers is a mistake.
  private static let mostPlans = 8

  /// The candidate is useless if this throws.
  ///
  /// `approve` is called with each hop's plan, counted on the hop's source, and records consent to
  /// its losses. It throws to stop, returns `nil` to have the plan carried out, or returns an
  /// answer to have it made again.
  package func build(
    approve: (_ hop: MigrationHop, _ plan: inout MigrationPlan) throws -> Answer?
  ) throws -> MigrationPlan {
    try namingDamagedFile { try buildHops(approve: approve) }
  }

  private func buildHops(
    approve: (_ hop: MigrationHop, _ plan: inout MigrationPlan) throws -> Answer?
  ) throws -> MigrationPlan {
    var plans: [MigrationPlan] = []
    var index = 0
    if settings.correctsNumbers, let first = hops.first {
      let path = try makeIntermediate(0)
      try hold.duplicateStore(to: path)
      let connection = try open(path)
      between = (path, connection)
      corrections = try connection.correctNumbers(by: first.source, path: hold.path)
    }
    while index < hops.count {
      if let handler = hops[index].willMigrate { try perform(handler, before: hops[index]) }
      let source = try store(for: hops[index])
      // An answer may replace one hop by several.
      var isLast: Bool { index == hops.count - 1 }
      func run(to target: String) throws -> CandidateRun {
        CandidateRun(
          of: hops[index], from: source, to: target, settings: settings.forHop(index, of: hops),
          hopsLeft: hops.count - index)
      }
      let plan = try approvedPlan(at: index, approve: approve) { try run(to: candidatePath).plan() }
      let hop = hops[index]
      let target = isLast ? candidatePath : try makeIntermediate(index + 1)
      let built = try run(to: target).build(by: plan)
      try run(to: target).writeQuarantine(of: built.plan, attributes: hold.status.attributes)
      let links = NewLinks(of: built.plan)
      if !links.isEmpty {
        try built.prove(level: settings.proof)
        let made = try links.make(in: target, externalPath: hold.path, progress: settings.progress)
        built.takeChangesByCode(objects: made.objects)
        built.plan.takeLinks(made.linked)
      }
      if let handler = hop.didMigrate {
        // The proof comes before code changes the objects that the plan counted.
        try built.prove(level: settings.proof)
        built.takeChangesByCode(objects: try perform(handler, onStoreAt: target, model: hop.destination))
      }
      plans.append(built.plan)
      plans[0].warnings = corrections.filter { !plans[0].warnings.contains($0) } + plans[0].warnings
      guard !isLast else {
        last = built
        break
      }
      try built.prove(level: settings.proof)
      try removeIntermediate()
      between = (target, try open(target))
      index += 1
    }
    guard var plan = plans.first else {
      throw MigrationError.unsupportedMapping(reason: "there is no mapping to carry out")
    }
    plan.hops = plans
    return plan
  }

  /// An answer may replace the hop at `index`; `makePlan` plans the one that is there when called.
  private func approvedPlan(
    at index: Int, approve: (_ hop: MigrationHop, _ plan: inout MigrationPlan) throws -> Answer?,
    makePlan: () throws -> MigrationPlan
  ) throws -> MigrationPlan {
    // A known plan is unusable if code changes the hop's source, before the hop or on the planning connection.
    let usable = index == 0 && hops[index].willMigrate == nil && known?.isSelfContained == true ? known : nil
    var plan = try usable ?? makePlan()
    var plansLeft = Self.mostPlans - 1
    while let answer = try approve(hops[index], &plan) {
      switch answer {
      case .decisions(let more): settings.decisions = more
      case .hops(let others):
        guard !others.isEmpty else {
          throw MigrationError.unsupportedMapping(reason: "there is no mapping to carry out")
        }
        hops.replaceHop(at: index, by: others)
      }
      guard plansLeft > 0 else {
        throw MigrationError.unsupportedMapping(
          reason: "after \(Self.mostPlans) plans, the app still asked for another one")
      }
      plansLeft -= 1
      plan = try makePlan()
    }
    guard plan.blockers.isEmpty else {
      throw MigrationError.unsupportedMapping(reason: "some rows don't fit the destination and have no decision")
    }
    return plan
  }

  package func prove() throws {
    guard let last else { return }
    try namingDamagedFile { try last.prove(level: settings.proof) }
    // This is the last moment before anything is changed.
    guard settings.progress?.isCancelled != true else { throw MigrationError.cancelled }
    self.last = nil
    try removeIntermediate()
  }

  /// SQLite may report damage without naming the file, so the held store is checked.
  private func namingDamagedFile<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as MigrationError where error.mayComeFromDamage {
      // Damage that the store already had is copied with its pages.
      if settings.damage.isEmpty { damage = RepairableDamage.findings(in: hold.connection) }
      guard case .damaged(_, let reason) = error else { throw error }
      guard hold.connection.holdsDamagedStore else { throw MigrationError.damaged(.candidate, reason: reason) }
      throw MigrationError.damaged(.store, reason: RepairableDamage.reason(reason, in: hold.connection))
    }
  }

  private func store(for hop: MigrationHop) throws -> RunStore {
    guard let between else {
      let hold = hold
      return RunStore(
        connection: hold.connection, path: hold.path, externalPath: hold.path,
        duplicate: { path, readsAhead, goesOn throws(FileError) in
          try hold.duplicateStore(to: path, readsAhead: readsAhead, goesOn: goesOn)
        }, sharedRanges: { hold.sharedRanges(withCloneAt: $0) })
    }
    let files = settings.files
    let attributes = hold.status.attributes.forOwner
    return RunStore(
      connection: between.connection, path: between.path, externalPath: hold.path,
      duplicate: { path, _, goesOn throws(FileError) in
        try files.unlink(path)
        let held = try files.hold(between.path)
        defer { held.close() }
        if try held.clone(to: path, attributes: attributes) { return true }
        try held.copyWithoutSync(to: path, attributes: attributes, goesOn: goesOn)
        return false
      },
      sharedRanges: { path in
        guard let held = try? files.hold(between.path) else { return [] }
        defer { held.close() }
        return held.sharedRanges(withCloneAt: path)
      })
  }

  /// The code never runs on the held store.
  private func perform(_ handler: StageHandler, before hop: MigrationHop) throws {
    let path: String
    if let between {
      path = between.path
      try between.connection.close()
    } else {
      path = try makeIntermediate(0)
      try hold.duplicateStore(to: path)
    }
    _ = try perform(handler, onStoreAt: path, model: hop.source)
    between = (path, try open(path))
  }

  private func perform(
    _ handler: StageHandler, onStoreAt path: String, model: ManagedObjectModel
  ) throws -> [String: Int64] {
    willRun(handler)
    do {
      return try handler.run(onStoreAt: path, externalPath: hold.path, model: model, progress: settings.progress)
    } catch let error as SQLiteError {
      throw MigrationError(error)
    }
  }

  private func makeIntermediate(_ number: Int) throws(FileError) -> String {
    // The candidate's folder is private and is deleted with it.
    let path = candidatePath + "-hop\(number)"
    try settings.files.makeEmptyFile(path, attributes: hold.status.attributes.forOwner)
    return path
  }

  private func open(_ path: String) throws(MigrationError) -> Connection {
    do throws(SQLiteError) {
      return try Connection(path: path, mode: .readWrite, options: .building)
    } catch {
      throw MigrationError(error)
    }
  }

  private func removeIntermediate() throws {
    guard let between else { return }
    self.between = nil
    try between.connection.close()
    try settings.files.unlink(between.path)
    // After this, a power loss can't bring back a store between two hops.
    try settings.files.synchronizeDirectory(PathText.split(between.path).folder)
  }
}

extension MigrationError {
  package var isContradiction: Bool {
    if case .storeContradictsModel = self { true } else { false }
  }

  fileprivate var mayComeFromDamage: Bool {
    switch self {
    case .damaged, .proofFailed, .unexpectedRowCount: true
    default: false
    }
  }
}

extension Connection {
  fileprivate var holdsDamagedStore: Bool {
    do throws(SQLiteError) {
      try removeInterruption()
      // Constraints of the app's tables are up to the app.
      try execute("PRAGMA ignore_check_constraints = ON")
      return try firstValue("PRAGMA \(quote(SchemaName.store)).quick_check(1)")?.text != "ok"
    } catch {
      return error.isCorrupt || error.isNotDatabase
    }
  }
}

extension RunSettings {
  fileprivate func forHop(_ index: Int, of hops: [MigrationHop]) -> RunSettings {
    var settings = self
    let others = otherVersions
    settings.otherVersions = { others().map { $0 + hops.flatMap { [$0.source, $0.destination] } } }
    // The other hops build stores that only the next hop reads.
    settings.defers = defers && index == hops.count - 1
    return settings
  }
}
