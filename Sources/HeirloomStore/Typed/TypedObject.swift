public import HeirloomModel

/// An object of one entity with properties known to the compiler, as `heirloom generate` writes it.
///
/// It is a view of a ``ManagedObject`` and belongs to the task of its context.
public protocol TypedObject: Hashable {
  /// The properties that conditions and sort orders of fetches can use.
  associatedtype Properties
  /// The name of the entity.
  static var entityName: String { get }
  /// The properties, as paths from an object of the entity.
  static var properties: Properties { get }
  /// The underlying object.
  var managedObject: ManagedObject { get }
  /// Creates a view without checking the object's entity; a property that the object lacks is an error when it is used.
  init(unchecked managedObject: ManagedObject)
}

extension TypedObject {
  /// Creates a view of an object of the entity or of one that descends from it.
  ///
  /// - Parameter managedObject: The object.
  /// - Throws: ``ManagedObjectError/wrongEntity(expected:found:)`` for any other.
  public init(_ managedObject: ManagedObject) throws(ManagedObjectError) {
    guard managedObject.isKind(of: Self.entityName) else {
      throw .wrongEntity(expected: Self.entityName, found: managedObject.entityName)
    }
    self.init(unchecked: managedObject)
  }

  /// Creates a view of the same object as one of another entity: of an ancestor or a descendant.
  ///
  /// - Parameter other: The object.
  /// - Throws: ``ManagedObjectError/wrongEntity(expected:found:)`` if the object is not of this entity.
  public init(_ other: some TypedObject) throws(ManagedObjectError) {
    try self.init(other.managedObject)
  }

  /// Creates a request for objects of the entity, for fetching, counting or processing them in batches.
  ///
  /// - Parameters:
  ///   - condition: The condition that the objects meet, such as `{ $0.title == "Prague" }`; `nil` for all.
  ///   - order: The order of the objects, such as `{ [$0.date.descending] }`; `nil` for that of primary keys.
  /// - Returns: The request.
  public static func request(
    where condition: ((Properties) -> PredicateDescription)? = nil,
    sortedBy order: ((Properties) -> [SortDescription])? = nil
  ) -> ObjectFetchRequest {
    var request = ObjectFetchRequest(entityName, predicate: condition?(properties))
    request.sortDescriptors = order?(properties) ?? []
    return request
  }

  /// Returns the objects of the entity that meet a condition.
  ///
  /// - Parameters:
  ///   - context: The context.
  ///   - condition: The condition that the objects meet, such as `{ $0.title == "Prague" }`; `nil` for all.
  ///   - order: The order of the objects, such as `{ [$0.date.descending] }`; `nil` for that of primary keys.
  ///   - limit: The maximum number of objects; 0 for all.
  /// - Returns: The objects.
  /// - Throws: ``FetchError``.
  public static func fetch(
    in context: ManagedObjectContext, where condition: ((Properties) -> PredicateDescription)? = nil,
    sortedBy order: ((Properties) -> [SortDescription])? = nil, limit: Int = 0
  ) throws(FetchError) -> [Self] {
    var request = request(where: condition, sortedBy: order)
    request.fetchLimit = limit
    return try context.fetch(request).map(Self.init(unchecked:))
  }
}

extension ManagedObject {
  fileprivate func isKind(of name: String) -> Bool {
    entityName == name || context.store.schema.entity(named: name)?.treeNumbers.contains(entityNumber) ?? false
  }

  /// Returns the value of an attribute as a Swift type; a type that is not optional requires a value.
  ///
  /// - Parameter name: The attribute's name.
  /// - Returns: The value.
  /// - Throws: ``ManagedObjectError/missingValue(entity:property:)`` if there is none and the type is not optional,
  ///   ``ManagedObjectError/undecodableValue(_:property:)`` if it doesn't fit the type, or another of its cases.
  public func typedValue<Value: TypedValue>(_ name: String) throws(ManagedObjectError) -> Value {
    let value = try value(forAttribute: name)
    if let typed = Value(attributeValue: value) { return typed }
    guard value != nil else { throw .missingValue(entity: entityName, property: name) }
    throw .undecodableValue(identifier, property: name)
  }

  /// Returns the destination of an optional to-one relationship.
  ///
  /// - Parameter name: The relationship's name.
  /// - Returns: `nil` if there is none, or if its row doesn't exist.
  /// - Throws: ``ManagedObjectError``.
  public func typedObject<Object: TypedObject>(_ name: String) throws(ManagedObjectError) -> Object? {
    try object(forRelationship: name).map { Object(unchecked: $0) }
  }

  /// Returns the destination of a required to-one relationship.
  ///
  /// - Parameter name: The relationship's name.
  /// - Returns: The object.
  /// - Throws: ``ManagedObjectError/missingValue(entity:property:)`` if there is none, or another of its cases.
  public func requiredObject<Object: TypedObject>(_ name: String) throws(ManagedObjectError) -> Object {
    guard let object: Object = try typedObject(name) else { throw .missingValue(entity: entityName, property: name) }
    return object
  }

  /// Returns the destinations of a to-many relationship, as ``objects(forRelationship:)`` does.
  ///
  /// - Parameter name: The relationship's name.
  /// - Returns: The objects.
  /// - Throws: ``ManagedObjectError``.
  public func typedObjects<Object: TypedObject>(_ name: String) throws(ManagedObjectError) -> [Object] {
    try objects(forRelationship: name).map { Object(unchecked: $0) }
  }
}
