import HeirloomStore

extension StoreVault {
  /// `isNeeded` is called under the lock, since another process may have done the same; `nil` if it
  /// is false.
  ///
  /// If it is replaced next, a record of a missing store stays: without one, the next launch would
  /// create an empty store.
  ///
  /// The notice is kept with the store and synced before the store is moved. After
  /// ``VaultError/file(_:)`` either nothing was changed, or the next run continues.
  package func setStoreAside(
    notice: [UInt8]? = nil, isReplaced: Bool = false, isNeeded: () throws -> Bool = { true }
  ) throws -> String? {
    try lock.withLock(requiresStore: false) {
      try recovery.recover()
      guard try isNeeded() else { return nil }
      guard try files.status(of: location.path) != nil else {
        try keptVersions.throwStoreMissing()
        return nil
      }
      try place.checkStore(bytesNeeded: 0)
      let (hold, logs) = try holdUnlessUnreadable()
      let companion = try place.companionStatus()
      let identifier = files.uniqueIdentifier()
      let time = place.configuration.now()
      var manifest = VaultManifest(
        identifier: identifier, operation: .settingAside, storeName: location.name,
        keptFolder: VersionName(time: time, identifier: identifier).text, oldGeneration: nil, newGeneration: nil,
        time: time, replacesMissing: isReplaced)
      let settingAside = SettingAside(place: place, manifest: manifest)
      do {
        if let hold { try place.emit(.held(hold.previousMode)) }
        try tree.ensure(location.incompatible, like: companion)
        try record.write(manifest)
        try place.emit(.manifestWritten(identifier: identifier))
        try settingAside.keep(hold: hold, logs: logs, notice: notice, like: companion)
        try place.emit(.previousVersionKept(id: identifier))
        manifest.phase = .removing
        try record.write(manifest)
      } catch {
        do throws(FileError) {
          try settingAside.remove()
          place.report(.rolledBack(identifier: identifier))
        } catch {
          place.report(.cleanUpPostponed(identifier: identifier, error))
        }
        try? hold?.closeRestoringJournalMode()
        throw error
      }
      defer { hold?.close() }
      try settingAside.finish()
      return settingAside.folder
    }
  }

  /// If SQLite can't read the store, no program can use it through SQLite either.
  private func holdUnlessUnreadable() throws -> (hold: StoreHold?, logs: [String: LogDamage]) {
    // A store with an interrupted change is moved as it is: a rollback here would change the only copy.
    if try RollbackJournal(besideDatabaseAt: location.path) != nil, try InterruptedChange(place: place).isLeft() {
      return (nil, [:])
    }
    try unreadLogs.copyUnreadable()
    let logs = try unreadLogs.damageOfWaiting()
    do throws(VaultError) {
      return (try StoreHold.open(location, files: files, timeout: place.configuration.holdTimeout), logs)
    } catch {
      // A catch clause with a pattern and a condition crashes the compiler (Swift 6.3.1).
      guard case .unreadableStore(_, let underlying) = error, underlying.isAboutContent else { throw error }
      return (nil, logs)
    }
  }
}
