import HeirloomModel

/// A view of a store's objects and the changes to them that are not saved yet.
///
/// An object is in a context once, and for as long as someone holds it. Changed objects are held by the context and
/// hold it, so changes are never dropped by accident: end them with ``save()`` or ``rollback()``. It belongs to one task.
public final class ManagedObjectContext {
  /// The store.
  public let store: PersistentStore

  /// Changed objects in the order of their first change.
  private(set) var changed: [ManagedObject] = []
  private var changedSet: Set<ManagedObject> = []
  private var plans: [String: EntityPlan] = [:]
  /// Objects that someone holds, by table and primary key.
  private var registered: [String: [Int64: WeakReference]] = [:]
  /// Objects whose key was changed to lead to another; entries may be out of date.
  private var references: [ReferenceKey: [ManagedObject]] = [:]
  /// The last places given in ordered relationships.
  private var places: [ReferenceKey: Int64] = [:]
  private var deferredError: ManagedObjectError?

  /// The last keys given, by the name of a tree's root; `nil` if keys are given when the context is saved.
  private(set) var lastKeys: [String: Int64]?

  /// The objects that were inserted, by the number of their entity.
  var insertions: [Int: Int] = [:]
  /// The tables that were written to.
  package internal(set) var writtenTables: Set<String> = []

  private struct WeakReference {
    weak var object: ManagedObject?
  }

  /// A column of a table and the object that it leads to.
  private struct ReferenceKey: Hashable {
    let table: String
    let column: String
    let target: ObjectIdentifier
  }

  /// Creates a context without changes.
  public init(store: PersistentStore) {
    self.store = store
  }

  /// Creates a context for writing many objects in a transaction of the caller's.
  ///
  /// New objects have keys at once. Only ``writePendingChanges()`` and ``writeKeyCounters()`` write, and nobody else may
  /// insert into the same tables meanwhile.
  ///
  /// - Parameter store: The store, or a view of one.
  package init(streamingInto store: PersistentStore) {
    self.store = store
    lastKeys = [:]
  }

  /// Whether there are changes that are not saved.
  public var hasChanges: Bool { !changed.isEmpty || deferredError != nil }

  // MARK: Making and finding objects

  /// Makes a new object with the default values of its attributes.
  ///
  /// - Parameter entityName: The name of an entity that is not abstract.
  /// - Returns: The object; it is in the store after the next save.
  /// - Throws: ``ManagedObjectError``.
  public func insert(_ entityName: String) throws(ManagedObjectError) -> ManagedObject {
    try insert(entityName, preferredKey: nil)
  }

  /// Makes a new object in a streaming context, with a key of the caller's.
  ///
  /// - Parameters:
  ///   - entityName: The name of an entity that is not abstract.
  ///   - preferredKey: A key that no object of the tree has; `nil` for the next one that was never given.
  /// - Returns: The object.
  /// - Throws: ``ManagedObjectError``.
  package func insert(_ entityName: String, preferredKey: Int64?) throws(ManagedObjectError) -> ManagedObject {
    let plan = try plan(for: entityName)
    guard !plan.entity.isAbstract else { throw .abstractEntity(entityName) }
    try checkWritable()
    var key: Int64?
    if lastKeys != nil {
      key = preferredKey
      if key == nil { key = try nextKey(inTreeOf: plan.entity.rootName) }
    }
    insertions[plan.entity.number, default: 0] += 1
    let object = ManagedObject(plan: plan, primaryKey: key, isNew: true, context: self)
    if let key { register(object, key) }
    for value in plan.defaults { object.changes[value.column] = .value(value.value) }
    noteChange(of: object)
    return object
  }

  /// Returns the objects of an entity: saved ones by primary key, then new ones.
  ///
  /// - Parameters:
  ///   - entityName: The entity's name.
  ///   - includesSubentities: Whether objects of its descendants count.
  ///   - limit: The most objects to return.
  /// - Returns: The objects.
  /// - Throws: ``ManagedObjectError``.
  public func fetch(
    _ entityName: String, includesSubentities: Bool = true, limit: Int = .max
  ) throws(ManagedObjectError) -> [ManagedObject] {
    var objects: [ManagedObject] = []
    guard limit > 0 else { return [] }
    try forEach(entityName, includesSubentities: includesSubentities) { object in
      objects.append(object)
      return objects.count < limit
    }
    return objects
  }

