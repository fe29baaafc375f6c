import HeirloomModel
import HeirloomStore

/// Objects of a store outside the model, which are copied unchanged.
///
/// They are the app's own, and those of persistent history and of CloudKit mirroring.
struct ForeignObjects {
  private let actual: ActualSchema
  private let travelling: [SchemaObject]
  /// Indexes and triggers whose table or column is gone.
  private let leftOut: Set<String>
  /// The app's objects whose statements name a table that is dropped or renamed.
  private let namedTables: [(object: SchemaObject, table: String)]
  /// The app's views and triggers that name a column, and its table, that is dropped or renamed.
  private let namedColumns: [(object: SchemaObject, column: String)]
  private let computedColumns: [String]
  /// SQLite's messages, by the name of a table or index that it can't create.
  private let refusals: [String: String]

  init(_ crossing: Crossing, connection: Connection) throws {
    let (source, destination) = (crossing.source, crossing.destination)
    actual = crossing.actual
    let modelTables = Set(destination.tables.map(\.name))
    // An R-tree of the model is rebuilt with its tables.
    let trees = Set(source.indexes.filter { $0.ordering == nil }.map(\.name))
    travelling = actual.ownership(under: source).compactMap { object, ownership in
      switch ownership {
      case .shadow(let owner): trees.contains(owner) ? nil : object
      case .history, .cloudKit, .foreign: object
      case .model, .bookkeeping, .leftover, .pending, .system: nil
      }
    }
    // Tables, views and indexes share one namespace, in which SQLite ignores case.
    let taken = Set(
      (destination.tables.map(\.name) + ActualSchema.bookkeepingTables + destination.indexes.map(\.name))
        .map { $0.lowercased() })
    for object in travelling where object.kind != .trigger {
      guard !taken.contains(object.name.lowercased()) else {
        throw MigrationError.storeContradictsModel(
          reason: "the store has \(object.kind == .index ? "an" : "a") \(object.kind.rawValue) \"\(object.name)\""
            + " outside its model, and the destination needs that name")
      }
    }
    for object in travelling {
      guard let function = object.costlyFunction else { continue }
      throw MigrationError.storeContradictsModel(
        reason: "the \(object.kind.rawValue) \"\(object.name)\", which is outside its model, calls"
          + " \(function)(), which can take unlimited time and memory and is not run")
    }
    let candidateTables = modelTables.union(travelling.filter { $0.kind == .table }.map(\.name))
    var leftOut: Set<String> = []
    for object in travelling where object.kind == .index || object.kind == .trigger {
      let isOnView = actual.object(.view, named: object.table) != nil
      if !candidateTables.contains(object.table), !isOnView { leftOut.insert(object.name) }
      // Such an index can't be created, and such a trigger would keep objects from being saved.
      let gone = actual.table(named: object.table)?.columns.filter { column in
        destination.table(named: object.table)?.column(named: column.name) == nil
      }
      if modelTables.contains(object.table), gone?.contains(where: { object.speaks(ofColumn: $0.name) }) == true {
        leftOut.insert(object.name)
      }
      guard object.kind == .index, let table = destination.table(named: object.table) else { continue }
      // SQLite knows the columns by their real names, however the statement spells them.
      let columns = try connection.rows(
        "SELECT name FROM pragma_index_info(?1, ?2)", [.text(object.name), .text(SchemaName.store)])
      // A row's key and an expression have no name here.
      if columns.compactMap(\.first?.text).contains(where: { table.column(named: $0) == nil }) {
        leftOut.insert(object.name)
      }
    }
    self.leftOut = leftOut
    // SQLite ignores the case of names.
    let staying = Set(modelTables.map { $0.lowercased() })
    let gone = Set(source.tables.map { $0.name.lowercased() }).subtracting(staying)
    namedTables = travelling.filter { $0.kind != .index && !leftOut.contains($0.name) }.compactMap { object in
      object.word(among: gone).map { (object, $0) }
    }
    namedColumns = Self.namedColumns(
      travelling.filter { !leftOut.contains($0.name) && $0.kind != .index }, actual, crossing)
    computedColumns = source.tables.flatMap { table in
      (crossing.actual.table(named: table.name)?.columns ?? []).filter(\.isGenerated)
        .map { "\(table.name).\($0.name)" }
    }
    refusals = Self.refusals(of: travelling.filter { !leftOut.contains($0.name) }, actual, connection)
  }

