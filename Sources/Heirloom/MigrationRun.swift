import Foundation
import HeirloomFormats
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomVault

/// The plan is approved while others may use the store, and again on the held store if rows may
/// have changed.
final class MigrationRun {
  let assistant: MigrationAssistant
  private let start: ContinuousClock.Instant
  var settings: RunSettings
  var acceptsUnknownVersion: Bool
  private var asked: Set<HopQuestion> = []
  private var stepsWithoutCode: Set<String> = []
  /// Found when the store was held: later, the log is gone.
  private var fileLosses: [MigrationLoss] = []
  private var vaultWarnings: [String] = []

  init(of assistant: MigrationAssistant, since start: ContinuousClock.Instant = .now) {
    self.assistant = assistant
    self.start = start
    let configuration = assistant.configuration
    acceptsUnknownVersion = configuration.migratesUnknownVersions
    settings = RunSettings(
      policies: configuration.policies, builder: assistant.builder, proof: configuration.proof,
      decisions: configuration.decisions, defers: configuration.defersLightweightMigration,
      progress: assistant.madeProgress, files: assistant.files)
    settings.account = configuration.account
    settings.correctsNumbers = configuration.correctsNumbers
    useHistory()
  }

  /// The assistant's history changes once the store of a merged model was read.
  private func useHistory() {
    let history = assistant.history
    settings.memory = history.memory.planning
    settings.otherVersions = {
      let models = history.versionNames.map { (try? history.model(named: $0)) ?? nil }
      return models.contains(nil) ? nil : models.compactMap { $0 }
    }
    settings.standingDecisions = history.standingDecisions
    settings.standingExpressions = { history.standingExpressions }
  }

  /// A migration that was approved before the store was held.
  private final class Proposal {
    let hopPath: PlannedPath
    let plan: MigrationPlan
    /// The store's state before anything was counted; `nil` if the times of files are not reliable.
    let seen: StoreState?

    init(hopPath: PlannedPath, plan: MigrationPlan, seen: StoreState?) {
      (self.hopPath, self.plan, self.seen) = (hopPath, plan, seen)
    }

    func losses(of plan: MigrationPlan) -> [MigrationLoss] {
      plan.source == hopPath.source.model ? self.plan.losses : []
    }
  }

  // MARK: The protocol

  /// After an error the store is unchanged, unless the error says that the outcome is unknown.
  func migrate() throws -> MigrationOutcome {
    while true {
      guard let outcome = try attempt() else { continue }
      // The migrated store may again have rows that were only in a kept store after going back.
      if case .migrated(let report) = outcome {
        assistant.revisePins(in: try assistant.vault(), counted: report.previousVersion.id)
      }
      return outcome
    }
  }

  /// The findings cost no row; `damage` is damage that a copy has and a rebuilt file won't have.
  private func learn(from error: any Error, damage: [String]) -> Bool {
    if !damage.isEmpty {
      settings.damage = damage
      return true
    }
    // Rows in a table that was not searched contradict the model.
    guard (error as? MigrationError)?.isContradiction == true, !settings.correctsNumbers else { return false }
    settings.correctsNumbers = true
    return true
  }

  /// `nil` if another attempt, with its findings, may succeed.
  private func attempt() throws -> MigrationOutcome? {
    assistant.beginProgress()
    settings.progress = assistant.progress
    let vault = assistant.vault(at: try assistant.location()) { [weak self] event in self?.note(event) }
    let swap = try vault.begin()
    guard let proposal = try prepare() else {
      return try assistant.storeMetadata() == nil ? .noStore : .upToDate
    }
    let plan: MigrationPlan
    let kept: PreviousVersionFiles
    var chain: CandidateChain?
    do {
      let store = try swap.hold(try replacement(for: proposal))
      fileLosses = assistant.losses(of: swap.logDamage, in: vault)
      let made = self.chain(for: proposal, from: store, to: swap.candidatePath)
      chain = made
      plan = try build(proposal, by: made)
      try swap.prove { try made.prove() }
      // The vault itself records content that only a log holds.
      kept = try swap.commit(alone: plan.unconsentedLosses.filter { !$0.isOfLog }.map(SoleContent.init))
    } catch {
      let failure = swap.rollBack(after: error)
      guard learn(from: error, damage: chain?.damage ?? []) else { throw failure }
      return nil
    }
    return .migrated(try report(plan, proposal.hopPath, kept, quarantine: vault.quarantineFiles(of: kept.name.text)))
  }

