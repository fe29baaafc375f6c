import HeirloomStore

extension UnreadLogs {
  /// Opening the store for writing would make SQLite drop a `-wal` that it can't read to its end.
  ///
  /// Most stores have no `-wal`, or an empty one: then no lock is taken.
  func secure() throws {
    guard let status = try files.status(of: log), try damageOfLog() != nil else { return }
    // A set-aside store may be opened in its folder.
    let place = place.moved(to: location) { $0.worksOnKeptStore = true }
    try VaultLock(place: place).withLock {
      // A log that changes is in use by a process, which has read it already.
      guard try files.status(of: log)?.isUnchanged(since: status) == true else { return }
      if let copy = try UnreadLogs(place: place).copyUnreadable() {
        try place.emit(.keptLog(path: copy.path, copy.damage))
      }
    }
  }
}