  /// A view that reads another broken view is found by that view's name.
  private static func namedColumns(
    _ objects: [SchemaObject], _ actual: ActualSchema, _ crossing: Crossing
  ) -> [(object: SchemaObject, column: String)] {
    var gone: [(table: String, columns: [String: String])] = crossing.source.tables.compactMap { table in
      guard let next = crossing.destination.table(named: table.name) else { return nil }
      let there = Set(next.columns.map { $0.name.lowercased() })
      let columns = (actual.table(named: table.name)?.columns ?? []).filter { !there.contains($0.name.lowercased()) }
      guard !columns.isEmpty else { return nil }
      let names = columns.map { ($0.name.lowercased(), "\(table.name).\($0.name)") }
      return (table.name.lowercased(), Dictionary(names, uniquingKeysWith: { first, _ in first }))
    }
    // The name may belong to a column of another table.
    func tables(with column: String, besides table: String) -> Set<String> {
      let others = actual.tables.filter { crossing.source.table(named: $0.name) == nil }
      let names =
        others.filter { $0.columns.contains { $0.name.lowercased() == column } }.map(\.name)
        + crossing.destination.tables.filter { $0.columns.contains { $0.name.lowercased() == column } }.map(\.name)
      return Set(names.map { $0.lowercased() }).subtracting([table])
    }
    var found: [(object: SchemaObject, column: String)] = []
    var rest = objects.filter { $0.kind == .view || $0.kind == .trigger }
    while !gone.isEmpty {
      var views: [(table: String, columns: [String: String])] = []
      rest.removeAll { object in
        for (table, columns) in gone where object.table.lowercased() == table || object.word(among: [table]) != nil {
          let named = columns.keys.ordered().first { name in
            object.word(among: [name]) != nil && object.word(among: tables(with: name, besides: table)) == nil
          }
          guard let column = named.flatMap({ columns[$0] }) else { continue }
          found.append((object, column))
          let name = object.name.lowercased()
          if object.kind == .view { views.append((name, [name: column])) }
          return true
        }
        return false
      }
      gone = views
    }
    return found
  }

  /// The statements are prepared and never run.
  private static func refusals(
    of objects: [SchemaObject], _ actual: ActualSchema, _ connection: Connection
  ) -> [String: String] {
    var refusals: [String: String] = [:]
    // A read-only connection skips the checks of a new table.
    let empty = objects.contains { $0.kind == .table } ? try? Connection(path: "", mode: .memory) : nil
    for object in objects {
      guard let sql = object.sql, actual.table(named: object.name)?.isVirtual != true else { continue }
      do throws(SQLiteError) {
        switch object.kind {
        case .table: _ = try empty?.prepare(sql)
        case .index: _ = try connection.prepare("REINDEX \(quote(SchemaName.store)).\(quote(object.name))")
        case .trigger, .view: break
        }
      } catch {
        refusals[object.name] = error.message
      }
    }
    return refusals
  }

  var warnings: [String] {
    leftOut.ordered().map {
      PlainText.line("the app's index or trigger \"\($0)\" is left out: its table or a column of it no longer exists")
    }
      + namedTables.map { object, table in
        PlainText.line(
          "the app's \(object.kind.rawValue) \"\(object.name)\" refers to the table \"\(table)\", which is dropped or renamed:"
            + " it is copied unchanged, and using it fails until the app creates it again")
      }
      + namedColumns.map { object, column in
        PlainText.line(
          "the app's \(object.kind.rawValue) \"\(object.name)\" refers to the column \(column), which is dropped or renamed:"
            + " it is copied unchanged; if it reads that column, using it fails, and so does every later ALTER TABLE that"
            + " renames or drops something, until the app creates it again")
      }
      + computedColumns.map { column in
        PlainText.line(
          "the app's computed column \(column) is left out, because the table is rebuilt from the model; SQLite computes"
            + " its values from other columns, so none is lost, and the app can add it again")
      }
  }

  /// Throws for steps that SQLite would refuse: the app's functions and collations aren't here.
  func check(_ steps: [MigrationStep]) throws(MigrationError) {
    for step in steps where step.kind == .copyObject {
      guard let refusal = refusals[step.subject] else { continue }
      throw .storeContradictsModel(
        reason:
          "\"\(step.subject)\", which is outside its model, needs a function or collation that only the app registers with"
          + " SQLite: \(refusal); drop it before the migration and let the app create it again")
    }
  }

  var carriedNames: [String] { travelling.filter { $0.sql != nil && !leftOut.contains($0.name) }.map(\.name) }

  private var ordinaryTables: [ActualTable] {
    let names = Set(travelling.filter { $0.kind == .table }.map(\.name))
    return actual.tables.filter { names.contains($0.name) && !$0.isVirtual }
  }

  var tableSteps: [MigrationStep] {
    ordinaryTables.compactMap { table in
      guard let sql = actual.object(.table, named: table.name)?.sql else { return nil }
      return MigrationStep(
        kind: .copyObject, subject: table.name, summary: "Make the table \(table.name), which is outside the model",
        statements: [PlannedStatement(statementInCandidate(sql))])
    }
  }

