import Foundation
import HeirloomStore

/// A `-wal`, read frame by frame, also after a damaged frame.
///
/// SQLite stops at the first frame whose checksum is wrong, and drops everything after it. Each frame's checksum
/// continues the stored checksum of the frame before, so each frame can be checked by itself.
/// https://www.sqlite.org/fileformat2.html#walformat
package struct WriteAheadLog {
  package struct Place {
    /// The offset of the page's content, after the frame's header.
    package let offset: Int64
    /// `nil` for a sound frame.
    fileprivate let check: FrameCheck?

    package var isSound: Bool { check == nil }
  }

  package struct Content {
    /// The number of frames up to the last commit of the log's last generation.
    package var frameCount = 0
    package var damagedCount = 0
    /// The number of other frames at which SQLite stops because their salts are of an earlier generation.
    package var strayCount = 0
    package var isHeaderDamaged = false
    /// True if the part after the last commit can't be read: a commit, or a change that was never committed.
    package var isEndDamaged = false
    /// The last frame of each page in a commit at the end of the log whose own last frame can't be read.
    package var damagedCommit: [Int: Place] = [:]
    package var damagedCommitCount = 0
    /// The number of frames that SQLite reads: up to the last commit before the first frame at which it stops.
    package var readCount = 0
    package var read: [Int: Place] = [:]
    /// The number of the database's pages after them; `nil` if SQLite reads none.
    package var readPageCount: Int?
    /// True if a frame of a commit, or one before it, has an impossible page number.
    package var hasUnknownPages = false
    /// The number of the database's pages after the last commit; `nil` if the log has no commit.
    package var pageCount: Int?
    package var pageSize = 0
    /// The last frame of each page up to the last commit.
    package var committed: [Int: Place] = [:]
    /// The number of frames that fit in the file, those of earlier generations included.
    package var totalCount: Int64 = 0

    fileprivate mutating func add(_ part: LogPart, pageCount: Int, isRead: Bool) {
      frameCount += part.count
      damagedCount += part.damagedCount
      strayCount += part.strayCount
      hasUnknownPages = hasUnknownPages || part.hasUnknownPages
      committed.merge(part.pages) { $1 }
      self.pageCount = pageCount
      guard isRead else { return }
      (readCount, readPageCount) = (frameCount, pageCount)
      read.merge(part.pages) { $1 }
    }
  }

  private let log: FileDescriptor
  private let size: Int64

  package init(_ path: String) throws(FileError) {
    log = try FileDescriptor(path, flags: O_RDONLY | O_NONBLOCK, for: .read)
    size = try log.status(for: .read).size
  }

  /// `declared` is the page size in the database's header.
  package func content(pageSize declared: Int?) throws(FileError) -> Content? {
    guard size >= 32 + 8, let header = try bytes(at: 0, count: 32) else { return nil }
    var content = Content()
    var told = LogUse(header)
    content.isHeaderDamaged = told == nil
    if told == nil {
      // Blank space was allocated and never written; checksums of zeros fit.
      if try isBlank() { return nil }
      told = try guessedUse(header, pageSize: declared)
    }
    guard let use = told else { return content }
    content.pageSize = use.pageSize
    let frameSize = Int64(24 + use.pageSize)
    let total = (size - 32) / frameSize
    content.totalCount = total
    var pending = LogPart()
    var frame = LogFrame(before: use.seed)
    var isLastOfThisUse = true
    var isRead = !content.isHeaderDamaged
    var later: Int64 = -1
    for index in 0..<total {
      let offset = 32 + index * frameSize
      guard let bytes = try bytes(at: offset, count: 24 + use.pageSize) else { break }
      let before = frame
      frame = LogFrame(bytes, after: frame, isBigEndian: use.isBigEndian)
      // The salts are not in the checksum: a frame that continues this generation belongs to it, with any salts.
      let goesOn = isLastOfThisUse && frame.isSound
      isLastOfThisUse = goesOn || frame.salts == use.salts
      if !isLastOfThisUse {
        // Frames of an earlier generation follow the last one of this one, since a log is overwritten from its start.
        if later <= index { later = try laterFrame(after: index, of: total, frameSize: frameSize, salts: use.salts) }
        guard later > index else { break }
      }
      let isSound = isLastOfThisUse && frame.isSound
      let hasPage = frame.page >= 1 && Int64(frame.page) <= 1 << 31
      isRead = isRead && isSound && frame.salts == use.salts && hasPage
      let check = isSound ? nil : FrameCheck(header: bytes, before: before, isBigEndian: use.isBigEndian)
      pending.count += 1
      if !isSound { pending.damagedCount += 1 } else if frame.salts != use.salts { pending.strayCount += 1 }
      if frame.salts == use.salts, let check {
        // Damaged frames of a change that was never committed don't end a commit.
        pending.hasCommit = pending.hasCommit || check.endsCommit(bytes[24...])
      }
      if hasPage { pending.pages[frame.page] = Place(offset: offset + 24, check: check) }
      pending.hasUnknownPages = pending.hasUnknownPages || !hasPage
      guard isSound, hasPage, frame.pageCount > 0 else { continue }
      content.add(pending, pageCount: frame.pageCount, isRead: isRead)
      pending = LogPart()
    }
    if isLastOfThisUse, let cut = try cutFrame(at: 32 + total * frameSize, of: use, after: frame) {
      content.isEndDamaged = true
      pending.count += 1
      pending.hasCommit = pending.hasCommit || cut.pageCount > 0
      if let page = cut.page { pending.pages[page] = cut.place } else { pending.hasUnknownPages = true }
    }
    guard pending.hasCommit else { return content }
    (content.damagedCommit, content.damagedCommitCount) = (pending.pages, pending.count)
    content.hasUnknownPages = content.hasUnknownPages || pending.hasUnknownPages
    content.isEndDamaged = true
    return content
  }

  /// The first frame's checksum continues the header's, so it shows if the header's bytes or its
  /// checksum are damaged.
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

  /// -1 if there is none; if there is one, the frame at `index` is damaged.
  private func laterFrame(
    after index: Int64, of total: Int64, frameSize: Int64, salts: [UInt8]
  ) throws(FileError) -> Int64 {
    for next in index + 1..<max(index + 1, total) {
      guard let header = try bytes(at: 32 + next * frameSize, count: 24) else { break }
      if header[8..<16].elementsEqual(salts) { return next }
    }
    return -1
  }

  private func isBlank() throws(FileError) -> Bool {
    var offset: Int64 = 32
    while offset < size {
      let count = Int(clamping: min(size - offset, 1 << 16))
      guard let bytes = try bytes(at: offset, count: count) else { break }
      if bytes.contains(where: { $0 != 0 }) { return false }
      offset += Int64(count)
    }
    return true
  }

  /// The page is `nil` if the header is cut off too: then there is nothing to compare.
  private func cutFrame(
    at offset: Int64, of use: LogUse, after last: LogFrame
  ) throws(FileError) -> (pageCount: Int, page: Int?, place: Place?)? {
    let count = Int(clamping: min(size - offset, 24))
    guard count > 0, let header = try bytes(at: offset, count: count) else { return nil }
    guard count >= 8 else { return (0, nil, nil) }
    guard header[8..<min(count, 16)].elementsEqual(use.salts[..<(min(count, 16) - 8)]) else { return nil }
    let (page, pageCount) = (bigEndian(header, at: 0), bigEndian(header, at: 4))
    guard count == 24, page >= 1, Int64(page) <= 1 << 31 else { return (pageCount, nil, nil) }
    let check = FrameCheck(header: header, before: last, isBigEndian: use.isBigEndian)
    return (pageCount, page, Place(offset: offset + 24, check: check))
  }

  /// A page whose content SQLite reads elsewhere, as after a checkpoint, isn't lost; in doubt it
  /// is.
  package func holdsMore(_ content: Content, thanDatabaseAt database: String) throws(FileError) -> Bool {
    let unread = content.frameCount - content.readCount + content.damagedCommitCount
    guard unread > 0 else { return content.isHeaderDamaged && content.pageSize == 0 }
    guard !content.hasUnknownPages else { return true }
    let file = try FileDescriptor(database, flags: O_RDONLY | O_NONBLOCK, for: .read)
    for (page, place) in content.committed.merging(content.damagedCommit, uniquingKeysWith: { $1 }) {
      // Pages after the last one were removed.
      if let last = content.pageCount, content.damagedCommit.isEmpty, page > last { continue }
      let known: [UInt8]?
      if let read = content.read[page] {
        if read.offset == place.offset { continue }
        known = try bytes(at: read.offset, count: content.pageSize)
      } else if let last = content.readPageCount, page > last {
        known = nil
      } else {
        known = try Self.bytes(of: file, at: Int64(page - 1) * Int64(content.pageSize), count: content.pageSize)
      }
      guard let known else { return true }
      if let check = place.check {
        guard check.fits(known) else { return true }
      } else {
        guard try bytes(at: place.offset, count: content.pageSize) == known else { return true }
      }
    }
    return false
  }

  package func bytes(at offset: Int64, count: Int) throws(FileError) -> [UInt8]? {
    try Self.bytes(of: log, at: offset, count: count)
  }

  private static func bytes(of file: FileDescriptor, at offset: Int64, count: Int) throws(FileError) -> [UInt8]? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    defer { buffer.deallocate() }
    var filled = 0
    while filled < count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let read = try file.read(into: rest, at: offset + Int64(filled), for: .read)
      guard read > 0 else { return nil }
      filled += read
    }
    return Array(buffer)
  }
}

