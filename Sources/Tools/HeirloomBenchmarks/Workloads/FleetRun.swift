import Foundation
import HeirloomCommands
import HeirloomStore

/// One run of the tool's command over all stores of a list.
enum FleetRun {
  static let childName = "fleet"
  /// The number of stores after which memory must not grow.
  private static let earlyCount = 100

  struct Measured: Codable {
    /// The seconds from before the list is read until after the last store.
    var seconds: Double
    /// The processor time of the process in that time, in seconds.
    var processorSeconds: Double
    /// The seconds per store, in the order of completion.
    var storeSeconds: [Double] = []
    /// The number of stores with each outcome.
    var outcomes: [String: Int] = [:]
    /// The peak memory of the process before the run, in bytes; `nil` if the system doesn't report it.
    var initialPeakBytes: Int64?
    /// The peak memory after a hundred stores, or after all if there are fewer.
    var earlyPeakBytes: Int64?
    /// The peak memory after all stores.
    var peakBytes: Int64?
    /// The most open files at once, counted after every hundredth store.
    var openFiles: Int?
    /// The files left open by the run; libdispatch keeps three of its own.
    var leftOpenFiles: Int?
    /// The syncs of all stores, including SQLite's; `nil` on systems where they aren't counted.
    var syncs: Int?
    /// The run's output on standard error.
    var words: String = ""
  }

  /// Runs the command in a child process over the stores of a list.
  ///
  /// Throws ``BenchmarkError/unexpectedOutcome(expected:found:)`` if a store has another outcome than `outcome`.
  static func inChildProcess(_ list: String, stores: FleetStores, jobs: Int, outcome: String) throws -> Measured {
    let measured = try ChildProcess.run(
      childName, [list, stores.modelPath, String(jobs)], returning: Measured.self)
    guard measured.outcomes == [outcome: stores.count] else {
      throw BenchmarkError.unexpectedOutcome(
        expected: "\(stores.count) stores \(outcome)", found: "\(measured.outcomes): \(measured.words)")
    }
    return measured
  }

  // MARK: The child

  /// The members of a store's JSON line that are used.
  private struct Line: Decodable {
    let outcome: String
    let seconds: Double
  }

  /// Runs the command and prints the measured values.
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

  /// Returns the number of files that this process has open; `nil` if the system doesn't report it.
  private static func openFileCount() -> Int? {
    // One of them is the folder being read.
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { $0.count - 1 }
  }
}
