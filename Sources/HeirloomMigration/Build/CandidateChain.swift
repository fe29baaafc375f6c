import Foundation
package import HeirloomMapping
package import HeirloomModel
package import HeirloomStore
package import HeirloomVault

/// A migration from one version to another by one mapping, carried out at once.
package struct MigrationHop {
  /// The model that the objects come from.
  package let source: ManagedObjectModel
  /// The model that they become part of.
  package let destination: ManagedObjectModel
  /// The mapping between them.
  package var mapping: MappingModel
  /// True while the mapping is inferred and nobody was asked for another one.
  package var isInferred = false
  /// The code that runs before the hop, on a copy of what the hop reads; `nil` for none.
  package var willMigrate: StageHandler?
  /// The code that runs after the hop, on what the hop made; `nil` for none.
  package var didMigrate: StageHandler?

  /// Creates a hop without code.
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
  /// Puts other hops in place of one, which lead where that one leads; does nothing if there are none.
  ///
  /// The code from before stays with the first of them; the code for afterwards runs after the last.
  package mutating func replaceHop(at index: Int, by others: [MigrationHop]) {
    guard !others.isEmpty else { return }
    var others = others
    others[0].willMigrate = self[index].willMigrate
    others[others.count - 1].didMigrate = self[index].didMigrate
    replaceSubrange(index...index, with: others)
  }
}

/// A chain of one hop or several, which builds a candidate hop after hop.
///
/// Each hop but the last makes a store that only the next one reads, in the candidate's own folder. Nothing of it is
/// seen from outside, and there is one swap at the end.
package final class CandidateChain {
  private let hold: StoreHold
  private let candidatePath: String
  private var hops: [MigrationHop]
  private var settings: RunSettings
  private let willRun: (StageHandler) -> Void
  /// The plan of the first hop, if it is right for the held store.
  private let known: MigrationPlan?
  /// The candidate of the last hop, once the hops before are done.
  private var last: BuiltCandidate?

  /// The record of what was written to the candidate, if it is a copy of what the last hop reads.
  package var writtenPages: WrittenPages? { last?.written }
  /// The damage of the held store that made the chain fail though no row is lost; see ``RunSettings/damage``.
  package private(set) var damage: [String] = []
  /// The store between two hops, or the copy that code has changed; it goes when the next one is proven.
  private var between: (path: String, connection: Connection)?
  /// A clause for each column of entity numbers that was corrected in the copy that the first hop reads.
  private var corrections: [String] = []

  /// Creates a chain.
  ///
  /// - Parameters:
  ///   - hold: The hold on the store.
  ///   - candidatePath: The candidate's file: empty, to be filled.
  ///   - hops: The hops, at least one.
  ///   - settings: The choices of the run.
  ///   - known: The first hop's plan by the same choices, made while the store was as it is now; `nil` to make it anew.
  ///   - willRun: Hears of the code of a stage before it runs.
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

  /// Makes the plan of the first hop without writing anything.
  ///
  /// - Parameters:
  ///   - hops: All hops, at least one.
  ///   - connection: A connection to the store, which may be read-only.
  ///   - storePath: The store's file, for messages.
  ///   - settings: The choices of the run; see ``RunSettings/correctsNumbers``.
  /// - Returns: The plan.
  /// - Throws: ``MigrationError`` when the mapping can't be carried out or the store is not what its model says.
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
        // Where nothing is corrected, the failure is another's.
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
    /// The decisions to plan the hop again with.
    case decisions([DataDecision])
    /// The hops to go by instead, from the hop's source to its destination.
    case hops([MigrationHop])
  }

  /// The most plans that are made of one hop: answers that never come to an end are a mistake.
  private static let mostPlans = 8

  /// Plans and builds hop after hop.
  ///
  /// - Parameter approve: Looks at each hop's plan, counted on what it will be carried out on, and notes who consents
  ///   to its losses. It throws to stop, returns `nil` to have the plan carried out, or an answer to have it made
  ///   again.
  /// - Returns: The plan with those of all hops.
  /// - Throws: ``MigrationError``, or what `approve` throws; the candidate is then of no use.
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
      // An answer may put several hops in place of one.
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
        // The proof comes before code changes what the plan promised.
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

  /// Makes the plan of a hop, again with each answer, until it is approved.
  ///
  /// - Parameters:
  ///   - index: The hop, which an answer may replace by several.
  ///   - approve: Looks at the plan, as in ``build(approve:)``.
  ///   - makePlan: Makes the plan of the hop that is there at the time.
  /// - Returns: The approved plan.
  /// - Throws: ``MigrationError``, or what the closures throw.
  private func approvedPlan(
    at index: Int, approve: (_ hop: MigrationHop, _ plan: inout MigrationPlan) throws -> Answer?,
    makePlan: () throws -> MigrationPlan
  ) throws -> MigrationPlan {
    // A known plan is of no use if code changes what it was made of, before the first hop or in it.
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
          reason: "each of \(Self.mostPlans) plans got an answer that asked for another one")
      }
      plansLeft -= 1
      plan = try makePlan()
    }
    guard plan.blockers.isEmpty else {
      throw MigrationError.unsupportedMapping(reason: "rows don't fit, and nobody decided what becomes of them")
    }
    return plan
  }

  /// Proves the candidate against what the last hop was built from.
  ///
  /// - Throws: ``MigrationError/proofFailed(findings:)``.
  package func prove() throws {
    guard let last else { return }
    try namingDamagedFile { try last.prove(level: settings.proof) }
    // This is the last moment at which nothing was changed yet.
    guard settings.progress?.isCancelled != true else { throw MigrationError.cancelled }
    self.last = nil
    try removeIntermediate()
  }

  /// Runs work on both files; if SQLite reports damage without saying of which, a look at the held store tells.
  private func namingDamagedFile<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as MigrationError where error.mayComeFromDamage {
      // Damage that the store had is no fault of a copy's, and goes with its pages.
      if settings.damage.isEmpty { damage = SpareDamage.findings(in: hold.connection) }
      guard case .damaged(_, let reason) = error else { throw error }
      guard hold.connection.holdsDamagedStore else { throw MigrationError.damaged(.candidate, reason: reason) }
      throw MigrationError.damaged(.store, reason: SpareDamage.reason(reason, in: hold.connection))
    }
  }

  /// Returns the store that a hop reads: the held store, or the one that the hop before has made.
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

  /// Runs code on a copy of what a hop is going to read.
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
    // The candidate's folder is its own and goes with it.
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
    // After this, a loss of power can't bring back a store between two hops.
    try settings.files.synchronizeDirectory(PathText.split(between.path).folder)
  }
}

