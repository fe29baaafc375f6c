package struct PageSet {
  private var words: [UInt64]

  /// `pageCount` is the highest number.
  init(pageCount: Int) {
    words = [UInt64](repeating: 0, count: pageCount / 64 + 1)
  }

  /// Page n has bit n % 64 of word n / 64.
  init(pageCount: Int, _ mark: (UnsafeMutablePointer<UInt64>) -> Void) {
    self.init(pageCount: pageCount)
    words.withUnsafeMutableBufferPointer { if let start = $0.baseAddress { mark(start) } }
  }

  package func contains(_ page: Int) -> Bool {
    page >= 0 && page / 64 < words.count && words[page / 64] & 1 << UInt64(page % 64) != 0
  }

  /// The number must not be beyond the highest; false if it was in the set.
  @discardableResult
  mutating func insert(_ page: Int) -> Bool {
    let bit: UInt64 = 1 << UInt64(page % 64)
    guard words[page / 64] & bit == 0 else { return false }
    words[page / 64] |= bit
    return true
  }

  mutating func insert(_ pages: ClosedRange<Int>) {
    for page in pages { insert(page) }
  }

  /// Both sets have the same highest number.
  func union(_ other: PageSet) -> PageSet {
    var union = self
    for index in words.indices { union.words[index] |= other.words[index] }
    return union
  }

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
