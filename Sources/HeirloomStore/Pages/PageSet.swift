/// A set of page numbers, one bit each.
struct PageSet {
  private var words: [UInt64]

  /// Makes an empty set.
  ///
  /// - Parameter pageCount: The highest number.
  init(pageCount: Int) {
    words = [UInt64](repeating: 0, count: pageCount / 64 + 1)
  }

  /// Returns true if a number is in the set; no number beyond the highest is.
  func contains(_ page: Int) -> Bool {
    page >= 0 && page / 64 < words.count && words[page / 64] & 1 << UInt64(page % 64) != 0
  }

  /// Adds a number, which must not be beyond the highest.
  ///
  /// - Returns: False if it was there.
  @discardableResult
  mutating func insert(_ page: Int) -> Bool {
    let bit: UInt64 = 1 << UInt64(page % 64)
    guard words[page / 64] & bit == 0 else { return false }
    words[page / 64] |= bit
    return true
  }
}
