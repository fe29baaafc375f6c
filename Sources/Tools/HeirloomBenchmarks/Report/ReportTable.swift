/// The figures of one workload at one size.
struct ReportTable: Codable {
  /// The name that `--only` takes.
  let workload: String
  /// `nil` for workloads without a store of that size.
  var notes: Int?
  let title: String
  let rows: [ReportRow]
  var goals: [Goal] = []
  var remarks: [String] = []

  var name: String { notes.map { "\(workload), \($0) notes" } ?? workload }

  func row(_ name: String) -> ReportRow? { rows.first { $0.name == name } }

  var lines: [String] {
    let parts = rows.filter { !$0.parts.isEmpty }.map { row in
      let list = row.parts.map { "\($0.name) \(FigureUnit.text($0.seconds * 1000, 1))" }
      return "\(row.label), ms: \(list.joined(separator: ", "))"
    }
    return [title] + ReportRow.lines(of: rows) + (parts + remarks).map { "  \($0)" }
  }

  static func goals(of tables: [ReportTable]) -> [String] {
    var text = TextTable(["", "measured", "goal", ""])
    for table in tables { for goal in table.goals { text.add(["\(table.name): \(goal.subject)"] + goal.cells) } }
    guard tables.contains(where: { !$0.goals.isEmpty }) else { return [] }
    return [
      "goals; in brackets those for stores of \(PerformanceGoals.leastNotes) notes and more, or for whole migrations"
    ] + text.lines
  }
}

/// What one way took.
struct ReportRow: Codable {
  let name: String
  var builder: String?
  let figures: [Figure]
  var parts: [MeasuredPart] = []

  fileprivate var label: String { builder.map { "\(name) (\($0))" } ?? name }

  func value(_ name: String) -> Double? { figures.first { $0.name == name }?.value }

  /// A row without a column's figure has no text there.
  static func lines(of rows: [ReportRow]) -> [String] {
    var headings: [String] = []
    for figure in rows.flatMap(\.figures) where !headings.contains(figure.heading) { headings.append(figure.heading) }
    var table = TextTable([""] + headings)
    for row in rows {
      table.add([row.label] + headings.map { heading in row.figures.first { $0.heading == heading }?.cell ?? "" })
    }
    return table.lines
  }
}
