extension ManagedObjectContext {
  /// Saves all changes in one transaction.
  ///
  /// - Throws: ``ManagedObjectError``. Nothing is saved then, and the changes stay in the context.
  public func save() throws(ManagedObjectError) {
    if let error = takeDeferredError() { throw error }
    guard hasChanges else { return }
    try checkWritable()
    for object in changed where !object.isDeleted { try checkRequired(object) }
    let newKeys = try store.connection.transaction(wrapping: wrap) { () throws(ManagedObjectError) in
      try writeChanges()
    }
    for (object, key) in newKeys {
      object.primaryKey = key
      object.isNew = false
      register(object, key)
    }
    clearChanges()
  }

  /// Writes all changes without a transaction of its own, and lets go of the objects.
  ///
  /// Nothing is validated. If it fails, part of the changes may be written: the caller rolls its transaction back and
  /// gives up the context.
  ///
  /// - Throws: ``ManagedObjectError``.
  package func writePendingChanges() throws(ManagedObjectError) {
    if let error = takeDeferredError() { throw error }
    guard hasChanges else { return }
    try checkWritable()
    for (object, key) in try writeChanges() {
      object.primaryKey = key
      object.isNew = false
      register(object, key)
    }
    clearChanges()
  }

  /// Raises the store's counters of keys to those that were given; for the end of a streaming context's work.
  ///
  /// - Throws: ``ManagedObjectError``.
  package func writeKeyCounters() throws(ManagedObjectError) {
    for (root, key) in (lastKeys ?? [:]).sorted(by: { $0.key < $1.key }) { try writeCounter(key, ofTree: root) }
  }

  /// Gives up all changes: objects are again as the store has them, and new ones can't be used any more.
  public func rollback() {
    _ = takeDeferredError()
    for object in changed { object.isDeleted = object.isNew }
    clearChanges()
  }

  /// New objects and their keys.
  private typealias NewKeys = [(object: ManagedObject, key: Int64)]

  private func writeChanges() throws(ManagedObjectError) -> NewKeys {
    let newKeys = try allocateKeys()
    var keys: [ObjectIdentifier: Int64] = [:]
    for (object, key) in newKeys { keys[ObjectIdentifier(object)] = key }
    let writer = ChangeWriter(context: self, keys: keys)
    // A value that must be unique may go from one object to another: who gives it up comes first.
    for object in changed where object.isDeleted { try writer.delete(object) }
    for object in changed where !object.isNew && !object.isDeleted { try writer.update(object) }
    for (object, key) in newKeys { try writer.insert(object, key: key) }
    for object in changed { try writer.writeLinks(of: object) }
    for object in changed where !object.isDeleted { try writer.writePlaces(of: object) }
    return newKeys
  }

  /// Gives each new object a primary key and raises the store's counters.
  private func allocateKeys() throws(ManagedObjectError) -> NewKeys {
    var newKeys: NewKeys = []
    var byRoot: [String: [ManagedObject]] = [:]
    for object in changed where object.isNew && !object.isDeleted {
      if lastKeys != nil, let key = object.primaryKey {
        newKeys.append((object, key))
        continue
      }
      byRoot[object.plan.entity.rootName, default: []].append(object)
    }
    for (root, objects) in byRoot.sorted(by: { $0.key < $1.key }) {
      var key = try highestKey(inTreeOf: root)
      for object in objects {
        key = try self.key(after: key, inTreeOf: root)
        newKeys.append((object, key))
      }
      try writeCounter(key, ofTree: root)
    }
    return newKeys
  }

  /// The highest key that was ever given in a tree.
  private func highestKey(inTreeOf root: String) throws(ManagedObjectError) -> Int64 {
    guard let entity = store.schema.entity(named: root) else { throw .unknownEntity(root) }
    let highest = try sql { () throws(SQLiteError) in
      // The counter is never below the highest key in use; if it is, the key counts.
      try store.connection.firstInteger(
        "SELECT MAX(IFNULL((SELECT \(quote(PhysicalName.maximum)) FROM \(store.qualified(PhysicalName.primaryKeyTable))"
          + " WHERE \(quote(PhysicalName.entity)) = ?1), 0),"
          + " IFNULL((SELECT MAX(\(quote(PhysicalName.primaryKey))) FROM \(store.qualified(entity.table))), 0))",
        [.integer(Int64(entity.number))])
    }
    return highest ?? 0
  }

