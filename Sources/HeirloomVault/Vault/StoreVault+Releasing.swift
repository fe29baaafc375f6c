extension StoreVault {
  /// Releases a pinned version, so that it may be pruned like any other.
  ///
  /// - Parameter prefix: The start of the version's name, long enough to be unique.
  /// - Returns: The released version; a version that was not pinned is returned as it is, and nothing is written.
  /// - Throws: ``VaultError``; for a version with a damaged manifest, ``VaultError/unusableVersion(id:reason:)``.
  package func release(_ prefix: String) throws -> PreviousVersionFiles {
    try withLock(requiresStore: false) {
      if try files.status(of: location.path) != nil { try recoverHoldingLock() }
      let version = try findVersion(prefix)
      guard let manifest = version.manifest else {
        throw VaultError.unusableVersion(
          id: version.name.text, reason: "its own description is damaged, so that it is never removed")
      }
      guard manifest.isPinned else { return version }
      let path = PathText.join(version.path, StoreLocation.manifestName)
      let draft = path + ".tmp"
      // One rename: the manifest is the one before or the one after.
      try VaultError.wrapping { () throws(FileError) in
        let attributes = try files.status(of: path)?.attributes ?? FileAttributes(mode: 0o600)
        if try files.status(of: draft) != nil { try files.unlink(draft) }
        guard let bytes = try? manifest.released.encoded() else {
          throw FileError(.write, draft, code: 0, reason: "the description can't be encoded")
        }
        try files.writeNewFile(draft, bytes: bytes, attributes: attributes)
        try files.rename(draft, to: path)
        try files.synchronizeDirectory(version.path)
      }
      report(.released(id: version.name.text))
      return try findVersion(version.name.text)
    }
  }
}
