/// Columns of text, the first aligned left and all others right.
struct TextTable {
  private var rows: [[String]] = []

  init(_ names: [String]) {
    rows = [names]
  }

  mutating func add(_ cells: [String]) {
    rows.append(cells)
  }

  var lines: [String] {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      let cells = row.enumerated().map { column, cell in
        let space = String(repeating: " ", count: max(0, widths[column] - cell.count))
        return column == 0 ? cell + space : space + cell
      }
      return "  " + cells.joined(separator: "  ")
    }
  }
}
