import Foundation
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomVault

// The plan is made on the store while others may use it.
extension MigrationRun {
  func plan(from metadata: StoreMetadata) throws -> MigrationPlan {
    try planned(hopPath(from: assistant.sourceModel(of: metadata))).plan
  }

  /// If a mapping is missing for a store of an unknown version, the error is about the version.
  func hopPath(from source: IdentifiedModel) throws -> PlannedPath {
    do {
      return try assistant.hopPath(from: source)
    } catch MigrationAssistantError.mappingNeeded(let path, let obstacles, _)
      where !source.isKnown && !acceptsUnknownVersion
    {
      throw MigrationAssistantError.unknownVersion(storePath: path, plan: nil, obstacles: obstacles)
    }
  }

  func planned(_ found: PlannedPath) throws -> (hopPath: PlannedPath, plan: MigrationPlan) {
    var hopPath = found
    var plan = try plan(of: hopPath)
    // If code runs first, losses are known only after it.
    if !hopPath.startsWithCode, let first = hopPath.hops.first, let hops = try hopsKeeping(first, plan: plan) {
      hopPath.hops.replaceHop(at: 0, by: hops)
      plan = try self.plan(of: hopPath)
    }
    try tellMissingCode(in: &plan)
    return (hopPath, plan)
  }

  /// The consents in `approved` hold for equal losses.
  func plan(of hopPath: PlannedPath, approved: [MigrationLoss] = []) throws -> MigrationPlan {
    let path = assistant.storeURL.path
    // Reading and planning throw different types: the error of planning is returned as a value.
    let result = try StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
      Result { () throws(MigrationError) in
        try CandidateChain.plan(firstOf: hopPath.hops, connection: connection, storePath: path, settings: &settings)
      }
    }
    if case .failure(.unfitDecision) = result, !settings.decisions.isEmpty, assistant.delegate == nil {
      // An error about the store takes precedence over one about a decision.
      let decisions = settings.decisions
      settings.decisions = []
      defer { settings.decisions = decisions }
      try checkKnown(plan(of: hopPath), source: hopPath.source)
    }
    var plan = try result.get()
    // A store between two hops exists at the same time as those before and after it.
    if hopPath.hops.count > 1 || hopPath.startsWithCode || settings.correctsNumbers { plan.bytesBuilt *= 2 }
    plan.hopCount = hopPath.hops.count
    plan.warnings += hopPath.unusedMappings
    plan.warnings += [try assistant.vault().logDamage()?.description].compactMap(\.self)
    plan.add(try assistant.fileLosses())
    if let handler = hopPath.hops.first?.willMigrate {
      plan.warnings.append("The code of \(handler.stageName) runs first; its changes are not counted here.")
    }
    plan.warnings += hopPath.source.warnings
    assistant.recordConsents(in: &plan, of: hopPath.source, approved: approved)
    var later: [String] = []
    for effect in assistant.possibleLaterLosses(hopPath) {
      let name = "\(effect.kind.lossKind?.reported.rawValue ?? "content") of \(effect.lossName)"
      if !later.contains(name) { later.append(name) }
    }
    if !later.isEmpty {
      plan.warnings.append(
        "This migration takes \(hopPath.hops.count) hops. Possible losses of later hops"
          + " (\(later.joined(separator: ", "))) are counted once the earlier ones are built, as in a rehearsal.")
    }
    return plan
  }

  /// Returns decisions to make the plan again with, or `nil` to carry it out.
  func approve(
    _ plan: inout MigrationPlan, source: IdentifiedModel, isPreliminary: Bool = false
  ) throws -> [DataDecision]? {
    let answer = try assistant.delegate?.migrationAssistant(assistant, shouldMigrate: plan) ?? .automatic
    if answer.isRefusal {
      throw MigrationAssistantError.refused(storePath: assistant.storeURL.path, plan: plan)
    }
    if answer.consentsToLosses { plan.consent { _ in .delegate } }
    if answer.acceptsUnknownVersion { acceptsUnknownVersion = true }
    let decisions = assistant.configuration.decisions + answer.decisions
    if !answer.decisions.isEmpty, decisions != settings.decisions { return decisions }
    try checkKnown(plan, source: source)
    if !isPreliminary { try checkApproved(plan) }
    return nil
  }

  /// Throws if the plan would lose content of a newer or an unknown version.
  func checkKnown(_ plan: MigrationPlan, source: IdentifiedModel) throws(MigrationAssistantError) {
    guard !acceptsUnknownVersion, source.versionName == nil else { return }
    // Neither consent to losses, nor decisions, nor damage of a log identify the version of the store.
    let loses = plan.losses.contains { !$0.isOfLog }
    if loses || !plan.blockers.isEmpty,
      let newer = assistant.newerStore(withHashes: source.model.versionHashes(), known: nil)
    {
      throw .newerVersion(newer)
    }
    // A model that maps no object is not the app's next one, even if the source is known.
    if loses, !source.isKnown || plan.losesEveryObject {
      throw .unknownVersion(storePath: assistant.storeURL.path, plan: plan, obstacles: [])
    }
  }

  func checkApproved(_ plan: MigrationPlan) throws(MigrationAssistantError) {
    guard plan.blockers.isEmpty else { throw .decisionNeeded(storePath: assistant.storeURL.path, plan: plan) }
    try assistant.checkConsented(plan)
  }
}

extension MigrationAssistant {
  /// Without asking the delegate; `nil` if the migration would not stop.
  package func objection(to plan: MigrationPlan) -> MigrationAssistantError? {
    do {
      guard let metadata = try storeMetadata() else { return nil }
      let run = MigrationRun(of: self)
      try run.checkKnown(plan, source: sourceModel(of: metadata))
      try run.checkApproved(plan)
      return nil
    } catch {
      return explained(wrapped(error))
    }
  }
}
