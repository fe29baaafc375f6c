package import Foundation

/// A fresh folder for one test, removed with its contents when the last reference goes.
///
/// In a quick run it is in memory where that has room: a migration waits for the disk dozens of times. A long run is on
/// the disk, and so is any run for which `TMPDIR` names a folder.
package final class TemporaryDirectory: Sendable {
  package let url: URL

  /// The parent of folders for tests of what not every file system can do, such as attributes of files.
  package static let disk: URL = FileManager.default.temporaryDirectory

  private static let usual: URL = {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let free = try? FileManager.default.attributesOfFileSystem(forPath: memory.path)[.systemFreeSize] as? NSNumber
    // A container may have 64 MB of it.
    guard !LongTests.areOn, ProcessInfo.processInfo.environment["TMPDIR"] == nil,
      FileManager.default.isWritableFile(atPath: memory.path), free?.int64Value ?? 0 > 4 << 30
    else { return disk }
    return memory
  }()

  package init(in parent: URL? = nil) throws {
    let parent = parent ?? Self.usual
    url = parent.appendingPathComponent("heirloom-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  package func file(_ name: String) -> URL {
    url.appendingPathComponent(name)
  }
}
