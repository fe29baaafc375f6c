import HeirloomModel

/// An object of a store.
///
/// Its values are read from the store when they are first asked for, and changes stay in memory until the context is
/// saved. It belongs to the task of its context.
public final class ManagedObject {
  /// The name of the object's entity.
  public var entityName: String { plan.entity.name }
  /// The context, kept by its objects.
  public var context: ManagedObjectContext { contextReference }
  /// Whether the store has no row of the object yet.
  package internal(set) var isNew: Bool
  /// Whether the object was deleted.
  package internal(set) var isDeleted: Bool = false

  let plan: EntityPlan
  /// The primary key; 0 before the object is first saved, unless keys are given on insertion.
  package internal(set) var key: Int64
  /// Whether the context has the object among the changed ones.
  var isNoted: Bool = false
  /// Whether the context finds the object by its key.
  var isRegistered: Bool = false
  /// The rows of which the current one is the object's, while it is.
  private(set) var cursor: RowCursor?
  /// The slots of the row; `nil` before it is read.
  var row: [SQLiteValue]?
  /// The number of saves of the row that values were read from.
  var version: SQLiteValue?
  /// Changed links of many-to-many relationships by name.
  var linkChanges: [String: PendingLinks] = [:]
  /// Values of transient attributes by name.
  var transientValues: [String: AttributeValue] = [:]

  /// Changed slots, made with the first change.
  private var pending: UnsafeMutablePointer<SlotValue>?
  /// Valid as long as the object can be used: ``heldContext`` keeps the context, and the context its unused objects.
  private unowned(unsafe) let contextReference: ManagedObjectContext
  /// Keeps the context; `nil` only while the object waits in the context for its next use.
  private var heldContext: ManagedObjectContext?

  init(plan: EntityPlan, key: Int64, isNew: Bool, context: ManagedObjectContext) {
    self.plan = plan
    self.key = key
    self.isNew = isNew
    contextReference = context
    heldContext = context
  }

  deinit {
    if isRegistered { contextReference.forget(self) }
    guard let pending else { return }
    pending.deinitialize(count: plan.columns.count)
    pending.deallocate()
  }

  /// The number of the object's entity in its store.
  package var entityNumber: Int { plan.entity.number }

  /// The object's identifier; `nil` before the object is first saved.
  public var objectID: ManagedObjectID? {
    guard key != 0 else { return nil }
    return ManagedObjectID(
      storeIdentifier: context.store.metadata.identifier, entityName: entityName, primaryKey: key)
  }

  /// Whether the object has changes that are not saved.
  public var hasChanges: Bool { isNew || isDeleted || isNoted }

  // MARK: Parts

  /// Runs a closure and leaves its error to the context's next save.
  @discardableResult
  func deferring<Value>(_ body: () throws(ManagedObjectError) -> Value) -> Value? {
    do throws(ManagedObjectError) {
      return try body()
    } catch {
      context.deferError(error)
      return nil
    }
  }

  /// The identifier for messages; 0 for an object that is not saved.
  var identifier: ManagedObjectID {
    ManagedObjectID(storeIdentifier: context.store.metadata.identifier, entityName: entityName, primaryKey: key)
  }

  func unknown(_ property: String) -> ManagedObjectError {
    .unknownProperty(entity: entityName, property: property)
  }

  /// The context of an object that can be used.
  func openContext() throws(ManagedObjectError) -> ManagedObjectContext {
    guard !isDeleted else { throw .deleted(entity: entityName) }
    return contextReference
  }

  /// The context of an object that can be changed.
  func changeableContext() throws(ManagedObjectError) -> ManagedObjectContext {
    try contextReference.checkWritable()
    return try openContext()
  }

  // MARK: Changed slots

  /// Whether a slot is to be written.
  @inline(__always)
  func isChanged(_ slot: Int) -> Bool {
    guard let pending else { return false }
    return !pending[slot].isUnchanged
  }

  /// What a slot is to hold.
  @inline(__always)
  func pendingValue(_ slot: Int) -> SlotValue {
    guard let pending else { return .unchanged }
    return pending[slot]
  }

  /// What a column is to hold.
  func pendingValue(ofColumn column: String) -> SlotValue {
    plan.slot(ofColumn: column).map { pendingValue($0) } ?? .unchanged
  }

  /// Sets what a slot is to hold, without telling the context.
  @inline(__always)
  func setPending(_ slot: Int, to value: SlotValue) {
    slots()[slot] = value
  }

  /// Changes a slot.
  @inline(__always)
  func change(_ slot: Int, to value: SlotValue) {
    slots()[slot] = value
    if !isNoted { contextReference.noteChange(of: self) }
  }

  @inline(__always)
  private func slots() -> UnsafeMutablePointer<SlotValue> {
    if let pending { return pending }
    let slots = UnsafeMutablePointer<SlotValue>.allocate(capacity: max(1, plan.columns.count))
    slots.initialize(repeating: .unchanged, count: plan.columns.count)
    pending = slots
    return slots
  }

