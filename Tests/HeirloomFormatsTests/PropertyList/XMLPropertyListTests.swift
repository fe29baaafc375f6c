import Foundation
import HeirloomFormats
import Testing

struct XMLPropertyListTests {
  @Test func `reads what Foundation writes`() throws {
    let list: [String: Any] = [
      "text": "a < b & é", "list": [1, -2, 2.5, true, false] as [Any], "data": Data([1, 2, 3]), "empty": "",
      "date": Date(timeIntervalSinceReferenceDate: 86_400),
    ]
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    let expected: PropertyListValue = .dictionary([
      "text": .string("a < b & é"), "empty": .string(""), "data": .data([1, 2, 3]), "date": .date(86_400),
      "list": .array([.integer(1), .integer(-2), .real(2.5), .boolean(true), .boolean(false)]),
    ])
    #expect(try PropertyListValue(contentsOf: Array(data)) == expected)
    #expect(try PropertyListValue(contentsOf: BinaryPropertyListWriter.bytes(of: expected)) == expected)
  }

  @Test(
    arguments: [
      "", "<plist/>", "<plist><string/><string/></plist>", "<dict/>", "<plist><colour/></plist>",
      "<plist><integer>many</integer></plist>", "<plist><real/></plist>", "<plist><date>today</date></plist>",
      "<plist><dict><key>a</key></dict></plist>", "<plist><dict><string>a</string><true/></dict></plist>",
      "<plist><dict><key>a</key><true/><key>a</key><true/></dict></plist>", "<plist><array>",
      "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>",
    ])
  func `refuses what is no property list`(_ text: String) {
    #expect(throws: FormatError.self) { try PropertyListValue(contentsOf: Array(text.utf8)) }
  }
}
