import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSupport
import HeirloomSwiftSource
import HeirloomTesting

/// The trial migration of a store with sample objects from one version to the current one, in a
/// temporary folder.
struct MigrationTrial {
  enum Result: String {
    /// The store was migrated and kept everything that the plan promised.
    case kept
    /// The store was damaged, or wasn't migrated though it should have been.
    case failed
    /// The version is below the floor, and its store was refused as expected.
    case refused
    case notTried
  }

  private(set) var findings: [HistoryFinding] = []
  private(set) var result = Result.notTried
  private(set) var objects = 0
  private(set) var seconds = 0.0
  private(set) var losses: [MigrationLoss] = []

  private let version: CheckedHistory.Version
  /// The trial's version and all later ones, up to the current one.
  private let versions: [CheckedHistory.Version]
  private let history: ModelHistory
  private let mappings: GivenMappings
  private let console: Console
  private let path: String
  /// Default values for new properties that are still undecided, so the rest can be tried.
  private var fills: [DataDecision] = []
  /// Decisions that remove sample rows that don't fit, so the rest can be tried.
  private var removals: [DataDecision] = []
  /// The plans whose blockers ``removals`` answers.
  private var refusals: [MigrationPlan] = []

  private struct Hop {
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    let effects: [DataEffect]

    init(
      _ source: ManagedObjectModel, _ destination: ManagedObjectModel, _ mapping: MappingModel, _ given: GivenMappings
    ) {
      (self.source, self.destination) = (source, destination)
      effects = given.openEffects(of: mapping, from: source, to: destination)
    }
  }

  /// `later` goes from the next version to the current one.
  init(
    of version: CheckedHistory.Version, over later: ArraySlice<CheckedHistory.Version>, to history: ModelHistory,
    at path: String, mappings: GivenMappings,
    console: Console
  ) {
    self.version = version
    versions = [version] + later
    self.history = history
    self.path = path
    self.mappings = mappings
    self.console = console
  }

  private var way: String { "\"\(version.name)\" → \"\(history.currentName)\"" }

  /// Throws only errors that the models don't cause: a full disk or cancellation.
  mutating func run(objectsPerEntity: Int, seed: UInt64) throws {
    let scratch = try ScratchFolder(console)
    defer { withExtendedLifetime(scratch) {} }
    let folder = URL(fileURLWithPath: scratch.path)
    guard let hops = try effects(in: folder) else { return }
    let first = hops.first?.effects ?? []
    hops.first.map { tell($0) }
    let new = hops.flatMap(\.effects).filter(\.hasNewProperty)
    fills = Set(new.compactMap { DecisionArgument.example(for: $0, in: history) }).ordered(by: \.description)
    let store = folder.appendingPathComponent("Sample.sqlite")
    let narrowing = first.filter { effect in !fills.contains { effect.isAnswered(by: $0) } }
    let narrower = (try? version.model.narrowed(by: narrowing)) ?? version.model
    let samples = SampleObjects(
      of: version.model, asIfOf: narrower, objectsPerEntity: objectsPerEntity, seed: seed)
    for note in samples.notes { add(.incompleteSample, .note, "\"\(version.name)\": \(note)") }
    try samples.makeStore(at: store)
    let before = try StoreContents(of: store, model: version.model)
    objects = before.count
    if version.model.versionHashes() == history.currentHashes {
      add(
        .notTried, .note,
        "\"\(version.name)\" has the same hashes as \"\(history.currentName)\": there is nothing to migrate.")
      return
    }
    if before.count == 0, !version.model.entities.isEmpty {
      add(
        .notTried, .warning,
        "\(way): no object was tried, since each one would stop the migration.", remedy: "See the other findings.")
      return
    }
    do {
      guard case .migrated(let report) = try migrateFittingRows(store) else { return }
      seconds = report.seconds
      losses = report.plan.losses.filter { loss in
        loss.consent != .decision || !removals.contains { loss.reason.hasSuffix("by the decision \($0).") }
      }
      for hop in report.plan.hops.dropFirst() { tell(Hop(hop.source, hop.destination, hop.mapping, mappings)) }
      try judge(store, before: before, report: report)
    } catch {
      try tell(error)
    }
  }

  // MARK: - Steps

  /// From the models and mappings alone; `nil` if there is no path.
  private mutating func effects(in folder: URL) throws -> [Hop]? {
    let url = folder.appendingPathComponent("Empty.sqlite")
    try PersistentStore.create(at: url, model: version.model).close()
    do {
      guard let plan = try assistant(for: url).plan() else { return [] }
      let later = (try? LossReview.path(through: versions, mappings))?.hops.dropFirst() ?? []
      return [Hop(plan.source, plan.destination, plan.mapping, mappings)]
        + later.map { Hop($0.source, $0.destination, $0.mapping, mappings) }
    } catch {
      try tell(error)
      return nil
    }
  }

