public import HeirloomModel

extension ManagedObject: ValueSource {
  /// The object itself.
  public var valueIdentity: AnyHashable { AnyHashable(ObjectIdentifier(self)) }

  /// Returns the value of a property for expressions.
  public func value(forKey key: String) throws -> EvaluatedValue? {
    switch plan.property(key) {
    case .relationship(let index):
      guard plan.relationships[index].description.isToMany else {
        return try object(forRelationship: key).map { .object($0) } ?? .null
      }
      return .list(try objects(forRelationship: key).map { .object($0) })
    case .attribute, .transient:
      return try value(forAttribute: key).map { .value($0) } ?? .null
    case nil:
      return try value(atElementPath: key)
    }
  }

  fileprivate func value(atElementPath path: String) throws -> EvaluatedValue? {
    guard plan.attributeSlot(path) != nil || compositePart(path) != nil else { return nil }
    guard let value = try value(forAttribute: path) else { return .null }
    // A composite is wrapped, because a plain value wouldn't report unknown element names.
    guard case .composite(let elements) = value else { return .value(value) }
    return .object(CompositeValue(object: self, path: path, elements: elements))
  }
}

private struct CompositeValue: ValueSource {
  let object: ManagedObject
  let path: String
  let elements: [String: AttributeValue]

  var valueIdentity: AnyHashable { AnyHashable(elements) }

  func value(forKey key: String) throws -> EvaluatedValue? {
    try object.value(atElementPath: "\(path).\(key)")
  }
}
