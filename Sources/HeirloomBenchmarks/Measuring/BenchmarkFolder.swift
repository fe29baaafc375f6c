import Foundation
import Heirloom

/// A fresh folder for stores, removed with its contents when the last reference goes.
final class BenchmarkFolder {
  /// The folder.
  let path: String

  private static let files = POSIXFileOperations()
  private static let attributes = FileAttributes(mode: 0o755)

  /// Makes the folder.
  ///
  /// - Parameter directory: The folder that holds it; `nil` for the system's temporary one.
  /// - Throws: `FileError` if it can't be made.
  init(in directory: String?) throws(FileError) {
    let parent = try Self.files.resolvePath(directory ?? FileManager.default.temporaryDirectory.path)
    path = PathText.join(parent, "heirloom-benchmark-\(Self.files.uniqueIdentifier())")
    try Self.files.makeDirectory(path, attributes: Self.attributes)
  }

  deinit {
    // A file that can't be removed is left in the temporary folder.
    try? Self.remove(path)
  }

  /// Returns the path of a file in the folder.
  func file(_ name: String) -> String { PathText.join(path, name) }

  /// Makes an empty folder in the folder; an older one of that name is removed.
  func emptyFolder(_ name: String) throws(FileError) -> String {
    let folder = file(name)
    try Self.remove(folder)
    try Self.files.makeDirectory(folder, attributes: Self.attributes)
    return folder
  }

  /// Removes files and folders of the folder, if they are there: large stores take space that the next ones need.
  func remove(_ names: String...) {
    // Anything that can't be removed goes with the whole folder, or is left in the temporary one.
    for name in names { try? Self.remove(file(name)) }
  }

  /// Reads a file, so that it is then in the system's memory.
  static func readThrough(_ path: String) throws {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    while let bytes = try file.read(upToCount: 1 << 20), !bytes.isEmpty {}
  }

  private static func remove(_ path: String) throws(FileError) {
    guard let status = try files.status(of: path) else { return }
    guard status.kind == .directory else { return try files.unlink(path) }
    for name in try files.names(in: path) { try remove(PathText.join(path, name)) }
    try files.removeDirectory(path)
  }
}