  private func key(after key: Int64, inTreeOf root: String) throws(ManagedObjectError) -> Int64 {
    let (next, overflow) = key.addingReportingOverflow(1)
    guard !overflow else {
      throw .store(StoreError(path: store.path, problem: .damaged(reason: "the primary keys of \(root) are used up")))
    }
    return next
  }

  /// Gives a key to a new object of a streaming context.
  func nextKey(inTreeOf root: String) throws(ManagedObjectError) -> Int64 {
    let last = if let last = lastKeys?[root] { last } else { try highestKey(inTreeOf: root) }
    let key = try key(after: last, inTreeOf: root)
    noteKey(key, inTreeOf: root)
    return key
  }

  private func writeCounter(_ key: Int64, ofTree root: String) throws(ManagedObjectError) {
    guard let entity = store.schema.entity(named: root) else { throw .unknownEntity(root) }
    try sql { () throws(SQLiteError) in
      try store.connection.execute(
        "UPDATE \(store.qualified(PhysicalName.primaryKeyTable)) SET \(quote(PhysicalName.maximum)) = ?1"
          + " WHERE \(quote(PhysicalName.entity)) = ?2 AND IFNULL(\(quote(PhysicalName.maximum)), 0) < ?1",
        [.integer(key), .integer(Int64(entity.number))])
    }
  }

  /// Throws if a required property of a new object, or one that was changed, has no value.
  private func checkRequired(_ object: ManagedObject) throws(ManagedObjectError) {
    for (property, column) in object.plan.required {
      let isMissing =
        switch object.changes[column] {
        case .value(let value): value == .null
        case .reference(let target): target == nil || target?.isDeleted == true
        // A row from before is not refused for what it lacks.
        case nil: object.isNew
        }
      guard !isMissing else { throw .missingValue(entity: object.entityName, property: property) }
    }
  }
}

/// Writes the changes of a context inside a transaction.
private struct ChangeWriter {
  let context: ManagedObjectContext
  /// The keys of new objects.
  let keys: [ObjectIdentifier: Int64]

  private func key(of object: ManagedObject) -> Int64? {
    object.primaryKey ?? keys[ObjectIdentifier(object)]
  }

  /// The changed columns, sorted, with the entity numbers that go with keys.
  private func columns(of object: ManagedObject) -> [(name: String, value: SQLiteValue)] {
    var columns: [(name: String, value: SQLiteValue)] = []
    for (name, change) in object.changes {
      switch change {
      case .value(let value):
        columns.append((name, value))
      case .reference(let target):
        let live = target.flatMap { $0.isDeleted ? nil : $0 }
        columns.append((name, live.flatMap(key).map { .integer($0) } ?? .null))
        if let entityColumn = object.plan.entityColumns[name] {
          columns.append((entityColumn, live.map { .integer(Int64($0.plan.entity.number)) } ?? .null))
        }
      }
    }
    return columns.sorted { $0.name < $1.name }
  }

  /// The condition that nobody changed the row since it was read, with its value.
  private func unchanged(_ object: ManagedObject, parameter: Int) -> (sql: String, values: [SQLiteValue]) {
    guard let version = object.row?.first else { return ("", []) }
    return (" AND \(quote(PhysicalName.optimisticLock)) IS ?\(parameter)", [version])
  }

  func insert(_ object: ManagedObject, key: Int64) throws(ManagedObjectError) {
    let entity = object.plan.entity
    let columns = columns(of: object)
    let names = [PhysicalName.primaryKey, PhysicalName.entity, PhysicalName.optimisticLock] + columns.map(\.name)
    let parameters = (1...names.count).map { "?\($0)" }.joined(separator: ", ")
    let list = names.map(quote).joined(separator: ", ")
    context.writtenTables.insert(entity.table)
    try run(
      "INSERT INTO \(table(entity.table)) (\(list)) VALUES (\(parameters))",
      [.integer(key), .integer(Int64(entity.number)), .integer(1)] + columns.map(\.value))
  }

