import Foundation
import HeirloomStore

extension KeptVersions {
  /// The operation's manifest changes its phase if the file system refuses links; `successor` is
  /// the candidate's generation.
  func keep(
    _ manifest: inout VaultManifest, name: VersionName, hold: StoreHold, replacement: StoreReplacement,
    alone: [SoleContent], successor: String?, logs: [String: LogDamage]
  ) throws -> PreviousVersionFiles {
    let folder = PathText.join(location.previous, name.text)
    let kept = PathText.join(folder, location.name)
    try makeFolder(folder)
    let generation = try StoreReading.generation(of: hold.connection)
    try pinNewestVersion(unlessFollowedBy: generation)
    do throws(FileError) {
      try files.link(location.path, to: kept)
      // An overlay that can't record a file's origin shows one file under two numbers.
      // Neither this run nor the next could then recognize the store's second name.
      if try files.status(of: kept)?.identity != files.status(of: location.path)?.identity {
        try files.unlink(kept)
        throw FileError(.link, location.path, to: kept, code: ENOTSUP)
      }
    } catch {
      guard error.isRefusedLink else { throw VaultError.file(error) }
      // From here on two different files may both be the old store, so recovery has to read their generations.
      // The manifest must record that durably before there is a second file.
      manifest = VaultManifest(
        identifier: manifest.identifier, operation: manifest.operation, phase: .copying, storeName: manifest.storeName,
        keptFolder: manifest.keptFolder, oldGeneration: generation, newGeneration: successor,
        time: manifest.time, adoptedSet: manifest.adoptedSet)
      try record.write(manifest)
      place.reportLeftOut(try hold.copyStore(to: kept), of: kept)
    }
    let description = try complete(folder, like: hold.status, snapshot: replacement.previousSnapshot) { support in
      let frames = try unreadLogs.keep(logs, as: kept + "-")
      let alone = alone + (frames > 0 ? [SoleContent(framesOf: location.name + "-wal", count: frames)] : [])
      guard let status = try files.status(of: kept) else {
        throw VaultError.file(FileError(.status, kept, code: 0, reason: "it vanished"))
      }
      return PreviousVersionManifest(
        identifier: manifest.identifier, time: name.time, storeName: location.name, storeByteCount: status.size,
        supportFileCount: support.fileCount, supportByteCount: support.byteCount,
        versionChecksum: replacement.previousChecksum, versionName: replacement.previousName, generation: generation,
        successor: successor ?? "", mode: hold.previousMode,
        operation: manifest.operation, alone: alone.isEmpty ? nil : SoleContents(alone))
    }
    // The folder's names are synced; its own name must be too before the store's path names another file.
    try files.synchronizeDirectory(location.previous)
    return PreviousVersionFiles(
      name: name, path: folder, storePath: kept, manifest: description,
      storeByteCount: description.storeByteCount)
  }

  func makeFolder(_ path: String) throws(FileError) {
    let attributes = try files.status(of: location.previous)?.attributes ?? FileAttributes(mode: 0o700)
    try files.makeDirectory(path, attributes: attributes)
  }

  /// The folder holds the version's store already, and is synced here.
  func complete(
    _ folder: String, like store: FileStatus, snapshot: [UInt8]?,
    describe: (FolderTree.Content) throws -> PreviousVersionManifest
  ) throws -> PreviousVersionManifest {
    let support = try tree.keep(try place.supportFolder(), at: PathText.join(folder, location.supportName))
    let plain = FileAttributes(mode: store.attributes.mode & 0o666, owner: store.owner, group: store.group)
    if let snapshot {
      try files.writeNewFile(PathText.join(folder, StoreLocation.snapshotName), bytes: snapshot, attributes: plain)
    }
    let description = try describe(support)
    try files.writeNewFile(
      PathText.join(folder, StoreLocation.manifestName), bytes: try description.encoded(), attributes: plain)
    place.reportPassedOver(support.passedOver)
    try files.synchronizeDirectory(folder)
    return description
  }

  /// If another program put the store there, it may lack the newest version's content, to which
  /// that of older versions was carried over.
  private func pinNewestVersion(unlessFollowedBy generation: String?) throws {
    let versions = try all()
    guard let newest = versions.last(where: { $0.manifest?.operation != .undoing }), let manifest = newest.manifest,
      manifest.mayBePinned, !manifest.isFollowed(byStoreOf: generation, among: versions)
    else { return }
    try replaceManifest(of: newest, with: manifest.pinned)
    try files.synchronizeDirectory(newest.path)
  }

  func makePreviousFolder(like companion: FileStatus) throws(VaultError) {
    try tree.ensure(location.previous, like: companion)
    guard let isExcluded = place.configuration.excludesPreviousVersionsFromBackup else { return }
    do throws(FileError) {
      try files.setExcludedFromBackup(isExcluded, location.previous)
    } catch {
      var left = PassedOver()
      left.note("its exclusion from backups (\(error.reason))")
      place.reportLeftOut(left, of: location.previous)
    }
  }

  /// Sorts after all existing names, even if the clock was set back.
  func nextName(identifier: String) throws(FileError) -> VersionName {
    var time = place.configuration.now()
    for name in try names() where name.time >= time { time = name.time + 1 }
    return VersionName(time: time, identifier: identifier)
  }
}
