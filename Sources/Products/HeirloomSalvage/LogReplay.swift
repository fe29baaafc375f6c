import Foundation
import HeirloomVault

/// Writes the pages of a `-wal` into a copy of its database, including pages after a damaged frame.
struct LogReplay {
  struct Outcome {
    var content: WriteAheadLog.Content
    /// The pages whose last version is in a frame that can't be trusted.
    var lostPages: [Int] = []
    var origin = PageOrigin()
    /// Pages that are in neither file.
    var missingCount = 0
  }

  /// The most pages that neither the log nor the file has: 16 GB at 4 KB each.
  ///
  /// A damaged page number can have any value. Missing pages cost time to read, but no space.
  private static let mostMissing: Int64 = 1 << 22

  private let log: WriteAheadLog

  init(_ path: String) throws(FileError) {
    log = try WriteAheadLog(path)
  }

  /// Returns `nil` if the log is empty; `declared` is the page size of the database, if known.
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
      // An older version of the page may duplicate rows of other pages, or contain deleted ones.
      var content: [UInt8]?
      if place.isSound { content = try log.bytes(at: place.offset, count: pageSize) }
      try database.write(content ?? [UInt8](repeating: 0, count: pageSize), at: Int64(page - 1) * Int64(pageSize))
    }
    try database.truncate(to: Int64(pageCount) * Int64(pageSize))
  }
}

/// The pages of a copy, by the file they came from.
package struct PageOrigin {
  /// The number of pages in the store's main file.
  let fileCount: Int
  let logged: Set<Int>
  /// True if every frame up to the last commit was read.
  let isLogWhole: Bool

  package init(fileCount: Int = .max, logged: Set<Int> = [], isLogWhole: Bool = false) {
    (self.fileCount, self.logged, self.isLogWhole) = (fileCount, logged, isLogWhole)
  }

  func lacks(_ page: Int) -> Bool { page > fileCount && !logged.contains(page) }
}

extension FileDescriptor {
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

  func truncate(to size: Int64) throws(FileError) {
    while ftruncate(number, off_t(size)) != 0 {
      guard errno == EINTR else { throw FileError(.write, path, code: errno) }
    }
  }
}
