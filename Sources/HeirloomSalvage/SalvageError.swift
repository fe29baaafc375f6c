public import HeirloomFormats
import HeirloomModel

/// The reason why nothing could be salvaged.
///
/// Nothing was changed: everything that was there is still there, and there is no new store.
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

  /// A problem that kept a store from being salvaged.
  @nonexhaustive
  public enum Problem: Hashable, Sendable {
    /// There is nothing at the path.
    case missing
    /// There is something at the path, but it is a folder or a device.
    case notFile(found: String)
    /// Neither the file nor its `-wal` has any content.
    case empty
    /// No page of the file is one of a database.
    case notDatabase
    /// No model was given, and none is in the store or beside it.
    case noModel
    /// The database holds no table of the model.
    case notStore
    /// The new store would have the name of the damaged one, or of a file that belongs to it.
    case sameFile(output: String)
    /// Something is already at the place of the new store or of a file that belongs to it.
    case outputExists(path: String)
    /// There is no room for the copy and the new store.
    case notEnoughSpace(folder: String, needed: Int64, available: Int64)
    /// The salvage was stopped.
    case cancelled
    /// Another process went on writing to the store while it was copied.
    case inUse
    /// A file could not be read or written, or SQLite refused the new store.
    case failed(reason: String)
  }
}

extension SalvageError: ExplainedError {
  /// The damaged store, or the place of the new one, with what was expected.
  public var cause: String {
    switch problem {
    case .missing: "There is no file at \(storePath); expected a store."
    case .notFile(let found): "\(storePath) is a \(found); expected a store's file."
    case .empty: "The file \(storePath) is empty, and no \"-wal\" beside it holds anything; expected a store."
    case .notDatabase: "No page of the file \(storePath) is one of a SQLite database; expected a store, damaged or not."
    case .noModel:
      "The model of \(storePath) is neither beside the store nor readable in it, and none was given; a model tells what the"
        + " rows are."
    case .notStore: "The database \(storePath) holds no table of the model; expected the store of that model."
    case .sameFile(let output):
      "The new store \(output) would replace a file of the damaged one; expected another name."
    case .outputExists(let path): "There is something at \(path) already; expected a free place for the new store."
    case .notEnoughSpace(let folder, let needed, let available):
      "A copy of \(storePath) and the new store need \(CountText.size(needed)) in \(folder), where \(CountText.size(available)) are left."
    case .cancelled: "Salvaging \(storePath) was cancelled."
    case .inUse: "Another process went on writing to \(storePath) while it was copied; expected a store at rest."
    case .failed(let reason): "Nothing could be salvaged from \(storePath): \(ErrorWords.ended(reason))"
    }
  }

  /// A word for the problem, for programs.
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

  /// The code of a similar failure of Core Data or Foundation in `NSCocoaErrorDomain`; `nil` if none is near.
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

  /// The damaged store, which salvage never changes, and what to give to another attempt.
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
    case .outputExists: ErrorHelp(.unchanged, "Move what is there away, or give the new store another name.")
    case .notEnoughSpace: ErrorHelp(.unchanged, "Make room, or put the new store on a larger volume.")
    case .cancelled: ErrorHelp(.unchanged, "There is no new store. Salvage again when there is time.")
    case .inUse: ErrorHelp(.unchanged, "End the app that uses the store and try again.")
    case .failed:
      ErrorHelp(.damagedStore(path: storePath), "Keep them as they are, and salvage again when that is settled.")
    }
  }

  /// The same as `storePath`.
  public var filePath: String? { storePath }
}
