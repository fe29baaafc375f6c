import Foundation
import Heirloom

enum PlainCopy {
  /// Syncs the copy.
  static func copy(_ path: String, to newPath: String) throws(BenchmarkError) {
    let input = try BenchmarkError.check("open", path, open(path, O_RDONLY | O_CLOEXEC))
    defer { _ = close(input) }
    let output = try BenchmarkError.check(
      "open", newPath, open(newPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o644)))
    defer { _ = close(output) }
    #if canImport(Darwin)
      try BenchmarkError.check("fcopyfile", newPath, fcopyfile(input, output, nil, copyfile_flags_t(COPYFILE_DATA)))
      try BenchmarkError.check("fcntl", newPath, fcntl(output, F_FULLFSYNC))
    #else
      while true {
        let count = try copyRange(input, output)
        if count == 0 { break }
        guard count > 0 || errno == EINTR else { throw .system(call: "copy_file_range", path: newPath, code: errno) }
      }
      try BenchmarkError.check("fsync", newPath, fsync(output))
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
