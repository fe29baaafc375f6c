import Foundation
import Heirloom

/// The planner's choice of a builder is based on these measurements.
enum ThresholdBenchmark {
  static let childName = "thresholds"

  /// In percent of the rows; the rest is kept.
  struct Shares: Hashable, Codable {
    var gone = 0
    var anew = 0
    var changed = 0
  }

  /// Each share alone, and some combined.
  static let cells: [Shares] =
    [0, 10, 20, 30, 40, 50, 60, 70, 80, 90].map { Shares(gone: $0) }
    + [25, 50, 75, 100].map { Shares(anew: $0) } + [25, 50, 100].map { Shares(changed: $0) }
    + [
      Shares(gone: 25, anew: 25), Shares(gone: 25, anew: 50), Shares(gone: 25, anew: 75), Shares(gone: 50, anew: 25),
      Shares(gone: 50, anew: 50), Shares(gone: 75, anew: 25), Shares(gone: 25, changed: 75),
      Shares(gone: 50, changed: 50),
    ]

  struct Measured: Codable {
    var seconds: Double
    var processorSeconds: Double
    var writtenBytes: Int64?
    /// The new store's size.
    var storeBytes: Int64
  }

  /// Times and written bytes are medians.
  struct BuilderReport: Codable {
    var seconds: Double
    var processorSeconds: Double
    var writtenBytes: Double?
    var storeBytes: Int64
  }

  struct CellReport: Codable {
    var shares: Shares
    /// Before the migration.
    var storeBytes: Int64
    var rebuild: BuilderReport
    var cloneAndAlter: BuilderReport
    /// Medians of the ratios of a new file to a copy in the same round.
    var secondsRatio: Double
    var processorRatio: Double
    var chosen: String
  }

  struct Report: Codable {
    var rows: Int
    var rounds: Int
    var cells: [CellReport]
  }

  // MARK: The parent

  static func run(_ arguments: BenchmarkArguments, in work: BenchmarkFolder) throws -> Report {
    let files = POSIXFileOperations()
    var reports: [CellReport] = []
    for shares in cells {
      let original = PathText.join(try work.emptyFolder("thresholds"), "Shares.sqlite")
      try StoreGenerator(notes: arguments.notes, seed: arguments.seed).makeStore(
        shares: [.gone: shares.gone, .anew: shares.anew, .changed: shares.changed], at: original)
      guard let size = try files.status(of: original)?.size,
        let chosen = try assistant(original, builder: .automatic).plan()?.builder
      else { throw BenchmarkError.unexpectedOutcome(expected: "a plan for a generated store", found: "none") }
      var measured: [MigrationPlan.Builder: [Measured]] = [:]
      var sums: [[SQLiteValue]]?
      for _ in 0..<arguments.rounds {
        for builder in [MigrationPlan.Builder.rebuild, .cloneAndAlter] {
          let path = PathText.join(try work.emptyFolder("run"), "Shares.sqlite")
          try files.copyFile(original, to: path, attributes: FileAttributes(mode: 0o644))
          try BenchmarkFolder.readThrough(path)
          TouchedMemory.prepare(byteCount: 2 * size)
          measured[builder, default: []].append(
            try ChildProcess.run(childName, [builder.rawValue, path], returning: Measured.self))
          let found = try Self.sums(of: path)
          guard found == sums ?? found else {
            throw BenchmarkError.differentContents(
              subject: "the store by \(builder.rawValue)", expected: "\(sums ?? [])", found: "\(found)")
          }
          sums = found
        }
      }
      let (anew, copied) = (measured[.rebuild] ?? [], measured[.cloneAndAlter] ?? [])
      reports.append(
        CellReport(
          shares: shares, storeBytes: size, rebuild: report(anew), cloneAndAlter: report(copied),
          secondsRatio: zip(anew, copied).map { $0.seconds / max($1.seconds, 1e-9) }.median,
          processorRatio: zip(anew, copied).map { $0.processorSeconds / max($1.processorSeconds, 1e-9) }.median,
          chosen: chosen.rawValue))
    }
    return Report(rows: arguments.notes, rounds: arguments.rounds, cells: reports)
  }

