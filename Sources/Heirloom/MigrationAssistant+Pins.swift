import Foundation
import HeirloomModel
import HeirloomStore
import HeirloomVault

extension MigrationAssistant {
  /// Has pinned versions say what they alone hold, and releases those whose content one other sound store has.
  ///
  /// The oldest is compared first, so that the newest of equal ones stays. One that can't be compared stays as it is.
  ///
  /// - Parameters:
  ///   - vault: The vault of the store.
  ///   - counted: The identifier of a version that is not compared with the store: the migration from it has just counted
  ///     what the store lacks.
  func revisePins(in vault: StoreVault, counted: String? = nil) {
    var pinned = ((try? vault.previousVersions()) ?? []).filter { $0.manifest?.isPinned == true }
    for version in pinned {
      let isCounted = version.name.text == counted
      let others = (isCounted ? [] : [vault.location.path]) + pinned.filter { $0 != version }.compactMap(\.storePath)
      let known = isCounted ? version.manifest?.alone?.items : nil
      guard !others.isEmpty, let contents = soleContents(of: version, besides: others, known: known),
        (try? vault.revise(version.name.text, alone: contents)) != nil
      else { continue }
      if contents.isEmpty { pinned.removeAll { $0 == version } }
    }
  }

  /// Returns the content of a version that the store lacks which has most of it; `nil` if nothing is known.
  ///
  /// A store that isn't compared lacks what is known already.
  private func soleContents(
    of version: PreviousVersionFiles, besides paths: [String], known: [SoleContent]?
  ) -> [SoleContent]? {
    var best = known
    for path in paths {
      guard let missing = try? missing(of: version, in: path) else { continue }
      // A store that isn't sound may not keep what it has.
      if missing.isEmpty {
        if isSound(path) { return [] }
      } else if missing.reduce(0, { $0 + $1.rows }) < best?.reduce(0, { $0 + $1.rows }) ?? .max {
        best = missing
      }
    }
    return best
  }

  private func isSound(_ path: String) -> Bool {
    let models = models(ofStoreAt: path)
    guard let metadata = try? StoreMetadata(contentsOf: URL(fileURLWithPath: path)) else { return false }
    let model = models.first { metadata.isCompatible(with: $0) }
    return (try? StoreSoundness(ofStoreAt: path, model: model).fault) == .some(nil)
  }

  /// Returns the content of a version that another store lacks; `nil` if they can't be compared.
  private func missing(of version: PreviousVersionFiles, in other: String) throws -> [SoleContent]? {
    guard let path = version.storePath, let manifest = version.manifest else { return nil }
    return try StoreComparison.between(
      path, models: models(ofStoreAt: path), and: other, models: models(ofStoreAt: other)
    ) { comparison in
      if !manifest.isReplaced, let alone = manifest.alone, alone.unlistedCount == 0,
        let missing = try comparison.missing(of: alone.items)
      {
        return missing
      }
      let missing = try comparison.missing()
      // The list of what the migration lost says more than the comparison.
      return manifest.isReplaced || missing.isEmpty ? missing : nil
    }
  }

  /// Returns the models that may be a store's: that of the snapshot kept with it, and those of the history.
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
