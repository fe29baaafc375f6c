import Foundation
import TestSupport
import Testing

/// The built tool in a process of its own, with its time and memory.
struct MeasuredTool {
  struct Outcome: CustomStringConvertible {
    /// `nil` when a signal ended the process.
    let code: Int32?
    /// Processor time.
    let seconds: Double
    /// The largest memory, in bytes; 0 where the system doesn't tell.
    let peak: Int
    /// On both streams.
    let text: String

    var description: String {
      "\(code.map { "\($0)" } ?? "signal") after \(seconds) s with \(peak >> 20) MB: \(text.suffix(400))"
    }
  }

  /// The tool is ended after a minute.
  static func run(_ arguments: [String], in folder: URL) throws -> Outcome {
    let tool = try #require(BuiltTool.url)
    let log = folder.appendingPathComponent("output.txt")
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, log.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var words = ([tool.path] + arguments).map { strdup($0) } + [nil]
    var variables = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var process: pid_t = 0
    try #require(posix_spawn(&process, tool.path, &actions, nil, &words, &variables) == 0)
    var (status, usage, peak): (Int32, rusage, Int) = (0, rusage(), 0)
    let end = ContinuousClock.now + .seconds(60)
    while wait4(process, &status, WNOHANG, &usage) == 0 {
      // The kernel's own peak includes that of the process that started it.
      peak = max(peak, peakMemory(of: process))
      if ContinuousClock.now > end { kill(process, SIGKILL) }
      Thread.sleep(forTimeInterval: 0.001)
    }
    let times = [usage.ru_utime, usage.ru_stime].map { Double($0.tv_sec) + Double($0.tv_usec) / 1e6 }
    return Outcome(
      code: status & 0x7F == 0 ? status >> 8 & 0xFF : nil, seconds: times.reduce(0, +), peak: peak,
      text: String(decoding: (try? Data(contentsOf: log)) ?? Data(), as: UTF8.self))
  }

  private static func peakMemory(of process: pid_t) -> Int {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 } ?? 0
  }
}
