import HeirloomStore

extension StoreVault {
  /// Sets the store aside with its files, for a new one to be created in its place; returns the folder.
  ///
  /// Nothing is deleted: every file has a second name, synced, before the first file loses its own name.
  /// The main file goes first: SQLite drops side files that it finds beside a new, empty store, but would read the
  /// main file without them as an older state. A store that SQLite can't read is moved with its side files as it is.
  /// The notice is kept with the store and synced before the store is moved. `isNeeded` is called under the lock, since
  /// another process may have done the same; `nil` is returned if it is false.
  /// ``VaultError/storeInUse(path:reason:)`` means that another process has the store open. After
  /// ``VaultError/file(_:)`` either nothing was changed, or the next run continues.
  package func setStoreAside(
    notice: [UInt8]? = nil, isNeeded: () throws -> Bool = { true }
  ) throws -> String? {
    try withLock(requiresStore: false) {
      try recoverHoldingLock()
      guard try isNeeded() else { return nil }
      guard try files.status(of: location.path) != nil else {
        try throwStoreMissing()
        return nil
      }
      try checkStore(bytesNeeded: 0)
      let (hold, logs) = try holdUnlessUnreadable()
      guard let companion = try files.status(of: location.companion) else {
        throw VaultError.unusableFolder(path: location.companion, reason: "it vanished")
      }
      let identifier = files.uniqueIdentifier()
      var manifest = VaultManifest(
        identifier: identifier, operation: .settingAside, storeName: location.name,
        keptFolder: VersionName(time: configuration.now(), identifier: identifier).text, oldGeneration: nil,
        newGeneration: nil, time: configuration.now())
      do {
        if let hold { try emit(.held(hold.previousMode)) }
        try tree.ensure(location.incompatible, like: companion)
        try write(manifest)
        try emit(.manifestWritten(identifier: identifier))
        try keepAside(manifest, hold: hold, like: companion)
        try keepUnreadLogsAside(manifest, logs)
        if let notice {
          let path = PathText.join(setAsideFolder(manifest), SetAsideFiles.noticeName)
          try files.writeNewFile(path, bytes: notice, attributes: FileAttributes(mode: 0o644))
          try files.synchronizeDirectory(setAsideFolder(manifest))
        }
        try emit(.previousVersionKept(id: identifier))
        manifest.phase = .removing
        try write(manifest)
      } catch {
        do throws(FileError) {
          try removeAside(manifest)
          report(.rolledBack(identifier: identifier))
        } catch {
          report(.cleanUpPostponed(identifier: identifier, error))
        }
        try? hold?.closeRestoringJournalMode()
        throw error
      }
      defer { hold?.close() }
      try finishSettingAside(manifest)
      return setAsideFolder(manifest)
    }
  }

  /// Holds the store, unless SQLite can't read it: then no program can use it through SQLite either.
  ///
  /// Also returns the damage of each log that waits to be kept.
  private func holdUnlessUnreadable() throws -> (hold: StoreHold?, logs: [String: LogDamage]) {
    // A store with an interrupted change is moved as it is: a rollback here would change the only copy.
    if try RollbackJournal(besideDatabaseAt: location.path) != nil, try isChangeInterrupted() {
      return (nil, [:])
    }
    try copyUnreadableLog()
    let logs = try damageOfUnreadLogs()
    do throws(VaultError) {
      return (try StoreHold.open(location, files: files, timeout: configuration.holdTimeout), logs)
    } catch {
      // A catch clause with a pattern and a condition crashes the compiler (Swift 6.3.1).
      guard case .unreadableStore(_, let underlying) = error, underlying.isAboutContent else { throw error }
      return (nil, logs)
    }
  }

  /// Returns the folder that receives the store; its name has the time in readable form.
  private func setAsideFolder(_ manifest: VaultManifest) -> String {
    let name = manifest.keptFolder.flatMap(VersionName.init(_:))?.datedText ?? manifest.identifier
    return PathText.join(location.incompatible, name)
  }

  private func setAsidePath(_ manifest: VaultManifest) -> String {
    PathText.join(setAsideFolder(manifest), manifest.storeName)
  }

  // MARK: Keeping

  private func keepAside(_ manifest: VaultManifest, hold: StoreHold?, like companion: FileStatus) throws {
    let folder = setAsideFolder(manifest)
    let main = setAsidePath(manifest)
    try files.makeDirectory(folder, attributes: companion.attributes)
    let attributes = try files.status(of: location.path)?.attributes ?? FileAttributes(mode: 0o600)
    if let hold {
      // A held store was synced by the hold, and may be copied only by its handle.
      if try !isLinked(location.path, to: main) { reportLeftOut(try hold.copyStore(to: main), of: main) }
    } else {
      try tree.linkOrCopy(location.path, to: main, attributes: attributes)
      try files.synchronizeFile(main)
    }
    try keepAsideRest(manifest)
  }

  /// Links a file, and returns false where links are refused.
  func isLinked(_ path: String, to newPath: String) throws(FileError) -> Bool {
    do throws(FileError) {
      try files.link(path, to: newPath)
      return true
    } catch {
      guard error.isRefusedLink else { throw error }
      return false
    }
  }

