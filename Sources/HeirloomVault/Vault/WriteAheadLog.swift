import Foundation
import HeirloomStore

/// A `-wal`, read frame by frame, also after a damaged frame.
///
/// SQLite stops at the first frame whose checksum is wrong, and drops everything after it. Each frame's checksum
/// continues the stored checksum of the frame before, so each frame can be checked by itself.
/// https://www.sqlite.org/fileformat2.html#walformat
package struct WriteAheadLog {
  /// The content of a log.
  package struct Content: Equatable {
    /// The number of frames up to the last commit of the log's last use.
    package var frameCount = 0
    /// The number of those frames that can't be trusted.
    package var damagedCount = 0
    /// The number of the other frames that SQLite takes for an earlier use's, because of their salts, and stops at.
    package var strayCount = 0
    /// True when the log's own header is damaged.
    package var isHeaderDamaged = false
    /// True when the part after the last commit can't be read: commits, or a change that was never committed.
    package var isEndDamaged = false
    /// The number of the database's pages after the last commit; `nil` if the log has no commit.
    package var pageCount: Int?
    /// The size of a page, in bytes.
    package var pageSize = 0
    /// The last frame of each page up to the last commit: the place of its content, or `nil` if it is damaged.
    package var committed: [Int: Int64?] = [:]
    /// The number of frames that fit in the file, those of earlier uses included.
    package var totalCount: Int64 = 0
  }

  private let log: FileDescriptor
  private let size: Int64

  /// Opens a log.
  package init(_ path: String) throws(FileError) {
    log = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read)
    size = try log.status(for: .read).size
  }

  /// Reads the log.
  ///
  /// - Parameter declared: The size of the database's pages in bytes, if the database tells it.
  /// - Returns: The content; `nil` if the log holds nothing.
  /// - Throws: `FileError`.
  package func content(pageSize declared: Int?) throws(FileError) -> Content? {
    guard size >= 32 + 24 + 512, let header = try bytes(at: 0, count: 32), header.contains(where: { $0 != 0 }) else {
      return nil
    }
    var content = Content()
    var told = LogUse(header)
    content.isHeaderDamaged = told == nil
    if told == nil { told = try guessedUse(header, pageSize: declared) }
    guard let use = told else { return content }
    content.pageSize = use.pageSize
    let frameSize = Int64(24 + use.pageSize)
    let total = (size - 32) / frameSize
    content.totalCount = total
    var pending: [Int: Int64?] = [:]
    var pendingCounts = (all: 0, damaged: 0, stray: 0)
    var frame = LogFrame(before: use.seed)
    var isLastOfThisUse = true
    var later: Int64 = -1
    for index in 0..<total {
      let offset = 32 + index * frameSize
      guard let bytes = try bytes(at: offset, count: 24 + use.pageSize) else { break }
      frame = LogFrame(bytes, after: frame, isBigEndian: use.isBigEndian)
      // The salts are not in the sum: a frame that continues one of this use is of this use, whatever its salts are.
      let goesOn = isLastOfThisUse && frame.isSound
      isLastOfThisUse = goesOn || frame.salts == use.salts
      if !isLastOfThisUse {
        // Frames of an earlier use follow the last frame of this one, since a log is written over from its start.
        if later <= index { later = try laterFrame(after: index, of: total, frameSize: frameSize, salts: use.salts) }
        guard later > index else { break }
      }
      let isSound = isLastOfThisUse && frame.isSound
      pendingCounts.all += 1
      if !isSound { pendingCounts.damaged += 1 } else if frame.salts != use.salts { pendingCounts.stray += 1 }
      guard frame.page >= 1, Int64(frame.page) <= 1 << 31 else { continue }
      pending[frame.page] = .some(isSound ? offset + 24 : nil)
      guard isSound, frame.pageCount > 0 else { continue }
      for (page, place) in pending { content.committed[page] = .some(place) }
      pending = [:]
      content.frameCount += pendingCounts.all
      content.damagedCount += pendingCounts.damaged
      content.strayCount += pendingCounts.stray
      pendingCounts = (0, 0, 0)
      content.pageCount = frame.pageCount
    }
    content.isEndDamaged = pendingCounts.damaged > 0 || isLastOfThisUse && (size - 32) % frameSize != 0
    return content
  }

  /// Returns the use that the frames tell of a log with a damaged header: those at its start are of its last use.
  ///
  /// The first frame's sum continues the header's. It tells whether the header's bytes or their sum are damaged.
  private func guessedUse(_ header: [UInt8], pageSize declared: Int?) throws(FileError) -> LogUse? {
    guard let pageSize = declared, pageSize >= 512 else { return nil }
    for count in [1, 4] {
      for isBigEndian in [false, true] {
        for seed in [LogSum(header[24...]), LogSum().adding(header[..<24], isBigEndian: isBigEndian)] {
          var frame = LogFrame(before: seed)
          for index in 0..<min(Int64(count), (size - 32) / Int64(24 + pageSize)) {
            guard let bytes = try bytes(at: 32 + index * Int64(24 + pageSize), count: 24 + pageSize) else { break }
            frame = LogFrame(bytes, after: frame, isBigEndian: isBigEndian)
            guard frame.isSound else { continue }
            return LogUse(pageSize: pageSize, salts: frame.salts, isBigEndian: isBigEndian, seed: seed)
          }
        }
      }
    }
    return nil
  }

  /// Returns the number of the next frame of the log's last use after one that isn't, which is damaged then; -1 if there
  /// is none.
  private func laterFrame(
    after index: Int64, of total: Int64, frameSize: Int64, salts: [UInt8]
  ) throws(FileError) -> Int64 {
    for next in index + 1..<max(index + 1, total) {
      guard let header = try bytes(at: 32 + next * frameSize, count: 24) else { break }
      if header[8..<16].elementsEqual(salts) { return next }
    }
    return -1
  }

  /// Reads a number of bytes; returns `nil` if there are fewer.
  package func bytes(at offset: Int64, count: Int) throws(FileError) -> [UInt8]? {
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
}

