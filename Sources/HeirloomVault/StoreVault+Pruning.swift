extension StoreVault {
  /// Removes all but the newest previous versions, and returns the names of the removed ones.
  ///
  /// Three kinds are never removed: the newest, one whose own manifest is damaged,
  /// since its content is not known, and a pinned one, whose rows no other store holds and which isn't counted.
  /// Versions whose model has the given checksum stay too: a store that went back to that model may lack their content.
  /// Call it only after the store was opened, in a later run than the one that made the newest version.
  /// At least one version is kept. After an error each remaining version is complete.
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
