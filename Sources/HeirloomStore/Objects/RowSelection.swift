package struct RowSelection: Equatable, Sendable {
  package static let alias: String = "o"

  /// With parameters from `?1` on; `nil` for all rows.
  package var condition: String?
  /// The values of the condition's parameters, then of the order's.
  package var bindings: [SQLiteValue]
  /// SQL terms; `nil` for the order of primary keys, which also breaks ties.
  package var order: String?
  package var limit: Int?
  package var offset: Int
  package var includesSubentities: Bool

  package init(
    where condition: String? = nil, bindings: [SQLiteValue] = [], order: String? = nil, limit: Int? = nil,
    offset: Int = 0, includesSubentities: Bool = true
  ) {
    self.condition = condition
    self.bindings = bindings
    self.order = order
    self.limit = limit
    self.offset = offset
    self.includesSubentities = includesSubentities
  }
}

extension RowSelection {
  /// If `trustsTree` is true, the caller skips rows of entities that don't belong in the table.
  func tail(
    of entity: PhysicalEntity, in store: PersistentStore, after key: Int64? = nil, trustsTree: Bool = false
  ) -> String {
    let last = key
    let key = "\(Self.alias).\(quote(PhysicalName.primaryKey))"
    let number = entity.numberSQL(ofRow: Self.alias)
    let numbers = entity.treeNumbers
    var conditions: [String] = []
    if trustsTree, limit == nil, offset == 0, entity.superentityNumber == 0, includesSubentities || numbers.count == 1 {
      // All rows of the table are wanted.
    } else if includesSubentities, numbers.count > 1 {
      // The plus sign keeps SQLite from using an index on entity numbers, whose rows it would have to sort.
      conditions.append("+\(number) BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)")
    } else {
      conditions.append("\(number) = \(entity.number)")
    }
    if let condition { conditions.append("(\(condition))") }
    if let last { conditions.append("\(key) > \(last)") }
    var sql = " FROM \(store.qualified(entity.table)) AS \(Self.alias)"
    if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }
    sql += " ORDER BY \(order.map { $0 + ", " } ?? "")\(key)"
    if limit != nil || offset > 0 { sql += " LIMIT \(max(0, limit ?? .max)) OFFSET \(max(0, offset))" }
    return sql
  }
}

extension ManagedObjectContext {
  /// Rows are selected by their stored values; `body` must not save or roll back.
  ///
  /// Deleted objects are passed too. The caller accounts for new objects, and for pending changes
  /// that add rows to the selection or remove them.
  package func forEachStored(
    _ entityName: String, _ selection: RowSelection, _ body: (ManagedObject) throws(ManagedObjectError) -> Bool
  ) throws(ManagedObjectError) {
    let plan = try plan(for: entityName)
    try writeBeforeReading()
    let cursor = try cursor(over: plan, selection)
    begin(cursor)
    defer { end(cursor) }
    var object: ManagedObject?
    let numbers = selection.includesSubentities ? plan.entity.treeNumbers : plan.entity.number...plan.entity.number
    let canSelectAnew = selection.order == nil && selection.limit == nil && selection.offset == 0
    while try step(cursor) {
      let key = cursor.key
      guard numbers.contains(cursor.entityNumber), let plan = store.plan(numbered: cursor.entityNumber) else {
        continue
      }
      if let known = registeredObject(plan, key) {
        guard try body(known) else { return }
        continue
      }
      // The previous row's object has no other reference, so it is reused for this row.
      if let object, object.plan === plan {
        object.reuse(key: key)
      } else {
        object = ManagedObject(plan: plan, key: key, isNew: false, context: self)
      }
      let goesOn: Bool
      do throws(ManagedObjectError) {
        goesOn = try pass(object, of: cursor, to: body)
      } catch {
        end(&object, of: cursor)
        throw error
      }
      end(&object, of: cursor)
      guard goesOn else { return }
      if canSelectAnew, let columns = cursor.betterColumns {
        let text = self.text(of: plan, selection, columns: columns, after: key)
        cursor.replace(try statement(text, selection), columns: columns)
      }
    }
  }

  private func pass(
    _ object: ManagedObject?, of cursor: RowCursor, to body: (ManagedObject) throws(ManagedObjectError) -> Bool
  ) throws(ManagedObjectError) -> Bool {
    guard let object else { return true }
    object.attach(cursor)
    return try body(object)
  }

  /// The object is kept for reuse only if there is no other reference to it.
  private func end(_ object: inout ManagedObject?, of cursor: RowCursor) {
    if isKnownUniquelyReferenced(&object), object?.isRegistered == false, object?.isDeleted == false {
      cursor.current = nil
    } else {
      object?.detach()
      if let object, !object.isDeleted { register(object) }
      cursor.current = nil
      object = nil
    }
  }

  private func step(_ cursor: RowCursor) throws(ManagedObjectError) -> Bool {
    do throws(SQLiteError) {
      return try cursor.step()
    } catch {
      throw wrap(error)
    }
  }

  private func cursor(over plan: EntityPlan, _ selection: RowSelection) throws(ManagedObjectError) -> RowCursor {
    let numbers = selection.includesSubentities ? plan.entity.treeNumbers : plan.entity.number...plan.entity.number
    let (names, maps) = RowCursor.columns(of: numbers.compactMap { store.plan(numbered: $0) })
    let statement = try statement(text(of: plan, selection, columns: names, after: nil), selection)
    return RowCursor(statement: statement, names: names, maps: maps)
  }

  private func text(
    of plan: EntityPlan, _ selection: RowSelection, columns: [String], after key: Int64?
  ) -> String {
    let list = columns.map { column in
      column == PhysicalName.entity
        ? plan.entity.numberSQL(ofRow: RowSelection.alias) : "\(RowSelection.alias).\(quote(column))"
    }.joined(separator: ", ")
    return "SELECT \(list)" + selection.tail(of: plan.entity, in: store, after: key, trustsTree: true)
  }

  private func statement(_ text: String, _ selection: RowSelection) throws(ManagedObjectError) -> Statement {
    try sql { () throws(SQLiteError) in
      let statement = try store.connection.prepare(text)
      try statement.bind(selection.bindings)
      return statement
    }
  }

  package func countStored(_ entityName: String, _ selection: RowSelection) throws(ManagedObjectError) -> Int {
    let plan = try plan(for: entityName)
    let count = try sql { () throws(SQLiteError) in
      try store.connection.firstInteger(
        "SELECT COUNT(*) FROM (SELECT 1\(selection.tail(of: plan.entity, in: store)))", selection.bindings)
    }
    return Int(clamping: count ?? 0)
  }

  /// New and deleted ones included, in the order of their first change.
  package func changedObjects(
    of entityName: String, includesSubentities: Bool = true
  ) throws(ManagedObjectError) -> [ManagedObject] {
    closeLists()
    let entity = try plan(for: entityName).entity
    let numbers = includesSubentities ? entity.treeNumbers : entity.number...entity.number
    return changed.filter { numbers.contains($0.plan.entity.number) }
  }
}
