public import Foundation
import HeirloomFormats
import HeirloomMigration
import HeirloomModel
import HeirloomVault

extension MigrationAssistantError: CustomStringConvertible {
  /// One sentence: what was found and what was expected.
  public var description: String { PlainText.line(rawDescription) }

  private var rawDescription: String {
    switch self {
    case .unreadableStore(let error):
      return error.description
    case .noModel(let path, let nearest):
      let near = nearest.first.map { version in
        "; the nearest known version is \"\(version.name)\", with"
          + " \(CountText.counted(version.differingEntities.count, "entity")) that"
          + " \(version.differingEntities.count == 1 ? "differs" : "differ") (\(Self.list(version.differingEntities)))"
      }
      return
        "No known model made the store \(path): its version hashes fit neither the snapshot beside it, nor a version"
        + " of the history, nor a model of its own\(near ?? "")."
    case .unknownVersion(let path, let plan):
      return "The store \(path) is of a version that is not in the history, it may come from a newer app, and it would"
        + " lose something: \(Self.list(plan.allLosses.map(Self.words)))."
    case .newerVersion(let store):
      let version = store.versionName.map { "the version \"\($0)\"" } ?? "a version that is not in the history"
      return "The store \(store.storePath) is of \(version), which comes after the current one; nothing was written."
    case .mappingNeeded(let path, [], _):
      return "No mapping model was given for the store \(path), and none may be inferred."
    case .mappingNeeded(let path, let obstacles, _):
      return "No mapping can be inferred for the store \(path): "
        + obstacles.map { ErrorWords.clause($0.reason) }.joined(separator: "; ") + "."
    case .decisionNeeded(let path, let plan):
      return "Rows of the store \(path) don't fit the new model: "
        + plan.blockers.map { "\(CountText.counted($0.rows, "row")): \(ErrorWords.clause($0.reason))" }
        .joined(separator: "; ") + "."
    case .lossesNotConsented(let path, let plan):
      return "The store \(path) would lose something that nobody consented to:"
        + " \(Self.list(plan.unconsentedLosses.map(Self.words)))."
    case .refused(let path, _):
      return "The app refused the migration of the store \(path)."
    case .storeNotMigrated(let path):
      return "The model was not archived, since the store \(path) is of another version; migrate it first."
    case .storeInUse(let path, let reason):
      return "The store \(path) is in use elsewhere: \(ErrorWords.ended(reason))"
    case .unfitLocation(_, let reason, _, _):
      return ErrorWords.sentence(reason)
    case .notEnoughSpace(let shortage):
      return ErrorWords.sentence(shortage.description)
    case .outcomeUnknown(let path, let reason):
      return "The migrated store \(path) is in place but may not outlast a loss of power: \(ErrorWords.ended(reason))"
    case .failed(_, let error):
      return error.description
    case .noSuchVersion(_, let reason):
      return ErrorWords.sentence(reason)
    }
  }

  private static func words(_ loss: MigrationLoss) -> String {
    "\(CountText.counted(loss.rows, "row")) of \(loss.entity)\(loss.property.map { ".\($0)" } ?? "")"
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
  }
}

extension MigrationAssistantError: LocalizedError {
  /// The same as `description`.
  public var errorDescription: String? { description }

  /// The reason, where `description` doesn't give all of it.
  public var failureReason: String? { rawReason.map { PlainText.line($0) } }

  private var rawReason: String? {
    switch self {
    case .mappingNeeded(_, let obstacles, _) where !obstacles.isEmpty: obstacles.map(\.reason).joined(separator: " ")
    case .decisionNeeded(_, let plan): plan.blockers.map(\.reason).joined(separator: " ")
    case .unknownVersion(_, let plan): plan.allLosses.map(\.reason).joined(separator: " ")
    case .lossesNotConsented(_, let plan): plan.unconsentedLosses.map(\.reason).joined(separator: " ")
    case .storeInUse(_, let reason), .outcomeUnknown(_, let reason): ErrorWords.sentence(reason)
    case .failed(_, .mappingFailed(let failure)): ErrorWords.sentence(of: failure.underlying)
    case .failed(_, .stageFailed(let failure)): ErrorWords.sentence(of: failure.underlying)
    case .failed(_, .appFailed(let error)): ErrorWords.sentence(of: error)
    default: nil
    }
  }

