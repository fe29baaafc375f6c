import Foundation

/// The file system's facts about a store's files, which later show that nobody has written to the store since.
///
/// Whoever commits to a store writes to its main file or to its `-wal`, and the file system notes the time. Two equal
/// states mean the same content if, before the first, the files were at rest for longer than such a time resolves: a
/// write after it then has a later time than all that were noted.
package struct StoreState: Hashable, Sendable {
  private struct File: Hashable, Sendable {
    let device: UInt64
    let number: UInt64
    let size: Int64
    /// Seconds and nanoseconds of each time.
    let times: [Int]
  }

  /// The main file, with the times of the last change of its content and of anything about it.
  private let main: File
  /// The `-wal` with the time of its last change of content, if it has any: SQLite may set its owner on opening it.
  private let log: File?

  /// Reads the state of a store's files; `nil` if one of them was not at rest, or if there is no store.
  ///
  /// - Parameters:
  ///   - path: The store's file.
  ///   - rest: The seconds for which nothing must have been written: more than the file system's times resolve.
  package init?(of path: String, atRestFor rest: Double) {
    // SQLite keeps the side files beside the file that a symbolic link leads to.
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    let file = String(cString: resolved)
    var clock = timespec()
    guard clock_gettime(CLOCK_REALTIME, &clock) == 0, let main = Self.file(file, withChange: true) else { return nil }
    let log = Self.file(file + "-wal", withChange: false).flatMap { $0.size > 0 ? $0 : nil }
    let now = Self.seconds(clock.tv_sec, clock.tv_nsec)
    for file in [main, log].compactMap({ $0 }) {
      for index in stride(from: 0, to: file.times.count, by: 2)
      where now - Self.seconds(file.times[index], file.times[index + 1]) < rest { return nil }
    }
    (self.main, self.log) = (main, log)
  }

  /// Returns true if the files of a store are now as they were.
  ///
  /// - Parameter path: The store's file.
  /// - Returns: False also if there is no store any more.
  package func isStill(at path: String) -> Bool { Self(of: path, atRestFor: -.infinity) == self }

  private static func seconds(_ seconds: Int, _ nanoseconds: Int) -> Double {
    Double(seconds) + Double(nanoseconds) / 1e9
  }

  private static func file(_ path: String, withChange: Bool) -> File? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    #if canImport(Darwin)
      let (written, changed) = (status.st_mtimespec, status.st_ctimespec)
    #else
      let (written, changed) = (status.st_mtim, status.st_ctim)
    #endif
    let times = [written.tv_sec, written.tv_nsec] + (withChange ? [changed.tv_sec, changed.tv_nsec] : [])
    return File(
      device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino),
      size: Int64(status.st_size), times: times)
  }
}
