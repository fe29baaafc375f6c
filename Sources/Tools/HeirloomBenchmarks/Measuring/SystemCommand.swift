import Foundation

enum SystemCommand {
  static func path(of name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Returns the output with the error output; throws if the command fails.
  ///
  /// `environment` is added to this process's variables that locate libraries and commands.
  static func run(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
    let own = ProcessInfo.processInfo.environment.filter { ["PATH", "LD_LIBRARY_PATH"].contains($0.key) }
    let data = try output(of: path, arguments) { process in
      process.environment = own.merging(environment) { $1 }
      process.standardError = process.standardOutput
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// Throws if the process fails; `prepare` runs before it starts.
  static func output(of path: String, _ arguments: [String], prepare: (Process) -> Void) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    prepare(process)
    try process.run()
    // Read before waiting, because a full pipe would block the child.
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      let output = data.isEmpty ? "" : ": " + String(decoding: data, as: UTF8.self)
      throw BenchmarkError.childFailed(
        name: ([path] + arguments).joined(separator: " "),
        reason: "it ended with status \(process.terminationStatus)\(output).")
    }
    return data
  }
}
