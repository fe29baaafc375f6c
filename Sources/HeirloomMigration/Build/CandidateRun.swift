import Foundation
import HeirloomMapping
import HeirloomModel
import HeirloomStore
import HeirloomVault

/// The work of one hop, planning and building, on the connection that holds the store.
final class CandidateRun {
  let hop: MigrationHop
  let store: RunStore
  /// The file is empty at first.
  let candidatePath: String
  let settings: RunSettings
  /// From this hop to the last; for the progress, each later one counts as much as this one.
  private let hopsLeft: Int64

  private var progress: Progress? { settings.progress }

  init(of hop: MigrationHop, from store: RunStore, to candidatePath: String, settings: RunSettings, hopsLeft: Int) {
    self.hop = hop
    self.store = store
    self.candidatePath = candidatePath
    self.settings = settings
    self.hopsLeft = Int64(hopsLeft)
  }

  /// Writes nothing: the connection may be read-only, and `storePath` is only for messages.
  static func plan(
    _ hop: MigrationHop, connection: Connection, storePath: String, settings: RunSettings
  ) throws(MigrationError) -> MigrationPlan {
    var settings = settings
    let standing = settings.standingDecisions(hop.source, hop.destination)
    /// The lock's decisions that apply here.
    func counting(where isMeant: (DataDecision) -> Bool) -> [DataDecision] {
      standing.filter { decision in
        // Decisions of the app and of the command line take precedence; if two steps decide differently, neither
        // applies.
        !(settings.decisions + standing).contains { $0 != decision && $0.answersSame(as: decision) }
          && !settings.decisions.contains(decision) && isMeant(decision)
          && (isFit([decision]) || isFit([decision] + computed(at: decision)))
      }
    }
    func isFit(_ decisions: [DataDecision]) -> Bool {
      (try? DecisionMatching.check(decisions, in: [hop.source, hop.destination])) != nil
    }
    /// A decision may be about the rows that these expressions leave.
    func computed(at decision: DataDecision) -> [DataDecision] {
      settings.decisions.filter { $0.isComputed && $0.isAtPlace(of: decision) }
    }
    func made() throws(MigrationError) -> MigrationPlan {
      try MigrationPlanner(
        connection: connection, storePath: storePath, sourceModel: hop.source, destinationModel: hop.destination,
        mapping: hop.mapping, settings: settings, generation: StoreMetadata.newGeneration()
      ).plan()
    }
    settings.decisions += counting(where: \.isComputed)
    var plan = try made()
    // A decision may leave other rows that don't fit.
    while true {
      let more = counting { decision in
        !decision.isComputed && plan.blockers.contains { $0.isAnswered(by: decision) }
      }
      if more.isEmpty { break }
      for decision in more where !settings.decisions.contains(decision) { settings.decisions.append(decision) }
      plan = try made()
    }
    plan.isInferred = hop.isInferred && hop.willMigrate == nil && hop.didMigrate == nil
    return plan
  }

  func plan() throws(MigrationError) -> MigrationPlan {
    try interruptible { () throws(MigrationError) in
      try Self.plan(hop, connection: store.connection, storePath: store.path, settings: settings)
    }
  }

  /// The plan has no blockers; the candidate is useless if this throws.
  ///
  /// The plan was made by ``plan()``, or by another connection from the same rows; see
  /// ``MigrationPlan/isSelfContained``.
  func build(by plan: MigrationPlan) throws(MigrationError) -> BuiltCandidate {
    let counting = progress.map { HopProgress(of: plan, progress: $0, on: store.connection, hopsLeft: hopsLeft) }
    do throws(MigrationError) {
      return try interruptible(counting: counting) { () throws(MigrationError) in
        try carryOut(plan, counting: counting)
      }
    } catch {
      throw MigrationError.cause(
        of: error, in: store.connection, model: hop.source, configuration: plan.configuration)
    }
  }

  private func interruptible<Value>(
    counting: HopProgress? = nil, _ body: () throws(MigrationError) -> Value
  ) throws(MigrationError) -> Value {
    let connection = store.connection
    defer { try? connection.removeInterruption() }
    do throws(SQLiteError) {
      if let counting {
        try counting.watchStatements()
      } else if let progress {
        try connection.interrupt(every: 10_000) { progress.isCancelled }
      }
      try TextFunction.register(on: connection)
      try ChangedColumns.registerFunction(on: connection)
    } catch {
      throw MigrationError(error)
    }
    return try body()
  }

  private func carryOut(
    _ approved: MigrationPlan, counting: HopProgress?
  ) throws(MigrationError) -> BuiltCandidate {
    let connection = store.connection
    var plan = approved
    var sharesBlocks = false
    var written: WrittenPages?
    if plan.builder == .cloneAndAlter {
      do throws(FileError) {
        sharesBlocks = try store.duplicate(candidatePath, plan.readsRows) { counting?.count(bytes: $0) ?? true }
      } catch {
        throw progress?.isCancelled == true ? .cancelled : MigrationError(error)
      }
      counting?.finishPiece()
      do throws(SQLiteError) {
        try connection.cutCopy(at: candidatePath, likeDatabase: SchemaName.store)
      } catch {
        throw MigrationError(error)
      }
      written = try connection.pageSize(of: SchemaName.store).flatMap(WrittenPages.init)
    }
    try BuiltCandidate.attached(connection, candidatePath, noting: written) { () throws(MigrationError) in
      let outcome = try CandidateBuilder(
        connection: connection, plan: plan, progress: counting, runMappings: runMappings
      ).run()
      if let outcome { plan.take(outcome) }
    }
    guard progress?.isCancelled != true else { throw .cancelled }
    return BuiltCandidate(
      plan, of: store, at: candidatePath, written: written, sharesBlocks: sharesBlocks, progress: counting)
  }

  private func runMappings(_ parts: RowRunParts) throws -> RowRunOutcome {
    let setting = try RowRunSetting(parts: parts, mapping: hop.mapping, store: store)
    defer { setting.close() }
    let manager = try MigrationManager(
      setting: setting, registry: settings.policies, progress: progress ?? Progress(totalUnitCount: -1))
    return try manager.run(policies: settings.policies)
  }

  func writeQuarantine(of plan: MigrationPlan, attributes: FileAttributes) throws(MigrationError) {
    guard let query = plan.quarantine else { return }
    do {
      try QuarantineWriter(query, of: plan, store: store)
        .write(to: PathText.split(candidatePath).folder, files: settings.files, attributes: attributes)
    } catch let error as MigrationError {
      throw error
    } catch let error as SQLiteError {
      throw MigrationError(error)
    } catch let error as FileError {
      throw error.isFull
        ? .diskFull(reason: "\(error)")
        : .database(reason: "The rows for quarantine can't be written: \(error)", coreDataCode: 134110)
    } catch {
      throw .database(reason: "\(error)", coreDataCode: 134110)
    }
  }
}

extension Connection {
  fileprivate func pageSize(of database: String) throws(MigrationError) -> Int? {
    do throws(SQLiteError) {
      return try firstInteger("PRAGMA \(quote(database)).page_size").flatMap(Int.init(exactly:))
    } catch {
      throw MigrationError(error)
    }
  }
}

extension MigrationError {
  fileprivate init(_ error: FileError) {
    self =
      error.isFull
      ? .diskFull(reason: "\(error)")
      : .database(reason: "The store can't be copied: \(error)", coreDataCode: 134110)
  }
}
