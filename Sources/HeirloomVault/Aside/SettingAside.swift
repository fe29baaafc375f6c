import HeirloomStore

/// One setting aside of the store, for a new one to be created in its place.
///
/// Nothing is deleted: every file has a second name, synced, before the first file loses its own name.
/// The main file goes first: SQLite drops side files that it finds beside a new, empty store, but would read the
/// main file without them as an older state. A store that SQLite can't read is moved with its side files as it is.
struct SettingAside: VaultPart {
  let place: StorePlace
  let manifest: VaultManifest

  var folder: String {
    let name = manifest.keptFolder.flatMap(VersionName.init(_:))?.datedText ?? manifest.identifier
    return PathText.join(location.incompatible, name)
  }

  private var main: String { PathText.join(folder, manifest.storeName) }

  func keep(hold: StoreHold?, logs: [String: LogDamage], notice: [UInt8]?, like companion: FileStatus) throws {
    try keepStore(hold: hold, like: companion)
    try keepUnreadLogs(logs)
    guard let notice else { return }
    let path = PathText.join(folder, SetAsideFiles.noticeName)
    try files.writeNewFile(path, bytes: notice, attributes: FileAttributes(mode: 0o644))
    try files.synchronizeDirectory(folder)
  }

  private func keepStore(hold: StoreHold?, like companion: FileStatus) throws {
    try files.makeDirectory(folder, attributes: companion.attributes)
    let attributes = try files.status(of: location.path)?.attributes ?? FileAttributes(mode: 0o600)
    if let hold {
      // A held store was synced by the hold, and may be copied only by its handle.
      if try !isLinked(location.path, to: main) { place.reportLeftOut(try hold.copyStore(to: main), of: main) }
    } else {
      try tree.linkOrCopy(location.path, to: main, attributes: attributes)
      try files.synchronizeFile(main)
    }
    try keepRest()
  }

  private func isLinked(_ path: String, to newPath: String) throws(FileError) -> Bool {
    do throws(FileError) {
      try files.link(path, to: newPath)
      return true
    } catch {
      guard error.isRefusedLink else { throw error }
      return false
    }
  }

  private func keepRest() throws(FileError) {
    for suffix in StoreLocation.dataSuffixes {
      guard let status = try files.status(of: location.path + suffix), status.kind == .regular else { continue }
      try tree.linkOrCopy(location.path + suffix, to: main + suffix, attributes: status.attributes)
      try files.synchronizeFile(main + suffix)
    }
    let support = try tree.keep(
      try place.supportFolder(),
      at: PathText.join(folder, StoreLocation.supportName(forStore: manifest.storeName)))
    place.reportPassedOver(support.passedOver)
    if let status = try files.status(of: location.snapshot), status.kind == .regular {
      let to = PathText.join(folder, StoreLocation.snapshotName)
      try tree.linkOrCopy(location.snapshot, to: to, attributes: status.attributes)
    }
    try files.synchronizeDirectory(folder)
    try files.synchronizeDirectory(location.incompatible)
    // The companion folder may be new, and without a hold nothing else has synced its name.
    try files.synchronizeDirectory(location.directory)
  }

  /// The waiting logs don't belong to any later store: they go to the set-aside store's own
  /// companion folder.
  private func keepUnreadLogs(_ logs: [String: LogDamage]) throws {
    guard try !unreadLogs.names().isEmpty, let companion = try files.status(of: location.companion) else {
      return
    }
    let logFolder = main + StoreLocation.companionSuffix
    try files.makeDirectory(logFolder, attributes: companion.attributes)
    try unreadLogs.keep(logs, as: logFolder + "/")
    try files.synchronizeDirectory(logFolder)
    try files.synchronizeDirectory(folder)
  }

  /// Completes an interrupted setting aside, or undoes it if the store was used since.
  func settle() throws(VaultError) -> VaultRecovery {
    if manifest.phase == .removing, try !VaultError.wrapping(wasUsedSince) {
      try finish()
      return .rolledForward
    }
    try VaultError.wrapping(remove)
    return .rolledBack
  }

