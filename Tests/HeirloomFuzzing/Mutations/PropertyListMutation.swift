import HeirloomFormats

/// A binary property list as its table of objects, so that their references can be changed at will.
struct PropertyListMutation {
  private enum Object {
    case scalar(PropertyListValue)
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
  }

  private var objects: [Object] = []
  private var top = 0

  /// Returns `nil` if the bytes are no property list.
  init?(_ bytes: [UInt8]) {
    guard let reader = try? BinaryPropertyListReader(bytes) else { return nil }
    for index in 0..<reader.count {
      switch try? reader.object(at: index) {
      case .scalar(let value): objects.append(.scalar(value))
      case .array(let elements): objects.append(.array(Array(elements)))
      case .dictionary(let keys, let values): objects.append(.dictionary(keys: Array(keys), values: Array(values)))
      case nil: return nil
      }
    }
    top = reader.topIndex
  }

  mutating func mutate(using random: inout FuzzRandom) {
    for _ in 0...random.below(4) {
      let place = random.below(objects.count)
      switch objects[place] {
      case .scalar(let value): objects[place] = .scalar(scalar(value, using: &random))
      case .array(var elements):
        changeList(&elements, using: &random)
        objects[place] = .array(elements)
      case .dictionary(var keys, var values):
        changeDictionary(&keys, &values, using: &random)
        objects[place] = .dictionary(keys: keys, values: values)
      }
      switch random.below(30) {
      case 0: objects[place] = objects[random.below(objects.count)]
      case 1: objects.swapAt(place, random.below(objects.count))
      case 2: objects[place] = .array([place])
      case 3: nest(place, using: &random)
      case 4: top = random.below(objects.count)
      default: break
      }
    }
  }

  private func scalar(_ value: PropertyListValue, using random: inout FuzzRandom) -> PropertyListValue {
    if random.once(in: 6) {
      return random.pick([
        .null, .boolean(true), .integer(random.number()), .wideInteger(high: .max, low: .max), .real(.nan),
        .real(.infinity), .real(1e300), .date(.nan), .date(-1e300), .string(random.text()), .data([]), .uid(0),
        .uid(random.below(objects.count + 2)), .data(Array(repeating: 0xFF, count: random.below(64))),
      ])
    }
    switch value {
    case .integer: return .integer(random.number())
    case .uid(let number):
      return .uid(random.once(in: 3) ? random.below(4 * objects.count) : max(0, number + random.below(5) - 2))
    case .string(let text): return .string(other(than: text, using: &random))
    case .data(var bytes):
      random.damage(&bytes)
      return .data(bytes)
    case .real, .date: return .real(Double(random.number()))
    case .boolean(let flag): return .boolean(!flag)
    default: return value
    }
  }

  /// Mostly one of the list's: a name that has a meaning in it.
  private func other(than text: String, using random: inout FuzzRandom) -> String {
    if random.once(in: 3) { return random.text() }
    for _ in 0..<8 {
      if case .scalar(.string(let other)) = objects[random.below(objects.count)], other != text { return other }
    }
    return text + random.text()
  }

  private func changeList(_ elements: inout [Int], using random: inout FuzzRandom) {
    switch random.below(5) {
    case 0: elements.append(random.below(objects.count))
    case 1 where !elements.isEmpty: elements.remove(at: random.below(elements.count))
    case 2 where !elements.isEmpty: elements[random.below(elements.count)] = random.below(objects.count)
    case 3 where elements.count < 2000: elements += elements
    default: elements.reverse()
    }
  }

  private func changeDictionary(_ keys: inout [Int], _ values: inout [Int], using random: inout FuzzRandom) {
    guard !keys.isEmpty else { return }
    let place = random.below(keys.count)
    switch random.below(5) {
    case 0:
      keys.remove(at: place)
      values.remove(at: place)
    case 1: values[place] = random.below(objects.count)
    case 2: keys[place] = random.below(objects.count)
    case 3: values.swapAt(place, random.below(values.count))
    default:
      keys.append(random.below(objects.count))
      values.append(random.below(objects.count))
    }
  }

  /// Puts an object deep inside others, or doubles it again and again.
  private mutating func nest(_ place: Int, using random: inout FuzzRandom) {
    let width = random.pick([1, 2, 16])
    var inner = objects.count
    objects.append(objects[place])
    for _ in 0..<random.pick([3, 40, 300]) {
      objects.append(.array(Array(repeating: inner, count: width)))
      inner = objects.count - 1
    }
    objects[place] = objects[inner]
  }

  /// Sometimes with wrong sizes and places.
  func encoded(using random: inout FuzzRandom) -> [UInt8] {
    let referenceSize = objects.count <= 0x100 && !random.once(in: 20) ? 1 : 2
    var bytes: [UInt8] = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      switch object {
      case .scalar(let value): bytes += Self.encoded(value)
      case .array(let elements):
        bytes += Self.marker(0xA0, count: elements.count)
        for element in elements { bytes += Self.number(element, size: referenceSize) }
      case .dictionary(let keys, let values):
        bytes += Self.marker(0xD0, count: keys.count)
        for element in keys + values { bytes += Self.number(element, size: referenceSize) }
      }
    }
    var table = bytes.count
    if random.once(in: 40), !offsets.isEmpty { offsets[random.below(offsets.count)] = random.below(2 * table) }
    for offset in offsets { bytes += Self.number(offset, size: 4) }
    var trailer: [UInt8] = [0, 0, 0, 0, 0, 0, 4, UInt8(referenceSize)]
    var count = objects.count
    var outermost = top
    switch random.below(120) {
    case 0: table = Int(random.number() & .max)
    case 1: count = Int(random.number() & .max)
    case 2: outermost = Int(random.number() & .max)
    case 3: trailer[6 + random.below(2)] = UInt8(random.below(256))
    default: break
    }
    for number in [count, outermost, table] { trailer += Self.number(number, size: 8) }
    return bytes + trailer
  }

  /// Taken out of a list that holds only the value.
  private static func encoded(_ value: PropertyListValue) -> [UInt8] {
    guard let list = try? BinaryPropertyListWriter.bytes(of: value), list.count > 41 else { return [0] }
    let table = list.suffix(8).reduce(0) { $0 << 8 | Int($1) }
    return Array(list[8..<table])
  }

  private static func marker(_ marker: UInt8, count: Int) -> [UInt8] {
    count < 15 ? [marker | UInt8(count)] : [marker | 0x0F, 0x12] + number(count, size: 4)
  }

  private static func number(_ number: Int, size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * (size - 1 - $0))) }
  }
}
