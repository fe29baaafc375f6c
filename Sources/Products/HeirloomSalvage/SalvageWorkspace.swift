import Foundation
import HeirloomModel
import HeirloomStore
import HeirloomVault

/// A private folder in which a damaged store is copied and made readable.
///
/// SQLite never opens the original, because it could write to it or create files beside it.
final class SalvageWorkspace {
  /// Only this user may open it.
  let folder: String
  /// The copy of the main file, with its journal rolled back and its `-wal` applied.
  let path: String
  /// The header in the copy's first page, or a substitute.
  private(set) var header = DatabaseHeader(pageSize: 4096)
  private(set) var origin = PageOrigin()
  /// `nil` if no log was read.
  private var loggedPageSize: Int?
  private(set) var notes: [String] = []
  /// The pages whose last version is damaged in the `-wal`.
  private(set) var lostPages: [Int] = []
  /// True if some part of the store's files was damaged or missing.
  private(set) var isDamaged = false
  /// True if the damaged or missing part may have had content, so rows may be missing or outdated.
  private(set) var mayLackContent = false

  /// True if SQLite dropped the log, or the header and some pages of the `-wal` are damaged.
  ///
  /// SQLite ignores such a log. The main file alone may have more rows than with these pages.
  private(set) var isLogDoubtful = false

  private let files: any FileOperations
  private let location: StoreLocation
  private let readsLog: Bool
  /// True if the log is a copy of one that SQLite dropped: the store may have changed since.
  private var isLogWaiting = false

  /// `directory` is where the new store is made; without `readsLog`, the `-wal` is left out.
  init(
    for location: StoreLocation, in directory: String, readsLog: Bool = true, files: any FileOperations
  ) throws(FileError) {
    self.files = files
    self.readsLog = readsLog
    self.location = location
    folder = PathText.join(directory, ".salvage-" + files.uniqueIdentifier())
    path = PathText.join(folder, "damaged")
    try files.makeDirectory(folder, attributes: FileAttributes(mode: 0o700))
  }

  func remove() throws(FileError) {
    try FolderTree(files: files).remove(folder)
  }

  /// Turns a copy of the store into a single file.
  func prepare() throws(SalvageError) {
    try salvageErrors(location.path) {
      try copy()
      try undoChange()
      try replayLog()
      try prepareHeader()
    }
  }

  // MARK: Copying

  private func statuses() throws(FileError) -> [FileStatus?] {
    try [location.path, location.path + "-wal", location.path + "-journal"].map { path throws(FileError) in
      try files.status(of: path)
    }
  }

  private func copy() throws {
    for _ in 0..<3 {
      let before = try statuses()
      isLogWaiting = false
      for suffix in ["", "-wal", "-journal"] {
        if try files.status(of: path + suffix) != nil { try files.unlink(path + suffix) }
        guard let status = try files.status(of: location.path + suffix), status.kind == .regular else { continue }
        try copyFile(location.path + suffix, to: path + suffix)
      }
      let isMissing = try files.status(of: path) == nil
      if isMissing { _ = try FileDescriptor.makeNew(path, attributes: FileAttributes(mode: 0o600), for: .copy) }
      // A log that SQLite couldn't read completely, kept with this version or waiting for the next.
      for unread in [location.path + StoreLocation.unreadLogSuffix, location.unreadLog]
      where try files.status(of: path + "-wal")?.size ?? 0 == 0 && files.status(of: unread)?.kind == .regular {
        if try files.status(of: path + "-wal") != nil { try files.unlink(path + "-wal") }
        try copyFile(unread, to: path + "-wal")
        isLogWaiting = unread == location.unreadLog
      }
      let isStill = zip(try statuses(), before).allSatisfy { now, before in
        now.map { $0.isUnchanged(since: before) } ?? (before == nil)
      }
      guard isStill else { continue }
      if isMissing {
        (isDamaged, mayLackContent) = (true, true)
        notes.append("the store's main file is missing, and only the content of its \"-wal\" was read")
      }
      return
    }
    throw SalvageError(storePath: location.path, problem: .inUse)
  }

  private func copyFile(_ source: String, to copy: String) throws(FileError) {
    do throws(FileError) {
      try files.copyFile(source, to: copy, attributes: FileAttributes(mode: 0o600))
    } catch {
      // A disk with unreadable blocks can read the others.
      guard error.code == EIO else { throw error }
      if try files.status(of: copy) != nil { try files.unlink(copy) }
      try copyBlocks(source, to: copy)
    }
  }