  /// Calls a closure with the objects of an entity, one after the other, without holding them.
  ///
  /// - Parameters:
  ///   - entityName: The entity's name.
  ///   - includesSubentities: Whether objects of its descendants count.
  ///   - body: What is done with an object; returns whether to go on. It must not save or roll back.
  /// - Throws: ``ManagedObjectError``, or what the closure throws as such.
  public func forEach(
    _ entityName: String, includesSubentities: Bool = true,
    _ body: (ManagedObject) throws(ManagedObjectError) -> Bool
  ) throws(ManagedObjectError) {
    let selection = RowSelection(includesSubentities: includesSubentities)
    var goesOn = true
    try forEachStored(entityName, selection) { object throws(ManagedObjectError) in
      goesOn = object.isDeleted ? true : try body(object)
      return goesOn
    }
    guard goesOn else { return }
    for object in try changedObjects(of: entityName, includesSubentities: includesSubentities)
    where object.isNew && !object.isDeleted {
      guard try body(object) else { return }
    }
  }

  /// Counts the objects of an entity.
  ///
  /// - Parameters:
  ///   - entityName: The entity's name.
  ///   - includesSubentities: Whether objects of its descendants count.
  /// - Returns: The number, with changes that are not saved yet.
  /// - Throws: ``ManagedObjectError``.
  public func count(_ entityName: String, includesSubentities: Bool = true) throws(ManagedObjectError) -> Int {
    let entity = try plan(for: entityName).entity
    let numbers = includesSubentities ? entity.treeNumbers : entity.number...entity.number
    let stored = try sql { () throws(SQLiteError) in
      try store.connection.firstInteger(
        "SELECT COUNT(*) FROM \(store.qualified(entity.table)) WHERE \(quote(PhysicalName.entity)) BETWEEN ?1 AND ?2",
        [.integer(Int64(numbers.lowerBound)), .integer(Int64(numbers.upperBound))])
    }
    var count = Int(stored ?? 0)
    for object in changed where numbers.contains(object.plan.entity.number) {
      if object.isNew, !object.isDeleted { count += 1 }
      if !object.isNew, object.isDeleted { count -= 1 }
    }
    return count
  }

  /// Returns the object of the given identifier.
  ///
  /// - Parameter id: An identifier of this store.
  /// - Returns: `nil` if the store has no such object.
  /// - Throws: ``ManagedObjectError``.
  public func object(with id: ManagedObjectID) throws(ManagedObjectError) -> ManagedObject? {
    guard id.storeIdentifier == store.metadata.identifier else { return nil }
    let object = try object(inTreeOf: id.entityName, number: nil, primaryKey: id.primaryKey)
    return object?.isDeleted == true ? nil : object
  }

  // MARK: What objects ask for

  func plan(for entityName: String) throws(ManagedObjectError) -> EntityPlan {
    if let plan = plans[entityName] { return plan }
    guard let plan = EntityPlan(entityName, of: store) else { throw .unknownEntity(entityName) }
    plans[entityName] = plan
    return plan
  }

  /// The object of a row, made if nobody holds it; `nil` for an unknown entity number.
  func object(number: Int64, primaryKey: Int64) -> ManagedObject? {
    guard let number = Int(exactly: number), let entity = store.schema.entity(numbered: number) else { return nil }
    if let object = registered[entity.table]?[primaryKey]?.object { return object }
    guard let plan = try? plan(for: entity.name) else { return nil }
    let object = ManagedObject(plan: plan, primaryKey: primaryKey, isNew: false, context: self)
    register(object, primaryKey)
    return object
  }

