import Foundation
import HeirloomStore

/// The progress of a hop: of copying the store, of the plan's steps, and of the proof.
///
/// Its units are rows that are written, added to indexes or read by the proof, and 4 KiB that are copied or checked:
/// each takes about as long. Progress never goes down.
final class HopProgress {
  private struct Piece {
    let units: Int64
    /// The bytes that are copied or checked for the units; 1 if statements do the work.
    var bytes: Int64 = 1
    /// True for code that makes rows and counts them itself.
    var countsItself = false
  }

  private let progress: Progress
  private let connection: Connection
  private var pieces: [Piece]
  /// The units of earlier hops, and those of this one.
  private let (before, total): (Int64, Int64)
  /// The index of the current piece, and the units of those before it.
  private var (index, done): (Int, Int64) = (0, 0)
  private var seen = Seen()
  private var nextLook: ContinuousClock.Instant = .now

  private struct Seen {
    var calls: Int64 = 0
    /// The rows that the running statement has read, and those before it.
    var (rows, rowsBefore): (Int64, Int64) = (0, 0)
    var bytes: Int64 = 0
  }

  /// The virtual machine steps between two calls of the progress handler: less than a millisecond.
  private static let stepsBetweenCalls: Int32 = 10_000
  /// The steps that creating an index takes for each row; SQLite doesn't count these rows.
  private static let stepsForRow: Int64 = 10
  private static let bytesOfUnit: Int64 = 4096
  /// An update takes microseconds.
  private static let interval: Duration = .milliseconds(50)

  /// `hopsLeft` counts from this hop to the last; each later one counts as much as this one.
  init(of plan: MigrationPlan, progress: Progress, on connection: Connection, hopsLeft: Int64) {
    var rows: [String: Int64] = [:]
    for case .rowCount(let table, let count) in plan.checks { rows[table] = count }
    let isCopy = plan.builder == .cloneAndAlter
    let bytes = isCopy ? connection.storeBytes : min(max(1, plan.bytesBuilt), 1 << 50)
    let file = bytes / Self.bytesOfUnit + 1
    let copying = isCopy ? [Piece(units: file, bytes: bytes)] : []
    let steps = plan.steps.map { step in
      Piece(
        units: step.rows ?? step.indexedTable.flatMap { rows[$0] } ?? 0, countsItself: step.kind == .runMappings)
    }
    // The pages of a copy are read with the rows of the tables that are summed, and then compared with the store's.
    let summed = plan.checks.reduce(0) { $0 + (rows[$1.tableSummed] ?? 0) }
    let structure = Piece(units: isCopy ? 2 * file + summed : file)
    let checks = plan.checks.map { Piece(units: rows[$0.table] ?? 0) }
    pieces = copying + steps + [structure] + checks
    (self.progress, self.connection) = (progress, connection)
    before = progress.completedUnitCount
    total = pieces.reduce(0) { $0 + $1.units }
    // One unit is left until the store is replaced: cancelling a parent doesn't reach a child that is complete.
    progress.totalUnitCount = before + total * hopsLeft + 1
  }

  var isCancelled: Bool { progress.isCancelled }

  func watchStatements() throws(SQLiteError) {
    try connection.interrupt(every: Self.stepsBetweenCalls) {
      self.countCall()
      return self.progress.isCancelled
    }
  }

  func finishPiece() {
    guard pieces.indices.contains(index) else { return }
    done += pieces[index].units
    index += 1
    seen = Seen()
    advance(to: done)
  }

  func finish() { advance(to: total) }

  /// 0 if statements continue the piece.
  func expectPages(byteCount: Int64) {
    if pieces.indices.contains(index) { pieces[index].bytes = max(1, byteCount) }
  }

  /// Returns false on cancellation.
  func count(bytes: Int64) -> Bool {
    seen.bytes += bytes
    guard isTimeToLook() else { return true }
    if pieces.indices.contains(index) {
      let share = min(1, Double(seen.bytes) / Double(pieces[index].bytes))
      advance(inPiece: Int64(share * Double(pieces[index].units)))
    }
    return !progress.isCancelled
  }

  private func countCall() {
    seen.calls += 1
    guard pieces.indices.contains(index), !pieces[index].countsItself, pieces[index].bytes == 1, isTimeToLook() else {
      return
    }
    let rows = connection.scannedRows
    // Another statement of the same piece has started.
    if rows < seen.rows { seen.rowsBefore += seen.rows }
    seen.rows = rows
    let scanned = seen.rowsBefore + rows
    advance(inPiece: scanned > 0 ? scanned : seen.calls * Int64(Self.stepsBetweenCalls) / Self.stepsForRow)
  }

  private func isTimeToLook() -> Bool {
    let now = ContinuousClock.now
    guard now >= nextLook else { return false }
    nextLook = now + Self.interval
    return true
  }

  private func advance(inPiece units: Int64) {
    if pieces.indices.contains(index) { advance(to: done + min(pieces[index].units, units)) }
  }

  private func advance(to units: Int64) {
    if before + units > progress.completedUnitCount { progress.completedUnitCount = before + units }
  }
}

extension Connection {
  /// 1 if it can't be read.
  fileprivate var storeBytes: Int64 {
    let numbers = ["page_count", "page_size"].map { name in
      (try? firstInteger("PRAGMA \(quote(SchemaName.store)).\(name)")).flatMap { $0 } ?? 1
    }
    return min(max(1, numbers[0].multipliedReportingOverflow(by: numbers[1]).partialValue), 1 << 50)
  }
}

extension ProofCheck {
  /// Empty if the check looks for single rows.
  fileprivate var table: String {
    switch self {
    case .rowCount(let table, _), .sums(let table, _, _), .rowSum(let table, _, _, _), .balance(let table, _, _, _),
      .strangers(let table, _), .unchanged(_, let table, _):
      table
    case .noMore: ""
    }
  }

  /// Summed with the pages of a copy; empty for none.
  fileprivate var tableSummed: String {
    if case .rowSum(let table, _, _, .some) = self { table } else { "" }
  }
}
