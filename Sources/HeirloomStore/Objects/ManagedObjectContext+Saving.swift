import HeirloomModel

extension ManagedObjectContext {
  /// Saves all changes in one transaction.
  ///
  /// - Throws: ``ManagedObjectError``. Nothing is saved then, and the changes stay in the context.
  public func save() throws(ManagedObjectError) {
    closeLists()
    if let error = takeDeferredError() { throw error }
    guard hasChanges else { return }
    guard !isStreaming else { return try writePendingChanges() }
    try checkWritable()
    for object in changed where !object.isDeleted { try validateChanges(of: object) }
    do {
      try store.connection.transaction(wrapping: wrap) { () throws(ManagedObjectError) in
        try allocateKeys()
        try writeChanges()
      }
    } catch {
      for object in changed where object.isNew { object.key = 0 }
      throw error
    }
    for object in changed where !object.isDeleted {
      object.isNew = false
      register(object)
    }
    clearChanges()
  }

  /// In the caller's transaction, without validation.
  ///
  /// After an error, part of the changes may be written: the caller must roll its transaction back
  /// and discard the context.
  package func writePendingChanges() throws(ManagedObjectError) {
    closeLists()
    if let error = takeDeferredError() { throw error }
    guard !changed.isEmpty else { return }
    try checkWritable()
    guard isStreaming else {
      try allocateKeys()
      try writeChanges()
      for object in changed where !object.isDeleted {
        object.isNew = false
        register(object)
      }
      return clearChanges()
    }
    if hasOnlyInsertions { try writeInsertions() } else { try writeChanges() }
    clearWrittenChanges()
  }

  /// For a query of a streaming context, which sees only what is stored.
  func writeBeforeReading() throws(ManagedObjectError) {
    if isStreaming, !changed.isEmpty { try writePendingChanges() }
  }

  /// At the end of a streaming context's work.
  package func writeKeyCounters() throws(ManagedObjectError) {
    for (root, key) in givenKeys { try writeCounter(key, ofTree: root) }
  }

  /// Discards all changes: objects have their stored values again, and new ones can no longer be used.
  public func rollback() {
    openLists.removeAll()
    linkAccesses &+= 1
    _ = takeDeferredError()
    for object in changed { object.isDeleted = object.isNew }
    clearChanges()
  }

  /// Only for new objects without links.
  private func writeInsertions() throws(ManagedObjectError) {
    var rest = changed
    while let plan = rest.first?.plan {
      note(plan)
      let end = rest.firstIndex { $0.plan !== plan } ?? rest.endIndex
      rowsChanged(of: rest[..<end], plan)
      do throws(SQLiteError) {
        try plan.writer.insert(rest[..<end], arena: arena)
      } catch {
        throw wrap(error)
      }
      rest = rest[end...]
    }
  }

  private func writeChanges() throws(ManagedObjectError) {
    var hasLinks = false
    // A unique value may move from one object to another, so the object that gives it up is written first.
    for object in changed where object.isDeleted && !object.isNew { try writeDeletion(of: object) }
    for object in changed where !object.isNew && !object.isDeleted { try writeUpdate(of: object) }
    for object in changed {
      if !object.linkChanges.isEmpty { hasLinks = true }
      guard object.isNew, !object.isDeleted else { continue }
      if !isStreaming { object.dropDeletedReferences() }
      note(object.plan)
      rowsChanged(of: CollectionOfOne(object), object.plan)
      do throws(SQLiteError) {
        try object.plan.writer.insert(CollectionOfOne(object), arena: arena)
      } catch {
        throw wrap(error)
      }
    }
    guard hasLinks else { return }
    let writer = LinkWriter(context: self)
    for object in changed { try writer.writeLinks(of: object) }
    for object in changed where !object.isDeleted { try writer.writePlaces(of: object) }
  }

  private func note(_ plan: EntityPlan) {
    if lastWrittenPlan !== plan {
      lastWrittenPlan = plan
      writtenTables.insert(plan.entity.table)
      writtenEntities.insert(plan.entity.number)
    }
  }

  package func takeWrittenEntities() -> Set<Int> {
    defer { writtenEntities.removeAll() }
    lastWrittenPlan = nil
    return writtenEntities
  }

  private func writeUpdate(of object: ManagedObject) throws(ManagedObjectError) {
    note(object.plan)
    if isStreaming { try suspect(object) }
    if !isStreaming { object.dropDeletedReferences() }
    let isWritten = try sql { () throws(SQLiteError) in
      try object.plan.writer.update(
        object, arena: arena, countsSave: !isStreaming, version: isStreaming ? nil : object.currentVersion)
    }
    guard isWritten else { throw .conflict(object.identifier) }
    if isStreaming { object.forgetRow() }
  }

