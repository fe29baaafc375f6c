import Foundation
import HeirloomCommands
import HeirloomStore
import Testing

/// The tool in this process, with a record of its output.
struct Tool {
  /// Paths are relative to it.
  let directory: URL
  var environment: [String: String] = [:]
  /// Both streams count as terminals.
  var isTerminal = false
  var columns = 80
  /// Told when the user stops the tool.
  var interruption = Interruption()
  /// The longest wait for other processes to close a store or to let go of their locks.
  var storeTimeout: Duration = .seconds(5)
  var onError: @Sendable (String) -> Void = { _ in }
  var onOutput: @Sendable (String) -> Void = { _ in }

  /// The repository's sample histories.
  static let snapshots = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Snapshots")

  struct Outcome {
    let code: Int32
    let output: String
    let error: String

    func json() throws -> [String: Any] {
      try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any], "\(output)")
    }

    func failure() throws -> [String: Any] {
      try #require(try json()["error"] as? [String: Any], "\(output)")
    }
  }

  func callAsFunction(_ arguments: String...) -> Outcome {
    run(arguments)
  }

  func run(_ arguments: [String]) -> Outcome {
    let written = Written()
    let (onError, onOutput, columns) = (onError, onOutput, columns)
    let console = Console(
      writeOutput: { text in
        written.texts.withLock { $0.output += text }
        onOutput(text)
      },
      writeError: { text in
        written.texts.withLock { $0.error += text }
        onError(text)
      },
      isOutputTerminal: isTerminal, isErrorTerminal: isTerminal, environment: environment,
      currentDirectory: directory.path, interruption: interruption, storeTimeout: storeTimeout,
      columns: { columns })
    let code = Connection.usualBusyTimeout.withValue(Int32(storeTimeout / .milliseconds(1))) {
      HeirloomTool.run(arguments: arguments, console: console)
    }
    let texts = written.texts.withLock { $0 }
    return Outcome(code: code, output: texts.output, error: texts.error)
  }

  private final class Written: Sendable {
    let texts = Locked((output: "", error: ""))
  }
}

/// The bytes of a store's main file and `-wal`, to check that a command changed neither.
struct StoreBytes: Equatable {
  private let main: Data?
  private let log: Data?

  init(of url: URL) {
    main = try? Data(contentsOf: url)
    log = try? Data(contentsOf: URL(fileURLWithPath: url.path + "-wal"))
  }
}

extension [String: Any] {
  /// The message and the remedy of a finding.
  var sentences: String { ["message", "remedy"].compactMap { self[$0] as? String }.joined(separator: " ") }
}
