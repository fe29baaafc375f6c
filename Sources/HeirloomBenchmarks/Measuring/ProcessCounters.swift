import Foundation
import Heirloom

/// The system's counts for this process so far.
struct ProcessCounters: Hashable {
  /// The most memory that was resident at once, in bytes; `nil` where the system doesn't tell.
  var peakBytes: Int64?
  /// The bytes that were, or will be, given to the disk; `nil` where the system doesn't tell.
  var writtenBytes: Int64?
  /// The calls that write to files; `nil` where the system doesn't tell.
  var writeCalls: Int64?

  /// Returns the time that the processors worked for this process, in seconds.
  ///
  /// Unlike the time on the wall, it hardly depends on the other work of the machine.
  static func processorSeconds() -> Double {
    var time = timespec()
    guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Starts a new peak of the memory, and returns the bytes that are resident now.
  ///
  /// - Returns: The bytes; `nil` where the system doesn't tell, or keeps the peak that it has.
  static func currentBytesFromNowOn() -> Int64? {
    #if os(Linux)
      // "5" sets the peak to the resident size; see proc(5).
      let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { _ = close(file) }
      return write(file, "5", 1) == 1 ? now().peakBytes : nil
    #else
      return nil
    #endif
  }

  /// Reads the counters.
  static func now() -> ProcessCounters {
    var counters = ProcessCounters()
    #if os(Linux)
      // The peak of getrusage(2) is inherited from the parent across exec; that of the file is not.
      counters.peakBytes = number(after: "VmHWM:", in: "/proc/self/status").map { $0 * 1024 }
      counters.writtenBytes = number(after: "write_bytes:", in: "/proc/self/io")
      counters.writeCalls = number(after: "syscw:", in: "/proc/self/io")
    #elseif canImport(Darwin)
      var usage = rusage()
      if getrusage(RUSAGE_SELF, &usage) == 0 { counters.peakBytes = Int64(usage.ru_maxrss) }
    #endif
    return counters
  }

  #if os(Linux)
    private static func number(after name: String, in path: String) -> Int64? {
      guard let bytes = try? POSIXFileOperations().readFile(path, limit: 1 << 16) else { return nil }
      for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where line.hasPrefix(name) {
        return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int64($0) }
      }
      return nil
    }
  #endif
}