  private func copyBlocks(_ source: String, to copy: String) throws(FileError) {
    let blockSize = 4096
    let from = try FileDescriptor(source, flags: O_RDONLY, for: .copy)
    let to = try FileDescriptor.makeNew(copy, attributes: FileAttributes(mode: 0o600), for: .copy)
    let size = try from.status(for: .copy).size
    try to.truncate(to: size)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 16)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    var unreadable = 0
    while offset < size {
      // A read may end early, and the next block begins where it ended.
      if let count = try? from.read(into: buffer, at: offset, for: .copy), count > 0 {
        try to.write(Array(buffer[..<count]), at: offset)
        offset += Int64(count)
      } else {
        unreadable += 1
        offset += Int64(blockSize) - offset % Int64(blockSize)
      }
    }
    guard unreadable > 0 else { return }
    noteLoss(
      "The disk can't read \(unreadable) blocks of \(source) any more; copy everything on it to another disk soon.")
  }

  // MARK: One file

  /// Lets SQLite roll an interrupted change back, unless that leaves no store.
  private func undoChange() throws {
    let (before, unread) = (path + ".before", path + ".unread")
    if let journal = try RollbackJournal(besideDatabaseAt: path), try isToBeUndone(journal) {
      try files.copyFile(path, to: before, attributes: FileAttributes(mode: 0o600))
      let playback = try journal.playback()
      // SQLite removes the journal.
      if !playback.unread.isEmpty {
        try files.copyFile(journal.path, to: unread, attributes: FileAttributes(mode: 0o600))
      }
      let (hadMetadata, message) = (try hasMetadata(), try undo())
      try undoUnread(playback, from: unread)
      if try hadMetadata && !hasMetadata() {
        try files.rename(before, to: path)
        noteLoss(
          "The \"-journal\" has an interrupted change, but undoing it leaves no store: the store was read as it is."
        )
      } else if let message {
        noteLoss(
          "An interrupted change could not be undone from the \"-journal\" (\(message)): objects that it concerned may be of"
            + " the time before or after it.")
      }
    }
    for name in [before, unread, path + "-journal", path + "-shm"] where try files.status(of: name) != nil {
      try files.unlink(name)
    }
  }

  /// Restores the pages after the first damaged record of a journal, which SQLite doesn't reach.
  private func undoUnread(_ playback: RollbackJournal.Playback, from journal: String) throws(FileError) {
    guard let damage = playback.damage else { return }
    noteLoss(
      "\(damage.lostCount) of \(damage.recordCount) pages in the \"-journal\" of an interrupted change can't be undone by SQLite;"
        + " \(playback.unread.count) of them \(CountText.verb("were", playback.unread.count)) read: rows of the others may be of the time before or after the change."
    )
    guard !playback.unread.isEmpty else { return }
    let (source, copy) = (
      try FileDescriptor(journal, flags: O_RDONLY, for: .read), try FileDescriptor(path, flags: O_RDWR, for: .write)
    )
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: playback.pageSize, alignment: 16)
    defer { buffer.deallocate() }
    for record in playback.unread {
      guard try source.read(into: buffer, at: record.offset, for: .read) == playback.pageSize else { continue }
      try copy.write(Array(buffer), at: Int64(record.page - 1) * Int64(playback.pageSize))
    }
  }

  /// True if the copy's journal must be rolled back; names in the journal aren't followed.
  private func isToBeUndone(_ journal: RollbackJournal) throws -> Bool {
    // The name of a super-journal would refer to another folder for the copy.
    let own = try RollbackJournal(besideDatabaseAt: location.path)
    if own?.objection == nil, own?.isCommitted == true { return false }
    for objection in [own?.objection, journal.objection].compactMap({ $0 })
    where objection == .emptiesDatabase || objection == .stretchesDatabase {
      noteLoss("The \"-journal\" was not undone, and the store was read as it is: \(objection.reason).")
      return false
    }
    if let name = journal.superJournal {
      try FileDescriptor(journal.path, flags: O_RDWR, for: .write).truncate(to: journal.recordsByteCount)
      notes.append("The \"-journal\" names another file, \(name.debugDescription), which was left alone.")
    }
    return true
  }

  /// Opening the copy makes SQLite roll the change back; returns the reason if it can't.
  private func undo() throws(SQLiteError) -> String? {
    do throws(SQLiteError) {
      let connection = try Connection(path: path, mode: .readWrite, options: .inspecting)
      _ = try connection.firstInteger("SELECT COUNT(*) FROM sqlite_schema")
      try connection.close()
      return nil
    } catch {
      // A disk error isn't damage of the store: the next salvage can roll the change back.
      guard error.isAboutContent else { throw error }
      return error.message
    }
  }

  private func hasMetadata() throws(SQLiteError) -> Bool {
    try StoreReading.hasMetadata(Connection(path: path, mode: .immutable, options: .inspecting))
  }

  private func replayLog() throws(FileError) {
    guard let log = try files.status(of: path + "-wal"), log.size > 0 else { return }
    guard readsLog else {
      try files.unlink(path + "-wal")
      return noteLoss(
        isLogWaiting
          ? "The \"-wal\" that SQLite could not read was dropped; there are more rows without it, so the store was read as it is:"
            + " changes that only the log holds are missing."
          : "The header of the \"-wal\" and some of its pages are damaged; there are more rows without it, so the store was read"
            + " as it was before: the changes that were saved last are missing.")
    }
    let start = try files.readStart(of: path, count: DatabaseHeader.byteCount)
    var declared = DatabaseHeader(start)?.pageSize
    if declared == nil {
      declared = try DatabaseHeader.guessedPageSize(try FileDescriptor(path, flags: O_RDONLY, for: .read))
    }
    let outcome = try LogReplay(path + "-wal").run(into: path, pageSize: declared)
    for suffix in ["-wal", "-shm"] where try files.status(of: path + suffix) != nil { try files.unlink(path + suffix) }
    guard let outcome else { return }
    (lostPages, origin) = (outcome.lostPages, outcome.origin)
    let content = outcome.content
    if content.pageCount != nil { loggedPageSize = content.pageSize }
    if outcome.missingCount > 0 {
      noteLoss(
        "\(outcome.missingCount) of \(content.pageCount ?? 0) pages \(CountText.verb("are", outcome.missingCount)) in neither the"
          + " file nor its \"-wal\".")
    }
    isLogDoubtful = isLogWaiting || content.isHeaderDamaged && !lostPages.isEmpty
    if isLogWaiting {
      noteLoss(
        "The \"-wal\" that SQLite could not read was dropped, and was read from its copy: later changes may be missing,"
          + " or objects may be in an earlier state.")
    }
    if content.damagedCount > 0 {
      noteLoss(
        "\(content.damagedCount) of the \(content.frameCount) pages in the \"-wal\""
          + " \(CountText.verb("are", content.damagedCount)) damaged; the last state of"
          + " \(CountText.counted(lostPages.count, "page")) is not known.")
    }
    if content.strayCount > 0 {
      notes.append(
        "\(content.strayCount) of the \(content.frameCount) pages in the \"-wal\""
          + " \(CountText.verb("have", content.strayCount)) the salts of another use of it, at which SQLite stops;"
          + " \(content.strayCount == 1 ? "it was" : "they were") read.")
    }
    if content.isHeaderDamaged {
      noteLoss(
        content.pageCount == nil
          ? "The \"-wal\" is damaged from its start, and nothing in it could be read: changes that were saved last are missing."
          : "The header of the \"-wal\" is damaged; its content was determined from its pages.")
    }
    if content.isEndDamaged {
      noteLoss(
        "The end of the \"-wal\" can't be read: a change that was saved last may be missing, if it was saved at all.")
    }
  }

  private func noteLoss(_ note: String) {
    isDamaged = true
    mayLackContent = true
    notes.append(note)
  }

  /// Makes the first page describe a single file with as many pages as it has.
  private func prepareHeader() throws {
    let file = try FileDescriptor(path, flags: O_RDWR, for: .write)
    let size = try file.status(for: .read).size
    let start = try files.readStart(of: path, count: DatabaseHeader.byteCount)
    if let found = DatabaseHeader(start) {
      header = found
    } else {
      guard let pageSize = try loggedPageSize ?? DatabaseHeader.guessedPageSize(file) else {
        throw SalvageError(storePath: location.path, problem: size == 0 ? .empty : .notDatabase)
      }
      header = DatabaseHeader(pageSize: pageSize)
      isDamaged = true
      notes.append(
        origin.lacks(1)
          ? "The page with the file's header is missing; the pages in the \"-wal\" are of \(pageSize) bytes."
          : "The file's header is damaged; its pages were found to be of \(pageSize) bytes.")
    }
    let pageCount = Int(clamping: size / Int64(header.pageSize))
    guard pageCount >= 1 else { throw SalvageError(storePath: location.path, problem: .notDatabase) }
    if Int64(pageCount) * Int64(header.pageSize) != size {
      try file.truncate(to: Int64(pageCount) * Int64(header.pageSize))
    }
    if header.isRepaired {
      let image = try DatabaseImage(path: path, header: header, origin: origin)
      let autoVacuums = try PointerMap(image, isDeclared: nil) != nil
      try file.write(header.bytes(pageCount: pageCount, autoVacuums: autoVacuums), at: 0)
    } else {
      // In WAL mode, SQLite would look for the `-wal` that was already applied.
      try file.write([1, 1], at: 18)
      try settle(pageCount, declared: bigEndian(start, at: 28), start: start, file)
    }
    for page in lostPages where page > 1 {
      try file.write([UInt8](repeating: 0, count: header.pageSize), at: Int64(page - 1) * Int64(header.pageSize))
    }
  }
}

