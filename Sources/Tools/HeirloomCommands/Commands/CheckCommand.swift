import Foundation
import Heirloom
import HeirloomOutput
import HeirloomSwiftSource

extension Command {
  static let check = Command(
    name: "check",
    summary: "every shipped version, migrated to the current one; for CI",
    details: [
      "DIRECTORY holds a model bundle, its snapshots and lock.json, or some of these; it may be the bundle itself, or Swift source. What was shipped"
        + " must be as lock.json says. For each earlier version a store is made in a temporary folder, with sample objects of all"
        + " types, values at their edges and deep links; it is migrated and proven, and must keep its content.",
      "Content of a model's XML that was not read, such as a misspelt attribute, is an error with its file and line. A warning asks about"
        + " what seems to be a rename, with the renaming identifier to write, and names renaming identifiers that match nothing.",
      "Anything that a step from one version to the next would lose (values of an attribute, links of a relationship, objects of an entity)"
        + " is an error until --acknowledge says that the loss is intended: that is written into the lock for those two versions, where app"
        + " and tool read it.",
      "A step at which every object of an entity would stop (a new required attribute without a default) is an error until --decide"
        + " says what becomes of the objects: that is written into the lock, where app and tool read it.",
      "A problem that depends on rows (a required attribute, a new uniqueness constraint, a narrower type) is a warning."
        + " So is a path over a step that the app's code migrates: --by-app VERSION says so for the step from that version to the next,"
        + " and writes it into the lock. Any other path that could not be tried is an error, and so is a version before the current one that lock.json lacks. Stores of a version before the lock's floor must be refused. The exit code is 6"
        + " when there is an error; warnings and notes leave it at 0.",
      "In a workflow of GitHub (GITHUB_ACTIONS is true) errors and warnings are printed as annotations too; --annotations none"
        + " leaves them out.",
    ],
    options: [
      .mapping, .exclude,
      Option(
        name: "--store", value: "STORE", isRepeatable: true,
        summary: "a store of a release, kept as a fixture: it must be of one of the versions"),
      Option(
        name: "--by-app", value: "VERSION", isRepeatable: true,
        summary: "the app's own code migrates the step from this version to the next: note that in the lock"),
      Option(
        name: DecisionArgument.option, value: DecisionArgument.valueName, isRepeatable: true,
        summary: "what becomes of rows that don't fit a version: note that in the lock for each step that has such rows"
      ),
      Option(
        name: "--acknowledge", value: "ENTITY[.PROPERTY]", isRepeatable: true,
        summary: "losing it is intended: note that in the lock for each step that loses it"),
      Option(
        name: "--unacknowledge", value: "ENTITY[.PROPERTY]", isRepeatable: true,
        summary: "take the acknowledgement of a loss out of the lock again, of each step"),
      Option(
        name: "--cloudkit",
        summary: "check the versions against CloudKit's rules too: only what can be mirrored, and only additions"),
      Option(
        name: "--cloudkit-configuration", value: "NAME",
        summary: "the same for the entities of this configuration alone"),
      Option(name: "--seed", value: "N", summary: "another number gives other sample objects (1)"),
      Option(name: "--objects", value: "N", summary: "how many objects each entity gets (12)"),
      Option(
        name: "--annotations", value: "WHERE", choices: ["github", "none"],
        summary: "whether to print annotations for a workflow of GitHub"),
    ],
    example: "heirloom check Snapshots/Journal", positionals: ["DIRECTORY"], requiredCount: 1, run: CheckCommand.run)
}

struct CheckCommand {
  private struct Trial {
    let version: CheckedHistory.Version
    var result = MigrationTrial.Result.notTried
    var objects = 0
    var seconds = 0.0
    /// Consented ones included.
    var losses: [MigrationLoss] = []
  }

  private let path: String
  private let console: Console
  private var findings: [HistoryFinding] = []
  private var trials: [Trial] = []

