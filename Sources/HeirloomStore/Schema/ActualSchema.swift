/// The tables, indexes, triggers and views that a database file has.
package struct ActualSchema: Equatable, Sendable {
  /// In the order in which they were created.
  package let objects: [SchemaObject]
  /// Virtual ones included.
  package let tables: [ActualTable]
  /// As the file lists it; `pending(under:)` returns the valid part.
  let listed: DeferredMigration

  private let tablePositions: [String: Int]
  private let objectPositions: [SchemaObject.Kind: [String: Int]]

  package init(of connection: Connection, database: String = "main") throws(SQLiteError) {
    var objects: [SchemaObject] = []
    var virtual: Set<String> = []
    var pages: Set<Int64> = []
    var pageless = 0
    let rows = try connection.prepare(
      "SELECT type, name, tbl_name, sql, rootpage FROM \(quote(database)).sqlite_schema ORDER BY rowid")
    try rows.forEachRow { row throws(SQLiteError) in
      guard let kind = SchemaObject.Kind(rawValue: row.text(at: 0) ?? "") else { return }
      let object = SchemaObject(
        kind: kind, name: row.text(at: 1) ?? "", table: row.text(at: 2) ?? "", sql: row.text(at: 3))
      // Only a table without rows of its own has no root page. The statement alone is no evidence: it may be forged.
      let page = row.integer(at: 4)
      if kind == .table, page <= 0 || object.isVirtualTable { virtual.insert(object.name) }
      if kind == .view || kind == .trigger {
        pageless += 1
        guard pageless <= InspectionBounds.pagelessObjects else {
          throw SQLiteError.expired("its schema has more than \(InspectionBounds.pagelessObjects) views and triggers")
        }
      }
      // Otherwise many tables could share the pages of a small file, and each would be as large as all of it.
      guard page <= 0 || pages.insert(page).inserted else { throw SQLiteError.sharedPage(of: object.name) }
      objects.append(object)
    }
    var tables: [ActualTable] = []
    let shadows = ShadowNames(objects.filter { virtual.contains($0.name) })
    let columns = try connection.prepare(Self.columnQuery)
    for object in objects where object.kind == .table {
      let isVirtual = virtual.contains(object.name)
      var found: [ActualColumn] = []
      // Reading a virtual table's columns would run its module, or fail without it, and they aren't needed.
      if !isVirtual {
        try columns.bind(object.name, at: 1)
        try columns.bind(database, at: 2)
        try columns.forEachRow { row throws(SQLiteError) in found.append(ActualColumn(row)) }
      }
      tables.append(
        ActualTable(
          name: object.name, columns: found, isVirtual: isVirtual,
          isShadow: !isVirtual && shadows.contains(object.name)))
    }
    let metadata = tables.first { $0.name == PhysicalName.metadataTable }
    self.init(
      objects: objects, tables: tables,
      listed: metadata?.column(named: PhysicalName.propertyList) == nil
        ? DeferredMigration() : try DeferredMigration.listed(in: connection, database: database))
  }

  private static let columnQuery =
    "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1, ?2) ORDER BY cid"

  package static func columns(of table: String, _ connection: Connection) throws(SQLiteError) -> [ActualColumn] {
    let columns = try connection.prepare(columnQuery)
    try columns.bind([.text(table), .text("main")])
    var found: [ActualColumn] = []
    try columns.forEachRow { row throws(SQLiteError) in found.append(ActualColumn(row)) }
    return found
  }

  package init(
    objects: [SchemaObject], tables: [ActualTable], listed: DeferredMigration = DeferredMigration()
  ) {
    self.objects = objects
    self.tables = tables
    self.listed = listed
    tablePositions = Dictionary(zip(tables.map(\.name), 0...), uniquingKeysWith: { first, _ in first })
    var positions: [SchemaObject.Kind: [String: Int]] = [:]
    for (position, object) in objects.enumerated() where positions[object.kind]?[object.name] == nil {
      positions[object.kind, default: [:]][object.name] = position
    }
    objectPositions = positions
  }

  package func table(named name: String) -> ActualTable? {
    tablePositions[name].map { tables[$0] }
  }

  package func object(_ kind: SchemaObject.Kind, named name: String) -> SchemaObject? {
    objectPositions[kind]?[name].map { objects[$0] }
  }
}

