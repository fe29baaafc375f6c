import HeirloomStore

/// The range of keys that a b-tree page may have according to its parents.
struct KeyBounds: Hashable {
  /// Exclusive; `nil` for none.
  var above: Int64?
  /// Inclusive; `nil` for none.
  var upTo: Int64?

  func contains(_ key: Int64) -> Bool {
    above.map { key > $0 } ?? true && upTo.map { key <= $0 } ?? true
  }
}

/// A b-tree page; each number in it is checked against the page's size.
struct TreePage {
  struct TableCell {
    let rowID: Int64
    /// The length of the complete record.
    let payloadSize: Int
    /// The range of the record's local part in the page.
    let local: Range<Int>
    /// The first overflow page; `nil` if the record is complete in the page.
    let overflow: Int?
    let start: Int
    let end: Int
  }

  let kind: TreePageKind
  let number: Int
  let bytes: [UInt8]
  let usableSize: Int
  /// The offset of the cell pointer array.
  private let listStart: Int
  private let cellCount: Int
  /// The child with the highest keys; 0 for a leaf.
  let rightChild: Int

  init?(_ bytes: [UInt8], number: Int, usableSize: Int) {
    // The first page starts with the database header.
    let start = number == 1 ? DatabaseHeader.byteCount : 0
    guard usableSize <= bytes.count, start + 12 <= usableSize, let kind = TreePageKind(rawValue: bytes[start]) else {
      return nil
    }
    let cellCount = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
    let listStart = start + (kind.isLeaf ? 8 : 12)
    guard listStart + 2 * cellCount <= usableSize else { return nil }
    // At most 60 fragmented bytes: https://www.sqlite.org/fileformat2.html#b_tree_pages
    guard bytes[start + 7] <= 60 else { return nil }
    self.kind = kind
    self.number = number
    self.bytes = bytes
    self.usableSize = usableSize
    self.listStart = listStart
    self.cellCount = cellCount
    rightChild = kind.isLeaf ? 0 : bigEndian(bytes, at: start + 8)
  }

  private func cellStart(_ index: Int) -> Int? {
    let offset = Int(bytes[listStart + 2 * index]) << 8 | Int(bytes[listStart + 2 * index + 1])
    return offset >= listStart + 2 * cellCount && offset < usableSize ? offset : nil
  }

  /// In key order, each with its own bounds; a key that is out of order bounds nothing.
  func children(within bounds: KeyBounds = KeyBounds()) -> (pages: [(page: Int, bounds: KeyBounds)], damagedCount: Int)
  {
    var pages: [(page: Int, key: Int64?)] = []
    var damagedCount = 0
    for index in 0..<cellCount {
      guard let start = cellStart(index), start + 4 <= usableSize else {
        damagedCount += 1
        continue
      }
      var place = start + 4
      let key = kind == .tableInterior ? readVarint(bytes, &place, end: usableSize) : nil
      pages.append((bigEndian(bytes, at: start), key.flatMap { bounds.contains($0) ? $0 : nil }))
    }
    pages.append((rightChild, nil))
    var children = pages.map { (page: $0.page, bounds: bounds) }
    let keys = pages.compactMap { $0.key }
    guard zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 }) else { return (children, damagedCount) }
    // A child without a readable key is bounded by the next readable key.
    var (above, upTo) = (bounds.above, bounds.upTo)
    for index in pages.indices {
      children[index].bounds.above = above
      above = pages[index].key ?? above
    }
    for index in pages.indices.reversed() {
      upTo = pages[index].key ?? upTo
      children[index].bounds.upTo = upTo
    }
    return (children, damagedCount)
  }

  /// In key order; overlapping or unordered cells are damaged: it is unknown which one is right.
  func tableCells() -> (cells: [TableCell], damagedCount: Int) {
    var found: [TableCell] = []
    for index in 0..<cellCount {
      if let start = cellStart(index), let cell = tableCell(at: start) { found.append(cell) }
    }
    let byStart = found.indices.sorted { found[$0].start < found[$1].start }
    var isShared = [Bool](repeating: false, count: found.count)
    var furthest = 0
    for index in byStart.indices.dropFirst() {
      let previous = byStart[furthest]
      let current = byStart[index]
      if found[current].start < found[previous].end {
        isShared[current] = true
        isShared[previous] = true
      }
      if found[current].end > found[previous].end { furthest = index }
    }
    let separate = found.indices.filter { !isShared[$0] }.map { found[$0] }
    let cells = Self.longestRising(separate)
    return (cells, cellCount - cells.count)
  }

  private func tableCell(at start: Int) -> TableCell? {
    var place = start
    guard let size = readVarint(bytes, &place, end: usableSize), let rowID = readVarint(bytes, &place, end: usableSize),
      let payloadSize = Int(exactly: size), payloadSize >= 1, payloadSize <= Int(Int32.max)
    else { return nil }
    let localSize = TreePageKind.tableLeaf.localSize(ofRecord: payloadSize, usableSize: usableSize)
    guard place + localSize <= usableSize else { return nil }
    let local = place..<place + localSize
    guard localSize < payloadSize else {
      // A cell takes at least four bytes.
      let end = max(local.upperBound, start + 4)
      guard end <= usableSize else { return nil }
      return TableCell(
        rowID: rowID, payloadSize: payloadSize, local: local, overflow: nil, start: start, end: end)
    }
    guard local.upperBound + 4 <= usableSize else { return nil }
    return TableCell(
      rowID: rowID, payloadSize: payloadSize, local: local, overflow: bigEndian(bytes, at: local.upperBound),
      start: start, end: local.upperBound + 4)
  }

  private static func longestRising(_ cells: [TableCell]) -> [TableCell] {
    if zip(cells, cells.dropFirst()).allSatisfy({ $0.rowID < $1.rowID }) { return cells }
    var tails: [Int] = []
    var previous = [Int](repeating: -1, count: cells.count)
    for index in cells.indices {
      var (low, high) = (0, tails.count)
      while low < high {
        let middle = (low + high) / 2
        if cells[tails[middle]].rowID < cells[index].rowID { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[index] = tails[low - 1] }
      if low == tails.count { tails.append(index) } else { tails[low] = index }
    }
    var chain: [TableCell] = []
    var index = tails.last ?? -1
    while index >= 0 {
      chain.append(cells[index])
      index = previous[index]
    }
    return chain.reversed()
  }
}

/// A varint has one to nine bytes; returns `nil` if it doesn't end before `end`.
func readVarint(_ bytes: [UInt8], _ place: inout Int, end: Int) -> Int64? {
  var value: UInt64 = 0
  for index in 0..<9 {
    guard place >= 0, place < end, place < bytes.count else { return nil }
    let byte = bytes[place]
    place += 1
    if index == 8 {
      value = value << 8 | UInt64(byte)
      break
    }
    value = value << 7 | UInt64(byte & 0x7f)
    if byte < 0x80 { break }
  }
  return Int64(bitPattern: value)
}
