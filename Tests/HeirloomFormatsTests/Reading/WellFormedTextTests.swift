import HeirloomFormats
import Testing

struct WellFormedTextTests {
  @Test(
    arguments: [
      [],
      [0x41],
      [0xC3, 0xA4],
      // The first and last characters of each length, and the ones beside the surrogates.
      [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF],
      [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
      // A NUL, a byte order mark and the character that repairs others are text.
      [0x00], [0xEF, 0xBB, 0xBF, 0x41], [0xEF, 0xBF, 0xBD],
      Array("a text of more than fifteen bytes, with é, 漢 and 🏳️‍🌈".utf8),
    ] as [[UInt8]])
  func `UTF-8 becomes a text of the same bytes`(_ bytes: [UInt8]) throws {
    #expect(try Array(#require(String(wellFormedUTF8: bytes)).utf8) == bytes)
    #expect(try Array(#require(String(wellFormedUTF8: ([0x7A] + bytes)[1...])).utf8) == bytes)
  }

  @Test(
    arguments: [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xED, 0xA0, 0x80],
      [0xED, 0xBF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
      // What a repair would put in its place has three bytes as well.
      [0xF0, 0x9F, 0x98],
      [0x41, 0xFE, 0x41],
      Array("a text of more than fifteen bytes".utf8) + [0xC3],
    ] as [[UInt8]])
  func `bytes that are not UTF-8 are no text`(_ bytes: [UInt8]) {
    #expect(String(wellFormedUTF8: bytes) == nil)
    bytes.withUnsafeBytes { #expect(String(wellFormedUTF8: $0) == nil) }
  }

  @Test func `each text of one and two UTF-16 units is taken or refused as Unicode has it`() {
    let edges: [UInt16] = [0x00, 0x41, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFFFD, 0xFEFF, 0xFFFF]
    for first in edges {
      #expect((String(wellFormedUTF16: [first]) == nil) == (0xD800...0xDFFF).contains(first))
      for second in edges {
        let isPair = UTF16.isLeadSurrogate(first) && UTF16.isTrailSurrogate(second)
        let isPlain = ![first, second].contains { (0xD800...0xDFFF).contains($0) }
        let text = String(wellFormedUTF16: [first, second])
        #expect(text.map { Array($0.utf16) } == (isPair || isPlain ? [first, second] : nil))
      }
    }
  }
}
