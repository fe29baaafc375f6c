import HeirloomModel
package import HeirloomStore

/// A table of a damaged store.
package struct SourceTable {
  enum ColumnKind {
    case integer, number, text, bytes, any

    init(_ type: SQLColumnType) {
      switch type {
      case .integer: self = .integer
      case .float, .timestamp, .decimal: self = .number
      case .varchar: self = .text
      case .blob: self = .bytes
      }
    }

    func accepts(_ value: FoundValue) -> Bool {
      switch (self, value) {
      case (_, .lost), (.any, _), (.text, .garbled), (_, .stored(.null)), (.integer, .stored(.integer)),
        (.number, .stored(.integer)),
        (.number, .stored(.real)), (.text, .stored(.text)), (.bytes, .stored(.blob)):
        true
      default: false
      }
    }
  }

  /// The table's name in the model.
  package let name: String
  let fileName: String
  /// In the order of a row's values.
  let columns: [String]
  /// The index of the column that is the rowid, which records don't contain.
  let keyColumn: Int?
  /// The root page, if it is known.
  let root: Int?
  /// `nil` if rows can't be recognized by them.
  var kinds: [ColumnKind]?
  var entityNumbers: Set<Int>?
  /// The columns that the model doesn't have.
  var leftOutColumns: [String] = []
  /// The file's damaged names of columns, by the model's names.
  var columnNames: [String: String] = [:]

  /// `column` is the model's name.
  func place(of column: String) -> Int? {
    columns.firstIndex(of: columnNames[column] ?? column)
  }

  /// Also false if the table's columns are unknown.
  func fits(_ values: [FoundValue], key: Int64) -> Bool {
    guard let kinds, values.count <= kinds.count, !values.isEmpty else { return false }
    // Rows older than a column lack it; the first three columns are as old as the table.
    guard values.count >= min(kinds.count, 3) else { return false }
    guard zip(kinds, values).allSatisfy({ $0.accepts($1) }) else { return false }
    if let keyColumn, keyColumn < values.count, values[keyColumn] != .stored(.null) { return false }
    guard let entityNumbers else { return true }
    guard key >= 1, values.count >= 2, let number = values[1].stored?.integer, let number = Int(exactly: number) else {
      return false
    }
    return entityNumbers.contains(number)
  }
}

extension SourceTable {
  static let schema = SourceTable(
    name: "sqlite_schema", fileName: "sqlite_schema", columns: ["type", "name", "tbl_name", "rootpage", "sql"],
    keyColumn: nil, root: 1,
    kinds: [.text, .text, .text, .integer, .text])

  /// The tables that every store has, for a store whose schema doesn't show their root pages.
  static let bookkeeping = [
    SourceTable(
      name: PhysicalName.metadataTable, fileName: PhysicalName.metadataTable,
      columns: [PhysicalName.version, PhysicalName.uuid, PhysicalName.propertyList],
      keyColumn: 0, root: nil, kinds: [.any, .text, .bytes]),
    SourceTable(
      name: PhysicalName.primaryKeyTable, fileName: PhysicalName.primaryKeyTable,
      columns: [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity, PhysicalName.maximum], keyColumn: 0,
      root: nil, kinds: [.any, .text, .integer, .integer]),
    SourceTable(
      name: PhysicalName.modelCacheTable, fileName: PhysicalName.modelCacheTable, columns: [PhysicalName.content],
      keyColumn: nil, root: nil, kinds: [.bytes]),
  ]

  /// `modelName` is the model's name for the table, if the file has another.
  package init?(_ table: ActualTable, root: Int?, modelName: String? = nil) {
    guard !table.isVirtual, !table.columns.isEmpty else { return nil }
    name = modelName ?? table.name
    fileName = table.name
    // Records don't contain generated columns, or not as the column's own value.
    guard !table.columns.contains(where: \.isGenerated) else { return nil }
    columns = table.columns.map(\.name)
    let keys = table.columns.indices.filter { table.columns[$0].primaryKeyPosition > 0 }
    keyColumn =
      keys.count == 1 && table.columns[keys[0]].declaredType.uppercased() == "INTEGER" ? keys[0] : nil
    self.root = root
  }

  /// For a store whose own statement of the table is lost.
  init(_ table: PhysicalTable, _ schema: PhysicalSchema, numbers: [Int64: Int64]?) {
    name = table.name
    fileName = table.name
    columns = table.columns.map(\.name)
    keyColumn = table.isJoin ? nil : 0
    root = nil
    recognize(by: table, schema, numbers: numbers)
  }

  /// `numbers` has the model's entity numbers by the store's; `nil` if they are equal.
  package mutating func recognize(by table: PhysicalTable, _ schema: PhysicalSchema, numbers: [Int64: Int64]?) {
    let types = Dictionary(
      table.columns.map { (columnNames[$0.name] ?? $0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
    let first = [PhysicalName.primaryKey, PhysicalName.entity, PhysicalName.optimisticLock]
    guard case .objects(let root) = table.kind, first.map({ place(of: $0) }) == [0, 1, 2] else { return }
    kinds = columns.map { types[$0].map { ColumnKind($0) } ?? .any }
    guard let tree = schema.entity(named: root)?.treeNumbers else { return }
    let own = numbers?.filter { tree.contains(Int(clamping: $0.value)) }
    entityNumbers = own.map { Set($0.keys.map { Int(clamping: $0) }) } ?? Set(tree)
  }
}
