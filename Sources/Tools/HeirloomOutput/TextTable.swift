import Heirloom

package struct TextTable {
  package enum Alignment {
    case left
    case right
  }

  private let alignments: [Alignment]
  private var rows: [[String]]

  /// One title and one alignment for each column.
  package init(header: [String], alignments: [Alignment]) {
    self.alignments = alignments
    rows = [header]
  }

  /// Texts of more than 300 characters are truncated.
  package mutating func add(_ row: [String]) {
    rows.append(row.map { PlainText.line($0, limit: 300) })
  }

  /// Without trailing spaces.
  package func lines(indent: Int = 2) -> [String] {
    let widths = alignments.indices.map { column in
      rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      let cells = zip(row, zip(widths, alignments)).map { text, layout in
        let padding = String(repeating: " ", count: max(0, layout.0 - text.count))
        return layout.1 == .left ? text + padding : padding + text
      }
      var line = String(repeating: " ", count: indent) + cells.joined(separator: "  ")
      while line.hasSuffix(" ") { line.removeLast() }
      return line
    }
  }
}
