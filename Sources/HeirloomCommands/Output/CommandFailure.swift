import Foundation
import Heirloom

/// Why a command did not do what it was asked to, for a person and for a program.
struct CommandFailure: Error {
  /// What the tool's exit tells.
  var exitCode: ExitCode
  /// A stable code.
  var code: String
  /// The code of the same failure in Core Data's domain, if there is one.
  var coreDataCode: Int?
  /// What was found and what was expected, where.
  var message: String
  /// What to do.
  var suggestion: String?
  /// The store that still holds the data, if the command was about one.
  var storeAt: String?
  /// What a person reads instead of message and suggestion where there is a list of things to tell.
  var list: (headline: String, items: [String])?
  /// Swift source to start from, where the app has to say what could not be inferred.
  var skeleton: String?

  /// The failure as the value of the key `error`.
  var output: OutputValue {
    var members: OutputMembers = [
      ("code", .text(code)),
      ("coreDataCode", .optional(coreDataCode.map(Int64.init))),
      ("message", .text(message)),
      ("suggestion", .optional(suggestion)),
      ("storeAt", .optional(storeAt)),
    ]
    if let skeleton { members.append("skeleton", .text(skeleton)) }
    return .object(members)
  }

  /// The lines for standard error.
  func lines(_ style: TextStyle) -> [String] {
    let name = style.red("heirloom:")
    if let list {
      let hint = skeleton.map { _ in
        "  Swift source to start from: heirloom compare \(storeAt.map(shellWord) ?? "STORE") MODEL --skeleton"
      }
      return ["\(name) \(list.headline)"] + list.items.map { "  – \($0)" } + (hint.map { [$0] } ?? [])
    }
    return ["\(name) \(message)"] + (suggestion.map { ["  " + $0] } ?? [])
  }

  /// The same failure about a store, if it says nothing of one itself.
  func aboutStore(at path: String?) -> CommandFailure {
    // Where nothing is, nothing holds the data.
    guard code != Self.missingCode else { return self }
    var failure = self
    failure.storeAt = storeAt ?? path
    return failure
  }

  /// The code of a failure to find anything at a path.
  static let missingCode = "missing"
}

