import Foundation

/// Memory for one page, followed by room for a number that extends beyond the page's end.
final class PageBuffer {
  let start: UnsafeMutableRawPointer
  let size: Int

  init(pageSize: Int) {
    size = pageSize
    start = .allocate(byteCount: pageSize + 32, alignment: 16)
    start.initializeMemory(as: UInt8.self, repeating: 0, count: pageSize + 32)
  }

  deinit {
    start.deallocate()
  }

  /// Valid until the buffer is released or read into again.
  var bytes: UnsafeRawPointer { UnsafeRawPointer(start) }

  func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes + range.lowerBound, count: range.count)
  }
}

extension UnsafeRawPointer {
  func short(at offset: Int) -> Int {
    Int(UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  func word(at offset: Int) -> Int {
    Int(clamping: unsigned(at: offset))
  }

  func unsigned(at offset: Int) -> UInt32 {
    UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// One to nine bytes, which may extend beyond the page's content.
  func varint(_ place: inout Int) -> Int64 {
    let first = load(fromByteOffset: place, as: UInt8.self)
    place += 1
    if first < 0x80 { return Int64(first) }
    var value = UInt64(first & 0x7f)
    for _ in 0..<7 {
      let byte = load(fromByteOffset: place, as: UInt8.self)
      place += 1
      value = value << 7 | UInt64(byte & 0x7f)
      if byte < 0x80 { return Int64(bitPattern: value) }
    }
    let last = load(fromByteOffset: place, as: UInt8.self)
    place += 1
    return Int64(bitPattern: value << 8 | UInt64(last))
  }
}

extension UnsafeRawBufferPointer {
  func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count, let start = baseAddress, let otherStart = other.baseAddress else {
      return isEmpty && other.isEmpty
    }
    return memcmp(start, otherStart, count) == 0
  }
}
