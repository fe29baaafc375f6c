internal import CHeirloomPages

/// The pages of a database file that were written through a layer under SQLite, with a checksum of each page's bytes.
///
/// The layer sees every byte that SQLite writes, but not what another program writes.
package final class WrittenPages {
  private let record: OpaquePointer

  /// `nil` if SQLite accepts no layer; `pageSize` is in bytes.
  package init?(pageSize: Int) {
    guard let pageSize = UInt32(exactly: pageSize), let record = heirloom_written_pages_create(pageSize) else {
      return nil
    }
    self.record = record
  }

  deinit {
    heirloom_written_pages_release(record)
  }

  package var uriParameters: String {
    "vfs=\(String(cString: heirloom_written_pages_layer()))"
      + "&written-pages=\(heirloom_written_pages_identifier(record))"
  }

  /// False when a write was missed for lack of memory.
  package var isComplete: Bool { heirloom_written_pages_is_complete(record) != 0 }

  /// Written at least in part, or beyond the end of the file at some time.
  package func pages(upTo pageCount: Int) -> PageSet {
    PageSet(pageCount: pageCount) { heirloom_written_pages_mark(record, $0, UInt32(clamping: pageCount)) }
  }

  /// False if the bytes of a written page aren't those that were written last.
  func match(_ page: Int, _ bytes: UnsafeRawPointer) -> Bool {
    heirloom_written_pages_match(record, UInt32(clamping: page), bytes) != 0
  }
}
