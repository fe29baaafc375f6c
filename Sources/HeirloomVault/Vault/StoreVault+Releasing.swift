extension StoreVault {
  /// Releases a pinned version: it may then be pruned like any other.
  ///
  /// `prefix` is the start of the version's name, long enough to be unique. A version that was not pinned is returned
  /// as it is. A version with a damaged manifest throws ``VaultError/unusableVersion(id:reason:)``.
  package func release(_ prefix: String) throws -> PreviousVersionFiles {
    try revise(prefix, alone: [], keepsLogs: false)
  }

  /// Records the content that only a pinned version holds; an empty list releases it until a finding pins it again.
  ///
  /// If `keepsLogs` is true, frames and pages that only the version's log or journal holds are added to that content;
  /// false releases the version for good. Nothing is written if the version wasn't pinned, or doesn't change.
  @discardableResult
  package func revise(
    _ prefix: String, alone: [SoleContent], keepsLogs: Bool = true
  ) throws -> PreviousVersionFiles {
    try withLock(requiresStore: false) {
      if try files.status(of: location.path) != nil { try recoverHoldingLock() }
      let version = try findVersion(prefix)
      guard let manifest = version.manifest else {
        throw VaultError.unusableVersion(
          id: version.name.text, reason: "its manifest is damaged, so it is never removed")
      }
      let logs = keepsLogs ? try contentOfLogs(keptWith: version) : []
      let alone = alone + logs
      let revised = keepsLogs ? manifest.holding(SoleContents(alone)) : manifest.released
      guard manifest.isPinned, revised != manifest else { return version }
      try VaultError.wrapping { () throws(FileError) in
        try replaceManifest(of: version, with: revised)
        try files.synchronizeDirectory(version.path)
      }
      if revised.isReleased { report(.released(id: version.name.text)) }
      return try findVersion(version.name.text)
    }
  }

  /// Replaces a version's own manifest by one rename, so a crash leaves the old one or the new one.
  func replaceManifest(
    of version: PreviousVersionFiles, with manifest: PreviousVersionManifest
  ) throws(FileError) {
    let path = PathText.join(version.path, StoreLocation.manifestName)
    let draft = path + ".tmp"
    let attributes = try files.status(of: path)?.attributes ?? FileAttributes(mode: 0o600)
    if try files.status(of: draft) != nil { try files.unlink(draft) }
    guard let bytes = try? manifest.encoded() else {
      throw FileError(.write, draft, code: 0, reason: "the description can't be encoded")
    }
    try files.writeNewFile(draft, bytes: bytes, attributes: attributes)
    try files.rename(draft, to: path)
  }
}
