import HeirloomStore

/// The damage of a `-wal`: SQLite reads the log up to there, drops the rest, and says nothing.
package struct LogDamage: Hashable, Sendable {
  /// True when the log's own header is damaged.
  let isHeaderDamaged: Bool
  /// The number of frames of committed changes at which SQLite stops.
  let damagedCount: Int
  /// The number of frames of committed changes.
  let frameCount: Int

  /// True when committed changes are lost; false when the damaged end may be a change that was never committed.
  package var isCertain: Bool { isHeaderDamaged || damagedCount > 0 }

  /// Creates the description of a log's damage; `nil` if there is none.
  init?(_ content: WriteAheadLog.Content) {
    (isHeaderDamaged, frameCount) = (content.isHeaderDamaged, content.frameCount)
    damagedCount = content.damagedCount + content.strayCount
    guard isCertain || content.isEndDamaged else { return nil }
  }
}

extension LogDamage: CustomStringConvertible {
  /// Two sentences: the damage and its meaning, then the fate of the log.
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
    return found + " A migration keeps the log with the previous version, where salvage reads it."
  }
}

extension StoreVault {
  /// Reads the store's `-wal` and finds the part that SQLite would drop; takes no lock and writes nothing.
  ///
  /// - Returns: The damage; `nil` if there is none.
  /// - Throws: ``VaultError/file(_:)`` when the log can't be read.
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

  /// Copies to the disk a `-wal` that SQLite can't read to its end, before SQLite drops it.
  ///
  /// The copy waits in the companion folder until it is kept with a previous version, also by the run after a crash.
  ///
  /// - Throws: ``VaultError/unreadableLog(path:_:)`` if the caller wants to stop there; nothing was changed then.
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
      // An unfinished copy has another name.
      if try files.status(of: copy + ".tmp") != nil { try files.unlink(copy + ".tmp") }
      try tree.copyFile(log, to: copy + ".tmp", attributes: status.attributes)
      try files.rename(copy + ".tmp", to: copy)
      try files.synchronizeDirectory(location.companion)
      try files.synchronizeDirectory(location.directory)
    }
  }

  private static let unreadLogName = String(StoreLocation.unreadLogSuffix.dropFirst())

  /// Returns the names of the logs that wait in the companion folder.
  private func unreadLogs() throws(FileError) -> [String] {
    try files.names(in: location.companion).filter { $0.hasPrefix(Self.unreadLogName) && !$0.hasSuffix(".tmp") }
  }

  /// Keeps the waiting logs with a previous version.
  ///
  /// - Parameter store: The version's store.
  /// - Throws: `FileError`, or an error from the receiver of events.
  func keepUnreadLogs(withStoreAt store: String) throws {
    for name in try unreadLogs() {
      let waiting = PathText.join(location.companion, name)
      guard let status = try files.status(of: waiting), status.kind == .regular else { continue }
      let kept = "\(store)-\(name)"
      try tree.copyFile(waiting, to: kept, attributes: status.attributes)
      if let damage = try damage(of: waiting) { try emit(.keptLog(path: kept, damage)) }
    }
  }

  /// Removes the waiting logs that are kept with a previous version, which is on the disk.
  func removeKeptLogs(withStoreAt store: String) throws(FileError) {
    var hasRemoved = false
    for name in try unreadLogs() {
      let waiting = PathText.join(location.companion, name)
      guard let kept = try files.status(of: "\(store)-\(name)"), kept.size == (try files.status(of: waiting)?.size)
      else { continue }
      try files.unlink(waiting)
      hasRemoved = true
    }
    // This comes before the manifest goes: later nobody would look for a log that came back.
    if hasRemoved { try files.synchronizeDirectory(location.companion) }
  }
}
