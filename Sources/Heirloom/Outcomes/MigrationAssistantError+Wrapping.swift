import HeirloomFormats
import HeirloomMigration
import HeirloomStore
import HeirloomVault

extension MigrationAssistantError {
  package init(wrapping error: any Error, storePath path: String) {
    switch error {
    case let error as MigrationAssistantError: self = error
    case let error as MigrationError: self = .failed(storePath: path, error)
    case let error as StagedMigrationError: self = .failed(storePath: path, .unfitStages(error))
    case let error as StoreError: self = .unreadableStore(error)
    case let error as VaultError: self.init(error, path: path)
    case let error as FileError: self.init(VaultError.file(error), path: path)
    case let error as SQLiteError: self = .unreadableStore(StoreError(error, path: path))
    default: self = .failed(storePath: path, .appFailed(error))
    }
  }

  private init(_ error: VaultError, path: String) {
    switch error {
    case .vaultInUse(let lock):
      self = .storeInUse(storePath: path, reason: "another process is migrating it and holds \(lock)")
    case .storeInUse(_, let reason):
      self = .storeInUse(storePath: path, reason: reason)
    case .unreadableStore(_, let underlying):
      self = .unreadableStore(StoreError(underlying, path: path))
    case .refusedJournal(_, let objection):
      self = .unreadableStore(.refusedJournal(objection, path: path))
    case .unreadableLog(_, let damage):
      self = .unreadableStore(StoreError(path: path, problem: .damaged(reason: damage.description)))
    case .outcomeUnknown(_, let underlying):
      self = .outcomeUnknown(storePath: path, reason: "\(underlying)")
    case .unknownVersion, .unusableVersion, .unusableSetAsideStore:
      self = .noSuchVersion(storePath: path, reason: "\(error)")
    case .unfitCandidate:
      self = .failed(storePath: path, .proofFailed(findings: ["\(error)"]))
    case .notEnoughSpace(let shortage):
      self = .notEnoughSpace(shortage)
    case let error where error.ofFile?.isDenied == true:
      self = .unreadableStore(StoreError(path: path, problem: .protected))
    case .storeMissing, .sideFilesWithoutStore, .unusableSideFile, .notAFile, .keptStore, .hardLinked,
      .mountedStore, .unsafeVolume, .unusableFolder, .foreignOwner, .damagedManifest, .folderNotWritable,
      .protectionLost, .file, .withoutStore:
      self = .unfitLocation(storePath: path, Self.isStore(at: path) ? error : .withoutStore(error))
    }
  }

  /// Only if a file with content is at the path may an error say that the file holds data.
  private static func isStore(at path: String) -> Bool {
    let files = POSIXFileOperations()
    guard let real = try? files.resolvePath(path), let status = try? files.status(of: real) else { return false }
    return status.kind == .regular && status.size > 0
  }
}
