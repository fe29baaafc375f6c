import Foundation

/// Splits a body into verses: sentences that end with a full stop and a space, and keep the stop.
enum NoteBody {
  /// `body` gets the index, from 0.
  static func forEachSentence(
    of bytes: UnsafeRawBufferPointer, _ body: (Int, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard let base = bytes.baseAddress else { return }
    var (start, place) = (0, 0)
    while start < bytes.count {
      let end = sentenceEnd(base, from: start, count: bytes.count)
      try body(place, UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
      place += 1
      start = end + 1
    }
  }

  @inline(__always)
  private static func sentenceEnd(_ base: UnsafeRawPointer, from start: Int, count: Int) -> Int {
    var position = start
    while position < count, let found = memchr(base + position, 0x2E, count - position) {
      let stop = base.distance(to: UnsafeRawPointer(found))
      if stop + 1 < count, base.load(fromByteOffset: stop + 1, as: UInt8.self) == 0x20 { return stop + 1 }
      position = stop + 1
    }
    return count
  }

  static func forEachSentence(of text: String, _ body: (Int, String) throws -> Void) throws {
    var place = 0
    var start = text.utf8.startIndex
    let bytes = text.utf8
    while start < bytes.endIndex {
      var end = start
      while let stop = bytes[end...].firstIndex(of: 0x2E) {
        end = bytes.index(after: stop)
        if end < bytes.endIndex, bytes[end] == 0x20 { break }
      }
      if end == start { end = bytes.endIndex }
      try body(place, String(text[start..<end]))
      place += 1
      start = end < bytes.endIndex ? bytes.index(after: end) : end
    }
  }
}