  func rowSteps(
    _ framework: FrameworkRows, usesIndexes: Bool, counting connection: Connection
  ) throws(SQLiteError) -> [MigrationStep] {
    var steps: [MigrationStep] = []
    for table in ordinaryTables {
      let name = quote(table.name)
      var columns = table.columns.filter { !$0.isGenerated }.map { quote($0.name) }
      // Other rows may refer to rows of the app's tables by their hidden key.
      if let rowID = hiddenKey(of: table, connection: connection) { columns.insert(rowID, at: 0) }
      let list = columns.joined(separator: ", ")
      let rewrite = framework.rewrites[table.name]
      let values = columns.map { column in
        rewrite?.expressions.first { quote($0.key) == column }?.value ?? "s.\(column)"
      }
      let clause = rewrite?.clause ?? ""
      let rows =
        try clause.isEmpty
        ? connection.rowCount(of: SchemaName.rows(of: table.name, usesIndexes: usesIndexes))
        : connection.firstInteger("SELECT COUNT(*) FROM \(SchemaName.rows(of: table.name, as: "s"))\(clause)") ?? 0
      steps.append(
        MigrationStep(
          kind: .copyObject, subject: table.name,
          summary: "Copy \(table.name), which is outside the model" + (rewrite.map { ": \($0.summary)" } ?? ""),
          rows: rows,
          statements: [
            PlannedStatement(
              // All columns are named: generated ones can't be written, and a hidden key must be.
              "INSERT INTO \(quote(SchemaName.candidate)).\(name) (\(list)) SELECT \(values.joined(separator: ", "))"
                + " FROM \(SchemaName.rows(of: table.name, as: "s"))\(clause)", expectedRows: rows)
          ]))
    }
    // SQLite keeps `sqlite_sequence` after its last table is dropped, and creates it only with one.
    let counts = ordinaryTables.contains {
      actual.object(.table, named: $0.name)?.sql?.uppercased().contains("AUTOINCREMENT") ?? false
    }
    if counts, actual.tables.contains(where: { $0.name == "sqlite_sequence" }) {
      steps.append(
        MigrationStep(
          kind: .copyObject, subject: "sqlite_sequence", summary: "Copy the highest keys of tables with AUTOINCREMENT",
          statements: [
            // Filling the tables added their current highest keys, not the highest ever assigned.
            PlannedStatement("DELETE FROM \(quote(SchemaName.candidate)).sqlite_sequence"),
            PlannedStatement(
              "INSERT INTO \(quote(SchemaName.candidate)).sqlite_sequence "
                + "SELECT * FROM \(quote(SchemaName.store)).sqlite_sequence"),
          ]))
    }
    return steps
  }

  /// Rows aren't changed in place: a unique pair of number and key may belong to another row that
  /// hasn't been changed yet.
  static func rewritingSteps(_ copies: [MigrationStep], _ framework: FrameworkRows) -> [MigrationStep] {
    copies.compactMap { copy in
      guard let rewrite = framework.rewrites[copy.subject] else { return nil }
      let removal = PlannedStatement("DELETE FROM \(quote(SchemaName.candidate)).\(quote(copy.subject))")
      return MigrationStep(
        kind: .changeRows, subject: copy.subject, summary: "Rewrite \(copy.subject): \(rewrite.summary)",
        rows: copy.rows, statements: [removal] + copy.statements)
    }
  }

  /// Indexes stay only on tables without changes.
  func staying(with tables: [CarriedTable]) -> Set<String> {
    let changing = Set(actual.tables.map(\.name)).subtracting(travelling.filter { $0.kind == .table }.map(\.name))
      .subtracting(tables.filter(\.isOnlyExtended).map(\.sourceTable))
    return Set(
      travelling.filter { object in
        switch object.kind {
        case .table: true
        case .index: !leftOut.contains(object.name) && !changing.contains(object.table)
        case .trigger, .view: false
        }
      }.map(\.name))
  }

  func indexesToDrop(on tables: [CarriedTable], keeping staying: Set<String>) -> [String] {
    let names = Set(tables.map(\.sourceTable))
    return travelling.filter {
      $0.kind == .index && $0.sql != nil && names.contains($0.table) && !staying.contains($0.name)
    }.map(\.name)
  }

  /// They run once all rows exist.
  func laterSteps(keeping staying: Set<String> = []) -> [MigrationStep] {
    var steps: [MigrationStep] = []
    for object in travelling where !staying.contains(object.name) {
      guard let sql = object.sql else { continue }
      let isVirtual = object.kind == .table && actual.table(named: object.name)?.isVirtual == true
      if object.kind == .table && !isVirtual { continue }
      if leftOut.contains(object.name) { continue }
      let statements =
        isVirtual
        // Only the schema entry is written: the tables that hold its rows exist already.
        ? [
          PlannedStatement("PRAGMA writable_schema = ON"),
          PlannedStatement(
            "INSERT INTO \(quote(SchemaName.candidate)).sqlite_schema (type, name, tbl_name, rootpage, sql)"
              + " VALUES ('table', ?1, ?1, 0, ?2)", values: [.text(object.name), .text(sql)]),
          PlannedStatement("PRAGMA writable_schema = RESET"),
        ]
        : [PlannedStatement(statementInCandidate(sql))]
      steps.append(
        MigrationStep(
          kind: .copyObject, subject: object.name,
          summary: "Make the \(object.kind.rawValue) \(object.name), which is outside the model", statements: statements
        )
      )
    }
    return steps
  }

  /// Quoted; `nil` if a column is an alias of the key or there is none.
  private func hiddenKey(of table: ActualTable, connection: Connection) -> String? {
    guard ActualColumn.rowNumber(in: table.columns) == nil else { return nil }
    return connection.rowNumber(of: table.name, table.columns, in: SchemaName.store)
  }
}
