import Foundation

/// Commands of the system that a check makes use of, where they are installed.
enum SystemCommand {
  /// Returns where a command lies; `nil` if it isn't installed.
  static func path(of name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Runs a command.
  ///
  /// - Parameters:
  ///   - path: Where it lies.
  ///   - arguments: Its words.
  ///   - environment: The variables it gets; of its own process's it gets only those by which programs find libraries and commands.
  /// - Returns: What it writes to both outputs.
  /// - Throws: ``BenchmarkError/childFailed(name:reason:)`` with that, if it fails.
  static func run(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let own = ProcessInfo.processInfo.environment.filter { ["PATH", "LD_LIBRARY_PATH"].contains($0.key) }
    process.environment = own.merging(environment) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    // To the end before waiting: a full pipe would keep the child from ending.
    let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      let name = ([path] + arguments).joined(separator: " ")
      throw BenchmarkError.childFailed(name: name, reason: "it ended with \(process.terminationStatus): \(output)")
    }
    return output
  }
}
