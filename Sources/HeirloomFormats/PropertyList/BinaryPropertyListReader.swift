/// Safe on hostile input: time and memory are proportional to the input.
///
/// References are followed only on demand, so a list that contains itself, or whose shared
/// references would expand it exponentially, does no harm.
package struct BinaryPropertyListReader: Sendable {
  /// An object of the table; it refers to others by position.
  package enum Object: Hashable, Sendable {
    case scalar(PropertyListValue)
    case array(ArraySlice<Int>)
    case dictionary(keys: ArraySlice<Int>, values: ArraySlice<Int>)
  }

  package struct Limits: Hashable, Sendable {
    package var byteCount: Int = 64 << 20
    /// Also a quarter of the maximum number of references.
    package var objectCount: Int = 1_000_000
    package var depth: Int = 256

    package init() {}
  }

  package let topIndex: Int
  package var count: Int { storedObjects.count }

  private let limits: Limits
  private let byteCount: Int
  private let storedObjects: [StoredObject]
  private let offsets: [Int]
  /// References of all lists and dictionaries, concatenated.
  private let references: [Int]

  /// Containers are ranges of `references`.
  enum StoredObject: Sendable {
    case scalar(PropertyListValue)
    case array(start: Int, count: Int)
    case dictionary(start: Int, count: Int)
  }

  package init(_ bytes: [UInt8], limits: Limits = Limits()) throws(FormatError) {
    var decoder = try BinaryPropertyListDecoder(bytes, limits: limits)
    try decoder.decodeObjects()
    self.limits = limits
    byteCount = bytes.count
    topIndex = decoder.topIndex
    storedObjects = decoder.objects
    offsets = decoder.offsets
    references = decoder.references
  }

  package static func recognizes(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.starts(with: BinaryPropertyListDecoder.magic)
  }

  /// The positions that the object refers to exist.
  package func object(at index: Int) throws(FormatError) -> Object {
    guard storedObjects.indices.contains(index) else { throw .invalidReference(index, offset: byteCount) }
    switch storedObjects[index] {
    case .scalar(let value):
      return .scalar(value)
    case .array(let start, let count):
      return .array(references[start..<start + count])
    case .dictionary(let start, let count):
      let middle = start + count
      return .dictionary(keys: references[start..<middle], values: references[middle..<middle + count])
    }
  }

  /// For messages; the input's length for an unknown object.
  package func offset(ofObjectAt index: Int) -> Int {
    offsets.indices.contains(index) ? offsets[index] : byteCount
  }

  /// Throws ``FormatError`` if the list is nested too deeply, contains itself, or expands too much.
  package func value() throws(FormatError) -> PropertyListValue {
    var expansion = Expansion(reader: self, remaining: Self.expansionLimit(byteCount: byteCount))
    return try expansion.value(at: topIndex, depth: 0)
  }

  /// In bytes; shared objects count each time.
  static func expansionLimit(byteCount: Int) -> Int {
    min(64 << 20, 64 * byteCount + (1 << 20))
  }

  private struct Expansion {
    /// Approximate memory, in bytes.
    private static let elementSize = 24
    private static let entrySize = 64

    let reader: BinaryPropertyListReader
    var remaining: Int

    mutating func value(at index: Int, depth: Int) throws(FormatError) -> PropertyListValue {
      guard depth <= reader.limits.depth else {
        throw .tooDeep(limit: reader.limits.depth, offset: reader.offset(ofObjectAt: index))
      }
      switch try reader.object(at: index) {
      case .scalar(let value):
        try charge(value.payloadSize, at: index)
        return value
      case .array(let elements):
        try charge(Self.elementSize * elements.count, at: index)
        var values: [PropertyListValue] = []
        values.reserveCapacity(elements.count)
        for element in elements { values.append(try value(at: element, depth: depth + 1)) }
        return .array(values)
      case .dictionary(let keys, let values):
        try charge(Self.entrySize * keys.count, at: index)
        var result: [String: PropertyListValue] = [:]
        var remaining = values
        // Not `zip`: creating its type metadata at run time takes a launch longer than all of its reading.
        for key in keys {
          guard let value = remaining.popFirst() else { break }
          guard case .scalar(.string(let name)) = try reader.object(at: key) else {
            let offset = reader.offset(ofObjectAt: index)
            throw FormatError(.byte(offset), "The dictionary at byte \(offset) has a key that is not a string.")
          }
          try charge(name.utf8.count, at: index)
          guard result.updateValue(try self.value(at: value, depth: depth + 1), forKey: name) == nil else {
            let offset = reader.offset(ofObjectAt: index)
            throw FormatError(
              .byte(offset), "The dictionary at byte \(offset) has the key \"\(name.prefix(80))\" twice.")
          }
        }
        return .dictionary(result)
      }
    }

    private mutating func charge(_ amount: Int, at index: Int) throws(FormatError) {
      // Add one for the visit itself, so that even empty objects consume the budget.
      remaining -= amount + 1
      guard remaining >= 0 else {
        let limit = BinaryPropertyListReader.expansionLimit(byteCount: reader.byteCount)
        throw .tooExpansive(limit: limit, offset: reader.offset(ofObjectAt: index))
      }
    }
  }
}

extension PropertyListValue {
  /// In bytes; 0 for small values.
  fileprivate var payloadSize: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .data(let bytes): bytes.count
    default: 0
    }
  }
}
