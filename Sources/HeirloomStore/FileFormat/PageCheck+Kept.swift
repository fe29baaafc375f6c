// Trees whose rows were not to change: pages may have moved, but must have the same content.
extension PageCheck {
  package func compareTree(root: Int, with sourceRoot: Int) throws {
    try TreeComparison(self).compare(root, sourceRoot, as: .root, depth: 0)
  }
}

/// Compares the written pages of a tree with the source's pages in the same places.
private final class TreeComparison {
  /// A page on the path from the root, on both sides.
  private final class Level {
    let buffer: PageBuffer
    let sourceBuffer: PageBuffer
    var cells: [BTreePage.Cell] = []
    var sourceCells: [BTreePage.Cell] = []

    init(_ pages: DatabasePages) {
      buffer = pages.makeBuffer()
      sourceBuffer = pages.makeBuffer()
    }
  }

  private let check: PageCheck
  private let usableSize: Int
  private var levels: [Level] = []
  private let overflow: Level

  init(_ check: PageCheck) {
    self.check = check
    usableSize = check.candidate.usableSize
    overflow = Level(check.candidate)
  }

  func compare(_ number: Int, _ sourceNumber: Int, as place: PageMap.Entry, depth: Int) throws {
    guard check.touched.contains(number) else {
      // The same page with the same bytes, and therefore with the same pages below.
      guard number == sourceNumber else { throw PageFault("has page \(number) in the place of page \(sourceNumber)") }
      return try check.lead(to: number, as: place)
    }
    guard depth < 40 else { throw PageFault("has a tree without an end at page \(number)") }
    if depth == levels.count { levels.append(Level(check.candidate)) }
    let level = levels[depth]
    try check.walk(number, as: place)
    try check.read(number, into: level.buffer)
    try check.source.read(sourceNumber, into: level.sourceBuffer)
    let page = try BTreePage(level.buffer, number: number, usableSize: usableSize)
    let sourcePage = try BTreePage(
      level.sourceBuffer, number: sourceNumber, usableSize: usableSize)
    try page.read(&level.cells, spaces: &check.spaces)
    try sourcePage.read(&level.sourceCells, spaces: &check.spaces)
    guard page.kind == sourcePage.kind, level.cells.count == level.sourceCells.count else {
      throw PageFault("has page \(number), which differs from page \(sourceNumber)")
    }
    for index in level.cells.indices {
      let (cell, sourceCell) = (level.cells[index], level.sourceCells[index])
      guard cell.key == sourceCell.key, cell.payloadSize == sourceCell.payloadSize,
        page.part(cell.local).isEqual(
          to:
            sourcePage.part(sourceCell.local)
        )
      else { throw PageFault("has other values in cell \(index) of page \(number) than page \(sourceNumber) had") }
      if cell.overflow != 0 {
        try compareOverflow(cell, sourceCell, of: number)
      }
      if !page.kind.isLeaf {
        try compare(cell.child, sourceCell.child, as: .child(of: number), depth: depth + 1)
      }
    }
    if !page.kind.isLeaf {
      try compare(page.rightChild, sourcePage.rightChild, as: .child(of: number), depth: depth + 1)
    }
  }

  private func compareOverflow(_ cell: BTreePage.Cell, _ sourceCell: BTreePage.Cell, of number: Int) throws {
    var left = cell.payloadSize - cell.local.count
    var (next, sourceNext) = (cell.overflow, sourceCell.overflow)
    var place = PageMap.Entry.firstOverflow(of: number)
    while left > 0 {
      guard check.touched.contains(next) else {
        guard next == sourceNext else { throw PageFault("has page \(next) in the place of page \(sourceNext)") }
        return try check.lead(to: next, as: place)
      }
      try check.walk(next, as: place)
      try check.read(next, into: overflow.buffer)
      try check.source.read(sourceNext, into: overflow.sourceBuffer)
      let count = min(left, usableSize - 4)
      guard
        overflow.buffer.part(4..<4 + count).isEqual(
          to:
            overflow.sourceBuffer.part(4..<4 + count))
      else { throw PageFault("has other values on page \(next) than page \(sourceNext) had") }
      left -= count
      place = .overflow(after: next)
      next = overflow.buffer.bytes.word(at: 0)
      sourceNext = overflow.sourceBuffer.bytes.word(at: 0)
    }
    guard next == 0 else { throw PageFault("has more pages of a record than it needs, after page \(number)") }
  }
}
