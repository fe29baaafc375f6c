import HeirloomFormats
import HeirloomModel
import HeirloomStore
import HeirloomVault

/// A damaged store, read by SQLite if its structure is sound, and page by page otherwise.
final class SalvageSource {
  /// As far as it can be read.
  let actual: ActualSchema
  let isSound: Bool
  let image: DatabaseImage
  /// `nil` if SQLite can't read even the schema.
  let connection: Connection?
  /// `nil` if the database is sound.
  let inspection: PageInspection?
  /// By their names in the model.
  private(set) var tables: [String: SourceTable] = [:]

  /// The file's names of tables that the model has under another name.
  private(set) var renamedTables: Set<String> = []

  /// The names that couldn't be read unchanged, as phrases.
  private let findings: [String]
  /// The root pages of tables, by name in the file.
  private let roots: [String: Int]

  private let indexRoots: Set<Int>

  /// `workspace` must be prepared; `includesUncertainPages` reads rows that may be deleted ones.
  init(_ workspace: SalvageWorkspace, includesUncertainPages: Bool) throws {
    image = try DatabaseImage(path: workspace.path, header: workspace.header, origin: workspace.origin)
    let map = try PointerMap(image, isDeclared: workspace.header.isRepaired ? nil : workspace.header.autoVacuums)
    let pages = try PageInspection(image: image, pointerMap: map, includesUncertainPages: includesUncertainPages)
    var options = Connection.Options.inspecting
    options.runsTriggers = false
    let opened = try? Connection(path: workspace.path, mode: .immutable, options: options)
    // A view in place of a table could run endlessly.
    var steps = 0
    try opened?.interrupt(every: 10_000) {
      steps += 1
      return steps > 20_000
    }
    let read = opened.flatMap { connection in
      (try? ActualSchema(of: connection)).flatMap { schema in
        (try? connection.rows("SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema")).map { (schema, $0) }
      }
    }
    try opened?.removeInterruption()
    let rows: [SchemaRow]
    if let opened, let read {
      (connection, actual) = (opened, read.0)
      rows = read.1.compactMap { SchemaRow($0.map { .stored($0) }) }
    } else {
      connection = nil
      rows = try Self.schemaRows(pages)
      actual = try Self.schema(rows)
    }
    // SQLite's integrity check would evaluate expressions in the file's schema.
    let mayAsk = !workspace.isDamaged && actual.costlyTables.isEmpty
    isSound = try mayAsk && connection.map { try Self.isSound($0) } ?? false
    // SQLite can't be passed a name with invalid bytes.
    let hasNames = rows.allSatisfy {
      ($0.name + $0.table + ($0.sql ?? "")).unicodeScalars.allSatisfy { $0 != "\u{FFFD}" }
    }
    pages.isEveryPageLedTo = isSound && hasNames
    inspection = try isSound && hasNames && Self.hasNoEmptyPage(image, pages) ? nil : pages
    var (roots, findings): ([String: Int], [String]) = ([:], [])
    for row in rows where row.kind == .table && row.root > 0 { roots[row.name] = row.root }
    var found: [String: SourceTable] = [:]
    for table in actual.tables where Self.hasRows(table.name, in: actual) {
      found[table.name] = SourceTable(table, root: roots[table.name])
      // SQLite uses the name in a table's statement.
      guard table.columns.isEmpty, let connection, let name = Self.statedName(table.name, in: actual) else { continue }
      let stated = ActualTable(name: name, columns: try ActualSchema.columns(of: name, connection))
      guard let renamed = SourceTable(stated, root: roots[table.name], modelName: table.name) else { continue }
      found[table.name] = renamed
      findings.append("the name of the table \(table.name), which its statement calls \(name)")
    }
    indexRoots = Set(rows.filter { $0.kind == .index }.map(\.root))
    (self.roots, self.findings) = (roots, findings)
    tables = found
    for table in SourceTable.bookkeeping where tables[table.name] == nil { tables[table.name] = table }
    try takeCensus()
  }

  /// Adds the model's tables, which recognize rows even if a table's root page or name is lost.
  ///
  /// `numbers` has the model's entity numbers by the store's, `nil` if they are equal. `isOwn` is
  /// true if the model made the store, as far as is known. Returns a phrase for each name that
  /// couldn't be read unchanged.
  func recognize(
    _ schema: PhysicalSchema, numbers: [Int64: Int64]?, isOwn: Bool
  ) throws(FileError) -> [String] {
    var told = findings
    let lost = schema.tables.filter { tables[$0.name] == nil }
    let foreign = actual.ownership(under: schema).filter { $0.object.kind == .table && $0.ownership == .foreign }
    for (name, found) in SourceTable.renamed(lost, foreign.compactMap { tables[$0.object.name] }) {
      guard let table = actual.table(named: found), tables[found] != nil,
        let renamed = SourceTable(table, root: roots[found], modelName: name)
      else { continue }
      tables[found] = nil
      tables[name] = renamed
      renamedTables.insert(found)
      told.append("the name of the table \(found), whose rows were assigned to \(name)")
    }
    let pending = actual.pending(under: schema).columns
    for physical in schema.tables {
      guard tables[physical.name] != nil else {
        guard inspection != nil else { continue }
        tables[physical.name] = SourceTable(physical, schema, numbers: numbers)
        if roots[physical.name] != nil {
          told.append("the statement of the table \(physical.name), whose columns were taken in the model's order")
        }
        continue
      }
      let known = Set(pending[physical.name] ?? [])
      told += tables[physical.name]?.findColumns(of: physical, besides: known, isOwn: isOwn) ?? []
      tables[physical.name]?.recognize(by: physical, schema, numbers: numbers)
    }
    try takeCensus()
    return told
  }

