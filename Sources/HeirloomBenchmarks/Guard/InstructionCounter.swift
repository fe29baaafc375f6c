import Dispatch
import Foundation
import Synchronization

/// Counts the instructions of runs of this tool under Valgrind: a figure that doesn't depend on how fast or busy a machine is.
struct InstructionCounter: Sendable {
  /// A run of this tool as a child process.
  struct Run: Hashable, Sendable {
    /// The name of the run.
    let name: String
    /// What the run needs to know.
    let words: [String]
  }

  private let valgrind: String
  private let executable: String

  /// Creates a counter; `nil` where there is no Valgrind.
  ///
  /// - Throws: ``BenchmarkError/childFailed(name:reason:)`` if this tool doesn't find itself.
  init?() throws(BenchmarkError) {
    guard let valgrind = SystemCommand.path(of: "valgrind") else { return nil }
    guard let executable = Bundle.main.executableURL else {
      throw BenchmarkError.childFailed(name: "valgrind", reason: "this tool doesn't find its own executable.")
    }
    (self.valgrind, self.executable) = (valgrind, executable.path)
  }

  /// Counts the instructions of runs, on all processors at once: a count isn't changed by what else runs.
  ///
  /// - Parameter runs: The runs; equal ones are made once.
  /// - Returns: The instructions of each whole process, its start included.
  /// - Throws: ``BenchmarkError/childFailed(name:reason:)`` for a run that failed.
  func count(_ runs: [Run]) throws -> [Run: Double] {
    let different = Array(Set(runs))
    let results = Mutex<[Run: Result<Double, any Error>]>([:])
    DispatchQueue.concurrentPerform(iterations: different.count) { index in
      let result = Result { try count(different[index]) }
      results.withLock { $0[different[index]] = result }
    }
    return try results.withLock { $0 }.mapValues { try $0.get() }
  }

  private func count(_ run: Run) throws -> Double {
    let output = try SystemCommand.run(
      valgrind,
      ["--tool=callgrind", "--callgrind-out-file=/dev/null", executable, ChildProcess.option, run.name] + run.words,
      // Without it the order of sets and dictionaries, and with it the count, differs from run to run.
      environment: ["SWIFT_DETERMINISTIC_HASHING": "1"])
    for line in output.split(separator: "\n") where line.contains("Collected :") {
      if let count = line.split(whereSeparator: \.isWhitespace).last.flatMap({ Double($0) }) { return count }
    }
    throw BenchmarkError.childFailed(name: "valgrind \(run.name)", reason: "it tells no count: \(output)")
  }
}
