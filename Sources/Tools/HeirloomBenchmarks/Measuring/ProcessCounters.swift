import Foundation
import Heirloom

/// Values are `nil` if the system doesn't report them.
struct ProcessCounters: Hashable {
  var peakBytes: Int64?
  /// Sent to the disk, or scheduled to be.
  var writtenBytes: Int64?
  var writeCalls: Int64?

  /// In seconds; unlike wall-clock time, it hardly depends on other load.
  static func processorSeconds() -> Double {
    var time = timespec()
    guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Resets the peak, and returns the resident bytes; `nil` if the system doesn't support that.
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

  /// The growth of what was written; the peak is the later one.
  func since(_ earlier: ProcessCounters) -> ProcessCounters {
    var difference = self
    difference.writtenBytes = writtenBytes.flatMap { bytes in earlier.writtenBytes.map { bytes - $0 } }
    difference.writeCalls = writeCalls.flatMap { calls in earlier.writeCalls.map { calls - $0 } }
    return difference
  }

  static func now() -> ProcessCounters {
    var counters = ProcessCounters()
    #if os(Linux)
      // getrusage(2) inherits the parent's peak across exec; this file doesn't.
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
