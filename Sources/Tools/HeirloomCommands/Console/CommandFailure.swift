import Foundation
import Heirloom
import HeirloomOutput

struct CommandFailure: Error {
  var exitCode: ExitCode
  /// Stable, for JSON.
  var code: String
  /// The code of the same failure in Core Data's error domain, if there is one.
  var coreDataCode: Int?
  /// The finding, the expectation and the place.
  var message: String
  /// Where the data is, and what to do.
  var suggestion: String?
  /// The suggestion refers to them; commands for them are appended to it.
  var remedies: [Remedy] = []
  /// The store that the command was about; in JSON, only if a file is there.
  var storeAt: String?
  /// Replaces message and suggestion in text; an item has one or more lines.
  var list: (headline: String, items: [[String]])?
  /// After the list, one line each.
  var advice: [String] = []
  /// Findings in the rows, for JSON.
  var findings: OutputMembers = []
  /// The migration stopped at it; `nil` if none was made.
  private(set) var plan: MigrationPlan?
  /// Swift source to start from, if a mapping can't be inferred.
  var skeleton: String?

  /// The value of the key `error` in JSON.
  var output: OutputValue {
    var members: OutputMembers = [
      ("code", .text(code)),
      ("coreDataCode", .optional(coreDataCode.map(Int64.init))),
      ("message", .text(message)),
      ("suggestion", .optional(help)),
      ("storeAt", .optional(storeAt.flatMap { PathKind.isFile($0) ? $0 : nil })),
    ]
    if let skeleton { members.append("skeleton", .source(skeleton)) }
    return .object(members)
  }

  func lines(_ style: TextStyle) -> [String] {
    let name = style.red("heirloom:")
    if let list {
      // The list is empty if the command has printed its items already.
      let headline =
        list.items.isEmpty && list.headline.hasSuffix(":")
        ? list.headline.dropLast() + " (listed above)." : list.headline
      return ["\(name) \(headline)"]
        + list.items.flatMap { item in zip(0..., item).map { $0 == 0 ? "  – \($1)" : "    \($1)" } }
        + advice.map { "  \($0)" }
    }
    return ["\(name) \(message)"] + (help.map { ["  " + $0] } ?? [])
  }

  var help: String? {
    let commands = storeAt.map { path in remedies.compactMap { $0.command(for: path) } } ?? []
    let sentences = [suggestion].compactMap(\.self) + commands
    return sentences.isEmpty ? nil : sentences.joined(separator: " ")
  }

  func aboutStore(at path: String?) -> CommandFailure {
    // A missing store holds no data.
    guard code != Self.missingCode else { return path.map(namingKept) ?? self }
    var failure = self
    failure.storeAt = storeAt ?? path
    if let path, code == "unreadableStore", case .folder = PathKind(path) {
      (failure.message, failure.suggestion) = Self.instead(ofFolder: path)
    }
    return failure
  }

  private func namingKept(of path: String) -> CommandFailure {
    guard !FileManager.default.fileExists(atPath: path), !StoreError(path: path, problem: .missing).hasLog else {
      return self
    }
    let versions = (try? StoreArchive(path: path).previousVersions()) ?? []
    guard !versions.isEmpty else { return self }
    let count = Int64(versions.count)
    let words = "The store is missing, but \(counted(count, "version")) of it \(verb("are", count)) kept"
    var failure = self
    failure.suggestion =
      versions.first(where: \.isSound).map {
        "\(words): heirloom restore \(shellWord(path)) --version \($0.id) brings back the newest that can be read whole."
      } ?? "\(words), and none can be read whole: heirloom doctor \(shellWord(path)) names the command that reads them."
    return failure
  }

  mutating func describe(_ kind: FileStart.Kind, at path: String) {
    message = "\(path) isn't an SQLite store. It is \(kind.words)."
    suggestion = kind.command(at: path).map { "\($0) \(kind.action)." } ?? "Nothing was changed."
    remedies = []
  }

