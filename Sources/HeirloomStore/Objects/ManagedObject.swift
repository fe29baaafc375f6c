public import HeirloomModel

/// An object of a store.
///
/// Its values are read from the store when they are first asked for, and changes stay in memory until the context is
/// saved. It belongs to the task of its context.
public final class ManagedObject {
  /// The name of the object's entity.
  public var entityName: String { plan.entity.name }
  /// The context, kept by its objects.
  public let context: ManagedObjectContext

  let plan: EntityPlan
  /// The primary key; `nil` before the object is first saved, unless keys are given on insertion.
  var primaryKey: Int64?
  /// Whether the store has no row of the object yet.
  package internal(set) var isNew: Bool
  /// The row: the number of saves, then the columns of the plan; `nil` before it is read.
  var row: [SQLiteValue]?
  /// Changed columns: those of the plan, and keys and places that relationships of others keep here.
  var changes: [String: PendingValue] = [:]
  /// Changed links of many-to-many relationships by name.
  var linkChanges: [String: PendingLinks] = [:]
  /// Values of transient attributes by name.
  var transientValues: [String: AttributeValue] = [:]
  /// Whether the object was deleted.
  package internal(set) var isDeleted: Bool = false

  /// What a column is to hold.
  enum PendingValue {
    case value(SQLiteValue)
    case reference(ManagedObject?)
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

  init(plan: EntityPlan, primaryKey: Int64?, isNew: Bool, context: ManagedObjectContext) {
    self.plan = plan
    self.primaryKey = primaryKey
    self.isNew = isNew
    self.context = context
  }

  deinit {
    if let primaryKey { context.forget(plan.entity.table, primaryKey) }
  }

  /// The object's primary key; 0 before the object is first saved, unless keys are given on insertion.
  package var key: Int64 { primaryKey ?? 0 }

  /// The number of the object's entity in its store.
  package var entityNumber: Int { plan.entity.number }

  /// The object's identifier; `nil` before the object is first saved.
  public var objectID: ManagedObjectID? {
    guard let primaryKey else { return nil }
    return ManagedObjectID(
      storeIdentifier: context.store.metadata.identifier, entityName: entityName, primaryKey: primaryKey)
  }

  /// Whether the object has changes that are not saved.
  public var hasChanges: Bool { isNew || isDeleted || !changes.isEmpty || !linkChanges.isEmpty }

  // MARK: Attributes

  /// Returns the value of an attribute.
  ///
  /// - Parameter name: The attribute's name; elements of a composite attribute follow after points: `place.city`.
  /// - Returns: `nil` for no value.
  /// - Throws: ``ManagedObjectError``.
  public func value(forAttribute name: String) throws(ManagedObjectError) -> AttributeValue? {
    guard let column = plan.attributes[name] else {
      guard plan.transientNames.contains(name) else { throw unknown(name) }
      return transientValues[name]
    }
    let stored = try storedValue(column.name)
    switch ValueCoding.decode(stored, for: column.attribute) {
    case .value(let value):
      return value
    case .externalFile(let file):
      let folder = ExternalStorage.folder(forStoreAt: try openContext().store.path)
      let path = folder + "/" + file
      guard let bytes = ExternalStorage.contents(ofFile: path) else {
        throw .missingExternalFile(identifier, property: name, path: path)
      }
      return .binary(bytes)
    case .undecodable:
      throw .undecodableValue(identifier, property: name)
    }
  }

  /// Sets the value of an attribute.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` for none.
  ///   - name: The attribute's name; elements of a composite attribute follow after points: `place.city`.
  /// - Throws: ``ManagedObjectError`` if the value is of another kind or can't be stored.
  public func setValue(_ value: AttributeValue?, forAttribute name: String) throws(ManagedObjectError) {
    let context = try changeableContext()
    guard let column = plan.attributes[name] else {
      guard plan.transientNames.contains(name) else { throw unknown(name) }
      transientValues[name] = value
      return
    }
    guard column.attribute.derivation == nil else { throw .readOnlyProperty(entity: entityName, property: name) }
    let encoded: SQLiteValue
    do throws(ValueCoding.EncodingProblem) {
      encoded = try ValueCoding.encode(value, for: column.attribute)
    } catch .wrongKind {
      throw .wrongKind(entity: entityName, property: name, expected: column.attribute.type.name)
    } catch {
      throw .unstorableValue(entity: entityName, property: name)
    }
    changes[column.name] = .value(encoded)
    context.noteChange(of: self)
  }

  /// The value of an attribute, for short code.
  ///
  /// A name or value that ``value(forAttribute:)`` or ``setValue(_:forAttribute:)`` would refuse gives no value, and
  /// the next save of the context throws the error.
  public subscript(_ name: String) -> AttributeValue? {
    get { deferring { () throws(ManagedObjectError) in try value(forAttribute: name) } ?? nil }
    set { deferring { () throws(ManagedObjectError) in try setValue(newValue, forAttribute: name) } }
  }

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
    ManagedObjectID(
      storeIdentifier: context.store.metadata.identifier, entityName: entityName, primaryKey: primaryKey ?? 0)
  }

  func unknown(_ property: String) -> ManagedObjectError {
    .unknownProperty(entity: entityName, property: property)
  }

  /// The context of an object that can be used.
  func openContext() throws(ManagedObjectError) -> ManagedObjectContext {
    guard !isDeleted else { throw .deleted(entity: entityName) }
    return context
  }

  /// The context of an object that can be changed.
  func changeableContext() throws(ManagedObjectError) -> ManagedObjectContext {
    try context.checkWritable()
    return try openContext()
  }

  /// A column of the plan: the change, or what the row has.
  func storedValue(_ column: String) throws(ManagedObjectError) -> SQLiteValue {
    if case .value(let value) = changes[column] { return value }
    let context = try openContext()
    guard !isNew, let primaryKey, let position = plan.positions[column] else { return .null }
    if row == nil { row = try context.row(of: plan, primaryKey: primaryKey) }
    guard let row else { throw .missingRow(identifier) }
    return row[position]
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