  private func takeCensus() throws(FileError) {
    // A table of the model is read even if its statement is unreadable.
    let others = roots.filter { tables[$0.key] == nil && !renamedTables.contains($0.key) }
    try inspection?.take(
      tables.values.sorted { $0.name < $1.name }, indexRoots: indexRoots, otherRoots: Set(others.values).union([1]))
  }

  // MARK: Soundness

  private static func isSound(_ connection: Connection) throws -> Bool {
    do throws(SQLiteError) {
      return try connection.rows("PRAGMA quick_check(1)").first?.first == .text("ok")
    } catch {
      guard error.isAboutContent || error.isInputOutput else { throw error }
      return false
    }
  }

  /// An empty page in use could be the rest of a text, which SQLite would read as zeros.
  private static func hasNoEmptyPage(_ image: DatabaseImage, _ pages: PageInspection) throws(FileError) -> Bool {
    guard image.pageCount >= 2 else { return true }
    for number in 2...image.pageCount where number != image.layout.lockPage {
      guard let bytes = try image.page(number) else { return false }
      guard bytes.allSatisfy({ $0 == 0 }), !(pages.pointerMap?.contains(number) ?? false) else { continue }
      if try pages.isInUse(number) == true { return false }
    }
    return true
  }

  // MARK: The schema

  private struct SchemaRow {
    let kind: SchemaObject.Kind
    let name: String
    let table: String
    let root: Int
    let sql: String?

    init?(_ values: [FoundValue]) {
      guard values.count == 5, let kind = values[0].stored?.text.flatMap({ SchemaObject.Kind(rawValue: $0) }),
        let name = values[1].stored?.text, let table = values[2].stored?.text
      else { return nil }
      (self.kind, self.name, self.table) = (kind, name, table)
      sql = values[3].stored?.text
      root = values[4].stored?.integer.flatMap { Int(exactly: $0) } ?? 0
    }
  }

  /// True for an ordinary rowid table.
  private static func hasRows(_ table: String, in schema: ActualSchema) -> Bool {
    guard let sql = schema.object(.table, named: table)?.normalizedSQL?.uppercased() else { return false }
    return sql.hasPrefix("CREATE TABLE ") && !sql.contains("WITHOUT ROWID")
  }

  /// The name in the table's own statement; `nil` if it is the same.
  private static func statedName(_ table: String, in schema: ActualSchema) -> String? {
    let words = schema.object(.table, named: table)?.normalizedSQL?.split { $0 == " " || $0 == "(" } ?? []
    guard words.count > 2, words[2] != table else { return nil }
    return String(words[2])
  }

  private static func schemaRows(_ pages: PageInspection) throws -> [SchemaRow] {
    try pages.take([.schema])
    var rows: [SchemaRow] = []
    var (names, roots): (Set<String>, Set<Int>) = ([], [])
    _ = try pages.forEachRow(of: .schema) { _, values, _ in
      guard values.count == 5, let row = SchemaRow([values[0], values[1], values[2], values[4], values[3]]),
        row.root <= pages.image.formerPageCount, names.insert(row.name).inserted,
        // Damaged rows may claim the same page any number of times.
        row.root <= 0 || roots.insert(row.root).inserted
      else { return }
      rows.append(row)
    }
    return rows
  }

  /// Parses the statements of a schema that SQLite couldn't read as a whole.
  private static func schema(_ rows: [SchemaRow]) throws(SQLiteError) -> ActualSchema {
    let connection = try Connection(path: "", mode: .memory)
    // Statements of a hostile file could run endlessly.
    var steps = 0
    try connection.interrupt(every: 10_000) {
      steps += 1
      return steps > 1000
    }
    try connection.forbidAttaching()
    let objects = rows.map { SchemaObject(kind: $0.kind, name: $0.name, table: $0.table, sql: $0.sql) }
    for object in objects where object.kind == .table { try? connection.make(object) }
    let made = try ActualSchema(of: connection)
    return ActualSchema(objects: objects, tables: made.tables)
  }

  // MARK: Rows

  /// True if the file has a table, under any name.
  func holds(_ name: String) -> Bool {
    tables[name]?.root != nil || actual.table(named: name) != nil
  }

  /// The most entries of an index; damaged pages may form a cycle.
  private var entryLimit: Int { image.pageCount * image.usableSize / 4 }

