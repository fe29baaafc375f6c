import Foundation
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomVault

// Stores that this version of the app can't open, moved aside rather than deleted.
extension MigrationAssistant {
  /// Moves a store aside that can't be opened.
  ///
  /// - Parameters:
  ///   - error: Why it can't.
  ///   - file: The file that was there when the launch first looked.
  /// - Returns: What is to be told of it; `nil` if another process has changed the store meanwhile: what it is now, only another look
  ///   can tell.
  /// - Throws: ``MigrationAssistantError``: the store is where it was, or the next launch goes on.
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
      guard let set = try vault.asideSets().first(where: { $0.path == folder }) else { throw error }
      return MigrationNotice(set)
    } catch {
      throw wrapped(error)
    }
  }

  /// Which file is in the store's place: a migration or a restoration by another process puts another one there.
  func foundFile() throws -> FileStatus.Identity? {
    try files.status(of: location().path)?.identity
  }

  /// What a glance at a store says.
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

  /// Lists what a person is to be told about stores that were moved aside, the oldest first, until it is acknowledged.
  ///
  /// Of a store that has returned to its place there is nothing to be told any more.
  ///
  /// - Returns: The notices.
  /// - Throws: ``MigrationAssistantError`` if the folder can't be read.
  public func pendingNotices() throws(MigrationAssistantError) -> [MigrationNotice] {
    do {
      return try vault().asideSets()
        .filter { $0.notice != nil && !$0.isAcknowledged && $0.adoption == nil }.map(MigrationNotice.init)
    } catch {
      throw wrapped(error)
    }
  }

  /// Notes that a person was told; the store stays where it is.
  ///
  /// - Parameter notice: The notice.
  /// - Throws: ``MigrationAssistantError`` if that can't be noted.
  public func acknowledge(_ notice: MigrationNotice) throws(MigrationAssistantError) {
    do {
      try vault().acknowledgeNotice(of: notice.id)
    } catch {
      throw wrapped(error)
    }
  }
}

extension MigrationAssistantError {
  /// Whether no model or mapping fits the store, or its pages are damaged: nothing that the app could do at this launch helps.
  var isAboutIncompatibleStore: Bool {
    switch self {
    case .noModel, .mappingNeeded: true
    case .failed(_, .database(_, coreDataCode: 259)): true
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
