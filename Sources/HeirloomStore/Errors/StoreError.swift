public import HeirloomFormats
import HeirloomModel

/// The reason why a store can't be read, created or opened.
public struct StoreError: Error, Hashable, Sendable {
  /// The store's file.
  public let path: String
  /// The problem.
  public let problem: Problem

  /// Creates an error.
  public init(path: String, problem: Problem) {
    self.path = path
    self.problem = problem
  }

  /// A problem with a store.
  @nonexhaustive
  public enum Problem: Hashable, Sendable {
    /// A path with nothing at it.
    case missing
    /// A folder or a device at the path, instead of a file.
    case notFile
    /// A file without content.
    case empty
    /// A file that is not an SQLite database, or has a format that this SQLite doesn't support.
    case notDatabase
    /// A file that is shorter than its own header says.
    case truncated(byteCount: Int64, expectedByteCount: Int64)
    /// A database whose structure is damaged.
    case damaged(reason: String)
    /// A file that takes more work to read than a store of its size can need; `reason` is the bound that was exceeded.
    case tooDemanding(reason: String)
    /// An SQLite database without a store's metadata.
    case notStore(tables: [String])
    /// A number of metadata rows other than one.
    case metadataRowCount(Int)
    /// Metadata that are not a property list describing a store.
    case invalidMetadata(reason: String)
    /// Metadata that name no version hashes.
    case missingVersionHashes
    /// A store that another connection has locked.
    case inUse
    /// An interrupted change to the file, which can't be rolled back without write access.
    case needsRecovery
    /// A `-journal` that SQLite would roll back, although its content can't belong to this store.
    case refusedJournal(reason: String)
    /// A `-wal` with changes that can't be read, because the folder can't be written to.
    case unreadableLog
    /// A file that can't be opened or read.
    case unreadable(reason: String)
    /// A file that the system lets no process open: on Apple's systems, while the device is locked.
    case protected
    /// A file that can't be written to.
    case readOnly
    /// A side file's name with something other than a plain file: SQLite would wait for it, or write elsewhere through
    /// it.
    case unusableSideFile(String, found: String)
    /// A disk without enough room for the changes.
    case diskFull
    /// An existing file at the path of a new store.
    case alreadyExists
    /// A side file of a missing store, at the path of a new store.
    case straySideFile(String)
    /// A copy of the model in the store that can't be read.
    case invalidModelCache(reason: String)
    /// A store made with another version of the model, and the names of entities whose version hashes differ.
    case incompatible(entities: [String])
    /// The name of a configuration that the model doesn't have.
    case unknownConfiguration(String)
    /// A file that lacks tables or columns that the model requires.
    case differentSchema(missing: [String])
    /// Any other error of SQLite.
    case database(code: Int, message: String)
  }
}

extension StoreError {
  /// False if the file just can't be read now.
  var isAboutContent: Bool {
    switch problem {
    case .empty, .notDatabase, .truncated, .damaged, .tooDemanding, .notStore, .metadataRowCount, .invalidMetadata,
      .missingVersionHashes:
      true
    default: false
    }
  }

  package init(_ error: SQLiteError, path: String) {
    let problem: Problem =
      if error.isBusy {
        .inUse
      } else if error.isNotDatabase {
        .notDatabase
      } else if error.isExpired {
        .tooDemanding(reason: error.message)
      } else if error.isCorrupt {
        .damaged(reason: error.message)
      } else if error.needsRecovery {
        .needsRecovery
      } else if error.isDenied {
        .protected
      } else if error.isReadOnly {
        .readOnly
      } else if error.isFull {
        .diskFull
      } else if error.isCannotOpen || error.isInputOutput {
        .unreadable(reason: error.message)
      } else { .database(code: Int(error.extendedCode), message: error.message) }
    self.init(path: path, problem: problem)
  }

