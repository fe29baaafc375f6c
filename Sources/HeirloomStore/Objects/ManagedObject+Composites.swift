public import HeirloomModel

// A composite attribute has no column: it is read from its leaves' values, and setting it sets them. A composite
// without a value is the same as one whose elements all have none.

extension ManagedObject {
  /// Returns the elements of a composite attribute by name; `nil` if none has a value.
  ///
  /// - Parameter name: The attribute's name; a nested composite is named by its path, `place.position`.
  /// - Returns: The elements that have values; a nested composite is ``AttributeValue/composite(_:)``.
  /// - Throws: ``ManagedObjectError``.
  public func composite(_ name: String) throws(ManagedObjectError) -> [String: AttributeValue]? {
    guard let value = try value(forAttribute: name) else {
      guard plan.compositePaths.contains(name) else { throw notComposite(name) }
      return nil
    }
    guard case .composite(let elements) = value else { throw notComposite(name) }
    return elements
  }

  /// Sets all elements of a composite attribute; those that are left out get no value.
  ///
  /// - Parameters:
  ///   - elements: The elements by name; `nil` for none.
  ///   - name: The attribute's name; a nested composite is named by its path, `place.position`.
  /// - Throws: ``ManagedObjectError`` for an unknown element or a value that it can't hold; nothing is changed then.
  public func set(_ elements: [String: AttributeValue]?, for name: String) throws(ManagedObjectError) {
    try setValue(elements.map { .composite($0) }, forAttribute: name)
  }

  /// `nil` for anything but a composite attribute or a transient element of one.
  func compositePart(_ path: String) -> AttributeDescription? {
    let names = path.names(separatedBy: ".").map(String.init)
    guard let first = names.first,
      let attribute = plan.composites.first(where: { $0.name == first }),
      let element = attribute.element(atPath: names.dropFirst())
    else { return nil }
    return element.composite != nil || element.isTransient ? element : nil
  }

  func value(ofPart part: AttributeDescription, at path: String) throws(ManagedObjectError) -> AttributeValue? {
    guard !part.isTransient, let composite = part.composite else { return transientValues[path] }
    var elements: [String: AttributeValue] = [:]
    for element in composite.elements {
      let elementPath = "\(path).\(element.name)"
      if let slot = plan.attributeSlot(elementPath) {
        noteRead(slot)
        elements[element.name] = try value(ofSlot: slot)
      } else {
        elements[element.name] = try value(ofPart: element, at: elementPath)
      }
    }
    return elements.isEmpty ? nil : .composite(elements)
  }

  /// Nothing is set if any of the values can't be stored.
  func setValue(
    _ value: AttributeValue?, ofPart part: AttributeDescription, at path: String
  ) throws(ManagedObjectError) {
    var changes = ElementChanges()
    try collect(value, part, at: path, into: &changes)
    for (slot, value) in changes.slots { change(slot, toValue: value) }
    for (path, value) in changes.transient { transientValues[path] = value }
  }

  private func collect(
    _ value: AttributeValue?, _ part: AttributeDescription, at path: String, into changes: inout ElementChanges
  ) throws(ManagedObjectError) {
    if let slot = plan.attributeSlot(path) {
      // Setting a computed element to no value leaves it as it is.
      guard value != nil || !plan.kinds[slot].isDerived else { return }
      changes.slots.append((slot, try encode(value, slot)))
      return
    }
    guard !part.isTransient, let composite = part.composite else {
      changes.transient.append((path, value))
      return
    }
    guard let elements = value.map({ $0.elements }) ?? [:] else { throw notComposite(path) }
    for name in elements.keys.ordered() where !composite.elements.contains(where: { $0.name == name }) {
      throw unknown("\(path).\(name)")
    }
    for element in composite.elements {
      try collect(elements[element.name], element, at: "\(path).\(element.name)", into: &changes)
    }
  }

  private func notComposite(_ name: String) -> ManagedObjectError {
    guard plan.property(name) != nil || plan.compositePaths.contains(name) else { return unknown(name) }
    return .wrongKind(entity: entityName, property: name, expected: AttributeType.composite.name)
  }
}

private struct ElementChanges {
  var slots: [(slot: Int, value: SQLiteValue)] = []
  var transient: [(path: String, value: AttributeValue?)] = []
}

extension ManagedObject {
  func isChanged(_ composite: AttributeDescription) -> Bool {
    slots(of: composite, at: composite.name).contains { isChanged($0) }
  }

  /// For a required composite without a value, or a required element of one that has a value.
  func validate(
    _ attribute: AttributeDescription, at path: String, mustHaveValue: Bool
  ) throws(ManagedObjectError) {
    let slots = slots(of: attribute, at: path)
    var hasValue = false
    for slot in slots where try storedValue(slot) != .null { hasValue = true }
    guard hasValue else {
      guard mustHaveValue, !slots.isEmpty else { return }
      throw .missingValue(entity: entityName, property: path)
    }
    for element in attribute.composite?.elements ?? [] where element.derivation == nil {
      try validate(element, at: "\(path).\(element.name)", mustHaveValue: !element.isOptional)
    }
  }

  private func slots(of attribute: AttributeDescription, at path: String) -> [Int] {
    if let slot = plan.attributeSlot(path) { return [slot] }
    return (attribute.composite?.elements ?? []).flatMap { slots(of: $0, at: "\(path).\($0.name)") }
  }
}
