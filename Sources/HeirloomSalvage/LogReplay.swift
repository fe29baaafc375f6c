import Foundation
import HeirloomVault

/// A replay that puts the pages of a `-wal` into a copy of its database, also those after a damaged frame.
struct LogReplay {
  /// The result of a replay.
  struct Outcome {
    /// The content of the log.
    var content: WriteAheadLog.Content
    /// Pages whose last state is in a frame that can't be trusted.
    var lostPages: [Int] = []
    /// The pages that came from the log, and the number of those that the file had.
    var origin = PageOrigin()
    /// The number of pages that neither has.
    var missingCount = 0
  }

  /// The most pages between those of the log that neither it nor the file has: 16 GB of pages of 4 KB.
  ///
  /// A page number can be any. Pages that are missing cost a read time, though no room.
  private static let mostMissing: Int64 = 1 << 22

  private let log: WriteAheadLog

  /// Opens a log.
  init(_ path: String) throws(FileError) {
    log = try WriteAheadLog(path)
  }

  /// Replays the log.
  ///
  /// - Parameters:
  ///   - database: The copy of the database.
  ///   - declared: The size of the database's pages, as far as it is known.
  /// - Returns: The result; `nil` if the log holds nothing.
  /// - Throws: `FileError`.
  func run(into database: String, pageSize declared: Int?) throws(FileError) -> Outcome? {
    guard let content = try log.content(pageSize: declared) else { return nil }
    var outcome = Outcome(content: content)
    guard let formerCount = content.pageCount else { return outcome }
    let present =
      try FileDescriptor(database, flags: O_RDONLY, for: .read).status(for: .read).size / Int64(content.pageSize)
    let limit = Int(clamping: min(Int64(formerCount), present + content.totalCount + Self.mostMissing))
    let pages = content.committed.filter { $0.key <= limit }
    let pageCount = min(limit, max(Int(clamping: present), pages.keys.max() ?? 0))
    try write(pages, pageCount: pageCount, pageSize: content.pageSize, to: database)
    outcome.lostPages = pages.filter { !$0.value.isSound }.keys.sorted()
    outcome.origin = PageOrigin(
      fileCount: Int(clamping: present), logged: Set(pages.keys),
      isLogWhole: content.damagedCount == 0 && !content.isHeaderDamaged && !content.hasUnknownPages)
    outcome.missingCount = max(0, formerCount - Int(clamping: present)) - pages.keys.count { $0 > present }
    return outcome
  }

  private func write(
    _ pages: [Int: WriteAheadLog.Place], pageCount: Int, pageSize: Int, to path: String
  ) throws(FileError) {
    let database = try FileDescriptor(path, flags: O_RDWR, for: .write)
    for (page, place) in pages.sorted(by: { $0.key < $1.key }) where page <= pageCount {
      // An older state of the page doesn't match the other pages: it may repeat rows, or hold deleted ones.
      var content: [UInt8]?
      if place.isSound { content = try log.bytes(at: place.offset, count: pageSize) }
      try database.write(content ?? [UInt8](repeating: 0, count: pageSize), at: Int64(page - 1) * Int64(pageSize))
    }
    try database.truncate(to: Int64(pageCount) * Int64(pageSize))
  }
}

/// The pages of a copy by the file that they came from.
package struct PageOrigin {
  /// The number of pages in the store's main file.
  let fileCount: Int
  /// The pages that were written from the log.
  let logged: Set<Int>
  /// True when each frame up to the last commit was read.
  let isLogWhole: Bool

  package init(fileCount: Int = .max, logged: Set<Int> = [], isLogWhole: Bool = false) {
    (self.fileCount, self.logged, self.isLogWhole) = (fileCount, logged, isLogWhole)
  }

  /// Returns true if neither file had a page.
  func lacks(_ page: Int) -> Bool { page > fileCount && !logged.contains(page) }
}

extension FileDescriptor {
  /// Writes bytes at a place of the file.
  func write(_ bytes: [UInt8], at offset: Int64) throws(FileError) {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes {
        pwrite(number, $0.baseAddress, $0.count, off_t(offset) + off_t(done))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileError(.write, path, code: count == 0 ? EIO : errno) }
      done += count
    }
  }

  /// Sets the file's length.
  func truncate(to size: Int64) throws(FileError) {
    while ftruncate(number, off_t(size)) != 0 {
      guard errno == EINTR else { throw FileError(.write, path, code: errno) }
    }
  }
}