  static func run(_ arguments: Arguments, _ console: Console) throws -> CommandReport {
    let seed = try number(arguments, "--seed", 0...Int.max, "a whole number from 0") ?? 1
    let objects = try number(arguments, "--objects", 1...100_000, "a number from 1 to 100000") ?? 12
    let annotations = try annotates(arguments, console)
    var check = try CheckCommand(path: console.path(arguments.positionals[0]), console: console)
    let swift = try Console.SwiftSource(check.path).map(console.read)
    let source = try swift.map { swift throws(ModelReadingError) in try SwiftCheck(swift) }
    var history = try CheckedHistory(
      at: check.path, swift: swift, console: console, acceptsUndecided: source?.hasSchemas == true)
    check.findings = (source?.findings ?? []) + history.faults + HistoryRules(history).findings
    let fixtures = try FixtureCheck(
      arguments.all("--store").map(console.path),
      list: history.list ?? (try? console.versions(at: check.path, swift: swift)))
    check.findings += fixtures.findings
    let configuration = arguments.value("--cloudkit-configuration")
    if let name = configuration,
      !history.versions.contains(where: { $0.model.configurations.contains { $0.name == name } })
    {
      throw UsageError.invalidValue(
        option: "--cloudkit-configuration", value: name, expected: "a configuration of the models")
    }
    if configuration != nil || arguments.has("--cloudkit") {
      check.findings += CloudKitRules(history, configuration: configuration).findings
    }
    let given = try DecisionArgument.all(in: arguments)
    let apps = try history.versionsByCode(arguments.all("--by-app"))
    if let known = history.history {
      let decided = try given.map { argument throws(UsageError) in try argument.decision(in: known) }
      let mappings = try GivenMappings(
        arguments.all("--mapping").map(console.path), history: known, deciding: decided, console: console)
      let decisions = try history.decisions(decided, mappings: mappings)
      try check.review(&history, known, mappings, byApp: apps, arguments)
      // Entries are written only once the whole command line is known to be valid.
      check.findings += try history.leaveToCode(arguments.all("--by-app"))
      try history.decide(decisions)
      try check.tryVersions(
        history, history.history ?? known, mappings: mappings, byApp: apps, objects: objects,
        seed: UInt64(clamping: seed))
    }
    check.tellUntried(history)
    check.findings = check.findings.unsuperseded
    return check.report(history, fixtures, annotations: annotations, asJSON: arguments.has("--json"))
  }

  private init(path: String, console: Console) {
    self.path = path
    self.console = console
  }

