/// The check that the pages of a changed copy of a database are right, given that those of the source are.
///
/// It costs what was written. The file's own map of its pages says what leads to each page, so that a written page is
/// followed to its tree. Trees that were rewritten are walked whole; in the others, the written pages are compared with
/// those of the source whose place they take. In the end, each page of the map has the owner that the map names: it was
/// walked, or it and its owner were not written and are as in the source.
package final class PageCheck {
  let candidate: DatabasePages
  let source: DatabasePages
  let written: WrittenPages
  /// The pages that were written, or that the source doesn't have.
  let writtenPages: PageSet
  let map: PageMap
  let sourceMap: PageMap
  /// Pages that were walked: each has one owner, which the map names.
  var walked: PageSet
  /// Unwritten pages that a walked page leads to.
  var led: PageSet
  /// Written pages, and all that lead to them.
  var touched: PageSet
  /// Written pages whose bytes are those that were written.
  private var summed: PageSet
  /// Hears of the bytes of pages that were read.
  package var didRead: (_ byteCount: Int) -> Void = { _ in }
  /// Memory for cells, used again from page to page.
  var spaces: [UInt64] = []

  /// Prepares a check; `nil` if it can't tell.
  ///
  /// It can't where the files have no map of their pages, or pages of different sizes, or not every write was noted.
  ///
  /// - Parameters:
  ///   - candidate: The copy.
  ///   - source: What it was copied from.
  ///   - written: The pages of the copy that were written.
  package init?(_ candidate: DatabasePages, from source: DatabasePages, written: WrittenPages) {
    guard candidate.hasPageMap, source.hasPageMap, candidate.pageSize == source.pageSize,
      candidate.usableSize == source.usableSize, written.isComplete
    else { return nil }
    self.candidate = candidate
    self.source = source
    self.written = written
    var writtenPages = written.pages(upTo: candidate.pageCount)
    if candidate.pageCount > source.pageCount { writtenPages.insert(source.pageCount + 1...candidate.pageCount) }
    self.writtenPages = writtenPages
    map = PageMap(candidate)
    sourceMap = PageMap(source)
    walked = PageSet(pageCount: candidate.pageCount)
    led = PageSet(pageCount: candidate.pageCount)
    touched = PageSet(pageCount: candidate.pageCount)
    summed = PageSet(pageCount: candidate.pageCount)
  }

  /// Returns true if a page isn't the source's, byte for byte.
  func isWritten(_ page: Int) -> Bool { writtenPages.contains(page) }

  /// Returns true if anything was written in the tree with a root.
  package func isTouched(root: Int) -> Bool { touched.contains(root) }

  // MARK: Steps

  /// Follows each written page to its tree.
  ///
  /// - Throws: ``PageFault``, or ``SQLiteError``.
  package func followWrittenPages() throws {
    try writtenPages.forEach { page in
      guard map.covers(page) else {
        touched.insert(page)
        return
      }
      var current = page
      while touched.insert(current) {
        let entry = try map.entry(of: current)
        guard (3...5).contains(entry.kind) else { break }
        current = Int(clamping: entry.parent)
        guard current >= 1, current <= candidate.pageCount else {
          throw PageFault("has page \(page), to which page \(current) is said to lead")
        }
      }
    }
  }

  /// Notes a page as walked.
  ///
  /// - Parameters:
  ///   - page: The page.
  ///   - entry: The page's place, by what led to it.
  /// - Throws: ``PageFault`` when it was walked before, or the map says something else.
  func walk(_ page: Int, as entry: PageMap.Entry) throws {
    try check(page, entry)
    guard walked.insert(page) else { throw PageFault("has two places for page \(page)") }
  }

  /// Notes an unwritten page as the one that a walked page leads to.
  func lead(to page: Int, as entry: PageMap.Entry) throws {
    try check(page, entry)
    guard led.insert(page) else { throw PageFault("has two places for page \(page)") }
  }

  private func check(_ page: Int, _ entry: PageMap.Entry) throws {
    guard page >= 1, page <= candidate.pageCount, page == 1 || map.covers(page) else {
      throw PageFault("leads to page \(page)")
    }
    // The schema's root has no entry.
    guard try page == 1 || map.entry(of: page) == entry else {
      throw PageFault("has another owner of page \(page) in its map")
    }
  }

  /// Copies a page of the candidate, and checks that it is what was written there.
  func read(_ page: Int, into buffer: PageBuffer) throws {
    try candidate.read(page, into: buffer)
    didRead(candidate.pageSize)
    guard isWritten(page), summed.insert(page) else { return }
    guard written.match(page, buffer.bytes) else {
      throw PageFault("has other bytes on page \(page) than were written there")
    }
  }

  /// Checks that a written page is what was written there, unless it was read before.
  func checkSum(_ page: Int, in buffer: PageBuffer) throws {
    if isWritten(page), !summed.contains(page) { try read(page, into: buffer) }
  }

  /// Notes the root of a tree in which nothing was written.
  ///
  /// - Parameters:
  ///   - root: The root.
  ///   - sourceRoot: The root of the same tree in the source.
  /// - Throws: ``PageFault`` when they differ.
  package func keep(root: Int, as sourceRoot: Int?) throws {
    guard root == sourceRoot else { throw PageFault("has the root of another tree, page \(root)") }
    try lead(to: root, as: .root)
  }
}
