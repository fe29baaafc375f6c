/// Finds numbers by name, for few names that are asked for again and again.
///
/// A dictionary hashes whole names against attacks; the names here are the model's own.
struct NameTable {
  private struct Entry {
    let name: String
    let number: Int
  }

  private var entries: [Entry?]
  private let mask: Int

  /// Creates a table; of equal names the first counts.
  ///
  /// - Parameter names: The names with their numbers.
  init(_ names: [(name: String, number: Int)]) {
    var capacity = 8
    while capacity < 2 * names.count + 2 { capacity *= 2 }
    mask = capacity - 1
    entries = Array(repeating: nil, count: capacity)
    for (name, number) in names where self[name] == nil {
      var index = Self.hash(name) & mask
      while entries[index] != nil { index = (index + 1) & mask }
      entries[index] = Entry(name: name, number: number)
    }
  }

  /// The number of a name; `nil` for an unknown one.
  subscript(name: String) -> Int? {
    var index = Self.hash(name) & mask
    // At least half of the entries are empty.
    while let entry = entries[index] {
      if entry.name == name { return entry.number }
      index = (index + 1) & mask
    }
    return nil
  }

  private static func hash(_ name: String) -> Int {
    let bytes = name.utf8
    guard let first = bytes.first, let last = bytes.last else { return 0 }
    return bytes.count &* 37 &+ Int(first) &* 11 &+ Int(last)
  }
}
