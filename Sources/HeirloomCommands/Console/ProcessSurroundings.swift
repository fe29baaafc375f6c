import Foundation
import HeirloomOutput

/// The tool's questions to its own process, and changes to it; the library leaves the process as it is.
package enum ProcessSurroundings {
  /// Prepares the process before anything else is done.
  package static func prepare() {
    // A closed stream would give its number to the next opened file, and the tool's words would go into a store.
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
    // A reader of the output that goes away must not end a migration; a file that may not grow is an error to report.
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
  }

  /// The folder that this process works in; `nil` if it is gone or has no path.
  static var workingDirectory: String? {
    guard let bytes = getcwd(nil, 0) else { return nil }
    defer { free(bytes) }
    // A folder that is out of reach has a path that begins otherwise.
    return String(validatingCString: bytes).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// The reason why this process can't do the tool's work; `nil` if it can.
  ///
  /// Without memory Swift ends a process, and without files nothing says what is missing.
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

  /// The fewest files that a process must be able to open: a rehearsal has seven open besides the standard ones.
  private static let fewestFiles: Int64 = 16
  /// The least memory, in bytes: as much as any command may take for a small file.
  private static let leastMemory: Int64 = 256_000_000

  #if canImport(Glibc)
    private static func limit(_ resource: __rlimit_resource) -> Int64? { limit(Int32(resource.rawValue)) }
  #endif

  private static func limit(_ resource: Int32) -> Int64? {
    var value = rlimit()
    guard getrlimit(resource, &value) == 0, value.rlim_cur < UInt64(Int64.max) else { return nil }
    return Int64(value.rlim_cur)
  }

  /// The size of the process's address space, in bytes; 0 where it isn't known.
  private static var addressSpace: Int64 {
    let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = text.flatMap { $0.split(separator: " ").first }.flatMap { Int64($0) } ?? 0
    return pages.multipliedReportingOverflow(by: Int64(sysconf(Int32(_SC_PAGESIZE)))).partialValue
  }
}