  private func prepare() throws -> Proposal? {
    try assistant.checkNotCancelled()
    // Another process may have migrated while this one waited for the lock.
    guard let metadata = try assistant.storeMetadata(), metadata.versionHashes != assistant.history.currentHashes else {
      return nil
    }
    useHistory()
    let source = try assistant.sourceModel(of: metadata)
    assistant.report(.foundSourceModel(source.origin, version: source.versionName))
    var hopPath = try self.hopPath(from: source)
    // Before anything is counted. On a volume that isn't trusted, the times of files are not reliable.
    let seen =
      assistant.configuration.allowsUnsafeVolume
      ? nil : StoreState(of: assistant.storeURL.path, atRestFor: assistant.vaultConfiguration.restTime)
    var plan: MigrationPlan
    (hopPath, plan) = try planned(hopPath)
    // If code runs first, blockers are known only after it.
    let isPreliminary = hopPath.startsWithCode
    if let decisions = try approve(&plan, source: source, isPreliminary: isPreliminary) {
      settings.decisions = decisions
      plan = try self.plan(of: hopPath, approved: plan.losses.filter { $0.consent == .delegate })
      try tellMissingCode(in: &plan)
      try checkKnown(plan, source: source)
      if !isPreliminary { try checkApproved(plan) }
    }
    try assistant.checkNotCancelled()
    assistant.report(
      .started(from: source.model.versionChecksum(), to: assistant.history.current.versionChecksum()))
    return Proposal(hopPath: hopPath, plan: plan, seen: seen)
  }

  private func replacement(for proposal: Proposal) throws -> StoreReplacement {
    let (hopPath, source) = (proposal.hopPath, proposal.hopPath.source.model)
    return StoreReplacement(
      previousSnapshot: try assistant.snapshot(of: source, named: hopPath.source.versionName).bytes(.compressed),
      previousChecksum: source.versionChecksum(), previousName: hopPath.source.versionName,
      bytesNeeded: UInt64(max(0, proposal.plan.bytesBuilt)),
      seen: proposal.seen)
  }

  private func chain(for proposal: Proposal, from store: StoreHold, to candidatePath: String) -> CandidateChain {
    // The plan that is carried out was counted on the held store, or on the same rows.
    CandidateChain(
      hold: store, candidatePath: candidatePath, hops: proposal.hopPath.hops, settings: settings,
      known: store.isAsSeen ? proposal.plan : nil
    ) { [assistant] handler in
      assistant.report(.runningStage(handler.stageName, handler: handler.kind))
    }
  }

  private func build(_ proposal: Proposal, by chain: CandidateChain) throws -> MigrationPlan {
    let hopPath = proposal.hopPath
    var carriedOut = try chain.build { hop, plan in
      try answer(to: &plan, of: hop, proposal)
    }
    carriedOut.add(fileLosses)
    // Only the run shows which properties the code was given and didn't read.
    for index in carriedOut.hops.indices { recordConsents(in: &carriedOut.hops[index], of: proposal) }
    try checkKnown(carriedOut, source: hopPath.source)
    try assistant.checkConsented(carriedOut)
    // The plan may have been made again.
    carriedOut.warnings += hopPath.unusedMappings.filter { !carriedOut.warnings.contains($0) }
    return carriedOut
  }

  /// Returns how to make the plan again; `nil` if it is approved.
  private func answer(
    to plan: inout MigrationPlan, of hop: MigrationHop, _ proposal: Proposal
  ) throws -> CandidateChain.Answer? {
    let source = proposal.hopPath.source
    if plan.source == source.model { plan.add(fileLosses) }
    recordConsents(in: &plan, of: proposal)
    if let hops = try hopsKeeping(hop, plan: plan) { return .hops(hops) }
    try tellMissingCode(in: &plan)
    let approved = proposal.losses(of: plan)
    // The configuration's consent answers no question that the delegate can answer.
    let isKnown = plan.losses.allSatisfy { loss in
      ![nil, .configuration].contains(loss.consent) || approved.contains { $0.isSame(as: loss) }
    }
    guard isKnown, plan.blockers.isEmpty else {
      guard let decisions = try approve(&plan, source: source) else { return nil }
      settings.decisions = decisions
      return .decisions(decisions)
    }
    try assistant.checkConsented(plan)
    return nil
  }

