extension StoreVault {
  /// Never removes the newest version, one whose own manifest is damaged, since its content is not
  /// known, or a pinned one, whose rows no other store holds.
  ///
  /// Versions whose model has the given checksum stay too: a store that went back to that model may
  /// lack their content. Call it only after the store was opened, in a later run than the one that
  /// made the newest version.
  package func prune(keeping count: Int, sparing checksum: @autoclosure () -> String? = nil) throws -> [String] {
    // This runs at every launch, so names are counted before any file is read.
    guard try files.status(of: location.previous)?.kind == .directory else { return [] }
    let names = try files.names(in: location.previous)
    if !names.contains(where: KeptVersions.isPruned) {
      guard names.count(where: { VersionName($0) != nil }) > max(1, count) else { return [] }
      guard try !keptVersions.surplus(keeping: count, sparing: checksum()).isEmpty else { return [] }
    }
    return try lock.withLock {
      try recovery.recover()
      let surplus = try keptVersions.surplus(keeping: count, sparing: checksum())
      try VaultError.wrapping { () throws(FileError) in try keptVersions.remove(surplus) }
      return surplus.map(\.name.text)
    }
  }

  /// Throws ``VaultError/unusableVersion(id:reason:)`` for a version with a damaged manifest.
  package func release(_ prefix: String) throws -> PreviousVersionFiles {
    try revise(prefix, alone: [], keepsLogs: false)
  }

  /// An empty list releases the version until a finding pins it again.
  ///
  /// If `keepsLogs` is true, frames and pages that only the version's log or journal holds are
  /// added; false releases the version for good.
  @discardableResult
  package func revise(
    _ prefix: String, alone: [SoleContent], keepsLogs: Bool = true
  ) throws -> PreviousVersionFiles {
    try lock.withLock(requiresStore: false) {
      if try files.status(of: location.path) != nil { try recovery.recover() }
      let version = try keptVersions.find(prefix)
      guard let manifest = version.manifest else {
        throw VaultError.unusableVersion(
          id: version.name.text, reason: "its manifest is damaged, so it is never removed")
      }
      let logs = keepsLogs ? try unreadLogs.content(keptWith: version) : []
      let alone = alone + logs
      let revised = keepsLogs ? manifest.holding(SoleContents(alone)) : manifest.released
      guard manifest.isPinned, revised != manifest else { return version }
      try VaultError.wrapping { () throws(FileError) in
        try keptVersions.replaceManifest(of: version, with: revised)
        try files.synchronizeDirectory(version.path)
      }
      if revised.isReleased { place.report(.released(id: version.name.text)) }
      return try keptVersions.find(version.name.text)
    }
  }
}
