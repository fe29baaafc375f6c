/// A dictionary hashes whole names to resist attacks; these are the model's own, and few.
final class NameTable {
  private struct Entry {
    let name: String
    let number: Int
  }

  /// The representation of a name is unique while the name is retained.
  private struct Recent {
    var name: String = ""
    var words: Words = Words("")
    var number: Int = -1
  }

  /// The two words of a string's representation in memory.
  private struct Words: Equatable {
    let first: UInt64
    let second: UInt64

    @inline(__always)
    init(_ name: String) {
      #if _pointerBitWidth(_64)
        (first, second) = unsafeBitCast(name, to: (UInt64, UInt64).self)
      #else
        (first, second) = (0, 0)
      #endif
    }
  }

  private static let recentCount: Int = 32

  private let entries: [Entry?]
  private let mask: Int
  private let recent: UnsafeMutablePointer<Recent>

  /// Of equal names the first counts.
  init(_ names: [(name: String, number: Int)]) {
    var capacity = 8
    while capacity < 2 * names.count + 2 { capacity *= 2 }
    mask = capacity - 1
    var entries: [Entry?] = Array(repeating: nil, count: capacity)
    names: for (name, number) in names {
      var index = Self.hash(name) & mask
      while let entry = entries[index] {
        if entry.name == name { continue names }
        index = (index + 1) & mask
      }
      entries[index] = Entry(name: name, number: number)
    }
    self.entries = entries
    recent = .allocate(capacity: Self.recentCount)
    recent.initialize(repeating: Recent(), count: Self.recentCount)
  }

  deinit {
    recent.deinitialize(count: Self.recentCount)
    recent.deallocate()
  }

  @inline(__always)
  func number(of name: String) -> Int {
    let words = Words(name)
    let place = Int(truncatingIfNeeded: (words.first ^ words.first >> 23 ^ words.second >> 7 ^ words.second >> 56) & 31)
    if recent[place].words == words, recent[place].number >= 0 { return recent[place].number }
    return find(name, words, place)
  }

  @inline(never)
  private func find(_ name: String, _ words: Words, _ place: Int) -> Int {
    var index = Self.hash(name) & mask
    // At least half of the entries are empty.
    while let entry = entries[index] {
      if entry.name == name {
        #if _pointerBitWidth(_64)
          recent[place] = Recent(name: name, words: words, number: entry.number)
        #endif
        return entry.number
      }
      index = (index + 1) & mask
    }
    return -1
  }

  private static func hash(_ name: String) -> Int {
    let bytes = name.utf8
    guard let first = bytes.first, let last = bytes.last else { return 0 }
    return bytes.count &* 37 &+ Int(first) &* 11 &+ Int(last)
  }
}
