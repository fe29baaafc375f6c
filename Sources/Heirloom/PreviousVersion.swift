public import Foundation
import HeirloomMigration

/// A version of a store that was kept when the store was migrated or restored.
///
/// Its folder is a complete set that opens by itself: the store under its own name, external files, the model.
public struct PreviousVersion: Hashable, Sendable {
  /// The folder's name: the UTC time, then eight hexadecimal digits.
  public let id: String
  /// The store's file in the folder.
  public let storeURL: URL
  /// When it was kept.
  public let date: Date
  /// The version checksum of its model, if it was known.
  public let versionChecksum: String?
  /// The size of the whole set, in bytes; files that are links share them with the store.
  public let byteCount: Int64

  init(_ version: RetainedVersion) {
    id = version.name.text
    storeURL = URL(fileURLWithPath: version.storePath ?? version.path)
    date = Date(timeIntervalSince1970: Double(version.name.time))
    versionChecksum = version.manifest?.versionChecksum
    byteCount = version.byteCount
  }
}
