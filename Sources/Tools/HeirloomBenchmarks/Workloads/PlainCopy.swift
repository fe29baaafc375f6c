import Foundation
import Heirloom

enum PlainCopy {
  /// Syncs the copy.
  static func copy(_ path: String, to newPath: String) throws(BenchmarkError) {
    let input = open(path, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw .system(call: "open", path: path, code: errno) }
    defer { _ = close(input) }
    let output = open(newPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o644))
    guard output >= 0 else { throw .system(call: "open", path: newPath, code: errno) }
    defer { _ = close(output) }
    #if canImport(Darwin)
      guard fcopyfile(input, output, nil, copyfile_flags_t(COPYFILE_DATA)) == 0 else {
        throw .system(call: "fcopyfile", path: newPath, code: errno)
      }
      guard fcntl(output, F_FULLFSYNC) == 0 else { throw .system(call: "fcntl", path: newPath, code: errno) }
    #else
      while true {
        let count = try copyRange(input, output)
        if count == 0 { break }
        guard count > 0 || errno == EINTR else { throw .system(call: "copy_file_range", path: newPath, code: errno) }
      }
      guard fsync(output) == 0 else { throw .system(call: "fsync", path: newPath, code: errno) }
    #endif
  }

  #if !canImport(Darwin)
    /// The type of `copy_file_range`, which glibc's headers don't expose to Swift.
    private typealias CopyFileRange =
      @convention(c) (
        Int32, UnsafeMutablePointer<Int64>?, Int32, UnsafeMutablePointer<Int64>?, Int, UInt32
      ) -> Int

    private static func copyRange(_ input: Int32, _ output: Int32) throws(BenchmarkError) -> Int {
      guard let symbol = dlsym(nil, "copy_file_range") else {
        throw .system(call: "dlsym", path: "copy_file_range", code: ENOSYS)
      }
      return unsafeBitCast(symbol, to: CopyFileRange.self)(input, nil, output, nil, 1 << 30, 0)
    }
  #endif
}