/// A use of a log, as its header describes the frames.
private struct LogUse {
  /// The size of a page, in bytes.
  let pageSize: Int
  /// The salts, which each frame of the log's last use repeats.
  let salts: [UInt8]
  /// True when the sums are of big-endian numbers.
  let isBigEndian: Bool
  /// The header's sum, which the first frame's continues.
  let seed: LogSum

  init(pageSize: Int, salts: [UInt8], isBigEndian: Bool, seed: LogSum) {
    self.pageSize = pageSize
    self.salts = salts
    self.isBigEndian = isBigEndian
    self.seed = seed
  }

  /// Reads a header; `nil` if it is damaged.
  init?(_ header: [UInt8]) {
    let magic = bigEndian(header, at: 0)
    let pageSize = bigEndian(header, at: 8)
    guard magic & ~1 == 0x377f_0682, pageSize >= 512, pageSize <= 65_536, pageSize & (pageSize - 1) == 0 else {
      return nil
    }
    let sum = LogSum().adding(header[..<24], isBigEndian: magic & 1 == 1)
    guard sum == LogSum(header[24...]) else { return nil }
    self.init(pageSize: pageSize, salts: Array(header[16..<24]), isBigEndian: magic & 1 == 1, seed: sum)
  }
}

/// A page in the form that a log has for it.
private struct LogFrame {
  /// The page's number.
  let page: Int
  /// The number of the database's pages after the commit that the frame ends; 0 if it ends none.
  let pageCount: Int
  /// The salts of the log's use that the frame belongs to.
  let salts: [UInt8]
  /// True when the frame's sum continues that of the frame before.
  let isSound: Bool
  private let sum: LogSum

  /// Creates the start of a chain of sums, before the first frame.
  init(before seed: LogSum) {
    (page, pageCount, salts, isSound) = (0, 0, [], false)
    sum = seed
  }

  init(_ bytes: [UInt8], after last: LogFrame, isBigEndian: Bool) {
    page = bigEndian(bytes, at: 0)
    pageCount = bigEndian(bytes, at: 4)
    salts = Array(bytes[8..<16])
    sum = LogSum(bytes[16..<24])
    isSound =
      last.sum.adding(bytes[..<8], isBigEndian: isBigEndian).adding(bytes[24...], isBigEndian: isBigEndian) == sum
  }
}

/// The running sum of a log's frames.
///
/// https://www.sqlite.org/fileformat2.html#checksum_algorithm
private struct LogSum: Equatable {
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  init() {}

  /// Reads a sum from its eight bytes.
  init(_ bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes)
    first = bigEndianWord(bytes, at: 0)
    second = bigEndianWord(bytes, at: 4)
  }

  func adding(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> LogSum {
    var sum = self
    bytes.withUnsafeBytes { buffer in
      for offset in stride(from: 0, to: buffer.count - 7, by: 8) {
        let left = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let right = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
        sum.first &+= (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ sum.second
        sum.second &+= (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ sum.first
      }
    }
    return sum
  }
}