extension MigrationError {
  /// True if the content of the store is not what its model says.
  package var isContradiction: Bool {
    if case .storeContradictsModel = self { true } else { false }
  }

  /// True for what damage of the store may bring about.
  fileprivate var mayComeFromDamage: Bool {
    switch self {
    case .damaged, .proofFailed, .unexpectedRowCount: true
    default: false
    }
  }
}

extension Connection {
  /// True if SQLite finds the structure of the store itself damaged.
  fileprivate var holdsDamagedStore: Bool {
    do throws(SQLiteError) {
      try removeInterruption()
      // The constraints of the app's tables are the app's own matter.
      try execute("PRAGMA ignore_check_constraints = ON")
      return try firstValue("PRAGMA \(quote(SchemaName.store)).quick_check(1)")?.text != "ok"
    } catch {
      return error.isCorrupt || error.isNotDatabase
    }
  }
}

extension RunSettings {
  /// Returns the settings for one hop: with the versions of all; only the last hop leaves clean-up for later.
  fileprivate func forHop(_ index: Int, of hops: [MigrationHop]) -> RunSettings {
    var settings = self
    let others = otherVersions
    settings.otherVersions = { others().map { $0 + hops.flatMap { [$0.source, $0.destination] } } }
    // The others make stores that only the next hop reads.
    settings.defers = defers && index == hops.count - 1
    return settings
  }
}
