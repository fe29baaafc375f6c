import Foundation
import HeirloomFormats
import Testing

struct BinaryPropertyListTests {
  static let values: [PropertyListValue] = [
    .boolean(true), .boolean(false), .string(""), .string("short"), .string(String(repeating: "long ", count: 100)),
    .string("Grüße 👋🏽"), .string("e\u{301} \u{e9}"), .data([]), .data(Array(0...255)), .uid(0), .uid(255), .uid(256),
    .uid(70_000), .real(0), .real(-0.0), .real(.pi), .real(.infinity), .date(0), .date(-1.5), .array([]),
    .dictionary([:]),
    .array([.string("e\u{301}"), .string("\u{e9}")]), .array([.real(0), .real(-0.0)]),
    .array([.string("a"), .array([.string("a")])]),
    .dictionary(["a": .integer(1), "b": .dictionary(["a": .null, "é": .array([.boolean(false)])])]),
    .wideInteger(high: 0, low: .max), .wideInteger(high: -2, low: 5), .wideInteger(high: .max, low: 0),
  ]

  @Test(arguments: values)
  func `reads back what was written, to the bit`(_ value: PropertyListValue) throws {
    let read = try BinaryPropertyListReader(BinaryPropertyListWriter.bytes(of: value)).value()
    #expect(read == value)
    // Equality ignores the sign of zero and the composition of letters; the bytes don't.
    #expect(String(reflecting: read.sortedDescription) == String(reflecting: value.sortedDescription))
  }

  @Test func `reads back lists that need wider references`() throws {
    for count in [14, 15, 255, 256, 66_000] {
      let value: PropertyListValue = .array((0..<count).map { .integer(Int64($0)) })
      let isEqual = try BinaryPropertyListReader(BinaryPropertyListWriter.bytes(of: value)).value() == value
      #expect(isEqual, "\(count) elements")
    }
  }

  @Test(
    arguments: [
      0, 1, 127, 128, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, .max, -1, -128, -65_536, .min,
    ] as [Int64])
  func `keeps each whole number`(_ number: Int64) throws {
    let bytes = try BinaryPropertyListWriter.bytes(of: .integer(number))
    #expect(try BinaryPropertyListReader(bytes).value() == .integer(number))
    #expect(try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? Int64 == number)
  }

  @Test func `writes what Foundation reads`() throws {
    let value: PropertyListValue = .dictionary([
      "text": .string("Grüße"), "list": .array([.integer(-3), .real(1.5), .boolean(true)]), "date": .date(5),
      "bytes": .data([1, 2, 3]), "large": .wideInteger(high: 0, low: .max),
    ])
    let data = Data(try BinaryPropertyListWriter.bytes(of: value))
    let read = try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    #expect(read["text"] as? String == "Grüße")
    #expect((read["list"] as? [Any])?.count == 3)
    #expect(read["date"] as? Date == Date(timeIntervalSinceReferenceDate: 5))
    #expect(read["bytes"] as? Data == Data([1, 2, 3]))
  }