  private static func number(
    _ arguments: Arguments, _ option: String, _ range: ClosedRange<Int>, _ expected: String
  ) throws(UsageError) -> Int? {
    guard let text = arguments.value(option) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw .invalidValue(option: option, value: text, expected: expected)
    }
    return number
  }

  private static func annotates(_ arguments: Arguments, _ console: Console) throws(UsageError) -> Bool {
    switch arguments.value("--annotations") {
    case "github": return true
    case "none": return false
    // GitHub sets it for each step:
    // https://docs.github.com/en/actions/reference/workflows-and-actions/variables
    case nil: return console.environment["GITHUB_ACTIONS"] == "true"
    case let other?:
      throw .invalidValue(option: "--annotations", value: other, expected: "github or none")
    }
  }

  // MARK: - Losses

  /// Also writes to the lock what `--acknowledge` and `--unacknowledge` say.
  private mutating func review(
    _ history: inout CheckedHistory, _ known: ModelHistory, _ mappings: GivenMappings, byApp: Set<String>,
    _ arguments: Arguments
  ) throws {
    let names = arguments.all("--acknowledge")
    func review() -> LossReview {
      LossReview(
        of: Array(history.migratedVersions), acknowledged: history.acknowledgements, mappings: mappings, byApp: byApp,
        models: Set((history.versions + history.outsiders).map(\.name)))
    }
    var result = review()
    let losses = result.losses + result.impliedLosses
    for name in names where !losses.contains(where: { $0.name == name }) {
      let open = Set(losses.filter { !$0.isAcknowledged }.map(\.name)).ordered()
      throw UsageError.invalidValue(
        option: "--acknowledge", value: name,
        expected: open.isEmpty ? "nothing: no loss is left to acknowledge" : "one of \(listText(open))")
    }
    let others = arguments.all("--unacknowledge")
    if !others.isEmpty {
      try history.unacknowledge(others, first: result.needless)
      result = review()
    }
    let meant = losses.filter { names.contains($0.name) && !$0.isAcknowledged }
    if !meant.isEmpty {
      try history.acknowledge(meant)
      result = review()
    }
    findings += result.findings(path: path, lockAdvice: history.lock == nil ? history.lockAdvice : nil)
  }

  // MARK: - Trying

  private mutating func tryVersions(
    _ history: CheckedHistory, _ known: ModelHistory, mappings: GivenMappings, byApp: Set<String>, objects: Int,
    seed: UInt64
  ) throws {
    guard let position = history.versions.firstIndex(where: { $0.name == known.currentName }) else { return }
    for version in history.outsiders {
      trials.append(Trial(version: version))
      findings.append(
        HistoryFinding(
          .notTried, .note, version: version.name, file: version.file, line: version.line,
          "\"\(version.name)\" is in no plan: stores of it are known, and none was migrated."))
    }
    let uncertain = history.namesBeforeDoubt
    for (place, version) in history.versions[..<position].enumerated() {
      if console.interruption.isInterrupted {
        throw MigrationAssistantError.failed(storePath: path, .cancelled)
      }
      if uncertain.contains(version.name) {
        trials.append(Trial(version: version))
        findings.append(
          HistoryFinding(
            .notTried, .warning, version: version.name, file: version.file, line: version.line,
            "\"\(version.name)\" → \"\(known.currentName)\": a version between them isn't certain. No store of"
              + " \"\(version.name)\" was migrated."))
        continue
      }
      // A store below the floor is refused even if app code migrates the step.
      let code = (place..<position).first { byApp.contains(history.versions[$0].name) }
      if let code, !history.namesBelowFloor.contains(version.name) {
        let step = "\"\(history.versions[code].name)\" → \"\(history.versions[code + 1].name)\""
        trials.append(Trial(version: version))
        findings.append(
          HistoryFinding(
            .notTried, .warning, version: version.name, file: version.file,
            "\"\(version.name)\" → \"\(known.currentName)\": the step \(step) is left to the app's own code."
              + " No store of \"\(version.name)\" was migrated.",
            remedy: "The app's own tests can, with HeirloomTesting."))
        warn(of: version, before: history.versions[place + 1], isByApp: code == place, mappings)
        continue
      }
      var trial = MigrationTrial(
        of: version, over: history.versions[(place + 1)...position], to: known, at: path, mappings: mappings,
        console: console)
      try trial.run(objectsPerEntity: objects, seed: seed)
      findings += trial.findings
      trials.append(
        Trial(
          version: version, result: trial.result, objects: trial.objects, seconds: trial.seconds, losses: trial.losses))
    }
    for version in history.versions[(position + 1)...] {
      trials.append(Trial(version: version))
      // A shipped version after the current one has a finding of its own.
      guard !version.isShipped || !history.versions[position].isShipped else { continue }
      findings.append(
        HistoryFinding(
          .notTried, .warning, version: version.name, file: version.file,
          "\"\(version.name)\" comes after the current version \"\(known.currentName)\": to the assistant its stores"
            + " are newer than the app. None was migrated."))
    }
    guard !mappings.isEmpty else { return }
    for (path, note) in mappings.unused(by: history.versions[..<position].map { ($0.name, $0.model) }, in: known) {
      findings.append(HistoryFinding(.mappingUnused, .warning, file: path, sentence(note)))
    }
  }

  private mutating func warn(
    of version: CheckedHistory.Version, before next: CheckedHistory.Version, isByApp: Bool, _ mappings: GivenMappings
  ) {
    let hops = (try? LossReview.path(through: [version, next], mappings))?.hops ?? []
    let open = hops.flatMap { mappings.openEffects(of: $0.mapping, from: $0.source, to: $0.destination) }
    for effect in open where effect.kind.severity == .blocker {
      findings.append(
        HistoryFinding(
          .dataHazard, .warning, version: version.name, entity: effect.entity,
          property: effect.properties.isEmpty ? nil : effect.properties.joined(separator: ", "), file: version.file,
          "\(effect.description) Such objects stop the migration of a user's store"
            + (isByApp ? ", unless the app's code corrects them." : ".")))
    }
  }

  private mutating func tellUntried(_ history: CheckedHistory) {
    let name = history.currentName
    guard history.history == nil,
      let current = history.faults.first(where: { $0.rule == .uncertainVersion && $0.version == name })
    else { return }
    trials = history.versions.map { Trial(version: $0) }
    findings.append(
      HistoryFinding(
        .notTried, .warning, version: name, file: current.file, line: current.line,
        "The current version \"\(name)\" isn't certain: no store was migrated to it, and no loss is known."))
  }

  // MARK: - Telling

  /// Errors first; a finding that several versions share appears once.
  private var merged: [HistoryFinding] {
    var result: [HistoryFinding] = []
    var places: [[String]: Int] = [:]
    var versions: [Int: [String]] = [:]
    for finding in findings {
      let key = [finding.rule.rawValue, finding.entity ?? "", finding.property ?? "", finding.message]
      if finding.rule == .dataHazard, let place = places[key] {
        versions[place, default: []].append(finding.version ?? "")
      } else {
        places[key] = result.count
        versions[result.count] = [finding.version ?? ""]
        result.append(finding)
      }
    }
    for index in result.indices where result[index].rule == .dataHazard {
      let names = (versions[index] ?? []).map { "\"\($0)\"" }
      let finding = result[index]
      result[index] = HistoryFinding(
        finding.rule, finding.severity, version: finding.version, entity: finding.entity,
        property: finding.property, file: finding.file, "From \(listText(names)): \(finding.problem)",
        remedy: finding.remedy)
    }
    return HistoryFinding.Severity.allCases.flatMap { severity in result.filter { $0.severity == severity } }
  }

  private static func words(_ losses: [MigrationLoss]) -> String {
    listText(losses.map { "\($0.name) (\($0.amount))" }, limit: 4)
  }

  private func report(
    _ history: CheckedHistory, _ fixtures: FixtureCheck, annotations: Bool, asJSON: Bool
  ) -> CommandReport {
    let style = console.style
    let merged = merged
    let counts = HistoryFinding.Severity.allCases.map { severity in
      (severity, Int64(merged.count { $0.severity == severity }))
    }
    let words = counts.filter { $0.1 > 0 }.map { counted($0.1, $0.0.rawValue) }
    let countWords = words.isEmpty ? "no findings" : words.joined(separator: ", ")
    let current = history.currentName.isEmpty ? "" : ", the current one is \"\(history.currentName)\""
    var lines = [
      "\(style.bold(path)): \(counted(Int64(history.versions.count), "version"))\(current); \(countWords)."
    ]
    let width = trials.map(\.version.name.count).max() ?? 0
    for trial in trials {
      let name = trial.version.name.padding(toLength: width, withPad: " ", startingAt: 0)
      let ending =
        switch trial.result {
        case .kept:
          (trial.losses.isEmpty ? style.green("kept") : style.yellow("lost \(Self.words(trial.losses))"))
            + "  \(counted(Int64(trial.objects), "object")), \(durationText(trial.seconds))"
        case .failed: style.red("failed")
        case .refused: "refused: before the floor"
        case .notTried: style.yellow("not tried")
        }
      lines.append("  \(name)  \(ending)")
    }
    for store in fixtures.stores where !store.versions.isEmpty {
      lines.append("  \(store.path) is of \(listText(store.versions.map { "\"\($0)\"" }))")
    }
    lines += merged.map { $0.line(style) }
    let commands = annotations ? merged.compactMap { WorkflowAnnotation($0, console: console)?.line } : []
    // With JSON on standard output, the workflow reads its commands from standard error.
    if asJSON { for command in commands { console.writeError(command + "\n") } }
    let versions = trials.map { trial in
      OutputValue.object([
        ("name", .text(trial.version.name)), ("checksum", .text(trial.version.model.versionChecksum())),
        ("result", .text(trial.result.rawValue)), ("objects", .integer(Int64(trial.objects))),
        ("seconds", .number(trial.seconds)),
        (
          "losses",
          .list(
            trial.losses.map {
              .object([("name", .text($0.name)), ("rows", .integer($0.rows)), ("links", .optional($0.links))])
            })
        ),
      ])
    }
    var failure: CommandFailure?
    if merged.contains(where: { $0.severity == .error }) {
      failure = CommandFailure(
        exitCode: .findings, code: "findings", coreDataCode: nil, message: "The history \(path) has \(countWords).",
        suggestion: "Each finding says what it means and what to do.")
    }
    return CommandReport(
      lines: lines, workflowCommands: asJSON ? [] : commands,
      members: [
        ("findings", .list(merged.map(\.output))), ("current", .text(history.currentName)),
        ("versions", .list(versions)),
        (
          "stores",
          .list(fixtures.stores.map { .object([("path", .text($0.path)), ("versions", .texts($0.versions))]) })
        ),
      ], failure: failure, printsFailure: false)
  }
}