  func update(_ object: ManagedObject) throws(ManagedObjectError) {
    guard let key = object.primaryKey else { return }
    let columns = columns(of: object)
    let lock = quote(PhysicalName.optimisticLock)
    let assignments = columns.enumerated().map { "\(quote($0.element.name)) = ?\($0.offset + 3), " }.joined()
    let condition = unchanged(object, parameter: columns.count + 3)
    // What one migration does to an object is one save.
    let step = context.lastKeys == nil ? 1 : 0
    context.writtenTables.insert(object.plan.entity.table)
    try run(
      "UPDATE \(table(object.plan.entity.table)) SET \(assignments)\(lock) = IFNULL(\(lock), 0) + \(step)"
        + " WHERE \(quote(PhysicalName.primaryKey)) = ?1 AND \(quote(PhysicalName.entity)) = ?2\(condition.sql)",
      [.integer(key), .integer(Int64(object.plan.entity.number))] + columns.map(\.value) + condition.values)
    guard context.store.connection.changes > 0 else { throw .conflict(object.identifier) }
  }

  func delete(_ object: ManagedObject) throws(ManagedObjectError) {
    guard let key = object.primaryKey else { return }
    let condition = unchanged(object, parameter: 3)
    context.writtenTables.insert(object.plan.entity.table)
    try run(
      "DELETE FROM \(table(object.plan.entity.table)) WHERE \(quote(PhysicalName.primaryKey)) = ?1"
        + " AND \(quote(PhysicalName.entity)) = ?2\(condition.sql)",
      [.integer(key), .integer(Int64(object.plan.entity.number))] + condition.values)
    guard context.store.connection.changes > 0 else { throw .conflict(object.identifier) }
  }

  /// Writes the links that this side of a many-to-many relationship is to write.
  func writeLinks(of object: ManagedObject) throws(ManagedObjectError) {
    guard let own = key(of: object) else { return }
    for (name, links) in object.linkChanges.sorted(by: { $0.key < $1.key }) {
      guard let relationship = object.plan.relationships[name], relationship.writesLinks,
        case .join(let table, let ownerColumn, let destinationColumn, let orderColumn) = relationship.storage
      else { continue }
      let (owner, destination) = (quote(ownerColumn), quote(destinationColumn))
      context.writtenTables.insert(table)
      for other in links.removed {
        guard let other = key(of: other) else { continue }
        var condition = "\(owner) = ?1 AND \(destination) = ?2"
        if relationship.isOwnInverse { condition += " OR \(owner) = ?2 AND \(destination) = ?1" }
        try run("DELETE FROM \(self.table(table)) WHERE \(condition)", [.integer(own), .integer(other)])
      }
      guard !object.isDeleted else { continue }
      var columns = [owner, destination]
      var values = ["?1", "?2"]
      let inverseOrder = relationship.isOwnInverse ? nil : relationship.inverse?.storage.orderColumn
      for (order, column, parameter) in [(orderColumn, owner, "?1"), (inverseOrder, destination, "?2")] {
        guard let order = order.map(quote) else { continue }
        columns.append(order)
        values.append(
          "(SELECT IFNULL(MAX(\(order)), \(OrderedPlace.first - OrderedPlace.step)) + \(OrderedPlace.step)"
            + " FROM \(self.table(table)) WHERE \(column) = \(parameter))")
      }
      for other in links.added where !other.isDeleted {
        guard let other = key(of: other) else { continue }
        try run(
          "INSERT OR IGNORE INTO \(self.table(table)) (\(columns.joined(separator: ", ")))"
            + " VALUES (\(values.joined(separator: ", ")))", [.integer(own), .integer(other)])
      }
    }
  }

  /// Writes the places of ordered many-to-many relationships whose whole list was set.
  func writePlaces(of object: ManagedObject) throws(ManagedObjectError) {
    guard let own = key(of: object) else { return }
    for (name, links) in object.linkChanges {
      guard let list = links.list,
        case .join(let table, let owner, let destination, let order?) = object.plan.relationships[name]?.storage
      else { continue }
      var place = OrderedPlace.first
      for other in list where !other.isDeleted {
        guard let other = key(of: other) else { continue }
        try run(
          "UPDATE \(self.table(table)) SET \(quote(order)) = ?3 WHERE \(quote(owner)) = ?1 AND \(quote(destination)) = ?2",
          [.integer(own), .integer(other), .integer(place)])
        place = OrderedPlace.after(place)
      }
    }
  }

  private func table(_ name: String) -> String { context.store.qualified(name) }

  private func run(_ sql: String, _ values: [SQLiteValue]) throws(ManagedObjectError) {
    try context.sql { () throws(SQLiteError) in try context.store.statements.run(sql, values) }
  }
}