  private func writeDeletion(of object: ManagedObject) throws(ManagedObjectError) {
    note(object.plan)
    rowsChanged(of: CollectionOfOne(object), object.plan)
    let version = isStreaming ? nil : object.currentVersion
    let condition = version == nil ? "" : " AND \(quote(PhysicalName.optimisticLock)) IS ?3"
    let values: [SQLiteValue] = [.integer(object.key), .integer(Int64(object.entityNumber))]
    let sql =
      "DELETE FROM \(store.qualified(object.plan.entity.table)) WHERE \(quote(PhysicalName.primaryKey)) = ?1"
      + " AND \(object.plan.entity.numberSQL()) = ?2\(condition)"
    try self.sql { () throws(SQLiteError) in
      try store.statements.run(sql, values + (version.map { [$0] } ?? []))
    }
    guard store.connection.changes > 0 else { throw .conflict(object.identifier) }
  }

  private func allocateKeys() throws(ManagedObjectError) {
    guard !isStreaming else { return }
    var byRoot: [String: [ManagedObject]] = [:]
    for object in changed where object.isNew && !object.isDeleted {
      byRoot[object.plan.entity.rootName, default: []].append(object)
    }
    for (root, objects) in byRoot.ordered(by: { $0.key < $1.key }) {
      var key = try highestKey(inTreeOf: root)
      for object in objects {
        let (next, overflow) = key.addingReportingOverflow(1)
        guard !overflow else { throw usedUpKeys(inTreeOf: root) }
        key = next
        object.key = key
      }
      try writeCounter(key, ofTree: root)
    }
  }

  func highestKey(inTreeOf root: String) throws(ManagedObjectError) -> Int64 {
    guard let entity = store.schema.entity(named: root) else { throw unknown(root) }
    let highest = try sql { () throws(SQLiteError) in
      // The counter should never be below the highest key in use; if it is, or isn't a number, that key counts.
      try store.connection.firstInteger(
        "SELECT MAX(IFNULL((SELECT \(Self.counter) FROM \(store.qualified(PhysicalName.primaryKeyTable))"
          + " WHERE \(quote(PhysicalName.entity)) = ?1), 0),"
          + " IFNULL((SELECT MAX(\(quote(PhysicalName.primaryKey))) FROM \(store.qualified(entity.table))), 0))",
        [.integer(Int64(entity.number))])
    }
    return highest ?? 0
  }

  /// Cast because another program may have stored text, which SQLite sorts after all numbers.
  private static let counter = "CAST(\(quote(PhysicalName.maximum)) AS INTEGER)"

  func usedUpKeys(inTreeOf root: String) -> ManagedObjectError {
    .store(StoreError(path: store.path, problem: .damaged(reason: "the primary keys of \(root) are used up")))
  }

  private func writeCounter(_ key: Int64, ofTree root: String) throws(ManagedObjectError) {
    guard let entity = store.schema.entity(named: root) else { throw unknown(root) }
    try sql { () throws(SQLiteError) in
      try store.connection.execute(
        "UPDATE \(store.qualified(PhysicalName.primaryKeyTable)) SET \(quote(PhysicalName.maximum)) = ?1"
          + " WHERE \(quote(PhysicalName.entity)) = ?2 AND IFNULL(\(Self.counter), 0) < ?1",
        [.integer(key), .integer(Int64(entity.number))])
    }
  }
}

private struct LinkWriter {
  let context: ManagedObjectContext

  private func key(of object: ManagedObject) -> Int64? { object.key == 0 ? nil : object.key }

  func writeLinks(of object: ManagedObject) throws(ManagedObjectError) {
    guard let own = key(of: object) else { return }
    for (name, links) in object.linkChanges.sorted(by: { $0.key < $1.key }) {
      guard let relationship = object.plan.relationship(name), relationship.writesLinks,
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
      for (order, column, parameter, known) in [
        (orderColumn, owner, "?1", "?3"), (inverseOrder, destination, "?2", "?4"),
      ] {
        if order != nil { try context.prepareSearch(in: table, by: column == owner ? ownerColumn : destinationColumn) }
        guard let order = order.map(quote) else { continue }
        columns.append(order)
        values.append(
          "IFNULL(\(known), (SELECT IFNULL(MAX(\(order)), \(OrderedPlace.first - OrderedPlace.step))"
            + " + \(OrderedPlace.step) FROM \(self.table(table)) WHERE \(column) = \(parameter)))")
      }
      let sql =
        "INSERT OR IGNORE INTO \(self.table(table)) (\(columns.joined(separator: ", ")))"
        + " VALUES (\(values.joined(separator: ", ")))"
      // If a whole list was set, `writePlaces(of:)` writes its places later, and none is computed here.
      func place(in list: [ManagedObject]?) -> SQLiteValue { list == nil ? .null : .integer(OrderedPlace.first) }
      for other in links.added where !other.isDeleted {
        guard let key = key(of: other) else { continue }
        let inverseList = relationship.inverse.flatMap { other.linkChanges[$0.name]?.list }
        let places = [place(in: links.list), place(in: inverseList)]
        let count = inverseOrder != nil ? 2 : orderColumn != nil ? 1 : 0
        try run(sql, [.integer(own), .integer(key)] + places.prefix(count))
      }
    }
  }

  /// Only of ordered relationships whose whole list was set.
  func writePlaces(of object: ManagedObject) throws(ManagedObjectError) {
    guard let own = key(of: object) else { return }
    for (name, links) in object.linkChanges {
      guard let list = links.list,
        case .join(let table, let owner, let destination, let order?) = object.plan.relationship(name)?.storage
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
