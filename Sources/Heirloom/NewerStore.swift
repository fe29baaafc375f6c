/// A store that comes from a newer version of the app, and what there is to go back to.
///
/// Nothing was written to it: the newer app goes on with it as if nothing had happened. Whoever stays with this version of the
/// app calls ``MigrationAssistant/restorePreviousVersion(_:)`` with the ID of ``retainedVersion``; the newer store is kept as a
/// previous version itself then.
public struct NewerStore: Hashable, Sendable {
  /// The store's file.
  public let storePath: String
  /// The name of the store's version; `nil` where the history doesn't have it, as that of an app that was taken back.
  public let versionName: String?
  /// The checksum of the store's version.
  public let versionChecksum: String
  /// The versions that were kept and have the current model, the newest first.
  public let fittingVersions: [PreviousVersion]

  /// The newest version that was kept and has the current model; `nil` if none is there.
  public var retainedVersion: PreviousVersion? { fittingVersions.first }

  /// Creates a description.
  package init(storePath: String, versionName: String?, versionChecksum: String, fittingVersions: [PreviousVersion]) {
    self.storePath = storePath
    self.versionName = versionName
    self.versionChecksum = versionChecksum
    self.fittingVersions = fittingVersions
  }
}
