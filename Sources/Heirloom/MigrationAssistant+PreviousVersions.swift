public import Foundation
import HeirloomFormats
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomVault

extension MigrationAssistant {
  /// Lists the previous versions, the newest first.
  ///
  /// - Throws: ``MigrationAssistantError/unfitLocation(storePath:_:)`` when the folder can't
  ///   be read.
  public func previousVersions() throws(MigrationAssistantError) -> [PreviousVersion] {
    do {
      return try vault().previousVersions().reversed().map(PreviousVersion.init)
    } catch {
      throw wrapped(error)
    }
  }

  /// Lists the files with rows that migrations put into quarantine, the oldest first.
  ///
  /// Each line of a file is a JSON object with the row's entity, key and object ID, its attributes and links, the
  /// decision and the reason. The files are never removed.
  ///
  /// - Throws: ``MigrationAssistantError/unfitLocation(storePath:_:)`` when the folder can't
  ///   be read.
  public func quarantinedRows() throws(MigrationAssistantError) -> [URL] {
    do {
      return try vault().quarantineFiles().map { URL(fileURLWithPath: $0) }
    } catch {
      throw wrapped(error)
    }
  }

  /// Releases a pinned version, so that it is removed in its turn like any other.
  ///
  /// Call it when a person, or the app for them, has recovered what the version alone holds, or does without it.
  ///
  /// - Parameter id: The version's name, or the start of it.
  /// - Returns: The version, which is still there: a later launch removes it when there are enough newer ones.
  /// - Throws: ``MigrationAssistantError/noSuchVersion(storePath:reason:)`` for a name that is not that of exactly one
  ///   version, or for a version whose own description is damaged; other ``MigrationAssistantError`` when the release
  ///   can't be written.
  @discardableResult
  public func releasePreviousVersion(_ id: String) throws(MigrationAssistantError) -> PreviousVersion {
    do {
      return PreviousVersion(try vault().release(id))
    } catch {
      throw wrapped(error)
    }
  }

  /// Puts a previous version back in the store's place; the store that was there becomes a previous version itself.
  ///
  /// A store that can't be read is moved to the folder `incompatible` of the companion folder instead. Cancelling
  /// ``progress`` stops the restoration until the store is replaced.
  ///
  /// - Parameter id: The version's name, or the start of it; `nil` for the newest.
  /// - Returns: The version that was restored, and the one that was kept.
  /// - Throws: ``MigrationAssistantError``.
  public func restorePreviousVersion(
    _ id: String? = nil
  ) throws(MigrationAssistantError) -> (restored: PreviousVersion, previous: PreviousVersion?) {
    do {
      let vault = try vault()
      let versions = try vault.previousVersions()
      guard let prefix = id ?? versions.last(where: { $0.manifest?.operation != .undoing })?.name.text else {
        throw MigrationAssistantError.noSuchVersion(
          storePath: storeURL.path, reason: "no previous version of \(storeURL.path) is kept")
      }
      do {
        let result = try vault.restore(prefix, current: descriptionOfStore()) { _ in
          guard !progress.isCancelled else { throw MigrationError.cancelled }
        }
        archiveModel(of: result.restored)
        return (PreviousVersion(result.restored), result.previous.map(PreviousVersion.init))
      } catch let error as VaultError where error.isAboutContent {
        // A full disk or a missing permission says nothing about the store.
        // The store that is there can't be kept as a previous version, and must not be lost either. It is set aside
        // only if exactly one readable version can take its place.
        let fitting = versions.filter { $0.name.text.hasPrefix(prefix) }
        guard fitting.count == 1, let path = fitting[0].storePath,
          (try? StoreMetadata(contentsOf: URL(fileURLWithPath: path))) != nil
        else {
          throw MigrationAssistantError.noSuchVersion(
            storePath: storeURL.path, reason: "\(prefix) names no readable version")
        }
        _ = try vault.setStoreAside()
        let result = try vault.restore(prefix)
        archiveModel(of: result.restored)
        return (PreviousVersion(result.restored), nil)
      }
    } catch {
      throw wrapped(error)
    }
  }

  /// Returns what is known of the store's model, to keep with the store when another one takes its place.
  func descriptionOfStore() -> StoreVault.Replacement {
    guard let metadata = try? storeMetadata() else { return StoreVault.Replacement() }
    let hashes = metadata.versionHashes
    let model =
      choice(of: metadata, snapshot: snapshotModel(for: hashes))?.model
      ?? (try? StoreModelCache.model(inStoreAt: storeURL)).flatMap { $0 }
    let isRight = model.map { $0.versionHashes() == hashes } ?? false
    return StoreVault.Replacement(
      previousSnapshot: isRight ? model.flatMap { try? ModelSnapshot(model: $0).bytes(.compressed) } : nil,
      previousChecksum: ManagedObjectModel.versionChecksum(of: hashes))
  }

  /// Puts the snapshot of a restored version beside the store: perhaps nothing else there knows its model.
  private func archiveModel(of version: PreviousVersionFiles) {
    let url = URL(fileURLWithPath: version.path).appendingPathComponent(StoreLocation.snapshotName)
    do {
      guard let snapshot = try ModelController(snapshotURL: url).snapshot() else { return }
      try modelController.archive(snapshot.model, applicationVersion: snapshot.applicationVersion)
    } catch {
      report(.snapshotUnreadable(reason: "\(error)"))
    }
  }
}
