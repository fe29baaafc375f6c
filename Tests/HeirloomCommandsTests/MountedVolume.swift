import Foundation
import TestSupport
import Testing

/// A small file system that is mounted for one test: in memory, or one that shares blocks.
final class MountedVolume {
  let url: URL
  private let directory: TemporaryDirectory

  /// True when this process may mount one.
  static let isPossible: Bool = (try? MountedVolume(options: "size=64k")) != nil
  /// True when a process in a namespace of its own may.
  static let isPossibleInNamespace: Bool =
    (try? command(["/usr/bin/unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])) != nil
  static let absence: Comment = "no tmpfs can be mounted here, not as root and not by unshare -Urm"

  convenience init(options: String) throws {
    let directory = try TemporaryDirectory()
    try self.init(on: directory.url, of: directory, options: options)
  }

  /// The directory is kept as long as the volume.
  init(on folder: URL, of directory: TemporaryDirectory, kind: String = "tmpfs", options: String) throws {
    url = folder
    self.directory = directory
    try Self.command(["/usr/bin/mount", "-t", kind, "-o", options, kind, folder.path])
  }

  /// As a container mounts a single file of its host.
  init(file: URL, of directory: TemporaryDirectory) throws {
    url = file
    self.directory = directory
    try Self.command(["/usr/bin/mount", "--bind", file.path, file.path])
  }

  /// The file that holds the volume takes only the space that is written.
  init(sharingBlocks megabytes: Int) throws {
    directory = try TemporaryDirectory()
    let image = directory.file("image").path
    url = directory.file("volume")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    try Self.command(["/usr/bin/truncate", "-s", "\(megabytes)M", image])
    try Self.command(["/usr/sbin/mkfs.xfs", "-q", "-m", "reflink=1", image])
    try Self.command(["/usr/bin/mount", "-o", "loop", image, url.path])
  }

  static let canShareBlocks: Bool = (try? MountedVolume(sharingBlocks: 320)) != nil
  static let absenceOfSharing: Comment =
    "no XFS can be made and mounted here: mkfs.xfs, a loop device and root are needed"

  var usedBytes: UInt64 {
    get throws {
      // Blocks are allocated late.
      sync()
      var status = statvfs()
      guard statvfs(url.path, &status) == 0 else { throw Failure(command: ["statvfs", url.path]) }
      return UInt64(status.f_blocks - status.f_bfree) * UInt64(status.f_frsize)
    }
  }

  deinit {
    try? Self.command(["/usr/bin/umount", "-l", url.path])
  }

  func remount(_ options: String) throws {
    // Only new options are given: in a namespace the existing ones can't be given again.
    try Self.command(
      ["/usr/bin/mount", "--options-source=disable", "-o", "remount," + options, "tmpfs", url.path])
  }

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
