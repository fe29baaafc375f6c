import HeirloomModel
import HeirloomStore

/// Damage of a `-wal`, where SQLite stops reading: it drops the rest without an error.
package struct LogDamage: Equatable, Sendable {
  /// True when the log's own header is damaged.
  let isHeaderDamaged: Bool
  /// The number of damaged or stray frames.
  let damagedCount: Int
  /// The number of frames of committed changes.
  let frameCount: Int
  /// The number of frames after the damage whose content only the log holds.
  ///
  /// It is 0 if only an end without a commit is damaged.
  package let lostCount: Int
  /// The name of the log's file.
  package let name: String

  /// Describes the damage of a store's log; `nil` if SQLite reads everything in it.
  ///
  /// `holdsMore` is true if the last state of some page is in frames that SQLite doesn't read.
  init?(_ content: WriteAheadLog.Content, holdsMore: Bool, name: String) {
    (isHeaderDamaged, frameCount) = (content.isHeaderDamaged, content.frameCount)
    damagedCount = content.damagedCount + content.strayCount
    let unread = content.frameCount - content.readCount + content.damagedCommitCount
    lostCount = holdsMore ? max(1, unread) : 0
    self.name = name
    guard holdsMore || content.isEndDamaged && content.damagedCommitCount == 0 else { return nil }
  }
}

extension LogDamage: CustomStringConvertible {
  /// Two sentences: the damage and its effect, then what happens to the log.
  package var description: String {
    let found =
      if isHeaderDamaged {
        "The header of the \"-wal\" is damaged: SQLite ignores the log, and the last saved changes are missing."
      } else if damagedCount > 0 {
        "\(damagedCount) of \(frameCount) pages in the \"-wal\" \(CountText.verb("are", damagedCount)) damaged: SQLite reads it up to the first of them, and changes"
          + " that were saved after it are missing."
      } else {
        "The end of the \"-wal\" can't be read: the last change may be missing, if it was saved at all."
      }
    return found + " A migration keeps the log with the previous version, where salvage reads it."
  }
}

extension SoleContent {
  /// Describes frames that only a version's log holds.
  init(framesOf log: String, count: Int) {
    // No other content has this shape: other values have a property, and objects are of another kind.
    self.init(kind: "values", entity: log, property: nil, rows: Int64(count))
  }

  /// Describes pages that only a version's journal holds.
  init(pagesOf journal: String, count: Int64) {
    self.init(kind: "values", entity: journal, property: nil, rows: count)
  }

  /// Describes external files that have other content under the same name in the next version.
  init(changedFiles count: Int) {
    self.init(kind: "values", entity: SupportFolder.dataName, property: nil, rows: Int64(count))
  }

  /// True for frames of a log, counted by ``rows``; the entity is then the log's name.
  package var isOfLog: Bool { kind == "values" && property == nil && entity.hasSuffix("-wal") }

  /// True for pages of a journal, counted by ``rows``; the entity is then the journal's name.
  package var isOfJournal: Bool { kind == "values" && property == nil && entity.hasSuffix("-journal") }

  /// The unit of ``rows``, in the singular.
  package var unit: String {
    guard kind == "values", property == nil else { return "row" }
    return isOfLog ? "frame" : isOfJournal ? "page" : entity == SupportFolder.dataName ? "file" : "row"
  }
}

