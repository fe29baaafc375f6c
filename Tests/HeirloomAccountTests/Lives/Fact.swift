import TestSupport

/// A thing that was in a store, as any file that may hold it now is asked for it.
///
/// Nothing in a fact depends on keys, columns or tables of objects, which a migration may change.
enum Fact: Hashable, Sendable {
  /// A value that a life wrote once: it is the same one wherever it is found.
  case value(Cell)
  /// An object of an entity, which has its first name here.
  case object(String, Cell)
  /// A link between the objects with these serial numbers, by the letter in the names of its two sides.
  case link(Character, owner: Cell, target: Cell)
  /// The place of a target before another one among the targets of an owner, by the relationship's first name.
  case order(String, owner: Cell, first: Cell, second: Cell)
  /// A row of a table of the app's.
  case row(String, [Cell])
  /// An entry of the app's in the store's metadata.
  case metadata(String, String)
}

extension Fact: CustomStringConvertible {
  var description: String {
    switch self {
    case .value(let cell): "the value \(cell.text)"
    case .object(let entity, let serial): "the object \(serial.text) of \(entity)"
    case .link(let letter, let owner, let target): "the link \(letter) from \(owner.text) to \(target.text)"
    case .order(let name, let owner, let first, let second):
      "\(first.text) before \(second.text) in \(name) of \(owner.text)"
    case .row(let table, let cells): "the row (\(cells.map(\.text).joined(separator: ", "))) of \(table)"
    case .metadata(let key, let value): "\(key) = \(value) in the metadata"
    }
  }
}

/// The values of a life, no two of which are equal, in any type.
struct LifeValues {
  private static let range: ClosedRange<Int64> = 10_000...32_000
  /// These begin every value of bytes.
  private static let magic: [UInt8] = [0xa5, 0x5a]
  private var number = range.lowerBound

  mutating func next() -> Int64 {
    number += 1
    return number
  }

  mutating func next(_ type: String, using random: inout SplitMix64) -> Cell {
    let number = next()
    switch type {
    case "Integer 16", "Integer 32", "Integer 64", "Boolean": return .integer(number)
    case "Double", "Float", "Decimal": return random.below(2) == 0 ? .real(Double(number)) : .real(Double(number) + 0.5)
    case "Date": return .real(Double(number) + 0.5)
    case "String": return .text(["", "é ", "e\u{301} ", "it's ", "A\u{0}"][random.below(5)] + "\(number)")
    case "URI": return .text("https://example.invalid/\(number)")
    case "UUID": return .blob(Self.bytes(number) + [UInt8](repeating: 7, count: 12))
    default: return .blob(Self.bytes(number))
    }
  }

  mutating func nextOfAnyType(using random: inout SplitMix64) -> Cell {
    next(["Integer 64", "Double", "String", "Binary"][random.below(4)], using: &random)
  }

  private static func bytes(_ number: Int64) -> [UInt8] {
    magic + [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
  }

  /// Returns one form of a value of a life's, however a file stores it; `nil` for any other cell.
  ///
  /// A column may keep 12345 for 12345.0, and bytes that could be in a file begin with a 1.
  static func own(_ cell: Cell) -> Cell? {
    switch cell {
    case .null: return nil
    case .integer(let number): return range.contains(number) ? cell : nil
    case .real(let value):
      guard value >= Double(range.lowerBound), value < Double(range.upperBound + 1) else { return nil }
      return Int64(exactly: value).map { .integer($0) } ?? cell
    case .text(let bytes):
      guard bytes.count >= 5, let number = Int64(String(decoding: bytes.suffix(5), as: UTF8.self)) else { return nil }
      return range.contains(number) ? cell : nil
    case .blob(let bytes):
      let plain = bytes.first == 1 ? Array(bytes.dropFirst()) : bytes
      return plain.starts(with: magic) ? .blob(plain) : nil
    }
  }
}

extension Cell {
  var text: String {
    switch self {
    case .text(let bytes): "'\(String(decoding: bytes, as: UTF8.self))'"
    default: literal
    }
  }
}
