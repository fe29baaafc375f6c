import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The balance of cells in rewritten tables: the number of values of each attribute must be the same on both sides.
///
/// It is derived from the models and the mapping and shares no SQL with the plan's statements, so it also finds
/// mistakes in those.
struct CellBalance {
  private struct Place: Hashable {
    let table: String
    let column: String
  }

  /// A column of the store whose cells are copied to one of the candidate.
  private struct Line {
    let source: Place
    let destination: Place
    let name: String
    var sourceNumbers: [Int] = []
    var destinationNumbers: [Int] = []
  }

  /// `tables` are those that SQL alone rewrote.
  static func checks(_ crossing: Crossing, of tables: Set<String>) -> [ProofCheck] {
    var lines: [[Place]: Line] = [:]
    for mapping in crossing.split.declarative.entityMappings {
      guard let flow = RowFlow(mapping, from: crossing.source.model, to: crossing.destination.model),
        let from = crossing.source.entity(named: flow.source.name),
        let to = crossing.destination.entity(named: flow.destination.name), tables.contains(to.table)
      else { continue }
      for leaf in flow.carriedLeaves(from: crossing.source.model, to: crossing.destination.model) {
        guard let old = crossing.source.column(atPath: leaf.source, in: from.name)?.name,
          let new = crossing.destination.column(atPath: leaf.destination, in: to.name)?.name
        else { continue }
        let places = [Place(table: from.table, column: old), Place(table: to.table, column: new)]
        let owner = crossing.destination.model.declaringEntity(ofProperty: leaf.destination[0], in: to.name)?.name
        var line =
          lines[places]
          ?? Line(
            source: places[0], destination: places[1],
            name: "\(owner ?? to.name).\(leaf.destination.joined(separator: "."))")
        line.sourceNumbers.append(from.number)
        line.destinationNumbers.append(to.number)
        lines[places] = line
      }
    }
    let pairs = Dictionary(grouping: lines.values) { [$0.source.table, $0.destination.table] }
    return pairs.ordered { $0.key.lexicographicallyPrecedes($1.key) }.flatMap { tables, lines in
      let sorted = lines.ordered { $0.name < $1.name }
      // SQLite allows 2000 result columns.
      return stride(from: 0, to: sorted.count, by: 500).map { start in
        let part = sorted[start..<min(start + 500, sorted.count)]
        return ProofCheck.balance(
          table: tables[1], lines: part.map(\.name),
          expected: counts(part.map { ($0.source.column, $0.sourceNumbers) }, SchemaName.rows(of: tables[0], as: "o")),
          found: counts(
            part.map { ($0.destination.column, $0.destinationNumbers) },
            "\(quote(SchemaName.candidate)).\(quote(tables[1])) AS o NOT INDEXED"))
      }
    }
  }

  private static func counts(_ columns: [(name: String, numbers: [Int])], _ rows: String) -> String {
    let counts = columns.map { name, numbers in
      let list = numbers.sorted().map(String.init).joined(separator: ", ")
      return "COUNT(CASE WHEN o.\(quote(PhysicalName.entity)) IN (\(list)) THEN o.\(quote(name)) END)"
    }
    return "SELECT \(counts.joined(separator: ", ")) FROM \(rows)"
  }
}
