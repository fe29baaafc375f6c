import Foundation

/// The journal of an interrupted change, as SQLite would roll it back.
///
/// SQLite needs no confirmation. The next connection that may write restores the journal's pages, and truncates the
/// database to the size in the journal. It follows the name of a super-journal, and deletes that file. Anything that
/// can create a file in the store's folder can forge a journal, so it is read here before SQLite sees it.
/// https://www.sqlite.org/fileformat2.html#the_rollback_journal
package struct RollbackJournal: Equatable, Sendable {
  package enum Objection: Hashable, Sendable {
    /// The original size is zero, but the database has pages: a rollback would empty it.
    case emptiesDatabase
    /// The original size is far beyond the file and the journal together: a rollback would extend it, up to 16 TB.
    case stretchesDatabase
    case namesAnother(String)
    /// Rolling the journal back in a copy left something that is not a store.
    case leavesNoStore
  }

  package let databasePath: String
  package let byteCount: Int64
  /// Before the change; `nil` if the journal's beginning is damaged.
  package let originalPageCount: UInt32?
  /// 0 if the journal's beginning is damaged.
  package let pageSize: UInt32
  /// From a change of several databases.
  package let superJournal: String?
  /// Without the name of a super-journal.
  package let recordsByteCount: Int64

  package var path: String { databasePath + Self.suffix }

  private static let suffix = "-journal"
  static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
  private static let nameLimit: Int64 = 65_536

  /// `nil` if SQLite would ignore the journal: no file, an empty one, or one that begins with zero.
  ///
  /// `path` must have its symbolic links resolved. Throws if there is a file that can't be read.
  package init?(besideDatabaseAt path: String) throws(StoreError) {
    databasePath = path
    var status = stat()
    // A launch without a journal ends here.
    guard lstat(path + Self.suffix, &status) == 0 else { return nil }
    if let found = StoreReading.oddKind(status) {
      throw StoreError(path: path, problem: .unusableSideFile(path + Self.suffix, found: found))
    }
    guard status.st_size > 0 else { return nil }
    guard let file = OpenedFile(path + Self.suffix) else {
      throw StoreError(path: path, problem: .unreadable(reason: "its -journal can't be read"))
    }
    byteCount = file.byteCount
    guard let start = file.bytes(at: 0, count: min(28, file.byteCount)), start.first ?? 0 != 0 else { return nil }
    let isWhole = start.count == 28 && start.starts(with: Self.magic)
    originalPageCount = isWhole ? bigEndianWord(start, at: 16) : nil
    pageSize = isWhole ? bigEndianWord(start, at: 24) : 0
    let length = file.bytes(at: file.byteCount - 16, count: 16).flatMap { end in
      end[8...].elementsEqual(Self.magic) ? Int64(bigEndianWord(end, at: 0)) : nil
    }
    // SQLite ignores a name with a wrong checksum. Here, a journal that names another file is rejected either way.
    guard let length, length > 0, length <= Self.nameLimit, length <= file.byteCount - 16,
      let name = file.bytes(at: file.byteCount - 16 - length, count: length)
    else {
      (superJournal, recordsByteCount) = (nil, byteCount)
      return
    }
    superJournal = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    // The number of the lock-byte page precedes the name.
    recordsByteCount = max(0, file.byteCount - 16 - length - 4)
  }

  /// A change of several databases deletes its super-journal last.
  package var isCommitted: Bool {
    var status = stat()
    return superJournal.map { lstat($0, &status) != 0 && errno == ENOENT } ?? false
  }

  package var objection: Objection? {
    var status = stat()
    if let originalPageCount, lstat(databasePath, &status) == 0, status.st_size > 0 {
      if originalPageCount == 0 { return .emptiesDatabase }
      // The journal of a change that shortened the database has the pages that were cut off.
      let (size, most) = (Int64(originalPageCount) * Int64(max(512, pageSize)), Int64(status.st_size) + byteCount)
      if size > most + 65_536 { return .stretchesDatabase }
    }
    guard let superJournal else { return nil }
    return isOwn(superJournal) ? nil : .namesAnother(superJournal)
  }

  /// SQLite may follow and delete a super-journal of its own in the store's folder.
  ///
  /// It must have been deleted already or list this journal.
  private func isOwn(_ path: String) -> Bool {
    guard let own = Self.place(of: self.path), let place = Self.place(of: path), place.folder == own.folder,
      Self.isSuperJournalName(place.name)
    else { return false }
    if isCommitted { return true }
    guard let file = OpenedFile(path), file.byteCount <= 1 << 20, let content = file.bytes(at: 0, count: file.byteCount)
    else { return false }
    let journals = content.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    // SQLite opens each of them, and a named pipe would hang it.
    let areFiles = journals.allSatisfy { journal in
      var status = stat()
      return lstat(journal, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }
    return areFiles
      && journals.contains { journal in
        Self.place(of: journal).map { $0.folder == own.folder && $0.name == own.name } ?? false
      }
  }

  /// SQLite's end with `-mj`, six digits, a nine and two digits, all hexadecimal.
  private static func isSuperJournalName(_ name: String) -> Bool {
    let end = Array(name.utf8.suffix(12))
    guard end.count == 12, end.starts(with: "-mj".utf8), end[9] == UInt8(ascii: "9") else { return false }
    return end[3...].allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) }
  }

  private static func place(of path: String) -> (folder: String, name: String)? {
    guard path.utf8.first == UInt8(ascii: "/"), let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
      return nil
    }
    guard let folder = DatabaseFile.resolved(slash == path.startIndex ? "/" : String(path[..<slash])) else {
      return nil
    }
    return (folder, String(path[path.utf8.index(after: slash)...]))
  }
}

extension RollbackJournal.Objection {
  package var reason: String {
    switch self {
    case .emptiesDatabase: "its original size is zero, and a rollback would empty the store"
    case .stretchesDatabase: "its original size is larger than the store and the journal together"
    case .leavesNoStore: "rolling it back in a copy left something that is not a store"
    case .namesAnother(let name):
      "it names another file, \(String(name.unicodeScalars.prefix(255)).debugDescription), which would be followed and deleted"
    }
  }
}

extension StoreError {
  package static func refusedJournal(_ objection: RollbackJournal.Objection, path: String) -> StoreError {
    StoreError(path: path, problem: .refusedJournal(reason: objection.reason))
  }
}

/// Links are not followed, and a named pipe doesn't block.
final class OpenedFile {
  let byteCount: Int64
  private let descriptor: Int32

  init?(_ path: String) {
    descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      if descriptor >= 0 { _ = close(descriptor) }
      return nil
    }
    byteCount = Int64(status.st_size)
  }

  deinit { _ = close(descriptor) }

  func bytes(at offset: Int64, count: Int64) -> [UInt8]? {
    guard offset >= 0, count >= 0, let count = Int(exactly: count) else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < bytes.count {
      let read = bytes.withUnsafeMutableBytes { buffer in
        pread(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, off_t(offset) + off_t(filled))
      }
      if read < 0, errno == EINTR { continue }
      guard read > 0 else { return nil }
      filled += read
    }
    return bytes
  }
}