extension SalvageWorkspace {
  /// Corrects the header's page count, or truncates the copy to it.
  private func settle(_ pageCount: Int, declared: Int, start: [UInt8], _ file: FileDescriptor) throws {
    // The page count is valid only if it was written with the last change counter.
    guard start[24..<28].elementsEqual(start[92..<96]), declared != pageCount else { return }
    if declared > pageCount {
      header.formerPageCount = declared
      noteLoss("The file ends after \(pageCount) of \(declared) pages: the rest is missing.")
    } else if declared > 0, try isSound() {
      // SQLite allows a longer file, for example one with reserved space.
      notes.append(
        "The file continues for \(pageCount - declared) pages after its declared end, which were left alone.")
      return try file.truncate(to: Int64(declared) * Int64(header.pageSize))
    } else {
      isDamaged = true
      notes.append("The file's header declares \(declared) pages, but there are \(pageCount): all of them were read.")
    }
    try file.write((0..<4).map { UInt8(truncatingIfNeeded: pageCount >> (24 - 8 * $0)) }, at: 28)
  }

  /// True if SQLite finds the pages within the header's page count sound.
  private func isSound() throws -> Bool {
    do throws(SQLiteError) {
      let connection = try Connection(path: path, mode: .immutable, options: .inspecting)
      return try connection.rows("PRAGMA quick_check(1)").first?.first == .text("ok")
    } catch {
      guard error.isAboutContent else { throw error }
      return false
    }
  }
}

