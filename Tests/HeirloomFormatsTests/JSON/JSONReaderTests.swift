import HeirloomFormats
import Testing

struct JSONReaderTests {
  private func read(_ text: String) throws -> JSONValue {
    try JSONReader.value(of: Array(text.utf8))
  }

  @Test(
    arguments: [
      (" null ", .null), ("true", .boolean(true)), ("false", .boolean(false)), ("0", .integer(0)), ("-0", .integer(0)),
      ("-12", .integer(-12)), ("9223372036854775807", .integer(.max)),
      ("9223372036854775808", .double(9.223372036854775808e18)),
      ("1.5", .double(1.5)), ("1e3", .double(1000)), ("-2.5E-1", .double(-0.25)), ("\"\"", .string("")),
      ("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\udc4b\"", .string("a\"\\/\u{8}\u{c}\n\r\té👋")),
      ("\"é👋\"", .string("é👋")), ("[]", .array([])), ("[ 1 , [ ] ]", .array([.integer(1), .array([])])),
      ("{}", .object([:])),
      ("{ \"a\" : { } , \"b\":null}", .object(["a": .object([:]), "b": .null])),
    ] as [(String, JSONValue)])
  func `reads a value`(_ text: String, _ value: JSONValue) throws {
    #expect(try read(text) == value)
  }

  @Test(
    arguments: [
      "", " ", "nul", "tru", "nulll", "+1", "01", "-", "1.", ".5", "1e", "1e999", "\"", "\"\\", "\"\\x\"", "\"\\u12\"",
      "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\n\"", "[", "[1", "[1,", "[1,]", "[,]", "]",
      "{", "{\"a\"",
      "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{1:2}", "{\"a\":1,\"a\":2}", "1 2", "NaN", "'a'", "// x\n1",
      String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 100_000),
    ])
  func `refuses bad text`(_ text: String) {
    #expect(throws: FormatError.self) { try read(text) }
  }

  @Test func `refuses more values than any snapshot has`() {
    let text = "[" + String(repeating: "0,", count: JSONReader.valueLimit) + "0]"
    #expect(throws: FormatError.self) { try JSONReader.value(of: Array(text.utf8)) }
  }

  @Test func `refuses invalid UTF-8`() {
    #expect(throws: FormatError.self) { try JSONReader.value(of: [0x22, 0xFF, 0x22]) }
    #expect(throws: FormatError.self) { try JSONReader.value(of: [0x22, 0xC3, 0x22]) }
  }
}