extension CommandFailure {
  /// Says in the tool's words what went wrong.
  init(_ error: any Error) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as UsageError:
      self.init(
        exitCode: .usage, code: "usage", coreDataCode: nil, message: error.description, suggestion: error.suggestion)
    case let error as StoreListError:
      self.init(
        exitCode: .usage, code: "usage", message: error.description,
        suggestion: "Nothing was begun. heirloom help migrate says how stores are listed.")
    case let error as MigrationAssistantError: self.init(error)
    case let error as StoreError: self.init(.unreadableStore(error))
    case let error as SQLiteError:
      self.init(exitCode: .failed, code: "failed", coreDataCode: nil, message: error.description)
    case let error as ModelReadingError:
      self.init(
        exitCode: .failed, code: "unreadableModel", coreDataCode: error.coreDataCode, message: error.description,
        suggestion: error.recoverySuggestion)
    case MigrationError.cancelled:
      self = .cancelled(storeAt: nil)
      message = "Cancelled: the store is whole, and a further run goes on."
    case let error as MigrationError:
      self.init(exitCode: .failed, code: "failed", coreDataCode: error.coreDataCode, message: error.description)
      notePolicies(of: error)
    case let error as MappingReadingError:
      self.init(
        exitCode: .failed, code: "unreadableMapping", coreDataCode: error.coreDataCode, message: error.description,
        suggestion: error.recoverySuggestion)
      if case .unfit(let source, let destination, let mismatches) = error.problem {
        exitCode = .decisionNeeded
        code = "mappingMismatch"
        list = (
          "\(error.path ?? "The mapping model") is for the versions \"\(source)\" and \"\(destination)\" but doesn't fit them:",
          mismatches.map(\.description)
        )
      }
    case let error as DeferredMigrationError:
      self.init(
        exitCode: error.problem == .inUse ? .storeInUse : .failed,
        code: error.problem == .inUse ? "storeInUse" : "cleanUpFailed", coreDataCode: error.coreDataCode,
        message: error.description, suggestion: error.recoverySuggestion, storeAt: error.path)
    case let error as ManagedObjectError:
      self.init(exitCode: .failed, code: "failed", coreDataCode: nil, message: "\(error)")
    case let error as VaultError:
      self.init(
        exitCode: .failed, code: "unfitLocation", coreDataCode: nil, message: sentence("\(error)"),
        suggestion: error.suggestion)
    case let error as FileError:
      self.init(exitCode: .failed, code: "unfitLocation", coreDataCode: nil, message: sentence("\(error)"))
    default:
      self.init(exitCode: .failed, code: "failed", coreDataCode: nil, message: sentence("\(error)"))
    }
  }

  private init(_ error: MigrationAssistantError) {
    self.init(
      exitCode: .failed, code: error.code, coreDataCode: error.coreDataCode, message: error.description,
      suggestion: error.recoverySuggestion, storeAt: error.storePath)
    switch error {
    case .unreadableStore(let problem) where problem.problem == .inUse:
      exitCode = .storeInUse
      code = "storeInUse"
      // Core Data's code for a store that another coordinator holds.
      coreDataCode = 134_090
    case .unreadableStore(let problem) where problem.problem == .missing:
      code = Self.missingCode
      suggestion = "Check the path; nothing was created."
      storeAt = nil
    case .storeInUse: exitCode = .storeInUse
    case .noModel, .unknownVersion, .newerVersion: exitCode = .unknownVersion
    case .mappingNeeded, .decisionNeeded: exitCode = .decisionNeeded
    case .outcomeUnknown: exitCode = .outcomeUnknown
    case .failed(_, .cancelled):
      let failure = Self.cancelled(storeAt: error.storePath)
      (exitCode, message, suggestion) = (failure.exitCode, failure.message, nil)
    case .failed(_, .unfitDecision): exitCode = .decisionNeeded
    default: exitCode = .failed
    }
    switch error {
    case .mappingNeeded(let path, let obstacles, let source):
      skeleton = source?.source
      let count = counted(Int64(obstacles.count), "thing")
      list = (
        "No mapping can be inferred for the store \(path), which was not changed; \(count) to settle:",
        obstacles.map(\.description)
      )
    case .decisionNeeded(let path, let plan):
      list = (
        "Rows of the store \(path), which was not changed, don't fit the new model:",
        plan.blockers.map { "\(counted($0.rows, "row")): \($0.reason)\n    \($0.optionText)" }
      )
    case .noModel:
      suggestion = "\(error.storePath) was not changed. Give the model that made it with --model."
    case .newerVersion(let store):
      suggestion =
        (store.retainedVersion.map {
          "\(error.storePath) was not changed. The retained version \($0.id) fits: heirloom restore"
            + " \(shellWord(error.storePath)) --version \($0.id) brings it back, or use the newer app."
        } ?? "\(error.storePath) was not changed. Use the newer app.")
        + " To go back to this model all the same, give --accept-losses."
    case .failed(_, let problem): notePolicies(of: problem)
    default: break
    }
  }

  /// Says what a mapping with policies needs, if that is what is missing.
  private mutating func notePolicies(of error: MigrationError) {
    guard case .unknownPolicies(let names, _) = error else { return }
    exitCode = .decisionNeeded
    code = "policyNeeded"
    suggestion =
      "Nothing was changed. \(names.count == 1 ? "The policy is" : "The policies are") code of the app: \(listText(names))."
      + " Migrate with the app, which registers them with MigrationAssistant."
  }
}

extension ModelReadingError {
  /// The code that Foundation or Core Data gives a like failure.
  fileprivate var coreDataCode: Int? {
    switch problem {
    case .missing: 260
    case .unreadable: 257
    case .notModel, .tooLarge: 259
    case .malformed, .unsupportedSnapshotFormat: 134_010
    case .inconsistent, .hashMismatch: 134_020
    }
  }
}

extension MappingReadingError {
  /// The code that Foundation or Core Data gives a like failure.
  fileprivate var coreDataCode: Int? {
    switch problem {
    case .missing: 260
    case .unreadable: 257
    case .notMappingModel, .tooLarge, .malformed: 259
    case .unfit: 134_140
    }
  }
}
