import HeirloomModel

extension ManagedObjectContext {
  func unknown(_ entityName: String) -> ManagedObjectError {
    .unknownEntity(entityName, nearest: store.schema.model.nearestEntity(to: entityName))
  }

  func sql<Value: ~Copyable>(_ body: () throws(SQLiteError) -> Value) throws(ManagedObjectError) -> Value {
    do throws(SQLiteError) {
      return try body()
    } catch {
      throw wrap(error)
    }
  }

  /// A violated unique index gives the properties that must differ.
  func wrap(_ error: SQLiteError) -> ManagedObjectError {
    let prefix = "UNIQUE constraint failed: "
    if error.isConstraint, error.message.hasPrefix(prefix) {
      let columns = error.message.dropFirst(prefix.count).split(separator: ", ").map(String.init)
      for index in store.schema.indexes {
        guard case .constraint(let entity, let properties) = index.kind,
          index.columns.map({ "\(index.table).\($0)" }) == columns
        else { continue }
        return .notUnique(entity: entity, properties: properties)
      }
    }
    return .store(StoreError(error, path: store.path))
  }
}
