import Foundation
import TestSupport
import Testing

/// The built tool as a process of its own, with limits and a time limit.
struct ToolProcess {
  /// A command that starts the tool, such as one that sets limits; the tool and its arguments follow.
  var wrapper: [String] = []

  struct Outcome {
    /// `nil` if a signal ended the process.
    let code: Int32?
    /// The JSON on standard output.
    let object: [String: Any]
    let error: String
    /// The process had to be ended.
    let hung: Bool

    var outcome: String? { object["outcome"] as? String }
    var failure: String? { (object["error"] as? [String: Any])?["code"] as? String }
    var message: String { (object["error"] as? [String: Any])?["message"] as? String ?? "" }
    var summary: Comment {
      "\(code.map(String.init) ?? "signal"): \(outcome ?? "") \(failure ?? "") \(message) \(error)"
    }
  }

  func migrate(_ store: URL, to models: URL, _ more: String...) throws -> Outcome {
    try run(["migrate", store.path, "--to", models.path, "--json"] + more)
  }

  func run(_ arguments: [String]) throws -> Outcome {
    let tool = try #require(BuiltTool.url)
    let folder = try TemporaryDirectory()
    let command = wrapper + [tool.path] + arguments
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.currentDirectoryURL = folder.url
    // These are pipes, since a limit on file sizes must not swallow the tool's text, which fits in a pipe.
    let (output, error) = (Pipe(), Pipe())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = error
    try process.run()
    var hung = false
    let end = ContinuousClock.now + .seconds(30)
    while process.isRunning {
      if ContinuousClock.now > end {
        hung = true
        _ = kill(process.processIdentifier, SIGKILL)
        break
      }
      Thread.sleep(forTimeInterval: 0.002)
    }
    process.waitUntilExit()
    #expect(!hung, "it did not end: \(arguments)")
    let written = (output.fileHandleForReading.readDataToEndOfFile(), error.fileHandleForReading.readDataToEndOfFile())
    return withExtendedLifetime(folder) {
      Outcome(
        code: process.terminationReason == .exit ? process.terminationStatus : nil,
        object: (try? JSONSerialization.jsonObject(with: written.0)) as? [String: Any] ?? [:],
        error: String(decoding: written.1, as: UTF8.self), hung: hung)
    }
  }
}
