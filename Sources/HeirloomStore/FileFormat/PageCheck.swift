/// Checks the pages of a changed copy, given that those of the source are right.
///
/// The cost is proportional to what was written. The file's pointer map has the parent of each
/// page, so a written page can be traced to its tree. Trees that were rewritten are walked whole.
/// In the others, written pages are compared with the source's pages in the same places. In the
/// end, each page has the owner that the pointer map names: it was walked, or it and its owner were
/// not written and are as in the source.
package final class PageCheck {
  let candidate: DatabasePages
  let source: DatabasePages
  let written: WrittenPages
  /// Pages that were written, or that the source doesn't have.
  let writtenPages: PageSet
  let map: PageMap
  let sourceMap: PageMap
  /// Each walked page has one owner, which the pointer map names.
  var walked: PageSet
  /// Unwritten pages that a walked page refers to.
  var led: PageSet
  /// Written pages, and all their ancestors.
  var touched: PageSet
  /// Written pages whose bytes were found to be those that were written.
  private var summed: PageSet
  package var didRead: (_ byteCount: Int) -> Void = { _ in }
  var spaces: [UInt64] = []

  /// `nil` without pointer maps, pages of equal size, and a record of every write.
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

  func isWritten(_ page: Int) -> Bool { writtenPages.contains(page) }

  /// Only after ``followWrittenPages()``.
  package func isTouched(root: Int) -> Bool { touched.contains(root) }

  /// Marks all pages on the way from each written page to the root of its tree.
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
          throw PageFault("has page \(page), whose parents in the pointer map include page \(current)")
        }
      }
    }
  }

  /// Throws if the page was walked before, or if the pointer map has another entry.
  func walk(_ page: Int, as entry: PageMap.Entry) throws {
    try check(page, entry)
    guard walked.insert(page) else { throw PageFault("has two places for page \(page)") }
  }

  /// For an unwritten page that a walked page refers to.
  func lead(to page: Int, as entry: PageMap.Entry) throws {
    try check(page, entry)
    guard led.insert(page) else { throw PageFault("has two places for page \(page)") }
  }

  private func check(_ page: Int, _ entry: PageMap.Entry) throws {
    guard page >= 1, page <= candidate.pageCount, page == 1 || map.covers(page) else {
      throw PageFault("refers to page \(page), which doesn't exist or can't be used")
    }
    // The schema's root has no entry in the pointer map.
    guard try page == 1 || map.entry(of: page) == entry else {
      throw PageFault("has another owner of page \(page) in its pointer map")
    }
  }

  func read(_ page: Int, into buffer: PageBuffer) throws {
    try candidate.read(page, into: buffer)
    didRead(candidate.pageSize)
    guard isWritten(page), summed.insert(page) else { return }
    guard written.match(page, buffer.bytes) else {
      throw PageFault("has other bytes on page \(page) than were written there")
    }
  }

  func checkSum(_ page: Int, in buffer: PageBuffer) throws {
    if isWritten(page), !summed.contains(page) { try read(page, into: buffer) }
  }

  /// For a tree in which nothing was written.
  package func keep(root: Int, as sourceRoot: Int?) throws {
    guard root == sourceRoot else { throw PageFault("has the root of another tree, page \(root)") }
    try lead(to: root, as: .root)
  }
}
