import HeirloomFormats
import HeirloomModel

// Access to the bytes of values without copying them, for code that runs on every row of a large store.

extension ManagedObject {
  /// Calls a closure with the bytes of a text, which are UTF-8, or of binary data.
  ///
  /// While objects are streamed, the bytes are in SQLite's memory and valid only during the call. ``set(utf8:for:)``
  /// and ``set(bytes:for:)`` copy their bytes.
  ///
  /// - Parameters:
  ///   - name: The name of a String, URI, binary or transformable attribute.
  ///   - body: Receives the bytes; not called if there is no value. It must not set the same attribute of the object.
  /// - Returns: The closure's result; `nil` if there is no value.
  /// - Throws: ``ManagedObjectError``, or the closure's error.
  public func withBytes<Value>(of name: String, _ body: (UnsafeRawBufferPointer) throws -> Value) throws -> Value? {
    guard let slot = plan.attributeSlot(name) else { throw unknown(name) }
    let kind = plan.kinds[slot]
    guard kind.isText || kind.type == .binary || kind.type == .transformable else { throw wrongKind(slot) }
    if let column = try cursorColumn(slot), let cursor, !kind.isExternal {
      switch cursor.statement.storageClass(at: column) {
      case .null: return nil
      case kind.isText ? .text : .blob: return try cursor.statement.withStoredBytes(at: column, body)
      default: throw undecodable(slot)
      }
    }
    switch try value(ofSlot: slot)?.content {
    case .text(var text): return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    case .bytes(let bytes): return try bytes.withUnsafeBytes(body)
    default: return nil
    }
  }

  /// Sets the text of a String or URI attribute.
  ///
  /// - Parameters:
  ///   - bytes: The text as UTF-8; it is copied.
  ///   - name: The attribute's name.
  /// - Throws: ``ManagedObjectError/unstorableValue(entity:property:)`` if the bytes are not UTF-8, for example because
  ///   a text was cut within a character.
  public func set(utf8 bytes: UnsafeRawBufferPointer, for name: String) throws(ManagedObjectError) {
    guard let slot = plan.attributeSlot(name) else { throw unknown(name) }
    guard plan.kinds[slot].isText else { throw wrongKind(slot) }
    guard !plan.kinds[slot].isDerived else { throw .readOnlyProperty(entity: entityName, property: name) }
    try checkChangeable()
    guard bytes.isUTF8 else { throw unstorable(slot) }
    guard isStreaming else { return change(slot, toPayload: .text(String(decoding: bytes, as: UTF8.self))) }
    change(slot, toCopyOf: bytes)
  }

  /// Sets the bytes of a binary or transformable attribute.
  ///
  /// - Parameters:
  ///   - bytes: The bytes; they are copied.
  ///   - name: The attribute's name.
  /// - Throws: ``ManagedObjectError`` if the attribute is of another kind or can't be set.
  public func set(bytes: UnsafeRawBufferPointer, for name: String) throws(ManagedObjectError) {
    guard let slot = plan.attributeSlot(name) else { throw unknown(name) }
    let kind = plan.kinds[slot]
    try checkChangeable()
    guard isStreaming, kind.type == .binary || kind.type == .transformable, !kind.isExternal, !kind.isDerived
    else { return try setValue(.binary(Array(bytes)), forAttribute: name) }
    change(slot, toCopyOf: bytes)
  }
}

extension UnsafeRawBufferPointer {
  var isUTF8: Bool {
    var position = 0
    // Most texts are mostly ASCII, so eight bytes are checked at a time.
    while position + 8 <= count {
      let word = loadUnaligned(fromByteOffset: position, as: UInt64.self)
      guard word & 0x8080_8080_8080_8080 == 0 else { break }
      position += 8
    }
    while position < count, self[position] < 0x80 { position += 1 }
    guard position < count else { return true }
    return String(wellFormedUTF8: UnsafeRawBufferPointer(rebasing: self[position...])) != nil
  }
}
