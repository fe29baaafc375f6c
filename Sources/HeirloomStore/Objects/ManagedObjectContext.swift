import HeirloomModel

/// A store's objects, and the changes to them that are not saved yet.
///
/// A context has one object for a row, for as long as something else retains it. A context and its changed objects
/// retain each other, so changes are never dropped by accident: end them with ``save()`` or ``rollback()``. A context
/// belongs to one task.
public final class ManagedObjectContext {
  /// The store.
  public let store: PersistentStore

  /// Rows are written in the caller's transaction, and new objects get keys at once.
  let isStreaming: Bool
  var changed: ArraySlice<ManagedObject> { noted[..<notedCount] }
  /// The changed objects, then the retired ones that a streaming context keeps for reuse.
  @exclusivity(unchecked) private var noted: [ManagedObject] = []
  @exclusivity(unchecked) private var notedCount: Int = 0
  let arena: ByteArena = ByteArena()
  /// By the number of their tree's root and by key; each removes itself when it is deallocated.
  @exclusivity(unchecked) private var registered: [[Int64: Unmanaged<ManagedObject>]]
  /// Of a streaming context, by the number of the tree's root; -1 before the first.
  @exclusivity(unchecked) private var lastKeys: [Int64]
  /// Of a streaming context, by the number of the tree's root.
  @exclusivity(unchecked) private var keyWindows: [KeyWindow]
  @exclusivity(unchecked) private var cursors: [RowCursor] = []
  @exclusivity(unchecked) var lastWrittenPlan: EntityPlan?
  @exclusivity(unchecked) var hasOnlyInsertions: Bool = true
  /// Objects whose changed key refers to a target; entries may be out of date.
  @exclusivity(unchecked) var references: [ReferenceKey: [ManagedObject]] = [:]
  @exclusivity(unchecked) var places: [ReferenceKey: Int64] = [:]
  @exclusivity(unchecked) var openLists: [OpenList] = []
  /// Times that links were read or changed, other than by an edit that continued an open list.
  @exclusivity(unchecked) var linkAccesses: Int = 0
  package internal(set) var membersRead: Int = 0
  @exclusivity(unchecked) private var deferredError: ManagedObjectError?
  /// Checked after each row, because copying the error itself is slow.
  @exclusivity(unchecked) private var hasDeferredError: Bool = false
  @exclusivity(unchecked) private var insertions: [Int]
  package internal(set) var writtenTables: Set<String> = []
  var writtenEntities: Set<Int> = []
  var suspects: SuspectTable?
  /// Before the context assigned any, by the number of the tree's root; -1 if it assigned none.
  private var keysBefore: [Int64]
  /// Columns that `prepareSearch(in:by:)` was called for, each with its table.
  var searches: Set<[String]> = []

  private static let unusedLimit: Int = 256

  struct ReferenceKey: Hashable {
    let table: String
    let column: String
    let target: ObjectIdentifier
  }

  /// Creates a context without changes.
  public convenience init(store: PersistentStore) {
    self.init(store: store, isStreaming: false)
  }

  /// For writing many objects in the caller's transaction, without validation.
  ///
  /// New objects get keys at once, so nothing else may insert into the same tables meanwhile. A
  /// query of the store writes pending changes first. Rows keep their number of saves.
  package convenience init(streamingInto store: PersistentStore) {
    self.init(store: store, isStreaming: true)
  }

  private init(store: PersistentStore, isStreaming: Bool) {
    self.store = store
    self.isStreaming = isStreaming
    let count = store.schema.entities.count + 1
    registered = Array(repeating: [:], count: count)
    insertions = Array(repeating: 0, count: count)
    lastKeys = Array(repeating: -1, count: isStreaming ? count : 0)
    keyWindows = Array(repeating: KeyWindow(), count: isStreaming ? count : 0)
    keysBefore = lastKeys
  }

  /// True if there are changes that are not saved.
  public var hasChanges: Bool {
    hasDeferredError || changed.contains { !($0.isNew && $0.isDeleted) }
  }

  // MARK: Making and finding objects

  /// Creates a new object with the default values of its attributes.
  ///
  /// - Parameter entityName: The name of an entity that is not abstract.
  /// - Returns: The object; it is in the store after the next save.
  /// - Throws: ``ManagedObjectError``.
  public func insert(_ entityName: String) throws(ManagedObjectError) -> ManagedObject {
    try insert(entityName, preferredKey: nil)
  }

  /// Only in a streaming context; no object of the tree may have the key.
  package func insert(_ entityName: String, preferredKey: Int64?) throws(ManagedObjectError) -> ManagedObject {
    let plan = try plan(for: entityName)
    guard !plan.entity.isAbstract else { throw .abstractEntity(entityName) }
    try checkWritable()
    insertions[plan.entity.number] += 1
    let object: ManagedObject
    if isStreaming {
      let key = if let preferredKey { try taken(preferredKey, plan) } else { try nextKey(plan) }
      if notedCount < noted.count {
        let unused = noted[notedCount]
        if unused.plan === plan {
          notedCount += 1
          unused.revive(key: key)
          if plan.hasInitialValues { unused.fill() }
          return unused
        }
      }
      object = ManagedObject(plan: plan, key: key, isNew: true, context: self)
    } else {
      object = ManagedObject(plan: plan, key: 0, isNew: true, context: self)
    }
    if plan.hasInitialValues { object.fill() }
    noteChange(of: object)
    return object
  }