  private func assistant(for url: URL) -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration()
    configuration.proof = .full
    // Losses are reported as findings already, and the sample is deleted after the trial.
    configuration.losses = .accept
    configuration.decisions = fills + removals
    if !mappings.isEmpty {
      mappings.add(to: &configuration, from: version.model, to: history.current)
    }
    return MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url), history: history, configuration: configuration)
  }

  private func migrate(_ url: URL) throws -> MigrationOutcome {
    let assistant = assistant(for: url)
    return try console.interruption.cancelling(assistant.progress) { try assistant.migrateStore() }
  }

  /// Removes sample rows that don't fit until the others can be migrated to the end.
  private mutating func migrateFittingRows(_ url: URL) throws -> MigrationOutcome {
    while true {
      do {
        return try migrate(url)
      } catch MigrationAssistantError.decisionNeeded(let path, let plan) {
        let new = Set(
          plan.blockers.map { DataDecision(entity: $0.entity, constraint: $0.properties, .quarantine) }
        ).subtracting(removals)
        guard !new.isEmpty else { throw MigrationAssistantError.decisionNeeded(storePath: path, plan: plan) }
        removals += new.ordered(by: \.description)
        refusals.append(plan)
      }
    }
  }

  private mutating func judge(_ url: URL, before: StoreContents, report: MigrationReport) throws {
    result = .kept
    for finding in try before.findings(in: url, after: report.plan) {
      result = .failed
      add(.notKept, .error, entity: finding.entity, property: finding.property, "\(way): \(finding.message)")
    }
    let removing = report.plan.decisions.filter { $0.removed > 0 }
    let own = removing.filter { removals.contains($0.decision) }
    objects -= Int(clamping: own.reduce(0) { $0 + $1.removed })
    tellRefusals(of: report.plan)
    for row in report.plan.rowsOfAllHops where own.count < removing.count {
      guard let objects = row.before, objects > 2, let rest = row.after, rest <= 1 else { continue }
      add(
        .dataHazard, .warning, entity: row.entity,
        "\(way): \(rest == 0 ? "none" : "one") of \(objects) sample objects of \"\(row.entity)\" remains after the history's decisions: a"
          + " user's objects may be removed in the same way.")
    }
    let verification = try StoreVerification.report(
      onStoreAt: url.path,
      candidates: [StoreModelCandidate(source: .file(history.currentName), model: history.current)])
    for finding in verification.findings where finding.severity < .note {
      result = .failed
      add(.unsoundStore, .error, entity: finding.entity, "\(way): the migrated store is not sound: \(finding.message)")
    }
    if try assistant(for: url).isMigrationNeeded() {
      result = .failed
      add(.migrationFailed, .error, "\(way): the migrated store does not have the current model.")
    }
  }

  // MARK: - Words

  private mutating func add(
    _ rule: HistoryRule, _ severity: HistoryFinding.Severity, entity: String? = nil, property: String? = nil,
    _ problem: String, remedy: String? = nil
  ) {
    findings.append(
      HistoryFinding(
        rule, severity, version: version.name, entity: entity, property: property, file: version.file, problem,
        remedy: remedy))
  }

  private mutating func tell(_ hop: Hop) {
    for effect in hop.effects {
      // ``LossReview`` reports losses.
      guard effect.kind.severity != .loss else { continue }
      let property = effect.properties.isEmpty ? nil : effect.properties.joined(separator: ", ")
      let mistake = mappings.mistake(inDecisionAbout: effect, from: hop.source, to: hop.destination)
      let words = effect.description + (mistake.map { " \($0)" } ?? "")
      guard effect.kind.severity == .blocker else {
        add(.dataHazard, .warning, entity: effect.entity, property: property, words)
        continue
      }
      guard effect.stopsEveryObject else {
        add(.dataHazard, .warning, entity: effect.entity, property: property, "\(words) \(Self.untilThen)")
        continue
      }
      add(
        .dataHazard, .error, entity: effect.entity, property: property,
        "\(words) Until then every object stops the migration.", remedy: advice(on: effect))
    }
  }

  private static let untilThen = "Until then such objects stop the migration of a user's store."

  private mutating func tellRefusals(of plan: MigrationPlan) {
    for blocker in refusals.flatMap(\.blockers) {
      let isTold = findings.contains {
        $0.rule == .dataHazard && $0.entity == blocker.entity && $0.problem.hasPrefix(blocker.reason)
      }
      guard !isTold else { continue }
      add(
        .dataHazard, .warning, entity: blocker.entity, property: blocker.property, "\(blocker.reason) \(Self.untilThen)"
      )
    }
    let stopped = refusals.filter { refusal in
      refusal.blockers.contains { blocker in
        let objects = refusal.destination.entityTree(from: blocker.entity).reduce(Int64(0)) { sum, entity in
          sum + (refusal.rows.first { $0.entity == entity.name }?.before ?? 0)
        }
        // One or two objects don't prove that all are blocked; of equal objects, one stays.
        return objects > 2 && blocker.rows >= objects - (blocker.choices.contains(.newest) ? 1 : 0)
      }
    }
    for refusal in stopped { tellStop(by: refusal) }
  }

  /// Reports a step that every sample object of an entity blocks.
  private mutating func tellStop(by plan: MigrationPlan) {
    result = .notTried
    let isLast = plan.destination.versionHashes() == history.currentHashes
    let step = isLast ? "\"\(history.currentName)\"" : "a version on the way"
    add(
      .notTried, .error,
      "\(way): the step to \(step) was not tried, since sample rows don't fit.",
      remedy: "If the app decides what becomes of such rows, its own tests have to try it: say so with --by-app"
        + " \(versionOfStep { $1.versionHashes() == plan.destination.versionHashes() && $0.versionHashes() != $1.versionHashes() })."
        + decided(by: plan.blockers.compactMap { $0.mendingOption(in: plan) }))
  }

  private func advice(on effect: DataEffect) -> String {
    let step = "--by-app \(versionOfStep { $1.has(effect) && !$0.has(effect) })"
    if case .duplicate = effect.kind {
      // Every choice about equal objects would keep only one of them.
      return
        "All are equal there: take the default or the constraint out of the model, or give each object a value in a"
        + " mapping; if the app's code decides, \(step) says so."
    }
    guard let decision = DecisionArgument.example(for: effect, in: history) else {
      return "If the app's code decides, \(step) says so."
    }
    // Decisions are recorded in the lock.
    guard history.lock != nil else {
      return "A history with a lock.json can decide it for app and tool (\(DecisionArgument.option)); if the app's code"
        + " decides, \(step) says so."
    }
    return
      "heirloom check \(shellWord(path)) \(DecisionArgument.option) \(shellWord(decision.description)) decides it for"
      + " app and tool; if the app's code decides, \(step) says so."
  }

  private func decided(by options: [String]) -> String {
    guard history.lock != nil, !options.isEmpty else { return "" }
    return " Or heirloom check \(shellWord(path)) \(options.joined(separator: " ")) decides it for app and tool."
  }

  private func versionOfStep(where isMet: (ManagedObjectModel, ManagedObjectModel) -> Bool) -> String {
    let names = history.versionNames.drop { $0 != version.name }
    let step = zip(names, names.dropFirst()).first { source, destination in
      guard let before = try? history.model(named: source), let after = try? history.model(named: destination) else {
        return false
      }
      return isMet(before, after)
    }
    return shellWord(step?.0 ?? version.name)
  }

  private mutating func tell(_ error: any Error) throws {
    result = .failed
    switch error {
    case MigrationAssistantError.belowFloor: result = .refused
    case MigrationAssistantError.mappingNeeded(_, let obstacles, _):
      for obstacle in obstacles {
        add(
          .mappingNeeded, .error, entity: obstacle.entity, property: obstacle.property,
          "\(way): \(obstacle.description)",
          remedy: "Give the mapping model with --mapping; if the app's code makes the mapping, say so with --by-app"
            + " \(versionOfStep { MappingInference(from: $0, to: $1).obstacles.contains(obstacle) })."
            + decided(by: [obstacle.optionText].compactMap(\.self)))
      }
    case MigrationAssistantError.decisionNeeded(_, let plan): tellStop(by: plan)
    case MigrationAssistantError.failed(_, .unknownPolicies(let names, _)):
      result = .notTried
      add(
        .policyNeeded, .error,
        "\(way): the mapping names \(names.count == 1 ? "the policy" : "the policies") \(listText(names)), app code that"
          + " this tool doesn't have. No store of \"\(version.name)\" was migrated.",
        remedy: "The app's own tests can, with HeirloomTesting: say so with --by-app"
          + " \(versionOfStep { source, destination in mappings.name(names, from: source, to: destination) })."
      )
    case MigrationAssistantError.failed(_, .cancelled), MigrationAssistantError.notEnoughSpace: throw error
    default:
      let failure = CommandFailure(error)
      add(.migrationFailed, .error, "\(way): \(failure.message)")
    }
  }
}

extension DataEffect {
  /// Values are missing, in all rows or in some, because the property is new.
  fileprivate var hasNewProperty: Bool { kind == .missingValue && rows.contains { $0.properties.contains(nil) } }
}

extension ManagedObjectModel {
  /// True if the model has the cause: the required property, the constraint or the abstract entity.
  fileprivate func has(_ effect: DataEffect) -> Bool {
    guard let entity = entity(named: effect.entity) else { return false }
    guard let name = effect.properties.first else { return entity.isAbstract }
    if case .duplicate = effect.kind {
      return entity.uniquenessConstraints.contains { Set($0) == Set(effect.properties) }
    }
    if let relationship = entity.relationships.first(where: { $0.name == name }) { return !relationship.isOptional }
    return attributeTarget(name, of: entity.name).map { !$0.isOptional } ?? false
  }
}
