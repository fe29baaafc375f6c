import Foundation
import Heirloom

/// Times are in seconds and sizes in bytes; unmeasured and unknown values are left out.
///
/// Other programs may rely on the JSON's keys, which are the names of properties: a change of their
/// meaning changes ``format``.
struct BenchmarkReport: Codable {
  var format = 3
  var system: String
  var processors: Int
  var sqliteVersion: String
  var isOptimized: Bool
  /// Empty if the system doesn't report it.
  var fileSystem: String
  private(set) var tables: [ReportTable] = []

  init(directory: String) throws {
    system = ProcessInfo.processInfo.operatingSystemVersionString
    processors = ProcessInfo.processInfo.activeProcessorCount
    let connection = try Connection(path: "", mode: .memory)
    sqliteVersion = try connection.firstValue("SELECT sqlite_version()")?.text ?? ""
    #if DEBUG
      isOptimized = false
    #else
      isOptimized = true
    #endif
    fileSystem = try POSIXFileOperations().volume(of: directory).fileSystemName
  }

  /// Keeps the tables in the order of workloads, and by size within each.
  mutating func add(_ table: ReportTable) {
    let all = BenchmarkWorkload.all.map(\.name)
    func place(_ table: ReportTable) -> (Int, Int) { (all.firstIndex(of: table.workload) ?? 0, table.notes ?? 0) }
    tables.insert(table, at: tables.firstIndex { place(table) < place($0) } ?? tables.endIndex)
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  var machine: String {
    "\(system), \(processors) processors, \(fileSystem.isEmpty ? "unknown file system" : fileSystem), SQLite \(sqliteVersion)"
      + (isOptimized ? "" : ", not optimized: run with -c release")
  }

  var text: String {
    let parts = [[machine], summary, ReportTable.goals(of: tables)].filter { !$0.isEmpty } + tables.map(\.lines)
    return parts.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  /// Heirloom's rows of all migrations; empty if there are none.
  private var summary: [String] {
    let rows = tables.filter { MigrationWorkload(rawValue: $0.workload) != nil }.compactMap { table in
      table.row(MigrationBenchmark.Way.heirloom.title).map { ReportRow(name: table.name, figures: $0.figures) }
    }
    guard !rows.isEmpty else { return [] }
    return [
      "migrations by Heirloom, old version kept and proven; × limit, CPU × limit: ratios of time and of processor time"
        + " to the same by hand, which proves nothing; × proven, CPU × proven: to the same by hand with the same proof"
    ] + ReportRow.lines(of: rows)
  }
}