extension StoreSalvage {
  /// True if a file, or a log beside it, has a database page that could be salvaged.
  package static func holdsPages(_ path: String) -> Bool {
    let files = POSIXFileOperations()
    // The log of a symbolic link is beside its target.
    let path = (try? StoreLocation(resolving: path, files: files))?.path ?? path
    let (file, start) = (
      try? FileDescriptor(path, flags: O_RDONLY, for: .read),
      try? files.readStart(of: path, count: DatabaseHeader.byteCount)
    )
    let size = (try? file?.status(for: .read).size) ?? 0
    let header = start.flatMap { DatabaseHeader($0) }
    // An incomplete first page has no rows.
    if let header, size >= Int64(header.pageSize) { return true }
    let guess = file.flatMap { try? DatabaseHeader.guessedPageSize($0) }
    let log = try? WriteAheadLog(path + "-wal").content(pageSize: header?.pageSize ?? guess)
    return guess != nil || log?.pageCount != nil
  }
}

func salvageErrors<Value>(_ path: String, _ body: () throws -> Value) throws(SalvageError) -> Value {
  do {
    return try body()
  } catch let error as SalvageError {
    throw error
  } catch let error as SQLiteError where error.isInterrupt {
    throw SalvageError(storePath: path, problem: .cancelled)
  } catch {
    throw SalvageError(storePath: path, problem: .failed(reason: "\(error)"))
  }
}
