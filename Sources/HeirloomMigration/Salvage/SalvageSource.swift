import HeirloomFormats
import HeirloomModel
import HeirloomStore

/// A damaged store, read by SQLite as long as its structure is sound and page by page otherwise.
final class SalvageSource {
  /// Its tables and what else its schema has, as far as it can be read.
  let actual: ActualSchema
  /// Whether SQLite finds nothing wrong with the structure.
  let isSound: Bool
  /// The pages.
  let image: DatabaseImage
  /// The database as SQLite reads it; `nil` if it can't even read the schema.
  let connection: Connection?
  /// Whose the pages are, in a database that is not sound.
  let census: PageCensus?
  /// The tables by their names.
  private(set) var tables: [String: SourceTable] = [:]

  /// The first pages of indexes, and of tables that are not read.
  private let otherRoots: (indexes: Set<Int>, tables: Set<Int>)

  /// Opens a copy that is one file.
  ///
  /// - Parameters:
  ///   - workspace: The folder with the copy.
  ///   - includesUncertainPages: Whether pages that may be deleted ones are read.
  /// - Throws: `FileError` or `SQLiteError`.
  init(_ workspace: SalvageWorkspace, includesUncertainPages: Bool) throws {
    image = try DatabaseImage(path: workspace.path, header: workspace.header)
    let map = try PointerMap(image, isDeclared: workspace.header.isRepaired ? nil : workspace.header.autoVacuums)
    let pages = try PageCensus(image: image, pointerMap: map, includesUncertainPages: includesUncertainPages)
    var options = Connection.Options.looking
    options.runsTriggers = false
    let opened = try? Connection(path: workspace.path, mode: .immutable, options: options)
    let read = opened.flatMap { connection in
      (try? ActualSchema(of: connection)).flatMap { schema in
        (try? connection.rows("SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema")).map { (schema, $0) }
      }
    }
    let rows: [SchemaRow]
    if let opened, let read {
      (connection, actual) = (opened, read.0)
      rows = read.1.compactMap { SchemaRow($0.map { .stored($0) }) }
    } else {
      connection = nil
      rows = try Self.schemaRows(pages)
      actual = try Self.schema(rows)
    }
    isSound =
      try !workspace.isDamaged && connection.map { try Self.isSound($0) } ?? false && Self.hasNoEmptyPage(image, pages)
    census = isSound ? nil : pages
    var roots: [String: Int] = [:]
    for row in rows where row.kind == .table && row.root > 0 { roots[row.name] = row.root }
    var found: [String: SourceTable] = [:]
    for table in actual.tables where !Self.hasNoKey(table.name, in: actual) {
      found[table.name] = SourceTable(table, root: roots[table.name])
    }
    otherRoots = (
      Set(rows.filter { $0.kind == .index }.map(\.root)), Set(roots.filter { found[$0.key] == nil }.values).union([1])
    )
    tables = found
    for table in SourceTable.bookkeeping where tables[table.name] == nil { tables[table.name] = table }
    try takeCensus()
  }

  /// Tells what the tables of the model are, so that rows are recognized whose table's beginning is lost.
  func recognize(_ schema: PhysicalSchema) throws(FileError) {
    guard census != nil else { return }
    for physical in schema.tables {
      if tables[physical.name] == nil {
        tables[physical.name] = SourceTable(physical, schema)
      } else {
        tables[physical.name]?.recognize(by: physical, schema)
      }
    }
    try takeCensus()
  }

