import Foundation
import Heirloom

/// The cost of keeping a store's file durably, by Heirloom's own calls and by a plain copy.
enum RetentionBenchmark {
  enum Way: String, CaseIterable {
    /// `copy_file_range` and `fsync`, written by hand.
    case copyByHand
    /// A second name in another folder, as a migration keeps the store it replaces.
    case link
    /// As for a candidate or a restored store; not measured if the file system can't share blocks.
    case clone
    /// For a file system that supports neither.
    case copy

    var title: String {
      switch self {
      case .copyByHand: "copy by hand"
      case .link: "Heirloom: second name"
      case .clone: "Heirloom: shared blocks"
      case .copy: "Heirloom: copy"
      }
    }
  }

  static let childName = "retention"
  private static let defaultCounts = [100_000, 1_000_000]

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> ReportTable {
    var measured: [(size: Double, series: Series<Way>)] = []
    for notes in arguments.noteCounts ?? defaultCounts {
      let path = try work.notes(notes, seed: arguments.seed)
      try POSIXFileOperations().synchronizeFile(path)
      let size = try POSIXFileOperations().status(of: path)?.size ?? 0
      let series = try Series(Way.allCases, rounds: arguments.rounds) { way in
        let folder = try work.emptyFolder("run")
        try BenchmarkFolder.readThrough(path)
        TouchedMemory.prepare(byteCount: size)
        return try ChildProcess.run(childName, [way.rawValue, path, folder], returning: [Measurement].self).first
      }
      measured.append((Double(size), series))
      work.removeNotes(notes)
    }
    let sharesBlocks = measured.contains { !$0.series[.clone].isEmpty }
    let clone = sharesBlocks ? "shares blocks" : "shares no blocks: run with --directory on one that does"
    var rows: [ReportRow] = []
    var goals: [Goal] = []
    for (size, series) in measured {
      for way in Way.allCases where !series[way].isEmpty {
        let runs = series[way]
        let ratio = series.ratio(way, to: .copyByHand, \.seconds)
        let grown = runs.most { run in run.peakBytes.flatMap { peak in run.initialPeakBytes.map { max(0, peak - $0) } }
        }
        let own = [Figure("file", size, .diskBytes), Figure("× copy", ratio, .times), Figure("growth", grown, .bytes)]
        rows.append(series.row(way, way.title, own: own))
        guard way != .copyByHand else { continue }
        let subject = "\(way.title), \(FigureUnit.diskBytes.text(size))"
        goals += [
          way == .copy && !sharesBlocks
            ? Goal("\(subject), time by the copy's", ratio, .times, atMost: PerformanceGoals.keepingRatio)
            : Goal(subject, runs.map(\.seconds).median, .seconds, atMost: PerformanceGoals.keepingSeconds),
          Goal("\(subject), memory", grown, .bytes, atMost: Double(PerformanceGoals.keepingBytes)),
        ]
      }
    }
    return ReportTable(
      workload: childName,
      title:
        "keeping a file, content and name on the disk; \(arguments.rounds) rounds, in turns; the file system \(clone)",
      rows: rows, goals: goals, remarks: ["growth: memory beside the process's own"])
  }

  // MARK: The child

  static func runChild(_ words: [String]) throws {
    guard words.count == 3, let way = Way(rawValue: words[0]) else {
      throw BenchmarkError.usage("The run \(childName) needs a way, a file and a folder.")
    }
    let (path, folder) = (words[1], words[2])
    let before = ProcessCounters.currentBytesFromNowOn()
    let watch = Stopwatch()
    let isDone = try keep(path, in: folder, way)
    var measured = Measurement(watch)
    (measured.initialPeakBytes, measured.peakBytes) = (before, ProcessCounters.now().peakBytes)
    guard isDone else { return try ChildProcess.answer([Measurement]()) }
    let kept = PathText.join(folder, "Kept.sqlite")
    try BenchmarkError.require(
      FileManager.default.contentsEqual(atPath: path, andPath: kept), kept, expected: "the content of \(path)",
      found: "another")
    try ChildProcess.answer([measured])
  }

  /// Syncs content and name; returns false if the file system doesn't support the way.
  private static func keep(_ path: String, in folder: String, _ way: Way) throws -> Bool {
    let files = POSIXFileOperations()
    let attributes = FileAttributes(mode: 0o644)
    let kept = PathText.join(folder, "Kept.sqlite")
    switch way {
    case .copyByHand: try PlainCopy.copy(path, to: kept)
    case .link: try files.link(path, to: kept)
    case .clone, .copy:
      // As in the vault, the file is held while a connection may be open, and closed last.
      let held = try files.hold(path)
      defer { held.close() }
      if way == .copy {
        _ = try held.copy(to: kept, attributes: attributes)
      } else if try held.clone(to: kept, attributes: attributes) {
        try files.synchronizeFile(kept)
      } else {
        return false
      }
    }
    try files.synchronizeDirectory(folder)
    return true
  }
}
