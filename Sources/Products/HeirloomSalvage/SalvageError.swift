public import HeirloomFormats
import HeirloomModel

/// The reason why nothing could be salvaged.
///
/// Nothing was changed: all files still exist, and there is no new store.
public struct SalvageError: Error, Hashable, Sendable {
  /// The damaged store.
  public let storePath: String
  /// The problem that was found.
  public let problem: Problem

  /// Creates an error.
  public init(storePath: String, problem: Problem) {
    self.storePath = storePath
    self.problem = problem
  }

  /// A problem that prevents a salvage.
  @nonexhaustive
  public enum Problem: Hashable, Sendable {
    /// There is no file at the path.
    case missing
    /// The path is a folder, a device or another special file.
    case notFile(found: String)
    /// Both the file and its `-wal` are empty.
    case empty
    /// The file has no database pages.
    case notDatabase
    /// No model was given, and neither the store nor the folder beside it has one.
    case noModel
    /// The database has no table of the model.
    case notStore
    /// The new store would replace the damaged one, or a file that belongs to it.
    case sameFile(output: String)
    /// The path of the new store, or of a file that belongs to it, is in use.
    case outputExists(path: String)
    /// There isn't enough space for the copy and the new store.
    case notEnoughSpace(folder: String, needed: Int64, available: Int64)
    /// The salvage was cancelled.
    case cancelled
    /// Another process kept writing to the store while it was copied.
    case inUse
    /// A file couldn't be read or written, or SQLite rejected the new store.
    case failed(reason: String)
  }
}

extension SalvageError: ExplainedError {
  /// The fault at the damaged store or at the new one's path, and the expectation.
  public var cause: String {
    switch problem {
    case .missing: "There is no file at \(storePath); expected a store."
    case .notFile(let found): "\(storePath) is a \(found); expected a store's file."
    case .empty: "The file \(storePath) is empty, and no \"-wal\" beside it holds anything; expected a store."
    case .notDatabase: "The file \(storePath) has no page of an SQLite database; expected a store, damaged or not."
    case .noModel:
      "The model of \(storePath) is neither beside the store nor readable in it, and none was given; the rows can't be"
        + " interpreted without a model."
    case .notStore: "The database \(storePath) holds no table of the model; expected the store of that model."
    case .sameFile(let output):
      "The new store \(output) would replace a file of the damaged one; expected another name."
    case .outputExists(let path): "\(path) already exists; expected a free path for the new store."
    case .notEnoughSpace(let folder, let needed, let available):
      "A copy of \(storePath) and the new store need \(CountText.size(needed)) in \(folder), where \(CountText.size(available)) are left."
    case .cancelled: "Salvaging \(storePath) was cancelled."
    case .inUse: "Another process kept writing to \(storePath) while it was copied; expected a store at rest."
    case .failed(let reason): "Nothing could be salvaged from \(storePath): \(ErrorWords.ended(reason))"
    }
  }

  package var code: String {
    switch problem {
    case .missing: "missing"
    case .notFile: "notFile"
    case .empty: "empty"
    case .notDatabase: "notDatabase"
    case .noModel: "noModel"
    case .notStore: "notStore"
    case .sameFile, .outputExists: "fileExists"
    case .notEnoughSpace: "notEnoughSpace"
    case .cancelled: "cancelled"
    case .inUse: "storeInUse"
    case .failed: "failed"
    }
  }

  /// The code of the closest Core Data or Foundation error in `NSCocoaErrorDomain`; `nil` if there is none.
  public var coreDataCode: Int? {
    switch problem {
    case .missing: 260
    case .notFile, .empty, .notDatabase: 259
    case .noModel, .notStore: 134_000
    case .sameFile, .outputExists: 516
    case .notEnoughSpace: 640
    case .cancelled: 3072
    case .inUse: 134_090
    case .failed: nil
    }
  }

  /// The advice: salvage never changes the damaged store, and another attempt may need other arguments.
  public var help: ErrorHelp {
    switch problem {
    case .missing: ErrorHelp(nil, "Look for the store where the app keeps it, or for a backup.")
    case .notFile: ErrorHelp(nil, "Give the store's own file.")
    case .empty, .notDatabase:
      ErrorHelp(
        .unchanged,
        "Keep the file as it is, and look for a previous version in \"\(storePath).heirloom/previous\" or for a backup.",
        [.previousVersions])
    case .noModel:
      ErrorHelp(
        .damagedStore(path: storePath), "Give the app's model: one of any version that the store may have had.")
    case .notStore: ErrorHelp(.damagedStore(path: storePath), "Give the model of the app that made it.")
    case .sameFile: ErrorHelp(.unchanged, "Give the new store a name of its own.")
    case .outputExists: ErrorHelp(.unchanged, "Move the existing file away, or give the new store another name.")
    case .notEnoughSpace: ErrorHelp(.unchanged, "Make room, or put the new store on a larger volume.")
    case .cancelled: ErrorHelp(.unchanged, "There is no new store. Salvage again when there is time.")
    case .inUse: ErrorHelp(.unchanged, "End the app that uses the store and try again.")
    case .failed:
      ErrorHelp(.damagedStore(path: storePath), "Keep them as they are, and salvage again when that is resolved.")
    }
  }

  /// The same as `storePath`.
  public var filePath: String? { storePath }
}
