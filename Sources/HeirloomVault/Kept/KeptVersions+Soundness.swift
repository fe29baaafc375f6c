import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore

extension KeptVersions {
  /// Reads no store, since it runs at each launch: names, sizes and times have to be enough.
  ///
  /// A version that was never tested, or was touched since, isn't sound until the next operation
  /// tests it.
  func isSound(_ version: PreviousVersionFiles) -> Bool {
    guard let manifest = version.manifest, let path = version.storePath, manifest.storeName == location.name,
      version.name == VersionName(time: manifest.time, identifier: manifest.identifier)
    else { return false }
    // Such a version is kept with the journal of the change, so its store can't be tested as it is.
    if manifest.operation == .undoing {
      return version.storeByteCount >= manifest.storeByteCount && hasExternalFiles(version, manifest)
    }
    guard let note = manifest.soundness, note.fault == nil, note.fits(FileStamp(path)) else { return false }
    return hasExternalFiles(version, manifest)
  }

  private func hasExternalFiles(_ version: PreviousVersionFiles, _ manifest: PreviousVersionManifest) -> Bool {
    guard let content = try? tree.content(of: supportFolder(version, manifest)) else { return false }
    return content.fileCount == manifest.supportFileCount && content.byteCount == manifest.supportByteCount
  }

  /// A version that can't be tested now has no valid result, so it is neither removed nor counted;
  /// that is no error.
  func test() {
    let store = try? files.status(of: location.path)?.identity
    for name in (try? names()) ?? [] {
      // The folder may hold a second name of the store itself.
      guard let version = try? read(name), (try? version.storePath.map(files.status(of:))??.identity) != store
      else {
        continue
      }
      if version.manifest?.operation == .undoing {
        pinIfUnread(version)
        continue
      }
      guard var manifest = version.manifest, let path = version.storePath,
        manifest.soundness?.fits(FileStamp(path)) != true,
        let soundness = try? StoreSoundness(ofStoreAt: path, model: model(of: version)),
        let logs = try? unreadLogs.content(keptWith: version)
      else { continue }
      // An earlier release kept such a log with a version without pinning it.
      if manifest.mayBePinned, !logs.isEmpty { manifest = manifest.holding(SoleContents(logs)) }
      let note = SoundnessNote(soundness, fault: change(of: manifest, found: soundness))
      // The folder is not synced: without the result, the next operation tests again.
      try? replaceManifest(of: version, with: manifest.noting(note))
    }
    pinChangedFiles()
  }

  /// Names of external files are never used twice: one of two files that differ is damaged.
  ///
  /// A later version with the same content makes the pin unnecessary, unless the user has released
  /// it.
  private func pinChangedFiles() {
    var later: [(folder: SupportFolder, stays: Bool)] = []
    for version in ((try? all()) ?? []).reversed() {
      guard let manifest = version.manifest else { continue }
      let folder = supportFolder(version, manifest)
      let mayBePinned = manifest.mayBePinned
      if mayBePinned, let count = try? tree.countDiffering(folder, from: later), count > 0 {
        try? replaceManifest(of: version, with: manifest.holding(SoleContents([SoleContent(changedFiles: count)])))
      }
      later.insert((folder, mayBePinned || manifest.isPinned), at: 0)
    }
  }

  private func supportFolder(_ version: PreviousVersionFiles, _ manifest: PreviousVersionManifest) -> SupportFolder {
    SupportFolder(path: PathText.join(version.path, StoreLocation.supportName(forStore: manifest.storeName)))
  }

  /// An earlier release did not pin a version whose journal holds pages that were not rolled back.
  private func pinIfUnread(_ version: PreviousVersionFiles) {
    guard let manifest = version.manifest, manifest.mayBePinned,
      let pages = try? unreadLogs.content(keptWith: version), !pages.isEmpty
    else { return }
    try? replaceManifest(of: version, with: manifest.holding(SoleContents(pages)))
  }

  private func change(of manifest: PreviousVersionManifest, found: StoreSoundness) -> String? {
    if let note = manifest.soundness {
      return note.storeChecksum == found.checksum.value ? note.fault : "its content has changed since it was tested"
    }
    guard found.file.size != manifest.storeByteCount else { return nil }
    return "it had \(manifest.storeByteCount) bytes when it was kept, and has \(found.file.size)"
  }

  private func model(of version: PreviousVersionFiles) -> ManagedObjectModel? {
    let file = SnapshotFile(path: PathText.join(version.path, StoreLocation.snapshotName), files: files)
    guard let bytes = try? file.read() else { return nil }
    return try? ModelSnapshot(bytes: bytes).model
  }

  /// A folder that can't be listed counts as empty: no operation starts there.
  func pagesNotUndone() -> [(version: String, pages: SoleContent)] {
    let undone = ((try? all()) ?? []).reversed().prefix { $0.manifest?.operation == .undoing }
    return undone.flatMap { version in
      (version.manifest?.alone?.items ?? []).filter(\.isOfJournal).map { (version.name.text, $0) }
    }
  }
}
