import HeirloomModel
import HeirloomStore

/// The columns of the store's tables that no model knows, and the rows whose values in them have no place.
///
/// Older releases leave such columns, and so do other programs. What they hold is somebody's: it goes where its row goes.
struct UnknownColumns {
  let routing: EntityRouting
  let source: PhysicalSchema

  /// Returns the columns that the destination's tables need for them, by table.
  func carried(to destination: PhysicalSchema) -> [String: [PhysicalColumn]] {
    var columns: [String: [PhysicalColumn]] = [:]
    let unknown = source.unknownColumns
    guard !unknown.isEmpty else { return [:] }
    for tree in routing.trees {
      guard let root = tree.sourceRoot, let old = source.table(ofEntity: root),
        let new = destination.table(ofEntity: tree.destinationRoot)
      else { continue }
      columns[new.name, default: []] += unknown[old.name] ?? []
    }
    for (old, new) in joins(to: destination) { columns[new] = unknown[old] }
    return columns
  }

  /// Returns the store's tables of links whose pairs, and nothing else, fill a table of the destination, each with that.
  private func joins(to destination: PhysicalSchema) -> [String: String] {
    let queries = LinkQueries(routing: routing, source: source, destination: destination)
    var joins: [String: String] = [:]
    for table in destination.tables {
      guard case .links(let entity, let name) = table.kind,
        let relationship = destination.model.relationship(named: name, of: entity),
        let links = queries.links(of: relationship, declaredBy: entity), let pairs = links.pairs,
        queries.keepsKeys(links, relationship: relationship, declaredBy: entity)
      else { continue }
      joins[pairs.table] = table.name
    }
    return joins
  }

  /// Asks for values that no table of the destination takes: of rows that go or that code makes anew, of links that move
  /// to another table, and of columns whose name the destination gives to something else.
  func ask(_ questions: inout StoreQuestions, destination: PhysicalSchema) {
    let unknown = source.unknownColumns
    for table in source.tables {
      for column in unknown[table.name] ?? [] {
        let takers = takers(of: column, in: table, destination: destination)
        let owner: String
        var others = ""
        switch table.kind {
        case .links(let entity, _):
          // A link that goes is a loss of its own.
          guard takers.isEmpty else { continue }
          owner = entity
        case .objects(let root):
          owner = root
          let numbers = takers.flatMap { $0 }.map(String.init).joined(separator: ", ")
          let entity = "s.\(quote(PhysicalName.entity))"
          if !takers.isEmpty { others = " WHERE \(entity) IS NULL OR \(entity) NOT IN (\(numbers))" }
        }
        questions.count(
          sql: "SELECT COUNT(s.\(quote(column.name))) FROM \(SchemaName.rows(of: table.name, as: "s"))\(others)"
        ) { rows in
          .loss(
            MigrationLoss(
              entity: owner, property: column.name,
              reason:
                "The column \(table.name).\(column.name) belongs to no property of the model, and nothing takes these"
                + " values along.", rows: rows, kind: .values))
        }
      }
    }
  }

  /// The sentences about columns that come along.
  func warnings(destination: PhysicalSchema) -> [String] {
    let unknown = source.unknownColumns
    return source.tables.flatMap { table in
      (unknown[table.name] ?? []).filter { column in
        !takers(of: column, in: table, destination: destination).isEmpty
      }.map { "the column \(table.name).\($0.name) belongs to no property of the model; it is taken along" }
    }
  }

  /// Returns the entity numbers of the rows whose values go along, for each of the destination's tables that takes some;
  /// for links the numbers are empty.
  private func takers(of column: PhysicalColumn, in table: PhysicalTable, destination: PhysicalSchema) -> [[Int]] {
    func takes(_ name: String?) -> Bool {
      name.flatMap { destination.unknownColumns[$0] }?.contains { $0.name == column.name } ?? false
    }
    if table.isJoin { return takes(joins(to: destination)[table.name]) ? [[]] : [] }
    return routing.trees.filter { tree in
      tree.sourceRoot.flatMap { source.table(ofEntity: $0)?.name } == table.name
        && takes(destination.table(ofEntity: tree.destinationRoot)?.name)
    }.map { $0.routes.map(\.sourceNumber) }
  }
}
