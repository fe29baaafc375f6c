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
  }

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
    guard var pageCount = content.pageCount else { return outcome }
    // Pages are added by frames alone.
    let present =
      try FileDescriptor(database, flags: O_RDONLY, for: .read).status(for: .read).size / Int64(content.pageSize)
    pageCount = Int(clamping: min(Int64(pageCount), present + content.totalCount))
    try write(content.committed, pageCount: pageCount, pageSize: content.pageSize, to: database)
    outcome.lostPages = content.committed.filter { !$0.value.isSound && $0.key <= pageCount }.keys.sorted()
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
