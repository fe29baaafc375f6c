import HeirloomModel

struct ArchivedValueWriter {
  static let depthLimit = 512

  private var builder = KeyedArchiveBuilder()

  static func bytes(of value: ArchivedValue) throws(ArchivedValueError) -> [UInt8] {
    var writer = ArchivedValueWriter()
    let root = try writer.add(value, depth: 0)
    do throws(FormatError) {
      return try writer.builder.bytes(root: root)
    } catch {
      throw .unencodable(reason: error.description)
    }
  }

  private mutating func add(_ value: ArchivedValue, depth: Int) throws(ArchivedValueError) -> PropertyListValue {
    guard depth < Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit) }
    switch value {
    case .null: return builder.object("NSNull")
    case .boolean(let value): return builder.add(.boolean(value))
    case .integer(let number): return builder.add(.integer(number))
    case .double(let number): return builder.add(.real(number))
    case .string(let text): return builder.string(text)
    case .data(let bytes): return builder.add(.data(bytes))
    case .date(let seconds):
      guard seconds.isFinite else { throw .unencodable(reason: "a date is not a finite number of seconds.") }
      return builder.object("NSDate", ["NS.time": .real(seconds)])
    case .uuid(let bytes):
      guard bytes.count == 16 else { throw .unencodable(reason: "a UUID has \(bytes.count) bytes instead of 16.") }
      return builder.object("NSUUID", ["NS.uuidbytes": .data(bytes)])
    case .url(let text):
      let reference = builder.string(text)
      return builder.object("NSURL", ["NS.base": KeyedArchiveBuilder.null, "NS.relative": reference])
    case .decimal(let text):
      guard let number = builder.decimal(text) else {
        throw .unencodable(reason: "\"\(text.prefix(40))\" is not a decimal number of at most 38 digits.")
      }
      return number
    case .array(let elements): return builder.array(try add(elements, depth), className: "NSArray")
    case .set(let elements): return builder.array(try add(elements, depth), className: "NSSet")
    case .dictionary(let entries): return try dictionary(entries, depth: depth)
    case .object(let name, _): throw .unsupportedClass(name)
    }
  }

  private mutating func add(
    _ elements: [ArchivedValue], _ depth: Int
  ) throws(ArchivedValueError) -> [PropertyListValue] {
    var references: [PropertyListValue] = []
    references.reserveCapacity(elements.count)
    for element in elements { references.append(try add(element, depth: depth + 1)) }
    return references
  }

  private mutating func dictionary(
    _ entries: [ArchivedValue: ArchivedValue], depth: Int
  ) throws(ArchivedValueError) -> PropertyListValue {
    // Text keys are sorted, so that equal values give equal bytes; keys of other kinds follow in any order.
    let texts = entries.keys.compactMap(\.stringValue).ordered { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let keys = texts.map { ArchivedValue.string($0) } + entries.keys.filter { $0.stringValue == nil }
    var values: [ArchivedValue] = []
    for key in keys { values.append(entries[key] ?? .null) }
    let keyReferences = try add(keys, depth)
    let valueReferences = try add(values, depth)
    return builder.object(
      "NSDictionary", ["NS.keys": .array(keyReferences), "NS.objects": .array(valueReferences)])
  }
}
