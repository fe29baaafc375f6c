package import Foundation

/// A fresh folder for one test, removed with its contents when the last reference goes.
package final class TemporaryDirectory: Sendable {
  /// The folder.
  package let url: URL

  /// Makes the folder.
  package init(in parent: URL = FileManager.default.temporaryDirectory) throws {
    url = parent.appendingPathComponent("heirloom-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// Returns the location of a file in the folder.
  package func file(_ name: String) -> URL {
    url.appendingPathComponent(name)
  }
}
