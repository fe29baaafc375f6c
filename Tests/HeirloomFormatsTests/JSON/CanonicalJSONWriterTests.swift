import HeirloomFormats
import Testing

struct CanonicalJSONWriterTests {
  @Test(
    arguments: [
      "", "a", "é👋", "\"", "\\", "a\"b\\c", "\u{0}\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f} \u{7f}", "x\u{1f}",
      String(repeating: "long ", count: 10_000), String(repeating: "\u{1}", count: 1_000),
    ])
  func `text is written so that it is read back`(_ text: String) throws {
    for isIndented in [false, true] {
      var writer = CanonicalJSONWriter(isIndented: isIndented)
      writer.beginObject()
      writer.key(text)
      writer.string(text)
      writer.endObject()
      #expect(try JSONReader.value(of: writer.bytes) == .object([text: .string(text)]))
    }
  }

  private func write(to writer: inout CanonicalJSONWriter) {
    writer.beginObject()
    writer.key("a")
    writer.beginArray()
    writer.beginArray()
    writer.endArray()
    writer.integer(-7)
    writer.boolean(true)
    writer.endArray()
    writer.key("b")
    writer.beginObject()
    writer.endObject()
    writer.key("c")
    writer.null()
    writer.key("d")
    writer.double(1.5)
    writer.endObject()
  }

  @Test func `lists and objects have commas between and none after their elements`() {
    var compact = CanonicalJSONWriter(isIndented: false)
    write(to: &compact)
    #expect(String(decoding: compact.bytes, as: UTF8.self) == #"{"a":[[],-7,true],"b":{},"c":null,"d":1.5}"#)
    #expect(compact.depth == 3)
    var indented = CanonicalJSONWriter(isIndented: true, depth: 1)
    indented.reserveCapacity(3)
    write(to: &indented)
    let lines = [
      "{", "    \"a\": [", "      [],", "      -7,", "      true", "    ],", "    \"b\": {},", "    \"c\": null,",
      "    \"d\": 1.5", "  }",
    ]
    #expect(String(decoding: indented.bytes, as: UTF8.self) == lines.joined(separator: "\n"))
  }

  @Test func `what was written at the same depth is put in as it is`() {
    var inner = CanonicalJSONWriter(isIndented: true, depth: 1)
    write(to: &inner)
    var writer = CanonicalJSONWriter(isIndented: true)
    writer.beginObject()
    writer.key("m")
    writer.raw(inner.bytes)
    writer.endObject()
    var whole = CanonicalJSONWriter(isIndented: true)
    whole.beginObject()
    whole.key("m")
    write(to: &whole)
    whole.endObject()
    #expect(writer.bytes == whole.bytes)
  }
}
