/// A b-tree page, checked against every rule of the format that concerns one page.
struct BTreePage {
  struct Cell {
    /// The child page with the entries before this one; 0 in a leaf.
    var child = 0
    /// The key of a table's row; 0 in an index.
    var key: Int64 = 0
    var payloadSize = 0
    var local = 0..<0
    /// The first overflow page; 0 for none.
    var overflow = 0
  }

  let number: Int
  let kind: TreePageKind
  /// Valid as long as the page's buffer exists.
  let bytes: UnsafeRawPointer
  let usableSize: Int
  /// The child with the highest keys; 0 in a leaf.
  let rightChild: Int
  private let header: Int
  private let cellCount: Int

  init(_ buffer: PageBuffer, number: Int, usableSize: Int) throws(PageFault) {
    bytes = buffer.bytes
    // The first page begins with the file's header.
    header = number == 1 ? 100 : 0
    guard let kind = TreePageKind(rawValue: bytes.load(fromByteOffset: header, as: UInt8.self)) else {
      throw PageFault("has page \(number), which is not a page of a tree")
    }
    self.number = number
    self.kind = kind
    self.usableSize = usableSize
    cellCount = bytes.short(at: header + 3)
    rightChild = kind.isLeaf ? 0 : bytes.word(at: header + 8)
    guard listStart + 2 * cellCount <= usableSize else {
      throw PageFault("has \(cellCount) cells, too many, on page \(number)")
    }
  }

  func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes + range.lowerBound, count: range.count)
  }

  private var listStart: Int { header + (kind.isLeaf ? 8 : 12) }

  /// Checks after the last cell that cells, free blocks and fragments don't overlap.
  ///
  /// `spaces` is memory that is reused from page to page.
  @inline(__always)
  func forEachCell(spaces: inout [UInt64], _ body: (Cell) throws -> Void) throws {
    let declared = bytes.short(at: header + 5)
    let contentStart = declared == 0 ? 65_536 : declared
    guard contentStart >= listStart + 2 * cellCount, contentStart <= usableSize else {
      throw PageFault("has content at \(contentStart) on page \(number)")
    }
    // The cells of a page that was filled in order precede each other, from its end on: then only gaps are counted.
    var isDescending = bytes.short(at: header + 1) == 0
    var (lowest, gaps) = (usableSize, 0)
    for index in 0..<cellCount {
      let start = bytes.short(at: listStart + 2 * index)
      guard start >= contentStart, start + 4 <= usableSize else {
        throw PageFault("has cell \(index) of page \(number) at \(start)")
      }
      let (cell, end) = try cell(at: start)
      if end <= lowest {
        gaps += lowest - end
        lowest = start
      } else {
        isDescending = false
      }
      try body(cell)
    }
    if isDescending {
      try check(fragments: gaps + lowest - contentStart)
    } else {
      try checkSpaces(&spaces, from: contentStart)
    }
  }

  private func checkSpaces(_ spaces: inout [UInt64], from contentStart: Int) throws(PageFault) {
    spaces.removeAll(keepingCapacity: true)
    for index in 0..<cellCount {
      let start = bytes.short(at: listStart + 2 * index)
      spaces.append(UInt64(start) << 32 | UInt64(try cell(at: start).end))
    }
    var block = bytes.short(at: header + 1)
    while block != 0 {
      guard block >= contentStart, block + 4 <= usableSize, spaces.count <= usableSize else {
        throw PageFault("has a free block at \(block) of page \(number)")
      }
      let size = bytes.short(at: block + 2)
      let next = bytes.short(at: block)
      guard size >= 4, block + size <= usableSize, next == 0 || next > block + size else {
        throw PageFault("has a free block of \(size) bytes at \(block) of page \(number)")
      }
      spaces.append(UInt64(block) << 32 | UInt64(block + size))
      block = next
    }
    spaces.sort()
    var end = contentStart
    var fragments = 0
    for space in spaces {
      let start = Int(clamping: space >> 32)
      guard start >= end else { throw PageFault("has byte \(start) of page \(number) in two cells") }
      fragments += start - end
      end = Int(clamping: space & 0xffff_ffff)
    }
    try check(fragments: fragments + usableSize - end)
  }

  private func check(fragments: Int) throws(PageFault) {
    guard fragments == Int(bytes.load(fromByteOffset: header + 7, as: UInt8.self)) else {
      throw PageFault("has \(fragments) bytes of page \(number) that belong to nothing")
    }
  }

  func read(_ cells: inout [Cell], spaces: inout [UInt64]) throws {
    cells.removeAll(keepingCapacity: true)
    try forEachCell(spaces: &spaces) { cells.append($0) }
  }

  @inline(__always)
  private func cell(at start: Int) throws(PageFault) -> (cell: Cell, end: Int) {
    var cell = Cell()
    var place = start
    if !kind.isLeaf {
      cell.child = bytes.word(at: start)
      place += 4
    }
    if kind == .tableInterior {
      cell.key = bytes.varint(&place)
      guard place <= usableSize else { throw PageFault("has a cell beyond the end of page \(number)") }
      return (cell, place)
    }
    let size = bytes.varint(&place)
    if kind == .tableLeaf { cell.key = bytes.varint(&place) }
    guard let payloadSize = Int(exactly: size), payloadSize >= 0, payloadSize <= Int(Int32.max) else {
      throw PageFault("has a record of \(size) bytes on page \(number)")
    }
    cell.payloadSize = payloadSize
    let localSize = kind.localSize(ofRecord: payloadSize, usableSize: usableSize)
    var end = place + localSize
    cell.local = place..<end
    if localSize < payloadSize {
      guard end + 4 <= usableSize else { throw PageFault("has a cell beyond the end of page \(number)") }
      cell.overflow = bytes.word(at: end)
      end += 4
    }
    // A cell takes at least four bytes.
    end = max(end, start + 4)
    guard end <= usableSize else { throw PageFault("has a cell beyond the end of page \(number)") }
    return (cell, end)
  }
}
