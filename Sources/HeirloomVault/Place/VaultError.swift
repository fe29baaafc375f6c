package import HeirloomFormats
package import HeirloomStore

package enum VaultError: Error, Sendable {
  /// Another store is awaited if an operation took the store away and didn't end.
  case storeMissing(path: String, previousVersions: [String], isAnotherAwaited: Bool = false)
  /// They may hold data of a lost store.
  case sideFilesWithoutStore(path: String, sideFiles: [String])
  case unusableSideFile(path: String, reason: String)
  case notAFile(path: String, found: String)
  case keptStore(path: String, folder: String)
  /// Another program could change the file through another name, or lose track of it.
  case hardLinked(path: String, linkCount: UInt64)
  /// A store mounted as a single file: a mount point can't be replaced by another file.
  case mountedStore(path: String)
  case unsafeVolume(path: String, fileSystem: String)
  case unusableFolder(path: String, reason: String)
  case foreignOwner(path: String, owner: UInt32)
  case folderNotWritable(FileError)
  case notEnoughSpace(SpaceShortage)
  case vaultInUse(path: String)
  case storeInUse(path: String, reason: String)
  case unreadableStore(path: String, underlying: SQLiteError)
  /// SQLite would roll the journal back, although it can't belong to this store.
  case refusedJournal(path: String, RollbackJournal.Objection)
  /// Only if the caller asked to stop there.
  case unreadableLog(path: String, LogDamage)
  /// Nothing was changed.
  case damagedManifest(path: String, reason: String)
  case unfitCandidate(path: String, reason: String)
  /// A prefix of no previous version's name, or of several.
  case unknownVersion(prefix: String, candidates: [String])
  case unusableVersion(id: String, reason: String)
  case unusableSetAsideStore(id: String, reason: String)
  /// The swap may or may not survive a loss of power: nothing was undone, and the next run
  /// determines the outcome.
  case outcomeUnknown(path: String, underlying: FileError)
  case protectionLost(path: String)
  /// The store is unchanged.
  case file(FileError)
  /// An error about a path without a store, and so without data.
  indirect case withoutStore(VaultError)
}

extension VaultError: ExplainedError {
  package var cause: String {
    switch self {
    case .storeMissing(let path, let previous, _):
      let versions =
        previous.isEmpty ? "there are no previous versions" : "kept: \(previous.joined(separator: ", "))"
      return "there is no store at \"\(path)\"; \(versions)"
    case .sideFilesWithoutStore(let path, let sideFiles):
      return
        "there is no store at \"\(path)\", but \(sideFiles.joined(separator: ", ")) would be read as part of a new one"
    case .unusableSideFile(let path, let reason):
      return "\"\(path)\" can't be a side file of the store: \(reason)"
    case .notAFile(let path, let found):
      return "\"\(path)\" is a \(found), not a store file"
    case .keptStore(let path, let folder):
      return "\"\(path)\" is kept in the folder \"\(folder)\" of another store, which is not for stores in use"
    case .hardLinked(let path, let linkCount):
      return "\"\(path)\" has \(linkCount) names (hard links); a store must have one"
    case .mountedStore(let path):
      return "\"\(path)\" is mounted as a single file, and a mount point can't be replaced"
    case .unsafeVolume(let path, let fileSystem):
      return "\"\(path)\" is on a volume (\(fileSystem)) whose renames and locks can't be relied on"
    case .unusableFolder(let path, let reason):
      return "\"\(path)\" can't hold the vault: \(reason)"
    case .foreignOwner(let path, let owner):
      return "\"\(path)\" belongs to the user \(owner), who is neither the store's owner nor the current user"
    case .folderNotWritable(let error):
      return "the store's folder can't be written: \(error)"
    case .notEnoughSpace(let shortage):
      return shortage.description
    case .vaultInUse(let path):
      return "another migration holds the lock \"\(path)\""
    case .storeInUse(let path, let reason):
      return "\"\(path)\" is open elsewhere: \(reason)"
    case .unreadableStore(let path, let underlying):
      return "\"\(path)\" can't be read as a store: \(underlying)"
    case .refusedJournal(let path, let objection):
      return "\"\(path)-journal\" belongs to an interrupted change and was not rolled back: \(objection.reason)"
    case .unreadableLog(_, let damage):
      return damage.description
    case .damagedManifest(let path, let reason):
      return "\"\(path)\", the record of an unfinished operation, is damaged: \(reason)"
    case .unfitCandidate(let path, let reason):
      return "the new store \"\(path)\" can't replace the old one: \(reason)"
    case .unknownVersion(let prefix, let candidates):
      let names = candidates.isEmpty ? "none" : candidates.joined(separator: ", ")
      return "\"\(prefix)\" does not name exactly one previous version; possible: \(names)"
    case .unusableVersion(let id, let reason):
      return "the previous version \(id) can't be used: \(reason)"
    case .unusableSetAsideStore(let id, let reason):
      return "the set \(id), which was moved aside, can't be used: \(reason)"
    case .outcomeUnknown(let path, let underlying):
      return "\"\(path)\" was replaced, but the replacement may not survive a loss of power: \(underlying)"
    case .protectionLost(let path):
      return
        "\"\(path)\" can't get the store's protection class: its content would be less protected than the store"
    case .file(let error):
      return error.description
    case .withoutStore(let error):
      return error.cause
    }
  }

