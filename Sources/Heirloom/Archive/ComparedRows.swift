import HeirloomModel
import HeirloomStore

struct ComparedRows {
  enum Column {
    case value(String)
    /// Compared by the entity's name.
    case entity(String, names: [Int64: String])
    /// The value, or the content of the file that it refers to.
    case external(String)
    case computed(String)
    case none
  }

  let store: ComparedStore
  let table: String
  let columns: [Column]
  var condition: String?
  /// The column by which missing rows are counted.
  var group: Int?

  private func statement() throws(SQLiteError) -> Statement {
    let values = columns.map { column in
      switch column {
      case .value(let name), .entity(let name, _), .external(let name): "r.\(quote(name))"
      case .computed(let sql): sql
      case .none: "NULL"
      }
    }
    let filter = condition.map { " WHERE \($0)" } ?? ""
    return try store.connection.prepare(
      "SELECT \(values.joined(separator: ", ")) FROM \(quote(table)) AS r NOT INDEXED\(filter)")
  }

  /// Two rows have the same bytes only if all values have the same storage classes and bytes.
  private func bytes(of row: borrowing Statement) -> [UInt8] {
    var bytes: [UInt8] = []
    for (position, column) in columns.enumerated() {
      switch column {
      case .entity(_, let names):
        guard row.storageClass(at: position) == .integer, let name = names[row.integer(at: position)] else {
          fallthrough
        }
        Self.append(5, Array(name.utf8), to: &bytes)
      case .value, .computed, .none: Self.append(row, position, to: &bytes)
      case .external:
        guard let blob = row.storageClass(at: position) == .blob ? row.blob(at: position) : nil,
          case .file(let name)? = ExternalStorage(blob)
        else {
          Self.append(row, position, to: &bytes)
          continue
        }
        if let content = store.files.content(of: name) {
          Self.append(6, content, to: &bytes)
        } else {
          Self.append(7, Array(name.utf8), to: &bytes)
        }
      }
    }
    return bytes
  }

  private static func append(_ row: borrowing Statement, _ position: Int, to bytes: inout [UInt8]) {
    switch row.storageClass(at: position) {
    case .null: bytes.append(0)
    case .integer: append(1, row.integer(at: position), to: &bytes)
    case .real: append(2, Int64(bitPattern: row.double(at: position).bitPattern), to: &bytes)
    // Read as a string, a text would be converted to UTF-8, and different damaged texts to the same string.
    case .text: row.withBytes(at: position) { append(3, Array($0), to: &bytes) }
    case .blob: row.withBytes(at: position) { append(4, Array($0), to: &bytes) }
    }
  }

  private static func append(_ tag: UInt8, _ number: Int64, to bytes: inout [UInt8]) {
    bytes.append(tag)
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private static func append(_ tag: UInt8, _ content: [UInt8], to bytes: inout [UInt8]) {
    append(tag, Int64(content.count), to: &bytes)
    bytes += content
  }

  /// Groups that lack no row are left out.
  ///
  /// - Complexity: O(*n*) for tables with the same rows in the same order, else O(*n* log *n*) on
  ///   disk; memory is flat.
  func missing(in others: ComparedRows?) throws(SQLiteError) -> [Int64?: Int64] {
    let surplus = RowSurplus()
    let reader = Reader(self, try statement())
    var otherReader: Reader?
    if let others { otherReader = Reader(others, try others.statement()) }
    while true {
      let (row, other) = (try reader.next(), try otherReader?.next())
      if row == nil && other == nil { break }
      // Equal stores usually have the same rows in the same order.
      if row?.bytes == other?.bytes { continue }
      if let row { try surplus.add(1, row) }
      if let other { try surplus.add(-1, other) }
    }
    return try surplus.counts()
  }

  fileprivate struct Row {
    let bytes: [UInt8]
    let group: Int64?
  }

  private final class Reader {
    private let rows: ComparedRows
    private let statement: Statement
    /// True after the last row: another `step()` would start over.
    private var isOver = false

    init(_ rows: ComparedRows, _ statement: consuming Statement) {
      self.rows = rows
      self.statement = statement
    }

    func next() throws(SQLiteError) -> Row? {
      guard !isOver, try statement.step() else {
        isOver = true
        return nil
      }
      let group = rows.group.flatMap { statement.storageClass(at: $0) == .integer ? statement.integer(at: $0) : nil }
      return Row(bytes: rows.bytes(of: statement), group: group)
    }
  }
}

/// The rows that one table has more often than another, counted on disk by digest.
private final class RowSurplus {
  private var connection: Connection?

  func add(_ count: Int64, _ row: ComparedRows.Row) throws(SQLiteError) {
    let connection = try made()
    try connection.execute(
      "INSERT INTO surplus VALUES (?1, ?2, ?3) ON CONFLICT (digest) DO UPDATE"
        + " SET number = number + ?2, part = COALESCE(part, ?3)",
      [.blob(SHA256.digest(row.bytes)), .integer(count), count > 0 ? row.group.map { .integer($0) } ?? .null : .null])
  }

  private func made() throws(SQLiteError) -> Connection {
    if let connection { return connection }
    let made = try Connection(path: "", mode: .memory)
    // SQLite moves a large temporary table to a file.
    try made.execute(
      "CREATE TEMP TABLE surplus (digest BLOB PRIMARY KEY, number INTEGER, part INTEGER) WITHOUT ROWID")
    try made.execute("BEGIN")
    connection = made
    return made
  }

  func counts() throws(SQLiteError) -> [Int64?: Int64] {
    var counts: [Int64?: Int64] = [:]
    guard let connection else { return counts }
    for row in try connection.rows("SELECT part, SUM(number) FROM surplus WHERE number > 0 GROUP BY part") {
      counts[row[0].integer] = row[1].integer ?? 0
    }
    return counts
  }
}
