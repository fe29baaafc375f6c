import Foundation

enum SystemCommand {
  /// `nil` if the command isn't installed.
  static func path(of name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Returns the output with the error output; throws if the command fails.
  ///
  /// `environment` is added to this process's variables that locate libraries and commands.
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
