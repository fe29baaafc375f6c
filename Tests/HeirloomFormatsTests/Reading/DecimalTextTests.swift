import HeirloomFormats
import Testing

struct DecimalTextTests {
  @Test(arguments: [
    ("1e2", "100"), ("1.50", "1.5"), ("-0.0e7", "0"), ("1e999", "10e998"), ("12", "1.2e1"),
  ])
  func `one number may be written in several ways`(_ one: String, _ other: String) {
    // Exponents beyond those of a decimal number are no numbers here.
    #expect(DecimalText.areEqual(one, other) == !one.contains("999"))
  }

  @Test(arguments: [
    "1e-9223372036854775808", "1e9223372036854775807", "1e9223372036854775808", "1e-1000", "1e", "e1", ".", "-", "",
    "1e--1", "1.2.3", "0x1",
  ])
  func `what is no decimal number equals nothing`(_ text: String) {
    #expect(!DecimalText.areEqual(text, text) && !DecimalText.areEqual(text, "1"))
  }
}
