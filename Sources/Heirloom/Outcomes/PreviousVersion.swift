public import Foundation
public import HeirloomVault
public import HeirloomStore

/// A version of a store that was kept when the store was migrated or restored.
///
/// Its folder is a complete set that can be opened: the store under its own name, external files, the model.
public struct PreviousVersion: Hashable, Sendable {
  /// The folder's name: the UTC time, then eight hexadecimal digits.
  public let id: String
  /// The store's file in the folder.
  public let storeURL: URL
  /// The time when it was kept.
  public let date: Date
  /// The version checksum of its model, if it was known.
  public let versionChecksum: String?
  /// The name of its version in the history when it was kept; `nil` if it was not known.
  public let versionName: String?
  /// The size of the whole set, in bytes; hard-linked files share it with the store.
  public let byteCount: Int64

  /// True while the version is never removed, because it holds content that no other store is known to hold.
  ///
  /// This is content that its migration lost without consent, or rows that no comparison has found in another sound
  /// store. Such rows exist after a restoration, and if another program replaced the store built from the version.
  ///
  /// It doesn't count among ``MigrationAssistant/Configuration/keptVersions``, and stays until
  /// ``StoreArchive/releasePreviousVersion(_:)``.
  public let isPinned: Bool
  /// True if the version holds an interrupted change, since rolled back in the store; opening it rolls the change back.
  ///
  /// Only the newest is kept, and none counts towards ``MigrationAssistant/Configuration/keptVersions``.
  public var holdsInterruptedChange: Bool { operation == .undoing }
  /// The content of the version that the store lacks.
  ///
  /// It is content that the migration lost without consent, as counted then, or that was written to a replaced store,
  /// as counted by the last migration or restoration. Other kept versions may have a part of it.
  /// It is empty for a pinned version that could not be compared with the store. A version that was released by name
  /// still has the list.
  public let alone: [SoleContent]
  /// The number of further such losses, which are not listed because the manifest has a size limit.
  public let unlistedLossCount: Int

  let operation: VaultManifest.Operation?

  init(_ version: PreviousVersionFiles) {
    id = version.name.text
    storeURL = URL(fileURLWithPath: version.storePath ?? version.path)
    date = Date(timeIntervalSince1970: Double(version.name.time))
    versionChecksum = version.manifest?.versionChecksum
    versionName = version.manifest?.versionName
    byteCount = version.byteCount
    isPinned = version.manifest?.isPinned ?? false
    alone = version.manifest?.alone?.items ?? []
    unlistedLossCount = version.manifest?.alone?.unlistedCount ?? 0
    operation = version.manifest?.operation
  }

  /// Counts the version's objects; takes no lock and writes nothing.
  ///
  /// - Returns: The number of objects of all entities, without deleted ones.
  /// - Throws: `StoreError` if the version can't be read.
  /// - Complexity: O(*n*) in the number of objects: their tables are read, not their external files.
  public func objectCount() throws(StoreError) -> Int64 {
    let path = storeURL.path
    return try StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
      do throws(SQLiteError) {
        return try ObjectCounts(connection: connection, actual: ActualSchema(of: connection)).objectCount
      } catch {
        throw StoreError(error, path: path)
      }
    }
  }
}
