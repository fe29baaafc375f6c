import Foundation
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomVault

extension MigrationAssistant {
  /// `nil` if another process has changed the store since `file` was found: it must be inspected
  /// again.
  ///
  /// After an error the store is in its place, or the next launch continues.
  func setStoreAside(
    because error: MigrationAssistantError, of file: FileStatus.Identity?
  ) throws(MigrationAssistantError) -> MigrationNotice? {
    do {
      let vault = try vault()
      let version = foundVersion()
      let folder = try vault.setStoreAside(
        notice: try MigrationNotice.bytes(of: error, storeName: vault.location.name),
        isNeeded: { try self.foundFile() == file && self.foundVersion() == version })
      guard let folder else { return nil }
      guard let set = try vault.setAsideStores().first(where: { $0.path == folder }) else { throw error }
      return MigrationNotice(set)
    } catch {
      throw wrapped(error)
    }
  }

  /// Another process's migration or restoration replaces the file.
  func foundFile() throws -> FileStatus.Identity? {
    try files.status(of: location().path)?.identity
  }

  private enum FoundVersion: Equatable {
    case missing
    case version(checksum: String)
    case unreadable(StoreError.Problem)
    case failed(code: String)
  }

  private func foundVersion() -> FoundVersion {
    do throws(MigrationAssistantError) {
      guard let metadata = try storeMetadata() else { return .missing }
      return .version(checksum: ManagedObjectModel.versionChecksum(of: metadata.versionHashes))
    } catch {
      guard case .unreadableStore(let error) = error else { return .failed(code: error.code) }
      return .unreadable(error.problem)
    }
  }
}

extension MigrationAssistantError {
  /// True if no model or mapping fits the store, or its pages are damaged: no retry at this launch would help.
  var isAboutIncompatibleStore: Bool {
    switch self {
    case .noModel, .mappingNeeded, .belowFloor, .unknownVersion(_, nil, _), .partsMissing(_, _, _, nil): true
    case .failed(_, .damaged(.store, _)): true
    case .unreadableStore(let error):
      switch error.problem {
      case .notDatabase, .truncated, .damaged, .notStore, .metadataRowCount, .invalidMetadata, .missingVersionHashes,
        .refusedJournal:
        true
      default: false
      }
    default: false
    }
  }
}
