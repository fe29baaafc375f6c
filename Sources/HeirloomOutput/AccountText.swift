package import Heirloom

/// The account of a store, hop by hop, for a person and for a program.
package struct AccountText {
  /// The lines of each hop.
  private let hops: [[Line]]

  /// Creates the text of the accounts of a plan's hops.
  package init(_ plan: MigrationPlan, _ accounts: StoreAccounts) { hops = plan.hops.map { accounts[$0] } }

  /// The members: the lines of all hops.
  package var members: OutputMembers {
    [("account", .list(zip(1..., hops).flatMap { hop, lines in lines.map { Self.output($0, hop: hop) } }))]
  }

  private static func output(_ line: Line, hop: Int64) -> OutputValue {
    let parts = line.parts.map { part in
      OutputValue.object([
        ("fate", .text(part.fate.rawValue)), ("count", .integer(part.count)), ("places", .texts(part.places)),
        ("reason", .optional(part.reason)),
      ])
    }
    return .object([
      ("hop", .integer(hop)), ("kind", .text(line.kind.rawValue)), ("name", .text(line.name)),
      ("property", .optional(line.property)),
      ("count", .integer(line.count)), ("parts", .list(parts)),
    ])
  }

  /// Returns a table for each hop; a thing of which the store has nothing is only counted.
  package func lines(_ style: TextStyle) -> [String] {
    hops.enumerated().flatMap { index, lines -> [String] in
      let title = hops.count == 1 ? "All that the store holds" : "All that the store holds before hop \(index + 1)"
      let shown = lines.filter { $0.count > 0 }
      var table = TextTable(
        header: ["What", "in the model", "count", "where it goes"], alignments: [.left, .left, .right, .left])
      for line in shown {
        table.add([line.name, line.property ?? Self.word(line.kind), grouped(line.count), Self.words(line)])
      }
      let empty = lines.count - shown.count
      return ["", style.bold("\(title), and where it goes:")] + table.lines()
        + (empty > 0 ? ["  and \(counted(Int64(empty), "thing")) of which it holds none"] : [])
    }
  }

  private static func word(_ kind: Line.Kind) -> String {
    switch kind {
    case .objects: "(objects)"
    case .cells, .bookkeeping, .links: "–"
    case .rows: "(rows)"
    case .files: "(files)"
    case .metadata: "(metadata)"
    }
  }

  private static func words(_ line: Line) -> String {
    line.parts.map { part in
      let count = part.count == line.count ? "" : "\(grouped(part.count)) "
      let places = part.places.isEmpty ? "" : " \(listText(part.places, limit: 3))"
      let reason = part.reason.map { ": \($0)" } ?? ""
      return switch part.fate {
      case .carried: "\(count)to\(places)"
      case .changed: "\(count)changed, to\(places)\(reason)"
      case .decided: "\(count)by decision\(reason)"
      case .code: "\(count)to the code of\(places)"
      case .lost: "\(count)lost\(reason)"
      case .withObjects: "\(count)with objects that go"
      case .remade: "\(count)made anew\(reason)"
      case .leftOut: "\(count)left out"
      case .unaccounted: part.count < 0 ? "\(grouped(-part.count)) in two of these parts" : "\(count)not accounted for"
      }
    }.joined(separator: "; ")
  }
}