  /// The code of a similar failure of Core Data or Foundation in `NSCocoaErrorDomain`; `nil` if there is none.
  public var coreDataCode: Int? {
    switch problem {
    case .missing: 260
    case .notDatabase, .truncated, .damaged, .tooDemanding, .empty: 259
    case .unreadable, .protected, .unreadableLog, .notFile, .unusableSideFile, .refusedJournal: 256
    case .notStore, .metadataRowCount, .invalidMetadata, .missingVersionHashes, .invalidModelCache: 134_000
    case .incompatible: 134_100
    case .unknownConfiguration: 134_020
    case .readOnly: 513
    case .diskFull: 640
    case .alreadyExists, .straySideFile: 516
    case .inUse, .needsRecovery, .differentSchema, .database: 134_080
    }
  }
}

extension StoreError: ExplainedError {
  /// The store, with what was found and what was expected.
  public var cause: String {
    switch problem {
    case .missing:
      "There is no file at \(path); expected a store."
    case .notFile:
      "\(path) is not a file; expected a store."
    case .empty:
      "The file \(path) is empty; expected a store."
    case .notDatabase:
      "The file \(path) is not an SQLite database of a known format; expected a store."
    case .truncated(let byteCount, let expected):
      "The store \(path) has \(CountText.counted(byteCount, "byte")) where its header says \(CountText.grouped(expected)): its end is missing."
    case .damaged(let reason):
      "The store \(path) is damaged: \(ErrorWords.ended(reason))"
    case .tooDemanding(let reason):
      "The store \(path) can't be read within the bounds of a store of its size: \(ErrorWords.ended(reason))"
    case .notStore(let tables):
      "The database \(path) is not a Core Data store: it has no table \(PhysicalName.metadataTable)\(Self.list(tables))."
    case .metadataRowCount(let count):
      "The store \(path) has \(count) rows of metadata; expected one."
    case .invalidMetadata(let reason):
      "The metadata of the store \(path) can't be read: \(ErrorWords.ended(reason))"
    case .missingVersionHashes:
      "The metadata of the store \(path) have no version hashes, so the version of its model is unknown."
    case .inUse:
      "The store \(path) is in use by another process or connection."
    case .needsRecovery:
      "The last change to the store \(path) was interrupted; it must be rolled back before the store can be read."
    case .refusedJournal(let reason):
      "\(path)-journal records an interrupted change and was not rolled back: \(ErrorWords.ended(reason))"
    case .unreadableLog:
      "The store \(path) has changes in its -wal file, which can't be read while its folder can't be written to."
    case .unreadable(let reason):
      "The store \(path) can't be read: \(ErrorWords.ended(reason))"
    case .protected:
      "The store \(path) exists, but the system lets no process open it now (operation not permitted)."
    case .readOnly:
      "The store \(path) can't be written to."
    case .unusableSideFile(let file, let found):
      "\(file) is \(found); expected a plain file that belongs to the store \(path), or nothing."
    case .diskFull:
      "There is no room on the disk for changes to the store \(path)."
    case .alreadyExists:
      "There is already a file at \(path), where a new store was to be made."
    case .straySideFile(let file):
      "The file \(file) belongs to a store that is gone from \(path), where a new store was to be made."
    case .invalidModelCache(let reason):
      "The copy of the model in the store \(path) can't be read: \(ErrorWords.ended(reason))"
    case .incompatible(let entities):
      "The store \(path) was made with another version of the model\(Self.list(entities, "entities that differ"))."
    case .unknownConfiguration(let name):
      "The model has no configuration \"\(name)\", which was requested for the store \(path)."
    case .differentSchema(let missing):
      "The store \(path) lacks parts that its model requires\(Self.list(missing, "missing"))."
    case .database(let code, let message):
      "The store \(path) can't be used: SQLite reports \"\(message)\" (code \(code))."
    }
  }

  private static func list(_ names: [String], _ title: String = "found") -> String {
    guard !names.isEmpty else { return "" }
    let rest = names.count > 8 ? " and \(names.count - 8) more" : ""
    return " (\(title): \(names.prefix(8).joined(separator: ", "))\(rest))"
  }
}

