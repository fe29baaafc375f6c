import Foundation
import HeirloomModel
import HeirloomStore
import HeirloomVault

extension MigrationAssistant {
  /// The oldest is compared first, so of equal ones the newest is kept; one that can't be compared
  /// is left as it is.
  ///
  /// A migration has just counted the sole content of `counted`, and built `undone` from the
  /// store's present content.
  func revisePins(in vault: StoreVault, counted: String? = nil, undone: String? = nil) {
    let store = vault.location.path
    var pinned = ((try? vault.previousVersions()) ?? []).filter { $0.manifest?.isPinned == true }
    for version in pinned where version.name.text != counted {
      guard let missing = try? missing(of: version, in: store, isMigrated: version.name.text == undone) else {
        continue
      }
      if missing.isEmpty ? isSound(store) : isHeld(version, lackedByStore: missing, by: &pinned, in: vault) {
        _ = try? vault.revise(version.name.text, alone: [])
        pinned.removeAll { $0.name == version.name }
      } else if !missing.isEmpty, version.manifest?.isReplaced == true || version.manifest?.alone?.items.isEmpty == true
      {
        _ = try? vault.revise(version.name.text, alone: missing)
      }
    }
  }

  /// Another pinned version has all rows of this one; it records which of them the store lacks.
  private func isHeld(
    _ version: PreviousVersionFiles, lackedByStore missing: [SoleContent], by pinned: inout [PreviousVersionFiles],
    in vault: StoreVault
  ) -> Bool {
    for (index, other) in pinned.enumerated() where other.name != version.name {
      guard let path = other.storePath, let manifest = other.manifest,
        (try? self.missing(of: version, in: path))?.isEmpty == true, isSound(path)
      else { continue }
      // A replaced version is itself compared with the store as a whole.
      if manifest.isReplaced { return true }
      let known = manifest.alone?.items ?? []
      // Of items for the same content, the larger number counts.
      let all =
        known.map { item in missing.first { $0.isSame(as: item) && $0.rows > item.rows } ?? item }
        + missing.filter { item in !known.contains { $0.isSame(as: item) } }
      guard manifest.alone?.unlistedCount ?? 0 == 0, let revised = try? vault.revise(other.name.text, alone: all) else {
        continue
      }
      pinned[index] = revised
      return true
    }
    return false
  }

  private func isSound(_ path: String) -> Bool {
    let models = models(ofStoreAt: path)
    guard let metadata = try? StoreMetadata(contentsOf: URL(fileURLWithPath: path)) else { return false }
    let model = models.first { metadata.isCompatible(with: $0) }
    return (try? StoreSoundness(ofStoreAt: path, model: model).fault) == .some(nil)
  }

  private func missing(
    of version: PreviousVersionFiles, in other: String, isMigrated: Bool = false
  ) throws -> [SoleContent]? {
    guard let path = version.storePath else { return nil }
    return try StoreComparison.between(
      path, models: models(ofStoreAt: path), and: other, models: models(ofStoreAt: other), isMigrated: isMigrated
    ) { try $0.missing() }
  }

  private func models(ofStoreAt path: String) -> [ManagedObjectModel] {
    let isLive = (try? location().path) == path
    let snapshot =
      isLive
      ? modelController
      : ModelController(
        snapshotURL: URL(fileURLWithPath: path).deletingLastPathComponent()
          .appendingPathComponent(StoreLocation.snapshotName))
    return [(try? snapshot.snapshot())??.model, history.current].compactMap(\.self)
  }
}
