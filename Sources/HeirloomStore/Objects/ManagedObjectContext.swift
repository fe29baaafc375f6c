import HeirloomModel

/// A view of a store's objects and of the changes to them that are not saved yet.
///
/// An object is in a context once, and for as long as someone keeps it. A context and its changed objects keep each
/// other, so changes are never dropped by accident: end them with ``save()`` or ``rollback()``. It belongs to one task.
public final class ManagedObjectContext {
  /// The store.
  public let store: PersistentStore

  /// True if rows are written in a transaction of the caller's, and new objects have keys at once.
  let isStreaming: Bool
  /// Changed objects in the order of their first change.
  var changed: ArraySlice<ManagedObject> { noted[..<notedCount] }
  /// The changed objects, then the unused ones that a streaming context keeps for objects to be made next.
  @exclusivity(unchecked) private var noted: [ManagedObject] = []
  @exclusivity(unchecked) private var notedCount: Int = 0
  /// New text and bytes of a streaming context.
  let arena: ByteArena = ByteArena()
  /// Objects that others can find, by the number of their tree's root and by key; each removes itself when it goes.
  @exclusivity(unchecked) private var registered: [[Int64: Unmanaged<ManagedObject>]]
  /// The last keys given in a streaming context, by the number of the tree's root; -1 before the first.
  @exclusivity(unchecked) private var lastKeys: [Int64]
  /// The rows that there are, as far as a streaming context knows, by the number of the tree's root.
  @exclusivity(unchecked) private var keyWindows: [KeyWindow]
  /// The cursors whose rows are being read.
  @exclusivity(unchecked) private var cursors: [RowCursor] = []
  @exclusivity(unchecked) var lastWrittenPlan: EntityPlan?
  /// True if all changed objects are new, and none has links.
  @exclusivity(unchecked) var hasOnlyInsertions: Bool = true
  /// Objects whose key was changed to lead to another; entries may be out of date.
  @exclusivity(unchecked) var references: [ReferenceKey: [ManagedObject]] = [:]
  /// The last places given in ordered relationships.
  @exclusivity(unchecked) var places: [ReferenceKey: Int64] = [:]
  /// The lists that edits may go on with.
  @exclusivity(unchecked) var openLists: [OpenList] = []
  /// The number of times that links were read or changed, other than by an edit that went on with an open list.
  @exclusivity(unchecked) var linkAccesses: Int = 0
  /// The number of objects that were read as members of to-many relationships.
  package internal(set) var membersRead: Int = 0
  @exclusivity(unchecked) private var deferredError: ManagedObjectError?
  /// True if there is an error: this is asked after each row, and an error takes long to copy.
  @exclusivity(unchecked) private var hasDeferredError: Bool = false
  /// The numbers of objects that were inserted, by the number of their entity.
  @exclusivity(unchecked) private var insertions: [Int]
  /// The tables that were written to.
  package internal(set) var writtenTables: Set<String> = []
  /// The numbers of the entities whose objects were written since someone asked.
  var writtenEntities: Set<Int> = []
  /// The changed rows that a save would refuse, as far as that can be told at once; `nil` until there is one.
  var suspects: SuspectTable?
  /// The highest keys before any was given, by the number of the tree's root; -1 where none was given.
  private var keysBefore: [Int64]
  /// The columns by which rows were asked for, each with its table.
  var searches: Set<[String]> = []

  /// The most objects that wait for their next use.
  private static let unusedLimit: Int = 256

  /// A column of a table and the object that it leads to.
  struct ReferenceKey: Hashable {
    let table: String
    let column: String
    let target: ObjectIdentifier
  }

  /// Creates a context without changes.
  public convenience init(store: PersistentStore) {
    self.init(store: store, isStreaming: false)
  }

  /// Creates a context for writing many objects in a transaction of the caller's.
  ///
  /// New objects have keys at once, and nobody else may insert into the same tables meanwhile. Nothing is validated. A
  /// query of the store writes pending changes first. Rows keep their number of saves.
  ///
  /// - Parameter store: The store, or a view of one.
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

  /// Gives a key to a new object of a streaming context.
  private func nextKey(_ plan: EntityPlan) throws(ManagedObjectError) -> Int64 {
    let last = lastKeys[plan.rootNumber]
    let (key, overflow) = (last >= 0 ? last : try keyBefore(plan)).addingReportingOverflow(1)
    guard !overflow else { throw usedUpKeys(inTreeOf: plan.entity.rootName) }
    lastKeys[plan.rootNumber] = key
    return key
  }

  /// Returns the highest key of a tree before one is given, and notes it.
  private func keyBefore(_ plan: EntityPlan) throws(ManagedObjectError) -> Int64 {
    let key = try highestKey(inTreeOf: plan.entity.rootName)
    keysBefore[plan.rootNumber] = key
    return key
  }

  /// Returns the highest key of a tree before a streaming context gave any; `nil` if it gave none.
  ///
  /// - Parameter entity: An entity of the tree.
  /// - Returns: The key; objects that the context inserted with keys of its own have higher ones.
  package func keyBeforeInsertions(inTreeOf entity: PhysicalEntity) -> Int64? {
    guard let root = store.schema.entity(named: entity.rootName)?.number, keysBefore.indices.contains(root) else {
      return nil
    }
    return keysBefore[root] < 0 ? nil : keysBefore[root]
  }