  /// Gives a new object what the model says.
  func fill() {
    for (slot, value) in plan.template.enumerated() where !value.isUnchanged { setPending(slot, to: value) }
  }

  /// Forgets changes, and what was read before them.
  func clearChanges() {
    if let pending {
      for slot in plan.columns.indices { pending[slot] = .unchanged }
    }
    if !linkChanges.isEmpty { linkChanges.removeAll() }
    isNoted = false
    row = nil
    version = nil
  }

  /// Lets go of keys that would lead to deleted objects.
  func dropDeletedReferences() {
    guard let pending else { return }
    for slot in plan.columns.indices {
      guard case .reference(let target) = pending[slot], target.isDeleted else { continue }
      pending[slot] = .null
      guard let relationship = plan.relationships.first(where: { $0.slot == slot }), relationship.entitySlot >= 0 else {
        continue
      }
      pending[relationship.entitySlot] = .null
    }
  }

  // MARK: The row

  /// A slot: the change, or what the row has.
  func storedValue(_ slot: Int) throws(ManagedObjectError) -> SQLiteValue {
    guard !isDeleted else { throw .deleted(entity: entityName) }
    switch pendingValue(slot) {
    case .unchanged: break
    case .null: return .null
    case .integer(let integer): return .integer(integer)
    case .real(let real): return .real(real)
    case .text(let text): return .text(text)
    case .blob(let bytes): return .blob(bytes)
    case .bytes(let offset, let count):
      let bytes = contextReference.arena.bytes(offset: offset, count: count)
      return plan.kinds[slot].isText ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(Array(bytes))
    case .reference(let target):
      return target.isDeleted || target.key == 0 ? .null : .integer(target.key)
    }
    if isNew { return .null }
    if let cursor { return cursor.statement.value(at: cursor.column(slot)) }
    return try loadedRow()[slot]
  }

  func loadedRow() throws(ManagedObjectError) -> [SQLiteValue] {
    if let row { return row }
    guard let (found, foundVersion) = try contextReference.row(of: plan, key: key) else {
      throw .missingRow(identifier)
    }
    row = found
    // Changes are made on what was read first: if that was another version, the save finds the conflict.
    if version == nil { version = foundVersion }
    return found
  }

  /// The number of saves of the row that the object is based on; `nil` if nothing was read.
  var currentVersion: SQLiteValue? {
    if let cursor, cursor.current === self { return cursor.version }
    return version
  }

  /// Makes the current row of a cursor the object's.
  @inline(__always)
  func attach(_ cursor: RowCursor) {
    if self.cursor !== cursor { self.cursor = cursor }
    cursor.current = self
  }

  /// Makes the object stand for another row of the same entity; nobody else may have it.
  @inline(__always)
  func reuse(key: Int64) {
    self.key = key
    if row != nil { row = nil }
    if version != nil { version = nil }
    if !transientValues.isEmpty { transientValues.removeAll() }
  }

  /// Ends the use of a cursor's row, of which a small one is kept.
  func detach() {
    guard let cursor else { return }
    if cursor.current === self {
      version = cursor.version
      row = cursor.smallRow()
      cursor.current = nil
    }
    self.cursor = nil
  }

  /// Ends the use of a cursor's row, which is out of date.
  func forgetRow() {
    if let cursor, cursor.current === self { cursor.current = nil }
    cursor = nil
    row = nil
    version = nil
  }

  // MARK: Objects that wait for their next use

  /// Lets go of the context, which keeps the object from now on.
  func retire() {
    isNew = true
    key = 0
    if !transientValues.isEmpty { transientValues.removeAll() }
    heldContext = nil
  }

  /// Takes up the context again.
  func revive(key: Int64) {
    self.key = key
    heldContext = contextReference
  }
}

/// An object is used by one task at a time, as its context is.
@available(*, unavailable)
extension ManagedObject: Sendable {}

extension ManagedObject: Hashable {
  /// Whether two references are the same object.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

  /// Hashes the reference.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

/// Changes to the links of one many-to-many relationship.
struct PendingLinks {
  /// New destinations in the order in which they came.
  private(set) var added: [ManagedObject] = []
  private(set) var removed: Set<ManagedObject> = []
  private var known: Set<ManagedObject> = []
  /// The whole list of an ordered relationship, once it was set.
  var list: [ManagedObject]?

  mutating func add(_ object: ManagedObject) {
    removed.remove(object)
    if known.insert(object).inserted { added.append(object) }
    if list?.contains(object) == false { list?.append(object) }
  }

  mutating func remove(_ object: ManagedObject) {
    removed.insert(object)
    if known.remove(object) != nil { added.removeAll { $0 === object } }
    list?.removeAll { $0 === object }
  }
}
