import HeirloomStore

/// What is wrong with a `-wal`: SQLite reads it up to there, drops the rest, and says nothing.
package struct LogDamage: Hashable, Sendable {
  /// Whether the log's own header is damaged.
  let isHeaderDamaged: Bool
  /// The frames of committed changes that can't be trusted.
  let damagedCount: Int
  /// The frames of committed changes.
  let frameCount: Int

  /// Whether committed changes are lost; else what comes after the last one may have been a change that was never done.
  package var isCertain: Bool { isHeaderDamaged || damagedCount > 0 }

  /// Names the damage; `nil` if there is none.
  init?(_ content: WriteAheadLog.Content) {
    guard content.isHeaderDamaged || content.damagedCount > 0 || content.isEndDamaged else { return nil }
    (isHeaderDamaged, damagedCount, frameCount) = (content.isHeaderDamaged, content.damagedCount, content.frameCount)
  }
}

extension LogDamage: CustomStringConvertible {
  /// One or two sentences: what was found, what it means, and what becomes of it.
  package var description: String {
    let found =
      if isHeaderDamaged {
        "The header of the \"-wal\" is damaged: SQLite reads nothing of it, and the changes that were saved last are missing."
      } else if damagedCount > 0 {
        "\(damagedCount) of \(frameCount) pages in the \"-wal\" are damaged: SQLite reads it up to the first of them, and changes"
          + " that were saved after it are missing."
      } else {
        "The end of the \"-wal\" can't be read: a change that was saved last may be missing, if it was saved at all."
      }
    return found + " A migration keeps the log with the previous version, where heirloom salvage reads it."
  }
}

extension StoreVault {
  /// Reads the store's `-wal` as far as it goes, and finds what SQLite would drop; takes no lock and writes nothing.
  ///
  /// - Returns: `nil` if there is nothing.
  /// - Throws: ``VaultError/file(_:)`` when it can't be read.
  package func logDamage() throws(VaultError) -> LogDamage? {
    try VaultError.wrapping { () throws(FileError) in
      guard let status = try files.status(of: log), status.kind == .regular, status.size > 0 else { return nil }
      return try damage(of: log)
    }
  }

  private var log: String { location.path + "-wal" }

  private func damage(of log: String) throws(FileError) -> LogDamage? {
    let start = try files.readStart(of: location.path, count: 18)
    let declared = start.count == 18 ? Int(start[16]) << 8 | Int(start[17]) : 0
    let pageSize = declared == 1 ? 65_536 : declared
    return try WriteAheadLog(log).content(pageSize: pageSize >= 512 ? pageSize : nil).flatMap { LogDamage($0) }
  }

  /// Copies a `-wal` that SQLite can't read to its end, on the disk before SQLite drops it.
  ///
  /// The copy waits in the companion folder, also for the run after a crash, until it is kept with a version.
  ///
  /// - Throws: ``VaultError/unreadableLog(path:_:)`` if the caller wants it so; nothing was changed then.
  func copyUnreadableLog() throws(VaultError) {
    guard let damage = try logDamage() else { return }
    guard !configuration.stopsAtUnreadableLog else { throw .unreadableLog(path: location.path, damage) }
    try VaultError.wrapping { () throws(FileError) -> Void in
      guard let status = try files.status(of: log) else { return }
      // The salts in a log's header tell one use of it from another.
      let start = try files.readStart(of: log, count: 32)
      let waiting = try unreadLogs()
      for name in waiting {
        let copy = PathText.join(location.companion, name)
        if try files.status(of: copy)?.size == status.size, try files.readStart(of: copy, count: 32) == start { return }
      }
      let number = waiting.isEmpty ? "" : "-" + files.uniqueIdentifier().prefix(8)
      let copy = PathText.join(location.companion, Self.unreadLogName + number)
      // A copy that was begun has another name.
      if try files.status(of: copy + ".tmp") != nil { try files.unlink(copy + ".tmp") }
      try files.copyFile(log, to: copy + ".tmp", attributes: status.attributes)
      try files.rename(copy + ".tmp", to: copy)
      try files.synchronizeDirectory(location.companion)
      try files.synchronizeDirectory(location.directory)
    }
  }

  private static let unreadLogName = String(StoreLocation.unreadLogSuffix.dropFirst())

  /// The names of logs that wait in the companion folder.
  private func unreadLogs() throws(FileError) -> [String] {
    try files.names(in: location.companion).filter { $0.hasPrefix(Self.unreadLogName) && !$0.hasSuffix(".tmp") }
  }

  /// Keeps the logs that wait with a version.
  ///
  /// - Parameter store: The version's store.
  /// - Throws: `FileError`, or what the caller throws when it is told of a log.
  func keepUnreadLogs(withStoreAt store: String) throws {
    for name in try unreadLogs() {
      let waiting = PathText.join(location.companion, name)
      guard let status = try files.status(of: waiting), status.kind == .regular else { continue }
      let kept = "\(store)-\(name)"
      try files.copyFile(waiting, to: kept, attributes: status.attributes)
      if let damage = try damage(of: waiting) { try emit(.keptLog(path: kept, damage)) }
    }
  }

  /// Removes the logs that wait and are kept with a version, which is on the disk.
  func removeKeptLogs(withStoreAt store: String) throws(FileError) {
    var hasRemoved = false
    for name in try unreadLogs() {
      let waiting = PathText.join(location.companion, name)
      guard let kept = try files.status(of: "\(store)-\(name)"), kept.size == (try files.status(of: waiting)?.size)
      else { continue }
      try files.unlink(waiting)
      hasRemoved = true
    }
    // Before the record goes: nobody would look for one that came back.
    if hasRemoved { try files.synchronizeDirectory(location.companion) }
  }
}