  private func recordConsents(in plan: inout MigrationPlan, of proposal: Proposal) {
    assistant.recordConsents(in: &plan, of: proposal.hopPath.source, approved: proposal.losses(of: plan))
  }

  func hopsKeeping(_ hop: MigrationHop, plan: MigrationPlan) throws -> [MigrationHop]? {
    try assistant.hopsKeeping(hop, plan: plan, asked: &asked)
  }

  // MARK: Telling

  /// Throws if the versions' own source assigns them: the values that such code fills in or merges
  /// can't be inferred.
  func tellMissingCode(in plan: inout MigrationPlan) throws {
    guard plan.isInferred else { return }
    let steps = assistant.history.stepsByCode(from: plan.source, to: plan.destination)
    let planned = steps.filter(assistant.history.plannedStepsByCode.contains)
    guard planned.isEmpty else {
      throw MigrationAssistantError.mappingNeeded(
        storePath: assistant.storeURL.path,
        obstacles: planned.map { MappingObstacle(codeNeededFrom: $0.source, to: $0.destination) }, skeleton: nil)
    }
    for step in steps {
      let name = "\"\(step.source)\" → \"\(step.destination)\""
      guard !plan.stepsWithoutCode.contains(name) else { continue }
      plan.stepsWithoutCode.append(name)
      plan.warnings.append(
        "\(name): lock.json assigns this step to the app's own code, which is missing; its losses have no consent.")
      if stepsWithoutCode.insert(name).inserted {
        assistant.report(.codeMissing(source: step.source, destination: step.destination))
      }
    }
  }

  private func note(_ event: VaultEvent) {
    // An interrupted change and the migration after it keep the same external files.
    if let warning = event.warning, !vaultWarnings.contains(warning) { vaultWarnings.append(warning) }
  }

  private func report(
    _ carriedOut: MigrationPlan, _ hopPath: PlannedPath, _ kept: PreviousVersionFiles, quarantine: [String]
  ) -> MigrationReport {
    var plan = carriedOut
    plan.warnings += (hopPath.source.warnings + vaultWarnings).filter { !plan.warnings.contains($0) }
    if !quarantine.isEmpty {
      assistant.report(.quarantined(rows: plan.decisions.reduce(0) { $0 + $1.quarantined }, paths: quarantine))
    }
    // Frames that only a log holds pin the version in any case; a journal is kept with another version.
    let pinned = plan.losses.filter { !$0.isOfJournal && ($0.consent == nil || $0.isOfLog) }
    if !pinned.isEmpty { assistant.report(.pinned(id: kept.name.text, losses: pinned.map(\.name))) }
    let duration = start.duration(to: .now)
    assistant.report(.finished(duration))
    return MigrationReport(
      sourceChecksum: hopPath.source.model.versionChecksum(),
      destinationChecksum: assistant.history.current.versionChecksum(), modelSource: hopPath.source.origin, plan: plan,
      previousVersion: PreviousVersion(kept), quarantine: quarantine.map { URL(fileURLWithPath: $0) },
      duration: duration)
  }
}

extension VaultEvent {
  fileprivate var warning: String? {
    switch self {
    case .keptLog(_, let damage): damage.description
    case .undone(let id, let damage?):
      "\(damage.description) The version \(id) holds the store and the journal as they were; salvage reads them."
    case .undone(let id, nil):
      "An interrupted change of the store was rolled back; the version \(id) holds the store as it was before."
    case .passedOver(let count, let first):
      "\(CountText.counted(Int64(count), "name")) in a folder of external data"
        + " \(count == 1 ? "is neither a file nor a folder" : "are neither files nor folders"), such as \(first):"
        + " \(count == 1 ? "it is" : "they are") skipped, and not kept with the previous version."
    case .attributesLeftOut(let path, let count, let first):
      "\(path) lacks \(CountText.counted(Int64(count), "attribute")) of the original file, which could not be copied,"
        + " such as \(first): set \(count == 1 ? "it" : "them") again."
    default: nil
    }
  }
}
