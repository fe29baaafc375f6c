/// Layout: `bplist0?`, objects, a table of their offsets, a trailer of 32 bytes; all big-endian.
struct BinaryPropertyListDecoder {
  /// The last digit of the version, which follows, may be any.
  static let magic: [UInt8] = Array("bplist0".utf8)

  private static let headerSize = 8
  private static let trailerSize = 32

  private let limits: BinaryPropertyListReader.Limits
  let bytes: [UInt8]
  let topIndex: Int
  let offsets: [Int]
  private(set) var objects: [BinaryPropertyListReader.StoredObject] = []
  private(set) var references: [Int] = []

  private let referenceSize: Int
  /// The offset of the offset table, where objects end.
  private let end: Int
  /// The number of content bytes that objects may still use; in a valid file, they don't overlap.
  ///
  /// Without this limit, a small file could refer to one long string a million times.
  private var unclaimed: Int

  init(_ bytes: [UInt8], limits: BinaryPropertyListReader.Limits) throws(FormatError) {
    guard bytes.starts(with: Self.magic) else {
      throw FormatError("The data is not a binary property list: it doesn't start with \"bplist0\".")
    }
    let limit = limits.byteCount
    guard bytes.count <= limit else {
      throw FormatError("The property list has \(bytes.count) bytes; at most \(limit) are accepted.")
    }
    let trailer = bytes.count - Self.trailerSize
    guard trailer >= Self.headerSize else { throw .truncated(offset: bytes.count) }
    let offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
      let count = Self.number(in: bytes, at: trailer + 8, size: 8),
      let top = Self.number(in: bytes, at: trailer + 16, size: 8),
      let table = Self.number(in: bytes, at: trailer + 24, size: 8),
      count > 0, top < count, table >= Self.headerSize, table <= trailer,
      count <= (trailer - table) / offsetSize
    else { throw .invalidTrailer(offset: trailer) }
    guard count <= limits.objectCount else { throw .tooManyObjects(limit: limits.objectCount) }
    var offsets: [Int] = []
    offsets.reserveCapacity(count)  // Not hostile: the table is in the input.
    for index in 0..<count {
      let position = table + index * offsetSize
      guard let offset = Self.number(in: bytes, at: position, size: offsetSize), offset >= Self.headerSize,
        offset < table
      else { throw .invalidTrailer(offset: position) }
      offsets.append(offset)
    }
    self.bytes = bytes
    self.offsets = offsets
    topIndex = top
    end = table
    unclaimed = 2 * bytes.count
    self.limits = limits
  }

  mutating func decodeObjects() throws(FormatError) {
    objects.reserveCapacity(offsets.count)
    for offset in offsets { objects.append(try object(at: offset)) }
  }

  private mutating func object(at start: Int) throws(FormatError) -> BinaryPropertyListReader.StoredObject {
    let marker = bytes[start]
    let low = Int(marker & 0x0f)
    switch marker >> 4 {
    case 0x0:
      switch marker {
      case 0x00: return .scalar(.null)
      case 0x08: return .scalar(.boolean(false))
      case 0x09: return .scalar(.boolean(true))
      default: throw .unknownMarker(marker, offset: start)
      }
    case 0x1:
      guard low <= 4 else { throw .unknownMarker(marker, offset: start) }
      return .scalar(try integer(at: start + 1, size: 1 << low, of: start))
    case 0x2:
      return .scalar(.real(try real(at: start + 1, size: low, of: start)))
    case 0x3:
      guard low == 3 else { throw .unknownMarker(marker, offset: start) }
      return .scalar(.date(try real(at: start + 1, size: low, of: start)))
    case 0x4:
      let content = try content(of: start, unitSize: 1)
      return .scalar(.data(Array(bytes[content])))
    case 0x5:
      let content = try content(of: start, unitSize: 1)
      guard bytes[content].allSatisfy({ $0 < 0x80 }) else { throw .invalidString(offset: start) }
      return .scalar(.string(String(decoding: bytes[content], as: UTF8.self)))
    case 0x6:
      return .scalar(.string(try utf16String(try content(of: start, unitSize: 2), of: start)))
    case 0x8:
      guard low < 8, let value = Self.number(in: bytes, at: start + 1, size: low + 1, end: end) else {
        throw .truncated(offset: start)
      }
      return .scalar(.uid(value))
    case 0xA:
      let content = try content(of: start, unitSize: referenceSize)
      return .array(start: try appendReferences(content, of: start), count: content.count / referenceSize)
    case 0xD:
      let content = try content(of: start, unitSize: 2 * referenceSize)
      return .dictionary(start: try appendReferences(content, of: start), count: content.count / referenceSize / 2)
    default:
      throw .unknownMarker(marker, offset: start)
    }
  }

