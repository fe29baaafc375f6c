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
  @exclusivity(unchecked) package internal(set) var isNew: Bool
  @exclusivity(unchecked) package internal(set) var isDeleted: Bool = false

  let plan: EntityPlan
  /// 0 before the object is first saved, unless keys are given on insertion.
  @exclusivity(unchecked) package internal(set) var key: Int64
  /// The context lists the object among the changed ones.
  @exclusivity(unchecked) var isNoted: Bool = false
  /// The context can find the object by its key.
  @exclusivity(unchecked) var isRegistered: Bool = false
  @exclusivity(unchecked) private(set) var cursor: RowCursor?
  @exclusivity(unchecked) var row: [SQLiteValue]?
  /// The row's number of saves when its values were read.
  @exclusivity(unchecked) var version: SQLiteValue?
  @exclusivity(unchecked) var linkChanges: [String: PendingLinks] = [:]
  @exclusivity(unchecked) var transientValues: [String: AttributeValue] = [:]

  @exclusivity(unchecked) private var pending: UnsafeMutablePointer<SlotValue>?
  /// Unretained: `heldContext` retains it, and it owns the retired objects.
  let contextReference: Unmanaged<ManagedObjectContext>
  let isStreaming: Bool
  private let isReadOnly: Bool
  /// Slots refer to them by position.
  @exclusivity(unchecked) private(set) var payloads: [SlotPayload] = []
  /// Retains the context; `nil` only while the object is retired.
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

  /// The context's next save throws the error.
  @discardableResult
  func deferring<Value>(_ body: () throws(ManagedObjectError) -> Value) -> Value? {
    do throws(ManagedObjectError) {
      return try body()
    } catch {
      context.deferError(error)
      return nil
    }
  }

  /// The key is 0 for an object that is not saved.
  var identifier: ManagedObjectID {
    ManagedObjectID(storeIdentifier: context.store.metadata.identifier, entityName: entityName, primaryKey: key)
  }

  func unknown(_ property: String) -> ManagedObjectError {
    .unknownProperty(
      entity: entityName, property: property,
      nearest: context.store.schema.model.nearestProperty(to: property, of: entityName))
  }

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

  /// `property` is an attribute's slot, or a relationship's position after all attributes' slots.
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

  /// Doesn't register the object as changed.
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

  @inline(__always)
  func change(_ slot: Int, toCopyOf bytes: UnsafeRawBufferPointer) {
    let offset = contextReference._withUnsafeGuaranteedRef { $0.arena.append(bytes) }
    change(slot, to: .bytes(offset: offset, count: bytes.count))
  }

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

  func fill() {
    for (slot, value) in plan.template.enumerated() {
      if let value { change(slot, toValue: value) }
    }
  }

  func clearChanges() {
    pending?.update(repeating: .unchanged, count: plan.slotCount)
    if !payloads.isEmpty { payloads.removeAll() }
    if !linkChanges.isEmpty { linkChanges.removeAll() }
    isNoted = false
    if row != nil { row = nil }
    if version != nil { version = nil }
  }

  func dropDeletedReferences() {
    guard !payloads.isEmpty else { return }
    for slot in plan.columns.indices where pendingReference(slot)?.isDeleted == true {
      setPending(slot, to: .null)
      let relationship = plan.relationships.first { $0.slot == slot }
      if let relationship, relationship.entitySlot >= 0 { setPending(relationship.entitySlot, to: .null) }
    }
  }

  // MARK: The row

  /// The changed value, or the row's.
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

  var currentVersion: SQLiteValue? {
    if let cursor, cursor.current === self { return cursor.version }
    return version
  }

  @inline(__always)
  func attach(_ cursor: RowCursor) {
    if self.cursor !== cursor { self.cursor = cursor }
    cursor.current = self
  }

  /// There must be no other reference to the object.
  @inline(__always)
  func reuse(key: Int64) {
    self.key = key
    if row != nil { row = nil }
    if version != nil { version = nil }
    if !transientValues.isEmpty { transientValues.removeAll() }
  }

  /// Keeps a copy of the row if it is small.
  func detach() {
    guard let cursor else { return }
    if cursor.current === self {
      version = cursor.version
      row = cursor.smallRow()
      cursor.current = nil
    }
    self.cursor = nil
  }

  func forgetRow() {
    if let cursor, cursor.current === self { cursor.current = nil }
    cursor = nil
    row = nil
    version = nil
  }

  // MARK: Objects that wait for their next use

  /// True if the object is retired: the context has the only reference, and it isn't registered.
  @inline(__always)
  func clearWrittenChanges(isHeld: Bool) -> Bool {
    clearChanges()
    guard !isHeld, !isRegistered, !isDeleted else { return false }
    retire()
    return true
  }

  /// The context owns the object from now on.
  private func retire() {
    isNew = true
    key = 0
    if !transientValues.isEmpty { transientValues.removeAll() }
    heldContext = nil
  }

  var isRetired: Bool { heldContext == nil }

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

struct PendingLinks {
  private(set) var added: [ManagedObject] = []
  private(set) var removed: Set<ManagedObject> = []
  private var known: Set<ManagedObject> = []
  var list: [ManagedObject]?

  /// If `isLast` is true, the list is known not to contain the object.
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
