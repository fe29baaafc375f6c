import Foundation
import TestSupport
import Testing

/// A small file system in memory, mounted for one test.
final class MountedVolume {
  /// The folder where it is mounted.
  let url: URL
  private let directory: TemporaryDirectory

  /// Whether this process may mount one.
  static let isPossible: Bool = (try? MountedVolume(options: "size=64k")) != nil
  /// Whether a process in a namespace of its own may.
  static let isPossibleInNamespace: Bool =
    (try? command(["/usr/bin/unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])) != nil
  /// What a skipped test says.
  static let absence: Comment = "no tmpfs can be mounted here, not as root and not by unshare -Urm"

  /// Mounts a file system on a folder of its own.
  convenience init(options: String) throws {
    let directory = try TemporaryDirectory()
    try self.init(on: directory.url, of: directory, options: options)
  }

  /// Mounts a file system on a folder that exists, in a directory that is kept as long.
  init(on folder: URL, of directory: TemporaryDirectory, kind: String = "tmpfs", options: String) throws {
    url = folder
    self.directory = directory
    try Self.command(["/usr/bin/mount", "-t", kind, "-o", options, kind, folder.path])
  }

  deinit {
    try? Self.command(["/usr/bin/umount", "-l", url.path])
  }

  /// Gives it other options, such as another size.
  func remount(_ options: String) throws {
    // Only what is asked for: in a namespace the options that it has can't be given again.
    try Self.command(
      ["/usr/bin/mount", "--options-source=disable", "-o", "remount," + options, "tmpfs", url.path])
  }

  /// Removes everything on it.
  func clear() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
      try FileManager.default.removeItem(at: url.appendingPathComponent(name))
    }
  }

  private struct Failure: Error {
    let command: [String]
  }

  private static func command(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: arguments[0])
    process.arguments = Array(arguments.dropFirst())
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(command: arguments) }
  }
}
