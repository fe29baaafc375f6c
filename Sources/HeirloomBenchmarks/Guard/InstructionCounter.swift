import Dispatch
import Foundation
import HeirloomStore

/// A counter of the instructions of runs under Valgrind, which don't depend on how fast or busy a machine is.
struct InstructionCounter: Sendable {
  /// A run of this tool as a child process.
  struct Run: Hashable, Sendable {
    /// The name of the run.
    let name: String
    /// The arguments of the run.
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

  /// Counts the instructions of runs, on all processors at once: other work doesn't change a count.
  ///
  /// - Parameter runs: The runs; equal ones are counted once.
  /// - Returns: The instructions of each whole process, including its start.
  /// - Throws: ``BenchmarkError/childFailed(name:reason:)`` for a run that failed.
  func count(_ runs: [Run]) throws -> [Run: Double] {
    let different = Array(Set(runs))
    let results = Locked<[Run: Result<Double, any Error>]>([:])
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
      // Without this, the order of sets and dictionaries differs from run to run, and with it the count.
      environment: ["SWIFT_DETERMINISTIC_HASHING": "1"])
    for line in output.split(separator: "\n") where line.contains("Collected :") {
      if let count = line.split(whereSeparator: \.isWhitespace).last.flatMap({ Double($0) }) { return count }
    }
    throw BenchmarkError.childFailed(name: "valgrind \(run.name)", reason: "it tells no count: \(output)")
  }
}
