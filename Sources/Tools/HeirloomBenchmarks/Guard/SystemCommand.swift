import Foundation

/// System commands that a check uses, if they are installed.
enum SystemCommand {
  /// Returns the path of a command; `nil` if it isn't installed.
  static func path(of name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Runs a command, and returns its output and error output.
  ///
  /// `environment` is added to the two variables of this process that locate libraries and commands. Throws
  /// ``BenchmarkError/childFailed(name:reason:)`` with that output if the command fails.
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
    // Read before waiting, because a full pipe would block the child.
    let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      let name = ([path] + arguments).joined(separator: " ")
      throw BenchmarkError.childFailed(name: name, reason: "it ended with \(process.terminationStatus): \(output)")
    }
    return output
  }
}
