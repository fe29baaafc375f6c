/// As in SQLite's file format (https://www.sqlite.org/fileformat2.html).
package struct PageLayout: Hashable, Sendable {
  package let pageSize: Int
  /// The number of a page's bytes that hold content.
  package let usableSize: Int

  package init(pageSize: Int, usableSize: Int) {
    (self.pageSize, self.usableSize) = (pageSize, usableSize)
  }

  package init?(header: [UInt8]) {
    let pageSize = DatabaseHeader.pageSize(in: header)
    guard header.count > 20, pageSize >= 512, pageSize & (pageSize - 1) == 0, pageSize - Int(header[20]) >= 480 else {
      return nil
    }
    self.init(pageSize: pageSize, usableSize: pageSize - Int(header[20]))
  }

  package var lockPage: Int { Self.lockByte / pageSize + 1 }

  package static let lockByte = 0x4000_0000

  package var mapEntryCount: Int { usableSize / 5 }

  package func isMapPage(_ page: Int) -> Bool { page >= 2 && mapPage(of: page) == page }

  /// A page of the pointer map precedes the pages that it describes.
  package func mapPage(of page: Int) -> Int {
    let span = mapEntryCount + 1
    let map = (page - 2) / span * span + 2
    return map == lockPage ? map + 1 : map
  }

  /// Within its page of the pointer map; `nil` if the page has no entry.
  package func mapOffset(of page: Int) -> Int? {
    let offset = 5 * (page - mapPage(of: page) - 1)
    return offset >= 0 && offset + 5 <= usableSize ? offset : nil
  }
}

package enum TreePageKind: UInt8, Sendable {
  case indexInterior = 2
  case tableInterior = 5
  case indexLeaf = 10
  case tableLeaf = 13

  package var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
  package var isTable: Bool { self == .tableInterior || self == .tableLeaf }

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
  /// In bytes; -1 for a type that doesn't exist.
  @inline(__always)
  package static func length(of type: Int64) -> Int {
    if type >= 12 { return Int(clamping: (type - 12) >> 1) }
    // Four bits for each type.
    return type >= 0 && type < 10 ? Int(truncatingIfNeeded: 0x00_8864_3210 &>> (4 &* type) & 15) : -1
  }
}
