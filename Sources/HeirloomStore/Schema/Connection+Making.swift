import CHeirloomSQLite

extension Connection {
  private final class Permission {
    let object: SchemaObject

    init(_ object: SchemaObject) { self.object = object }

    func allows(_ action: Int32, _ first: String?, _ second: String?, database: String?) -> Bool {
      guard database == nil || database == "main" else { return false }
      switch (action, object.kind) {
      case (SQLITE_CREATE_TABLE, .table): return first == object.name || first == "sqlite_sequence"
      // A table's constraints have indexes.
      case (SQLITE_CREATE_INDEX, .table): return second == object.name
      case (SQLITE_CREATE_INDEX, .index): return first == object.name && second == object.table
      case (SQLITE_CREATE_VIEW, .view): return first == object.name
      case (SQLITE_CREATE_TRIGGER, .trigger): return first == object.name && second == object.table
      case (SQLITE_INSERT, _), (SQLITE_UPDATE, _): return first == "sqlite_master"
      case (SQLITE_REINDEX, .index), (SQLITE_REINDEX, .table): return true
      // The columns and functions of an index's or a constraint's expression.
      case (SQLITE_READ, _), (SQLITE_FUNCTION, _): return true
      default: return false
      }
    }
  }

  /// The statement may be hostile: one that does anything but create this object is rejected.
  ///
  /// It could reach other files, or run forever.
  package func make(_ object: SchemaObject) throws(SQLiteError) {
    let beginnings =
      switch object.kind {
      case .table: ["CREATE TABLE "]
      case .index: ["CREATE INDEX ", "CREATE UNIQUE INDEX "]
      case .view: ["CREATE VIEW "]
      case .trigger: ["CREATE TRIGGER "]
      }
    let sql = object.sql ?? ""
    let start = sql.prefix(24).split(separator: " ").joined(separator: " ").uppercased() + " "
    guard beginnings.contains(where: { start.hasPrefix($0) }) else {
      throw SQLiteError(
        extendedCode: SQLITE_AUTH, message: "expected a statement that makes the \(object.kind.rawValue) \(object.name)"
      )
    }
    let permission = Permission(object)
    sqlite3_set_authorizer(
      try openHandle(),
      { context, action, first, second, database, _ in
        guard let context else { return SQLITE_DENY }
        let permission = Unmanaged<Permission>.fromOpaque(context).takeUnretainedValue()
        func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
        let isAllowed = permission.allows(action, text(first), text(second), database: text(database))
        return isAllowed ? SQLITE_OK : SQLITE_DENY
      }, Unmanaged.passUnretained(permission).toOpaque())
    defer { withExtendedLifetime(permission) { _ = sqlite3_set_authorizer(handle, nil, nil) } }
    try execute(sql)
  }

  package func forbidAttaching() throws(SQLiteError) {
    sqlite3_limit(try openHandle(), SQLITE_LIMIT_ATTACHED, 0)
  }
}
