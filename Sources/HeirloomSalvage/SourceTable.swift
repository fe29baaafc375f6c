import HeirloomModel
import HeirloomStore

/// A table of a damaged store.
struct SourceTable {
  /// What the values of a column may be stored as.
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

  /// The table's name, as the model has it.
  let name: String
  /// The name that the file has for it.
  let fileName: String
  /// The columns in the order in which rows have them.
  let columns: [String]
  /// The column that is the key itself, by its place; rows don't hold it.
  let keyColumn: Int?
  /// The first page; `nil` if nothing tells any more.
  let root: Int?
  /// What the columns hold, where a row is to be recognized by it.
  var kinds: [ColumnKind]?
  /// The numbers of the entities whose objects the table holds.
  var entityNumbers: Set<Int>?
  /// What the file calls columns of the model whose names it lost.
  var columnNames: [String: String] = [:]

  /// The place of a model's column in a row.
  func place(of column: String) -> Int? {
    columns.firstIndex(of: columnNames[column] ?? column)
  }

  /// Whether a row may be one of this table; without knowledge of its columns, never.
  func fits(_ values: [FoundValue], key: Int64) -> Bool {
    guard let kinds, values.count <= kinds.count, !values.isEmpty else { return false }
    // Rows that are older than a column lack it; the first three are as old as the table.
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
  /// The table of the schema itself.
  static let schema = SourceTable(
    name: "sqlite_schema", fileName: "sqlite_schema", columns: ["type", "name", "tbl_name", "rootpage", "sql"],
    keyColumn: nil, root: 1,
    kinds: [.text, .text, .text, .integer, .text])

  /// The tables that every store has, for one that doesn't tell where they begin.
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

  /// A table as the file's own statement made it.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - root: Its first page.
  ///   - modelName: What the model calls it, if not what the file does.
  init?(_ table: ActualTable, root: Int?, modelName: String? = nil) {
    guard !table.isVirtual, !table.columns.isEmpty else { return nil }
    name = modelName ?? table.name
    fileName = table.name
    // A generated column is not in the rows, or not as itself.
    guard !table.columns.contains(where: \.isGenerated) else { return nil }
    columns = table.columns.map(\.name)
    let keys = table.columns.indices.filter { table.columns[$0].primaryKeyPosition > 0 }
    keyColumn =
      keys.count == 1 && table.columns[keys[0]].declaredType.uppercased() == "INTEGER" ? keys[0] : nil
    self.root = root
  }

  /// A table as a model asks for it, for a store that doesn't tell its own.
  init(_ table: PhysicalTable, _ schema: PhysicalSchema, numbers: [Int64: Int64]?) {
    name = table.name
    fileName = table.name
    columns = table.columns.map(\.name)
    keyColumn = table.isJoin ? nil : 0
    root = nil
    recognize(by: table, schema, numbers: numbers)
  }

  /// Lets rows be recognized by what a model says of the table.
  ///
  /// - Parameters:
  ///   - table: The table as the model asks for it.
  ///   - schema: What the model asks for.
  ///   - numbers: The model's numbers of entities by the store's; `nil` if they are the same.
  mutating func recognize(by table: PhysicalTable, _ schema: PhysicalSchema, numbers: [Int64: Int64]?) {
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
