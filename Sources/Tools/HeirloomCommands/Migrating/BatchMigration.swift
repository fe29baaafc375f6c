import Foundation
import Heirloom
import HeirloomOutput
import HeirloomStore

/// Migrates many stores, several at a time, and reports each result at once.
///
/// The stores are migrated by threads of one process: models are read once, and a store that is up
/// to date costs a read of its metadata instead of the start of a process. Threads share only the
/// models, which are values; each store has its own assistant and connections. If the process ends
/// early, every store is complete, either before or after its migration, and the same command
/// continues. Users who want a process for each store can use `parallel` or `xargs`.
final class BatchMigration: Sendable {
  private let paths: StorePaths
  private let jobs: Int
  private let request: MigrationRequest
  private let console: Console
  private let start = ContinuousClock.now
  private let state = Locked(State())

  private struct State {
    /// The first store that wasn't started.
    var next = 0
    /// Of stores, by outcome.
    var outcomes: [String: Int] = [:]
    /// Of failed stores, by error code.
    var codes: [String: Int] = [:]
    var worst: CommandFailure?
  }

  /// `paths` are all different, and `jobs` of them are migrated at a time.
  init(of paths: StorePaths, jobs: Int, request: MigrationRequest, console: Console) {
    self.paths = paths
    self.jobs = jobs
    self.request = request
    self.console = console
  }

  /// An interruption cancels the stores under way and starts no further ones.
  func run() -> CommandReport {
    let group = DispatchGroup()
    for _ in 1...max(1, min(jobs, paths.count)) {
      group.enter()
      let isStarted = WorkerThread.start { [self] in
        work()
        group.leave()
      }
      if !isStarted { group.leave() }
    }
    group.wait()
    // If the system has no thread left, this one does the work.
    work()
    return report(state.withLock { $0 })
  }

  private func work() {
    while let path = nextStore() {
      let start = ContinuousClock.now
      let migrated = Migrated(path, request: request, console: console(forStoreAt: path))
      finish(migrated.report, seconds: start.duration(to: .now) / .seconds(1))
    }
  }

  private func nextStore() -> String? {
    state.withLock { state in
      guard state.next < paths.count, !console.interruption.isInterrupted else { return nil }
      defer { state.next += 1 }
      return paths[state.next]
    }
  }

  private func console(forStoreAt path: String) -> Console {
    let console = console
    return Console(
      writeOutput: { _ in }, writeError: { console.writeError("\(TerminalText.line(path)): \($0)") },
      environment: console.environment, currentDirectory: console.currentDirectory,
      executablePath: console.executablePath, interruption: console.interruption)
  }

  private func finish(_ report: CommandReport, seconds: Double) {
    let outcome: String
    if let failure = report.failure, failure.code != CommandFailure.missingCode {
      outcome = failure.exitCode == .cancelled ? "cancelled" : "failed"
    } else {
      outcome = report.members.text("outcome") ?? "failed"
    }
    let line = Self.line(of: report, outcome: outcome, seconds: seconds)
    state.withLock { state in
      state.outcomes[outcome, default: 0] += 1
      if let failure = report.failure {
        state.codes[failure.code, default: 0] += 1
        if failure.exitCode.isWorse(than: state.worst?.exitCode ?? .done) { state.worst = failure }
      }
      // Under the lock, because lines must not be interleaved.
      console.writeOutput(line)
    }
  }

  /// The first members are the same for every outcome.
  private static func line(of report: CommandReport, outcome: String, seconds: Double) -> String {
    let known = Dictionary(zip(report.members.names, report.members.values)) { first, _ in first }
    var members: OutputMembers = [
      ("store", known["store"] ?? .null), ("outcome", .text(outcome)), ("from", known["from"] ?? .null),
      ("to", known["to"] ?? .null), ("retained", known["retained"] ?? .null), ("seconds", .number(seconds)),
      ("error", report.failure?.output ?? .null),
    ]
    let first = Set(members.names)
    for (name, value) in zip(report.members.names, report.members.values) where !first.contains(name) {
      members.append(name, value)
    }
    return TerminalText.harmless(OutputValue.object(members).line, isJSON: true)
  }

  private func report(_ state: State) -> CommandReport {
    let notBegun = paths.count - state.next
    let seconds = start.duration(to: .now) / .seconds(1)
    let counts = Self.outcomes.compactMap { outcome in
      state.outcomes[outcome.name].map { "\(grouped(Int64($0))) \(outcome.words)" }
    }
    let rest = notBegun > 0 ? ["\(grouped(Int64(notBegun))) not begun"] : []
    let rate = String(format: "%.0f", Double(state.next) / max(seconds, 0.000_001))
    console.log(
      "\(counted(Int64(paths.count), "store")): \((counts + rest).joined(separator: ", ")); \(durationText(seconds)), \(rate) a second, \(jobs) at a time."
    )
    var summary: OutputMembers = [("stores", .integer(Int64(paths.count)))]
    for outcome in Self.outcomes { summary.append(outcome.name, .integer(Int64(state.outcomes[outcome.name] ?? 0))) }
    summary.append("notBegun", .integer(Int64(notBegun)))
    summary.append("jobs", .integer(Int64(jobs)))
    summary.append("seconds", .number(seconds))
    var report = CommandReport(members: [("summary", .object(summary))], failure: failure(state, notBegun: notBegun))
    report.isLastLine = true
    return report
  }

  private static let outcomes = [
    (name: "migrated", words: "migrated"), (name: "upToDate", words: "up to date"),
    (name: "setAside", words: "moved aside"), (name: "noStore", words: "not there"), (name: "failed", words: "failed"),
    (name: "cancelled", words: "cancelled"),
  ]

  private func failure(_ state: State, notBegun: Int) -> CommandFailure? {
    let count = state.codes.values.reduce(0, +)
    let codes = state.codes.sorted { $0.key < $1.key }.map { "\(grouped(Int64($0.value))) \($0.key)" }
    let left = Int64(notBegun + count)
    if notBegun > 0 || state.worst?.exitCode == .cancelled {
      return CommandFailure(
        exitCode: .cancelled, code: "cancelled",
        message:
          "The run was stopped before \(counted(left, "store")) of \(grouped(Int64(paths.count)))"
          + " \(verb("were", left)) migrated\(codes.isEmpty ? "" : " (\(codes.joined(separator: ", ")))").",
        suggestion: "Cancelled stores are unchanged; the same command continues.")
    }
    guard let worst = state.worst else { return nil }
    return CommandFailure(
      exitCode: worst.exitCode, code: worst.code,
      message:
        "\(grouped(Int64(count))) of \(counted(Int64(paths.count), "store")) failed: \(codes.joined(separator: ", ")).",
      suggestion: "The member error of their lines has the reason and the advice; the same command retries them.")
  }
}

extension ExitCode {
  /// The most serious failure determines the run's exit code.
  private static let worstFirst: [ExitCode] = [
    .cancelled, .outcomeUnknown, .failed, .usage, .findings, .unknownVersion, .decisionNeeded, .storeInUse, .outputLost,
    .done,
  ]

  func isWorse(than other: ExitCode) -> Bool {
    let order = Self.worstFirst
    return order.firstIndex(of: self) ?? 0 < order.firstIndex(of: other) ?? 0
  }
}

extension OutputMembers {
  fileprivate func text(_ name: String) -> String? {
    guard let index = names.firstIndex(of: name), case .text(let text) = values[index] else { return nil }
    return text
  }
}