  /// A side file that was not set aside means that a program without Heirloom has opened the store
  /// and saved changes, which belong to it.
  private func wasUsedSince() throws(FileError) -> Bool {
    guard try files.status(of: main) != nil, try files.status(of: location.path) != nil,
      try isRedundant(main, location.path)
    else { return false }
    for suffix in StoreLocation.dataSuffixes {
      guard let status = try files.status(of: location.path + suffix), status.size > 0 else { continue }
      guard try files.status(of: main + suffix) != nil, try isRedundant(main + suffix, location.path + suffix) else {
        return true
      }
    }
    return false
  }

  /// No file has been moved yet.
  func remove() throws(FileError) {
    try record.removeDraft()
    // If the store was removed since, the prepared folder may hold all there is.
    let store = try files.status(of: location.path)
    var isNeeded = true
    if let store, store.kind == .regular, store.size > 0 {
      isNeeded = false
    } else if try isRedundant(main, location.path) {
      isNeeded = false
    }
    if !isNeeded {
      try tree.remove(folder)
    }
    if try files.status(of: location.incompatible) != nil { try files.synchronizeDirectory(location.incompatible) }
    try record.remove()
  }

  func finish() throws(VaultError) {
    try VaultError.wrapping(removeOldNames)
    if manifest.replacesMissing {
      try record.write(.missingStore(from: manifest))
    } else {
      try VaultError.wrapping(record.remove)
    }
    place.report(.setAside(path: folder))
  }

  /// A store that an app has created there meanwhile stays.
  private func removeOldNames() throws(FileError) {
    if try files.status(of: main) != nil, try files.status(of: location.path) != nil,
      try isRedundant(main, location.path)
    {
      try files.unlink(location.path)
    }
    // Without its side files the main file would be read as an older state: its removal must be synced first.
    try files.synchronizeDirectory(location.directory)
    if try files.status(of: location.path) == nil {
      for suffix in StoreLocation.sideSuffixes {
        guard try files.status(of: location.path + suffix) != nil else { continue }
        // The -shm is only an index of the -wal.
        if suffix != "-shm" {
          guard try files.status(of: main + suffix) != nil else { continue }
          guard try isRedundant(main + suffix, location.path + suffix) else { continue }
        }
        try files.unlink(location.path + suffix)
      }
      try files.synchronizeDirectory(location.directory)
      if try !isSupportShared() {
        let support = StoreLocation.supportName(forStore: manifest.storeName)
        try tree.takeBack(PathText.join(folder, support), from: try place.supportFolder())
      }
    }
    try unreadLogs.removeKept(as: main + StoreLocation.companionSuffix + "/")
  }

  /// Another store may have the same folder of external data, as `S.db` beside `S.sqlite`, and the
  /// owner of an external file can't be determined.
  ///
  /// A damaged store needs its files too, so any content counts.
  private func isSupportShared() throws(FileError) -> Bool {
    let own = [location.name] + StoreLocation.sideSuffixes.map { location.name + $0 }
    for name in try files.names(in: location.directory) where !own.contains(name) {
      guard StoreLocation.supportName(forStore: name) == location.supportName else { continue }
      if try files.status(of: PathText.join(location.directory, name))?.kind == .regular { return true }
    }
    return false
  }

  /// Compares all bytes: in WAL mode, SQLite may change a database without counting it in the
  /// header.
  private func isRedundant(_ first: String, _ second: String) throws(FileError) -> Bool {
    guard let one = try files.status(of: first) else {
      // The main file was not set aside yet.
      return true
    }
    guard let other = try files.status(of: second) else { return false }
    guard one.identity == other.identity || one.kind == .regular && other.kind == .regular else { return false }
    return try tree.isSame(first, one, as: second, other)
  }
}
