// The pages outside trees, and the check that every page is accounted for.
extension PageCheck {
  /// All trees must have been checked before; `roots` lacks the schema's.
  package func checkRest(roots: [Int]) throws {
    let highest = bigEndian(candidate.header, at: 52)
    guard highest == roots.max() ?? 1 else {
      throw PageFault("has \(highest) as its highest root, which is \(roots.max() ?? 1)")
    }
    try checkHeader()
    try walkFreePages()
    try accountForPages()
  }

  private func checkHeader() throws(PageFault) {
    let header = candidate.header
    func word(_ offset: Int) -> UInt32 { bigEndianWord(header, at: offset) }
    guard word(28) == candidate.pageCount, word(24) == word(92),
      candidate.byteCount == Int64(candidate.pageCount) * Int64(candidate.pageSize)
    else { throw PageFault("has \(candidate.byteCount) bytes, and \(word(28)) pages by its header") }
    // Page size, reserved bytes and text encoding are the source's; 60 and 68 are the app's own numbers.
    for range in [16..<18, 20..<24, 56..<64, 64..<72] where header[range] != source.header[range] {
      throw PageFault("has another header than the store at byte \(range.lowerBound)")
    }
  }

  private func walkFreePages() throws {
    let buffer = candidate.makeBuffer()
    var trunk = bigEndian(candidate.header, at: 32)
    var count = 0
    while trunk != 0 {
      try walk(trunk, as: .free)
      try read(trunk, into: buffer)
      let listed = buffer.bytes.word(at: 4)
      guard listed <= candidate.usableSize / 4 - 2 else { throw PageFault("has \(listed) free pages on page \(trunk)") }
      for index in 0..<listed { try walk(buffer.bytes.word(at: 8 + 4 * index), as: .free) }
      count += listed + 1
      trunk = buffer.bytes.word(at: 0)
    }
    guard count == bigEndian(candidate.header, at: 36) else {
      throw PageFault("has \(count) free pages, and \(bigEndian(candidate.header, at: 36)) by its header")
    }
  }

  private func accountForPages() throws {
    guard walked.contains(1) else { throw PageFault("has a schema that was not checked") }
    let buffer = candidate.makeBuffer()
    try writtenPages.forEach { page in
      // A free page may be one that SQLite never wrote.
      try checkSum(page, in: buffer)
      guard !map.covers(page) || walked.contains(page) else {
        throw PageFault("has page \(page), which was written and to which nothing refers")
      }
    }
    let accounted = walked.union(led)
    try map.forEachEntry { page, entry, mapPage in
      guard !accounted.contains(page) else { return }
      guard (3...5).contains(entry.kind), entry.parent >= 1, entry.parent <= candidate.pageCount,
        !walked.contains(Int(clamping: entry.parent)),
        // An unwritten page of the map is the source's.
        try !isWritten(mapPage) || sourceMap.entry(of: page) == entry
      else { throw PageFault("has page \(page), to which nothing refers any more") }
    }
  }

  /// Skips `shared`: ranges, ascending, in which both files share the volume's blocks.
  package func compareUnwrittenPages(sharing shared: [Range<Int64>]) throws {
    let stride = 1 << 18
    let end = Int64(min(candidate.pageCount, source.pageCount)) * Int64(candidate.pageSize)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * stride, alignment: 16)
    defer { buffer.deallocate() }
    let (own, theirs) = (
      UnsafeMutableRawBufferPointer(rebasing: buffer[..<stride]),
      UnsafeMutableRawBufferPointer(rebasing: buffer[stride...])
    )
    var next = 0
    var offset: Int64 = 0
    while offset < end {
      while next < shared.count, shared[next].upperBound <= offset { next += 1 }
      if next < shared.count, shared[next].lowerBound <= offset {
        // Only whole pages are skipped: the rest of one is compared with the next part.
        let skipped = min(shared[next].upperBound, end) / Int64(candidate.pageSize) * Int64(candidate.pageSize)
        if skipped > offset {
          offset = skipped
          continue
        }
      }
      var count = Int(clamping: min(Int64(stride), end - offset))
      if next < shared.count, shared[next].lowerBound > offset {
        let pages = (shared[next].lowerBound - offset + Int64(candidate.pageSize) - 1) / Int64(candidate.pageSize)
        count = Int(clamping: min(Int64(count), pages * Int64(candidate.pageSize)))
      } else if next < shared.count {
        count = min(count, candidate.pageSize)
      }
      try compare(own, theirs, count: count, at: offset)
      didRead(count)
      offset += Int64(count)
    }
  }

  private func compare(
    _ own: UnsafeMutableRawBufferPointer, _ theirs: UnsafeMutableRawBufferPointer, count: Int, at offset: Int64
  ) throws {
    let pageSize = candidate.pageSize
    let first = Int(clamping: offset / Int64(pageSize)) + 1
    let pages = first..<first + count / pageSize
    guard pages.contains(where: { !isWritten($0) && $0 != candidate.lockPage }) else { return }
    try candidate.read(UnsafeMutableRawBufferPointer(rebasing: own[..<count]), at: offset)
    try source.read(UnsafeMutableRawBufferPointer(rebasing: theirs[..<count]), at: offset)
    for page in pages where !isWritten(page) && page != candidate.lockPage {
      let range = (page - first) * pageSize..<(page - first + 1) * pageSize
      guard UnsafeRawBufferPointer(rebasing: own[range]).isEqual(to: UnsafeRawBufferPointer(rebasing: theirs[range]))
      else { throw PageFault("has other bytes on page \(page) than the store, although it was not written") }
    }
  }
}