package struct SchemaObject: Equatable, Sendable {
  package let kind: Kind
  package let name: String
  package let table: String
  /// `nil` for an index that a constraint of its table implies.
  package let sql: String?

  package enum Kind: String, Hashable, Sendable {
    /// Perhaps virtual.
    case table
    case index
    case trigger
    case view
  }

  package init(kind: Kind, name: String, table: String, sql: String?) {
    self.kind = kind
    self.name = name
    self.table = table
    self.sql = sql
  }

  package var normalizedSQL: String? { sql.map(normalizedStatement) }
}

package struct ActualTable: Equatable, Sendable {
  package let name: String
  /// In physical order; none are listed for a virtual table.
  package let columns: [ActualColumn]
  package let isVirtual: Bool
  package let isShadow: Bool

  package init(name: String, columns: [ActualColumn], isVirtual: Bool = false, isShadow: Bool = false) {
    self.name = name
    self.columns = columns
    self.isVirtual = isVirtual
    self.isShadow = isShadow
  }

  /// Computed columns, which store no value, don't count.
  package func column(named name: String) -> ActualColumn? {
    columns.first { $0.name == name && !$0.isGenerated }
  }
}

/// Each is hidden by a column of that name (https://www.sqlite.org/rowidtable.html).
private let rowNumberNames = ["rowid", "_rowid_", "oid"]

extension Connection {
  /// `nil` for a table that hides all names, or that was created `WITHOUT ROWID`.
  package func rowNumber(of table: String, _ columns: [ActualColumn], in database: String = "main") -> String? {
    let names = Set(columns.map { $0.name.lowercased() })
    guard let name = rowNumberNames.first(where: { !names.contains($0) }) else {
      return ActualColumn.rowNumber(in: columns).map { quote($0.name) }
    }
    // A table created `WITHOUT ROWID` has no such column, as SQLite finds when it prepares the query.
    return (try? prepare("SELECT \(name) FROM \(quote(database)).\(quote(table))")) == nil ? nil : name
  }
}

package struct ActualColumn: Equatable, Sendable {
  package let name: String
  package let declaredType: String
  package let isNotNull: Bool
  /// Counted from 1; 0 if the column is not part of it.
  package let primaryKeyPosition: Int
  /// Hidden or computed.
  package let isGenerated: Bool

  /// The only primary-key column, declared as `INTEGER`, is the number of each row.
  package static func rowNumber(in columns: [ActualColumn]) -> ActualColumn? {
    let keys = columns.filter { $0.primaryKeyPosition > 0 }
    return keys.count == 1 && keys[0].declaredType.uppercased() == "INTEGER" ? keys[0] : nil
  }

  fileprivate init(_ row: borrowing Statement) {
    self.init(
      name: row.text(at: 0) ?? "", declaredType: row.text(at: 1) ?? "", isNotNull: row.integer(at: 2) != 0,
      primaryKeyPosition: Int(clamping: row.integer(at: 3)), isGenerated: row.integer(at: 4) != 0)
  }

  package init(
    name: String, declaredType: String, isNotNull: Bool = false, primaryKeyPosition: Int = 0, isGenerated: Bool = false
  ) {
    self.name = name
    self.declaredType = declaredType
    self.isNotNull = isNotNull
    self.primaryKeyPosition = primaryKeyPosition
    self.isGenerated = isGenerated
  }
}

/// Without double quotes and with single spaces, which Core Data's versions write differently.
package func normalizedStatement(_ sql: String) -> String {
  guard sql.utf8.allSatisfy({ $0 < 0x80 }) else {
    return sql.split { $0.isWhitespace }.joined(separator: " ").filter { $0 != "\"" }
  }
  // Byte by byte: nearly all statements are ASCII, and each migration compares all those of a store several times.
  var bytes: [UInt8] = []
  bytes.reserveCapacity(sql.utf8.count)
  var (hasBegun, hasSpace) = (false, false)
  for byte in sql.utf8 {
    if byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) {
      hasSpace = hasBegun
      continue
    }
    if hasSpace { bytes.append(UInt8(ascii: " ")) }
    (hasBegun, hasSpace) = (true, false)
    if byte != UInt8(ascii: "\"") { bytes.append(byte) }
  }
  return String(decoding: bytes, as: UTF8.self)
}