  /// Returns the number of unreadable rows in readable pages; `body` gets values by column.
  @discardableResult
  func forEachRow(
    of name: String, _ body: (Int64, [FoundValue], PageInspection.Place) throws -> Void
  ) throws -> Int {
    guard let table = tables[name] else { return 0 }
    if let inspection { return try inspection.forEachRow(of: table, body) }
    guard let connection, holds(name) else { return 0 }
    let columns = table.columns.map { "t.\(quote($0))" }.joined(separator: ", ")
    let number = rowNumber(of: table, connection).map { "t.\($0)" } ?? "NULL"
    let statement = try connection.prepare(
      "SELECT \(number), \(columns) FROM \(quote(table.fileName)) AS t NOT INDEXED ORDER BY 1")
    while try statement.step() {
      var values: [FoundValue] = []
      values.reserveCapacity(table.columns.count)
      for column in table.columns.indices { values.append(Self.value(of: statement, at: column + 1)) }
      try body(statement.integer(at: 0), values, .tree)
    }
    return 0
  }

  private func rowNumber(of table: SourceTable, _ connection: Connection) -> String? {
    connection.rowNumber(of: table.fileName, actual.table(named: table.fileName)?.columns ?? [])
  }

  private static func value(of statement: borrowing Statement, at column: Int) -> FoundValue {
    let value = statement.value(at: column)
    // SQLite doesn't validate the bytes of a text.
    guard case .text(let text) = value, text.unicodeScalars.contains("\u{FFFD}"),
      let bytes = statement.blob(at: column),
      String(wellFormedUTF8: bytes) == nil
    else { return .stored(value) }
    return .garbled(bytes)
  }

  private func rows(of name: String, limit: Int) -> [[SQLiteValue?]] {
    var rows: [[SQLiteValue?]] = []
    _ = try? forEachRow(of: name) { _, values, _ in
      if rows.count < limit { rows.append(values.map(\.stored)) }
    }
    return rows
  }

  func metadata(path: String) -> StoreMetadata? {
    for row in rows(of: PhysicalName.metadataTable, limit: 2) where row.count >= 3 {
      guard let identifier = row[1]?.text, !identifier.isEmpty, let list = row[2]?.blob else { continue }
      if let metadata = try? StoreMetadata(propertyList: list, identifier: identifier, path: path) { return metadata }
    }
    return nil
  }

  func cachedModel() -> ManagedObjectModel? {
    for row in rows(of: PhysicalName.modelCacheTable, limit: 4) {
      guard let content = row.first.flatMap({ $0 })?.blob else { continue }
      if let model = try? ModelArchiveReader.readCache(content).model { return model }
    }
    return nil
  }

  struct EntityRow {
    let number: Int64
    let name: String
    let parent: Int64?
    let maximum: Int64?
  }

  func entityRows() -> [EntityRow] {
    rows(of: PhysicalName.primaryKeyTable, limit: 20_000).compactMap { row in
      guard row.count >= 4, let number = row[0]?.integer, let name = row[1]?.text else { return nil }
      return EntityRow(number: number, name: name, parent: row[2]?.integer, maximum: row[3]?.integer)
    }
  }

  /// Goes as far as the indexes can be read; a link may be reported several times.
  func forEachIndexedLink(
    of name: String, _ first: String, _ second: String, _ body: (Int64, Int64) throws -> Void
  ) throws {
    guard let connection, let table = tables[name] else { return }
    let columns = [first, second].map { quote(table.columnNames[$0] ?? $0) }.joined(separator: ", ")
    for index in actual.objects where index.kind == .index && [name, table.fileName].contains(index.table) {
      // The index covers both columns, so SQLite doesn't read the table.
      let query = "SELECT \(columns) FROM \(quote(table.fileName)) INDEXED BY \(quote(index.name))"
      guard let statement = try? connection.prepare(query) else { continue }
      var count = 0
      while count < entryLimit, (try? statement.step()) == true {
        count += 1
        guard statement.storageClass(at: 0) == .integer, statement.storageClass(at: 1) == .integer else { continue }
        try body(statement.integer(at: 0), statement.integer(at: 1))
      }
    }
  }

  /// Goes as far as the indexes can be read; a key may be reported several times.
  func forEachIndexedKey(of name: String, _ body: (Int64) throws -> Void) throws {
    guard let connection, let table = tables[name], let number = rowNumber(of: table, connection) else { return }
    for index in actual.objects where index.kind == .index && [name, table.fileName].contains(index.table) {
      guard let sql = index.sql, !sql.uppercased().contains(" WHERE ") else { continue }
      // The query has no order, so a damaged index is read up to the damage.
      let query = "SELECT \(number) FROM \(quote(table.fileName)) INDEXED BY \(quote(index.name))"
      guard let statement = try? connection.prepare(query) else { continue }
      var count = 0
      while count < entryLimit, (try? statement.step()) == true {
        count += 1
        try body(statement.integer(at: 0))
      }
    }
  }
}
