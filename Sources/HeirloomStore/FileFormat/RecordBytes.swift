/// A record: the values of a row of a table, or of an entry of an index, as SQLite stores them.
struct RecordBytes {
  /// Followed by room for a number that extends beyond the record's end.
  let bytes: UnsafeRawPointer
  let size: Int

  /// True also if the header isn't in memory as a whole.
  func isWhole(present: Int) -> Bool {
    var place = 0
    let header = Int(clamping: bytes.varint(&place))
    guard header >= place, header <= size else { return false }
    guard header <= present else { return true }
    var end = header
    while place < header {
      let length = SerialType.length(of: bytes.varint(&place))
      // A type that doesn't exist has no length.
      guard length >= 0, length <= size - end else { return false }
      end += length
    }
    return place == header && end == size
  }

  /// The header must be valid, and `columns` ascending; a position beyond the end has no value.
  func add(_ columns: [Int], to row: inout RowDigest) {
    var place = 0
    let header = Int(clamping: bytes.varint(&place))
    var start = header
    var index = 0
    for column in columns {
      while index < column, place < header {
        start += max(0, SerialType.length(of: bytes.varint(&place)))
        index += 1
      }
      guard place < header else {
        row.takeNull()
        continue
      }
      switch value(bytes.varint(&place), &start) {
      case .null: row.takeNull()
      case .integer(let number): row.take(Double(number))
      case .real(let number): row.take(number)
      case .text(let content): row.take(content, isText: true)
      case .blob(let content): row.take(content, isText: false)
      }
      index += 1
    }
  }

  private enum Value {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeRawBufferPointer)
    case blob(UnsafeRawBufferPointer)

    var rank: Int {
      switch self {
      case .null: 0
      case .integer, .real: 1
      case .text: 2
      case .blob: 3
      }
    }
  }

  /// As an index that compares text by its bytes; values beyond `descending` ascend.
  func compare(_ other: RecordBytes, descending: [Bool]) -> Int {
    var (place, otherPlace) = (0, 0)
    let (header, otherHeader) = (Int(clamping: bytes.varint(&place)), Int(clamping: other.bytes.varint(&otherPlace)))
    var (start, otherStart) = (header, otherHeader)
    var index = 0
    while place < header, otherPlace < otherHeader {
      let value = value(bytes.varint(&place), &start)
      let otherValue = other.value(other.bytes.varint(&otherPlace), &otherStart)
      let order = Self.compare(value, otherValue)
      if order != 0 { return index < descending.count && descending[index] ? -order : order }
      index += 1
    }
    return (header - place).signum() - (otherHeader - otherPlace).signum()
  }

  private func value(_ type: Int64, _ start: inout Int) -> Value {
    let length = min(max(0, SerialType.length(of: type)), max(0, size - start))
    let place = bytes + start
    defer { start += length }
    switch type {
    case 0: return .null
    case 8, 9: return .integer(type - 8)
    case 7:
      return .real(Double(bitPattern: UInt64(bigEndian: place.loadUnaligned(as: UInt64.self))))
    case 1...6:
      guard length > 0 else { return .null }
      var number = Int64(Int8(bitPattern: place.load(as: UInt8.self)))
      for index in 1..<max(1, length) {
        number = number << 8 | Int64(place.load(fromByteOffset: index, as: UInt8.self))
      }
      return .integer(number)
    default:
      let content = UnsafeRawBufferPointer(start: place, count: length)
      return type % 2 == 0 ? .blob(content) : .text(content)
    }
  }

  private static func compare(_ value: Value, _ other: Value) -> Int {
    switch (value, other) {
    case (.integer(let number), .integer(let otherNumber)):
      return number < otherNumber ? -1 : number > otherNumber ? 1 : 0
    case (.real(let number), .real(let otherNumber)):
      return number < otherNumber ? -1 : number > otherNumber ? 1 : 0
    case (.integer(let number), .real(let otherNumber)): return compare(number, otherNumber)
    case (.real(let number), .integer(let otherNumber)): return -compare(otherNumber, number)
    case (.text(let content), .text(let otherContent)), (.blob(let content), .blob(let otherContent)):
      let count = min(content.count, otherContent.count)
      for index in 0..<count where content[index] != otherContent[index] {
        return content[index] < otherContent[index] ? -1 : 1
      }
      return (content.count - otherContent.count).signum()
    default: return value.rank - other.rank
    }
  }

  /// Without rounding the integer.
  private static func compare(_ number: Int64, _ other: Double) -> Int {
    // The limits of 64-bit integers, as the nearest floating-point numbers.
    if other >= 9_223_372_036_854_775_808 { return -1 }
    if other < -9_223_372_036_854_775_808 { return 1 }
    let whole = Int64(other)
    if number != whole { return number < whole ? -1 : 1 }
    let fraction = other - Double(whole)
    return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
  }
}
