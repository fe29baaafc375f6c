import HeirloomStore
package import HeirloomVault

/// The map that a database that can be shortened keeps of its pages: the kind of each, and the page that leads to it.
///
/// Core Data makes its stores so. The map tells a page of deleted rows from one that lost its parent.
package struct PointerMap {
  /// The map's entry for a page.
  package enum Entry: Hashable {
    /// The root of a table or an index.
    case root
    /// A page without content.
    case free
    /// The first page of the rest of a row in a page.
    case firstOverflow(parent: Int)
    /// A further page of the rest of a row.
    case overflow(previous: Int)
    /// A page of a b-tree below another.
    case tree(parent: Int)
  }

  private let image: DatabaseImage
  private let cache: Cache

  private final class Cache {
    var number = 0
    var bytes: [UInt8] = []
  }

  /// Finds the map; `nil` if the database has none.
  ///
  /// - Parameters:
  ///   - image: The pages.
  ///   - isDeclared: True if the header says that there is a map; `nil` if the header is damaged.
  /// - Throws: `FileError`.
  package init?(_ image: DatabaseImage, isDeclared: Bool?) throws(FileError) {
    self.image = image
    cache = Cache()
    if let isDeclared {
      guard isDeclared else { return nil }
      return
    }
    // Look at the page that would be the map's first.
    guard image.pageCount >= 3, let bytes = try image.page(2) else { return nil }
    let count = min(image.usableSize / 5, image.pageCount - 2)
    let fitting = (0..<count).count { index in
      let other = bigEndian(bytes, at: 5 * index + 1)
      switch bytes[5 * index] {
      case 1, 2: return other == 0
      case 3...5: return other >= 1 && other <= image.pageCount
      default: return false
      }
    }
    guard fitting * 10 >= count * 9 else { return nil }
  }

  /// Returns true if a page belongs to the map itself.
  package func contains(_ page: Int) -> Bool {
    page >= 2 && mapPage(of: page) == page
  }

  private func mapPage(of page: Int) -> Int {
    let span = image.usableSize / 5 + 1
    let map = (page - 2) / span * span + 2
    // The page that SQLite locks is never used.
    return map == image.lockPage ? map + 1 : map
  }

  /// Returns the map's entry for a page; `nil` if it makes no sense.
  package func entry(of page: Int) throws(FileError) -> Entry? {
    guard page >= 3, page <= image.pageCount else { return nil }
    let map = mapPage(of: page)
    guard page > map else { return nil }
    if cache.number != map {
      guard let bytes = try image.page(map) else { return nil }
      (cache.number, cache.bytes) = (map, bytes)
    }
    let offset = 5 * (page - map - 1)
    guard offset >= 0, offset + 5 <= image.usableSize else { return nil }
    let other = bigEndian(cache.bytes, at: offset + 1)
    let isPage = other >= 1 && other <= image.pageCount && other != page
    switch cache.bytes[offset] {
    case 1 where other == 0: return .root
    case 2 where other == 0: return .free
    case 3 where isPage: return .firstOverflow(parent: other)
    case 4 where isPage: return .overflow(previous: other)
    case 5 where isPage: return .tree(parent: other)
    default: return nil
    }
  }

  /// Returns the root of the b-tree that a page belongs to; `nil` if the chain of parents is broken.
  package func root(of page: Int) throws(FileError) -> Int? {
    var current = page
    // No b-tree of a file is deeper.
    for _ in 0..<64 {
      if current == 1 { return 1 }
      switch try entry(of: current) {
      case .root: return current
      case .tree(let parent): current = parent
      default: return nil
      }
    }
    return nil
  }
}
