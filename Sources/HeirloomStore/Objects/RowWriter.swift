import HeirloomModel

/// The store owns it, because statements keep the connection from closing.
final class RowWriter {
  /// A dictionary can't hold a statement, which can't be copied.
  private final class Prepared {
    let statement: Statement

    init(_ statement: consuming Statement) {
      self.statement = statement
    }
  }

  private struct UpdateKey: Hashable {
    let slots: [Int]
    let countsSave: Bool
    let checksVersion: Bool
  }

  private let connection: Connection
  private let table: String
  private let columns: [String]
  private let kinds: [EntityPlan.SlotKind]
  private let entityNumber: Int64
  private let number: String
  private let rowLimit: Int
  @exclusivity(unchecked) private var insertions: [Prepared?]
  @exclusivity(unchecked) private var search: Prepared?
  @exclusivity(unchecked) private var rangeSearch: Prepared?
  @exclusivity(unchecked) private var updates: [UpdateKey: Prepared] = [:]

  init(entity: PhysicalEntity, columns: [String], kinds: [EntityPlan.SlotKind], store: PersistentStore) {
    connection = store.connection
    table = store.qualified(entity.table)
    self.columns = columns
    self.kinds = kinds
    entityNumber = Int64(entity.number)
    number = entity.numberSQL()
    // More rows save little, and tables of many columns would need large statements.
    rowLimit = max(1, min(8, 512 / (columns.count + 1)))
    insertions = Array(repeating: nil, count: rowLimit)
  }

  func removeAll() {
    insertions = Array(repeating: nil, count: rowLimit)
    search = nil
    rangeSearch = nil
    updates.removeAll()
  }

  func entityNumber(ofKey key: Int64) throws(SQLiteError) -> Int64? {
    if search == nil {
      let sql = "SELECT \(number) FROM \(table) WHERE \(quote(PhysicalName.primaryKey)) = ?1"
      search = Prepared(try connection.prepare(sql, isPersistent: true))
    }
    guard let search else { return nil }
    defer { search.statement.reset() }
    try search.statement.bind(key, at: 1)
    return try search.statement.step() ? search.statement.integer(at: 0) : nil
  }

  func appendRows(
    from key: Int64, limit: Int, to rows: inout [(key: Int64, entityNumber: Int64)]
  ) throws(SQLiteError) {
    if rangeSearch == nil {
      let column = quote(PhysicalName.primaryKey)
      let sql =
        "SELECT \(column), \(number) FROM \(table) WHERE \(column) >= ?1 ORDER BY \(column) LIMIT ?2"
      rangeSearch = Prepared(try connection.prepare(sql, isPersistent: true))
    }
    guard let rangeSearch else { return }
    defer { rangeSearch.statement.reset() }
    try rangeSearch.statement.bind(key, at: 1)
    try rangeSearch.statement.bind(Int64(limit), at: 2)
    while try rangeSearch.statement.step() {
      rows.append((rangeSearch.statement.integer(at: 0), rangeSearch.statement.integer(at: 1)))
    }
  }

  // MARK: Inserting

  /// On an error, some of the rows may be inserted.
  func insert(_ objects: some RandomAccessCollection<ManagedObject>, arena: ByteArena) throws(SQLiteError) {
    var rest = objects[...]
    while !rest.isEmpty {
      let part = rest.prefix(rowLimit)
      let insertion = try insertion(ofRows: part.count)
      var position = 1
      for object in part {
        try insertion.statement.bind(object.key, at: position)
        for slot in 0..<kinds.count {
          try bind(object, slot, to: insertion.statement, at: position + 1 + slot, arena: arena)
        }
        position += 1 + kinds.count
      }
      try insertion.statement.run()
      rest = rest.dropFirst(part.count)
    }
  }

  private func insertion(ofRows count: Int) throws(SQLiteError) -> Prepared {
    if let known = insertions[count - 1] { return known }
    let prepared = Prepared(try connection.prepare(insertionText(rows: count), isPersistent: true))
    insertions[count - 1] = prepared
    return prepared
  }

  private func insertionText(rows: Int) -> String {
    let fixed = [PhysicalName.primaryKey, PhysicalName.entity, PhysicalName.optimisticLock]
    let list = (fixed + columns).map(quote).joined(separator: ", ")
    let tuples = (0..<rows).map { row in
      let first = row * (columns.count + 1) + 1
      let values = ["?\(first)", "\(entityNumber)", "1"] + columns.indices.map { "?\(first + 1 + $0)" }
      return "(\(values.joined(separator: ", ")))"
    }
    // By default SQLite would prepare to undo the first rows if a later one fails, which costs time.
    let conflict = rows > 1 ? " OR FAIL" : ""
    return "INSERT\(conflict) INTO \(table) (\(list)) VALUES \(tuples.joined(separator: ", "))"
  }

  // MARK: Updating

  /// False if the row doesn't exist, or doesn't have the number of saves `version`.
  func update(
    _ object: ManagedObject, arena: ByteArena, countsSave: Bool, version: SQLiteValue?
  ) throws(SQLiteError) -> Bool {
    let slots = columns.indices.filter { object.isChanged($0) }
    guard !slots.isEmpty || countsSave else { return true }
    let key = UpdateKey(slots: slots, countsSave: countsSave, checksVersion: version != nil)
    let prepared: Prepared
    if let known = updates[key] {
      prepared = known
    } else {
      if updates.count >= 64 { updates.removeAll() }
      prepared = Prepared(try connection.prepare(updateText(key), isPersistent: true))
      updates[key] = prepared
    }
    try prepared.statement.bind(object.key, at: 1)
    for (index, slot) in slots.enumerated() {
      try bind(object, slot, to: prepared.statement, at: index + 2, arena: arena)
    }
    if let version { try prepared.statement.bind(version, at: slots.count + 2) }
    try prepared.statement.run()
    return connection.changes > 0
  }

  private func updateText(_ key: UpdateKey) -> String {
    let lock = quote(PhysicalName.optimisticLock)
    var assignments = key.slots.enumerated().map { "\(quote(columns[$0.element])) = ?\($0.offset + 2)" }
    if key.countsSave { assignments.append("\(lock) = IFNULL(\(lock), 0) + 1") }
    return "UPDATE \(table) SET \(assignments.joined(separator: ", "))"
      + " WHERE \(quote(PhysicalName.primaryKey)) = ?1 AND \(number) = \(entityNumber)"
      + (key.checksVersion ? " AND \(lock) IS ?\(key.slots.count + 2)" : "")
  }

  // MARK: Values

  @inline(__always)
  private func bind(
    _ object: ManagedObject, _ slot: Int, to statement: borrowing Statement, at position: Int, arena: ByteArena
  ) throws(SQLiteError) {
    switch object.pendingValue(slot) {
    case .unchanged, .null: try statement.bindNull(at: position)
    case .integer(let integer): try statement.bind(integer, at: position)
    case .real(let real): try statement.bind(real, at: position)
    case .bytes(let offset, let count):
      let bytes = arena.bytes(offset: offset, count: count)
      if kinds[slot].isText {
        try statement.bindUnownedText(bytes, at: position)
      } else {
        try statement.bindUnownedBytes(bytes, at: position)
      }
    case .payload(let index):
      switch object.payloads[index] {
      case .text(let text): try statement.bind(text, at: position)
      case .blob(let bytes): try statement.bind(bytes, at: position)
      case .reference(let target):
        if target.isDeleted || target.key == 0 {
          try statement.bindNull(at: position)
        } else {
          try statement.bind(target.key, at: position)
        }
      }
    }
  }
}
