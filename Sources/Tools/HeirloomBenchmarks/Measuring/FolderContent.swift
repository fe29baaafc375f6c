import Heirloom

/// All files of a folder with their contents and times, to detect changes.
struct FolderContent: Hashable {
  private struct Item: Hashable {
    let status: FileStatus
    let bytes: [UInt8]
  }

  private var items: [String: Item] = [:]

  /// Leaves out SQLite's side files.
  init(of folder: String) throws {
    try read(folder)
  }

  private mutating func read(_ folder: String) throws {
    let files = POSIXFileOperations()
    for name in try files.names(in: folder) where !StoreLocation.sideSuffixes.contains(where: { name.hasSuffix($0) }) {
      let path = PathText.join(folder, name)
      guard let status = try files.status(of: path) else { continue }
      let bytes = status.kind == .regular ? try files.readFile(path, limit: 1 << 28) : []
      items[path] = Item(status: status, bytes: bytes)
      if status.kind == .directory { try read(path) }
    }
  }

  var count: Int { items.count }

  func changes(since earlier: FolderContent) -> [String] {
    Set(items.keys).union(earlier.items.keys).filter { items[$0] != earlier.items[$0] }.sorted()
  }
}
