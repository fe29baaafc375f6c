import Foundation
import HeirloomStore

/// The progress of a plan's steps, in rows that are written to tables or entered in indexes.
final class StepProgress {
  private let progress: Progress
  private let connection: Connection
  private let steps: [MigrationStep]
  /// The rows of each step.
  private let work: [Int64]
  /// The rows of earlier hops.
  private let before: Int64
  private var (index, done): (Int, Int64) = (0, 0)
  /// The number of times that SQLite has called since the step began.
  private var calls: Int64 = 0
  private var nextLook: ContinuousClock.Instant = .now

  /// The steps of SQLite's virtual machine from one call to the next: less than a millisecond.
  static let stepsBetweenCalls: Int32 = 10_000
  /// The steps that making an index takes for each row, whose rows SQLite doesn't count.
  private static let stepsForRow: Int64 = 10
  /// The time between two looks at a statement that runs; a look takes microseconds.
  private static let interval: Duration = .milliseconds(50)

  /// Begins to count a hop's rows.
  ///
  /// - Parameters:
  ///   - plan: The plan of the hop.
  ///   - progress: The progress of the migration; rows of earlier hops stay counted.
  ///   - connection: The connection that runs the steps.
  ///   - hopsLeft: The number of hops from this one to the last; those to come count like this one.
  init(of plan: MigrationPlan, progress: Progress, on connection: Connection, hopsLeft: Int64) {
    var rows: [String: Int64] = [:]
    for case .rowCount(let table, let count) in plan.checks { rows[table] = count }
    steps = plan.steps
    work = steps.map { $0.rows ?? $0.indexedTable.flatMap { rows[$0] } ?? 0 }
    (self.progress, self.connection) = (progress, connection)
    before = progress.completedUnitCount
    progress.totalUnitCount = before + max(1, work.reduce(0, +)) * hopsLeft
  }

  /// Counts all rows of the step, and goes on to the next one.
  func finishStep() {
    done += work[index]
    index += 1
    calls = 0
    advance(to: done)
  }

  /// Counts all rows of the hop: where there are none, the work was one unit.
  func finish() { advance(to: max(1, work.reduce(0, +))) }

  /// Counts the rows of the statement that runs; SQLite's progress handler calls it.
  func look() {
    calls += 1
    guard steps.indices.contains(index), steps[index].kind != .runMappings, ContinuousClock.now >= nextLook else {
      return
    }
    nextLook = .now + Self.interval
    let scanned = connection.scannedRows
    let rows = scanned > 0 ? scanned : calls * Int64(Self.stepsBetweenCalls) / Self.stepsForRow
    advance(to: done + min(work[index], rows))
  }

  /// Code that makes rows counts them by itself, and nothing that was counted is taken back.
  private func advance(to rows: Int64) {
    if before + rows > progress.completedUnitCount { progress.completedUnitCount = before + rows }
  }
}
