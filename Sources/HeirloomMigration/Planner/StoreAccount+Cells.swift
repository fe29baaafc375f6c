import Foundation
import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension StoreAccount {
  func columns(of table: ActualTable, _ known: PhysicalTable) throws -> [Line] {
    let isOfObjects = if case .objects = known.kind { true } else { false }
    return try zip(table.columns, counts(of: table, known, isOfObjects)).flatMap { column, counts -> [Line] in
      let name = "\(table.name).\(column.name)"
      let role = column.isGenerated ? nil : known.column(named: column.name)?.role
      let count = counts.all
      guard let role else {
        let reason = column.isGenerated ? "SQLite computes it." : "A deferred migration left it, to be cleaned up."
        return [line(.bookkeeping, name, count: count, of: [], rest: part(.leftOut, reason: reason))]
      }
      let property = role.property.map { "\($0.entity).\($0.path.joined(separator: "."))" }
      guard role.isCells else { return [try bookkeeping(column.name, role, in: table.name, counts, isOfObjects)] }
      let cells = line(
        .cells, name, property: property, count: count, of: [.cells(column: column.name, table: table.name)],
        withObjects: counts.going, filled: counts.filled, changedByRows: counts.changed,
        code: (counts.code, takers(of: column.name, in: table.name)),
        rest: isDerived(role)
          ? part(.remade, reason: "It is derived.") : rest(column.name, in: table.name, isOfObjects))
      return try [cells] + files(of: role, name, property: property)
    }
  }

  private func isDerived(_ role: PhysicalColumn.Role) -> Bool {
    guard case .attribute(let entity, let path) = role, let name = path.first else { return false }
    return source.model.attribute(named: name, of: entity)?.hasOwnValues == false
  }

  private func files(of role: PhysicalColumn.Role, _ name: String, property: String?) throws -> [Line] {
    guard case .attribute(let entity, let path) = role, let column = source.column(atPath: path, in: entity),
      column.attribute.allowsExternalBinaryDataStorage
    else { return [] }
    let names = Set(try ExternalStorage.fileNames(in: column, connection))
    guard !names.isEmpty else { return [] }
    let file = try connection.rows("PRAGMA database_list").first { $0[1].text == "main" }?[2].text ?? ""
    let folder = ExternalStorage.folder(forStoreAt: file)
    let missing = names.count { !ExternalStorage.isFilled("\(folder)/\($0)") }
    // A migration removes no file, because the previous version needs it.
    let there = line(
      .files, name, property: property, count: Int64(names.count - missing), of: [],
      rest: part(.carried, [URL(fileURLWithPath: folder).deletingLastPathComponent().lastPathComponent]))
    return [there.adding(.missing, Int64(missing))]
  }

  struct CellCounts {
    let all: Int64
    /// Cells that are dropped with their objects.
    let going: Int64
    /// Cells of kept objects whose values change; `nil` if no query can count them.
    let changed: Int64?
    /// Defaults that Core Data wrote into a new column in rows of entities without the attribute.
    let filled: Int64
    /// Cells of kept objects that are made one by one.
    let code: Int64
  }

  /// In the order of the table's columns.
  func counts(
    of table: ActualTable, _ known: PhysicalTable, _ isOfObjects: Bool
  ) throws -> [CellCounts] {
    var goingByOwner: [String: String] = [:]
    let isByCode = isOfObjects ? any(in: table.name) { byCode($0).map { taken[$0] ?? "1" } } : "0"
    let aggregates = table.columns.map { column -> String in
      let cell = "s.\(quote(column.name))"
      let role = column.isGenerated ? nil : known.column(named: column.name)?.role
      let owner = role?.isCells == true ? role?.property?.entity ?? "" : "*"
      let going = isOfObjects ? goingByOwner[owner] ?? goes(in: table.name, as: role) : "0"
      goingByOwner[owner] = going
      let change = changes(of: column.name, in: table.name).map { "(\($0)) AND NOT IFNULL(\(going), 0)" }
      let filled = isOfObjects ? filling(role, cell, in: table.name) : nil
      return "COUNT(\(cell)), COUNT(CASE WHEN \(going) THEN \(cell) END), "
        + (change.map { "COUNT(CASE WHEN \($0) THEN \(cell) END)" } ?? "NULL")
        + (filled.map { ", COUNT(CASE WHEN \($0) THEN 1 END)" } ?? ", 0")
        + ", COUNT(CASE WHEN \(isByCode) AND NOT IFNULL(\(going), 0) THEN \(cell) END)"
    }
    // A column has five counts, and SQLite allows 2000 result columns.
    return try stride(from: 0, to: aggregates.count, by: 400).flatMap { start in
      let part = aggregates[start..<min(start + 400, aggregates.count)]
      let row = try connection.rows(
        "SELECT \(part.joined(separator: ", ")) FROM \(SchemaName.rows(of: table.name, as: "s"))"
      ).first
      let counts = (row ?? []).map(\.integer)
      return part.indices.map { index in
        let place = (index - start) * 5
        return CellCounts(
          all: counts[place] ?? 0, going: counts[place + 1] ?? 0, changed: counts[place + 2],
          filled: counts[place + 3] ?? 0, code: counts[place + 4] ?? 0)
      }
    }
  }

  /// Core Data writes an attribute's default into rows of entities without the attribute.
  private func filling(_ role: PhysicalColumn.Role?, _ cell: String, in table: String) -> String? {
    guard case .attribute(let owner, _)? = role, let value = source.filling(of: role) else { return nil }
    let others = any(in: table) { entity in
      source.model.isEntity(entity.name, kindOf: owner) ? [] : ["1"]
    }
    return "\(others) AND \(cell) IS \(value)"
  }

  /// Over the row `s`; `nil` if no condition is known.
  private func changes(of column: String, in table: String) -> String? {
    // Transfers don't cover objects that are made one by one.
    guard byRow(in: table).isEmpty else { return nil }
    let conditions = transfers(of: table).flatMap { transfer in
      transfer.columns.flatMap { name, entry in
        transfer.sourceNumbers.compactMap { number -> String? in
          guard let own = entry.ofRows(numbered: number) else { return nil }
          let rounding = own.rounding.flatMap { $0.columns.contains(column) ? $0.condition : nil }
          let isOrigin = own.origin == column
          // A number that is too large stops a plan unless a decision replaces it.
          let overflow = isOrigin ? overflow(of: column, in: table, as: name, of: transfer.table) : nil
          let parts = [isOrigin ? own.change : nil, overflow, rounding].compactMap(\.self)
          return parts.isEmpty
            ? nil : "s.\(quote(PhysicalName.entity)) = \(number) AND (\(parts.chained(by: "OR")))"
        }
      }
    }
    return conditions.isEmpty ? nil : conditions.map { "(\($0))" }.chained(by: "OR")
  }

  private func overflow(of column: String, in table: String, as name: String, of newTable: String) -> String? {
    func leaf(_ schema: PhysicalSchema, _ table: String, _ column: String) -> AttributeDescription? {
      guard case .attribute(let entity, let path)? = schema.table(named: table)?.column(named: column)?.role else {
        return nil
      }
      return schema.column(atPath: path, in: entity)?.attribute
    }
    guard let old = leaf(source, table, column), let new = leaf(crossing.destination, newTable, name)
    else { return nil }
    return ValueConversion.overflow("s.\(quote(column))", from: old.type, to: new.type)
  }

  func transfers(of table: String) -> [TableTransfer] {
    sources.parts.transfers.filter { $0.sourceTable == table }
  }

  func rest(_ column: String, in table: String, _ isOfObjects: Bool) -> Rest {
    guard isOfObjects else {
      let joins = sources.parts.joins.filter { join in
        join.pairs == table && join.unknown.contains { $0.column.name == column }
      }
      return part(.carried, joins.map { "\($0.table.name).\(column)" })
    }
    var places: [String] = []
    for transfer in transfers(of: table) {
      for (name, entry) in transfer.columns {
        let reads = transfer.sourceNumbers.contains { number in
          entry.columnsRead(ofRowsNumbered: number).contains(column)
            || entry.columnsPartlyRead(ofRowsNumbered: number)?.columns.contains(column) ?? false
        }
        if reads { places.append("\(transfer.table).\(name)") }
      }
    }
    return part(.carried, places)
  }

  /// Those whose code is given the column; if there are none, all that make the objects one by one.
  private func takers(of column: String, in table: String) -> [String] {
    let code = sources.account.pendingCells.filter { $0.column == column && $0.entity.table == table }.flatMap(\.takers)
    return code.isEmpty ? byRow(in: table) : Set(code).ordered()
  }

  /// Other programs may add columns to a bookkeeping table.
  func otherColumns(of table: ActualTable) throws -> [Line] {
    let own = ActualSchema.bookkeeping.first { $0.table == table.name }?.columns ?? []
    return try crossing.actual.otherColumns(of: table.name, besides: own).map { column in
      let cells = "SELECT COUNT(\(quote(column.name))) FROM \(SchemaName.rows(of: table.name))"
      return line(
        .cells, "\(table.name).\(column.name)", count: try connection.firstInteger(cells) ?? 0,
        of: [.cells(column: column.name, table: table.name)], rest: part(.carried, ["\(table.name).\(column.name)"]))
    }
  }
}

extension PhysicalColumn.Role {
  /// Content, rather than keys, entity numbers or positions of links.
  fileprivate var isCells: Bool {
    switch self {
    case .attribute, .unknown: true
    default: false
    }
  }
}