  private func takeCensus() throws(FileError) {
    try census?.take(
      tables.values.sorted { $0.name < $1.name }, indexRoots: otherRoots.indexes, otherRoots: otherRoots.tables)
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

  /// Whether no page in use is empty: a text may go on in it, and SQLite would read zeros.
  private static func hasNoEmptyPage(_ image: DatabaseImage, _ pages: PageCensus) throws(FileError) -> Bool {
    guard image.pageCount >= 2 else { return true }
    for number in 2...image.pageCount where number != image.lockPage {
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

  /// Whether a table is kept like an index, and so not in pages of rows.
  private static func hasNoKey(_ table: String, in schema: ActualSchema) -> Bool {
    schema.object(.table, named: table)?.normalizedSQL?.uppercased().contains("WITHOUT ROWID") ?? false
  }

  private static func schemaRows(_ pages: PageCensus) throws -> [SchemaRow] {
    try pages.take([.schema])
    var rows: [SchemaRow] = []
    var names: Set<String> = []
    _ = try pages.forEachRow(of: .schema) { _, values, _ in
      guard values.count == 5, let row = SchemaRow([values[0], values[1], values[2], values[4], values[3]]),
        row.root <= pages.image.formerPageCount, names.insert(row.name).inserted
      else { return }
      rows.append(row)
    }
    return rows
  }

  /// Lets SQLite read the statements of a schema that it could not read as a whole.
  private static func schema(_ rows: [SchemaRow]) throws(SQLiteError) -> ActualSchema {
    let connection = try Connection(path: "", mode: .memory)
    // Statements of a hostile file could run for ever.
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

  /// Calls a closure with each row of a table.
  ///
  /// - Parameters:
  ///   - name: The table.
  ///   - body: What is done with a row: its key, its values in the order of the table's columns, and whether it was found apart.
  /// - Returns: How many rows of readable pages can't be read.
  /// - Throws: SQLite's error, `FileError`, or what the body throws.
  @discardableResult
  func forEachRow(of name: String, _ body: (Int64, [FoundValue], Bool) throws -> Void) throws -> Int {
    guard let table = tables[name] else { return 0 }
    if let census { return try census.forEachRow(of: table, body) }
    guard let connection, actual.table(named: name) != nil else { return 0 }
    let columns = table.columns.map { "t.\(quote($0))" }.joined(separator: ", ")
    let statement = try connection.prepare(
      "SELECT t.rowid, \(columns) FROM \(quote(name)) AS t NOT INDEXED ORDER BY t.rowid")
    while try statement.step() {
      var values: [FoundValue] = []
      values.reserveCapacity(table.columns.count)
      for column in table.columns.indices { values.append(Self.value(of: statement, at: column + 1)) }
      try body(statement.integer(at: 0), values, false)
    }
    return 0
  }

  private static func value(of statement: borrowing Statement, at column: Int) -> FoundValue {
    let value = statement.value(at: column)
    // SQLite doesn't look at what it takes for text.
    guard case .text(let text) = value, text.unicodeScalars.contains("\u{FFFD}"),
      let bytes = statement.blob(at: column),
      String(validating: bytes, as: UTF8.self) == nil
    else { return .stored(value) }
    return .garbled(bytes)
  }

  /// Returns the rows of a small table.
  private func rows(of name: String, limit: Int) -> [[SQLiteValue?]] {
    var rows: [[SQLiteValue?]] = []
    _ = try? forEachRow(of: name) { _, values, _ in
      if rows.count < limit { rows.append(values.map(\.stored)) }
    }
    return rows
  }

  /// What the store says of itself; `nil` if that can't be read.
  func metadata(path: String) -> StoreMetadata? {
    for row in rows(of: PhysicalName.metadataTable, limit: 2) where row.count >= 3 {
      guard let identifier = row[1]?.text, !identifier.isEmpty, let list = row[2]?.blob else { continue }
      if let metadata = try? StoreMetadata(propertyList: list, identifier: identifier, path: path) { return metadata }
    }
    return nil
  }

  /// The store's own copy of its model; `nil` if it can't be read.
  func cachedModel() -> ManagedObjectModel? {
    for row in rows(of: PhysicalName.modelCacheTable, limit: 4) {
      guard let content = row.first.flatMap({ $0 })?.blob else { continue }
      if let model = try? ModelArchiveReader.readCache(content).model { return model }
    }
    return nil
  }

  /// A row of the table of entities.
  struct EntityRow {
    let number: Int64
    let name: String
    let parent: Int64?
    let maximum: Int64?
  }

  /// The rows of the table of entities that can be read.
  func entityRows() -> [EntityRow] {
    rows(of: PhysicalName.primaryKeyTable, limit: 20_000).compactMap { row in
      guard row.count >= 4, let number = row[0]?.integer, let name = row[1]?.text else { return nil }
      return EntityRow(number: number, name: name, parent: row[2]?.integer, maximum: row[3]?.integer)
    }
  }

  /// Calls a closure with the two ends of each link that the indexes of a table of links hold, as far as they can be read.
  ///
  /// - Parameters:
  ///   - name: The table.
  ///   - first: The column with one end.
  ///   - second: The column with the other end.
  ///   - body: What is done; a link may be told several times.
  /// - Throws: What the body throws.
  func forEachIndexedLink(
    of name: String, _ first: String, _ second: String, _ body: (Int64, Int64) throws -> Void
  ) throws {
    guard let connection else { return }
    for index in actual.objects where index.kind == .index && index.table == name {
      // Both columns are in the index, so that SQLite doesn't look at the table.
      let query = "SELECT \(quote(first)), \(quote(second)) FROM \(quote(name)) INDEXED BY \(quote(index.name))"
      guard let statement = try? connection.prepare(query) else { continue }
      while (try? statement.step()) == true {
        guard statement.storageClass(at: 0) == .integer, statement.storageClass(at: 1) == .integer else { continue }
        try body(statement.integer(at: 0), statement.integer(at: 1))
      }
    }
  }

  /// The keys of a table's rows that its indexes name, as far as they can be read.
  ///
  /// - Parameters:
  ///   - name: The table.
  ///   - body: Told of each key; a key may be told several times.
  /// - Throws: What the body throws.
  func forEachIndexedKey(of name: String, _ body: (Int64) throws -> Void) throws {
    guard let connection else { return }
    for index in actual.objects where index.kind == .index && index.table == name {
      guard let sql = index.sql, !sql.uppercased().contains(" WHERE ") else { continue }
      // Unordered, so that a damaged index is read up to where it is damaged.
      let query = "SELECT rowid FROM \(quote(name)) INDEXED BY \(quote(index.name))"
      guard let statement = try? connection.prepare(query) else { continue }
      while (try? statement.step()) == true { try body(statement.integer(at: 0)) }
    }
  }
}
