import Foundation

/// A run in a separate process, with separate memory and first calls.
enum ChildProcess {
  /// The option that makes this tool do one run and print the measured values.
  static let option = "--child"

  static func run<Measured: Decodable>(
    _ name: String, _ words: [String], returning: Measured.Type
  ) throws -> Measured {
    guard let executable = Bundle.main.executableURL else {
      throw BenchmarkError.childFailed(name: name, reason: "this tool doesn't find its own executable.")
    }
    let process = Process()
    process.executableURL = executable
    process.arguments = [option, name] + words
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // Read before waiting, because a full pipe would block the child.
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw BenchmarkError.childFailed(name: name, reason: "it ended with status \(process.terminationStatus).")
    }
    do {
      return try JSONDecoder().decode(Measured.self, from: data)
    } catch {
      throw BenchmarkError.childFailed(name: name, reason: "its output is not what was expected: \(error)")
    }
  }

  static func answer(_ measured: some Encodable) throws {
    try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(measured))
  }
}
