import Foundation
import HeirloomCommands
import HeirloomStore

/// One run of the tool's command over all stores of a list.
enum FleetRun {
  static let childName = "fleet"
  /// Memory must not grow after so many stores.
  private static let earlyCount = 100

  struct Measured: Codable {
    /// From before the list is read until after the last store.
    var seconds: Double
    var processorSeconds: Double
    /// In the order of completion.
    var storeSeconds: [Double] = []
    var outcomes: [String: Int] = [:]
    /// Before the run.
    var initialPeakBytes: Int64?
    /// After a hundred stores, or after all if there are fewer.
    var earlyPeakBytes: Int64?
    var peakBytes: Int64?
    /// The most at once, counted after every hundredth store.
    var openFiles: Int?
    /// Includes three that libdispatch keeps.
    var leftOpenFiles: Int?
    /// Of all stores, including SQLite's.
    var syncs: Int?
    /// Standard error.
    var words: String = ""
  }

  /// Throws ``BenchmarkError/unexpectedOutcome(expected:found:)`` if a store has another outcome.
  static func inChildProcess(_ list: String, stores: FleetStores, jobs: Int, outcome: String) throws -> Measured {
    let measured = try ChildProcess.run(
      childName, [list, stores.modelPath, String(jobs)], returning: Measured.self)
    guard measured.outcomes == [outcome: stores.count] else {
      throw BenchmarkError.unexpectedOutcome(
        expected: "\(stores.count) stores \(outcome)", found: "\(measured.outcomes): \(measured.words)")
    }
    return measured
  }

  /// Those members of a store's JSON line that are used.
  private struct Line: Decodable {
    let outcome: String
    let seconds: Double
  }

  static func runChild(_ words: [String]) throws {
    guard words.count == 3, Int(words[2]) != nil else {
      throw BenchmarkError.usage("The run \(childName) needs a list, a model and a number of jobs.")
    }
    let state = Locked(Measured(seconds: 0, processorSeconds: 0))
    let console = Console(
      writeOutput: { line in state.withLock { take(line, into: &$0) } },
      writeError: { text in state.withLock { $0.words += text } }, currentDirectory: "/")
    let initial = ProcessCounters.now().peakBytes
    let openFiles = openFileCount()
    let counter = SyncCounter()
    let watch = Stopwatch()
    _ = HeirloomTool.run(
      arguments: ["migrate", "--files-from", words[0], "--jobs", words[2], "--to", words[1]], console: console)
    let (seconds, processorSeconds) = (watch.seconds, watch.processorSeconds)
    let syncs = counter.count
    var measured = state.withLock { $0 }
    measured.syncs = syncs
    (measured.seconds, measured.processorSeconds) = (seconds, processorSeconds)
    measured.initialPeakBytes = initial
    measured.peakBytes = ProcessCounters.now().peakBytes
    measured.earlyPeakBytes = measured.earlyPeakBytes ?? measured.peakBytes
    if let after = openFileCount(), let openFiles { measured.leftOpenFiles = after - openFiles }
    try ChildProcess.answer(measured)
  }

  private static func take(_ line: String, into measured: inout Measured) {
    guard let line = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)) else {
      measured.outcomes["no JSON", default: 0] += 1
      return
    }
    measured.storeSeconds.append(line.seconds)
    measured.outcomes[line.outcome, default: 0] += 1
    guard measured.storeSeconds.count.isMultiple(of: earlyCount) else { return }
    measured.openFiles = [measured.openFiles, openFileCount()].compactMap { $0 }.max()
    if measured.storeSeconds.count == earlyCount { measured.earlyPeakBytes = ProcessCounters.now().peakBytes }
  }

  private static func openFileCount() -> Int? {
    // One of them is the folder being read.
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { $0.count - 1 }
  }
}
