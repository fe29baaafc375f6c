import HeirloomStore
package import HeirloomVault

/// Assigns each page of a damaged database to the table whose rows it holds.
///
/// Trees are walked as far as they are intact. Other pages are assigned by the pointer map, by a
/// page that points to them against the map, or by their rows. Free pages are skipped.
package final class PageInspection {
  package struct Leaf {
    package let page: Int
    /// True if no intact tree contains the page.
    package let isApart: Bool
    /// The keys that the page may have according to its parents.
    var bounds = KeyBounds()
  }

  package enum Place {
    case tree
    /// A page outside of all intact trees.
    case apart
    /// A page whose rows have keys of another range, not those they were written with.
    case misplaced
  }

  let image: DatabaseImage
  let pointerMap: PointerMap?
  /// Also reads pages that may not be in use.
  let includesUncertainPages: Bool

  /// By table name.
  package private(set) var leaves: [String: [Leaf]] = [:]
  package private(set) var unreadablePages: [Int] = []
  /// By table name.
  private(set) var unreadableCounts: [String: Int] = [:]
  /// Their content is in the tables too.
  package private(set) var unreadableIndexPages = 0
  /// The number of pages whose rows may be deleted ones.
  package private(set) var uncertainPages = 0
  package private(set) var unassignedPages: [Int] = []

  /// Pages of zeros accepted as the end of a row's last value; a lost page reads as zeros too.
  private(set) var emptyEnds: Set<Int> = []

  /// True if SQLite found all used pages in trees, so no others are searched.
  var isEveryPageLedTo = false

  /// `nil` if the list is incomplete.
  private let freePages: Set<Int>?
  private var isVisited: [Bool]
  /// The row that has each overflow page; no page can belong to two rows.
  private var claims: [Int: Int] = [:]
  /// The tables whose trees point to pages that the pointer map assigns to others, by page.
  private var disputed: [Int: String] = [:]

  /// Reads only the freelist.
  package init(image: DatabaseImage, pointerMap: PointerMap?, includesUncertainPages: Bool) throws(FileError) {
    self.image = image
    self.pointerMap = pointerMap
    self.includesUncertainPages = includesUncertainPages
    freePages = try Self.freePages(of: image)
    isVisited = [Bool](repeating: false, count: image.pageCount + 1)
  }

  /// `nil` if the list is damaged, or its length differs from the header's.
  private static func freePages(of image: DatabaseImage) throws(FileError) -> Set<Int>? {
    guard var trunk = image.firstFreePage else { return nil }
    var pages: Set<Int> = []
    while trunk != 0 {
      guard trunk >= 2, pages.insert(trunk).inserted, let bytes = try image.page(trunk) else { return nil }
      let count = bigEndian(bytes, at: 4)
      guard count <= image.usableSize / 4 - 2 else { return nil }
      for index in 0..<count {
        let page = bigEndian(bytes, at: 8 + 4 * index)
        guard page >= 2, page <= image.pageCount else { return nil }
        pages.insert(page)
      }
      trunk = bigEndian(bytes, at: 0)
    }
    return pages.count == image.freePageCount ? pages : nil
  }

  /// `nil` if that is unknown.
  package func isInUse(_ page: Int) throws(FileError) -> Bool? {
    switch try pointerMap?.entry(of: page) {
    case .free: return false
    case .root, .tree, .firstOverflow, .overflow: return true
    case nil: return freePages.map { !$0.contains(page) } ?? (isInUseByLog(page) ? true : nil)
    }
  }

  /// True if a page was written to the log and not freed there.
  ///
  /// Freeing changes page 1, which counts free pages, and the page's entry in a pointer map.
  private func isInUseByLog(_ page: Int) -> Bool {
    let origin = image.origin
    return origin.isLogWhole && origin.logged.contains(page) && (pointerMap != nil || !origin.logged.contains(1))
  }

  // MARK: Assigning pages

  /// `indexRoots` are the root pages of indexes, `otherRoots` those of tables that aren't read.
  package func take(
    _ tables: [SourceTable], indexRoots: Set<Int> = [], otherRoots: Set<Int> = []
  ) throws(FileError) {
    leaves = [:]
    unreadablePages = []
    unreadableCounts = [:]
    (unreadableIndexPages, uncertainPages, unassignedPages) = (0, 0, [])
    disputed = [:]
    for page in isVisited.indices { isVisited[page] = false }
    var byRoot: [Int: SourceTable] = [:]
    for table in tables {
      guard let root = table.root else { continue }
      byRoot[root] = table
      try walk(table, from: root)
    }
    guard image.pageCount >= 2, !isEveryPageLedTo else { return }
    for root in otherRoots.sorted() { try passOver(root, tables) }
    for page in 2...image.pageCount where !isVisited[page] && page != image.layout.lockPage {
      if pointerMap?.contains(page) ?? false { continue }
      try assignLeftOut(page, tables, byRoot, indexRoots, otherRoots)
    }
  }

  private func walk(_ table: SourceTable, from root: Int) throws(FileError) {
    var stack = [(page: root, bounds: KeyBounds())]
    while let (number, bounds) = stack.popLast() {
      guard number >= 1, number <= image.pageCount else {
        noteUnreadable(number, of: table.name)
        continue
      }
      guard !isVisited[number] else {
        // No page belongs to two tables.
        noteUnreadable(nil, of: table.name)
        continue
      }
      isVisited[number] = true
      guard let page = try image.treePage(number) else {
        noteUnreadable(number, of: table.name)
        continue
      }
      switch page.kind {
      case .tableLeaf:
        leaves[table.name, default: []].append(Leaf(page: number, isApart: false, bounds: bounds))
      case .tableInterior:
        let (children, damagedCount) = page.children(within: bounds)
        for _ in 0..<damagedCount where pointerMap == nil { noteUnreadable(nil, of: table.name) }
        for (child, bounds) in children.reversed() {
          guard child >= 1, child <= image.pageCount else {
            let isLost = child >= 1 && child <= image.formerPageCount
            // Otherwise the pointer map finds the intended page.
            if isLost || pointerMap == nil { noteUnreadable(isLost ? child : nil, of: table.name) }
            continue
          }
          if let entry = try pointerMap?.entry(of: child), entry != .tree(parent: number) {
            disputed[child] = table.name
          } else {
            stack.append((child, bounds))
          }
        }
      case .indexLeaf, .indexInterior:
        noteUnreadable(number, of: table.name)
      }
    }
  }

  /// Marks the pages of an unread table, except unmapped ones that look like another table's.
  private func passOver(_ root: Int, _ tables: [SourceTable]) throws(FileError) {
    var stack = [root]
    var seen: Set<Int> = []
    while let number = stack.popLast() {
      guard number >= 1, number <= image.pageCount, !isVisited[number], seen.insert(number).inserted,
        let page = try image.treePage(number)
      else { continue }
      switch page.kind {
      case .tableInterior: stack += page.children().pages.map(\.page)
      case .tableLeaf:
        let sample = try sample(page)
        if tables.contains(where: { mayBe(sample, of: $0) }) { continue }
      case .indexLeaf, .indexInterior: continue
      }
      if try pointerMap?.entry(of: number) == nil { isVisited[number] = true }
    }
  }

  /// Assigns a page outside of all trees, if its table can be determined.
  private func assignLeftOut(
    _ number: Int, _ tables: [SourceTable], _ byRoot: [Int: SourceTable], _ indexRoots: Set<Int>,
    _ otherRoots: Set<Int>
  ) throws(FileError) {
    let inUse = try isInUse(number)
    guard inUse != false else { return }
    guard let bytes = try image.page(number) else {
      if inUse == true { noteUnreadable(number, of: nil) }
      return
    }
    let entry = try pointerMap?.entry(of: number)
    let root = try entry == nil ? nil : pointerMap?.root(of: number)
    guard let page = TreePage(bytes, number: number, usableSize: image.usableSize) else {
      // Without a pointer map, such a page may be an overflow page, unless it is empty.
      switch entry {
      case .tree, .root: break
      case nil where inUse == true && bytes.allSatisfy({ $0 == 0 }): break
      default: return
      }
      if let root, indexRoots.contains(root) {
        unreadableIndexPages += 1
      } else {
        noteUnreadable(number, of: root.flatMap { byRoot[$0]?.name })
      }
      return
    }
    let claimant = disputed[number].flatMap { name in tables.first { $0.name == name } }
    let mapped = root.flatMap { byRoot[$0] }
    // A tree whose rows can't be recognized can't be proven complete.
    if let claimant, claimant.kinds == nil, claimant.name != mapped?.name { noteUnreadable(nil, of: claimant.name) }
    switch page.kind {
    case .indexInterior, .indexLeaf, .tableInterior: return
    case .tableLeaf: break
    }
    switch entry {
    // If a tree points to the page too, the pointer map may be the damaged part.
    case .firstOverflow where claimant == nil, .overflow where claimant == nil: return
    default: break
    }
    let sample = try sample(page)
    if let mapped, mapped.kinds == nil ? claimant == nil || claimant?.name == mapped.name : mayBe(sample, of: mapped) {
      return leaves[mapped.name, default: []].append(Leaf(page: number, isApart: true))
    }
    let candidates = tables.filter { mayBe(sample, of: $0) }
    let table = disputed[number].flatMap { name in candidates.first { $0.name == name } } ?? candidates.first
    if root.map({ otherRoots.contains($0) }) ?? false { return }
    guard inUse == true || includesUncertainPages else {
      if table != nil { uncertainPages += 1 }
      return
    }
    guard let table, candidates.count == 1 || disputed[number] == table.name else {
      if inUse == true, !page.tableCells().cells.isEmpty { unassignedPages.append(number) }
      return
    }
    leaves[table.name, default: []].append(Leaf(page: number, isApart: true))
  }

  /// Of long rows, only the start.
  private func sample(_ page: TreePage) throws(FileError) -> [(key: Int64, values: [FoundValue])] {
    let reader = RecordReader(image: image, pointerMap: pointerMap)
    var rows: [(key: Int64, values: [FoundValue])] = []
    for cell in page.tableCells().cells.prefix(16) {
      if let values = try reader.values(of: cell, in: page, limit: 4 * image.pageSize) {
        rows.append((cell.rowID, values))
      }
    }
    return rows
  }

  private func mayBe(_ rows: [(key: Int64, values: [FoundValue])], of table: SourceTable) -> Bool {
    table.kinds != nil && !rows.isEmpty && rows.allSatisfy { table.fits($0.values, key: $0.key) }
  }

  private func noteUnreadable(_ page: Int?, of table: String?) {
    if let table { unreadableCounts[table, default: 0] += 1 }
    if let page { unreadablePages.append(page) }
  }

  // MARK: Rows

  /// In page order, intact trees first; returns the number of unreadable rows in readable pages.
  package func forEachRow(of table: SourceTable, _ body: (Int64, [FoundValue], Place) throws -> Void) throws -> Int {
    let reader = RecordReader(image: image, pointerMap: pointerMap)
    var damagedCount = 0
    let leaves = leaves[table.name] ?? []
    for (index, leaf) in leaves.enumerated() {
      guard let page = try image.treePage(leaf.page) else { continue }
      let (cells, count) = page.tableCells()
      damagedCount += count
      var wrongKeys: KeyBounds?
      let outsideCount = cells.count { !leaf.bounds.contains($0.rowID) }
      // If most keys are out of bounds, the bounds are damaged.
      if outsideCount > 0, outsideCount * 2 < cells.count {
        wrongKeys = KeyBounds(
          above: try keys(of: leaves, at: index - 1)?.last ?? leaf.bounds.above,
          upTo: try keys(of: leaves, at: index + 1)?.first.map { $0 &- 1 } ?? leaf.bounds.upTo)
      }
      for cell in cells {
        // A page has fewer than 1 << 17 bytes.
        let owner = leaf.page << 17 | cell.start
        guard
          var values = try reader.values(
            of: cell, in: page, claim: { self.claim($0, for: owner) }, emptyEnd: { self.emptyEnds.insert($0) }),
          values.count <= table.columns.count
        else {
          damagedCount += 1
          continue
        }
        while values.count < table.columns.count { values.append(.stored(.null)) }
        if let keyColumn = table.keyColumn { values[keyColumn] = .stored(.integer(cell.rowID)) }
        // Bounds that contradict the neighbouring pages are damaged.
        let isMisplaced =
          wrongKeys.map { !leaf.bounds.contains(cell.rowID) && !$0.contains(cell.rowID) } ?? false
        try body(cell.rowID, values, isMisplaced ? .misplaced : leaf.isApart ? .apart : .tree)
      }
    }
    return damagedCount
  }

  private func keys(of leaves: [Leaf], at index: Int) throws(FileError) -> [Int64]? {
    guard leaves.indices.contains(index), !leaves[index].isApart, let page = try image.treePage(leaves[index].page)
    else { return nil }
    let keys = page.tableCells().cells.map(\.rowID).filter { leaves[index].bounds.contains($0) }
    return keys.isEmpty ? nil : keys
  }

  private func claim(_ page: Int, for owner: Int) -> Bool {
    guard page < isVisited.count, !isVisited[page] else { return false }
    if let other = claims[page] { return other == owner }
    claims[page] = owner
    return true
  }
}
