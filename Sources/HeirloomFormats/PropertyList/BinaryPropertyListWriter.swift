import HeirloomModel

/// Equal values give equal bytes: keys are sorted, and equal scalars are written once.
package struct BinaryPropertyListWriter {
  static let depthLimit = 256

  private var objects: [FlatObject] = []
  private var positions: [PropertyListValue: Int] = [:]

  private enum FlatObject {
    case scalar(PropertyListValue)
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
  }

  private init() {}

  package static func bytes(of value: PropertyListValue) throws(FormatError) -> [UInt8] {
    var writer = BinaryPropertyListWriter()
    _ = try writer.add(value, depth: 0)
    return writer.encoded()
  }

  /// The outermost object comes first: the trailer has 0 as its position.
  private mutating func add(_ value: PropertyListValue, depth: Int) throws(FormatError) -> Int {
    guard depth <= Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit, offset: 0) }
    switch value {
    case .array(let elements):
      let position = objects.count
      objects.append(.array([]))
      var references: [Int] = []
      references.reserveCapacity(elements.count)
      for element in elements { references.append(try add(element, depth: depth + 1)) }
      objects[position] = .array(references)
      return position
    case .dictionary(let values):
      let position = objects.count
      objects.append(.dictionary(keys: [], values: []))
      let sorted = values.ordered { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      var keyReferences: [Int] = []
      for entry in sorted { keyReferences.append(addScalar(.string(entry.key))) }
      var valueReferences: [Int] = []
      for entry in sorted { valueReferences.append(try add(entry.value, depth: depth + 1)) }
      objects[position] = .dictionary(keys: keyReferences, values: valueReferences)
      return position
    default:
      return addScalar(value)
    }
  }

  private mutating func addScalar(_ value: PropertyListValue) -> Int {
    let isShared = Self.isShareable(value)
    if isShared, let position = positions[value] { return position }
    let position = objects.count
    objects.append(.scalar(value))
    if isShared { positions[value] = position }
    return position
  }

  /// True if equal values have equal bytes: not signed zeros and differently composed letters.
  private static func isShareable(_ value: PropertyListValue) -> Bool {
    switch value {
    case .real, .date: false
    case .string(let text): text.utf8.allSatisfy { $0 < 0x80 }
    default: true
    }
  }

  private func encoded() -> [UInt8] {
    let referenceSize = Self.size(of: objects.count - 1)
    var bytes: [UInt8] = Array("bplist00".utf8)
    var offsets: [Int] = []
    offsets.reserveCapacity(objects.count)
    for object in objects {
      offsets.append(bytes.count)
      switch object {
      case .scalar(let value):
        Self.appendScalar(value, to: &bytes)
      case .array(let references):
        Self.appendMarker(0xA0, count: references.count, to: &bytes)
        for reference in references { Self.append(reference, size: referenceSize, to: &bytes) }
      case .dictionary(let keys, let values):
        Self.appendMarker(0xD0, count: keys.count, to: &bytes)
        for reference in keys { Self.append(reference, size: referenceSize, to: &bytes) }
        for reference in values { Self.append(reference, size: referenceSize, to: &bytes) }
      }
    }
    let table = bytes.count
    let offsetSize = Self.size(of: table)
    for offset in offsets { Self.append(offset, size: offsetSize, to: &bytes) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    Self.append(objects.count, size: 8, to: &bytes)
    Self.append(0, size: 8, to: &bytes)
    Self.append(table, size: 8, to: &bytes)
    return bytes
  }

  private static func appendScalar(_ value: PropertyListValue, to bytes: inout [UInt8]) {
    switch value {
    case .boolean(let value):
      bytes.append(value ? 0x09 : 0x08)
    case .integer(let value):
      // Shorter forms are unsigned, so a negative number needs eight bytes.
      let exponent = value < 0 ? 3 : value <= 0xff ? 0 : value <= 0xffff ? 1 : value <= 0xffff_ffff ? 2 : 3
      bytes.append(0x10 | UInt8(exponent))
      append(bits: UInt64(bitPattern: value), size: 1 << exponent, to: &bytes)
    case .wideInteger(let high, let low):
      bytes.append(0x14)
      append(bits: UInt64(bitPattern: high), size: 8, to: &bytes)
      append(bits: low, size: 8, to: &bytes)
    case .real(let value):
      bytes.append(0x23)
      append(bits: value.bitPattern, size: 8, to: &bytes)
    case .date(let seconds):
      bytes.append(0x33)
      append(bits: seconds.bitPattern, size: 8, to: &bytes)
    case .data(let data):
      appendMarker(0x40, count: data.count, to: &bytes)
      bytes += data
    case .string(let text):
      if text.utf8.allSatisfy({ $0 < 0x80 }) {
        appendMarker(0x50, count: text.utf8.count, to: &bytes)
        bytes += text.utf8
      } else {
        appendMarker(0x60, count: text.utf16.count, to: &bytes)
        for unit in text.utf16 { append(bits: UInt64(unit), size: 2, to: &bytes) }
      }
    case .uid(let value):
      let size = size(of: value)
      bytes.append(0x80 | UInt8(size - 1))
      append(value, size: size, to: &bytes)
    case .null, .array, .dictionary:
      bytes.append(0x00)
    }
  }

  private static func appendMarker(_ marker: UInt8, count: Int, to bytes: inout [UInt8]) {
    guard count >= 0x0f else { return bytes.append(marker | UInt8(count)) }
    bytes.append(marker | 0x0f)
    appendScalar(.integer(Int64(count)), to: &bytes)
  }

  private static func append(_ number: Int, size: Int, to bytes: inout [UInt8]) {
    append(bits: UInt64(bitPattern: Int64(number)), size: size, to: &bytes)
  }

  private static func append(bits: UInt64, size: Int, to bytes: inout [UInt8]) {
    for shift in stride(from: (size - 1) * 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
  }

  private static func size(of number: Int) -> Int {
    // `Int` may have 32 bits.
    switch Int64(number) {
    case 0...0xff: 1
    case 0...0xffff: 2
    case 0...0xffff_ffff: 4
    default: 8
    }
  }
}
