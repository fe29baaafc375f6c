import Foundation
import HeirloomFormats
import TestSupport
import Testing

/// Documents whose parts could each be compared with all others.
private struct NastyShape: CustomTestStringConvertible, Sendable {
  let testDescription: String
  /// Of the smallest document.
  let size: Int
  let document: @Sendable (Int) -> String

  init(_ name: String, _ size: Int, _ document: @escaping @Sendable (Int) -> String) {
    (testDescription, self.size, self.document) = (name, size, document)
  }

  private static func model(_ content: String) -> String {
    "<?xml version=\"1.0\"?><model type=\"com.apple.IDECoreDataModeler.DataModel\">\(content)</model>"
  }

  private static func plist(_ content: String) -> String {
    "<?xml version=\"1.0\"?><plist version=\"1.0\">\(content)</plist>"
  }

  private static func mapping(_ content: String) -> String {
    "<?xml version=\"1.0\"?><database><databaseInfo/>\(content)</database>"
  }

  private static func many(_ count: Int, _ part: (Int) -> String) -> String { (0..<count).map(part).joined() }

  private static func deep(_ count: Int) -> String {
    String(repeating: "<entity>", count: count) + String(repeating: "</entity>", count: count)
  }

  static let all: [NastyShape] = [
    NastyShape("deep", 10_000) { model(deep($0)) },
    NastyShape("many attributes", 10_000) { model("<entity \(many($0) { "a\($0)=\"\" " })/>") },
    NastyShape("attributes without an end", 10_000) { "<?xml version=\"1.0\"?>" + many($0) { "<a b=\"\($0)\" c='" } },
    NastyShape("document types without an end", 20_000) {
      "<?xml version=\"1.0\"?>" + many($0) { _ in "<!DOCTYPE a " }
    },
    NastyShape("many comments", 10_000) { model(many($0) { "<!-- \($0) -->" }) },
    NastyShape("text in pieces", 10_000) { model("<entity>\(many($0) { "a&#\(65 + $0 % 26);" })</entity>") },
    NastyShape("text between comments", 10_000) { plist("<string>\(many($0) { "a<!-- \($0) -->" })</string>") },
    NastyShape("pieces of literal text", 10_000) { plist("<string>\(many($0) { "<![CDATA[\($0)]]>" })</string>") },
    NastyShape("entities of one name", 1_000) { model(many($0) { _ in "<entity name=\"A\"/>" }) },
    NastyShape("entities of many names", 1_000) { model(many($0) { "<entity name=\"A\($0)\"/>" }) },
    NastyShape("entities each below the last", 500) {
      model(many($0) { "<entity name=\"A\($0)\" parentEntity=\"A\($0 + 1)\"/>" })
    },
    NastyShape("attributes of one name", 1_000) {
      model(
        "<entity name=\"A\">\(many($0) { _ in "<attribute name=\"a\" optional=\"YES\" attributeType=\"String\"/>" })</entity>"
      )
    },
    NastyShape("attributes of many names", 1_000) {
      model(
        "<entity name=\"A\">\(many($0) { "<attribute name=\"a\($0)\" optional=\"YES\" attributeType=\"String\"/>" })</entity>"
      )
    },
    NastyShape("links to one", 1_000) {
      model(
        "<entity name=\"A\">\(many($0) { "<relationship name=\"a\($0)\" optional=\"YES\" destinationEntity=\"A\"/>" })</entity>"
      )
    },
    NastyShape("configurations of members", 1_000) {
      model(
        "<entity name=\"A\"/>"
          + many($0) { "<configuration name=\"c\($0)\"><memberEntity name=\"A\"/></configuration>" })
    },
    NastyShape("keys of one name", 5_000) { plist("<dict>\(many($0) { _ in "<key>a</key><true/>" })</dict>") },
    NastyShape("keys of many names", 5_000) { plist("<dict>\(many($0) { "<key>a\($0)</key><true/>" })</dict>") },
    NastyShape("lists", 5_000) { plist("<array>\(many($0) { _ in "<array/>" })</array>") },
    NastyShape("objects of one name", 2_000) { mapping(many($0) { _ in "<object type=\"X\" id=\"z1\"/>" }) },
    NastyShape("objects that name each other", 2_000) {
      mapping(
        many($0) {
          "<object type=\"XDDEVENTITYMAPPING\" id=\"z\($0)\"><relationship name=\"a\" idrefs=\"z\($0 + 1)\"/></object>"
        })
    },
  ]
}

struct HostileMarkupTests {
  @Test(arguments: NastyShape.all)
  private func `four times the document takes about four times as long`(shape: NastyShape) throws {
    let size = LongTests.areOn ? shape.size : shape.size / 2
    let (small, large) = (Array(shape.document(size).utf8), Array(shape.document(4 * size).utf8))
    let once = min(Self.time(small), Self.time(small))
    // Twice the share allows for a busy machine; a reader that compares all with all takes sixteen times as long.
    let limit = 8 * once + 0.02
    var fourTimes = Self.time(large)
    // Only a reader that seems slow is measured again.
    if fourTimes >= limit { fourTimes = min(fourTimes, Self.time(large)) }
    #expect(fourTimes < limit, "\(once) s, then \(fourTimes) s")
    if !Sanitizer.isOn { #expect(fourTimes < 5, "\(fourTimes) s") }
  }

  /// The processor time of all readers of XML, in seconds.
  private static func time(_ bytes: [UInt8]) -> Double {
    let start = now()
    // A refusal is an answer.
    _ = try? ModelSourceReader.read(bytes)
    _ = try? PropertyListValue(contentsOf: bytes)
    _ = try? MappingModelFile.read(bytes)
    return now() - start
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