  /// The object of a primary key; `nil` if there is no row, or one of an entity that is no descendant.
  func object(
    inTreeOf entityName: String, number: Int64?, primaryKey: Int64
  ) throws(ManagedObjectError) -> ManagedObject? {
    let entity = try plan(for: entityName).entity
    if let object = registered[entity.table]?[primaryKey]?.object {
      return entity.treeNumbers.contains(object.plan.entity.number) ? object : nil
    }
    let sql =
      "SELECT \(quote(PhysicalName.entity)) FROM \(store.qualified(entity.table))"
      + " WHERE \(quote(PhysicalName.primaryKey)) = ?1"
    let found = try self.sql { () throws(SQLiteError) in
      try store.statements.withStatement(sql, [.integer(primaryKey)]) { row throws(SQLiteError) in
        try row.step() ? row.integer(at: 0) : nil
      }
    }
    guard let found, let number = Int(exactly: found), entity.treeNumbers.contains(number) else { return nil }
    return object(number: found, primaryKey: primaryKey)
  }

  /// Reads a row; `nil` if it is gone.
  func row(of plan: EntityPlan, primaryKey: Int64) throws(ManagedObjectError) -> [SQLiteValue]? {
    try sql { () throws(SQLiteError) in
      let values: [SQLiteValue] = [.integer(primaryKey), .integer(Int64(plan.entity.number))]
      return try store.statements.withStatement(plan.selection, values) { row throws(SQLiteError) in
        guard try row.step() else { return nil }
        return (0..<row.columnCount).map { row.value(at: $0) }
      }
    }
  }

  /// The objects whose key leads to another, with their places in an ordered relationship.
  func members(
    of owner: ManagedObject, table: String, keyColumn: String, orderColumn: String?, destination: String
  ) throws(ManagedObjectError) -> [(object: ManagedObject, place: Int64?)] {
    var members: [(object: ManagedObject, place: Int64?)] = []
    var seen: Set<ManagedObject> = []
    if !owner.isNew, let key = owner.primaryKey {
      let order = orderColumn.map(quote)
      let sql =
        "SELECT \(quote(PhysicalName.primaryKey)), \(quote(PhysicalName.entity)), \(order ?? "NULL")"
        + " FROM \(store.qualified(table)) WHERE \(quote(keyColumn)) = ?1"
        + " ORDER BY \(order.map { $0 + ", " } ?? "")\(quote(PhysicalName.primaryKey))"
      try self.sql { () throws(SQLiteError) in
        try store.statements.withStatement(sql, [.integer(key)]) { rows throws(SQLiteError) in
          while try rows.step() {
            guard let object = object(number: rows.integer(at: 1), primaryKey: rows.integer(at: 0)),
              object.changes[keyColumn] == nil, !object.isDeleted
            else { continue }
            seen.insert(object)
            members.append((object, rows.isNull(at: 2) ? nil : rows.integer(at: 2)))
          }
        }
      }
    }
    let key = ReferenceKey(table: table, column: keyColumn, target: ObjectIdentifier(owner))
    for object in references[key] ?? [] {
      guard case .reference(let target) = object.changes[keyColumn], target === owner, !object.isDeleted,
        seen.insert(object).inserted
      else { continue }
      members.append((object, nil))
    }
    guard let orderColumn else { return members }
    for index in members.indices {
      if case .value(let value) = members[index].object.changes[orderColumn] { members[index].place = value.integer }
    }
    // Members without a place come last, in the order in which they were found.
    return members.enumerated().sorted { left, right in
      (left.element.place ?? .max, left.offset) < (right.element.place ?? .max, right.offset)
    }.map(\.element)
  }

  /// The destinations of a many-to-many relationship as the store has them.
  func linkedObjects(
    of owner: ManagedObject, _ relationship: EntityPlan.Relationship
  ) throws(ManagedObjectError) -> [ManagedObject] {
    guard !owner.isNew, let key = owner.primaryKey,
      case .join(let table, let ownerColumn, let destinationColumn, let orderColumn) = relationship.storage
    else { return [] }
    let destination = try plan(for: relationship.description.destinationEntity).entity.table
    let key1 = quote(PhysicalName.primaryKey)
    func select(_ from: String, _ to: String) -> String {
      "SELECT d.\(key1), d.\(quote(PhysicalName.entity)), \(orderColumn.map { "j." + quote($0) } ?? "NULL") AS place"
        + " FROM \(store.qualified(table)) AS j JOIN \(store.qualified(destination)) AS d ON d.\(key1) = j.\(quote(to))"
        + " WHERE j.\(quote(from)) = ?1"
    }
    var sql = select(ownerColumn, destinationColumn)
    // How Core Data keeps links of a relationship that is its own inverse isn't known: either direction counts.
    if relationship.isOwnInverse { sql += " UNION \(select(destinationColumn, ownerColumn))" }
    sql += " ORDER BY place, 1"
    return try self.sql { () throws(SQLiteError) in
      try store.statements.withStatement(sql, [.integer(key)]) { rows throws(SQLiteError) in
        var objects: [ManagedObject] = []
        while try rows.step() {
          if let object = object(number: rows.integer(at: 1), primaryKey: rows.integer(at: 0)) {
            objects.append(object)
          }
        }
        return objects
      }
    }
  }