/// A generation of a log, as described by its header.
private struct LogUse {
  let pageSize: Int
  /// Each frame of the log's last generation repeats them.
  let salts: [UInt8]
  let isBigEndian: Bool
  /// The header's checksum, which that of the first frame continues.
  let seed: LogSum

  init(pageSize: Int, salts: [UInt8], isBigEndian: Bool, seed: LogSum) {
    self.pageSize = pageSize
    self.salts = salts
    self.isBigEndian = isBigEndian
    self.seed = seed
  }

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

private struct LogFrame {
  let page: Int
  /// After the commit that the frame ends; 0 if it ends none.
  let pageCount: Int
  let salts: [UInt8]
  /// True if the frame's checksum continues that of the frame before.
  let isSound: Bool
  let sum: LogSum

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

/// Frames after a commit, up to the next one.
private struct LogPart {
  var count = 0
  var damagedCount = 0
  var strayCount = 0
  var pages: [Int: WriteAheadLog.Place] = [:]
  var hasUnknownPages = false
  /// True if a damaged frame ends a commit.
  var hasCommit = false
}

/// The header of a frame and the checksum before it, to check whether given bytes are the frame's page.
private struct FrameCheck {
  private let header: [UInt8]
  private let before: LogSum
  private let isBigEndian: Bool

