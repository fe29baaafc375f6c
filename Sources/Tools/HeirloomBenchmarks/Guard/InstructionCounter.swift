import Dispatch
import Foundation
import HeirloomStore

/// Counts instructions under Valgrind: they don't depend on the machine's speed or load.
struct InstructionCounter: Sendable {
  struct Run: Hashable, Sendable {
    let name: String
    let words: [String]
  }

  private let valgrind: String
  private let executable: String

  /// `nil` if Valgrind isn't installed.
  init?() throws(BenchmarkError) {
    guard let valgrind = SystemCommand.path(of: "valgrind") else { return nil }
    guard let executable = Bundle.main.executableURL else {
      throw BenchmarkError.childFailed(name: "valgrind", reason: "this tool doesn't find its own executable.")
    }
    (self.valgrind, self.executable) = (valgrind, executable.path)
  }

  /// Counts whole processes, on all processors at once: other load doesn't affect the counts.
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
      // Otherwise the order in sets and dictionaries, and with it the count, varies between runs.
      environment: ["SWIFT_DETERMINISTIC_HASHING": "1"])
    for line in output.split(separator: "\n") where line.contains("Collected :") {
      if let count = line.split(whereSeparator: \.isWhitespace).last.flatMap({ Double($0) }) { return count }
    }
    throw BenchmarkError.childFailed(name: "valgrind \(run.name)", reason: "it tells no count: \(output)")
  }
}
