import HeirloomModel
import HeirloomStore

/// The store's `-wal`, and the logs that SQLite could not read to their ends, which wait to be kept with a version.
struct UnreadLogs: VaultPart {
  let place: StorePlace

  func damage() throws(VaultError) -> LogDamage? {
    if let damage = try damageOfLog() { return damage }
    return try VaultError.wrapping { () throws(FileError) in
      // A folder that can't be listed is reported by another finding, and no migration starts.
      guard try files.status(of: location.companion)?.kind == .directory, let names = try? names() else {
        return nil
      }
      for name in names {
        let path = PathText.join(location.companion, name)
        if try files.status(of: path)?.kind == .regular, let damage = try damage(of: path, in: location.path) {
          return damage
        }
      }
      return nil
    }
  }

  func damageOfLog() throws(VaultError) -> LogDamage? {
    try VaultError.wrapping { () throws(FileError) in
      guard let status = try files.status(of: log), status.kind == .regular, status.size > 0 else { return nil }
      return try damage(of: log, in: location.path)
    }
  }

  var log: String { location.path + "-wal" }

  private func damage(of path: String, in database: String) throws(FileError) -> LogDamage? {
    let reader = try WriteAheadLog(path)
    guard var content = try reader.content(pageSize: nil) else { return nil }
    // The database's file is read only for a damaged log: closing it drops the locks that this process has on it.
    if content.isHeaderDamaged {
      let pageSize = DatabaseHeader.pageSize(in: try files.readStart(of: database, count: 18))
      if pageSize >= 512, let known = try reader.content(pageSize: pageSize) { content = known }
    }
    return LogDamage(
      content, holdsMore: try reader.holdsMore(content, thanDatabaseAt: database), name: location.name + "-wal")
  }

  /// The copy waits in the companion folder until a version keeps it, also by the run after a
  /// crash.
  ///
  /// Throws ``VaultError/unreadableLog(path:_:)`` if the configuration stops at damaged logs, and
  /// changes nothing then.
  @discardableResult
  func copyUnreadable() throws(VaultError) -> (path: String, damage: LogDamage)? {
    guard let damage = try damageOfLog() else { return nil }
    guard !place.configuration.stopsAtUnreadableLog else { throw .unreadableLog(path: location.path, damage) }
    let path = try VaultError.wrapping { () throws(FileError) -> String? in
      guard let status = try files.status(of: log) else { return nil }
      let waiting = try names()
      for name in waiting {
        let copy = PathText.join(location.companion, name)
        if let known = try files.status(of: copy), try tree.isSame(log, status, as: copy, known) {
          // A run may have died between the copy and its sync.
          try files.synchronizeDirectory(location.companion)
          try files.synchronizeDirectory(location.directory)
          return nil
        }
      }
      let number = waiting.isEmpty ? "" : "-" + files.uniqueIdentifier().prefix(8)
      let copy = PathText.join(location.companion, Self.unreadLogName + number)
      try removeUnfinished()
      try tree.copyFile(log, to: copy + ".tmp", attributes: status.attributes)
      try files.rename(copy + ".tmp", to: copy)
      try files.synchronizeDirectory(location.companion)
      try files.synchronizeDirectory(location.directory)
      return copy
    }
    return path.map { ($0, damage) }
  }

  private static let unreadLogName = String(StoreLocation.unreadLogSuffix.dropFirst())

  func names() throws(FileError) -> [String] { try allNames().filter { !$0.hasSuffix(".tmp") } }

  private func removeUnfinished() throws(FileError) {
    for name in try allNames() where name.hasSuffix(".tmp") {
      try files.unlink(PathText.join(location.companion, name))
    }
  }

  private func allNames() throws(FileError) -> [String] {
    try files.names(in: location.companion).filter { $0.hasPrefix(Self.unreadLogName) }
  }

  /// Call it before the store is held: closing the store's file drops SQLite's locks.
  func damageOfWaiting() throws(FileError) -> [String: LogDamage] {
    var all: [String: LogDamage] = [:]
    for name in try names() {
      let path = PathText.join(location.companion, name)
      if try files.status(of: path)?.kind == .regular { all[name] = try damage(of: path, in: location.path) }
    }
    return all
  }

  /// `start` is the start of each copy's path, before the log's name.
  @discardableResult
  func keep(_ damages: [String: LogDamage], as start: String) throws -> Int {
    var lostCount = 0
    for name in try names() {
      let waiting = PathText.join(location.companion, name)
      guard let status = try files.status(of: waiting), status.kind == .regular else { continue }
      let kept = start + name
      try tree.copyFile(waiting, to: kept, attributes: status.attributes)
      guard let damage = damages[name] else { continue }
      lostCount += damage.lostCount
      try place.emit(.keptLog(path: kept, damage))
    }
    return lostCount
  }

  func content(keptWith version: PreviousVersionFiles) throws -> [SoleContent] {
    guard let store = version.storePath else { return [] }
    if version.manifest?.operation == .undoing {
      guard let damage = try RollbackJournal(besideDatabaseAt: store)?.playback().damage else { return [] }
      return [SoleContent(pagesOf: location.name + "-journal", count: damage.lostCount)]
    }
    let start = "\(PathText.split(store).name)-\(Self.unreadLogName)"
    var lostCount = 0
    for name in try files.names(in: version.path) where name.hasPrefix(start) && !name.hasSuffix(".tmp") {
      lostCount += try damage(of: PathText.join(version.path, name), in: store)?.lostCount ?? 0
    }
    return lostCount == 0 ? [] : [SoleContent(framesOf: location.name + "-wal", count: lostCount)]
  }

  /// Call it once the copies are synced.
  func removeKept(as start: String) throws(FileError) {
    var hasRemoved = false
    for name in try names() {
      let waiting = PathText.join(location.companion, name)
      guard let kept = try files.status(of: start + name), let status = try files.status(of: waiting),
        try tree.isSame(waiting, status, as: start + name, kept)
      else { continue }
      try files.unlink(waiting)
      hasRemoved = true
    }
    // Before the manifest is removed: no later run would look for a log that came back.
    if hasRemoved { try files.synchronizeDirectory(location.companion) }
  }
}

extension VaultPart {
  var unreadLogs: UnreadLogs { UnreadLogs(place: place) }
}
