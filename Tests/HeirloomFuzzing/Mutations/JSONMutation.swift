import HeirloomFormats
import HeirloomModel

/// A JSON document as its values, which are changed and written again.
struct JSONMutation {
  private var root: JSONValue
  private var count = 0

  /// Returns `nil` if the bytes are no JSON.
  init?(_ bytes: [UInt8]) {
    guard let value = try? JSONReader.value(of: bytes) else { return nil }
    root = value
    count = Self.count(value)
  }

  mutating func mutate(using random: inout FuzzRandom) {
    for _ in 0...random.below(3) {
      var place = random.below(count)
      Self.change(&root, at: &place, donor: root, using: &random)
      count = Self.count(root)
    }
  }

  /// Sets the hashes of a snapshot to its model's, so that it is checked more closely.
  mutating func agree() {
    guard case .object(var members) = root, let content = members["model"],
      let model = try? ModelContentReader.model(content)
    else { return }
    let hashes = model.versionHashes()
    members["hashes"] = .object(hashes.mapValues { .string($0.description) })
    members["checksum"] = .string(ManagedObjectModel.versionChecksum(of: hashes))
    root = .object(members)
  }

  private static func count(_ value: JSONValue) -> Int {
    switch value {
    case .array(let elements): elements.reduce(1) { $0 + count($1) }
    case .object(let members): members.values.reduce(1) { $0 + count($1) }
    default: 1
    }
  }

  /// Values are numbered in the order of the document; -1 after the change.
  private static func change(
    _ value: inout JSONValue, at place: inout Int, donor: JSONValue, using random: inout FuzzRandom
  ) {
    guard place > 0 else {
      value = changed(value, donor: donor, using: &random)
      place = -1
      return
    }
    place -= 1
    switch value {
    case .array(var elements):
      for index in elements.indices where place >= 0 {
        change(&elements[index], at: &place, donor: donor, using: &random)
      }
      value = .array(elements)
    case .object(var members):
      for key in members.keys.sorted() where place >= 0 {
        guard var member = members[key] else { continue }
        change(&member, at: &place, donor: donor, using: &random)
        members[key] = member
      }
      value = .object(members)
    default: break
    }
  }

  private static func changed(_ value: JSONValue, donor: JSONValue, using random: inout FuzzRandom) -> JSONValue {
    if random.once(in: 12) {
      return random.pick([
        .null, .boolean(true), .integer(random.number()), .double(1e300), .string(random.text()), .array([]),
        .object([:]), .array([.null, .array([.object(["a": .null])])]),
      ])
    }
    switch value {
    case .null: return .string(random.text())
    case .boolean(let flag): return .boolean(!flag)
    case .integer: return .integer(random.number())
    case .double: return .double(Double(bitPattern: random.next()))
    case .string:
      // A name that has a meaning elsewhere makes for more than nonsense.
      var place = random.below(count(donor))
      if random.once(in: 2), case .string(let other)? = find(donor, &place) { return .string(other) }
      return .string(random.text())
    case .array(var elements):
      switch random.below(4) {
      case 0 where !elements.isEmpty: elements.remove(at: random.below(elements.count))
      case 1 where !elements.isEmpty && elements.count < 2000: elements.append(random.pick(elements))
      case 2 where elements.count > 1: elements.swapAt(0, random.below(elements.count))
      default:
        var place = random.below(count(donor))
        if let other = find(donor, &place), count(other) < 200 { elements.append(other) }
      }
      return .array(elements)
    case .object(var members):
      guard let key = members.keys.sorted().dropFirst(random.below(members.count)).first else {
        return .object(["name": .string(random.text())])
      }
      switch random.below(4) {
      case 0: members[key] = nil
      case 1: members[random.text()] = members[key]
      case 2:
        let name = random.pick([
          "superentity", "renamingIdentifier", "derivation", "composite", "optional", "abstract", "userInfo", "type",
          "defaultValue", "destination", "inverse", "maxCount", "minCount", "indexes", "uniquenessConstraints",
        ])
        members[name] = .string(random.text())
      default:
        var place = random.below(count(donor))
        if let other = find(donor, &place), count(other) < 200 { members[key] = other }
      }
      return .object(members)
    }
  }

  private static func find(_ value: JSONValue, _ place: inout Int) -> JSONValue? {
    guard place > 0 else { return value }
    place -= 1
    switch value {
    case .array(let elements):
      for element in elements { if let found = find(element, &place) { return found } }
    case .object(let members):
      for key in members.keys.sorted() {
        if let member = members[key], let found = find(member, &place) { return found }
      }
    default: break
    }
    return nil
  }

  var encoded: [UInt8] {
    var writer = CanonicalJSONWriter(isIndented: false)
    Self.write(root, to: &writer)
    return writer.bytes
  }

  private static func write(_ value: JSONValue, to writer: inout CanonicalJSONWriter) {
    switch value {
    case .null: writer.null()
    case .boolean(let flag): writer.boolean(flag)
    case .integer(let number): writer.integer(number)
    case .double(let number): writer.double(number)
    case .string(let text): writer.string(text)
    case .array(let elements):
      writer.beginArray()
      for element in elements { write(element, to: &writer) }
      writer.endArray()
    case .object(let members):
      writer.beginObject()
      for (key, member) in members.sorted(by: { $0.key < $1.key }) {
        writer.key(key)
        write(member, to: &writer)
      }
      writer.endObject()
    }
  }
}
