// Trees that were rewritten, or are new: each page is walked.
extension PageCheck {
  /// Text is compared by its bytes.
  package struct IndexOrder {
    package let descending: [Bool]

    package init(descending: [Bool]) {
      self.descending = descending
    }
  }

  package struct TreeContent {
    package fileprivate(set) var count: Int64 = 0
    package fileprivate(set) var sum = RowSum()
  }

  /// `columns` has the positions of the values to sum in a table's records, from 0 and ascending.
  package func walkTree(root: Int, order: IndexOrder? = nil, summing columns: [Int]? = nil) throws -> TreeContent {
    let walk = TreeWalk(self, order: order, columns: columns)
    try walk.visit(root, as: .root, depth: 0)
    return walk.content
  }
}

private final class TreeWalk {
  /// A page on the path from the root, with memory that the next page at its depth reuses.
  private final class Level {
    let buffer: PageBuffer
    var cells: [BTreePage.Cell] = []

    init(_ pages: DatabasePages) {
      buffer = pages.makeBuffer()
    }
  }

  private let check: PageCheck
  private let order: PageCheck.IndexOrder?
  private let columns: [Int]?
  private let usableSize: Int
  private var levels: [Level] = []
  private let overflow: Level
  private(set) var content = PageCheck.TreeContent()
  /// The last key of a row, or of an interior page, which the rows before it must not exceed.
  private var lastKey: Int64?
  private var leafDepth: Int?
  private var isTable: Bool?
  /// The last entry of an index and the record that is being read, each followed by room.
  private var lastEntry: [UInt8] = []
  private var record: [UInt8] = []
  private static let room = 16
  /// Memory for the division of a page, reused.
  private var spaces: [UInt64] = []

  init(_ check: PageCheck, order: PageCheck.IndexOrder?, columns: [Int]?) {
    self.check = check
    self.order = order
    self.columns = columns
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
    guard page.kind.isLeaf else { return try visitChildren(of: page, level, depth: depth) }
    guard leafDepth ?? depth == depth else { throw PageFault("has leaf \(number) at another depth than others") }
    leafDepth = depth
    if page.kind.isTable {
      try page.forEachCell(spaces: &spaces) { try takeRow($0, of: page) }
    } else {
      try page.forEachCell(spaces: &spaces) { try takeEntry($0, of: page) }
    }
  }

  private func visitChildren(of page: BTreePage, _ level: Level, depth: Int) throws {
    try page.read(&level.cells, spaces: &spaces)
    for index in level.cells.indices {
      let cell = level.cells[index]
      try visit(cell.child, as: .child(of: page.number), depth: depth + 1)
      if page.kind.isTable {
        guard lastKey ?? .min <= cell.key else {
          throw PageFault("has keys above \(cell.key) before it on page \(page.number)")
        }
        lastKey = cell.key
      } else {
        try takeEntry(cell, of: page)
      }
    }
    try visit(page.rightChild, as: .child(of: page.number), depth: depth + 1)
  }

  private func takeRow(_ cell: BTreePage.Cell, of page: BTreePage) throws {
    if let lastKey, lastKey >= cell.key {
      throw PageFault("has row \(cell.key) after row \(lastKey) on page \(page.number)")
    }
    lastKey = cell.key
    content.count += 1
    try checkRecord(cell, of: page)
    let isLocal = cell.local.count == cell.payloadSize
    guard let columns else {
      if !isLocal { try followOverflow(of: cell, on: page) { _ in } }
      return
    }
    var row = RowDigest(key: cell.key)
    if isLocal {
      RecordBytes(bytes: page.bytes + cell.local.lowerBound, size: cell.payloadSize).add(columns, to: &row)
    } else {
      try gather(cell, of: page)
      record.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        RecordBytes(bytes: start, size: cell.payloadSize).add(columns, to: &row)
      }
    }
    content.sum.add(row)
  }

  private func takeEntry(_ cell: BTreePage.Cell, of page: BTreePage) throws {
    content.count += 1
    try checkRecord(cell, of: page)
    guard let order else { return try followOverflow(of: cell, on: page) { _ in } }
    try gather(cell, of: page)
    if !lastEntry.isEmpty {
      let isInOrder = lastEntry.withUnsafeBytes { last in
        record.withUnsafeBytes { this in
          guard let start = last.baseAddress, let thisStart = this.baseAddress else { return false }
          return RecordBytes(bytes: start, size: last.count - Self.room)
            .compare(RecordBytes(bytes: thisStart, size: this.count - Self.room), descending: order.descending) < 0
        }
      }
      guard isInOrder else { throw PageFault("has entries out of order on page \(page.number)") }
    }
    swap(&record, &lastEntry)
  }

  private func gather(_ cell: BTreePage.Cell, of page: BTreePage) throws {
    record.removeAll(keepingCapacity: true)
    record.append(contentsOf: page.part(cell.local))
    try followOverflow(of: cell, on: page) { self.record.append(contentsOf: $0) }
    record.append(contentsOf: repeatElement(0, count: Self.room))
  }

  private func checkRecord(_ cell: BTreePage.Cell, of page: BTreePage) throws(PageFault) {
    let record = RecordBytes(bytes: page.bytes + cell.local.lowerBound, size: cell.payloadSize)
    guard record.isWhole(present: cell.local.count) else {
      throw PageFault("has a record on page \(page.number) whose header doesn't fit its \(cell.payloadSize) bytes")
    }
  }

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
