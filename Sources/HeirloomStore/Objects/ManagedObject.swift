import HeirloomModel

/// An object of a store.
///
/// Values are read from the store when they are first used, and changes stay in memory until the context is saved. An
/// object belongs to the task of its context.
public final class ManagedObject {
  /// The name of the object's entity.
  public var entityName: String { plan.entity.name }
  /// The context, which its objects retain.
  public var context: ManagedObjectContext { contextReference.takeUnretainedValue() }
  /// True while the store has no row for the object.
  @exclusivity(unchecked) package internal(set) var isNew: Bool
  /// True if the object was deleted.
  @exclusivity(unchecked) package internal(set) var isDeleted: Bool = false

  let plan: EntityPlan
  /// The primary key; 0 before the object is first saved, unless keys are given on insertion.
  @exclusivity(unchecked) package internal(set) var key: Int64
  /// True while the context lists the object among the changed ones.
  @exclusivity(unchecked) var isNoted: Bool = false
  /// True if the context can find the object by its key.
  @exclusivity(unchecked) var isRegistered: Bool = false
  /// The cursor whose current row is the object's; `nil` if there is none.
  @exclusivity(unchecked) private(set) var cursor: RowCursor?
  /// The row's values, by slot; `nil` before it is read.
  @exclusivity(unchecked) var row: [SQLiteValue]?
  /// The row's number of saves when its values were read.
  @exclusivity(unchecked) var version: SQLiteValue?
  /// Changed links of many-to-many relationships by name.
  @exclusivity(unchecked) var linkChanges: [String: PendingLinks] = [:]
  /// Values of transient attributes by name.
  @exclusivity(unchecked) var transientValues: [String: AttributeValue] = [:]

  /// Changed slots, allocated on the first change.
  @exclusivity(unchecked) private var pending: UnsafeMutablePointer<SlotValue>?
  /// The context, unretained: `heldContext` retains it while the object is in use, and it owns the retired objects.
  let contextReference: Unmanaged<ManagedObjectContext>
  /// True if text and bytes are kept in the context's arena.
  let isStreaming: Bool
  private let isReadOnly: Bool
  /// The values that slots refer to by position.
  @exclusivity(unchecked) private(set) var payloads: [SlotPayload] = []
  /// The reference that retains the context; `nil` only while the object is retired.
  @exclusivity(unchecked) private var heldContext: ManagedObjectContext?

  init(plan: EntityPlan, key: Int64, isNew: Bool, context: ManagedObjectContext) {
    self.plan = plan
    self.key = key
    self.isNew = isNew
    contextReference = Unmanaged.passUnretained(context)
    heldContext = context
    isStreaming = context.isStreaming
    isReadOnly = context.store.isReadOnly
  }

  deinit {
    if isRegistered { contextReference._withUnsafeGuaranteedRef { $0.forget(self) } }
    pending?.deallocate()
  }

  /// The number of the object's entity in its store.
  package var entityNumber: Int { plan.entity.number }

  /// The object's identifier; `nil` before the object is first saved.
  public var objectID: ManagedObjectID? {
    guard key != 0 else { return nil }
    return ManagedObjectID(
      storeIdentifier: context.store.metadata.identifier, entityName: entityName, primaryKey: key)
  }

  /// True if the object has changes that are not saved.
  public var hasChanges: Bool { isNew || isDeleted || isNoted }

  // MARK: Parts

  /// Runs a closure; the context's next save throws its error.
  @discardableResult
  func deferring<Value>(_ body: () throws(ManagedObjectError) -> Value) -> Value? {
    do throws(ManagedObjectError) {
      return try body()
    } catch {
      context.deferError(error)
      return nil
    }
  }

  /// The identifier for messages; its key is 0 for an object that is not saved.
  var identifier: ManagedObjectID {
    ManagedObjectID(storeIdentifier: context.store.metadata.identifier, entityName: entityName, primaryKey: key)
  }

  func unknown(_ property: String) -> ManagedObjectError {
    .unknownProperty(
      entity: entityName, property: property,
      nearest: context.store.schema.model.nearestProperty(to: property, of: entityName))
  }

  /// Returns the context, or throws if the object was deleted.
  func openContext() throws(ManagedObjectError) -> ManagedObjectContext {
    guard !isDeleted else { throw .deleted(entity: entityName) }
    return context
  }

  @inline(__always)
  func checkChangeable() throws(ManagedObjectError) {
    if isReadOnly { try context.checkWritable() }
    if isDeleted { throw .deleted(entity: entityName) }
  }

