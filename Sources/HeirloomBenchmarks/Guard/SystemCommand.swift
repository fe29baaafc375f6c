import Foundation

/// Commands of the system that a check uses, where they are installed.
enum SystemCommand {
  /// Returns the path of a command; `nil` if it isn't installed.
  static func path(of name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Runs a command.
  ///
  /// - Parameters:
  ///   - path: The path of the command.
  ///   - arguments: The command's arguments.
  ///   - environment: The variables that it gets, besides the two of this process by which libraries and commands are
  ///     found.
  /// - Returns: The text that it writes to both outputs.
  /// - Throws: ``BenchmarkError/childFailed(name:reason:)`` with that text, if the command fails.
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
    // Read to the end before waiting: a full pipe would keep the child from ending.
    let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      let name = ([path] + arguments).joined(separator: " ")
      throw BenchmarkError.childFailed(name: name, reason: "it ended with \(process.terminationStatus): \(output)")
    }
    return output
  }
}
