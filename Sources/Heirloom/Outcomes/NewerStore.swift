/// A store that comes from a newer version of the app, and the previous versions to go back to.
///
/// Nothing was written to it: the newer app can continue to use it. To stay with this version of
/// the app, call ``StoreArchive/restorePreviousVersion(_:)`` with the ID of ``previousVersion``. The newer store
/// then becomes a previous version itself.
public struct NewerStore: Hashable, Sendable {
  /// The store's file.
  public let storePath: String
  /// The name of the store's version; `nil` if the history doesn't have it, as in an app that was set back.
  public let versionName: String?
  /// The checksum of the store's version.
  public let versionChecksum: String
  /// The previous versions to go back to.
  ///
  /// Those with the current model come first, then those of earlier versions, which are migrated to it, each the newest
  /// first.
  public let fittingVersions: [PreviousVersion]

  /// The newest previous version with the current model, else the newest of an earlier version; `nil` if there is none.
  public var previousVersion: PreviousVersion? { fittingVersions.first }

  package init(storePath: String, versionName: String?, versionChecksum: String, fittingVersions: [PreviousVersion]) {
    self.storePath = storePath
    self.versionName = versionName
    self.versionChecksum = versionChecksum
    self.fittingVersions = fittingVersions
  }
}
