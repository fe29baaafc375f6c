package import Heirloom

/// The account of a store, hop by hop, as text and JSON.
package struct AccountText {
  /// Empty if the store is up to date.
  private let hops: [StoreAccounts.Hop]
  /// The version's name of a model.
  private let name: (ManagedObjectModel) -> String?

  package init(_ accounts: StoreAccounts, name: @escaping (ManagedObjectModel) -> String?) {
    (hops, self.name) = (accounts.hops, name)
  }

  package var members: OutputMembers {
    [("account", .list(zip(1..., hops).flatMap { number, hop in hop.lines.map { Self.output($0, hop: number) } }))]
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

  /// A table for each hop; lines without content in the store are only counted.
  package func lines(_ style: TextStyle) -> [String] {
    hops.enumerated().flatMap { index, hop -> [String] in
      let names = [hop.source, hop.destination].map { name($0).map { "\"\($0)\"" } ?? "another version" }
      let title =
        "Everything in the store"
        + (hops.count == 1 ? "" : " before hop \(index + 1), from \(names[0]) to \(names[1])")
      let shown = hop.lines.filter { $0.count > 0 }
      var table = TextTable(
        header: ["What", "in the model", "count", "where it goes"], alignments: [.left, .left, .right, .left])
      for line in shown {
        table.add([line.name, Self.property(line), grouped(line.count), Self.words(line)])
      }
      let empty = hop.lines.count - shown.count
      return ["", style.bold("\(title), and where it goes:")] + table.lines()
        + (empty > 0 ? ["  and \(counted(Int64(empty), "thing")) of which it holds none"] : [])
    }
  }

  private static func property(_ line: Line) -> String {
    guard let property = line.property else { return word(line.kind) }
    return line.kind == .files ? "\(property) \(word(.files))" : property
  }

  private static func word(_ kind: Line.Kind) -> String {
    switch kind {
    case .objects: "(objects)"
    case .cells, .bookkeeping: "–"
    case .links: "(links)"
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
      case .carried where line.kind == .files: "\(count)stays in\(places)"
      case .carried: "\(count)to\(places)"
      case .changed: "\(count)changed, to\(places)\(reason)"
      case .decided: "\(count)by decision\(reason)"
      case .code: "\(count)to the code or the expressions of\(places)"
      case .lost: "\(count)lost\(reason)"
      case .withObjects: "\(count)with removed objects"
      case .links: "\(count)counted as the links of\(places)"
      case .remade: "\(count)rebuilt\(reason)"
      case .leftOut: "\(count)left out\(reason)"
      case .missing: "\(count)missing, or empty"
      case .unaccounted: part.count < 0 ? "\(grouped(-part.count)) in two of these parts" : "\(count)not accounted for"
      }
    }.joined(separator: "; ")
  }
}
