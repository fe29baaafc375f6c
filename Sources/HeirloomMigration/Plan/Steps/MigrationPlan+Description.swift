import HeirloomModel

extension MigrationPlan: CustomStringConvertible {
  private static let lineLimit = 5

  /// A line for each loss and blocker, or one that nothing is lost; the last line has the builder and the numbers.
  public var description: String {
    let size = "\(CountText.counted(steps.count, "step")), \(CountText.counted(rowsRewritten, "row")) rewritten"
    let warned = warnings.isEmpty ? "" : ", \(CountText.counted(warnings.count, "warning"))"
    let more = hops.count == 1 ? "" : ", \(CountText.counted(hops.count - 1, "hop")) after it"
    let objects = CountText.counted(rows.reduce(0) { $0 + ($1.before ?? 0) }, "object")
    return
      ((losses.isEmpty ? ["Nothing of \(objects) is lost."] : lossLines) + blockerLines
      + ["Migration by \(builder.rawValue): \(size)\(warned)\(more)."]).joined(separator: "\n")
  }

  package var lossLines: [String] {
    Self.first(losses.map { "lost: \(CountText.counted($0.rows, "row")) of \($0.name)" })
  }

  private var blockerLines: [String] {
    Self.first(blockers.map { "blocker: \(CountText.counted($0.rows, "row")): \($0.reason)" })
  }

  private static func first(_ lines: [String]) -> [String] {
    lines.prefix(lineLimit).map { PlainText.line($0) }
      + (lines.count > lineLimit ? ["and \(CountText.grouped(lines.count - lineLimit)) more"] : [])
  }
}
