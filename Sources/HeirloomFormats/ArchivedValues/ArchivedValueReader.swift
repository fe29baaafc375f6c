import Foundation
import HeirloomModel

/// Every object is decoded once, however often it is referred to: the archive's size limits the
/// work.
///
/// The expanded size of the value is limited too, so that callers need no further checks.
struct ArchivedValueReader {
  /// The maximum number of values within a key.
  private static let keyLimit = 1000

  private let archive: KeyedArchive
  private let limits: ArchivedValue.Limits
  private var decoded: [Int: Counted] = [:]
  private var open: Set<Int> = []
  private var classNames: [Int: [String]] = [:]

  /// A value with its expanded size.
  private struct Counted {
    var value: ArchivedValue
    var valueCount: Int = 1
    var byteCount: Int = 0
  }

  static func value(_ bytes: [UInt8], limits: ArchivedValue.Limits) throws(ArchivedValueError) -> ArchivedValue {
    guard bytes.count <= limits.byteCount else {
      throw .tooLarge(byteCount: bytes.count, limit: limits.byteCount)
    }
    guard !bytes.isEmpty else { throw .notArchive(found: "empty") }
    guard BinaryPropertyListReader.recognizes(bytes) else { throw .notArchive(found: kind(of: bytes)) }
    let archive: KeyedArchive
    do throws(FormatError) {
      archive = try KeyedArchive(bytes)
    } catch {
      if error == .notKeyedArchive { throw .notArchive(found: "a property list that is not an archive") }
      throw .malformed(reason: error.description)
    }
    var reader = ArchivedValueReader(archive: archive, limits: limits)
    return try reader.value(archive.rootReference, depth: 0).value
  }

  private init(archive: KeyedArchive, limits: ArchivedValue.Limits) {
    self.archive = archive
    self.limits = limits
  }

  private static func kind(of bytes: [UInt8]) -> String {
    let start = bytes.prefix(64)
    // NSArchiver's format before keyed archives starts with a version and the length of this word.
    if start.dropFirst(2).starts(with: "streamtyped".utf8) { return "an archive of the old NSArchiver" }
    if start.starts(with: "<?xml".utf8) { return "an XML property list" }
    return "data of another kind"
  }

  // MARK: - Values

  private mutating func value(_ reference: Int, depth: Int) throws(ArchivedValueError) -> Counted {
    if let known = decoded[reference] { return known }
    guard depth < limits.depth else { throw .tooDeep(limit: limits.depth) }
    guard open.insert(reference).inserted else { throw .cyclic }
    let result: Counted
    switch try read({ () throws(FormatError) in try archive.node(reference) }) {
    case .null: result = Counted(value: .null)
    case .scalar(let scalar): result = try self.scalar(scalar)
    case .object(let object): result = try self.object(object, depth: depth)
    }
    open.remove(reference)
    guard result.valueCount <= limits.valueCount else { throw .tooManyValues(limit: limits.valueCount) }
    guard result.byteCount <= limits.contentByteCount else { throw .tooMuchContent(limit: limits.contentByteCount) }
    decoded[reference] = result
    return result
  }

  private func scalar(_ scalar: PropertyListValue) throws(ArchivedValueError) -> Counted {
    switch scalar {
    case .boolean(let value): return Counted(value: .boolean(value))
    case .integer(let number): return Counted(value: .integer(number))
    case .wideInteger(0, let low): return Counted(value: .decimal(String(low)))
    case .real(let number): return Counted(value: .double(number))
    case .string(let text): return Counted(value: .string(text), byteCount: text.utf8.count)
    case .data(let bytes): return Counted(value: .data(bytes), byteCount: bytes.count)
    case .date(let seconds):
      // A date that is not a finite number can't be archived again.
      guard seconds.isFinite else { throw .malformedObject(className: "NSDate") }
      return Counted(value: .date(seconds))
    case .null: return Counted(value: .null)
    case .wideInteger, .uid, .array, .dictionary:
      throw .malformed(reason: "a value is of a kind that archives don't have")
    }
  }

  private mutating func object(_ object: ArchivedObject, depth: Int) throws(ArchivedValueError) -> Counted {
    let classes = try self.classes(of: object)
    for name in classes {
      if let known = try self.object(object, of: name, depth: depth) { return known }
    }
    var members: [String: ArchivedValue] = [:]
    var result = Counted(value: .null)
    for key in try read({ () throws(FormatError) in try object.keyNames() }) {
      guard let member = try member(key, of: object, depth: depth) else { continue }
      try add(member, to: &result)
      members[key] = member.value
    }
    result.value = .object(className: classes[0], members: members)
    return result
  }

  /// `nil` for an unknown class.
  private mutating func object(
    _ object: ArchivedObject, of name: String, depth: Int
  ) throws(ArchivedValueError) -> Counted? {
    switch name {
    case "NSNull":
      return Counted(value: .null)
    case "NSArray", "NSOrderedSet":
      var result = try elements(of: object, name, depth: depth)
      result.counted.value = .array(result.elements)
      return result.counted
    case "NSSet":
      var result = try elements(of: object, name, depth: depth)
      result.counted.value = .set(result.elements)
      return result.counted
    case "NSDictionary":
      return try dictionary(object, depth: depth)
    case "NSString", "NSAttributedString":
      let key = name == "NSString" ? "NS.string" : "NSString"
      guard let text = try member(key, of: object, depth: depth), text.value.stringValue != nil else {
        throw .malformedObject(className: name)
      }
      return text
    case "NSData":
      guard let data = try member("NS.data", of: object, depth: depth), data.value.dataValue != nil else {
        throw .malformedObject(className: name)
      }
      return data
    case "NSDate", "NSDecimalNumber", "NSUUID", "NSURL":
      return try simple(object, name, depth: depth)
    case "NSNumber":
      // Numbers are archived directly; an object of this class has the number in a member.
      for key in ["NS.intval", "NS.dblval", "NS.boolval"] {
        if let number = try member(key, of: object, depth: depth) { return number }
      }
      return nil
    default:
      return nil
    }
  }

