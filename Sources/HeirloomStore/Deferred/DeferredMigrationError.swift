public import HeirloomFormats
import HeirloomModel

/// The reason why a deferred migration's clean-up can't be finished; the store is nevertheless complete and valid.
public struct DeferredMigrationError: Error, Sendable {
  /// The store's file.
  public let path: String
  /// The remaining clean-up; work done before the failure stays done.
  public let pending: DeferredMigration
  /// The problem that stopped the clean-up.
  public let problem: Problem

  package init(path: String, pending: DeferredMigration, problem: Problem) {
    self.path = path
    self.pending = pending
    self.problem = problem
  }

  /// A problem that stops a clean-up.
  @nonexhaustive
  public enum Problem: Hashable, Sendable {
    /// Another connection writes to the store, or this one is reading or saving.
    case inUse
    /// The store is open for reading only, or is a view over a migration's connection.
    case readOnly
    /// The metadata report remaining work without listing it: something other than Heirloom deferred it.
    case unlisted
    /// The store was migrated to another version since it was opened.
    case otherVersion
    /// An index or trigger of the app uses a column that is to be removed.
    case usedByApp(object: String, column: String)
    /// The store can't be read or written.
    case store(StoreError)
  }

  /// The Core Data error code for a similar failure.
  public var coreDataCode: Int? {
    switch problem {
    case .inUse: 134_080
    case .readOnly: 513
    case .unlisted, .usedByApp: 134_110
    case .otherVersion: 134_100
    case .store(let error): error.coreDataCode ?? 134_110
    }
  }
}

extension DeferredMigrationError: ExplainedError {
  /// The problem that stopped the clean-up, and the store's path.
  public var cause: String {
    switch problem {
    case .inUse: "The clean-up of \(path) can't go on: another connection or an unfinished read holds the store."
    case .readOnly: "The clean-up of \(path) can't be done: the store is open for reading only."
    case .unlisted:
      "The metadata of \(path) record clean-up of a deferred migration without listing it; Heirloom did not defer it."
    case .otherVersion: "The store \(path) has another version than when it was opened; expected the same."
    case .usedByApp(let object, let column):
      "The column \(column) of \(path) can't be removed: \"\(object)\" of the app uses it."
    case .store(let error): error.cause
    }
  }

  /// Where the data is, how to let the clean-up continue, and what remains to be done.
  public var help: ErrorHelp {
    let left = pending.isEmpty ? "" : " Still to be cleaned up: \(pending.items.joined(separator: ", "))."
    let advice =
      switch problem {
      case .inUse: "Try again when nothing else reads or writes."
      case .readOnly: "Open the store for writing."
      case .unlisted: "Let Core Data finish the clean-up that it deferred; the store is complete until then."
      case .otherVersion: "Open it again with the current model."
      case .usedByApp(let object, _): "Drop \"\(object)\" and try again, or leave it as it is."
      case .store(let error): error.advice
      }
    return ErrorHelp(
      .described("All data are in \(path), which is complete without the clean-up."), advice + left,
      (underlyingError as? StoreError)?.remedies ?? [])
  }

  /// The same as `path`.
  public var filePath: String? { path }

  /// The store's error.
  public var underlyingError: (any Error)? {
    guard case .store(let error) = problem else { return nil }
    return error
  }
}
