import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The columns outside the model in the store's tables, and the rows whose values in them are lost.
///
/// Older releases and other programs leave such columns. Their values may matter to someone, so
/// they move with their rows.
struct UnknownColumns {
  let crossing: Crossing

  private var source: PhysicalSchema { crossing.source }
  private var destination: PhysicalSchema { crossing.destination }

  /// By the destination's table.
  var carried: [String: [PhysicalColumn]] {
    var columns: [String: [PhysicalColumn]] = [:]
    let unknown = source.unknownColumns
    guard !unknown.isEmpty else { return [:] }
    for tree in crossing.routing.trees {
      guard let root = tree.sourceRoot, let old = source.table(ofEntity: root),
        let new = destination.table(ofEntity: tree.destinationRoot)
      else { continue }
      for column in unknown[old.name] ?? [] {
        // If two columns of one name differ in type, a BLOB column keeps both values unconverted.
        if let place = columns[new.name]?.firstIndex(where: { $0.name == column.name }) {
          guard columns[new.name]?[place].type != column.type else { continue }
          columns[new.name]?[place] = PhysicalColumn(name: column.name, type: .blob, role: .unknown)
        } else {
          columns[new.name, default: []].append(column)
        }
      }
    }
    for (old, new) in joins { columns[new] = unknown[old] }
    return columns
  }

  /// The store's join tables, each with the destination's table that is filled by its links alone.
  private var joins: [String: String] {
    var joins: [String: String] = [:]
    for table in destination.tables {
      guard case .links(let entity, let name) = table.kind,
        let relationship = destination.model.relationship(named: name, of: entity),
        let links = crossing.links(of: relationship, declaredBy: entity), let pairs = links.pairs,
        crossing.keepsKeys(links, relationship: relationship, declaredBy: entity)
      else { continue }
      joins[pairs.table] = table.name
    }
    return joins
  }

  /// Values in join tables; those in the rows of objects are ``CellLines``.
  var entries: [AskedEntry] {
    let (unknown, taken) = (source.unknownColumns, taken)
    return source.tables.flatMap { table -> [AskedEntry] in
      guard case .links(let entity, _) = table.kind else { return [] }
      return (unknown[table.name] ?? []).map(\.name).filter { taken[table.name]?.contains($0) != true }.map { column in
        AskedEntry(
          Entry(
            .unknownColumn(column, table: table.name, .untaken), of: .cells(column: column, table: table.name),
            entity: entity, property: column),
          .values(of: "s.\(quote(column))", in: table.name))
      }
    }
  }

  var warnings: [String] {
    let taken = taken
    return source.unknownColumns.ordered { $0.key < $1.key }.flatMap { table, columns in
      columns.filter { taken[table]?.contains($0.name) ?? false }.map { Self.warning($0.name, of: table) }
    }
  }

  static func warning(_ column: String, of table: String) -> String {
    "the column \(table).\(column) belongs to no property of the model; it is copied"
  }

  /// The columns whose values the destination takes, by the store's table.
  private var taken: [String: Set<String>] {
    let names = destination.unknownColumns.mapValues { Set($0.map(\.name)) }
    var taken: [String: Set<String>] = [:]
    for (old, new) in joins { taken[old] = names[new] }
    for tree in crossing.routing.trees {
      guard let old = tree.sourceRoot.flatMap({ source.table(ofEntity: $0) }),
        let new = destination.table(ofEntity: tree.destinationRoot)
      else { continue }
      taken[old.name, default: []].formUnion(names[new.name] ?? [])
    }
    return taken
  }
}