  /// Keeps a key of the caller's from being given again.
  private func taken(_ key: Int64, _ plan: EntityPlan) throws(ManagedObjectError) -> Int64 {
    if lastKeys[plan.rootNumber] < 0 { lastKeys[plan.rootNumber] = try keyBefore(plan) }
    lastKeys[plan.rootNumber] = max(lastKeys[plan.rootNumber], key)
    return key
  }

  /// The last keys that a streaming context gave, by the names of roots.
  var givenKeys: [(root: String, key: Int64)] {
    lastKeys.enumerated().compactMap { number, key in
      key < 0 ? nil : store.schema.entity(numbered: number).map { ($0.name, key) }
    }
  }

  /// Returns the objects of an entity: saved ones by primary key, then new ones.
  ///
  /// - Parameters:
  ///   - entityName: The entity's name.
  ///   - includesSubentities: True if objects of its descendants count.
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

  /// Calls a closure with the objects of an entity, one after the other, without keeping them.
  ///
  /// An object that nobody keeps stands for the next row afterwards; one that is kept stays what it is. A weak
  /// reference keeps nothing.
  ///
  /// - Parameters:
  ///   - entityName: The entity's name.
  ///   - includesSubentities: True if objects of its descendants count.
  ///   - body: Receives an object; returns whether to go on. It must not save or roll back.
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
  ///   - includesSubentities: True if objects of its descendants count.
  /// - Returns: The number, with changes that are not saved yet.
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

  /// Returns the object of the given identifier.
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

  /// Returns the object of a row, made if nobody keeps it; `nil` for an unknown entity number.
  ///
  /// This doesn't look up whether there is such a row; an object without one throws an error when it is read.
  ///
  /// - Parameters:
  ///   - number: The number of the row's entity.
  ///   - key: The row's primary key.
  /// - Returns: The object.
  package func object(number: Int, key: Int64) -> ManagedObject? {
    guard let plan = store.plan(numbered: number) else { return nil }
    if let known = known(plan, key) { return known }
    let object = ManagedObject(plan: plan, key: key, isNew: false, context: self)
    register(object)
    return object
  }

  /// Returns the object of a key, if someone keeps it.
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

  /// Returns the object of a primary key; `nil` if there is no row, or one of an entity that is not a descendant.
  package func object(
    inTreeOf entityName: String, key: Int64
  ) throws(ManagedObjectError) -> ManagedObject? {
    try object(inTreeOf: try plan(for: entityName), key: key)
  }

  /// Returns the object of a primary key, for an entity whose plan is known.
  func object(inTreeOf plan: EntityPlan, key: Int64) throws(ManagedObjectError) -> ManagedObject? {
    // A few changed objects are searched one by one.
    if notedCount > 32 { try writeBeforeReading() }
    if let object = known(plan, key) {
      return plan.entity.treeNumbers.contains(object.plan.entity.number) ? object : nil
    }
    let found: Int64?
    do throws(SQLiteError) {
      // Nobody else inserts into the tables of a streaming context or deletes from them.
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

  /// Notes that rows of one tree were inserted or deleted.
  func rowsChanged(of objects: some Collection<ManagedObject>, _ plan: EntityPlan) {
    guard isStreaming, !keyWindows[plan.rootNumber].isEmpty else { return }
    for object in objects { keyWindows[plan.rootNumber].rowChanged(key: object.key) }
  }

  /// Reads a row, with its number of saves; `nil` if it is gone.
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

  /// Lets others find an object by its key, as long as someone keeps it.
  func register(_ object: ManagedObject) {
    guard !object.isRegistered, object.key != 0 else { return }
    object.isRegistered = true
    registered[object.plan.rootNumber][object.key] = Unmanaged.passUnretained(object)
  }

  /// Removes an object from those that can be found, as it goes.
  func forget(_ object: ManagedObject) {
    registered[object.plan.rootNumber][object.key] = nil
  }

  /// Returns the registered object of a key.
  func registeredObject(_ plan: EntityPlan, _ key: Int64) -> ManagedObject? {
    registered[plan.rootNumber].isEmpty ? nil : registered[plan.rootNumber][key]?.takeUnretainedValue()
  }

  /// Returns the number of objects of exactly one entity that were inserted since the context was made.
  ///
  /// - Parameter number: The entity's number.
  /// - Returns: The number of objects, those that were deleted again included.
  package func insertedObjects(ofEntity number: Int) -> Int {
    insertions.indices.contains(number) ? insertions[number] : 0
  }

  func begin(_ cursor: RowCursor) { cursors.append(cursor) }

  func end(_ cursor: RowCursor) { cursors.removeAll { $0 === cursor } }

  /// Throws an error if the store is only for reading.
  func checkWritable() throws(ManagedObjectError) {
    guard !store.isReadOnly else { throw .store(StoreError(path: store.path, problem: .readOnly)) }
  }

  func deferError(_ error: ManagedObjectError) {
    guard !hasDeferredError else { return }
    (deferredError, hasDeferredError) = (error, true)
  }

  /// Returns the first error that a subscript left, and forgets it.
  func takeDeferredError() -> ManagedObjectError? {
    guard hasDeferredError else { return nil }
    defer { (deferredError, hasDeferredError) = (nil, false) }
    return deferredError
  }

  /// Forgets changes once they are saved or given up.
  func clearChanges() {
    for object in changed { object.clearChanges() }
    noted.removeAll()
    notedCount = 0
    hasOnlyInsertions = true
    references.removeAll()
    places.removeAll()
    arena.removeAll()
  }

  /// Forgets changes that were written, and keeps objects that nobody else has for their next use.
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
