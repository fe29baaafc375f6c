import Foundation
import HeirloomOutput

/// Queries about the tool's own process, and changes to it; the library makes no such changes.
package enum ProcessSurroundings {
  /// Must be called before anything else.
  package static func prepare() {
    // The next opened file would get the number of a closed stream, and output would be written
    // into a store.
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
    // A pipe that closes must not end a migration, and exceeding the limit of file size must be a
    // reported error.
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
  }

  static var workingDirectory: String? {
    guard let bytes = getcwd(nil, 0) else { return nil }
    defer { free(bytes) }
    // The kernel returns a path without a leading slash for an unreachable folder.
    return String(validatingCString: bytes).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// Checked first, because Swift ends the process without memory, and errors without free file
  /// descriptors are misleading.
  static var obstacle: String? {
    if let limit = limit(RLIMIT_NOFILE), limit < fewestFiles {
      return
        "This process may open \(grouped(limit)) files; expected \(fewestFiles) at least, as ulimit -n allows them."
    }
    if let limit = limit(RLIMIT_AS), limit - addressSpace < leastMemory {
      return
        "This process may take \(sizeText(max(0, limit - addressSpace))) of memory more; expected \(sizeText(leastMemory)) at"
        + " least, as ulimit -v allows them."
    }
    return nil
  }

  /// A rehearsal opens seven besides the standard streams.
  private static let fewestFiles: Int64 = 16
  /// In bytes: enough for any command on a small file.
  private static let leastMemory: Int64 = 256_000_000

  #if canImport(Glibc)
    private static func limit(_ resource: __rlimit_resource) -> Int64? { limit(Int32(resource.rawValue)) }
  #endif

  private static func limit(_ resource: Int32) -> Int64? {
    var value = rlimit()
    guard getrlimit(resource, &value) == 0, value.rlim_cur < UInt64(Int64.max) else { return nil }
    return Int64(value.rlim_cur)
  }

  /// In bytes; 0 if unknown.
  private static var addressSpace: Int64 {
    let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = text.flatMap { $0.split(separator: " ").first }.flatMap { Int64($0) } ?? 0
    return pages.multipliedReportingOverflow(by: Int64(sysconf(Int32(_SC_PAGESIZE)))).partialValue
  }
}
