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

  init?() throws(BenchmarkError) {
    guard let valgrind = SystemCommand.path(of: "valgrind") else { return nil }
    (self.valgrind, executable) = (valgrind, try ChildProcess.ownPath())
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

  /// The words that `words` returns are those of a run that does less, and of one that does more.
  func differences<Way: Hashable>(
    _ ways: [Way], of name: String, words: (Way) -> [[String]]
  ) throws -> [Way: Double] {
    let runs = Dictionary(
      uniqueKeysWithValues: ways.map { way in (way, words(way).map { Run(name: name, words: $0) }) })
    let counts = try count(runs.values.flatMap { $0 })
    return runs.mapValues { pair in
      let values = pair.map { counts[$0] ?? .nan }
      return values.count == 2 ? values[1] - values[0] : .nan
    }
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
