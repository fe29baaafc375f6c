import HeirloomModel
import Testing

struct PlainTextTests {
  @Test(arguments: [
    ("Note", "Note"), ("日本語 e\u{301} 👩‍👩‍👧 — “x”", "日本語 e\u{301} 👩‍👩‍👧 — “x”"), ("خوش‌حال", "خوش‌حال"),
    ("a\nb", "a\\u{a}b"), ("a\r\n.shell", "a\\u{d}\\u{a}.shell"), ("\u{1B}[2J", "\\u{1b}[2J"),
    ("\u{9B}2J", "\\u{9b}2J"),
    ("a\0b\u{7F}", "a\\u{0}b\\u{7f}"), ("a\u{2028}b\u{2029}", "a\\u{2028}b\\u{2029}"),
    ("\u{202E}x\u{2066}y\u{200F}\u{061C}", "\\u{202e}x\\u{2066}y\\u{200f}\\u{61c}"),
    ("ad\u{200B}min", "ad\\u{200b}min"), ("\u{FEFF}a\u{2060}b\u{00AD}c", "\\u{feff}a\\u{2060}b\\u{ad}c"),
    // A joiner belongs to some scripts and pictures; between Latin letters it is a trick.
    ("ad\u{200D}min", "ad\\u{200d}min"), ("x\u{200C}", "x\\u{200c}"), ("a\u{E0041}", "a\\u{e0041}"),
    // These are bytes of a name that is not UTF-8.
    ("caf\u{10FFE9}.sqlite", "caf\\xE9.sqlite"), ("\u{10FF0A}", "\\x0A"), ("\u{10FFFF}", "\\xFF"),
  ])
  func `what is no plain character is shown by its number`(text: String, line: String) {
    #expect(PlainText.line(text) == line)
    #expect(PlainText.line(line) == line)
  }

  @Test(arguments: [
    ("a\u{1B}b", "a\\u001bb"), ("a\u{202E}", "a\\u202e"), ("\u{10FFE9}", "\\udbff\\udfe9"),
    ("\u{E0041}", "\\udb40\\udc41"),
  ])
  func `JSON has escapes of its own, which a program reads back`(text: String, escaped: String) {
    #expect(PlainText.escaped(text, breaksLines: true, isJSON: true) == escaped)
  }

  @Test(arguments: [
    ("are", "is"), ("were", "was"), ("have", "has"), ("differ", "differs"), ("belong", "belongs"), ("lose", "loses"),
  ])
  func `a verb agrees with the number before it`(plural: String, singular: String) {
    #expect(CountText.verb(plural, 1) == singular)
    #expect(CountText.verb(plural, 0) == plural && CountText.verb(plural, 2) == plural)
  }

  @Test func `line feeds stay where the text may have lines`() {
    #expect(PlainText.escaped("a\n\u{2028}b\tc", breaksLines: true) == "a\n\\u{2028}b\\u{9}c")
  }

  @Test(arguments: [10, 50_000_000]) func `a text without end is cut in the middle, and what is left out is counted`(
    more: Int
  ) {
    let text = "The table " + String(repeating: "é", count: 100 + more) + " is missing"
    let line = PlainText.line(text, limit: 100)
    #expect(line.hasPrefix("The table é") && line.hasSuffix("é is missing"))
    #expect(line.unicodeScalars.count < 150)
    // 21 of the scalars have one byte.
    let missing = text.utf8.count - (21 + 2 * 79)
    #expect(line.contains("… (\(CountText.grouped(missing)) bytes left out) …"))
    #expect(PlainText.cut("é", to: 1) == "é")
    #expect(PlainText.cut(String(repeating: "é", count: 100), to: 100).count == 100)
  }
}
