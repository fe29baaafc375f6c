public import HeirloomModel

extension ManagedObject {
  /// Returns the value of an attribute.
  ///
  /// - Parameter name: The attribute's name; an element of a composite is named by its path, `place.city`.
  /// - Returns: `nil` for no value. A composite has no value if none of its elements has one.
  /// - Throws: ``ManagedObjectError``.
  public func value(forAttribute name: String) throws(ManagedObjectError) -> AttributeValue? {
    switch plan.property(name) {
    case .attribute(let slot):
      noteRead(slot)
      return try value(ofSlot: slot)
    case .transient: return transientValues[name]
    case .relationship: throw unknown(name)
    case nil:
      guard let part = compositePart(name) else { throw unknown(name) }
      return try value(ofPart: part, at: name)
    }
  }

  /// Sets the value of an attribute.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` for none.
  ///   - name: The attribute's name; an element of a composite is named by its path, `place.city`.
  /// - Throws: ``ManagedObjectError`` if the value is of another kind or can't be stored.
  public func setValue(_ value: AttributeValue?, forAttribute name: String) throws(ManagedObjectError) {
    try checkChangeable()
    switch plan.property(name) {
    case .attribute(let slot):
      change(slot, toValue: try encode(value, slot))
    case .transient:
      transientValues[name] = value
    case .relationship:
      throw unknown(name)
    case nil:
      guard let part = compositePart(name) else { throw unknown(name) }
      try setValue(value, ofPart: part, at: name)
    }
  }

  /// The value of an attribute, without throwing.
  ///
  /// If ``value(forAttribute:)`` or ``setValue(_:forAttribute:)`` would throw, the value is `nil`, and the context's
  /// next save throws the error.
  public subscript(_ name: String) -> AttributeValue? {
    get { deferring { () throws(ManagedObjectError) in try value(forAttribute: name) } ?? nil }
    set { deferring { () throws(ManagedObjectError) in try setValue(newValue, forAttribute: name) } }
  }

  func value(ofSlot slot: Int) throws(ManagedObjectError) -> AttributeValue? {
    let attribute = plan.attributes[slot]
    switch ValueCoding.decode(try storedValue(slot), for: attribute.description) {
    case .value(let value):
      return value
    case .externalFile(let file):
      return .binary(try contents(ofFile: file, slot))
    case .undecodable:
      throw .undecodableValue(identifier, property: attribute.path)
    }
  }

  func contents(ofFile file: String, _ slot: Int) throws(ManagedObjectError) -> [UInt8] {
    let path = ExternalStorage.folder(forStoreAt: try openContext().store.path) + "/" + file
    guard let bytes = ExternalStorage.contents(ofFile: path) else {
      throw .missingExternalFile(identifier, property: plan.attributes[slot].path, path: path)
    }
    return bytes
  }

  func encode(_ value: AttributeValue?, _ slot: Int) throws(ManagedObjectError) -> SQLiteValue {
    let attribute = plan.attributes[slot]
    guard !plan.kinds[slot].isDerived else { throw .readOnlyProperty(entity: entityName, property: attribute.path) }
    do throws(ValueCoding.EncodingProblem) {
      return try ValueCoding.encode(value, for: attribute.description)
    } catch .wrongKind {
      throw wrongKind(slot)
    } catch {
      throw unstorable(slot)
    }
  }

  func wrongKind(_ slot: Int) -> ManagedObjectError {
    .wrongKind(entity: entityName, property: plan.attributes[slot].path, expected: plan.kinds[slot].type.name)
  }

  func unstorable(_ slot: Int) -> ManagedObjectError {
    .unstorableValue(entity: entityName, property: plan.attributes[slot].path)
  }
}