  private static func report(_ runs: [Measured]) -> BuilderReport {
    let written = runs.compactMap { $0.writtenBytes.map(Double.init) }
    return BuilderReport(
      seconds: runs.map(\.seconds).median, processorSeconds: runs.map(\.processorSeconds).median,
      writtenBytes: written.isEmpty ? nil : written.median, storeBytes: runs.first?.storeBytes ?? 0)
  }

  private static func sums(of path: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(path: path, mode: .readOnly, options: .inspecting)
    let tables = try connection.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'Z[A-Z]*' ORDER BY 1")
    return try tables.compactMap { $0.first?.text }.flatMap { table in
      let rows = try connection.rows(
        "SELECT COUNT(*), SUM(LENGTH(ZBODY) * (1 + Z_PK % 97)), SUM(LENGTH(ZTITLE)), TOTAL(ZCREATEDAT), SUM(ZWEIGHT), SUM(Z_ENT)"
          + " FROM \(quote(table))")
      return [[.text(table)]] + rows
    }
  }

  private static func assistant(_ path: String, builder: BuilderChoice) throws -> MigrationAssistant {
    let url = URL(fileURLWithPath: path)
    return MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url),
      history: ModelHistory(
        current: try BenchmarkModels.fates(isLater: true),
        earlier: [("fates", try BenchmarkModels.fates(isLater: false))]),
      configuration: MigrationAssistant.Configuration(), files: POSIXFileOperations(), builder: builder)
  }

  // MARK: The child

  static func runChild(_ words: [String]) throws {
    guard words.count == 2, let builder = MigrationPlan.Builder(rawValue: words[0]) else {
      throw BenchmarkError.usage("The run \(childName) needs a builder and a store.")
    }
    let assistant = try assistant(words[1], builder: .always(builder))
    let before = ProcessCounters.now()
    let watch = Stopwatch()
    let outcome = try assistant.migrateStore()
    let (seconds, work) = (watch.seconds, watch.processorSeconds)
    let after = ProcessCounters.now()
    guard case .migrated = outcome else {
      throw BenchmarkError.unexpectedOutcome(expected: "migrated", found: "\(outcome)")
    }
    try ChildProcess.answer(
      Measured(
        seconds: seconds, processorSeconds: work,
        writtenBytes: after.writtenBytes.flatMap { after in before.writtenBytes.map { after - $0 } },
        storeBytes: try POSIXFileOperations().status(of: words[1])?.size ?? 0))
  }
}

extension ThresholdBenchmark.Report {
  var lines: [String] {
    func number(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
    func megabytes(_ bytes: Double?) -> String { bytes.map { number($0 / 1e6, 1) } ?? "?" }
    var table = TextTable([
      "% gone, anew, changed", "new file ms", "CPU ms", "written MB", "MB", "copy ms", "CPU ms", "written MB", "MB",
      "new/copy", "CPU", "chosen",
    ])
    for cell in cells {
      let builders = [cell.rebuild, cell.cloneAndAlter].flatMap { builder in
        [
          number(builder.seconds * 1000, 0), number(builder.processorSeconds * 1000, 0),
          megabytes(builder.writtenBytes),
          megabytes(Double(builder.storeBytes)),
        ]
      }
      table.add(
        ["\(cell.shares.gone), \(cell.shares.anew), \(cell.shares.changed)"] + builders + [
          number(cell.secondsRatio, 2), number(cell.processorRatio, 2), cell.chosen,
        ])
    }
    let size = cells.first.map { megabytes(Double($0.storeBytes)) } ?? "?"
    return ["a new file or a copy of the store: \(rows) rows, \(size) MB; \(rounds) rounds, in turns"] + table.lines
  }
}
