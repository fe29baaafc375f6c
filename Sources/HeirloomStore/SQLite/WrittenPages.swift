internal import CHeirloomPages

/// The pages of a database file that were written through a layer under SQLite, with a sum of each page's bytes.
///
/// The layer sees every byte, also what SQLite writes by itself. What another program writes doesn't pass it.
package final class WrittenPages {
  private let record: OpaquePointer

  /// Makes a record of no pages; `nil` where SQLite takes no layer.
  ///
  /// - Parameter pageSize: The size of the file's pages, in bytes.
  package init?(pageSize: Int) {
    guard let pageSize = UInt32(exactly: pageSize), let record = heirloom_written_pages_create(pageSize) else {
      return nil
    }
    self.record = record
  }

  deinit {
    heirloom_written_pages_release(record)
  }

  /// The parameters of a URI by which SQLite opens a database through the layer.
  package var uriParameters: String {
    "vfs=\(String(cString: heirloom_written_pages_layer()))"
      + "&written-pages=\(heirloom_written_pages_identifier(record))"
  }

  /// False when a write was missed for lack of memory.
  package var isComplete: Bool { heirloom_written_pages_is_complete(record) != 0 }

  /// Returns the pages of which anything was written, or before which the file ended at some time.
  ///
  /// - Parameter pageCount: The highest number of a page that counts.
  /// - Returns: The set.
  package func pages(upTo pageCount: Int) -> PageSet {
    PageSet(pageCount: pageCount) { heirloom_written_pages_mark(record, $0, UInt32(clamping: pageCount)) }
  }

  /// Returns false if the bytes of a written page aren't those that were written last.
  func match(_ page: Int, _ bytes: UnsafeRawPointer) -> Bool {
    heirloom_written_pages_match(record, UInt32(clamping: page), bytes) != 0
  }
}
