/// The sizes on which the places in a database's file depend.
///
/// File format: https://www.sqlite.org/fileformat2.html
package struct PageLayout: Hashable, Sendable {
  /// The size of a page, in bytes.
  package let pageSize: Int
  /// The number of a page's bytes that hold content.
  package let usableSize: Int

  /// Creates a layout; the sizes must be those of a valid header.
  package init(pageSize: Int, usableSize: Int) {
    (self.pageSize, self.usableSize) = (pageSize, usableSize)
  }

  /// Reads the sizes in the start of a file; `nil` if they are none of the format.
  package init?(header: [UInt8]) {
    let pageSize = DatabaseHeader.pageSize(in: header)
    guard header.count > 20, pageSize >= 512, pageSize & (pageSize - 1) == 0, pageSize - Int(header[20]) >= 480 else {
      return nil
    }
    self.init(pageSize: pageSize, usableSize: pageSize - Int(header[20]))
  }

  /// The lock-byte page, which SQLite never uses.
  package var lockPage: Int { Self.lockByte / pageSize + 1 }

  /// The offset of the bytes that SQLite locks.
  package static let lockByte = 0x4000_0000

  // MARK: The pointer map

  /// The number of entries in a page of the pointer map.
  package var mapEntryCount: Int { usableSize / 5 }

  /// Returns true if a page belongs to the pointer map itself.
  package func isMapPage(_ page: Int) -> Bool { page >= 2 && mapPage(of: page) == page }

  /// Returns the page of the pointer map with a page's entry, which precedes it.
  package func mapPage(of page: Int) -> Int {
    let span = mapEntryCount + 1
    let map = (page - 2) / span * span + 2
    return map == lockPage ? map + 1 : map
  }

  /// Returns the offset of a page's entry in its page of the pointer map; `nil` if it has none.
  package func mapOffset(of page: Int) -> Int? {
    let offset = 5 * (page - mapPage(of: page) - 1)
    return offset >= 0 && offset + 5 <= usableSize ? offset : nil
  }
}

/// The type of a page of a tree; raw values are those of the format.
package enum TreePageKind: UInt8, Sendable {
  case indexInterior = 2
  case tableInterior = 5
  case indexLeaf = 10
  case tableLeaf = 13

  /// True for a page without children.
  package var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
  /// True for a page of a table's tree.
  package var isTable: Bool { self == .tableInterior || self == .tableLeaf }

  /// Returns the number of a record's bytes that are in the page itself; the others are in overflow pages.
  package func localSize(ofRecord size: Int, usableSize: Int) -> Int {
    let most = self == .tableLeaf ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
    if size <= most { return size }
    let least = (usableSize - 12) * 32 / 255 - 23
    let local = least + (size - least) % (usableSize - 4)
    return local <= most ? local : least
  }
}

/// The numbers in a record's header, which are its values' types and lengths.
package enum SerialType {
  /// Returns the length of a value in bytes; -1 for a type that doesn't exist.
  @inline(__always)
  package static func length(of type: Int64) -> Int {
    if type >= 12 { return Int(clamping: (type - 12) >> 1) }
    // Four bits for each type.
    return type >= 0 && type < 10 ? Int(truncatingIfNeeded: 0x00_8864_3210 &>> (4 &* type) & 15) : -1
  }
}
