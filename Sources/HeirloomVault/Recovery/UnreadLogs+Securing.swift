import HeirloomStore

extension UnreadLogs {
  /// Copies and syncs a `-wal` that SQLite can't read to its end, before the store is opened for writing.
  ///
  /// Most stores have no `-wal`, or an empty one: then nothing is read, and no lock is taken.
  /// If it throws, nothing was changed.
  func secure() throws {
    guard let status = try files.status(of: log), try damageOfLog() != nil else { return }
    // A set-aside store may be opened in its folder.
    let place = place.moved(to: location) { $0.worksOnKeptStore = true }
    try VaultLock(place: place).withLock {
      // A log that changes is in use by a process, which has read it already.
      let now = try files.status(of: log)
      guard now?.size == status.size, now?.modificationTime == status.modificationTime else { return }
      if let copy = try UnreadLogs(place: place).copyUnreadable() {
        try place.emit(.keptLog(path: copy.path, copy.damage))
      }
    }
  }
}