  func changeableContext() throws(ManagedObjectError) -> ManagedObjectContext {
    try checkChangeable()
    return context
  }

  /// Records that code read a property, if reads are recorded.
  ///
  /// `property` is an attribute's slot, or the position of a relationship after all slots of attributes.
  @inline(__always)
  func noteRead(_ property: Int) {
    if let reads = plan.reads { reads.note(property, of: key) }
  }

  // MARK: Changed slots

  @inline(__always)
  func isChanged(_ slot: Int) -> Bool {
    guard let pending else { return false }
    return !pending[slot].isUnchanged
  }

  @inline(__always)
  func pendingValue(_ slot: Int) -> SlotValue {
    guard let pending else { return .unchanged }
    return pending[slot]
  }

  func pendingValue(ofColumn column: String) -> SlotValue {
    plan.slot(ofColumn: column).map { pendingValue($0) } ?? .unchanged
  }

  /// Sets a slot without registering the object as changed.
  @inline(__always)
  func setPending(_ slot: Int, to value: SlotValue) {
    slots()[slot] = value
  }

  @inline(__always)
  func change(_ slot: Int, to value: SlotValue) {
    slots()[slot] = value
    if let edits = plan.edits { edits.note(slot: slot, of: key) }
    if !isNoted { contextReference._withUnsafeGuaranteedRef { $0.noteChange(of: self) } }
  }

  /// Changes a slot to a value that is kept in `payloads`.
  func change(_ slot: Int, toPayload payload: SlotPayload) {
    if case .payload(let position) = pendingValue(slot) {
      payloads[position] = payload
    } else {
      payloads.append(payload)
      setPending(slot, to: .payload(payloads.count - 1))
    }
    if !isNoted { contextReference._withUnsafeGuaranteedRef { $0.noteChange(of: self) } }
  }

  func change(_ slot: Int, toValue value: SQLiteValue) {
    switch value {
    case .null: change(slot, to: .null)
    case .integer(let integer): change(slot, to: .integer(integer))
    case .real(let real): change(slot, to: .real(real))
    // Bytes in the arena are bound with the storage class of the slot's type. A value of another class, which another
    // program may have written, keeps its class as a payload.
    case .text(var text):
      guard isStreaming, plan.kinds[slot].isText else { return change(slot, toPayload: .text(text)) }
      text.withUTF8 { change(slot, toCopyOf: UnsafeRawBufferPointer($0)) }
    case .blob(let bytes):
      guard isStreaming, !plan.kinds[slot].isText else { return change(slot, toPayload: .blob(bytes)) }
      bytes.withUnsafeBytes { change(slot, toCopyOf: $0) }
    }
  }

  /// Changes a slot to text or bytes, which are copied to the context's arena.
  @inline(__always)
  func change(_ slot: Int, toCopyOf bytes: UnsafeRawBufferPointer) {
    let offset = contextReference._withUnsafeGuaranteedRef { $0.arena.append(bytes) }
    change(slot, to: .bytes(offset: offset, count: bytes.count))
  }

  /// Returns the object that a changed key refers to.
  func pendingReference(_ slot: Int) -> ManagedObject? {
    guard case .payload(let position) = pendingValue(slot), case .reference(let target) = payloads[position] else {
      return nil
    }
    return target
  }

  @inline(__always)
  private func slots() -> UnsafeMutablePointer<SlotValue> {
    if let pending { return pending }
    let slots = UnsafeMutablePointer<SlotValue>.allocate(capacity: max(1, plan.columns.count))
    slots.initialize(repeating: .unchanged, count: plan.columns.count)
    pending = slots
    return slots
  }

  /// Sets a new object's attributes to the model's default values.
  func fill() {
    for (slot, value) in plan.template.enumerated() {
      if let value { change(slot, toValue: value) }
    }
  }

  /// Discards changes and the cached row.
  func clearChanges() {
    pending?.update(repeating: .unchanged, count: plan.slotCount)
    if !payloads.isEmpty { payloads.removeAll() }
    if !linkChanges.isEmpty { linkChanges.removeAll() }
    isNoted = false
    if row != nil { row = nil }
    if version != nil { version = nil }
  }

  /// Removes keys that refer to deleted objects.
  func dropDeletedReferences() {
    guard !payloads.isEmpty else { return }
    for slot in plan.columns.indices where pendingReference(slot)?.isDeleted == true {
      setPending(slot, to: .null)
      let relationship = plan.relationships.first { $0.slot == slot }
      if let relationship, relationship.entitySlot >= 0 { setPending(relationship.entitySlot, to: .null) }
    }
  }

  // MARK: The row

