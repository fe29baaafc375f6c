import Foundation
import HeirloomFormats
import Testing

struct ArchivedValueTests {
  static let values: [ArchivedValue] = [
    .null, true, false, 0, -1, .integer(.max), .integer(.min), 1.5, .double(-0.0), .double(.infinity), "", "Grüße 🌱",
    "$null", .data([]), .data([0, 255]), .date(0), .date(-1e9), .uuid(Array(0..<16)), .url("https://example.org/a?b=c"),
    .decimal("12.5"), .decimal("-0.001"), .decimal("0"), [], [[]], ["a", .null, "a", 1, 1.0, true], .set(["b", "a"]),
    [:],
    ["a": 1, "b": ["c": .null]], .dictionary([1: "one", .date(5): "five", true: "yes"]),
    .strings(["What was good?", nil, ""]),
  ]

  @Test(arguments: values)
  func `comes back as it was archived`(_ value: ArchivedValue) throws {
    let bytes = try value.encoded()
    #expect(try ArchivedValue(decoding: bytes) == value)
    #expect(try ArchivedValue(decoding: Data(bytes)) == value)
    #expect(try value.encoded() == bytes || value.dictionaryValue != nil)
  }

  private static func random(_ generator: inout some RandomNumberGenerator, depth: Int) -> ArchivedValue {
    let kind = Int.random(in: 0..<(depth > 0 ? 14 : 10), using: &generator)
    func list() -> [ArchivedValue] {
      (0..<Int.random(in: 0..<6, using: &generator)).map { _ in random(&generator, depth: depth - 1) }
    }
    switch kind {
    case 0: return .null
    case 1: return .boolean(.random(using: &generator))
    case 2: return .integer(.random(in: .min ... .max, using: &generator))
    case 3: return .double(.random(in: -1e9...1e9, using: &generator))
    case 4: return .decimal(String(Int.random(in: -9999...9999, using: &generator)))
    case 5:
      return .string(
        String(
          (0..<Int.random(in: 0..<20, using: &generator)).map { _ in "aé漢🌱".randomElement(using: &generator) ?? "x" }))
    case 6:
      return .data((0..<Int.random(in: 0..<40, using: &generator)).map { _ in .random(in: 0...255, using: &generator) })
    case 7: return .date(.random(in: -1e9...1e9, using: &generator))
    case 8: return .uuid((0..<16).map { _ in .random(in: 0...255, using: &generator) })
    case 9: return .url("https://example.org/\(UInt16.random(in: 0...999, using: &generator))")
    case 10, 11: return .array(list())
    case 12: return .set(list())
    default:
      return .dictionary(
        Dictionary(list().enumerated().map { (.string("k\($0.offset)"), $0.element) }, uniquingKeysWith: { $1 }))
    }
  }

