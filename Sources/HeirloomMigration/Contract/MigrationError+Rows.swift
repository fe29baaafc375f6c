import HeirloomModel
package import HeirloomStore

extension MigrationError {
  package static func foreignNumber(_ value: SQLiteValue, in table: String, root: String) -> MigrationError {
    let number = value.integer.map(String.init) ?? (value == .null ? "NULL" : "not an integer")
    return .storeContradictsModel(
      reason: "\(table) has rows whose entity number (\(number)) belongs to no entity of \(root)")
  }

  /// Only after a failure, since the search for unknown entity numbers reads each table once more.
  static func cause(
    of error: MigrationError, in connection: Connection, model: ManagedObjectModel, configuration: String?
  ) -> MigrationError {
    switch error {
    case .unexpectedRowCount, .proofFailed: break
    default: return error
    }
    guard let actual = try? ActualSchema(of: connection) else { return error }
    let schema = PhysicalSchema(model: model, configuration: configuration, actual: actual)
    for table in schema.tables {
      guard case .objects(let root) = table.kind, let numbers = schema.entity(named: root)?.treeNumbers else {
        continue
      }
      let entity = quote(PhysicalName.entity)
      let isOther =
        "TYPEOF(\(entity)) <> 'integer' OR \(entity) NOT BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)"
      // The lowest number, so the message is the same each time.
      let sql =
        "SELECT \(entity) FROM \(SchemaName.rows(of: table.name)) WHERE \(isOther) ORDER BY 1 LIMIT 1"
      if let found = (try? connection.firstValue(sql)) ?? nil {
        return .foreignNumber(found, in: table.name, root: root)
      }
    }
    return error
  }
}

extension MigrationError {
  /// SQLite doesn't say which file is damaged; here it is the store.
  init(_ error: SQLiteError) {
    if error.isInterrupt {
      self = .cancelled
    } else if error.isExpired {
      self = .database(reason: "\(error)", coreDataCode: 259)
    } else if error.isFull {
      self = .diskFull(reason: "\(error)")
    } else if error.isConstraint {
      self = .database(reason: "A constraint of the destination is violated: \(error)", coreDataCode: 134111)
    } else if error.isCorrupt || error.isNotDatabase {
      self = .damaged(.store, reason: "\(error)")
    } else {
      self = .database(reason: "\(error)", coreDataCode: 134180)
    }
  }
}
