import Foundation

/// A plain file's length, times and identity, which reveal a change without reading the file.
package struct FileStamp: Hashable, Sendable {
  package let size: Int64
  /// The last change of content, then, if it counts, of any kind; each in seconds and nanoseconds.
  package let times: [Int64]
  private let device: UInt64
  private let number: UInt64

  /// `nil` for anything but a plain file; a change of owner or name counts only with status time.
  package init?(_ path: String, withStatusTime: Bool = true) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    size = Int64(status.st_size)
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
    #if canImport(Darwin)
      let (written, changed) = (status.st_mtimespec, status.st_ctimespec)
    #else
      let (written, changed) = (status.st_mtim, status.st_ctim)
    #endif
    let counting = withStatusTime ? [written, changed] : [written]
    times = counting.flatMap { [Int64($0.tv_sec), Int64($0.tv_nsec)] }
  }
}
