import Foundation
import HeirloomStore

struct Recovery: VaultPart {
  let place: StorePlace

  /// May itself be interrupted anywhere and run again.
  func recover() throws {
    guard let manifest = try record.read() else {
      guard try files.status(of: location.path) != nil else { return }
      try VaultError.wrapping(sweep)
      return
    }
    if manifest.operation == .settingAside {
      let outcome = try SettingAside(place: place, manifest: manifest).settle()
      try place.emit(.recovered(outcome, identifier: manifest.identifier))
      if try files.status(of: location.path) != nil {
        try VaultError.wrapping(sweep)
      } else if try record.isOfMissingStore() {
        try keptVersions.throwStoreMissing()
      }
      return
    }
    guard try files.status(of: location.path) != nil else {
      // A set-aside store began to return where there was no store: it is still in its folder, and was only copied.
      if manifest.operation == .adoption, manifest.keptFolder == nil {
        let missing = manifest.replacesMissing ? VaultManifest.missingStore(from: manifest) : nil
        try VaultError.wrapping { () throws(FileError) in try remove(manifest, leaving: missing) }
        try place.emit(.recovered(.rolledBack, identifier: manifest.identifier))
        if missing == nil { return }
      }
      // The remaining files may hold the only copy of the data.
      try keptVersions.throwStoreMissing()
      return
    }
    try place.emit(.recovered(try settle(manifest), identifier: manifest.identifier))
    try VaultError.wrapping(sweep)
  }

  /// After an operation that has just put a store where none was.
  func settle() throws(VaultError) {
    if let manifest = try record.read() { _ = try settle(manifest) }
    try VaultError.wrapping(sweep)
  }

  // MARK: Old or new

  private func settle(_ manifest: VaultManifest) throws(VaultError) -> VaultRecovery {
    let outcome = try VaultError.wrapping { () throws(FileError) -> VaultRecovery in try findOutcome(of: manifest) }
    try VaultError.wrapping { () throws(FileError) -> Void in
      switch outcome {
      case .rolledBack: try remove(manifest)
      case .rolledForward: try complete(manifest, isNew: true)
      case .undecided: try complete(manifest, isNew: false)
      }
    }
    return outcome
  }

  private func findOutcome(of manifest: VaultManifest) throws(FileError) -> VaultRecovery {
    guard let kept = keptFolder(of: manifest) else { return try findOutcomeWithoutOldStore(of: manifest) }
    switch manifest.phase {
    case .linking:
      // The link was synced before the rename: without the link there was no rename.
      guard let old = try files.status(of: PathText.join(kept, manifest.storeName)) else { return .rolledBack }
      return try files.status(of: location.path)?.identity == old.identity ? .rolledBack : .rolledForward
    case .copying:
      guard manifest.oldGeneration != manifest.newGeneration else {
        return .undecided
      }
      let generation: String?
      do {
        generation = try StoreReading.generation(ofStoreAt: location.path)
      } catch {
        // A hot journal can't be read here, and is rolled back only after the recovery.
        return .undecided
      }
      if generation == manifest.newGeneration { return .rolledForward }
      return generation == manifest.oldGeneration ? .rolledBack : .undecided
    case .removing:
      return .undecided
    }
  }

  /// Another program may have created the store since.
  private func findOutcomeWithoutOldStore(of manifest: VaultManifest) throws(FileError) -> VaultRecovery {
    guard manifest.operation == .adoption else { return .undecided }
    if try aside.isAdoptionNoted(manifest) { return .rolledForward }
    let candidate = try files.status(of: workFolder(manifest.identifier).candidate)
    if let candidate, try files.status(of: location.path)?.identity == candidate.identity { return .rolledForward }
    do {
      // The generation was synced before the store got its name.
      // The candidate's name may still be that of the empty file before it.
      if let found = try StoreReading.generation(ofStoreAt: location.path), found == manifest.newGeneration {
        return .rolledForward
      }
    } catch {
      // A read error proves nothing: the next run tries again.
      guard error.isAboutContent else {
        throw FileError(.read, location.path, code: EIO, reason: "\(error)")
      }
      return .undecided
    }
    return candidate == nil ? .undecided : .rolledBack
  }

  func keptFolder(of manifest: VaultManifest) -> String? {
    manifest.keptFolder.map { PathText.join(location.previous, $0) }
  }

  // MARK: Back

