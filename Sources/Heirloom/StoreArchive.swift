public import Foundation
import HeirloomFormats
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomVault

/// The files kept beside a store: previous versions, set-aside stores, notices and rows in quarantine.
///
/// It needs no model, so it also works for a store that no installed app can open. ``MigrationAssistant/archive`` is
/// the archive of an assistant's store, which reports to the assistant's delegate.
public struct StoreArchive {
  /// Has no model if the archive was created without one.
  package let assistant: MigrationAssistant

  /// Creates the archive of a store; nothing is read.
  ///
  /// - Parameters:
  ///   - storeURL: The store's file, which may be gone.
  ///   - configuration: The time limits and the observers; choices about models have no effect here.
  public init(storeURL: URL, configuration: MigrationAssistant.Configuration = MigrationAssistant.Configuration()) {
    self.init(storeURL: storeURL, history: .unknown, configuration: configuration)
  }

  package init(
    storeURL: URL, history: ModelHistory,
    configuration: MigrationAssistant.Configuration = MigrationAssistant.Configuration()
  ) {
    assistant = MigrationAssistant(
      storeURL: storeURL, modelController: ModelController(storeURL: storeURL), history: history,
      configuration: configuration)
  }

  init(of assistant: MigrationAssistant) {
    self.assistant = assistant
  }

  /// The store's file.
  public var storeURL: URL { assistant.storeURL }

  /// The progress of a restoration; cancelling it leaves the store unchanged.
  public var progress: Progress { assistant.progress }

  /// Lists the previous versions, the newest first.
  ///
  /// - Throws: ``MigrationAssistantError/unfitLocation(storePath:_:)`` when the folder can't
  ///   be read.
  public func previousVersions() throws(MigrationAssistantError) -> [PreviousVersion] {
    do {
      return try assistant.vault().previousVersions().reversed().map(PreviousVersion.init)
    } catch {
      throw assistant.wrapped(error)
    }
  }

  /// Lists the files with quarantined rows, the oldest first.
  ///
  /// Each line of a file is a JSON object with the row's entity, key and object ID, its attributes and links, the
  /// decision and the reason. The files are never removed.
  ///
  /// - Throws: ``MigrationAssistantError/unfitLocation(storePath:_:)`` when the folder can't
  ///   be read.
  public func quarantinedRows() throws(MigrationAssistantError) -> [URL] {
    do {
      return try assistant.vault().quarantineFiles().map { URL(fileURLWithPath: $0) }
    } catch {
      throw assistant.wrapped(error)
    }
  }

  /// Releases a pinned version: it may then be removed like any other.
  ///
  /// Call it when the user, or the app for them, has recovered the content that only the version holds, or doesn't need
  /// it.
  ///
  /// - Parameter id: The version's name, or the start of it.
  /// - Returns: The version, which still exists: a later launch removes it when there are enough newer ones.
  /// - Throws: ``MigrationAssistantError/noSuchVersion(storePath:reason:)`` for a name that is not that of exactly one
  ///   version, or for a version whose own manifest is damaged; other ``MigrationAssistantError`` when the release
  ///   can't be written.
  @discardableResult
  public func releasePreviousVersion(_ id: String) throws(MigrationAssistantError) -> PreviousVersion {
    do {
      return PreviousVersion(try assistant.vault().release(id))
    } catch {
      throw assistant.wrapped(error)
    }
  }

  /// Puts a previous version back in the store's place; the replaced store becomes a previous version itself.
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
    let (restored, replaced) = try restore(id)
    guard case .kept(let previous) = replaced else { return (restored, nil) }
    return (restored, previous)
  }

  package func restore(
    _ id: String?
  ) throws(MigrationAssistantError) -> (restored: PreviousVersion, replaced: ReplacedStore?) {
    do {
      let vault = try assistant.vault()
      let versions = try vault.previousVersions()
      guard let prefix = id ?? versions.last(where: { $0.manifest?.operation != .undoing })?.name.text else {
        throw MigrationAssistantError.noSuchVersion(
          storePath: assistant.storeURL.path, reason: "no previous version of \(assistant.storeURL.path) is kept")
      }
      do {
        let result = try vault.restore(prefix, current: assistant.descriptionOfStore()) { _ in
          guard !assistant.progress.isCancelled else { throw MigrationError.cancelled }
        }
        archiveModel(of: result.restored)
        // Each operation keeps a version, so the replaced store was built from the newest one before this operation.
        let source = versions.last { $0.manifest?.operation != .undoing }
        let isUndone = source?.name == result.restored.name && source?.manifest?.operation == .migration
        assistant.revisePins(in: vault, undone: isUndone ? result.previous?.name.text : nil)
        let previous = result.previous.map { (try? vault.findVersion($0.name.text)) ?? $0 }
        return (PreviousVersion(result.restored), previous.map { .kept(PreviousVersion($0)) })
      } catch let error as VaultError where error.isAboutContent {
        // A full disk or a missing permission is not a fault of the store.
        // The present store can't be kept as a previous version, and must not be lost either. It is set aside
        // only if exactly one readable version can replace it.
        let fitting = versions.filter { $0.name.text.hasPrefix(prefix) }
        guard fitting.count == 1, let path = fitting[0].storePath,
          (try? StoreMetadata(contentsOf: URL(fileURLWithPath: path))) != nil
        else {
          throw MigrationAssistantError.noSuchVersion(
            storePath: assistant.storeURL.path, reason: "\(prefix) names no readable version")
        }
        let folder = try vault.setStoreAside(isReplaced: true)
        let result = try vault.restore(prefix)
        archiveModel(of: result.restored)
        return (PreviousVersion(result.restored), folder.map { .movedAside(folder: $0) })
      }
    } catch {
      throw assistant.wrapped(error)
    }
  }

  /// Sets the damaged manifest of an unfinished operation aside, and recovers from the operation.
  ///
  /// Such a manifest stops every migration with the code `unfitLocation`, since no other file identifies the operation.
  /// The store is whole, either as it was before or as it is after. Call this once the user has agreed to continue. The
  /// store and its previous versions stay as they are, and so does the manifest, under another name beside them.
  ///
  /// A record of a missing store, which keeps every launch from creating an empty one until a version or a set-aside
  /// store has taken its place, is set aside as well: the app then begins anew.
  ///
  /// - Returns: The manifest's new URL; `nil` if there was nothing to repair.
  /// - Throws: ``MigrationAssistantError``; the store is unchanged.
  @discardableResult
  public func repair() throws(MigrationAssistantError) -> URL? {
    do {
      return try assistant.vault().repair().map { URL(fileURLWithPath: $0) }
    } catch {
      throw assistant.wrapped(error)
    }
  }

  /// The restored version's model may be known from nowhere else.
  private func archiveModel(of version: PreviousVersionFiles) {
    let url = URL(fileURLWithPath: version.path).appendingPathComponent(StoreLocation.snapshotName)
    do {
      guard let snapshot = try ModelController(snapshotURL: url).snapshot() else { return }
      try assistant.modelController.archive(
        snapshot.model, applicationVersion: snapshot.applicationVersion, earlierVersions: snapshot.earlierVersions)
    } catch {
      assistant.report(.snapshotUnreadable(reason: "\(error)"))
    }
  }
}

package enum ReplacedStore {
  case kept(PreviousVersion)
  /// The store could not be read, and is in a folder with its side files.
  case movedAside(folder: String)
}
