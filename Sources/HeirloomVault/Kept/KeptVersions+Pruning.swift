extension KeptVersions {
  /// Only restorable versions count: one that contradicts its manifest doesn't displace a sound
  /// one.
  ///
  /// Of the versions that keep an interrupted change, only the newest is kept, and none counts
  /// towards `count`.
  func surplus(keeping count: Int, sparing checksum: String?) throws(VaultError) -> [PreviousVersionFiles] {
    let versions = try all().filter { $0.manifest?.isPinned == false && isSound($0) }
    let (undone, others) = (
      versions.filter { $0.manifest?.operation == .undoing }, versions.filter { $0.manifest?.operation != .undoing }
    )
    let surplus = others.dropLast(max(1, count))
    // A released version isn't spared: another store had its rows, or the user gave it up.
    return undone.dropLast()
      + surplus.filter { version in
        checksum == nil || version.manifest?.isReleased == true || version.manifest?.versionChecksum != checksum
      }
  }

  private static let prunedPrefix = ".pruned-"

  func prunedPath(_ name: VersionName) -> String {
    PathText.join(location.previous, Self.prunedPrefix + name.text)
  }

  static func isPruned(_ name: String) -> Bool {
    name.hasPrefix(prunedPrefix) && VersionName(String(name.dropFirst(prunedPrefix.count))) != nil
  }

  func removePruned() throws(FileError) {
    guard try files.status(of: location.previous)?.kind == .directory else { return }
    let names = try files.names(in: location.previous).filter(Self.isPruned)
    guard !names.isEmpty else { return }
    // The rename may not be synced yet.
    try files.synchronizeDirectory(location.previous)
    for name in names { try tree.remove(PathText.join(location.previous, name)) }
    try files.synchronizeDirectory(location.previous)
  }

  func remove(_ versions: [PreviousVersionFiles]) throws(FileError) {
    for version in versions {
      // One rename, synced before the first file is removed.
      try files.rename(version.path, to: prunedPath(version.name))
      try files.synchronizeDirectory(location.previous)
      try tree.remove(prunedPath(version.name))
      place.report(.pruned(id: version.name.text))
    }
    if !versions.isEmpty { try files.synchronizeDirectory(location.previous) }
  }
}