  @Test func `anything comes back as it was archived, and no damage traps`() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let value = Self.random(&generator, depth: 4)
      let bytes = try value.encoded()
      #expect(try ArchivedValue(decoding: bytes) == value)
      for _ in 0..<10 {
        var damaged = bytes
        damaged[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
        do throws(ArchivedValueError) {
          _ = try ArchivedValue(decoding: damaged)
        } catch {
          #expect(!error.description.isEmpty)
        }
      }
    }
  }

  @Test func `no part of an archive is taken for the whole`() throws {
    let bytes = try (["a": ["b", .null, 3, .date(4)], "c": .data([1, 2, 3])] as ArchivedValue).encoded()
    for count in bytes.indices {
      #expect(throws: ArchivedValueError.self) { try ArchivedValue(decoding: bytes[..<count]) }
    }
  }

  @Test func `reads mutable variants and objects of the app's own classes`() throws {
    var builder = ArchiveBuilder()
    let text = builder.object(
      "NSMutableString", ancestors: ["NSString", "NSObject"], ["NS.string": .string("note")])
    let number = builder.add(.integer(7))
    let list = builder.object(
      "NSMutableArray", ancestors: ["NSArray", "NSObject"], ["NS.objects": .array([text, number])])
    let data = builder.object("NSMutableData", ancestors: ["NSData", "NSObject"], ["NS.data": .data([1, 2])])
    let key = builder.string("list")
    let dictionary = builder.object(
      "NSMutableDictionary", ancestors: ["NSDictionary", "NSObject"],
      ["NS.keys": .array([key]), "NS.objects": .array([list])])
    let styled = builder.object(
      "NSConcreteAttributedString", ancestors: ["NSAttributedString", "NSObject"],
      ["NSString": text, "NSAttributes": dictionary])
    let set = builder.object("NSMutableOrderedSet", ancestors: ["NSOrderedSet"], ["NS.objects": .array([number])])
    let root = builder.object(
      "App.Page", ancestors: ["NSObject"],
      ["data": data, "entries": dictionary, "styled": styled, "order": set, "count": .integer(2), "none": .uid(0)])
    let value = try ArchivedValue(decoding: try builder.bytes(root: root))
    #expect(
      value
        == .object(
          className: "App.Page",
          members: [
            "data": .data([1, 2]), "entries": ["list": ["note", 7]], "styled": "note", "order": [7], "count": 2,
            "none": .null,
          ]))
    #expect(value["entries"]?["list"]?.arrayValue?.first?.stringValue == "note")
    #expect(throws: ArchivedValueError.unsupportedClass("App.Page")) { try value.encoded() }
  }

  @Test func `reads archives of another key, and URLs with a base`() throws {
    var builder = ArchiveBuilder()
    let (first, second) = (builder.string("https://example.org/a/"), builder.string("b.html"))
    let base = builder.object("NSURL", ["NS.base": ArchiveBuilder.null, "NS.relative": first])
    let url = builder.object("NSURL", ["NS.base": base, "NS.relative": second])
    #expect(try ArchivedValue(decoding: builder.bytes(root: url, key: "page")) == .url("https://example.org/a/b.html"))
    let odd = builder.object("NSURL", ["NS.base": first, "NS.relative": second])
    #expect(throws: ArchivedValueError.malformedObject(className: "NSURL")) {
      try ArchivedValue(decoding: builder.bytes(root: odd))
    }
  }

  @Test func `says what a value is, and nothing where it is something else`() {
    #expect(ArchivedValue("a").stringValue == "a")
    #expect(ArchivedValue(1).stringValue == nil)
    #expect(ArchivedValue(1).booleanValue == true)
    #expect(ArchivedValue(2).booleanValue == nil)
    #expect(ArchivedValue(2).doubleValue == 2)
    #expect(ArchivedValue(2.5).integerValue == nil)
    #expect(ArchivedValue.set(["a"]).arrayValue == ["a"])
    #expect(ArchivedValue.date(3).dateValue == 3)
    #expect(ArchivedValue.data([3]).dataValue == [3])
    #expect((["a": .null] as ArchivedValue)["a"]?.isNull == true)
    #expect((["a": .null] as ArchivedValue)["b"] == nil)
  }

  // MARK: - Bad input

  /// Only the name is shown, since some are large.
  struct BadArchive: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let error: ArchivedValueError

    init(_ name: String, _ bytes: [UInt8], _ error: ArchivedValueError) {
      self.name = name
      self.bytes = bytes
      self.error = error
    }

    var testDescription: String { name }
  }

  static let bad: [BadArchive] = [
    BadArchive("nothing", [], .notArchive(found: "empty")),
    BadArchive("text", Array("a,b,c".utf8), .notArchive(found: "data of another kind")),
    BadArchive(
      "a list in XML", Array("<?xml version=\"1.0\"?><plist/>".utf8), .notArchive(found: "an XML property list")),
    BadArchive(
      "an archive of old", [4, 11] + Array("streamtyped".utf8),
      .notArchive(found: "an archive of the old NSArchiver")
    ),
    BadArchive(
      "a property list", (try? BinaryPropertyListWriter.bytes(of: .array([.string("a")]))) ?? [],
      .notArchive(found: "a property list that is not an archive")
    ),
    BadArchive("an array that holds itself", archive { $0.selfContaining() }, .cyclic),
    BadArchive(
      "two that hold each other",
      archive { builder in
        let first = builder.object("NSArray")
        let second = builder.array([first])
        builder.set("NS.objects", of: first, to: .array([second]))
        return first
      }, .cyclic
    ),
    BadArchive("2^60 arrays", archive { $0.doubling(60) }, .tooManyValues(limit: 1_000_000)),
    BadArchive(
      "2^60 arrays as members", archive { $0.doubling(60, className: "App.Node") }, .tooManyValues(limit: 1_000_000)),
    BadArchive(
      "a text of 1 MB for 10 000 times",
      archive { builder in
        let text = builder.string(String(repeating: "a", count: 1 << 20))
        return builder.array(Array(repeating: text, count: 10_000))
      }, .tooMuchContent(limit: 256 << 20)
    ),
    BadArchive(
      "1000 levels",
      archive { builder in
        var value = builder.array([])
        for _ in 0..<1000 { value = builder.array([value]) }
        return value
      }, .tooDeep(limit: 128)
    ),
    BadArchive(
      "a reference too far", archive { $0.array([.uid(99)]) },
      .malformed(reason: "The archive refers to object 99, which doesn't exist.")
    ),
    BadArchive(
      "an object without class", archive { $0.add(.dictionary(["a": .integer(1)])) },
      .malformed(reason: "Object 1 of the archive has no class.")
    ),
    BadArchive(
      "elements that are text", archive { $0.object("NSArray", ["NS.objects": .string("x")]) },
      .malformedObject(className: "NSArray")
    ),
    BadArchive("an array without elements", archive { $0.object("NSArray") }, .malformedObject(className: "NSArray")),
    BadArchive(
      "more keys than values",
      archive { builder in
        let key = builder.string("k")
        return builder.object("NSDictionary", ["NS.keys": .array([key]), "NS.objects": .array([])])
      }, .malformedObject(className: "NSDictionary")
    ),
    BadArchive(
      "a key twice",
      archive { builder in
        let key = builder.string("k")
        return builder.object("NSDictionary", ["NS.keys": .array([key, key]), "NS.objects": .array([key, key])])
      }, .duplicateKey
    ),
    BadArchive(
      "a key of 2^12 arrays",
      archive { builder in
        let key = builder.doubling(12)
        return builder.object("NSDictionary", ["NS.keys": .array([key]), "NS.objects": .array([key])])
      }, .tooManyValues(limit: 1000)
    ),
    BadArchive("a date that is no number", archive { $0.add(.date(.nan)) }, .malformedObject(className: "NSDate")),
    BadArchive("a date without time", archive { $0.object("NSDate") }, .malformedObject(className: "NSDate")),
    BadArchive(
      "a UUID of 3 bytes", archive { $0.object("NSUUID", ["NS.uuidbytes": .data([1, 2, 3])]) },
      .malformedObject(className: "NSUUID")
    ),
    BadArchive(
      "a string of bytes", archive { $0.object("NSString", ["NS.string": .data([1])]) },
      .malformedObject(className: "NSString")
    ),
  ]

  private static func archive(_ make: (inout ArchiveBuilder) -> PropertyListValue) -> [UInt8] {
    var builder = ArchiveBuilder()
    let root = make(&builder)
    return (try? builder.bytes(root: root)) ?? []
  }

  @Test(arguments: bad)
  func `refuses what is no archived value, quickly`(_ archive: BadArchive) throws {
    let start = ContinuousClock.now
    #expect(throws: archive.error) { try ArchivedValue(decoding: archive.bytes) }
    // Without a limit, the worst of these take longer than anyone waits.
    #expect(start.duration(to: .now) < .seconds(20))
    #expect(archive.error.description.hasSuffix("."))
  }

  @Test func `keeps to the limits it is given`() throws {
    let bytes = try (["a", ["b", ["c"]]] as ArchivedValue).encoded()
    var limits = ArchivedValue.Limits()
    limits.depth = 3
    #expect(throws: ArchivedValueError.tooDeep(limit: 3)) { try ArchivedValue(decoding: bytes, limits: limits) }
    limits = ArchivedValue.Limits()
    limits.valueCount = 5
    #expect(throws: ArchivedValueError.tooManyValues(limit: 5)) { try ArchivedValue(decoding: bytes, limits: limits) }
    limits.valueCount = 6
    limits.byteCount = bytes.count - 1
    #expect(throws: ArchivedValueError.tooLarge(byteCount: bytes.count, limit: bytes.count - 1)) {
      try ArchivedValue(decoding: bytes, limits: limits)
    }
    limits.byteCount = bytes.count
    #expect(try ArchivedValue(decoding: bytes, limits: limits).arrayValue?.count == 2)
  }

  @Test func `refuses to archive what no archive holds`() {
    #expect(throws: ArchivedValueError.unencodable(reason: "a UUID has 1 bytes instead of 16.")) {
      try ArchivedValue.uuid([1]).encoded()
    }
    #expect(throws: ArchivedValueError.self) { try ArchivedValue.decimal("abc").encoded() }
    var deep: ArchivedValue = []
    for _ in 0..<600 { deep = [deep] }
    #expect(throws: ArchivedValueError.tooDeep(limit: 512)) { try deep.encoded() }
  }

  // MARK: - Another implementation

  private static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// A script that takes an archive apart with Python's own reader and reassembles it: other order, mutable classes.
  private static let rebuild = """
    import plistlib, sys
    source = plistlib.loads(sys.stdin.buffer.read())
    assert source['$archiver'] == 'NSKeyedArchiver' and source['$version'] == 100000
    old, new, classes = source['$objects'], ['$null'], {}
    def add(x):
        new.append(x); return plistlib.UID(len(new) - 1)
    def class_of(name, *above):
        if name not in classes:
            classes[name] = add({'$classname': name, '$classes': [name, *above, 'NSObject']})
        return classes[name]
    def copy(uid):
        x = old[uid.data]
        if not isinstance(x, dict):
            return add(x)
        name = old[x['$class'].data]['$classname']
        lists = {k: [copy(u) for u in reversed(v)] for k, v in x.items() if k in ('NS.keys',) }
        if name == 'NSDictionary':
            values = [copy(u) for u in reversed(x['NS.objects'])]
            return add({'$class': class_of('NSMutableDictionary', 'NSDictionary'), 'NS.keys': lists['NS.keys'], 'NS.objects': values})
        if name == 'NSArray':
            items = [copy(u) for u in x['NS.objects']]
            return add({'$class': class_of('NSMutableArray', 'NSArray'), 'NS.objects': items})
        members = {k: (copy(v) if isinstance(v, plistlib.UID) and v.data else v) for k, v in x.items() if k != '$class'}
        chain = old[x['$class'].data]['$classes']
        members['$class'] = class_of(*[c for c in chain if c != 'NSObject'])
        return add(members)
    root = copy(source['$top']['root'])
    sys.stdout.buffer.write(plistlib.dumps({'$archiver': 'NSKeyedArchiver', '$version': 100000,
        '$top': {'root': root}, '$objects': new}, fmt=plistlib.FMT_BINARY))
    """

  @Test(.enabled(if: python != nil, "python3 is absent: its reader of property lists is not compared"))
  func `Python's property lists agree in both directions`() throws {
    // Sets keep their order only within arrays' rules, so the other tests cover them.
    let everything = ArchivedValue.array(
      Self.values.filter { if case .set = $0 { false } else { $0 != .double(.infinity) } })
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Self.python))
    process.arguments = ["-c", Self.rebuild]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(everything.encoded()))
    try input.fileHandleForWriting.close()
    let rebuilt = try #require(try output.fileHandleForReading.readToEnd())
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(try ArchivedValue(decoding: rebuilt) == everything)
  }
}

extension ArchiveBuilder {
  fileprivate mutating func selfContaining() -> PropertyListValue {
    let list = object("NSArray")
    set("NS.objects", of: list, to: .array([list]))
    return list
  }

  /// Each object holds the next one twice.
  fileprivate mutating func doubling(_ levels: Int, className: String = "NSArray") -> PropertyListValue {
    var value = object(className, ["NS.objects": .array([])])
    for _ in 0..<levels { value = object(className, ["NS.objects": .array([value, value])]) }
    return value
  }
}