extension StoreError {
  /// Where the data is, and how to make the store readable again or replace it.
  public var help: ErrorHelp {
    let versions = "a previous version may be in the folder \(path).heirloom/previous."
    let together = DataLocation.described("\(path) and the files beside it hold the data together.")
    return switch problem {
    case .missing where hasLog:
      ErrorHelp(
        .described("\(path)-wal exists and may hold the store's data."),
        "Don't create a store at this path: SQLite would delete that file. Keep it, and salvage it into a new store.",
        [.salvage])
    case .missing:
      ErrorHelp(
        .described("Nothing was created there."), "Check the path. If the app starts for the first time, make a store.")
    case .notFile, .notStore: ErrorHelp(.unchanged, "Check the path.")
    case .notDatabase:
      ErrorHelp(
        .unchanged, "Check the path. If it is a store whose beginning is damaged, salvage it into a new file.",
        [.salvage])
    case .empty where hasLog:
      ErrorHelp(
        .described("\(path)-wal exists and may hold the store's data."),
        "Don't open the file with any app: SQLite would delete the -wal file. Keep both, and salvage them into a new store.",
        [.salvage, .previousVersions])
    case .empty:
      ErrorHelp(
        .described("There is no -wal file with content beside \(path), so no data of a store are left there."),
        "An app that opens the file makes a new store; \(versions)", [.previousVersions])
    case .truncated, .damaged, .tooDemanding, .metadataRowCount, .invalidMetadata, .missingVersionHashes:
      ErrorHelp(
        .damagedStore(path: path),
        "Keep them as they are. Restore a previous version, if one is in the folder \(path).heirloom/previous, or salvage"
          + " the store into a new file.", [.previousVersions, .salvage])
    case .inUse: ErrorHelp(.store(path: path), "Close it in other processes and connections, then try again.")
    case .needsRecovery:
      ErrorHelp(
        together,
        "Open the store once where its folder can be written to; SQLite then restores the last complete state.")
    case .refusedJournal:
      ErrorHelp(
        .store(path: path),
        "Find out which program created \(path)-journal, and salvage the store into a new file, which reads it with and without that"
          + " change, or restore a previous version.", [.salvage, .previousVersions])
    case .unreadableLog:
      ErrorHelp(together, "Copy them together to a folder that can be written to and open the store there.")
    case .unreadable(let reason) where reason.contains(SQLiteError.pathLimitWords):
      ErrorHelp(
        .unchanged, "Move the store to a folder with a shorter path, or give it a shorter name, then try again.")
    case .protected: ErrorHelp(.store(path: path), ErrorWords.deniedAdvice)
    case .unreadable, .database: ErrorHelp(.unchanged, "Check permissions and the disk, then try again.")
    case .readOnly: ErrorHelp(.unchanged, "Check the permissions of the file and its folder, then try again.")
    case .unusableSideFile(let file, _):
      ErrorHelp(.unchanged, "Find out which program created \(file) and move it away.")
    case .diskFull: ErrorHelp(.unchanged, "Free some space, then try again.")
    case .alreadyExists:
      ErrorHelp(.described("The existing file was not changed."), "Open it, or choose another path.")
    case .straySideFile(let file):
      ErrorHelp(
        .described("Nothing was changed; \(file) may hold data of the earlier store."),
        "Bring that store back, or move the file away first.")
    case .invalidModelCache:
      ErrorHelp(.described("The data in \(path) are not affected."), "Give the model from another source.")
    case .incompatible:
      ErrorHelp(
        .unchanged, "Migrate it to this version of the model first, or open it with the model it was made with.",
        [.migration])
    case .unknownConfiguration: ErrorHelp(.unchanged, "Name one of the model's configurations, or none.")
    case .differentSchema:
      ErrorHelp(
        .unchanged, "Keep the store as it is and check it against its model; \(versions)",
        [.verification, .previousVersions])
    }
  }

  package var hasLog: Bool { DatabaseFile.size(ofSideFile: "-wal", of: path) ?? 0 > 0 }

  /// The same as `path`.
  public var filePath: String? { path }
}
