import Foundation
import Heirloom

/// The cost of keeping a store's file durably, by Heirloom's own calls and by a plain copy.
enum RetentionBenchmark {
  /// In the order of a round.
  enum Way: String, Codable, CaseIterable {
    /// `copy_file_range` and `fsync`, written by hand.
    case copyByHand
    /// A second name in another folder, as a migration keeps the store it replaces.
    case link
    /// As for a candidate or a restored store; not measured if the file system can't share blocks.
    case clone
    /// For a file system that supports neither.
    case copy
  }

  static let childName = "retention"
  /// If no block is copied.
  static let goalSeconds = 0.01
  /// For a copy, to the one by hand.
  static let goalRatio = 1.1
  /// For additional memory.
  static let goalBytes: Int64 = 4 << 20
  static let bytesPerNote = 364
  static let defaultCounts = [100_000, 1_000_000]

  struct Measured: Codable {
    /// Until after the last sync; `nil` if the file system doesn't support the way.
    var seconds: Double?
    var processorSeconds: Double
    /// Additional memory.
    var grownBytes: Int64?
  }

  struct WayReport: Codable {
    var way: Way
    var fileBytes: Int64
    var seconds: Double
    var leastSeconds: Double
    var processorSeconds: Double
    var ratioToCopy: Double
    var grownBytes: Int64?
  }

  struct Report: Codable {
    var rounds: Int
    var ways: [WayReport]
    var sharesBlocks: Bool
    var goalSeconds = RetentionBenchmark.goalSeconds
    var goalRatio = RetentionBenchmark.goalRatio
    var goalBytes = RetentionBenchmark.goalBytes
  }

  // MARK: The parent

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> Report {
    let files = POSIXFileOperations()
    let path = work.file("Kept.sqlite")
    var ways: [WayReport] = []
    for notes in arguments.noteCounts ?? defaultCounts {
      let size = Int64(notes) * Int64(bytesPerNote)
      if try files.status(of: path) != nil { try files.unlink(path) }
      try makeFile(at: path, byteCount: size, seed: arguments.seed)
      var measured: [Way: [Measured]] = [:]
      for _ in 0..<arguments.rounds {
        for way in Way.allCases {
          let folder = try work.emptyFolder("run")
          try BenchmarkFolder.readThrough(path)
          TouchedMemory.prepare(byteCount: size)
          let result = try ChildProcess.run(childName, [way.rawValue, path, folder], returning: Measured.self)
          measured[way, default: []].append(result)
        }
      }
      ways += Way.allCases.compactMap { report($0, measured, size) }
    }
    return Report(rounds: arguments.rounds, ways: ways, sharesBlocks: ways.contains { $0.way == .clone })
  }

  private static func report(_ way: Way, _ all: [Way: [Measured]], _ size: Int64) -> WayReport? {
    let runs = all[way] ?? []
    let seconds = runs.compactMap(\.seconds)
    guard !seconds.isEmpty else { return nil }
    return WayReport(
      way: way, fileBytes: size, seconds: seconds.median, leastSeconds: seconds.min() ?? 0,
      processorSeconds: runs.map(\.processorSeconds).median,
      ratioToCopy: zip(seconds, all[.copyByHand] ?? []).map { $0 / max($1.seconds ?? 0, 1e-9) }.median,
      grownBytes: runs.compactMap(\.grownBytes).max())
  }

  private static func makeFile(at path: String, byteCount: Int64, seed: UInt64) throws {
    var random = RandomSource(seed: seed)
    guard FileManager.default.createFile(atPath: path, contents: nil) else {
      throw BenchmarkError.unexpectedOutcome(expected: "a new file", found: "none at \(path)")
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    var left = byteCount
    while left > 0 {
      var words = [UInt64](repeating: 0, count: 1 << 17)
      for index in words.indices { words[index] = random.next() }
      let bytes = words.withUnsafeBytes { Data($0) }.prefix(Int(clamping: left))
      try file.write(contentsOf: bytes)
      left -= Int64(bytes.count)
    }
    try file.synchronize()
    try file.close()
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
    let (seconds, work) = (watch.seconds, watch.processorSeconds)
    let after = ProcessCounters.now().peakBytes
    if isDone { try compare(path, PathText.join(folder, "Kept.sqlite")) }
    try ChildProcess.answer(
      Measured(
        seconds: isDone ? seconds : nil, processorSeconds: work,
        grownBytes: before.flatMap { before in after.map { max(0, $0 - before) } }))
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

  private static func compare(_ path: String, _ kept: String) throws {
    guard FileManager.default.contentsEqual(atPath: path, andPath: kept) else {
      throw BenchmarkError.differentContents(subject: kept, expected: "the content of \(path)", found: "another")
    }
  }
}

extension RetentionBenchmark.Report {
  var lines: [String] {
    func number(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
    var table = TextTable([
      "keeping the old version", "MB", "median ms", "least ms", "CPU ms", "× copy", "memory MB", "goal",
    ])
    for way in ways {
      let copies = way.way == .copy && !sharesBlocks
      let goal = copies ? "≤ \(number(goalRatio, 1)) ×" : "< \(number(goalSeconds * 1000, 0)) ms"
      table.add([
        way.way.title, number(Double(way.fileBytes) / 1e6, 1), number(way.seconds * 1000, 2),
        number(way.leastSeconds * 1000, 2), number(way.processorSeconds * 1000, 2), number(way.ratioToCopy, 3),
        way.grownBytes.map { number(Double($0) / Double(1 << 20), 2) } ?? "?", way.way == .copyByHand ? "" : goal,
      ])
    }
    let clone = sharesBlocks ? "shares blocks" : "shares no blocks: run with --directory on one that does"
    return ["keeping a file, content and name on the disk; \(rounds) rounds, in turns; the file system \(clone)"]
      + table.lines + [
        "  memory beside the process's own; goal: at most \(number(Double(goalBytes) / Double(1 << 20), 0)) MB"
      ]
  }
}

extension RetentionBenchmark.Way {
  fileprivate var title: String {
    switch self {
    case .copyByHand: "copy by hand"
    case .link: "Heirloom: second name"
    case .clone: "Heirloom: shared blocks"
    case .copy: "Heirloom: copy"
    }
  }
}