  /// Returns a slot's value: the change, or the row's value.
  func storedValue(_ slot: Int) throws(ManagedObjectError) -> SQLiteValue {
    guard !isDeleted else { throw .deleted(entity: entityName) }
    switch pendingValue(slot) {
    case .unchanged: break
    case .null: return .null
    case .integer(let integer): return .integer(integer)
    case .real(let real): return .real(real)
    case .bytes(let offset, let count):
      let bytes = context.arena.bytes(offset: offset, count: count)
      return plan.kinds[slot].isText ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(Array(bytes))
    case .payload(let position):
      switch payloads[position] {
      case .text(let text): return .text(text)
      case .blob(let bytes): return .blob(bytes)
      case .reference(let target): return target.isDeleted || target.key == 0 ? .null : .integer(target.key)
      }
    }
    if isNew { return .null }
    if let cursor {
      let column = cursor.column(slot)
      if column >= 0 { return cursor.statement.value(at: column) }
    }
    return try loadedRow()[slot]
  }

  func loadedRow() throws(ManagedObjectError) -> [SQLiteValue] {
    if let row { return row }
    guard let (found, foundVersion) = try context.row(of: plan, key: key) else {
      throw .missingRow(identifier)
    }
    row = found
    // Changes are based on the version that was read first; if the row has another by then, the save reports a
    // conflict.
    if version == nil { version = foundVersion }
    return found
  }

  /// The number of saves of the row that the object is based on; `nil` if nothing was read.
  var currentVersion: SQLiteValue? {
    if let cursor, cursor.current === self { return cursor.version }
    return version
  }

  /// Lets the object read from a cursor's current row.
  @inline(__always)
  func attach(_ cursor: RowCursor) {
    if self.cursor !== cursor { self.cursor = cursor }
    cursor.current = self
  }

  /// Makes the object represent another row of the same entity; there must be no other reference to the object.
  @inline(__always)
  func reuse(key: Int64) {
    self.key = key
    if row != nil { row = nil }
    if version != nil { version = nil }
    if !transientValues.isEmpty { transientValues.removeAll() }
  }

  /// Stops reading from the cursor, and keeps a copy of its row if it is small.
  func detach() {
    guard let cursor else { return }
    if cursor.current === self {
      version = cursor.version
      row = cursor.smallRow()
      cursor.current = nil
    }
    self.cursor = nil
  }

  /// Discards the cursor and the cached row, which are out of date.
  func forgetRow() {
    if let cursor, cursor.current === self { cursor.current = nil }
    cursor = nil
    row = nil
    version = nil
  }

  // MARK: Objects that wait for their next use

  /// Discards written changes, and retires the object if the context has the only reference to it.
  ///
  /// Returns true if it was retired; an object that was deleted or registered by its key is not.
  @inline(__always)
  func clearWrittenChanges(isHeld: Bool) -> Bool {
    clearChanges()
    guard !isHeld, !isRegistered, !isDeleted else { return false }
    retire()
    return true
  }

  /// Releases the context, which owns the object from now on.
  private func retire() {
    isNew = true
    key = 0
    if !transientValues.isEmpty { transientValues.removeAll() }
    heldContext = nil
  }

  /// True while the context keeps the object for reuse.
  var isRetired: Bool { heldContext == nil }

  /// Reuses a retired object as a new one.
  @inline(__always)
  func revive(key: Int64) {
    self.key = key
    isNoted = true
    heldContext = contextReference.takeUnretainedValue()
  }
}

/// An object serves one task at a time, as its context does.
@available(*, unavailable)
extension ManagedObject: Sendable {}

extension ManagedObject: Hashable {
  /// Returns true if two references are the same object.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

  /// Hashes the reference.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

/// Changes to the links of one many-to-many relationship.
struct PendingLinks {
  /// Added destinations, in the order in which they were added.
  private(set) var added: [ManagedObject] = []
  private(set) var removed: Set<ManagedObject> = []
  private var known: Set<ManagedObject> = []
  /// The whole list of an ordered relationship, once it is set.
  var list: [ManagedObject]?

  /// Adds an object; if `isLast` is true, the list is known not to contain it.
  mutating func add(_ object: ManagedObject, isLast: Bool) {
    removed.remove(object)
    if known.insert(object).inserted { added.append(object) }
    if isLast || list?.contains(object) == false { list?.append(object) }
  }

  mutating func remove(_ object: ManagedObject) {
    removed.insert(object)
    if known.remove(object) != nil { added.removeAll { $0 === object } }
    list?.removeAll { $0 === object }
  }
}
