import Foundation
import Heirloom
import TestSupport
import Testing

/// The rows of an undamaged store, and the pages of each row, by SQLite's account.
struct SalvageOracle {
  typealias Row = [String: SQLiteValue]

  /// By table and hidden key.
  private(set) var rows: [String: [Int64: Row]] = [:]
  private(set) var pages: [String: [Int64: Set<Int>]] = [:]
  private(set) var schemaPages: Set<Int> = []
  /// Leaves, the pages above them, and overflow pages, by table.
  private(set) var tablePages: [String: Set<Int>] = [:]
  let model: ManagedObjectModel
  let schema: PhysicalSchema

  /// The store is one file.
  init(of url: URL, model: ManagedObjectModel) throws {
    self.model = model
    let connection = try Connection(path: url.path, mode: .immutable, options: .inspecting)
    schema = PhysicalSchema(model: model, actual: try ActualSchema(of: connection))
    let stat = "SELECT path, pageno, pagetype, ncell FROM dbstat WHERE name = ?1 ORDER BY path"
    schemaPages = Set(
      try connection.rows(stat, [.text("sqlite_schema")]).compactMap { $0[1].integer.map { Int($0) } })
    for table in schema.tables {
      rows[table.name] = try Self.rows(of: table.name, connection)
      var keys = (rows[table.name] ?? [:]).keys.sorted()[...]
      var leaves: [String: [Int64]] = [:]
      var pages: [Int64: Set<Int>] = [:]
      let stats = try connection.rows(stat, [.text(table.name)])
      for row in stats {
        let (path, page) = (row[0].text ?? "", Int(row[1].integer ?? 0))
        tablePages[table.name, default: []].insert(page)
        guard row[2].text == "leaf" else { continue }
        let count = Int(row[3].integer ?? 0)
        leaves[path] = Array(keys.prefix(count))
        for key in keys.prefix(count) { pages[key] = [page] }
        keys = keys.dropFirst(count)
      }
      for row in stats where row[2].text == "overflow" {
        // The path has the leaf, the row's position in it, and the page's position in the row.
        let path = row[0].text ?? ""
        let parts = path.split(separator: "+")
        let leaf = String(parts[0].dropLast(3))
        let place = try #require(Int(parts[0].suffix(3), radix: 16))
        let key = try #require(leaves[leaf])[place]
        pages[key]?.insert(Int(row[1].integer ?? 0))
      }
      #expect(keys.isEmpty, "dbstat tells of fewer rows than there are")
      self.pages[table.name] = pages
    }
  }

  private static func rows(of table: String, _ connection: Connection) throws -> [Int64: Row] {
    var rows: [Int64: Row] = [:]
    let statement = try connection.prepare("SELECT rowid, * FROM \(quote(table))")
    while try statement.step() {
      var row: Row = [:]
      for column in 1..<statement.columnCount { row[statement.columnName(at: column)] = statement.value(at: column) }
      rows[statement.integer(at: 0)] = row
    }
    return rows
  }

  // MARK: Checking

  /// Rows in whole pages are equal, others are equal or absent, and links lead somewhere.
  ///
  /// Returns the number of objects. The content of `changedPages` can't be known; with
  /// `isSchemaLost`, tables may be missing; `what` is the damage, for messages.
  @discardableResult
  func check(
    _ url: URL, lostPages: Set<Int> = [], changedPages: Set<Int> = [], isSchemaLost: Bool = false, _ what: String
  ) throws -> Int {
    let connection = try Connection(reading: url, options: .inspecting)
    var found: [String: [Int64: Row]] = [:]
    for table in schema.tables { found[table.name] = try Self.rows(of: table.name, connection) }
    var count = 0
    for table in schema.tables where !table.isJoin {
      let (here, before) = (found[table.name] ?? [:], rows[table.name] ?? [:])
      count += here.count
      for (key, row) in before {
        let pages = pages[table.name]?[key] ?? []
        if !pages.isDisjoint(with: changedPages) { continue }
        guard let salvaged = here[key] else {
          #expect(
            !pages.isDisjoint(with: lostPages) || isSchemaLost, "\(what): \(table.name) \(key) in \(pages) is missing")
          continue
        }
        for column in table.columns {
          let (old, new) = (row[column.name] ?? .null, salvaged[column.name] ?? .null)
          if old == new { continue }
          let isLost = !pages.isDisjoint(with: lostPages)
          let mayBeCut = new == .null && (isLost || isCut(column, of: row, found, changedPages))
          #expect(mayBeCut, "\(what): \(table.name) \(key) \(column.name) is \(new) instead of \(old)")
        }
      }
      for (key, _) in here where before[key] == nil && changedPages.isEmpty {
        Issue.record("\(what): \(table.name) \(key) was invented")
      }
    }
    for table in schema.tables where table.isJoin {
      try checkLinks(table, found, lostPages, changedPages, isSchemaLost, what)
    }
    return count
  }

  /// Returns true if a key may be empty because its target is gone.
  private func isCut(
    _ column: PhysicalColumn, of row: Row, _ found: [String: [Int64: Row]], _ changedPages: Set<Int>
  ) -> Bool {
    let name: (entity: String, relationship: String)
    switch column.role {
    case .key(let entity, let relationship), .keyEntity(let entity, let relationship),
      .order(let entity, let relationship), .inverselessKey(let entity, let relationship):
      name = (entity, relationship)
    default: return false
    }
    // A position goes with the key beside it.
    guard let relationship = model.relationship(named: name.relationship, of: name.entity) else { return false }
    let destination = schema.entity(named: relationship.destinationEntity)?.table ?? ""
    let owner = schema.entity(named: name.entity)?.table ?? ""
    let lost = [destination, owner].contains { (found[$0]?.count ?? 0) < (rows[$0]?.count ?? 0) }
    return lost || !changedPages.isEmpty
  }

  private func checkLinks(
    _ table: PhysicalTable, _ found: [String: [Int64: Row]], _ lostPages: Set<Int>, _ changedPages: Set<Int>,
    _ isSchemaLost: Bool, _ what: String
  ) throws {
    // A link that was found in an index has lost its positions in lists.
    let columns = table.columns.prefix(lostPages.isEmpty ? table.columns.count : 2).map(\.name)
    func list(_ rows: [Int64: Row]?) -> Set<[SQLiteValue]> {
      Set((rows ?? [:]).values.map { row in columns.map { row[$0] ?? .null } })
    }
    guard case .links(let entity, let name) = table.kind,
      case .join(_, let ownerColumn, let destinationColumn, _)? = schema.storage(ofRelationship: name, in: entity),
      let relationship = model.relationship(named: name, of: entity)
    else { return }
    let here = list(found[table.name])
    let owners = found[schema.entity(named: entity)?.table ?? ""] ?? [:]
    let destinations = found[schema.entity(named: relationship.destinationEntity)?.table ?? ""] ?? [:]
    if changedPages.isEmpty { #expect(here.isSubset(of: list(rows[table.name])), "\(what): \(table.name)") }
    guard !isSchemaLost else { return }
    for (key, row) in rows[table.name] ?? [:] {
      let pages = pages[table.name]?[key] ?? []
      guard pages.isDisjoint(with: lostPages.union(changedPages)), let owner = row[ownerColumn]?.integer,
        let destination = row[destinationColumn]?.integer, owners[owner] != nil, destinations[destination] != nil
      else { continue }
      #expect(
        here.contains(columns.map { row[$0] ?? .null }), "\(what): \(table.name) \(owner) → \(destination) is missing")
    }
  }
}