  /// The manifest goes last, once the removal of all files that it names is synced; `other` takes
  /// its place.
  func remove(_ manifest: VaultManifest, leaving other: VaultManifest? = nil) throws(FileError) {
    try record.removeDraft()
    if let folder = keptFolder(of: manifest) {
      let kept = PathText.join(folder, manifest.storeName)
      if let status = try files.status(of: kept) {
        // Only a second name of the live store, or an unfinished copy, may be removed.
        let isLive = try files.status(of: location.path)?.identity == status.identity
        guard isLive || manifest.phase == .copying else {
          throw FileError(.unlink, kept, code: 0, reason: "it is not the store's second name")
        }
        try files.unlink(kept)
      }
      try tree.remove(folder)
      // Also if it is not there: an earlier run may have died between the removal and its sync.
      // (Of the names created before the manifest's sync, the manifest alone may have lasted.)
      if try files.status(of: location.previous) != nil { try files.synchronizeDirectory(location.previous) }
    }
    if let kept = manifest.keptFolder { try quarantine.remove(of: kept) }
    let work = workFolder(manifest.identifier)
    try tree.takeBack(
      PathText.join(work.path, StoreLocation.supportName(forStore: manifest.storeName)), from: try place.supportFolder()
    )
    try work.remove()
    // With a store, the next run removes anything that came back; without a store no run may.
    if manifest.keptFolder == nil { try synchronizeRemovals() }
    guard let other else { return try record.remove() }
    do throws(VaultError) {
      try record.write(other)
    } catch {
      // The present record stays.
      throw FileError(.write, location.manifest, code: 0, reason: "\(error)")
    }
  }

  /// Otherwise removed names may come back after a loss of power, for the next run to remove.
  func synchronizeRemovals() throws(FileError) {
    if try files.status(of: location.incoming) != nil { try files.synchronizeDirectory(location.incoming) }
  }

  private func complete(_ manifest: VaultManifest, isNew: Bool) throws(FileError) {
    let work = workFolder(manifest.identifier)
    // The process may have died between the rename and its sync.
    try files.synchronizeDirectory(location.directory)
    // While the evidence that the store is the new one still exists.
    if isNew {
      try work.replaceExternalFiles()
      try aside.noteAdoption(manifest)
    }
    if let kept = keptFolder(of: manifest) {
      try unreadLogs.removeKept(as: PathText.join(kept, manifest.storeName) + "-")
    }
    keptVersions.test()
    try work.remove()
    try synchronizeRemovals()
    try record.remove()
  }

  // MARK: Without a record

  /// Removes only names of our patterns that no manifest names, and never a file that may be the
  /// only copy.
  func sweep() throws(FileError) {
    try record.removeDraft()
    try removeSnapshotDrafts()
    try keptVersions.removePruned()
    try unlinkLiveStore()
    guard try files.status(of: location.incoming)?.kind == .directory else { return }
    let stale = try files.names(in: location.incoming).filter {
      VersionName.isIdentifier($0) || WorkFolder.isCreation($0)
    }
    guard !stale.isEmpty else { return }
    for name in stale {
      place.report(.foundStaleCandidate(path: workFolder(name).path))
      try workFolder(name).remove()
      place.report(.removedStaleCandidate(path: workFolder(name).path))
    }
    try files.synchronizeDirectory(location.incoming)
  }

  func removeSnapshotDrafts() throws(FileError) {
    let drafts = try files.names(in: location.companion).filter(Self.isSnapshotDraft)
    guard !drafts.isEmpty else { return }
    for name in drafts { try files.unlink(PathText.join(location.companion, name)) }
    // Otherwise a draft could come back once the next snapshot is in place, and would never be removed.
    try files.synchronizeDirectory(location.companion)
  }

  private static func isSnapshotDraft(_ name: String) -> Bool {
    guard name.hasPrefix(StoreLocation.snapshotName), name.hasSuffix(".tmp") else { return false }
    // A replaced snapshot has its version's checksum before the draft's identifier.
    let parts = name.dropFirst(StoreLocation.snapshotName.count).dropLast(4).split(separator: ".")
    return parts.last.map { VersionName.isIdentifier(String($0)) } ?? false
  }

  /// In `previous`, where the app's writes would change an apparent version.
  private func unlinkLiveStore() throws(FileError) {
    guard let store = try files.status(of: location.path), store.linkCount > 1 else { return }
    for name in try keptVersions.names() {
      let folder = PathText.join(location.previous, name.text)
      let kept = PathText.join(folder, location.name)
      guard try files.status(of: kept)?.identity == store.identity else { continue }
      try files.unlink(kept)
      try tree.remove(folder)
      try files.synchronizeDirectory(location.previous)
    }
  }
}