  init(header: [UInt8], before: LogFrame, isBigEndian: Bool) {
    (self.header, self.before, self.isBigEndian) = (Array(header.prefix(24)), before.sum, isBigEndian)
  }

  private func sum(_ start: ArraySlice<UInt8>, _ page: ArraySlice<UInt8>) -> LogSum {
    before.adding(start, isBigEndian: isBigEndian).adding(page, isBigEndian: isBigEndian)
  }

  func fits(_ page: [UInt8]) -> Bool { sum(header[..<8], page[...]) == LogSum(header[16...]) }

  /// Returns true for the last frame of a commit, which alone has a page count.
  ///
  /// The page count itself may be damaged, so it is computed from the checksum. The checksum is linear in it, modulo
  /// 2^32. The factors of its two halves are neighbours in the Fibonacci sequence, so one of them has an inverse.
  func endsCommit(_ page: ArraySlice<UInt8>) -> Bool {
    let one: [UInt8] = isBigEndian ? [0, 0, 0, 1] : [1, 0, 0, 0]
    let zero = sum(header[..<4] + [0, 0, 0, 0], page)
    let factors = sum(header[..<4] + one, page).minus(zero)
    let difference = LogSum(header[16...]).minus(zero)
    return factors.quotient(of: difference).map { $0 != 0 } ?? (bigEndian(header, at: 4) > 0)
  }
}

/// See https://www.sqlite.org/fileformat2.html#checksum_algorithm.
private struct LogSum: Equatable {
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  init() {}

  init(_ bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes)
    first = bigEndianWord(bytes, at: 0)
    second = bigEndianWord(bytes, at: 4)
  }

  func minus(_ other: LogSum) -> LogSum {
    var sum = self
    sum.first &-= other.first
    sum.second &-= other.second
    return sum
  }

  /// The factor that maps both halves to those of another checksum; `nil` if there is none.
  func quotient(of product: LogSum) -> UInt32? {
    let (factor, half) = first & 1 == 1 ? (first, product.first) : (second, product.second)
    guard factor & 1 == 1 else { return nil }
    // Newton's method: each round doubles the number of correct bits, which is three at the start.
    var inverse = factor
    for _ in 0..<4 { inverse = inverse &* (2 &- factor &* inverse) }
    let number = half &* inverse
    return first &* number == product.first && second &* number == product.second ? number : nil
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