  @Test func `reads what Foundation writes`() throws {
    let list: [String: Any] = [
      "a": ["é", 7, -7, 2.5, true] as [Any], "b": Data([9]), "c": Date(timeIntervalSinceReferenceDate: 1),
    ]
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    let value = try BinaryPropertyListReader(Array(data)).value()
    #expect(
      value
        == .dictionary([
          "a": .array([.string("é"), .integer(7), .integer(-7), .real(2.5), .boolean(true)]), "b": .data([9]),
          "c": .date(1),
        ]))
  }

  @Test func `the same value gives the same bytes`() throws {
    let first: PropertyListValue = .dictionary(["a": .integer(1), "b": .string("x"), "c": .string("x")])
    var entries: [String: PropertyListValue] = ["c": .string("x")]
    entries["b"] = .string("x")
    entries["a"] = .integer(1)
    #expect(try BinaryPropertyListWriter.bytes(of: first) == BinaryPropertyListWriter.bytes(of: .dictionary(entries)))
  }

  @Test func `gives objects without following references`() throws {
    let reader = try BinaryPropertyListReader(BinaryPropertyListWriter.bytes(of: .array([.string("a"), .array([])])))
    #expect(reader.count == 3)
    guard case .array(let references) = try reader.object(at: reader.topIndex) else {
      Issue.record("the top object is no list")
      return
    }
    #expect(try references.map { index throws in try reader.object(at: index) } == [.scalar(.string("a")), .array([])])
    #expect(throws: FormatError.self) { try reader.object(at: 3) }
    #expect(throws: FormatError.self) { try reader.object(at: -1) }
  }

  @Test func `refuses a list that contains itself`() throws {
    let reader = try BinaryPropertyListReader(handmade([[0xA1, 0]]))
    #expect(
      throws: FormatError(.byte(8), "The object at byte 8 is nested more than 256 levels deep, or contains itself.")
    ) { try reader.value() }
  }

  @Test func `refuses lists that name each other without measure`() throws {
    // 30 lists, each naming the next one twice: a billion elements in 200 bytes.
    let objects = (0..<30).map { [0xA2, UInt8($0 + 1), UInt8($0 + 1)] as [UInt8] } + [[0xA0]]
    let reader = try BinaryPropertyListReader(handmade(objects))
    let error = #expect(throws: FormatError.self) { try reader.value() }
    #expect(error?.reason.contains("more than its size justifies") == true)
  }

  @Test func `refuses many objects that share one long text`() throws {
    let text: [UInt8] = [0x5F, 0x11, 0x10, 0x00] + Array(repeating: 0x41, count: 4096)
    let bytes = handmade([text], offsets: Array(repeating: 8, count: 200))
    #expect(
      throws: FormatError(
        .byte(8),
        "From byte 8 on the property list expands beyond \(2 * bytes.count) bytes, more than its size justifies.")
    ) {
      try BinaryPropertyListReader(bytes)
    }
  }

  @Test func `refuses more objects and references than it is told to`() throws {
    var limits = BinaryPropertyListReader.Limits()
    limits.objectCount = 10
    let many = try BinaryPropertyListWriter.bytes(of: .array((0..<20).map { .integer($0) }))
    #expect(
      throws: FormatError("The property list has more than 10 objects or references, far more than any real one.")
    ) { try BinaryPropertyListReader(many, limits: limits) }
    let shared = try BinaryPropertyListWriter.bytes(of: .array(Array(repeating: .integer(1), count: 41)))
    #expect(
      throws: FormatError("The property list has more than 10 objects or references, far more than any real one.")
    ) {
      try BinaryPropertyListReader(shared, limits: limits)
    }
    limits.byteCount = 20
    #expect(throws: FormatError("The property list has \(many.count) bytes; at most 20 are accepted.")) {
      try BinaryPropertyListReader(many, limits: limits)
    }
  }

  /// Each is alone in a file.
  static let badObjects: [[UInt8]] = [
    [0x01], [0x0F], [0x15, 0], [0x10], [0x13, 0, 0, 0], [0x14, 0], [0x21, 0, 0], [0x22, 0], [0x23, 0], [0x30, 0],
    [0x33, 0, 0], [0x45, 1, 2], [0x4F], [0x4F, 0x10], [0x4F, 0x23, 0, 0, 0, 0, 0, 0, 0, 0], [0x4F, 0x14, 0, 0],
    [0x51, 0x80],
    [0x4F, 0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    [0x6F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    [0x61, 0xD8, 0x00], [0x61, 0x00], [0x71, 0x41], [0x88, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0x80],
    [0x87, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x90], [0xA1, 1], [0xA2, 0], [0xB0], [0xC0], [0xD1, 0],
    [0xE0], [0xF0], [0xDF, 0x13, 0x40, 0, 0, 0, 0, 0, 0, 0],
  ]

  @Test(arguments: badObjects)
  func `refuses a bad object`(_ object: [UInt8]) {
    #expect(throws: FormatError.self) { try BinaryPropertyListReader(handmade([object])) }
  }

  @Test func `refuses dictionaries with bad keys`() throws {
    // The first has a number as a key, the second the same key twice.
    let number = try BinaryPropertyListReader(handmade([[0xD1, 1, 1], [0x10, 5]]))
    #expect(throws: FormatError(.byte(8), "The dictionary at byte 8 has a key that is not a string.")) {
      try number.value()
    }
    let twice = try BinaryPropertyListReader(handmade([[0xD2, 1, 1, 1, 1], [0x51, 0x41]]))
    #expect(throws: FormatError(.byte(8), "The dictionary at byte 8 has the key \"A\" twice.")) { try twice.value() }
  }

  @Test func `refuses files of other kinds`() {
    for text in ["", "b", "bplist", "SQLite format 3\0", "<?xml version=\"1.0\"?>"] {
      #expect(throws: FormatError("The data is not a binary property list: it doesn\'t start with \"bplist0\".")) {
        try BinaryPropertyListReader(Array(text.utf8))
      }
    }
    #expect(throws: FormatError(.byte(8), "The property list ends at byte 8, in the middle of an object.")) {
      try BinaryPropertyListReader(Array("bplist00".utf8))
    }
    #expect(
      throws: FormatError(.byte(8), "The property list\'s trailer at byte 8 contradicts the file; the data is damaged.")
    ) {
      try BinaryPropertyListReader(Array("bplist00".utf8) + Array(repeating: 0, count: 32))
    }
  }

  @Test func `survives each truncation and each flipped bit`() throws {
    let whole = try BinaryPropertyListWriter.bytes(
      of: .dictionary([
        "a": .array([.integer(7), .string("é"), .data([1, 2]), .real(2)]), "b": .dictionary(["a": .uid(3)]),
      ]))
    for length in 0..<whole.count {
      #expect(throws: FormatError.self) { try BinaryPropertyListReader(Array(whole[..<length])).value() }
    }
    var accepted = 0
    for position in whole.indices {
      for bit in 0..<8 {
        var bytes = whole
        bytes[position] ^= 1 << UInt8(bit)
        if (try? BinaryPropertyListReader(bytes).value()) != nil { accepted += 1 }
      }
    }
    // Many flips make another valid value; it only matters that none trapped.
    #expect(accepted < whole.count * 8)
  }

  @Test func `refuses to write endless nesting`() throws {
    var value: PropertyListValue = .array([])
    for _ in 0..<300 { value = .array([value]) }
    #expect(
      throws: FormatError(.byte(0), "The object at byte 0 is nested more than 256 levels deep, or contains itself.")
    ) { try BinaryPropertyListWriter.bytes(of: value) }
  }

  /// References have one byte; the first object is the outermost.
  private func handmade(_ objects: [[UInt8]], offsets: [Int]? = nil) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var starts: [Int] = []
    for object in objects {
      starts.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    for offset in offsets ?? starts { bytes += [UInt8(offset >> 8), UInt8(offset & 0xff)] }
    bytes += [0, 0, 0, 0, 0, 0, 2, 1]
    for number in [(offsets ?? starts).count, 0, table] {
      bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    return bytes
  }
}

extension PropertyListValue {
  /// Shows every bit; dictionaries are sorted.
  fileprivate var sortedDescription: String {
    switch self {
    case .real(let value): "real \(value.bitPattern)"
    case .string(let text): "string \(Array(text.utf8))"
    case .array(let values): "[\(values.map(\.sortedDescription).joined(separator: ","))]"
    case .dictionary(let values):
      "{\(values.map { "\(Array($0.key.utf8)):\($0.value.sortedDescription)" }.sorted().joined(separator: ","))}"
    default: "\(self)"
    }
  }
}
