/// A set of page numbers, one bit each.
package struct PageSet {
  private var words: [UInt64]

  /// Creates an empty set; `pageCount` is the highest number.
  init(pageCount: Int) {
    words = [UInt64](repeating: 0, count: pageCount / 64 + 1)
  }

  /// Creates a set from bits: page n has bit n % 64 of word n / 64.
  init(pageCount: Int, _ mark: (UnsafeMutablePointer<UInt64>) -> Void) {
    self.init(pageCount: pageCount)
    words.withUnsafeMutableBufferPointer { if let start = $0.baseAddress { mark(start) } }
  }

  /// Returns true if a number is in the set; no number beyond the highest is.
  package func contains(_ page: Int) -> Bool {
    page >= 0 && page / 64 < words.count && words[page / 64] & 1 << UInt64(page % 64) != 0
  }

  /// Adds a number, which must not be beyond the highest; returns false if it was in the set.
  @discardableResult
  mutating func insert(_ page: Int) -> Bool {
    let bit: UInt64 = 1 << UInt64(page % 64)
    guard words[page / 64] & bit == 0 else { return false }
    words[page / 64] |= bit
    return true
  }

  /// Adds all numbers of a range, which must not go beyond the highest number.
  mutating func insert(_ pages: ClosedRange<Int>) {
    for page in pages { insert(page) }
  }

  /// Returns the numbers of both sets, which have the same highest number.
  func union(_ other: PageSet) -> PageSet {
    var union = self
    for index in words.indices { union.words[index] |= other.words[index] }
    return union
  }

  /// Calls a closure with each number, in ascending order.
  func forEach(_ body: (Int) throws -> Void) rethrows {
    for index in words.indices {
      var word = words[index]
      while word != 0 {
        try body(64 * index + word.trailingZeroBitCount)
        word &= word - 1
      }
    }
  }
}
