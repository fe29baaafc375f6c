extension StoreVault {
  /// Releases a pinned version, so that it may be pruned like any other.
  ///
  /// - Parameter prefix: The start of the version's name, long enough to be unique.
  /// - Returns: The released version; a version that was not pinned is returned as it is, and nothing is written.
  /// - Throws: ``VaultError``; for a version with a damaged manifest, ``VaultError/unusableVersion(id:reason:)``.
  package func release(_ prefix: String) throws -> PreviousVersionFiles {
    try revise(prefix, alone: [], keepsLogs: false)
  }

  /// Notes what a pinned version alone holds; one that holds nothing alone is released until a finding pins it again.
  ///
  /// - Parameters:
  ///   - prefix: The start of the version's name, long enough to be unique.
  ///   - alone: The content that no other store holds.
  ///   - keepsLogs: True if frames and pages that only the version's log or journal holds are such content too, whatever
  ///     stores hold; false to release the version for good.
  /// - Returns: The version; nothing is written if it wasn't pinned, or says the same already.
  /// - Throws: As ``release(_:)``.
  @discardableResult
  package func revise(
    _ prefix: String, alone: [SoleContent], keepsLogs: Bool = true
  ) throws -> PreviousVersionFiles {
    try withLock(requiresStore: false) {
      if try files.status(of: location.path) != nil { try recoverHoldingLock() }
      let version = try findVersion(prefix)
      guard let manifest = version.manifest else {
        throw VaultError.unusableVersion(
          id: version.name.text, reason: "its own description is damaged, so that it is never removed")
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

  /// Replaces a version's own manifest by one rename: it is the one before or the one after, also on the disk.
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
