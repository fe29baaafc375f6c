import Foundation
import Heirloom

/// All files of a folder with their contents and times, to detect changes.
struct FolderContent: Hashable {
  private struct Item: Hashable {
    let status: FileStatus
    /// The last change of content, as seconds and nanoseconds since 1970-01-01 UTC.
    let modified: [Int]
    let bytes: [UInt8]
  }

  private var items: [String: Item] = [:]

  private static let sideSuffixes = StoreLocation.sideSuffixes

  /// Leaves out SQLite's side files.
  init(of folder: String) throws {
    try read(folder)
  }

  private mutating func read(_ folder: String) throws {
    let files = POSIXFileOperations()
    for name in try files.names(in: folder) where !Self.sideSuffixes.contains(where: { name.hasSuffix($0) }) {
      let path = PathText.join(folder, name)
      guard let status = try files.status(of: path) else { continue }
      let bytes = status.kind == .regular ? try files.readFile(path, limit: 1 << 28) : []
      items[path] = Item(status: status, modified: Self.modified(path), bytes: bytes)
      if status.kind == .directory { try read(path) }
    }
  }

  private static func modified(_ path: String) -> [Int] {
    var status = stat()
    guard lstat(path, &status) == 0 else { return [] }
    #if canImport(Darwin)
      return [Int(status.st_mtimespec.tv_sec), Int(status.st_mtimespec.tv_nsec)]
    #else
      return [Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec)]
    #endif
  }

  var count: Int { items.count }

  func changes(since earlier: FolderContent) -> [String] {
    Set(items.keys).union(earlier.items.keys).filter { items[$0] != earlier.items[$0] }.sorted()
  }
}
