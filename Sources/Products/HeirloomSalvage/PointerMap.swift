import HeirloomStore
package import HeirloomVault

/// The map of a database in auto-vacuum mode: each page's type and the page that points to it.
///
/// Core Data creates its stores in this mode. Only the map distinguishes a page of deleted rows
/// from one whose parent is lost.
package struct PointerMap {
  package enum Entry: Hashable {
    case root
    case free
    case firstOverflow(parent: Int)
    case overflow(previous: Int)
    /// A b-tree page that isn't a root.
    case tree(parent: Int)
  }

  private let image: DatabaseImage
  private let cache: Cache

  private final class Cache {
    var number = 0
    var bytes: [UInt8] = []
  }

  /// `nil` if the database has no map; `isDeclared` is `nil` if the header is damaged.
  package init?(_ image: DatabaseImage, isDeclared: Bool?) throws(FileError) {
    self.image = image
    cache = Cache()
    if let isDeclared {
      guard isDeclared else { return nil }
      return
    }
    // Without a header, page 2 must look like the map's first page.
    guard image.pageCount >= 3, let bytes = try image.page(2) else { return nil }
    let count = min(image.layout.mapEntryCount, image.pageCount - 2)
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

  /// True for a page of the map itself.
  package func contains(_ page: Int) -> Bool {
    image.layout.isMapPage(page)
  }

  /// `nil` if the entry is invalid.
  package func entry(of page: Int) throws(FileError) -> Entry? {
    guard page >= 3, page <= image.pageCount else { return nil }
    let map = image.layout.mapPage(of: page)
    guard page > map else { return nil }
    if cache.number != map {
      guard let bytes = try image.page(map) else { return nil }
      (cache.number, cache.bytes) = (map, bytes)
    }
    guard let offset = image.layout.mapOffset(of: page) else { return nil }
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

  /// `nil` if the chain of parents is broken.
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
