import HeirloomFormats
package import HeirloomStore
import HeirloomVault

/// A value of a row that was read without SQLite.
package enum FoundValue: Hashable {
  case stored(SQLiteValue)
  /// A text with invalid bytes.
  case garbled([UInt8])
  /// The readable start of a value, which may be empty.
  case lost([UInt8])

  package var stored: SQLiteValue? {
    guard case .stored(let value) = self else { return nil }
    return value
  }
}

struct RecordReader {
  let image: DatabaseImage
  let pointerMap: PointerMap?

  /// SQLite's own limit, in bytes.
  static let sizeLimit = 1_000_000_000

  /// Returns `nil` if the record is invalid; stops after `limit` bytes of the row.
  ///
  /// `claim` is called with each overflow page of the row, and returns true if no other row has it;
  /// `emptyEnd` is called with a page of zeros that is accepted as the end of a blob.
  func values(
    of cell: TreePage.TableCell, in page: TreePage, limit: Int = RecordReader.sizeLimit,
    claim: (Int) -> Bool = { _ in true },
    emptyEnd: (Int) -> Void = { _ in }
  ) throws(FileError) -> [FoundValue]? {
    guard cell.payloadSize <= Self.sizeLimit else { return nil }
    var payload = Array(page.bytes[cell.local])
    let local = payload.count
    guard let first = cell.overflow else {
      return Self.decode(payload, size: cell.payloadSize, encoding: image.encoding)
    }
    let end = try appendOverflow(
      first, of: cell, parent: page.number, to: &payload, limit: min(limit, cell.payloadSize), claim: claim)
    guard let end else { return Self.decode(payload, size: cell.payloadSize, encoding: image.encoding) }
    // A lost page reads as zeros, and many images end in zeros.
    let certain = payload.count - (payload.count - local - 1) % (image.usableSize - 4) - 1
    let values = Self.decode(payload, size: cell.payloadSize, encoding: image.encoding, certainCount: certain)
    let isLost = values?.contains { if case .lost = $0 { true } else { false } } ?? true
    if !isLost { emptyEnd(end) }
    return values
  }

  /// Follows the chain as far as it can be trusted; returns its last page if that holds only zeros.
  private func appendOverflow(
    _ first: Int, of cell: TreePage.TableCell, parent: Int, to payload: inout [UInt8], limit: Int, claim: (Int) -> Bool
  ) throws(FileError) -> Int? {
    var (next, previous, isFirst) = (first, parent, true)
    var seen: Set<Int> = []
    while payload.count < limit {
      guard next >= 2, next <= image.pageCount, seen.insert(next).inserted else { return nil }
      if let entry = try pointerMap?.entry(of: next) {
        let expected: PointerMap.Entry = isFirst ? .firstOverflow(parent: previous) : .overflow(previous: previous)
        guard entry == expected else { return nil }
      }
      guard claim(next), let bytes = try image.page(next) else { return nil }
      let count = min(cell.payloadSize - payload.count, image.usableSize - 4)
      let isLast = payload.count + count == cell.payloadSize
      if bytes.allSatisfy({ $0 == 0 }) {
        // A page of zeros is lost, unless it is the end of the record.
        if isLast { payload += bytes[4..<4 + count] }
        return isLast ? next : nil
      }
      payload += bytes[4..<4 + count]
      (previous, next, isFirst) = (next, bigEndian(bytes, at: 0), false)
    }
    return nil
  }

  /// Returns `nil` if the values' lengths don't add up to `size`, that of the complete record.
  ///
  /// `payload` may lack the end of the record. From `certainCount` on, its bytes come from an empty
  /// page, and only blobs may contain them.
  static func decode(
    _ payload: [UInt8], size: Int, encoding: DatabaseImage.TextEncoding, certainCount: Int = .max
  ) -> [FoundValue]? {
    var place = 0
    guard let header = readVarint(payload, &place, end: payload.count), let headerSize = Int(exactly: header),
      headerSize >= place, headerSize <= min(payload.count, certainCount), headerSize <= size
    else { return nil }
    var types: [Int64] = []
    while place < headerSize {
      // No table has more columns: https://www.sqlite.org/limits.html
      guard types.count < 32_767, let type = readVarint(payload, &place, end: headerSize), type >= 0, type != 10,
        type != 11
      else { return nil }
      types.append(type)
    }
    var values: [FoundValue] = []
    values.reserveCapacity(types.count)
    var start = headerSize
    for type in types {
      let length = SerialType.length(of: type)
      let (end, isTooFar) = start.addingReportingOverflow(length)
      guard !isTooFar, end <= size else { return nil }
      // The header alone describes a value without bytes.
      let isBytes = type >= 12 && type.isMultiple(of: 2)
      if length == 0 || end <= (isBytes ? payload.count : min(payload.count, certainCount)) {
        values.append(value(type, length == 0 ? [] : payload[start..<end], encoding))
      } else {
        let known = min(payload.count, certainCount, end)
        values.append(.lost(Array(payload[min(start, known)..<known])))
      }
      start = end
    }
    return start == size ? values : nil
  }

  private static func value(
    _ type: Int64, _ bytes: ArraySlice<UInt8>, _ encoding: DatabaseImage.TextEncoding
  ) -> FoundValue {
    switch type {
    case 0: return .stored(.null)
    case 1...6:
      var number: Int64 = bytes.first.map { Int64(Int8(bitPattern: $0)) } ?? 0
      for byte in bytes.dropFirst() { number = number << 8 | Int64(byte) }
      return .stored(.integer(number))
    case 7:
      let number = Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
      return .stored(number.isNaN ? .null : .real(number))
    case 8: return .stored(.integer(0))
    case 9: return .stored(.integer(1))
    default:
      guard type.isMultiple(of: 2) else { return text(bytes, encoding) }
      return .stored(.blob(Array(bytes)))
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>, _ encoding: DatabaseImage.TextEncoding) -> FoundValue {
    guard encoding != .utf8 else {
      return String(wellFormedUTF8: bytes).map { .stored(.text($0)) } ?? .garbled(Array(bytes))
    }
    guard bytes.count.isMultiple(of: 2) else { return .lost(Array(bytes)) }
    let isLittle = encoding == .utf16LittleEndian
    let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { index in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isLittle ? second << 8 | first : first << 8 | second
    }
    return String(wellFormedUTF16: units).map { .stored(.text($0)) } ?? .lost(Array(bytes))
  }
}