  private func keepAsideRest(_ manifest: VaultManifest) throws(FileError) {
    let folder = setAsideFolder(manifest)
    for suffix in StoreLocation.dataSuffixes {
      guard let status = try files.status(of: location.path + suffix), status.kind == .regular else { continue }
      try tree.linkOrCopy(location.path + suffix, to: setAsidePath(manifest) + suffix, attributes: status.attributes)
      try files.synchronizeFile(setAsidePath(manifest) + suffix)
    }
    let support = try tree.keep(
      try supportFolder(),
      at: PathText.join(folder, StoreLocation.supportName(forStore: manifest.storeName)))
    reportPassedOver(support.passedOver)
    if let status = try files.status(of: location.snapshot), status.kind == .regular {
      let to = PathText.join(folder, StoreLocation.snapshotName)
      try tree.linkOrCopy(location.snapshot, to: to, attributes: status.attributes)
    }
    try files.synchronizeDirectory(folder)
    try files.synchronizeDirectory(location.incompatible)
    // The companion folder may be new, and without a hold nothing else has synced its name.
    try files.synchronizeDirectory(location.directory)
  }

  /// Copies the waiting logs to the set-aside store's own companion folder: they don't belong to any later store.
  private func keepUnreadLogsAside(_ manifest: VaultManifest, _ logs: [String: LogDamage]) throws {
    guard try !unreadLogs().isEmpty, let companion = try files.status(of: location.companion) else { return }
    let folder = setAsidePath(manifest) + StoreLocation.companionSuffix
    try files.makeDirectory(folder, attributes: companion.attributes)
    try keepUnreadLogs(logs, as: folder + "/")
    try files.synchronizeDirectory(folder)
    try files.synchronizeDirectory(setAsideFolder(manifest))
  }

  // MARK: Settling

  /// Completes an interrupted setting aside, or undoes it if the store was used since.
  func settleSettingAside(_ manifest: VaultManifest) throws(FileError) -> VaultRecovery {
    if manifest.phase == .removing, try !wasUsedSince(manifest) {
      try finishSettingAside(manifest)
      return .rolledForward
    }
    try removeAside(manifest)
    return .rolledBack
  }

  /// Returns true if the store is still in its place with a side file that was not set aside.
  ///
  /// A program without Heirloom has then opened the store and saved changes, which belong to it.
  private func wasUsedSince(_ manifest: VaultManifest) throws(FileError) -> Bool {
    let main = setAsidePath(manifest)
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

  /// Removes the prepared folder, unless it may hold the only copy; no file has been moved yet.
  private func removeAside(_ manifest: VaultManifest) throws(FileError) {
    if try files.status(of: location.manifestDraft) != nil { try files.unlink(location.manifestDraft) }
    // If the store was removed since, the prepared folder may hold all there is.
    let store = try files.status(of: location.path)
    var isNeeded = true
    if let store, store.kind == .regular, store.size > 0 {
      isNeeded = false
    } else if try isRedundant(setAsidePath(manifest), location.path) {
      isNeeded = false
    }
    if !isNeeded {
      try tree.remove(setAsideFolder(manifest))
    }
    if try files.status(of: location.incompatible) != nil { try files.synchronizeDirectory(location.incompatible) }
    try removeRecord()
  }

  /// Removes the store's old names, once it is set aside; a store that an app has created there meanwhile stays.
  private func finishSettingAside(_ manifest: VaultManifest) throws(FileError) {
    let main = setAsidePath(manifest)
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
        try tree.takeBack(PathText.join(setAsideFolder(manifest), support), from: try supportFolder())
      }
    }
    try removeKeptLogs(as: main + StoreLocation.companionSuffix + "/")
    try removeRecord()
    report(.setAside(path: setAsideFolder(manifest)))
  }

  /// Returns true if another file may be a store with the same folder of external data, as `S.db` beside `S.sqlite`.
  ///
  /// The owner of an external file can't be determined. A damaged store needs its files too, so any content counts.
  private func isSupportShared() throws(FileError) -> Bool {
    let own = [location.name] + StoreLocation.sideSuffixes.map { location.name + $0 }
    for name in try files.names(in: location.directory) where !own.contains(name) {
      guard StoreLocation.supportName(forStore: name) == location.supportName else { continue }
      if try files.status(of: PathText.join(location.directory, name))?.kind == .regular { return true }
    }
    return false
  }

  /// Returns true if one of two files can be removed because the other is the same file or an unchanged copy.
  ///
  /// A copy is recognized by its size and its first bytes, where SQLite counts the changes.
  private func isRedundant(_ first: String, _ second: String) throws(FileError) -> Bool {
    guard let one = try files.status(of: first) else {
      // The main file was not set aside yet.
      return true
    }
    guard let other = try files.status(of: second) else { return false }
    if one.identity == other.identity { return true }
    guard one.kind == .regular, other.kind == .regular, one.size == other.size else { return false }
    return try files.readStart(of: first, count: 100) == files.readStart(of: second, count: 100)
  }
}