  private func nextKey(_ plan: EntityPlan) throws(ManagedObjectError) -> Int64 {
    let last = lastKeys[plan.rootNumber]
    let (key, overflow) = (last >= 0 ? last : try keyBefore(plan)).addingReportingOverflow(1)
    guard !overflow else { throw usedUpKeys(inTreeOf: plan.entity.rootName) }
    lastKeys[plan.rootNumber] = key
    return key
  }

  private func keyBefore(_ plan: EntityPlan) throws(ManagedObjectError) -> Int64 {
    let key = try highestKey(inTreeOf: plan.entity.rootName)
    keysBefore[plan.rootNumber] = key
    return key
  }

  /// Objects that a streaming context inserted with keys of its own have higher ones.
  package func keyBeforeInsertions(inTreeOf entity: PhysicalEntity) -> Int64? {
    guard let root = store.schema.entity(named: entity.rootName)?.number, keysBefore.indices.contains(root) else {
      return nil
    }
    return keysBefore[root] < 0 ? nil : keysBefore[root]
  }

  /// Keeps a key that the caller chose from being assigned again.
  private func taken(_ key: Int64, _ plan: EntityPlan) throws(ManagedObjectError) -> Int64 {
    if lastKeys[plan.rootNumber] < 0 { lastKeys[plan.rootNumber] = try keyBefore(plan) }
    lastKeys[plan.rootNumber] = max(lastKeys[plan.rootNumber], key)
    return key
  }

  var givenKeys: [(root: String, key: Int64)] {
    lastKeys.enumerated().compactMap { number, key in
      key < 0 ? nil : store.schema.entity(numbered: number).map { ($0.name, key) }
    }
  }

  /// Returns the objects of an entity: saved ones by primary key, then new ones.
  ///
  /// - Parameters:
  ///   - entityName: The entity's name.
  ///   - includesSubentities: True to include objects of its descendants.
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

  /// Calls a closure with the objects of an entity, one after the other, without retaining them.
  ///
  /// An object is reused for the next row unless something else retains it. A weak reference doesn't.
  ///
  /// - Parameters:
  ///   - entityName: The entity's name.
  ///   - includesSubentities: True to include objects of its descendants.
  ///   - body: Receives an object; returns true to continue. It must not save or roll back.
  /// - Throws: ``ManagedObjectError``, the closure's included.
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
  ///   - includesSubentities: True to include objects of its descendants.
  /// - Returns: The number, with unsaved changes included.
  /// - Throws: ``ManagedObjectError``.
  public func count(_ entityName: String, includesSubentities: Bool = true) throws(ManagedObjectError) -> Int {
    try writeBeforeReading()
    var count = try countStored(entityName, RowSelection(includesSubentities: includesSubentities))
    for object in try changedObjects(of: entityName, includesSubentities: includesSubentities) {
      if object.isNew, !object.isDeleted { count += 1 }
      if !object.isNew, object.isDeleted { count -= 1 }
    }
    return count
  }

  /// Returns the object with the given identifier.
  ///
  /// - Parameter id: An identifier of this store.
  /// - Returns: `nil` if the store has no such object.
  /// - Throws: ``ManagedObjectError``.
  public func object(with id: ManagedObjectID) throws(ManagedObjectError) -> ManagedObject? {
    guard id.storeIdentifier == store.metadata.identifier else { return nil }
    try writeBeforeReading()
    let object = try object(inTreeOf: id.entityName, key: id.primaryKey)
    return object?.isDeleted == true ? nil : object
  }

  // MARK: What objects ask for

  func plan(for entityName: String) throws(ManagedObjectError) -> EntityPlan {
    guard let plan = store.plan(named: entityName) else { throw unknown(entityName) }
    return plan
  }

  /// The row isn't looked up; if there is none, reading the object throws an error.
  package func object(number: Int, key: Int64) -> ManagedObject? {
    guard let plan = store.plan(numbered: number) else { return nil }
    if let known = known(plan, key) { return known }
    let object = ManagedObject(plan: plan, key: key, isNew: false, context: self)
    register(object)
    return object
  }

  private func known(_ plan: EntityPlan, _ key: Int64) -> ManagedObject? {
    if let object = registered[plan.rootNumber][key]?.takeUnretainedValue() { return object }
    for cursor in cursors {
      guard let object = cursor.current, object.key == key, object.plan.rootNumber == plan.rootNumber else { continue }
      return object
    }
    // New objects are registered when they are written.
    guard isStreaming else { return nil }
    return changed.first { $0.key == key && $0.plan.rootNumber == plan.rootNumber }
  }

