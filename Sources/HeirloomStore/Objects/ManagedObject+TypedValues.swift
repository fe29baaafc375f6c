public import Foundation
import HeirloomModel

// Values of attributes in their Swift types. A value of another kind is not converted: that throws `wrongKind`.

extension ManagedObject {
  // MARK: Reading

  /// Returns the text of a String or URI attribute; `nil` for no value.
  public func string(_ name: String) throws(ManagedObjectError) -> String? {
    guard let slot = plan.attributeSlot(name), plan.kinds[slot].isText else {
      return try other(name, of: AttributeType.texts) { $0.text }
    }
    guard let column = try cursorColumn(slot), let cursor else {
      switch try storedValue(slot) {
      case .null: return nil
      case .text(let text): return text
      default: throw undecodable(slot)
      }
    }
    switch cursor.statement.storageClass(at: column) {
    case .null: return nil
    case .text: return cursor.statement.text(at: column)
    default: throw undecodable(slot)
    }
  }

  /// Returns the number of an attribute of one of the integer types; `nil` for no value.
  public func int64(_ name: String) throws(ManagedObjectError) -> Int64? {
    guard let slot = plan.attributeSlot(name), plan.kinds[slot].type.isInteger else {
      return try other(name, of: [.integer16, .integer32, .integer64]) {
        if case .integer(let integer) = $0 { integer } else { nil }
      }
    }
    return try integer(slot)
  }

  /// Returns the number of an attribute of one of the integer types; `nil` for no value.
  public func int(_ name: String) throws(ManagedObjectError) -> Int? {
    try int64(name).map { Int(truncatingIfNeeded: $0) }
  }

  /// Returns the number of a Double or Float attribute; `nil` for no value.
  public func double(_ name: String) throws(ManagedObjectError) -> Double? {
    guard let slot = plan.attributeSlot(name), plan.kinds[slot].type == .double || plan.kinds[slot].type == .float
    else {
      return try other(name, of: [.double, .float]) { if case .double(let number) = $0 { number } else { nil } }
    }
    return try real(slot)
  }

  /// Returns the value of a Boolean attribute; `nil` for no value.
  public func bool(_ name: String) throws(ManagedObjectError) -> Bool? {
    guard let slot = plan.attributeSlot(name), plan.kinds[slot].type == .boolean else {
      return try other(name, of: [.boolean]) { if case .boolean(let flag) = $0 { flag } else { nil } }
    }
    return try integer(slot).map { $0 != 0 }
  }

