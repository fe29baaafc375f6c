import Foundation
import HeirloomCommands
import HeirloomStore

/// One run of the tool's command over all stores of a list.
enum FleetRun {
  static let childName = "fleet"
  /// Memory must not grow after so many stores.
  private static let earlyCount = 100

  /// Throws ``BenchmarkError/unexpectedOutcome(expected:found:)`` if a store has another outcome.
  static func inChildProcess(_ list: String, stores: FleetStores, jobs: Int, outcome: String) throws -> Measurement {
    let state = try ChildProcess.run(childName, [list, stores.modelPath, String(jobs)], returning: State.self)
    guard let measured = state.measured, state.outcomes == [outcome: stores.count] else {
      throw BenchmarkError.unexpectedOutcome(
        expected: "\(stores.count) stores \(outcome)", found: "\(state.outcomes): \(state.words)")
    }
    return measured
  }

  private struct State: Codable {
    var measured: Measurement?
    var storeSeconds: [Double] = []
    var outcomes: [String: Int] = [:]
    var earlyPeakBytes: Int64?
    /// The most at once, counted after every hundredth store.
    var openFiles: Int?
    var words: String = ""

    mutating func take(_ line: String) {
      guard let line = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)) else {
        outcomes["no JSON", default: 0] += 1
        return
      }
      storeSeconds.append(line.seconds)
      outcomes[line.outcome, default: 0] += 1
      guard storeSeconds.count.isMultiple(of: earlyCount) else { return }
      openFiles = [openFiles, openFileCount()].compactMap { $0 }.max()
      if storeSeconds.count == earlyCount { earlyPeakBytes = ProcessCounters.now().peakBytes }
    }
  }

  private struct Line: Decodable {
    let outcome: String
    let seconds: Double
  }

  static func runChild(_ words: [String]) throws {
    guard words.count == 3, Int(words[2]) != nil else {
      throw BenchmarkError.usage("The run \(childName) needs a list, a model and a number of jobs.")
    }
    let shared = Locked(State())
    let console = Console(
      writeOutput: { line in shared.withLock { $0.take(line) } },
      writeError: { text in shared.withLock { $0.words += text } }, currentDirectory: "/")
    let initial = ProcessCounters.now().peakBytes
    let openFiles = openFileCount()
    let counter = SyncCounter()
    // From before the list is read until after the last store.
    let watch = Stopwatch()
    _ = HeirloomTool.run(
      arguments: ["migrate", "--files-from", words[0], "--jobs", words[2], "--to", words[1]], console: console)
    var measured = Measurement(watch)
    measured.syncs = counter.count
    var state = shared.withLock { $0 }
    (measured.pieces, state.storeSeconds) = (state.storeSeconds, [])
    measured.initialPeakBytes = initial
    measured.peakBytes = ProcessCounters.now().peakBytes
    // Three of those left open are libdispatch's.
    let left = openFileCount().flatMap { after in openFiles.map { Double(after - $0) } }
    measured.further = [
      Figure("after \(earlyCount)", (state.earlyPeakBytes ?? measured.peakBytes).map(Double.init), .bytes),
      Figure("files open", state.openFiles.map(Double.init), .count), Figure("left open", left, .count),
    ]
    state.measured = measured
    try ChildProcess.answer(state)
  }

  private static func openFileCount() -> Int? {
    // One of them is the folder being read.
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { $0.count - 1 }
  }
}