  private mutating func simple(
    _ object: ArchivedObject, _ name: String, depth: Int
  ) throws(ArchivedValueError) -> Counted {
    if name == "NSURL" { return try url(object, depth: depth) }
    // The model reader can decode these classes.
    var reader = ModelArchiveReader(archive)
    let value: AttributeValue? = try read { () throws(FormatError) in try reader.value(.object(object)) }
    switch value {
    case .date(let seconds)?: return Counted(value: .date(seconds))
    case .decimal(let text)?: return Counted(value: .decimal(text))
    case .uuid(let bytes)?: return Counted(value: .uuid(bytes))
    default: throw .malformedObject(className: name)
    }
  }

  private mutating func url(_ object: ArchivedObject, depth: Int) throws(ArchivedValueError) -> Counted {
    guard let relative = try member("NS.relative", of: object, depth: depth)?.value.stringValue else {
      throw .malformedObject(className: "NSURL")
    }
    var text = relative
    if let base = try member("NS.base", of: object, depth: depth)?.value, !base.isNull {
      guard case .url(let base) = base, let url = URL(string: relative, relativeTo: URL(string: base)) else {
        throw .malformedObject(className: "NSURL")
      }
      text = url.absoluteString
    }
    return Counted(value: .url(text), byteCount: text.utf8.count)
  }

  // MARK: - Collections

  private mutating func elements(
    of object: ArchivedObject, _ name: String, depth: Int
  ) throws(ArchivedValueError) -> (elements: [ArchivedValue], counted: Counted) {
    var result = Counted(value: .null)
    var elements: [ArchivedValue] = []
    for reference in try references("NS.objects", of: object, name) {
      let element = try value(reference, depth: depth + 1)
      try add(element, to: &result)
      elements.append(element.value)
    }
    return (elements, result)
  }

  private mutating func dictionary(_ object: ArchivedObject, depth: Int) throws(ArchivedValueError) -> Counted {
    let keys = try references("NS.keys", of: object, "NSDictionary")
    let values = try references("NS.objects", of: object, "NSDictionary")
    guard keys.count == values.count else { throw .malformedObject(className: "NSDictionary") }
    var result = Counted(value: .null)
    var entries: [ArchivedValue: ArchivedValue] = [:]
    for (key, value) in zip(keys, values) {
      let key = try self.value(key, depth: depth + 1)
      // Comparing keys takes time proportional to their size.
      guard key.valueCount <= Self.keyLimit else { throw .tooManyValues(limit: Self.keyLimit) }
      let value = try self.value(value, depth: depth + 1)
      try add(key, to: &result)
      try add(value, to: &result)
      guard entries.updateValue(value.value, forKey: key.value) == nil else { throw .duplicateKey }
    }
    result.value = .dictionary(entries)
    return result
  }

  private func add(_ part: Counted, to whole: inout Counted) throws(ArchivedValueError) {
    // Both are within the limits, so their sum can't overflow.
    whole.valueCount += part.valueCount
    whole.byteCount += part.byteCount
    guard whole.valueCount <= limits.valueCount else { throw .tooManyValues(limit: limits.valueCount) }
    guard whole.byteCount <= limits.contentByteCount else { throw .tooMuchContent(limit: limits.contentByteCount) }
  }

  // MARK: - Members

  private func references(
    _ key: String, of object: ArchivedObject, _ name: String
  ) throws(ArchivedValueError) -> [Int] {
    guard case .references(let references)? = try read({ () throws(FormatError) in try object.member(key) })
    else { throw .malformedObject(className: name) }
    return references
  }

  private mutating func member(
    _ key: String, of object: ArchivedObject, depth: Int
  ) throws(ArchivedValueError) -> Counted? {
    switch try read({ () throws(FormatError) in try object.member(key) }) {
    case nil: return nil
    case .scalar(let scalar)?: return try self.scalar(scalar)
    case .reference(let reference)?: return try value(reference, depth: depth + 1)
    case .references(let references)?:
      var result = Counted(value: .null)
      var elements: [ArchivedValue] = []
      for reference in references {
        let element = try value(reference, depth: depth + 1)
        try add(element, to: &result)
        elements.append(element.value)
      }
      result.value = .array(elements)
      return result
    }
  }

  private mutating func classes(of object: ArchivedObject) throws(ArchivedValueError) -> [String] {
    let reference = try read { () throws(FormatError) in try object.classReference() }
    if let known = classNames[reference] { return known }
    let names = try read { () throws(FormatError) in try archive.classNames(ofClass: reference) }
    classNames[reference] = names
    return names
  }

  private func read<Value>(_ body: () throws(FormatError) -> Value) throws(ArchivedValueError) -> Value {
    do throws(FormatError) {
      return try body()
    } catch {
      throw .malformed(reason: error.description)
    }
  }
}
