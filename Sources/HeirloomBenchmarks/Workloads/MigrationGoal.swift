import Foundation

/// Something the design says of one workload, with what was measured.
struct MigrationGoal: Codable {
  /// What is compared.
  var subject: String
  /// What was measured: a ratio, or milliseconds.
  var value: Double
  /// What it is measured in: `×` or `ms`.
  var unit: String
  /// The most that the design allows; `nil` for no such bound.
  var most: Double?
  /// The least that the design wants; `nil` for no such bound.
  var least: Double?
}

extension MigrationGoal: CustomStringConvertible {
  /// One line for people.
  var description: String {
    func text(_ value: Double) -> String { String(format: unit == "ms" ? "%.1f" : "%.2f", value) + " " + unit }
    let bound = most.map { "; goal: at most \(text($0))" } ?? least.map { "; goal: at least \(text($0))" }
    return "\(subject): \(text(value))\(bound ?? "")"
  }
}

extension MigrationWorkload {
  /// Says how far Heirloom is from what the design says of this workload beside the ratio to the proven limit.
  ///
  /// - Parameters:
  ///   - measured: The runs of each way, round by round.
  ///   - storeBytes: The size of the store before.
  /// - Returns: The goals; none for most workloads.
  func furtherGoals(
    _ measured: [MigrationBenchmark.Way: [MigrationBenchmark.Measured]], storeBytes: Int64
  ) -> [MigrationGoal] {
    let heirloom = measured[.heirloom] ?? []
    func compare(
      _ way: MigrationBenchmark.Way, _ value: (MigrationBenchmark.Measured, MigrationBenchmark.Measured) -> Double
    ) -> Double {
      zip(heirloom, measured[way] ?? []).map(value).median
    }
    // Where the file system shares blocks, the limit writes only what it changes.
    let written = (measured[.limit] ?? []).compactMap(\.writtenBytes).max() ?? storeBytes
    let sharesBlocks = written < storeBytes / 2
    let place = sharesBlocks ? "blocks are shared" : "blocks are copied"
    switch self {
    case .plain:
      return [
        MigrationGoal(
          subject: "Heirloom above the clone, the proof and the sync of the proven limit (\(place))",
          value: compare(.limitProven) { ($0.seconds - $1.seconds(of: ["clone", "prove", "sync"])) * 1000 }, unit: "ms",
          most: 20),
        MigrationGoal(
          subject: "Heirloom above the clone and the sync of the limit, its own proof counted",
          value: compare(.limit) { ($0.seconds - $1.seconds(of: ["clone", "sync"])) * 1000 }, unit: "ms"),
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

extension MigrationBenchmark.Measured {
  /// The seconds of some parts together.
  func seconds(of names: Set<String>) -> Double {
    parts.filter { names.contains($0.name) }.map(\.seconds).reduce(0, +)
  }
}
