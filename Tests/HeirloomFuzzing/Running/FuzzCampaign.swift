package import Foundation
import HeirloomStore

/// The run of all readers on mutated inputs, in processes of their own; it reports a crash or a hang and continues.
package struct FuzzCampaign {
  private static let batchSize = 1000

  private let executable: URL
  private let seed: UInt64
  private let findingsFolder: URL

  /// The program runs a batch on request; the folder keeps the inputs that ended a process.
  package init(executable: URL, seed: UInt64, findingsFolder: URL) {
    self.executable = executable
    self.seed = seed
    self.findingsFolder = findingsFolder
  }

  /// `count` is for all readers together.
  package func run(_ targets: [FuzzTarget], count: Int) throws -> [FuzzTarget: FuzzTally] {
    let shares = targets.reduce(0) { $0 + $1.share }
    var batches: [(target: FuzzTarget, numbers: Range<Int>)] = []
    for target in targets {
      let own = count * target.share / max(1, shares)
      // Inputs that run commands are the slowest: small batches keep all processors busy to the end.
      let size = target.commandCount > 1 ? 100 : Self.batchSize
      for start in stride(from: 0, to: own, by: size) { batches.append((target, start..<min(own, start + size))) }
    }
    // The long ones come first.
    batches.reverse()
    let state = Locked((next: 0, tallies: [FuzzTarget: FuzzTally](), failure: String?.none))
    let work = batches
    DispatchQueue.concurrentPerform(iterations: max(1, ProcessInfo.processInfo.activeProcessorCount)) { _ in
      while true {
        let index = state.withLock { state in
          state.next += 1
          return state.failure == nil ? state.next - 1 : work.count
        }
        guard index < work.count else { return }
        do {
          let tally = try run(work[index].target, work[index].numbers)
          state.withLock { $0.tallies[work[index].target, default: FuzzTally()].add(tally) }
        } catch {
          state.withLock { $0.failure = "\(error)" }
        }
      }
    }
    let (tallies, failure) = state.withLock { ($0.tallies, $0.failure) }
    if let failure { throw FuzzFinding(failure) }
    return tallies
  }

  /// After a crash, the rest runs in another process.
  private func run(_ target: FuzzTarget, _ numbers: Range<Int>) throws -> FuzzTally {
    var tally = FuzzTally()
    var start = numbers.lowerBound
    while start < numbers.upperBound {
      let folder = try FuzzFolder()
      defer { withExtendedLifetime(folder) {} }
      let process = Process()
      process.executableURL = executable
      process.arguments = ["--batch", target.rawValue, "\(seed)", "\(start)", "\(numbers.upperBound)", folder.url.path]
      // Traces of crashes take seconds; an input that crashes is run again by hand.
      process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let written = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      if process.terminationReason == .exit, process.terminationStatus == 0 {
        tally.add(try JSONDecoder().decode(FuzzTally.self, from: written))
        return tally
      }
      let note = try? Data(contentsOf: folder.url.appendingPathComponent("number"))
      guard let number = note.flatMap({ Int(String(decoding: $0, as: UTF8.self)) }), numbers.contains(number) else {
        throw FuzzFinding("\(target): the process ended with \(process.terminationStatus) before its first input")
      }
      try keep(folder.url.appendingPathComponent("input"), of: target, number)
      let isAlarm =
        process.terminationReason == .uncaughtSignal && [SIGALRM, SIGPROF].contains(process.terminationStatus)
      let reason =
        isAlarm ? "took longer than \(FuzzBatch.timeLimit) s" : "ended the process with \(process.terminationStatus)"
      // The inputs before it are counted again, without it.
      if number > start { tally.add(try run(target, start..<number)) }
      tally.counts[FuzzStage.accepted.rawValue] += 1
      tally.findings.append("\(target) \(number): \(reason)")
      start = number + 1
    }
    return tally
  }

  private func keep(_ input: URL, of target: FuzzTarget, _ number: Int) throws {
    try FileManager.default.createDirectory(at: findingsFolder, withIntermediateDirectories: true)
    let bytes = (try? Data(contentsOf: input)) ?? Data()
    try bytes.write(to: findingsFolder.appendingPathComponent("\(target)-\(seed)-\(number)"))
  }

  package static func table(_ tallies: [FuzzTarget: FuzzTally]) -> [String] {
    var rows = [
      ["reader", "inputs", "container", "form", "content", "accepted", "past container", "slowest ms", "peak MiB"]
    ]
    var all = FuzzTally()
    for target in FuzzTarget.allCases {
      guard let tally = tallies[target] else { continue }
      all.add(tally)
      rows.append(row(target.rawValue, tally))
    }
    rows.append(row("all", all))
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { cells in
      cells.enumerated().map { index, cell in
        let blanks = String(repeating: " ", count: widths[index] - cell.count)
        return index == 0 ? cell + blanks : blanks + cell
      }.joined(separator: "  ")
    }
  }

  private static func row(_ name: String, _ tally: FuzzTally) -> [String] {
    let share = tally.total == 0 ? 0 : 100 * tally.pastContainer / tally.total
    return [name, "\(tally.total)"] + tally.counts.map { "\($0)" } + [
      "\(share)%", String(Int(tally.slowest.rounded(.up))), "\(tally.peakBytes >> 20)",
    ]
  }
}

/// A folder for one run, in memory if the system has such a place, removed with the last reference.
package final class FuzzFolder: Sendable {
  package let url: URL

  package init() throws {
    let memory = "/dev/shm"
    let parent =
      FileManager.default.isWritableFile(atPath: memory)
      ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
    url = parent.appendingPathComponent("heirloom-fuzz-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}