  // MARK: Keeping track

  func noteChange(of object: ManagedObject) {
    if changedSet.insert(object).inserted { changed.append(object) }
  }

  /// Changes a key of an object.
  func setReference(to target: ManagedObject?, column: String, of object: ManagedObject) {
    object.changes[column] = .reference(target)
    if let target {
      let key = ReferenceKey(table: object.plan.entity.table, column: column, target: ObjectIdentifier(target))
      references[key, default: []].append(object)
    }
    noteChange(of: object)
  }

  /// The place for a new last member of an ordered relationship.
  func nextPlace(
    table: String, keyColumn: String, orderColumn: String, owner: ManagedObject
  ) throws(ManagedObjectError) -> Int64 {
    let key = ReferenceKey(table: table, column: orderColumn, target: ObjectIdentifier(owner))
    let last: Int64
    if let known = places[key] {
      last = known
    } else {
      let members = try members(
        of: owner, table: table, keyColumn: keyColumn, orderColumn: orderColumn, destination: owner.entityName)
      last = members.compactMap(\.place).max() ?? OrderedPlace.first - OrderedPlace.step
    }
    let place = OrderedPlace.after(last)
    places[key] = place
    return place
  }

  func forgetPlaces(table: String, orderColumn: String, owner: ManagedObject) {
    places[ReferenceKey(table: table, column: orderColumn, target: ObjectIdentifier(owner))] = nil
  }

  func register(_ object: ManagedObject, _ primaryKey: Int64) {
    registered[object.plan.entity.table, default: [:]][primaryKey] = WeakReference(object: object)
  }

  func forget(_ table: String, _ primaryKey: Int64) {
    if registered[table]?[primaryKey]?.object == nil { registered[table]?[primaryKey] = nil }
  }

  /// Throws if the store is only for reading.
  func checkWritable() throws(ManagedObjectError) {
    guard !store.isReadOnly else { throw .store(StoreError(path: store.path, problem: .readOnly)) }
  }

  func noteKey(_ key: Int64, inTreeOf root: String) {
    lastKeys?[root] = key
  }

  func deferError(_ error: ManagedObjectError) {
    if deferredError == nil { deferredError = error }
  }

  /// The first error that a subscript left, which is told once.
  func takeDeferredError() -> ManagedObjectError? {
    defer { deferredError = nil }
    return deferredError
  }

  /// Forgets what was changed, once it is saved or given up.
  func clearChanges() {
    for object in changed {
      object.changes.removeAll()
      object.linkChanges.removeAll()
      object.row = nil
    }
    changed.removeAll()
    changedSet.removeAll()
    references.removeAll()
    places.removeAll()
  }

  /// Drops an object that was made and deleted without a save between.
  func dropUnsaved(_ object: ManagedObject) {
    guard changedSet.remove(object) != nil else { return }
    changed.removeAll { $0 === object }
  }

  // MARK: Errors

  func sql<Value: ~Copyable>(_ body: () throws(SQLiteError) -> Value) throws(ManagedObjectError) -> Value {
    do throws(SQLiteError) {
      return try body()
    } catch {
      throw wrap(error)
    }
  }

  /// Makes an object's error of SQLite's: a violated index tells which properties must differ.
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

/// A context is used by one task at a time, as its store is.
@available(*, unavailable)
extension ManagedObjectContext: Sendable {}
