import Foundation
package import HeirloomStore
package import HeirloomVault

/// The pages of a database file, read without SQLite while no other process writes to it.
///
/// File format: https://www.sqlite.org/fileformat2.html. No number in the file is trusted.
package final class DatabaseImage {
  enum TextEncoding: Int, Sendable {
    case utf8 = 1
    case utf16LittleEndian = 2
    case utf16BigEndian = 3
  }

  let layout: PageLayout
  var pageSize: Int { layout.pageSize }
  package var usableSize: Int { layout.usableSize }
  /// Page numbers count from 1.
  package let pageCount: Int
  /// The pages before the file was truncated; `pageCount` if it wasn't.
  let formerPageCount: Int
  let encoding: TextEncoding
  /// 0 for an empty list, `nil` if the header is damaged.
  let firstFreePage: Int?
  /// As the header declares it.
  let freePageCount: Int

  let origin: PageOrigin

  private let file: FileDescriptor
  private let buffer: UnsafeMutableRawBufferPointer

  /// `header` is the one in the file's first page, or a substitute.
  package init(path: String, header: DatabaseHeader, origin: PageOrigin = PageOrigin()) throws(FileError) {
    self.origin = origin
    file = try FileDescriptor(path, flags: O_RDONLY, for: .read)
    let size = try file.status(for: .read).size
    layout = header.layout
    pageCount = Int(clamping: size / Int64(header.pageSize))
    formerPageCount = max(pageCount, header.formerPageCount)
    encoding = TextEncoding(rawValue: header.encoding) ?? .utf8
    firstFreePage = header.isRepaired ? nil : header.firstFreePage
    freePageCount = header.freePageCount
    buffer = .allocate(byteCount: header.pageSize, alignment: 16)
  }

  deinit {
    buffer.deallocate()
  }

  /// `nil` if the page doesn't exist or is cut off.
  func page(_ number: Int) throws(FileError) -> [UInt8]? {
    guard number >= 1, number <= pageCount, !origin.lacks(number) else { return nil }
    var count = 0
    while count < pageSize {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
      let read = try file.read(into: rest, at: Int64(number - 1) * Int64(pageSize) + Int64(count), for: .read)
      guard read > 0 else { return nil }
      count += read
    }
    return Array(buffer)
  }

  func treePage(_ number: Int) throws(FileError) -> TreePage? {
    guard let bytes = try page(number) else { return nil }
    return TreePage(bytes, number: number, usableSize: usableSize)
  }
}

extension DatabaseHeader {
  /// A header with which SQLite can read the file.
  func bytes(pageCount: Int, autoVacuums: Bool) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    bytes.replaceSubrange(0..<16, with: Self.magic)
    let size = pageSize == 65_536 ? 1 : pageSize
    bytes[16] = UInt8(truncatingIfNeeded: size >> 8)
    bytes[17] = UInt8(truncatingIfNeeded: size)
    (bytes[18], bytes[19], bytes[20]) = (1, 1, UInt8(truncatingIfNeeded: reservedBytes))
    (bytes[21], bytes[22], bytes[23]) = (64, 32, 32)
    func put(_ value: Int, at offset: Int) {
      for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
    }
    put(1, at: 24)
    put(pageCount, at: 28)
    put(4, at: 44)
    put(autoVacuums ? 1 : 0, at: 52)
    put(encoding, at: 56)
    put(autoVacuums ? 1 : 0, at: 64)
    put(1, at: 92)
    return bytes
  }

  /// Cells grow from the end of a page, so with the right size some row ends exactly there.
  static func guessedPageSize(_ file: FileDescriptor) throws(FileError) -> Int? {
    let size = try file.status(for: .read).size
    var best: (score: Int, pageSize: Int)?
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    defer { buffer.deallocate() }
    for shift in 9...16 {
      let pageSize = 1 << shift
      var score = 0
      for index in 0..<min(Int(clamping: size / Int64(pageSize)), 2048) {
        let page = UnsafeMutableRawBufferPointer(rebasing: buffer[..<pageSize])
        let count = try file.read(into: page, at: Int64(index) * Int64(pageSize), for: .read)
        guard count == pageSize, [2, 5, 10, 13].contains(page[0]) else { continue }
        let bytes = Array(page)
        guard let tree = TreePage(bytes, number: index + 1, usableSize: pageSize), tree.kind == .tableLeaf else {
          continue
        }
        if tree.tableCells().cells.contains(where: { $0.end == pageSize }) { score += 1 }
      }
      if score > best?.score ?? 0 { best = (score, pageSize) }
    }
    return best?.pageSize
  }
}
