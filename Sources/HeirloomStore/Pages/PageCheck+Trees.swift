// Trees that were rewritten, or are new: each page is walked.
extension PageCheck {
  /// The order of an index's entries, which compares text by its bytes.
  package struct IndexOrder {
    /// For each column whether higher values come first.
    package let descending: [Bool]

    /// Creates an order.
    package init(descending: [Bool]) {
      self.descending = descending
    }
  }

  /// Walks a whole tree.
  ///
  /// - Parameters:
  ///   - root: The tree's root.
  ///   - order: The order in which an index must have its entries; `nil` to compare none.
  /// - Returns: The number of rows or entries.
  /// - Throws: ``PageFault``, or ``SQLiteError``.
  package func walkTree(root: Int, order: IndexOrder? = nil) throws -> Int64 {
    let walk = TreeWalk(self, order: order)
    try walk.visit(root, as: .root, depth: 0)
    return walk.count
  }
}

/// The walk through one tree, in the order of its keys.
private final class TreeWalk {
  /// A page on the way from the root, with memory that the next page at its depth uses again.
  private final class Level {
    let buffer: PageBuffer
    var cells: [BTreePage.Cell] = []

    init(_ pages: DatabasePages) {
      buffer = pages.makeBuffer()
    }
  }

  private let check: PageCheck
  private let order: PageCheck.IndexOrder?
  private let usableSize: Int
  private var levels: [Level] = []
  private let overflow: Level
  /// The number of rows or entries so far.
  private(set) var count: Int64 = 0
  /// The last key of a row, or of a page above that its rows must not exceed.
  private var lastKey: Int64?
  private var leafDepth: Int?
  private var isTable: Bool?
  /// The last entry of an index and the one that is read, each with room behind it.
  private var lastEntry: [UInt8] = []
  private var entry: [UInt8] = []

  init(_ check: PageCheck, order: PageCheck.IndexOrder?) {
    self.check = check
    self.order = order
    usableSize = check.candidate.usableSize
    overflow = Level(check.candidate)
  }

  func visit(_ number: Int, as place: PageMap.Entry, depth: Int) throws {
    guard depth < 40 else { throw PageFault("has a tree without an end at page \(number)") }
    if depth == levels.count { levels.append(Level(check.candidate)) }
    let level = levels[depth]
    try check.walk(number, as: place)
    try check.read(number, into: level.buffer)
    let page = try BTreePage(level.buffer, number: number, usableSize: usableSize)
    guard isTable ?? page.kind.isTable == page.kind.isTable else {
      throw PageFault("has page \(number) of an index in a table, or of a table in an index")
    }
    isTable = page.kind.isTable
    try page.read(&level.cells, spaces: &check.spaces)
    if page.kind.isLeaf {
      guard leafDepth ?? depth == depth else { throw PageFault("has leaf \(number) at another depth than others") }
      leafDepth = depth
    }
    for index in level.cells.indices {
      let cell = level.cells[index]
      if !page.kind.isLeaf { try visit(cell.child, as: .child(of: number), depth: depth + 1) }
      switch page.kind {
      case .tableInterior:
        guard lastKey ?? .min <= cell.key else {
          throw PageFault("has keys above \(cell.key) before it on page \(number)")
        }
        lastKey = cell.key
      case .tableLeaf: try takeRow(cell, of: page)
      case .indexInterior, .indexLeaf: try takeEntry(cell, of: page)
      }
    }
    if !page.kind.isLeaf { try visit(page.rightChild, as: .child(of: number), depth: depth + 1) }
  }

  private func takeRow(_ cell: BTreePage.Cell, of page: BTreePage) throws {
    guard lastKey.map({ $0 < cell.key }) ?? true else {
      throw PageFault("has row \(cell.key) after row \(lastKey ?? 0) on page \(page.number)")
    }
    lastKey = cell.key
    count += 1
    try checkRecord(cell, of: page)
    try followOverflow(of: cell, on: page) { _ in }
  }

  private func takeEntry(_ cell: BTreePage.Cell, of page: BTreePage) throws {
    count += 1
    try checkRecord(cell, of: page)
    guard let order else { return try followOverflow(of: cell, on: page) { _ in } }
    entry.removeAll(keepingCapacity: true)
    entry.append(contentsOf: page.part(cell.local))
    try followOverflow(of: cell, on: page) { self.entry.append(contentsOf: $0) }
    let size = entry.count
    entry.append(contentsOf: repeatElement(0, count: 16))
    if !lastEntry.isEmpty {
      let isInOrder = lastEntry.withUnsafeBytes { last in
        entry.withUnsafeBytes { this in
          guard let start = last.baseAddress, let thisStart = this.baseAddress else { return false }
          return RecordBytes(bytes: start, size: last.count - 16)
            .compare(RecordBytes(bytes: thisStart, size: size), descending: order.descending) < 0
        }
      }
      guard isInOrder else { throw PageFault("has entries out of order on page \(page.number)") }
    }
    swap(&entry, &lastEntry)
  }

  private func checkRecord(_ cell: BTreePage.Cell, of page: BTreePage) throws(PageFault) {
    let record = RecordBytes(bytes: page.bytes + cell.local.lowerBound, size: cell.payloadSize)
    guard record.isWhole(present: cell.local.count) else {
      throw PageFault("has a record on page \(page.number) whose header doesn't fit its \(cell.payloadSize) bytes")
    }
  }

  /// Walks the pages with the rest of a record.
  private func followOverflow(
    of cell: BTreePage.Cell, on page: BTreePage, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws {
    var left = cell.payloadSize - cell.local.count
    var next = cell.overflow
    var place = PageMap.Entry.firstOverflow(of: page.number)
    while left > 0 {
      try check.walk(next, as: place)
      try check.read(next, into: overflow.buffer)
      let count = min(left, usableSize - 4)
      body(overflow.buffer.part(4..<4 + count))
      left -= count
      place = .overflow(after: next)
      next = overflow.buffer.bytes.word(at: 0)
    }
    guard next == 0 else { throw PageFault("has more pages of a record than it needs, after page \(page.number)") }
  }
}
