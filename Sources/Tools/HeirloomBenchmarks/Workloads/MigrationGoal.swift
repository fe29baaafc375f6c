import Foundation

struct MigrationGoal: Codable {
  var subject: String
  var value: Double
  /// `×` or `ms`.
  var unit: String
  var most: Double?
  var least: Double?
}

extension MigrationGoal: CustomStringConvertible {
  var description: String {
    func text(_ value: Double) -> String { String(format: unit == "ms" ? "%.1f" : "%.2f", value) + " " + unit }
    let bound = most.map { "; goal: at most \(text($0))" } ?? least.map { "; goal: at least \(text($0))" }
    return "\(subject): \(text(value))\(bound ?? "")"
  }
}

extension MigrationWorkload {
  /// Those besides the ratio to the limit; empty for most workloads.
  func furtherGoals(
    _ measured: [MigrationBenchmark.Way: [MigrationBenchmark.Measured]], storeBytes: Int64
  ) -> [MigrationGoal] {
    let heirloom = measured[.heirloom] ?? []
    func compare(
      _ way: MigrationBenchmark.Way, _ value: (MigrationBenchmark.Measured, MigrationBenchmark.Measured) -> Double
    ) -> Double {
      zip(heirloom, measured[way] ?? []).map(value).median
    }
    let sharesBlocks = MigrationBenchmark.sharesBlocks(measured, storeBytes: storeBytes)
    let place = sharesBlocks ? "blocks are shared" : "blocks are copied"
    switch self {
    case .plain:
      guard sharesBlocks else {
        return [
          MigrationGoal(
            subject: "Heirloom to the limit's clone and sync alone (\(place))",
            value: compare(.limit) { $0.seconds / $1.seconds(of: ["clone", "sync"]) }, unit: "×",
            most: PerformanceGoals.ratio(self, notes: 0))
        ]
      }
      return [
        MigrationGoal(
          subject: "Heirloom, at any size (\(place))", value: heirloom.map { $0.seconds * 1000 }.median, unit: "ms",
          most: PerformanceGoals.sharedBlocksMilliseconds)
      ]
    case .additive:
      return [
        MigrationGoal(
          subject: "Heirloom to the proven migration in place (\(place))",
          value: compare(.inPlaceProven) { $0.seconds / $1.seconds }, unit: "×", most: sharesBlocks ? 1.2 : nil)
      ]
    case .fiftyVersions:
      let clone = (measured[.limitProven] ?? []).map { $0.seconds(of: ["clone", "sync"]) }.median
      return [
        MigrationGoal(
          subject: "Heirloom, less the limit's clone and sync, to the proven jump in place (\(place))",
          value: compare(.inPlaceProven) { ($0.seconds - clone) / $1.seconds }, unit: "×", most: 1.2),
        MigrationGoal(
          subject: "50 steps in place, unproven, to Heirloom's jump",
          value: compare(.inPlaceSteps) { $1.seconds / $0.seconds }, unit: "×", least: 4),
      ]
    default: return []
    }
  }
}

extension MigrationBenchmark {
  /// True if a store and its clone share blocks: the limit then writes only its changes.
  fileprivate static func sharesBlocks(_ measured: [Way: [Measured]], storeBytes: Int64) -> Bool {
    ((measured[.limit] ?? []).compactMap(\.writtenBytes).max() ?? storeBytes) < storeBytes / 2
  }

  static func goalRatio(
    _ workload: MigrationWorkload, notes: Int, _ measured: [Way: [Measured]], storeBytes: Int64
  ) -> Double {
    guard workload == .plain, sharesBlocks(measured, storeBytes: storeBytes) else {
      return PerformanceGoals.ratio(workload, notes: notes)
    }
    // The limit takes next to no time then, so the goal is a time.
    let limit = (measured[.limit] ?? []).map(\.seconds).median
    return PerformanceGoals.sharedBlocksMilliseconds / 1000 / max(limit, 1e-9)
  }
}

extension MigrationBenchmark.Measured {
  func seconds(of names: Set<String>) -> Double {
    parts.filter { names.contains($0.name) }.map(\.seconds).reduce(0, +)
  }
}
