import HeirloomFormats

/// A maker of keyed archives for tests, object by object.
struct ArchiveBuilder {
  private var objects: [PropertyListValue] = [.string("$null")]
  private var classes: [String: PropertyListValue] = [:]

  static let null: PropertyListValue = .uid(0)

  /// Returns the reference of the value, or of an object without members so far.
  mutating func add(_ value: PropertyListValue) -> PropertyListValue {
    objects.append(value)
    return .uid(objects.count - 1)
  }

  mutating func object(
    _ className: String, ancestors: [String] = [], _ members: [String: PropertyListValue] = [:]
  ) -> PropertyListValue {
    let type =
      classes[className]
      ?? add(
        .dictionary([
          "$classname": .string(className), "$classes": .array(([className] + ancestors).map { .string($0) }),
        ]))
    classes[className] = type
    return add(.dictionary(members.merging(["$class": type]) { $1 }))
  }

  mutating func set(_ key: String, of reference: PropertyListValue, to value: PropertyListValue) {
    guard case .uid(let index) = reference, case .dictionary(var members) = objects[index] else { return }
    members[key] = value
    objects[index] = .dictionary(members)
  }

  mutating func string(_ text: String) -> PropertyListValue {
    add(.string(text))
  }

  mutating func array(_ elements: [PropertyListValue]) -> PropertyListValue {
    object("NSArray", ["NS.objects": .array(elements)])
  }

  mutating func dictionary(_ entries: [(String, PropertyListValue)]) -> PropertyListValue {
    let keys = entries.map { string($0.0) }
    return object("NSDictionary", ["NS.keys": .array(keys), "NS.objects": .array(entries.map(\.1))])
  }

  func bytes(root: PropertyListValue, key: String = "root") throws -> [UInt8] {
    try BinaryPropertyListWriter.bytes(
      of: .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000), "$top": .dictionary([key: root]),
        "$objects": .array(objects),
      ]))
  }
}
