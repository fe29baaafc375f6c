import Foundation
import Heirloom

/// A folder that is removed, with its contents, with the last reference to it.
final class BenchmarkFolder {
  let path: String

  private static let files = POSIXFileOperations()
  private static let attributes = FileAttributes(mode: 0o755)

  init(in directory: String?) throws(FileError) {
    let parent = try Self.files.resolvePath(directory ?? FileManager.default.temporaryDirectory.path)
    path = PathText.join(parent, "heirloom-benchmark-\(Self.files.uniqueIdentifier())")
    try Self.files.makeDirectory(path, attributes: Self.attributes)
  }

  deinit {
    // A file that can't be removed stays in the temporary folder.
    try? Self.remove(path)
  }

  func file(_ name: String) -> String { PathText.join(path, name) }

  func emptyFolder(_ name: String) throws(FileError) -> String {
    let folder = file(name)
    try Self.remove(folder)
    try Self.files.makeDirectory(folder, attributes: Self.attributes)
    return folder
  }

  /// A generated store, made once for all workloads of that size.
  func notes(_ count: Int, seed: UInt64) throws -> String {
    let path = file(Self.storeName(count))
    if try Self.files.status(of: path) == nil { try StoreGenerator(notes: count, seed: seed).makeStore(at: path) }
    return path
  }

  /// A copy by itself; returns its path.
  func copy(of store: String) throws(FileError) -> String {
    let path = PathText.join(try emptyFolder("run"), "Notes.sqlite")
    try Self.files.copyFile(store, to: path, attributes: FileAttributes(mode: 0o644))
    return path
  }

  func removeNotes(_ count: Int) {
    remove("run")
    for suffix in [""] + StoreLocation.sideSuffixes { remove(Self.storeName(count) + suffix) }
  }

  private static func storeName(_ notes: Int) -> String { "Notes\(notes).sqlite" }

  /// Large stores take space that later ones need.
  func remove(_ names: String...) {
    // Whatever can't be removed is removed with the folder, or stays in the temporary one.
    for name in names { try? Self.remove(file(name)) }
  }

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
