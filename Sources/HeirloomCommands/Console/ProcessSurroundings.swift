import Foundation
import HeirloomOutput

/// What the tool does to its own process, and asks of it; the library leaves the process as it is.
package enum ProcessSurroundings {
  /// Prepares the process before anything else is done.
  package static func prepare() {
    // A stream that was closed would give its number to the next file that is opened, and what is said would be written into a store.
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
    // A reader of the output that went away must not end a migration, and a file that may not grow is an error to be told.
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
  }

  /// The folder that this process works in; `nil` if it is gone or has no path.
  static var workingDirectory: String? {
    guard let bytes = getcwd(nil, 0) else { return nil }
    defer { free(bytes) }
    // A folder that is out of reach has a path that begins otherwise.
    return String(validatingCString: bytes).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// Says why this process can't do the tool's work; `nil` if it can.
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

  /// A rehearsal has seven open besides those that the tool starts with.
  private static let fewestFiles: Int64 = 16
  /// As much as a small file may take of any command.
  private static let leastMemory: Int64 = 256_000_000

  #if canImport(Glibc)
    private static func limit(_ resource: __rlimit_resource) -> Int64? { limit(Int32(resource.rawValue)) }
  #endif

  private static func limit(_ resource: Int32) -> Int64? {
    var value = rlimit()
    guard getrlimit(resource, &value) == 0, value.rlim_cur < UInt64(Int64.max) else { return nil }
    return Int64(value.rlim_cur)
  }

  /// What the process takes of its address space, in bytes; 0 where that isn't told.
  private static var addressSpace: Int64 {
    let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = text.flatMap { $0.split(separator: " ").first }.flatMap { Int64($0) } ?? 0
    return pages.multipliedReportingOverflow(by: Int64(sysconf(Int32(_SC_PAGESIZE)))).partialValue
  }
}
