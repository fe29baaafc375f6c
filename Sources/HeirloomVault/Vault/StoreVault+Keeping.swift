import Foundation
import HeirloomStore

extension StoreVault {
  // MARK: Keeping the old set

  /// Keeps the store in a previous version's folder, with its external files, its snapshot and a manifest.
  ///
  /// The folder is synced as a whole, and its store can be opened by itself. The operation's manifest changes its phase
  /// if the file system refuses links. `successor` is the candidate's generation.
  func keepStore(
    _ manifest: inout VaultManifest, name: VersionName, hold: StoreHold, replacement: Replacement, alone: [SoleContent],
    successor: String?, logs: [String: LogDamage]
  ) throws -> PreviousVersionFiles {
    let folder = PathText.join(location.previous, name.text)
    let kept = PathText.join(folder, location.name)
    let attributes = try files.status(of: location.previous)?.attributes ?? FileAttributes(mode: 0o700)
    try files.makeDirectory(folder, attributes: attributes)
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
      try write(manifest)
      reportLeftOut(try hold.copyStore(to: kept), of: kept)
    }
    let support = try tree.keep(try supportFolder(), at: PathText.join(folder, location.supportName))
    let plain = FileAttributes(
      mode: hold.status.attributes.mode & 0o666, owner: hold.status.owner, group: hold.status.group)
    if let snapshot = replacement.previousSnapshot {
      try files.writeNewFile(
        PathText.join(folder, StoreLocation.snapshotName), bytes: snapshot, attributes: plain)
    }
    let frames = try keepUnreadLogs(logs, as: kept + "-")
    let alone = alone + (frames > 0 ? [SoleContent(framesOf: location.name + "-wal", count: frames)] : [])
    guard let status = try files.status(of: kept) else {
      throw VaultError.file(FileError(.status, kept, code: 0, reason: "it vanished"))
    }
    let description = PreviousVersionManifest(
      identifier: manifest.identifier, time: name.time, storeName: location.name, storeByteCount: status.size,
      supportFileCount: support.fileCount, supportByteCount: support.byteCount,
      versionChecksum: replacement.previousChecksum, versionName: replacement.previousName, generation: generation,
      successor: successor ?? "", mode: hold.previousMode,
      operation: manifest.operation, alone: alone.isEmpty ? nil : SoleContents(alone))
    try files.writeNewFile(
      PathText.join(folder, StoreLocation.manifestName), bytes: try description.encoded(), attributes: plain)
    reportPassedOver(support.passedOver)
    // The folder's names, then the folder's own name: both must be durable before the store's path names another file.
    try files.synchronizeDirectory(folder)
    try files.synchronizeDirectory(location.previous)
    return PreviousVersionFiles(
      name: name, path: folder, storePath: kept, manifest: description, storeByteCount: status.size)
  }

  /// Pins the newest previous version if the store isn't the one that replaced it.
  ///
  /// Another program has then put another store there, which may lack the version's content. The content of older
  /// versions was carried over to the newest one.
  private func pinNewestVersion(unlessFollowedBy generation: String?) throws {
    let versions = try previousVersions()
    guard let newest = versions.last(where: { $0.manifest?.operation != .undoing }), let manifest = newest.manifest,
      manifest.mayBePinned, !manifest.isFollowed(byStoreOf: generation, among: versions)
    else { return }
    try replaceManifest(of: newest, with: manifest.pinned)
    try files.synchronizeDirectory(newest.path)
  }

  /// Creates the folder of previous versions unless it exists, and sets whether backups include it, if the app chose.
  func makePreviousFolder(like companion: FileStatus) throws(VaultError) {
    try tree.ensure(location.previous, like: companion)
    guard let isExcluded = configuration.excludesPreviousVersionsFromBackup else { return }
    do throws(FileError) {
      try files.setExcludedFromBackup(isExcluded, location.previous)
    } catch {
      var left = PassedOver()
      left.note("its exclusion from backups (\(error.reason))")
      reportLeftOut(left, of: location.previous)
    }
  }

  /// Returns a name that sorts after all existing ones, even if the clock was set back.
  func nextVersionName(identifier: String) throws(FileError) -> VersionName {
    var time = configuration.now()
    for name in try versionNames(in: location.previous) where name.time >= time { time = name.time + 1 }
    return VersionName(time: time, identifier: identifier)
  }

  func versionNames(in folder: String) throws(FileError) -> [VersionName] {
    guard try files.status(of: folder)?.kind == .directory else { return [] }
    return try files.names(in: folder).compactMap(VersionName.init(_:)).sorted()
  }

  /// Reads the generation of a store that is not held.
  func readGeneration(of path: String) throws -> String? {
    try StoreReading.generation(of: Connection(path: path, mode: .readOnly, options: .inspecting.withoutLinks))
  }

  // MARK: Previous versions

  /// Lists the previous versions, the oldest first.
  ///
  /// It takes no lock and writes nothing. A version whose own manifest is damaged is listed too:
  /// its store may be whole. A version that an unfinished operation is still keeping is not listed.
  package func previousVersions() throws(VaultError) -> [PreviousVersionFiles] {
    try VaultError.wrapping { () throws(FileError) in
      let store = try files.status(of: location.path)
      let unfinished = try? readManifest()
      var versions: [PreviousVersionFiles] = []
      for name in try versionNames(in: location.previous) {
        let version = try readVersion(name)
        // A second name of the live store is no version: a run was interrupted while it kept the store.
        if let path = version.storePath, let store, try files.status(of: path)?.identity == store.identity { continue }
        if unfinished?.keptFolder == name.text, unfinished?.phase == .copying || version.storePath == nil { continue }
        versions.append(version)
      }
      return versions
    }
  }

  func readVersion(_ name: VersionName) throws(FileError) -> PreviousVersionFiles {
    let folder = PathText.join(location.previous, name.text)
    // An untrusted user's folder is listed without content: it is neither restored nor counted for pruning.
    guard try objection(toVersionAt: folder) == nil else {
      return PreviousVersionFiles(name: name, path: folder, storePath: nil, manifest: nil, storeByteCount: 0)
    }
    let path = PathText.join(folder, StoreLocation.manifestName)
    var manifest: PreviousVersionManifest?
    if try files.status(of: path) != nil,
      let bytes = try? files.readFile(path, limit: PreviousVersionManifest.byteLimit)
    {
      manifest = try? PreviousVersionManifest(decoding: bytes)
    }
    let store = PathText.join(folder, manifest?.storeName ?? location.name)
    let status = try files.status(of: store)
    return PreviousVersionFiles(
      name: name, path: folder, storePath: status?.kind == .regular ? store : nil, manifest: manifest,
      storeByteCount: status?.size ?? 0)
  }

  /// Returns the reason why a folder is not usable as a version; `nil` if it is.
  func objection(toVersionAt folder: String) throws(FileError) -> String? {
    guard let status = try files.status(of: folder) else { return "it vanished" }
    guard status.kind == .directory else { return "it is a \(status.kind.rawValue)" }
    return try isTrusted(status) ? nil : "it belongs to the user \(status.owner), a stranger to the store"
  }

  // MARK: Pruning

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
    if !names.contains(where: Self.isPruned) {
      guard names.count(where: { VersionName($0) != nil }) > max(1, count) else { return [] }
      guard try !surplus(keeping: count, sparing: checksum()).isEmpty else { return [] }
    }
    return try withLock {
      try recoverHoldingLock()
      let surplus = try surplus(keeping: count, sparing: checksum())
      do throws(FileError) {
        for version in surplus {
          // One rename, synced before the first file is removed: a version is complete or gone.
          try files.rename(version.path, to: prunedPath(version.name.text))
          try files.synchronizeDirectory(location.previous)
          try tree.remove(prunedPath(version.name.text))
          report(.pruned(id: version.name.text))
        }
        if !surplus.isEmpty { try files.synchronizeDirectory(location.previous) }
      } catch {
        throw VaultError.file(error)
      }
      return surplus.map(\.name.text)
    }
  }

  /// Returns the versions to prune, the oldest first.
  ///
  /// Only restorable versions count: one that contradicts its name or its manifest doesn't displace a sound one.
  /// Of the versions that keep an interrupted change, only the newest is kept, and none counts towards `count`.
  private func surplus(keeping count: Int, sparing checksum: String?) throws(VaultError) -> [PreviousVersionFiles] {
    let versions = try previousVersions().filter { $0.manifest?.isPinned == false && isSound($0) }
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

  func prunedPath(_ name: String) -> String {
    PathText.join(location.previous, Self.prunedPrefix + name)
  }

  private static func isPruned(_ name: String) -> Bool {
    name.hasPrefix(prunedPrefix) && VersionName(String(name.dropFirst(prunedPrefix.count))) != nil
  }

  /// Removes versions whose pruning was interrupted.
  func removePruned() throws(FileError) {
    guard try files.status(of: location.previous)?.kind == .directory else { return }
    let names = try files.names(in: location.previous).filter(Self.isPruned)
    guard !names.isEmpty else { return }
    // The rename may not be synced yet.
    try files.synchronizeDirectory(location.previous)
    for name in names { try tree.remove(PathText.join(location.previous, name)) }
    try files.synchronizeDirectory(location.previous)
  }
}