  /// The length is in the marker or in a following integer.
  private mutating func content(of start: Int, unitSize: Int) throws(FormatError) -> Range<Int> {
    var position = start + 1
    var count = Int(bytes[start] & 0x0f)
    if count == 0x0f {
      guard position < end else { throw .truncated(offset: start) }
      let marker = bytes[position]
      guard marker >> 4 == 0x1, marker & 0x0f <= 3 else { throw .invalidLength(offset: start) }
      let size = 1 << Int(marker & 0x0f)
      guard let length = Self.number(in: bytes, at: position + 1, size: size, end: end) else {
        throw .invalidLength(offset: start)
      }
      count = length
      position += 1 + size
    }
    let (byteCount, overflow) = count.multipliedReportingOverflow(by: unitSize)
    guard !overflow, position <= end, byteCount <= end - position else { throw .truncated(offset: start) }
    unclaimed -= byteCount
    guard unclaimed >= 0 else { throw .tooExpansive(limit: 2 * bytes.count, offset: start) }
    return position..<position + byteCount
  }

  private mutating func appendReferences(_ content: Range<Int>, of start: Int) throws(FormatError) -> Int {
    let first = references.count
    guard content.count / referenceSize <= 4 * limits.objectCount - first else {
      throw .tooManyObjects(limit: limits.objectCount)
    }
    var position = content.lowerBound
    while position < content.upperBound {
      let reference = Self.number(in: bytes, at: position, size: referenceSize) ?? Int.max
      guard reference < offsets.count else { throw .invalidReference(reference, offset: start) }
      references.append(reference)
      position += referenceSize
    }
    return first
  }

  private func integer(at position: Int, size: Int, of start: Int) throws(FormatError) -> PropertyListValue {
    guard position <= end, size <= end - position else { throw .truncated(offset: start) }
    // 1, 2 and 4 bytes are unsigned, 8 are signed, 16 represent large unsigned numbers.
    if size < 16 { return .integer(Int64(bitPattern: word(at: position, size: size))) }
    let high = Int64(bitPattern: word(at: position, size: 8))
    let low = word(at: position + 8, size: 8)
    let isNarrow = high == (Int64(bitPattern: low) < 0 ? -1 : 0)
    return isNarrow ? .integer(Int64(bitPattern: low)) : .wideInteger(high: high, low: low)
  }

  private func real(at position: Int, size: Int, of start: Int) throws(FormatError) -> Double {
    guard size == 2 || size == 3 else { throw .unknownMarker(bytes[start], offset: start) }
    guard position <= end, 1 << size <= end - position else { throw .truncated(offset: start) }
    let bits = word(at: position, size: 1 << size)
    return size == 2 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
  }

  private func utf16String(_ content: Range<Int>, of start: Int) throws(FormatError) -> String {
    let units = stride(from: content.lowerBound, to: content.upperBound, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    guard let text = String(wellFormedUTF16: units) else { throw .invalidString(offset: start) }
    return text
  }

  /// At most eight bytes; the caller must check the bounds.
  private func word(at position: Int, size: Int) -> UInt64 {
    bytes[position..<position + size].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// `nil` if the number is out of bounds or larger than an `Int`.
  private static func number(in bytes: [UInt8], at position: Int, size: Int, end: Int? = nil) -> Int? {
    let end = end ?? bytes.count
    guard position <= end, size <= end - position else { return nil }
    var result: UInt64 = 0
    for index in position..<position + size { result = result << 8 | UInt64(bytes[index]) }
    return Int(exactly: result)
  }
}