  /// Advice on where the data are and what to do.
  public var recoverySuggestion: String? { rawSuggestion.map { PlainText.line($0) } }

  private var rawSuggestion: String? {
    let unchanged = Self.unchanged(storePath)
    switch self {
    case .unreadableStore(let error):
      return error.recoverySuggestion
    case .noModel:
      return unchanged + " Give the model that made it, from the app's earlier releases."
    case .unknownVersion:
      return unchanged + " If losing this is right, approve the plan; else use the newer app."
    case .newerVersion(let store):
      let offer = store.previousVersion.map {
        " Or restore the previous version \($0.id), which fits the current model."
      }
      return unchanged + " Use the newer app.\(offer ?? "")"
    case .mappingNeeded(_, [], _):
      return unchanged + " Give a mapping model for its version, or let it be inferred."
    case .mappingNeeded(_, let obstacles, let skeleton):
      return unchanged + " " + obstacles.map(\.suggestion).joined(separator: " ")
        + (skeleton == nil ? "" : " The error's skeleton is Swift source to start from.")
    case .decisionNeeded(_, let plan):
      return unchanged + " Decide what becomes of the rows, or give the properties defaults or make them optional;"
        + " possible are: \(Self.choices(plan.blockers))."
    case .lossesNotConsented:
      return unchanged
        + " Give a mapping that keeps it. If losing it is right, consent: approve the plan, accept losses, or"
        + " acknowledge them in the history's lock.json."
    case .refused:
      return unchanged + " Migrate it when the app agrees to the plan."
    case .storeNotMigrated:
      return unchanged + " Call migrateStore() first and archive after it returned."
    case .storeInUse:
      return unchanged + " Close the store in other processes and connections, then try again."
    case .notEnoughSpace:
      return unchanged + " Free some room on its volume, then try again."
    case .unfitLocation(_, _, let advice, _):
      return advice
    case .noSuchVersion:
      return unchanged + " The store's archive lists what is kept of it."
    case .outcomeUnknown:
      return
        "\(storePath) is whole, in the old or the new version, and the previous version is kept beside it. Run again."
    case .failed(_, let error):
      return Self.suggestion(error, unchanged: unchanged)
    }
  }

  /// Returns the sentence that a store still holds all data and was not changed.
  static func unchanged(_ path: String) -> String { "\(path) still holds all data and was not changed." }

  /// Returns the advice of the part that failed, with the store's file named in it.
  private static func suggestion(_ error: MigrationError, unchanged: String) -> String {
    let words = error.recoverySuggestion ?? ""
    let prefix = MigrationError.storeIsKept
    return words.hasPrefix(prefix) ? unchanged + words.dropFirst(prefix.count) : "\(unchanged) \(words)"
  }

  /// Lists the choices that blockers offer.
  private static func choices(_ blockers: [MigrationBlocker]) -> String {
    list(
      blockers.map { blocker in
        "\(blocker.entity)\(blocker.property.map { ".\($0)" } ?? "") ("
          + blocker.choices.map(\.rawValue).joined(separator: ", ") + ")"
      })
  }
}

extension MigrationAssistantError: CustomNSError {
  /// Core Data's domain.
  public static let errorDomain: String = NSCocoaErrorDomain

  /// The code of the same error in Core Data's domain, or that of its general error.
  public var errorCode: Int { coreDataCode ?? ErrorWords.generalCode }

  /// The words, the store's file and the cause.
  public var errorUserInfo: [String: Any] {
    let underlying: (any Error)? =
      switch self {
      case .unreadableStore(let error): error
      case .failed(_, let error): error
      default: nil
      }
    return ErrorWords.userInfo(of: self, path: storePath, underlying: underlying)
  }
}