  /// Returns `nil` if there is no row, or one of an entity that is not a descendant.
  package func object(
    inTreeOf entityName: String, key: Int64
  ) throws(ManagedObjectError) -> ManagedObject? {
    try object(inTreeOf: try plan(for: entityName), key: key)
  }

  func object(inTreeOf plan: EntityPlan, key: Int64) throws(ManagedObjectError) -> ManagedObject? {
    // `known` searches changed objects one by one, so only a few are left unwritten.
    if notedCount > 32 { try writeBeforeReading() }
    if let object = known(plan, key) {
      return plan.entity.treeNumbers.contains(object.plan.entity.number) ? object : nil
    }
    let found: Int64?
    do throws(SQLiteError) {
      // Nothing but the context itself inserts into the tables of a streaming context or deletes from them.
      found =
        isStreaming
        ? try keyWindows[plan.rootNumber].entityNumber(ofKey: key, plan.writer)
        : try plan.writer.entityNumber(ofKey: key)
    } catch {
      throw wrap(error)
    }
    guard let found, let number = Int(exactly: found), plan.entity.treeNumbers.contains(number) else { return nil }
    return object(number: number, key: key)
  }

  func rowsChanged(of objects: some Collection<ManagedObject>, _ plan: EntityPlan) {
    guard isStreaming, !keyWindows[plan.rootNumber].isEmpty else { return }
    for object in objects { keyWindows[plan.rootNumber].rowChanged(key: object.key) }
  }

  /// With its number of saves.
  func row(
    of plan: EntityPlan, key: Int64
  ) throws(ManagedObjectError) -> (values: [SQLiteValue], version: SQLiteValue)? {
    try sql { () throws(SQLiteError) in
      let values: [SQLiteValue] = [.integer(key), .integer(Int64(plan.entity.number))]
      return try store.statements.withStatement(plan.selection, values) { row throws(SQLiteError) in
        guard try row.step() else { return nil }
        return ((1..<row.columnCount).map { row.value(at: $0) }, row.value(at: 0))
      }
    }
  }

  // MARK: Keeping track

  func noteChange(of object: ManagedObject) {
    if !object.isNew || object.isDeleted { hasOnlyInsertions = false }
    guard !object.isNoted else { return }
    object.isNoted = true
    if notedCount < noted.count { noted[notedCount] = object } else { noted.append(object) }
    notedCount += 1
  }

  func register(_ object: ManagedObject) {
    guard !object.isRegistered, object.key != 0 else { return }
    object.isRegistered = true
    registered[object.plan.rootNumber][object.key] = Unmanaged.passUnretained(object)
  }

  func forget(_ object: ManagedObject) {
    registered[object.plan.rootNumber][object.key] = nil
  }

  func registeredObject(_ plan: EntityPlan, _ key: Int64) -> ManagedObject? {
    registered[plan.rootNumber].isEmpty ? nil : registered[plan.rootNumber][key]?.takeUnretainedValue()
  }

  /// Those deleted again are included.
  package func insertedObjects(ofEntity number: Int) -> Int {
    insertions.indices.contains(number) ? insertions[number] : 0
  }

  func begin(_ cursor: RowCursor) { cursors.append(cursor) }

  func end(_ cursor: RowCursor) { cursors.removeAll { $0 === cursor } }

  func checkWritable() throws(ManagedObjectError) {
    guard !store.isReadOnly else { throw .store(StoreError(path: store.path, problem: .readOnly)) }
  }

  func deferError(_ error: ManagedObjectError) {
    guard !hasDeferredError else { return }
    (deferredError, hasDeferredError) = (error, true)
  }

  func takeDeferredError() -> ManagedObjectError? {
    guard hasDeferredError else { return nil }
    defer { (deferredError, hasDeferredError) = (nil, false) }
    return deferredError
  }

  func clearChanges() {
    for object in changed { object.clearChanges() }
    noted.removeAll()
    notedCount = 0
    hasOnlyInsertions = true
    references.removeAll()
    places.removeAll()
    arena.removeAll()
  }

  /// Keeps objects without other references for reuse.
  func clearWrittenChanges() {
    var hasUsed = notedCount > Self.unusedLimit
    for index in 0..<notedCount {
      let isHeld = !isKnownUniquelyReferenced(&noted[index])
      if noted[index].clearWrittenChanges(isHeld: isHeld) { continue }
      hasUsed = true
      guard !noted[index].isDeleted else { continue }
      noted[index].isNew = false
      register(noted[index])
    }
    if hasUsed { noted = Array(noted.lazy.filter { $0.isRetired }.prefix(Self.unusedLimit)) }
    notedCount = 0
    hasOnlyInsertions = true
    if !references.isEmpty { references.removeAll() }
    if !places.isEmpty { places.removeAll() }
    arena.removeAll()
  }
}

/// A context serves one task at a time, as its store does.
@available(*, unavailable)
extension ManagedObjectContext: Sendable {}