extension StoreVault {
  /// Finds damage in the store's `-wal`, then in the logs that wait to be kept; `nil` if there is none.
  ///
  /// It takes no lock and writes nothing.
  package func logDamage() throws(VaultError) -> LogDamage? {
    if let damage = try damageOfLog() { return damage }
    return try VaultError.wrapping { () throws(FileError) in
      // A folder that can't be listed is reported by another finding, and no migration starts.
      guard try files.status(of: location.companion)?.kind == .directory, let names = try? unreadLogs() else {
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

  private func damageOfLog() throws(VaultError) -> LogDamage? {
    try VaultError.wrapping { () throws(FileError) in
      guard let status = try files.status(of: log), status.kind == .regular, status.size > 0 else { return nil }
      return try damage(of: log, in: location.path)
    }
  }

  private var log: String { location.path + "-wal" }

  private func damage(of path: String, in database: String) throws(FileError) -> LogDamage? {
    let reader = try WriteAheadLog(path)
    guard var content = try reader.content(pageSize: nil) else { return nil }
    // The database's file is read only for a damaged log: closing it drops the locks that this process has on it.
    if content.isHeaderDamaged {
      let start = try files.readStart(of: database, count: 18)
      let declared = start.count == 18 ? Int(start[16]) << 8 | Int(start[17]) : 0
      let pageSize = declared == 1 ? 65_536 : declared
      if pageSize >= 512, let known = try reader.content(pageSize: pageSize) { content = known }
    }
    return LogDamage(
      content, holdsMore: try reader.holdsMore(content, thanDatabaseAt: database), name: location.name + "-wal")
  }

  /// Copies and syncs a `-wal` that SQLite can't read to its end, before the store is opened for writing.
  ///
  /// Most stores have no `-wal`, or an empty one: then nothing is read, and no lock is taken.
  /// If it throws, nothing was changed.
  package func secureLog() throws {
    guard let status = try files.status(of: log), try damageOfLog() != nil else { return }
    var settings = configuration
    // A set-aside store may be opened in its folder.
    settings.worksOnKeptStore = true
    let vault = StoreVault(location, files: files, configuration: settings, events: handler)
    try vault.withLock {
      // A log that changes is in use by a process, which has read it already.
      let now = try files.status(of: log)
      guard now?.size == status.size, now?.modificationTime == status.modificationTime else { return }
      if let copy = try vault.copyUnreadableLog() { try emit(.keptLog(path: copy.path, copy.damage)) }
    }
  }

  /// Copies and syncs a `-wal` that SQLite can't read to its end, before SQLite drops it.
  ///
  /// The copy waits in the companion folder until it is kept with a previous version, also by the run after a crash.
  /// Returns `nil` if there was nothing to copy, or the copy is there already. If the configuration stops at damaged
  /// logs, it throws ``VaultError/unreadableLog(path:_:)`` and changes nothing.
  @discardableResult
  func copyUnreadableLog() throws(VaultError) -> (path: String, damage: LogDamage)? {
    guard let damage = try damageOfLog() else { return nil }
    guard !configuration.stopsAtUnreadableLog else { throw .unreadableLog(path: location.path, damage) }
    let path = try VaultError.wrapping { () throws(FileError) -> String? in
      guard let status = try files.status(of: log) else { return nil }
      // The salts in the header differ for each generation of a log.
      let start = try files.readStart(of: log, count: 32)
      let waiting = try unreadLogs()
      for name in waiting {
        let copy = PathText.join(location.companion, name)
        if try files.status(of: copy)?.size == status.size, try files.readStart(of: copy, count: 32) == start {
          return nil
        }
      }
      let number = waiting.isEmpty ? "" : "-" + files.uniqueIdentifier().prefix(8)
      let copy = PathText.join(location.companion, Self.unreadLogName + number)
      // An unfinished copy has another name.
      if try files.status(of: copy + ".tmp") != nil { try files.unlink(copy + ".tmp") }
      try tree.copyFile(log, to: copy + ".tmp", attributes: status.attributes)
      try files.rename(copy + ".tmp", to: copy)
      try files.synchronizeDirectory(location.companion)
      try files.synchronizeDirectory(location.directory)
      return copy
    }
    return path.map { ($0, damage) }
  }

  private static let unreadLogName = String(StoreLocation.unreadLogSuffix.dropFirst())

  func unreadLogs() throws(FileError) -> [String] {
    try files.names(in: location.companion).filter { $0.hasPrefix(Self.unreadLogName) && !$0.hasSuffix(".tmp") }
  }

  /// Returns the damage of each log that waits in the companion folder, by file name.
  ///
  /// It reads the store's file, so call it before the store is held: closing the file drops SQLite's locks.
  func damageOfUnreadLogs() throws(FileError) -> [String: LogDamage] {
    var all: [String: LogDamage] = [:]
    for name in try unreadLogs() {
      let path = PathText.join(location.companion, name)
      if try files.status(of: path)?.kind == .regular { all[name] = try damage(of: path, in: location.path) }
    }
    return all
  }

  /// Copies the waiting logs to a previous version or a set-aside store; returns the number of frames only they hold.
  ///
  /// `start` is the start of each copy's path, followed by the log's name.
  @discardableResult
  func keepUnreadLogs(_ damages: [String: LogDamage], as start: String) throws -> Int {
    var lostCount = 0
    for name in try unreadLogs() {
      let waiting = PathText.join(location.companion, name)
      guard let status = try files.status(of: waiting), status.kind == .regular else { continue }
      let kept = start + name
      try tree.copyFile(waiting, to: kept, attributes: status.attributes)
      guard let damage = damages[name] else { continue }
      lostCount += damage.lostCount
      try emit(.keptLog(path: kept, damage))
    }
    return lostCount
  }

  /// Counts the frames and pages that only the logs and the journal kept with a previous version hold.
  ///
  /// Returns at most one item.
  func contentOfLogs(keptWith version: PreviousVersionFiles) throws -> [SoleContent] {
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

  /// Returns the pages that were not rolled back since the last operation, and that only journals still hold.
  ///
  /// Each item has the name of the version that keeps the journal. A folder that can't be listed counts as empty:
  /// no operation starts there.
  package func pagesNotUndone() -> [(version: String, pages: SoleContent)] {
    let undone = ((try? previousVersions()) ?? []).reversed().prefix { $0.manifest?.operation == .undoing }
    return undone.flatMap { version in
      (version.manifest?.alone?.items ?? []).filter(\.isOfJournal).map { (version.name.text, $0) }
    }
  }

  /// Removes the waiting logs that ``keepUnreadLogs(_:as:)`` has copied, once the copies are synced.
  func removeKeptLogs(as start: String) throws(FileError) {
    var hasRemoved = false
    for name in try unreadLogs() {
      let waiting = PathText.join(location.companion, name)
      guard let kept = try files.status(of: start + name), kept.size == (try files.status(of: waiting)?.size)
      else { continue }
      try files.unlink(waiting)
      hasRemoved = true
    }
    // Before the manifest is removed: no later run would look for a log that came back.
    if hasRemoved { try files.synchronizeDirectory(location.companion) }
  }
}