  private static func instead(ofFolder path: String) -> (message: String, suggestion: String) {
    let url = URL(fileURLWithPath: path)
    if ["xcdatamodeld", "xcdatamodel", "momd"].contains(url.pathExtension) {
      return (
        "\(path) is a model; give the file of a store, such as Journal.sqlite.",
        "heirloom inspect \(shellWord(path)) shows the model."
      )
    }
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    let stores = names.map { url.appendingPathComponent($0).path }.filter {
      if case .database = PathKind($0) { true } else { false }
    }
    let advice =
      switch stores.count {
      case 0: "a folder without a store; give the file of a store, such as Journal.sqlite"
      case 1: "a folder; give the store in it, \(stores[0])"
      default: "a folder; give one of the stores in it: \(listText(stores, limit: 6))"
      }
    return ("\(path) is \(advice).", "Nothing was changed.")
  }

  static let missingCode = "missing"
}

protocol CommandError: Error {
  var failure: CommandFailure { get }
}

extension CommandFailure {
  /// `advice` has the commands for a refused migration.
  init(_ error: any Error, advice: MigrationAdvice? = nil) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as UsageError:
      self.init(
        exitCode: .usage, code: "usage", coreDataCode: nil, message: error.description, suggestion: error.suggestion)
    case let error as any CommandError: self = error.failure
    case let error as MigrationAssistantError: self.init(error, advice)
    case let error as StoreError: self.init(.unreadableStore(error), nil)
    case let error as ModelReadingError: self.init(anyError: error, code: "unreadableModel")
    case MigrationError.cancelled:
      self = .cancelled(storeAt: nil)
      message = "Cancelled: the store is intact, and another run continues."
    case let error as MigrationError:
      self.init(anyError: error)
      notePolicies(of: error)
    case let error as MappingReadingError:
      self.init(anyError: error, code: "unreadableMapping")
      if case .unfit(let source, let destination, let mismatches) = error.problem {
        exitCode = .decisionNeeded
        code = "mappingMismatch"
        list = (
          "\(error.path ?? "The mapping model") is for the versions \"\(source)\" and \"\(destination)\" but doesn't fit them:",
          mismatches.map { [$0.description] }
        )
      }
    case let error as DeferredMigrationError:
      self.init(anyError: error, code: "cleanUpFailed")
      storeAt = error.path
      if error.problem == .inUse { (exitCode, code) = (.storeInUse, "storeInUse") }
    case is VaultError, is FileError: self.init(anyError: error, code: "unfitLocation")
    default: self.init(anyError: error)
    }
  }

  private init(anyError error: any Error, code: String = "failed") {
    let known = error as NSError
    let hasCode = known.domain == NSCocoaErrorDomain && known.code != ErrorWords.generalCode
    self.init(
      exitCode: .failed, code: code, coreDataCode: hasCode ? known.code : nil,
      message: ErrorWords.sentence(ErrorWords.words(of: error)),
      suggestion: (error as? any LocalizedError)?.recoverySuggestion,
      remedies: (error as? any ExplainedError)?.remedies ?? [])
  }

  private init(_ error: MigrationAssistantError, _ commands: MigrationAdvice?) {
    self.init(
      exitCode: .failed, code: error.code, coreDataCode: error.coreDataCode, message: error.description,
      suggestion: error.recoverySuggestion, remedies: error.remedies, storeAt: error.storePath)
    switch error {
    case .unreadableStore(let problem) where problem.problem == .inUse:
      // Core Data's code for a store that another coordinator holds.
      (exitCode, code, coreDataCode) = (.storeInUse, "storeInUse", 134_090)
    case .unreadableStore(let problem) where problem.problem == .missing:
      code = Self.missingCode
      if !problem.hasLog { storeAt = nil }
    case .unreadableStore(let problem) where problem.problem == .notDatabase:
      if let kind = FileStart(problem.path).kind { describe(kind, at: problem.path) }
    case .storeInUse: exitCode = .storeInUse
    case .outcomeUnknown: exitCode = .outcomeUnknown
    case .noModel:
      exitCode = .unknownVersion
      hint("Here, --model gives it. If none is found, heirloom doctor \(shellWord(error.storePath)) says more.")
    case .unknownVersion(_, let plan, let obstacles):
      exitCode = .unknownVersion
      if let plan { note(plan) } else { findings = [("obstacles", .list(obstacles.map(DifferenceText.output)))] }
      // The plan is what the user asked for, or adds nothing.
      remedies = []
      hint("Here, --accept-version accepts it, and --accept-losses consents to what is lost.")
      if let plan {
        list = (
          "The store \(error.storePath) is of a version that is not in the history. It may come from a newer app, and a"
            + " migration would lose this:", Self.items(of: plan.losses)
        )
        advice = [suggestion].compactMap(\.self)
      }
    case .partsMissing(_, _, _, let plan):
      exitCode = .unknownVersion
      if let plan { note(plan) }
      remedies = []
      hint(
        "Here, --with gives such a model\(plan == nil ? "" : ", and --accept-version with --accept-losses migrates without it")."
      )
    case .newerVersion(let store):
      exitCode = .unknownVersion
      if let version = store.previousVersion {
        hint("heirloom restore \(shellWord(error.storePath)) --version \(version.id) brings it back.")
      }
      hint("To go back to this model all the same, give --accept-version; --accept-losses consents to what is lost.")
    case .belowFloor:
      exitCode = .unknownVersion
      hint("Here, --to names the models of such a release.")
    case .mappingNeeded(let path, let obstacles, let source):
      exitCode = .decisionNeeded
      findings = [("obstacles", .list(obstacles.map(DifferenceText.output)))]
      skeleton = source
      if let command = skeleton.flatMap({ _ in commands?.skeleton(path) }) {
        hint("\(command) prints it.")
        advice = ["Swift source to start from: \(command)"]
      }
      let count = counted(Int64(obstacles.count), "thing")
      list = (
        "No mapping can be inferred for the store \(path), which was not changed; \(count) to resolve:",
        obstacles.map { [$0.description] + [$0.optionText].compactMap(\.self) }
      )
    case .decisionNeeded(let path, let plan):
      exitCode = .decisionNeeded
      note(plan)
      hint("Here, --decide decides: \(listText(plan.blockers.map { $0.optionText(in: plan) })).")
      list = (
        "Rows of the store \(path), which was not changed, don't fit the new model:",
        plan.blockers.map { ["\(counted($0.rows, "row")): \($0.reason)", $0.optionText(in: plan)] }
      )
    case .lossesNotConsented(let path, let plan):
      exitCode = .decisionNeeded
      note(plan)
      askForConsent(to: plan, of: path, commands)
    case .failed(_, .cancelled):
      let failure = Self.cancelled(storeAt: error.storePath)
      (exitCode, message, suggestion) = (failure.exitCode, failure.message, nil)
    case .failed(_, .unfitDecision): exitCode = .decisionNeeded
    case .failed(_, let problem): notePolicies(of: problem)
    default: break
    }
  }

  private static func items(of losses: [MigrationLoss]) -> [[String]] {
    losses.map { ["\(counted($0.rows, $0.unit)) of \($0.name): \($0.reason)"] }
  }

  private mutating func askForConsent(to plan: MigrationPlan, of path: String, _ commands: MigrationAdvice?) {
    let losses = plan.unconsentedLosses
    hint("Here, --mapping gives a mapping, and --accept-losses consents.")
    list = ("The store \(path), which was not changed, would lose this without consent:", Self.items(of: losses))
    if let loss = losses.first(where: \.isOfLog) {
      advice.append(
        "To keep what only the \"\(loss.isOfJournal ? "-journal" : "-wal")\" holds, salvage it first:"
          + " heirloom doctor \(shellWord(path)) names the command.")
    }
    if !losses.allSatisfy(\.isOfLog), let command = commands?.skeleton(path) {
      advice.append("To keep it, give a mapping: \(command) writes one to start from.")
    }
    guard plan.stepsWithoutCode.isEmpty else {
      advice.append(
        "The app's own code migrates the step \(listText(plan.stepsWithoutCode)), as lock.json says: open the store with the"
          + " app. Without that code it is lost: --accept-losses for this store.")
      return
    }
    let meant = "If losing it is intended: --accept-losses for this store"
    let command = commands?.acknowledgement(plan)
    advice.append(command.map { "\(meant), or for all in the history: \($0)." } ?? meant + ".")
  }

  private mutating func note(_ plan: MigrationPlan) {
    self.plan = plan
    findings = PlanText.findingMembers(of: plan) + [("warnings", .texts(plan.warnings))]
  }

  private mutating func hint(_ text: String) {
    suggestion = suggestion.map { "\($0) \(text)" } ?? text
  }

  private mutating func notePolicies(of error: MigrationError) {
    guard case .unknownPolicies = error else { return }
    exitCode = .decisionNeeded
    code = "policyNeeded"
    hint("The tool has no code of an app: migrate with the app.")
  }
}
