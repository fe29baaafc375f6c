import Foundation

/// A run in a separate process, with separate memory and first calls.
enum ChildProcess {
  /// The option that makes this tool do one run and print the measured values.
  static let option = "--child"

  static func run<Measured: Decodable>(
    _ name: String, _ words: [String], returning: Measured.Type
  ) throws -> Measured {
    let data = try SystemCommand.output(of: try ownPath(), [option, name] + words) { _ in }
    do {
      return try JSONDecoder().decode(Measured.self, from: data)
    } catch {
      throw BenchmarkError.childFailed(name: name, reason: "its output is not what was expected: \(error)")
    }
  }

  static func ownPath() throws(BenchmarkError) -> String {
    if let executable = Bundle.main.executableURL { return executable.path }
    throw .childFailed(name: "itself", reason: "this tool doesn't find its own executable.")
  }

  static func answer(_ measured: some Encodable) throws {
    try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(measured))
  }
}