  package var errorDescription: String? { ErrorWords.sentence(description) }

  package var help: ErrorHelp {
    let store = DataLocation.store(path: nil)
    return switch self {
    case .storeMissing(_, _, isAnotherAwaited: true):
      ErrorHelp(
        .described("Nothing was deleted."),
        "Restore a previous version or a set-aside store, or begin anew after a repair.", [.previousVersions, .repair])
    case .storeMissing(_, [], _):
      ErrorHelp(
        .described("Nothing was deleted."),
        "If the store was moved, give its new path; at a first launch, create a new store.")
    case .storeMissing:
      ErrorHelp(.described("Nothing was deleted."), "Restore a previous version.", [.previousVersions])
    case .sideFilesWithoutStore:
      ErrorHelp(
        .unchanged, "Put the missing store back beside them, or restore a previous version, which moves them aside.",
        [.previousVersions])
    case .unusableSideFile: ErrorHelp(store, "Find out who made it and move it away.")
    case .notAFile: ErrorHelp(.unchanged, "Give the path of the store's main file.")
    case .keptStore: ErrorHelp(.unchanged, "Restore it, or work on a copy in another folder.")
    case .hardLinked: ErrorHelp(store, "Remove the file's other names, or work on a copy.")
    case .mountedStore: ErrorHelp(store, "Mount the folder that holds the store instead of the file, then try again.")
    case .unsafeVolume:
      ErrorHelp(store, "Move the store to a local volume, or allow unsafe volumes after making a backup.")
    case .unusableFolder:
      ErrorHelp(store, "Put a plain folder there, on the store's own volume, with a path that is short enough.")
    case .foreignOwner: ErrorHelp(store, "Find out who made it and move it away, then try again.")
    case .folderNotWritable(let error), .file(let error): ErrorHelp(store, error.advice)
    case .protectionLost:
      ErrorHelp(store, "Give the store's folder that class, or allow the loss (allowsLostProtection), then try again.")
    case .notEnoughSpace: ErrorHelp(store, "Free some space on its volume, then try again.")
    case .vaultInUse, .storeInUse:
      ErrorHelp(store, "Close the store in other processes and connections, then try again.")
    case .unreadableStore:
      ErrorHelp(.described("The file was left as it is."), "A previous version may help.", [.previousVersions])
    case .refusedJournal:
      ErrorHelp(
        store, "Find out who made it, and salvage the store or restore a previous version.",
        [.salvage, .previousVersions])
    case .unreadableLog:
      ErrorHelp(store, "Salvage the store, or migrate the part that SQLite can read; the log is kept then.", [.salvage])
    case .damagedManifest:
      ErrorHelp(
        .described("The store opens as usual and nothing was deleted."),
        "Run a repair, which moves the record aside, then try again.", [.repair])
    case .unfitCandidate: ErrorHelp(store, "Try again; if it fails again, the message says where to look.")
    case .unknownVersion: ErrorHelp(store, "Give more of the version's name.", [.previousVersions])
    case .unusableVersion:
      ErrorHelp(.described("The version was left as it is."), "Try another one.", [.previousVersions])
    case .unusableSetAsideStore:
      ErrorHelp(
        .described("The set was left as it is, and so was the store."),
        "Leave it there; a backup may have an undamaged copy.")
    case .outcomeUnknown:
      ErrorHelp(
        .described("The store is whole, in the old or the new version."),
        "Run again: the next run determines which one it is, and cleans up.")
    case .withoutStore(let error):
      ErrorHelp(
        error.dataLocation == store ? .described("No store was found at that path.") : error.dataLocation, error.advice,
        error.remedies)
    }
  }

  package var coreDataCode: Int? {
    switch self {
    case .storeMissing: 260
    case .folderNotWritable(let error): error.foundationCode ?? 513
    case .file(let error): error.coreDataCode
    case .withoutStore(let error): error.coreDataCode
    default: 134_080
    }
  }
}

extension VaultError {
  /// Every migration of a store that is mounted as a single file, or has further hard links, fails.
  package var isAboutMountOrLink: Bool {
    switch self {
    case .mountedStore, .hardLinked: true
    default: false
    }
  }

  /// Such an error doesn't depend on free space, permissions or a failing disk.
  package var isAboutContent: Bool {
    switch self {
    case .refusedJournal, .unreadableLog: true
    case .unreadableStore(_, let underlying): underlying.isAboutContent
    default: false
    }
  }
}

extension VaultError {
  package var ofFile: FileError? {
    switch self {
    case .file(let error), .withoutStore(.file(let error)): error
    default: nil
    }
  }
}
