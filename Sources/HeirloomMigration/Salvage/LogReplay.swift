import Foundation

/// Puts the pages of a `-wal` into a copy of its database, those after a damaged one included.
///
/// SQLite stops at the first frame whose checksum is wrong, and what was written after it is gone with it. Each frame's checksum
/// goes on from the one before it as that is written down, so that each can be checked by itself.
/// https://www.sqlite.org/fileformat2.html#walformat
struct LogReplay {
  /// What came of it.
  struct Outcome: Equatable {
    /// The frames that belong to the log's last use.
    var frameCount = 0
    /// Those of them that can't be trusted.
    var damagedCount = 0
    /// Pages whose last state is in such a frame.
    var lostPages: [Int] = []
    /// The pages that the database has after the last commit; `nil` if there is none in the log.
    var pageCount: Int?
    /// The size of a page.
    var pageSize = 0
  }

  private let log: FileDescriptor
  private let size: Int64

  /// Opens a log.
  init(_ path: String) throws(FileError) {
    log = try FileDescriptor(path, flags: O_RDONLY, for: .read)
    size = try log.status(for: .read).size
  }

  /// Replays the log.
  ///
  /// - Parameters:
  ///   - database: The copy of the database.
  ///   - declared: The size of its pages as far as it tells.
  /// - Returns: What came of it; `nil` if the log holds nothing.
  /// - Throws: `FileError`.
  func run(into database: String, pageSize declared: Int?) throws(FileError) -> Outcome? {
    guard size >= 32 + 24 + 512, let header = try bytes(at: 0, count: 32) else { return nil }
    let magic = UInt32(truncatingIfNeeded: bigEndian(header, at: 0))
    var pageSize = bigEndian(header, at: 8)
    let isHeaderSound =
      magic & 0xffff_fffe == 0x377f_0682 && pageSize >= 512 && pageSize <= 65_536 && pageSize & (pageSize - 1) == 0
    if !isHeaderSound { pageSize = declared ?? 0 }
    guard pageSize >= 512 else { return nil }
    let frameSize = Int64(24 + pageSize)
    let total = (size - 32) / frameSize
    guard total > 0 else { return nil }
    var salts: [UInt8] = Array(header[16..<24])
    if !isHeaderSound {
      guard let first = try bytes(at: 32, count: 24) else { return nil }
      salts = Array(first[8..<16])
    }
    let isBigEndian = isHeaderSound ? magic & 1 == 1 : false
    var outcome = Outcome(pageSize: pageSize)
    // The last frame of each page up to the last commit: its place, or `nil` if it is damaged.
    var committed: [Int: Int64?] = [:]
    var pending: [Int: Int64?] = [:]
    var pendingCounts = (all: 0, damaged: 0)
    var seed = (
      UInt32(truncatingIfNeeded: bigEndian(header, at: 24)), UInt32(truncatingIfNeeded: bigEndian(header, at: 28))
    )
    for index in 0..<total {
      let offset = 32 + index * frameSize
      guard let frame = try bytes(at: offset, count: Int(frameSize)) else { break }
      let stored = (
        UInt32(truncatingIfNeeded: bigEndian(frame, at: 16)), UInt32(truncatingIfNeeded: bigEndian(frame, at: 20))
      )
      let sum = Self.checksum(
        frame[24...], after: Self.checksum(frame[..<8], after: seed, isBigEndian: isBigEndian), isBigEndian: isBigEndian
      )
      seed = stored
      let isOfThisUse = frame[8..<16].elementsEqual(salts)
      let isSound = isOfThisUse && sum == stored
      // Frames of an earlier use follow the last one, and the log is written over from its start.
      guard isOfThisUse else {
        if try !hasLaterFrame(after: index, of: total, frameSize: frameSize, salts: salts) { break }
        pendingCounts = (pendingCounts.all + 1, pendingCounts.damaged + 1)
        continue
      }
      let page = bigEndian(frame, at: 0)
      pendingCounts.all += 1
      if !isSound { pendingCounts.damaged += 1 }
      guard page >= 1, page <= 1 << 31 else { continue }
      pending[page] = .some(isSound ? offset + 24 : nil)
      let pageCount = bigEndian(frame, at: 4)
      guard isSound, pageCount > 0 else { continue }
      for (page, place) in pending { committed[page] = .some(place) }
      pending = [:]
      outcome.frameCount += pendingCounts.all
      outcome.damagedCount += pendingCounts.damaged
      pendingCounts = (0, 0)
      outcome.pageCount = pageCount
    }
    guard var pageCount = outcome.pageCount else { return nil }
    // Pages are added by frames alone.
    let present = try FileDescriptor(database, flags: O_RDONLY, for: .read).status(for: .read).size / Int64(pageSize)
    pageCount = Int(min(Int64(pageCount), present + total))
    try write(committed, pageCount: pageCount, pageSize: pageSize, to: database)
    outcome.lostPages = committed.filter { $0.value == nil && $0.key <= pageCount }.keys.sorted()
    return outcome
  }

  /// Whether a frame of the log's last use comes soon after one that isn't: then that one is damaged.
  private func hasLaterFrame(
    after index: Int64, of total: Int64, frameSize: Int64, salts: [UInt8]
  ) throws(FileError) -> Bool {
    for next in index + 1..<max(index + 1, min(total, index + 65)) {
      guard let header = try bytes(at: 32 + next * frameSize, count: 24) else { return false }
      if header[8..<16].elementsEqual(salts) { return true }
    }
    return false
  }

  private func write(
    _ pages: [Int: Int64?], pageCount: Int, pageSize: Int, to path: String
  ) throws(FileError) {
    let database = try FileDescriptor(path, flags: O_RDWR, for: .write)
    for (page, place) in pages.sorted(by: { $0.key < $1.key }) where page <= pageCount {
      // An older state of the page would be of another time than the others: rows could be in it twice, or be deleted ones.
      var content: [UInt8]?
      if let place { content = try bytes(at: place, count: pageSize) }
      try database.write(content ?? [UInt8](repeating: 0, count: pageSize), at: Int64(page - 1) * Int64(pageSize))
    }
    try database.truncate(to: Int64(pageCount) * Int64(pageSize))
  }

  private func bytes(at offset: Int64, count: Int) throws(FileError) -> [UInt8]? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    defer { buffer.deallocate() }
    var filled = 0
    while filled < count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let read = try log.read(into: rest, at: offset + Int64(filled), for: .read)
      guard read > 0 else { return nil }
      filled += read
    }
    return Array(buffer)
  }

  private static func checksum(
    _ bytes: ArraySlice<UInt8>, after seed: (UInt32, UInt32), isBigEndian: Bool
  ) -> (UInt32, UInt32) {
    var (first, second) = seed
    bytes.withUnsafeBytes { buffer in
      for offset in stride(from: 0, to: buffer.count - 7, by: 8) {
        let left = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let right = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
        first &+= (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ second
        second &+= (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ first
      }
    }
    return (first, second)
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
