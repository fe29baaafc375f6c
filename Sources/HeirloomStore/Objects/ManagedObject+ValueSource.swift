public import HeirloomModel

extension ManagedObject: ValueSource {
  /// The object itself.
  public var valueIdentity: AnyHashable { AnyHashable(ObjectIdentifier(self)) }

  /// Returns the value of a property for expressions.
  public func value(forKey key: String) throws -> EvaluatedValue? {
    if plan.compositePaths.contains(key) { return .object(CompositeValue(object: self, path: key)) }
    switch plan.property(key) {
    case .relationship(let index):
      guard plan.relationships[index].description.isToMany else {
        return try object(forRelationship: key).map { .object($0) } ?? .null
      }
      return .list(try objects(forRelationship: key).map { .object($0) })
    case .attribute, .transient:
      return try value(forAttribute: key).map { .value($0) } ?? .null
    case nil:
      return nil
    }
  }
}

/// A composite attribute of an object.
private struct CompositeValue: ValueSource {
  let object: ManagedObject
  let path: String

  var valueIdentity: AnyHashable { AnyHashable([AnyHashable(ObjectIdentifier(object)), AnyHashable(path)]) }

  func value(forKey key: String) throws -> EvaluatedValue? {
    let path = "\(path).\(key)"
    if object.plan.compositePaths.contains(path) { return .object(CompositeValue(object: object, path: path)) }
    guard object.plan.attributeSlot(path) != nil else { return nil }
    return try object.value(forAttribute: path).map { .value($0) } ?? .null
  }
}
