import HeirloomFormats
import HeirloomModel

/// The clean-up that a deferred lightweight migration left for later.
///
/// The store has its current model already. The metadata hold the list beside Core Data's own key, which only marks
/// that something is left. Names that the store doesn't have, or that its model needs, are ignored.
public struct DeferredMigration: Hashable, Sendable {
  /// Tables that no entity and no relationship uses any more, sorted by name.
  public package(set) var tables: [String]
  /// Columns that no property uses any more, by the table's name; each list in the order of the file.
  public package(set) var columns: [String: [String]]
  /// Indexes that the model no longer requires, sorted by name.
  public package(set) var unusedIndexes: [String]
  /// Indexes that the model requires and that don't exist yet, sorted by name.
  public package(set) var missingIndexes: [String]
  /// True if empty pages are to be released to the file system.
  public package(set) var releasesPages: Bool

  package init(
    tables: [String] = [], columns: [String: [String]] = [:], unusedIndexes: [String] = [],
    missingIndexes: [String] = [], releasesPages: Bool = false
  ) {
    self.tables = tables
    self.columns = columns.filter { !$0.value.isEmpty }
    self.unusedIndexes = unusedIndexes
    self.missingIndexes = missingIndexes
    self.releasesPages = releasesPages
  }

  /// True if nothing is left.
  public var isEmpty: Bool {
    tables.isEmpty && columns.isEmpty && unusedIndexes.isEmpty && missingIndexes.isEmpty && !releasesPages
  }

  /// The remaining work, one phrase each: `the table ZNOTE`, `the column ZNOTE.ZBODY`.
  public var items: [String] {
    missingIndexes.map { "the index \($0), which is to be made" }
      + unusedIndexes.map { "the index \($0)" } + tables.map { "the table \($0)" }
      + columns.ordered { $0.key < $1.key }.flatMap { table, names in names.map { "the column \(table).\($0)" } }
      + (releasesPages ? ["empty pages of the file"] : [])
  }
}

extension DeferredMigration {
  private static let tablesKey = "tables"
  private static let columnsKey = "columns"
  private static let unusedIndexesKey = "unusedIndexes"
  private static let missingIndexesKey = "missingIndexes"
  private static let releasesPagesKey = "releasesPages"

  /// `nil` if it is not a list of Heirloom's, or is empty.
  init?(_ value: PropertyListValue) {
    guard let values = value.dictionaryValue else { return nil }
    func names(_ value: PropertyListValue?) -> [String] { (value?.arrayValue ?? []).compactMap(\.stringValue) }
    self.init(
      tables: names(values[Self.tablesKey]),
      columns: (values[Self.columnsKey]?.dictionaryValue ?? [:]).mapValues { names($0) },
      unusedIndexes: names(values[Self.unusedIndexesKey]), missingIndexes: names(values[Self.missingIndexesKey]),
      releasesPages: values[Self.releasesPagesKey] == .boolean(true))
    if isEmpty { return nil }
  }

  var propertyListValue: PropertyListValue {
    func texts(_ names: [String]) -> PropertyListValue { .array(names.map { .string($0) }) }
    return .dictionary([
      Self.tablesKey: texts(tables), Self.columnsKey: .dictionary(columns.mapValues(texts)),
      Self.unusedIndexesKey: texts(unusedIndexes), Self.missingIndexesKey: texts(missingIndexes),
      Self.releasesPagesKey: .boolean(releasesPages),
    ])
  }

  static func listed(in connection: Connection, database: String) throws(SQLiteError) -> DeferredMigration {
    let table = PhysicalName.metadataTable
    guard
      let list = try connection.firstValue(
        "SELECT \(quote(PhysicalName.propertyList)) FROM \(quote(database)).\(quote(table)) LIMIT 1")?.blob,
      let values = try? BinaryPropertyListReader(list).value().dictionaryValue
    else { return DeferredMigration() }
    return listed(in: values) ?? DeferredMigration()
  }

  /// Without Core Data's own key, something other than Heirloom has cleaned up.
  static func listed(in metadata: [String: PropertyListValue]) -> DeferredMigration? {
    guard isNoted(in: metadata) else { return nil }
    return metadata[PhysicalName.deferredWorkKey].flatMap { DeferredMigration($0) }
  }

  static func isNoted(in metadata: [String: PropertyListValue]) -> Bool {
    switch metadata[PhysicalName.deferredMigrationKey] {
    case nil, .null, .boolean(false), .integer(0): false
    default: true
    }
  }
}

extension ActualSchema {
  /// Those parts of the list that the file has and that the model doesn't need.
  ///
  /// Only this function decides: nothing but these names may be cleaned up, and none of them is
  /// foreign or a difference from the model. The list comes from the file and could name anything.
  package func pending(under schema: PhysicalSchema) -> DeferredMigration {
    guard !listed.isEmpty else { return listed }
    // A store of one configuration may hold tables of others.
    let whole = listed.tables.isEmpty ? schema : PhysicalSchema(model: schema.model, actual: self)
    let names = [schema, whole].flatMap { $0.tables.map(\.name) + $0.indexes.map(\.name) }
    let needed = Set(names.map { $0.lowercased() })
    let tables = listed.tables.filter { name in
      guard let table = table(named: name), !table.isVirtual, !table.isShadow else { return false }
      return !needed.contains(name.lowercased()) && !Self.isReserved(name)
    }
    var columns: [String: [String]] = [:]
    for (name, listed) in listed.columns {
      guard let table = table(named: name), let known = schema.table(named: name) else { continue }
      let knownColumns = Set(known.columns.map { $0.name.lowercased() })
      columns[name] = listed.filter { column in
        guard let found = table.column(named: column) else { return false }
        return !knownColumns.contains(column.lowercased()) && found.primaryKeyPosition == 0 && !found.isGenerated
      }
    }
    let unused = listed.unusedIndexes.filter { name in
      guard let index = object(.index, named: name), index.sql != nil else { return false }
      return !needed.contains(name.lowercased()) && schema.table(named: index.table) != nil
    }
    let missing = listed.missingIndexes.filter { name in
      guard let index = schema.indexes.first(where: { $0.name == name }), index.mayWait else { return false }
      return !objects.contains { $0.name == name }
    }
    return DeferredMigration(
      tables: tables, columns: columns, unusedIndexes: unused, missingIndexes: missing,
      releasesPages: listed.releasesPages)
  }

  private static func isReserved(_ table: String) -> Bool {
    bookkeepingTables.contains(table) || historyTables.contains(table) || table.hasPrefix(PhysicalName.cloudKitPrefix)
      || table.lowercased().hasPrefix("sqlite_")
  }
}

extension PhysicalIndex {
  /// Only fetch indexes: without those on keys, following a relationship would read a whole table.
  package var mayWait: Bool {
    guard case .fetchIndex = kind else { return false }
    return ordering.map { $0.first != "UNIQUE" } ?? false
  }
}
