import Heirloom

/// A table of text, with aligned columns.
package struct TextTable {
  /// The side on which a column's text is aligned.
  package enum Alignment {
    case left
    case right
  }

  private let alignments: [Alignment]
  private var rows: [[String]]

  /// Creates a table with one title and one alignment for each column.
  package init(header: [String], alignments: [Alignment]) {
    self.alignments = alignments
    rows = [header]
  }

  /// Adds a row with one text for each column; texts of more than 300 characters are truncated.
  package mutating func add(_ row: [String]) {
    rows.append(row.map { PlainText.line($0, limit: 300) })
  }

  /// Returns the lines, the header first, without trailing spaces.
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
