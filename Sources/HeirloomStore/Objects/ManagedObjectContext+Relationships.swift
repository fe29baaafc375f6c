import HeirloomModel

extension ManagedObjectContext {
  func members(
    of owner: ManagedObject, table: String, keyColumn: String, orderColumn: String?
  ) throws(ManagedObjectError) -> [(object: ManagedObject, place: Int64?)] {
    try writeBeforeReading()
    var members: [(object: ManagedObject, place: Int64?)] = []
    var seen: Set<ManagedObject> = []
    if !owner.isNew {
      try prepareSearch(in: table, by: keyColumn)
      let order = orderColumn.map(quote)
      let sql =
        "SELECT \(quote(PhysicalName.primaryKey)), \(store.schema.numberSQL(inTable: table)), \(order ?? "NULL")"
        + " FROM \(store.qualified(table)) WHERE \(quote(keyColumn)) = ?1"
        + " ORDER BY \(order.map { $0 + ", " } ?? "")\(quote(PhysicalName.primaryKey))"
      try self.sql { () throws(SQLiteError) in
        try store.statements.withStatement(sql, [.integer(owner.key)]) { rows throws(SQLiteError) in
          while try rows.step() {
            guard let object = object(number: Int(clamping: rows.integer(at: 1)), key: rows.integer(at: 0)),
              object.pendingValue(ofColumn: keyColumn).isUnchanged, !object.isDeleted
            else { continue }
            seen.insert(object)
            members.append((object, rows.isNull(at: 2) ? nil : rows.integer(at: 2)))
          }
        }
      }
    }
    let key = ReferenceKey(table: table, column: keyColumn, target: ObjectIdentifier(owner))
    for object in references[key] ?? [] {
      guard let slot = object.plan.slot(ofColumn: keyColumn), object.pendingReference(slot) === owner,
        !object.isDeleted,
        seen.insert(object).inserted
      else { continue }
      members.append((object, nil))
    }
    membersRead += members.count
    guard let orderColumn else { return members }
    for index in members.indices {
      switch members[index].object.pendingValue(ofColumn: orderColumn) {
      case .integer(let place): members[index].place = place
      case .unchanged: continue
      default: members[index].place = nil
      }
    }
    // Members without a place come last, in the order in which they were found.
    return members.enumerated().sorted { left, right in
      (left.element.place ?? .max, left.offset) < (right.element.place ?? .max, right.offset)
    }.map(\.element)
  }

  func linkedObjects(
    of owner: ManagedObject, _ relationship: PlannedRelationship
  ) throws(ManagedObjectError) -> [ManagedObject] {
    try writeBeforeReading()
    guard !owner.isNew,
      case .join(let table, let ownerColumn, let destinationColumn, let orderColumn) = relationship.storage
    else { return [] }
    let entity = try plan(for: relationship.description.destinationEntity).entity
    let key1 = quote(PhysicalName.primaryKey)
    func select(_ from: String, _ to: String) -> String {
      "SELECT d.\(key1), \(entity.numberSQL(ofRow: "d")), \(orderColumn.map { "j." + quote($0) } ?? "NULL") AS place"
        + " FROM \(store.qualified(table)) AS j JOIN \(store.qualified(entity.table)) AS d ON d.\(key1) = j.\(quote(to))"
        + " WHERE j.\(quote(from)) = ?1"
    }
    var sql = select(ownerColumn, destinationColumn)
    // It is unknown how Core Data stores links of a relationship that is its own inverse, so either direction counts.
    try prepareSearch(in: table, by: ownerColumn)
    if relationship.isOwnInverse { try prepareSearch(in: table, by: destinationColumn) }
    if relationship.isOwnInverse { sql += " UNION \(select(destinationColumn, ownerColumn))" }
    sql += " ORDER BY place, 1"
    return try self.sql { () throws(SQLiteError) in
      try store.statements.withStatement(sql, [.integer(owner.key)]) { rows throws(SQLiteError) in
        var objects: [ManagedObject] = []
        while try rows.step() {
          if let object = object(number: Int(clamping: rows.integer(at: 1)), key: rows.integer(at: 0)) {
            objects.append(object)
          }
        }
        membersRead += objects.count
        return objects
      }
    }
  }

  func setReference(to target: ManagedObject?, column: String, of object: ManagedObject) {
    guard let slot = object.plan.slot(ofColumn: column) else { return }
    let entitySlot = object.plan.relationships.first { $0.slot == slot }?.entitySlot ?? -1
    let number = target.map { SlotValue.integer(Int64($0.plan.entity.number)) } ?? .null
    if entitySlot >= 0 { object.change(entitySlot, to: number) }
    guard let target else { return object.change(slot, to: .null) }
    guard !isStreaming else { return object.change(slot, to: .integer(target.key)) }
    object.change(slot, toPayload: .reference(target))
    let key = ReferenceKey(table: object.plan.entity.table, column: column, target: ObjectIdentifier(target))
    references[key, default: []].append(object)
  }

  func nextPlace(
    table: String, keyColumn: String, orderColumn: String, owner: ManagedObject
  ) throws(ManagedObjectError) -> Int64 {
    let key = ReferenceKey(table: table, column: orderColumn, target: ObjectIdentifier(owner))
    let last: Int64
    if let known = places[key] {
      last = known
    } else {
      let members = try members(of: owner, table: table, keyColumn: keyColumn, orderColumn: orderColumn)
      last = members.compactMap(\.place).max() ?? OrderedPlace.first - OrderedPlace.step
    }
    let place = OrderedPlace.after(last)
    places[key] = place
    return place
  }

  func forgetPlaces(table: String, orderColumn: String, owner: ManagedObject) {
    places[ReferenceKey(table: table, column: orderColumn, target: ObjectIdentifier(owner))] = nil
  }
}