  /// Returns the value of a Date attribute; `nil` for no value.
  public func date(_ name: String) throws(ManagedObjectError) -> Date? {
    guard let slot = plan.attributeSlot(name), plan.kinds[slot].type == .date else {
      return try other(name, of: [.date]) {
        if case .date(let seconds) = $0 { Date(timeIntervalSinceReferenceDate: seconds) } else { nil }
      }
    }
    return try real(slot).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// Returns the value of a Decimal attribute; `nil` for no value.
  public func decimal(_ name: String) throws(ManagedObjectError) -> Decimal? {
    try other(name, of: [.decimal]) { if case .decimal(let text) = $0 { Decimal(string: text) } else { nil } }
  }

  /// Returns the value of a UUID attribute; `nil` for no value.
  public func uuid(_ name: String) throws(ManagedObjectError) -> UUID? {
    try other(name, of: [.uuid]) { value in
      guard case .uuid(let b) = value, b.count == 16 else { return nil }
      return UUID(
        uuid: (
          b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
        ))
    }
  }

  /// Returns the bytes of a binary or transformable attribute, also from an external file; `nil` for no value.
  public func bytes(_ name: String) throws(ManagedObjectError) -> [UInt8]? {
    try other(name, of: [.binary, .transformable]) { if case .binary(let bytes) = $0 { bytes } else { nil } }
  }

  /// Returns the bytes of a binary or transformable attribute, also from an external file; `nil` for no value.
  public func data(_ name: String) throws(ManagedObjectError) -> Data? {
    try bytes(name).map { Data($0) }
  }

  // MARK: Setting

  /// Sets the text of a String or URI attribute; `nil` for no value.
  public func set(_ value: String?, for name: String) throws(ManagedObjectError) {
    guard let slot = plan.attributeSlot(name), plan.kinds[slot].isText, !plan.kinds[slot].isDerived else {
      let kind = plan.attributeSlot(name).flatMap { ValueKind(plan.kinds[$0].type) }.flatMap { $0.isText ? $0 : nil }
      return try setValue(value.flatMap { AttributeValue(kind ?? .string, .text($0)) }, forAttribute: name)
    }
    try checkChangeable()
    guard var value else { return change(slot, to: .null) }
    guard isStreaming else { return change(slot, toPayload: .text(value)) }
    value.withUTF8 { change(slot, toCopyOf: UnsafeRawBufferPointer($0)) }
  }

  /// Sets the number of an attribute of one of the integer types; `nil` for no value.
  public func set(_ value: Int64?, for name: String) throws(ManagedObjectError) {
    guard let slot = plan.attributeSlot(name), plan.kinds[slot].type.isInteger, !plan.kinds[slot].isDerived else {
      return try setValue(value.map { .integer($0) }, forAttribute: name)
    }
    try checkChangeable()
    guard let value else { return change(slot, to: .null) }
    switch plan.kinds[slot].type {
    case .integer16: guard Int16(exactly: value) != nil else { throw unstorable(slot) }
    case .integer32: guard Int32(exactly: value) != nil else { throw unstorable(slot) }
    default: break
    }
    change(slot, to: .integer(value))
  }

  /// Sets the number of an attribute of one of the integer types; `nil` for no value.
  public func set(_ value: Int?, for name: String) throws(ManagedObjectError) {
    try set(value.map { Int64($0) }, for: name)
  }

  /// Sets the number of a Double or Float attribute; `nil` for no value.
  public func set(_ value: Double?, for name: String) throws(ManagedObjectError) {
    try setValue(value.map { .double($0) }, forAttribute: name)
  }

  /// Sets the value of a Boolean attribute; `nil` for no value.
  public func set(_ value: Bool?, for name: String) throws(ManagedObjectError) {
    try setValue(value.map { .boolean($0) }, forAttribute: name)
  }

  /// Sets the value of a Date attribute; `nil` for no value.
  public func set(_ value: Date?, for name: String) throws(ManagedObjectError) {
    try setValue(value.map { .date($0.timeIntervalSinceReferenceDate) }, forAttribute: name)
  }

  /// Sets the value of a Decimal attribute; `nil` for no value.
  public func set(_ value: Decimal?, for name: String) throws(ManagedObjectError) {
    try setValue(value.map { .decimal("\($0)") }, forAttribute: name)
  }

  /// Sets the value of a UUID attribute; `nil` for no value.
  public func set(_ value: UUID?, for name: String) throws(ManagedObjectError) {
    try setValue(value.map { uuid in .uuid(withUnsafeBytes(of: uuid.uuid) { Array($0) }) }, forAttribute: name)
  }

  /// Sets the bytes of a binary or transformable attribute; `nil` for no value.
  public func set(_ value: [UInt8]?, for name: String) throws(ManagedObjectError) {
    try setValue(value.map { .binary($0) }, forAttribute: name)
  }

  /// Sets the bytes of a binary or transformable attribute; `nil` for no value.
  public func set(_ value: Data?, for name: String) throws(ManagedObjectError) {
    try setValue(value.map { .binary(Array($0)) }, forAttribute: name)
  }

  // MARK: Parts

  /// Records a read; `nil` unless the cursor has the slot's unchanged value.
  @inline(__always)
  func cursorColumn(_ slot: Int) throws(ManagedObjectError) -> Int? {
    guard !isDeleted else { throw .deleted(entity: entityName) }
    noteRead(slot)
    guard let cursor, !isChanged(slot) else { return nil }
    let column = cursor.column(slot)
    return column < 0 ? nil : column
  }

  func undecodable(_ slot: Int) -> ManagedObjectError {
    .undecodableValue(identifier, property: plan.attributes[slot].path)
  }

  private func other<Value>(
    _ name: String, of types: [AttributeType], convert: (AttributeValue) -> Value?
  ) throws(ManagedObjectError) -> Value? {
    if let slot = plan.attributeSlot(name), !types.contains(plan.kinds[slot].type) { throw wrongKind(slot) }
    guard let value = try value(forAttribute: name) else { return nil }
    guard let converted = convert(value) else {
      let type = plan.attributeSlot(name).map { plan.kinds[$0].type } ?? types.first ?? .undefined
      throw .wrongKind(entity: entityName, property: name, expected: type.name)
    }
    return converted
  }

  private func integer(_ slot: Int) throws(ManagedObjectError) -> Int64? {
    if let column = try cursorColumn(slot), let cursor {
      switch cursor.statement.storageClass(at: column) {
      case .integer: return cursor.statement.integer(at: column)
      case .null: return nil
      default: break
      }
    }
    switch try value(ofSlot: slot) {
    case .integer(let integer): return integer
    case .boolean(let flag): return flag ? 1 : 0
    default: return nil
    }
  }

  private func real(_ slot: Int) throws(ManagedObjectError) -> Double? {
    if let column = try cursorColumn(slot), let cursor {
      switch cursor.statement.storageClass(at: column) {
      case .real: return cursor.statement.double(at: column)
      case .null: return nil
      default: break
      }
    }
    switch try value(ofSlot: slot) {
    case .double(let number), .date(let number): return number
    default: return nil
    }
  }
}
