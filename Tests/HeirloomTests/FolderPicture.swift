import Foundation

/// All files of a folder with their content and times, to check that nothing was written, made or removed.
struct FolderPicture: Equatable {
  private struct File: Equatable {
    let bytes: Data?
    let modified: Date?
    let mode: Int?
  }

  private var files: [String: File] = [:]

  var names: [String] { files.keys.sorted() }

  init(of folder: URL) {
    guard let names = FileManager.default.enumerator(atPath: folder.path) else { return }
    for case let name as String in names {
      let path = folder.appendingPathComponent(name).path
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      files[name] = File(
        bytes: try? Data(contentsOf: URL(fileURLWithPath: path)), modified: attributes?[.modificationDate] as? Date,
        mode: (attributes?[.posixPermissions] as? NSNumber)?.intValue)
    }
  }

  func differences(from other: FolderPicture) -> [String] {
    Set(files.keys).union(other.files.keys).filter { files[$0] != other.files[$0] }.sorted()
  }
}
