import Foundation
import Heirloom
import HeirloomCommands
import HeirloomFuzzing
import TestSupport
import Testing

/// Hashes are found in texts of every dialect, however it is wrapped, and nothing else is said of what is cut off.
struct HashesInTextTests {
  private struct Found: Equatable {
    var isWhole: Bool
    var identifiers: [String]
    var hashes: [String: [[UInt8]]]

    func difference(from expected: Found) -> String {
      let names = Set(hashes.keys).union(expected.hashes.keys).filter { hashes[$0] != expected.hashes[$0] }.sorted()
      return
        "whole: \(isWhole), identifiers: \(identifiers), hashes: \(names.map { ($0, hashes[$0] as Any, expected.hashes[$0] as Any) })"
    }
  }

  private static func places(in text: String) -> [HashesInText.Place] { HashesInText(Array(text.utf8)).places }

  private static func found(in text: String) -> [Found] {
    places(in: text).map { place in
      Found(
        isWhole: place.hashes.isWhole, identifiers: place.hashes.identifiers,
        hashes: Dictionary(
          uniqueKeysWithValues: place.hashes.entries.map { ($0.entity ?? "", [$0.hash.prefix, $0.hash.suffix]) }))
    }
  }

  private static let plainNames = [
    "Note", "Tag", "A", "DayRecord", "Category", "deadbeef", "Face", "bytes", "length", "NSFoo", "Entity1", "value",
    "data",
  ]
  private static let otherNames = ["XMPPMessage_Contact", "Événement", "日記", "Note\u{1F4D3}", "_x", "a-b"]

  private static func random(_ seed: Int, plain: Bool = false) -> PrintedHashes {
    var random = FuzzRandom(seed: UInt64(seed))
    let names = plainNames + (plain ? [] : otherNames)
    var printed = PrintedHashes(hashes: [:])
    for _ in 0...random.below(names.count) {
      printed.hashes[random.pick(names)] = (0..<32).map { _ in UInt8(random.below(256)) }
    }
    printed.identifiers = random.pick([["1.0"], ["Journal 2"], ["Model_3"], ["x", "y z"]])
    return printed
  }

  private static func expected(_ printed: PrintedHashes, _ dialect: HashDialect) -> Found {
    Found(
      isWhole: dialect.isWhole, identifiers: dialect.hasIdentifiers ? printed.identifiers : [],
      hashes: printed.hashes.mapValues { [Array($0.prefix(dialect.shown.start)), Array($0.suffix(dialect.shown.end))] })
  }

  @Test(arguments: HashDialect.all, HashWrapping.all)
  func `each dialect is read, however it is wrapped`(_ dialect: HashDialect, _ wrapping: HashWrapping) throws {
    for seed in 0..<LongTests.count(quick: 4, long: 100) {
      var printed = Self.random(seed, plain: !dialect.takesAnyName)
      if dialect.name.hasPrefix("AnyHashable") || dialect.name == "plutil -p" {
        printed.identifiers = [printed.identifiers[0]]
      }
      if wrapping.breaksTexts { printed.identifiers = printed.identifiers.map { $0.replacing(" ", with: "_") } }
      let text = wrapping.wrap(dialect.print(printed))
      let (found, expected) = (Self.found(in: text), Self.expected(printed, dialect))
      if found == [expected] { continue }
      Issue.record("seed \(seed): \(found.map { $0.difference(from: expected) }) in\n\(text.prefix(3000))")
    }
  }

  @Test(arguments: HashDialect.all)
  func `what a text that is cut off shows is true, and is not called whole`(_ dialect: HashDialect) throws {
    let printed = Self.random(7, plain: true)
    let text = Array(dialect.print(printed).utf8)
    for end in stride(from: 0, to: text.count, by: LongTests.areOn ? 1 : 7) {
      try check(text[..<end], against: printed, "until \(end)")
    }
    let starts = text.indices.filter { $0 > 0 && text[$0 - 1] == UInt8(ascii: "\n") }
    for start in starts { try check(text[start...], against: printed, "from \(start)") }
  }

  private func check(_ text: ArraySlice<UInt8>, against printed: PrintedHashes, _ place: String) throws {
    for found in HashesInText(Array(text)).places {
      for entry in found.hashes.entries {
        let hash = try VersionHash(#require(printed.hashes[entry.entity ?? ""], "\(place): \(entry)"))
        #expect(entry.hash.matches(hash), "\(place): \(entry)")
      }
      #expect(!found.hashes.isWhole || found.hashes.entries.count == printed.hashes.count, "\(place)")
    }
  }

  @Test func `a hash goes on after the end of a line and the prefix of the next`() throws {
    let printed = Self.random(3, plain: true)
    let name = printed.names[0]
    let data = HashDialect.oldData(printed.bytes(name))
    for position in 1..<data.count - 1 {
      let parts = (data.prefix(position), data.dropFirst(position))
      let text =
        "2015-08-11 10:53:13.990 App[736:39183] \(name) = \(parts.0)\n2015-08-11 10:53:13.990 App[736:39183] \(parts.1);"
      let found = Self.found(in: text)
      #expect(found.map(\.hashes) == [[name: [printed.bytes(name), []]]], "\(text)")
    }
  }

  @Test func `the message of another line is no part of a hash`() throws {
    for message in [
      "Added store", "2015-08-11 10:53:13.990 App[7:8] Added 5 notes", "face", "deadbeefs", "Event = <none>",
    ] {
      let found = Self.found(in: "metadata = { NSStoreModelVersionHashes = { Note = <268efc74 82cc\n\(message)")
      #expect(found.map(\.hashes) == [["Note": [[0x26, 0x8e, 0xfc, 0x74, 0x82, 0xcc], []]]], "\(message)")
      #expect(found.first?.isWhole == false)
    }
  }

  @Test func `what Core Data says of a store and of the current model are two things`() throws {
    let (store, model) = (Self.random(1, plain: true), Self.random(2, plain: true))
    let hashes = model.names.map { "    \($0) = \(HashDialect.newData(model.bytes($0)));\n" }.joined()
    let text =
      "CoreData: annotation: Incompatible version schema for persistent store '/var/x.sqlite'.  store metadata = "
      + HashDialect.metadata(store, indent: 0, HashDialect.newData) + " and current model versions = {\n\(hashes)}\n"
    let places = Self.places(in: text)
    #expect(places.map(\.hashes.owner) == [.store, .dictionary("and current model versions")])
    #expect(places.map(\.hashes.entries.count) == [store.hashes.count, model.hashes.count])
    #expect(places.map(\.hashes.identifiers) == [store.identifiers, []])
    #expect(places.map(\.lines) == [[4], [4 + store.hashes.count + 9]])
  }

  @Test func `a dictionary that is printed again is one, with the lines of both`() throws {
    let printed = Self.random(4)
    let text = HashDialect.all[0].print(printed)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let first = try #require(lines.firstIndex { $0.contains("NSStoreModelVersionHashes =") })
    let second = try #require(lines.lastIndex { $0.contains("NSStoreModelVersionHashes =") })
    #expect(Self.places(in: text).map(\.lines) == [[first + 2, second + 2]])
    let cut = lines[..<(second + 2)].joined(separator: "\n")
    #expect(Self.places(in: cut).map(\.lines) == [[first + 2, second + 2]])
  }

  @Test func `versions in VersionInfo are named`() throws {
    let all = [1, 2].map { Self.random($0) }
    let info: [String: Any] = [
      "NSManagedObjectModel_CurrentVersionName": "Journal 2",
      "NSManagedObjectModel_VersionHashes": ["Journal": all[0], "Journal 2": all[1]].mapValues { printed in
        printed.hashes.mapValues { Data($0) }
      },
    ]
    let data = try PropertyListSerialization.data(fromPropertyList: info, format: .xml, options: 0)
    let owners = Set(HashesInText(Array(data)).places.map(\.hashes.owner))
    #expect(owners == [.dictionary("Journal"), .dictionary("Journal 2")])
  }

  // MARK: Logs as people pasted them

  @Test func `what HTML or the system took out of a log leaves the names`() throws {
    for value in ["", "<private>", "&lt;private&gt;", "<decode: missing data>"] {
      let found = Self.found(
        in:
          "{ NSStoreModelVersionHashes =  {\n Event = \(value);\n \"My_Note\" = \(value);\n };\n NSStoreType = SQLite;\n}"
      )
      #expect(found.map(\.hashes) == [["Event": [[], []], "My_Note": [[], []]]], "\(value)")
    }
  }

  @Test func `a text without the lines of its brackets is read`() throws {
    let found = Self.found(
      in: """
        2012-07-17 17:33:56.641 SuperDB[11233:c07] Unresolved error Error Domain = NSCocoaErrorDomain Code = 134100 {metadata = {
            NSPersistenceFrameworkVersion = 409;
            NSStoreModelVersionHashes =     {
                Hero = <0fe30005 4578f63c 124e2af7 3798fb56 7a194f27 f9281223 bd265ee3 d985d2fc>;
            NSStoreModelVersionHashesVersion = 3;
            NSStoreModelVersionIdentifiers =     (
            NSStoreType = SQLite;
            NSStoreUUID = "719284D9-793C-48A7-8F3E-C633CD4F0402";
            "_NSAutoVacuumLevel" = 2;
        }, reason = The model used to open the store is incompatible with the one used to create the store}, {
            metadata =     {
                NSPersistenceFrameworkVersion = 409;
                NSStoreModelVersionHashes =         {
        """)
    #expect(found.map(\.isWhole) == [true])
    #expect(found.first?.hashes["Hero"]?.first?.count == 32)
  }

  @Test func `changed digits end what is known`() throws {
    let found = Self.found(
      in: """
        NSStoreModelVersionHashes =         {
            EntityA = <3159d1ee 37851832 a788a9a2 fae591d2 4d0f7a24 73d33faf 2384d6a0 9f9d4apo>;
            EntityD = <8c29ac72 2c838157 8bb8156d e3345db5 3dd7c1b7 2ec8c923 f7c2b7af 386c40ad>;
        };
        """)
    #expect(found.count == 1)
    #expect(found.first?.hashes.mapValues { $0[0].count } == ["EntityA": 28, "EntityD": 32])
  }

  @Test(arguments: [
    "", "Cocoa error 134100", "deviceToken = {length = 20, bytes = 0x01020304 }", "a = <268efc74 82cc1b79>;",
    "\"checksum\": \"n+kk0f+uLXPDvdioHyMqmLay6VQ65HLL8r1c4DUtcI\"", "NSStoreModelVersionHashesVersion = 3;",
    "Binary Images: 0x1000 - 0x2000 App arm64 <CB64C2B7828A3C4C8F3C72B78630CD94> /App",
    "sourceModel=(<NSManagedObjectModel: 0x600>) isEditable 1, entities { Note = \"(<NSEntityDescription: 0x6>) name Note\"}",
    "NSStoreModelVersionChecksumKey = \"short=\";", "<<<<<<<<", "{{{{", "]]]]", "\\", "\\u12", "&lt", "\u{FEFF}",
    "NSStoreModelVersionHashes = {};",
  ])
  func `a text without hashes has none`(_ text: String) throws {
    #expect(Self.places(in: text).isEmpty)
  }

  @Test func `a checksum and a digest are enough, before or after the hashes`() throws {
    let checksum = "n+kk0f+uLXPDvdioHyMqmLay6VQ65HLL8r1c4DUtcII="
    let digest = "8aTQVFaRoWcJjSrfUWGNhWxyl4H+gmCjrDT9k9CLVmm9OnpUALJH6sPZWbA1xKKrPOrD6x93sSkxLvIrC13PCA=="
    for text in [
      "{ NSStoreModelVersionChecksumKey = \"\(checksum)\"; NSStoreModelVersionHashesDigest = \"\(digest)\"; }"
    ] {
      let place = try #require(Self.places(in: text).first?.hashes)
      #expect(place.entries.isEmpty && place.checksum == checksum && place.digest == digest)
    }
    var printed = Self.random(1)
    (printed.checksum, printed.digest) = (checksum, digest)
    for dialect in HashDialect.all where ["a property list", "an error since iOS 13"].contains(dialect.name) {
      let place = try #require(Self.places(in: dialect.print(printed)).first?.hashes)
      #expect(place.checksum == checksum && place.digest == digest && place.entries.count == printed.hashes.count)
    }
  }

  @Test func `a tag that isn't closed hides nothing after it`() throws {
    let text = "<key>" + String(repeating: "x", count: 1000) + HashDialect.all[0].print(Self.random(5))
    #expect(Self.places(in: text).count == 1)
  }

  @Test func `UTF-16 is read`() throws {
    let text = HashDialect.all[0].print(Self.random(5))
    let units = text.utf16.flatMap { unit -> [UInt8] in
      [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
    }
    let bytes: [UInt8] = [0xFF, 0xFE] + units
    #expect(HashesInText(bytes).places.count == 1)
  }

  @Test func `of very many dictionaries the first are kept`() throws {
    let text = (0..<300).map { number in
      "a = { Note = \(HashDialect.oldData([UInt8(number / 256), UInt8(number % 256)] + Array(repeating: 0, count: 30))) };\n"
    }.joined()
    let all = HashesInText(Array(text.utf8))
    #expect(all.places.count == HashesInText.limit && all.hasMore)
    #expect(!HashesInText(Array(text.utf8.prefix(5_000))).hasMore)
  }

  // MARK: Hostile text

  private static let hostile = [
    "{", "[", "(", "<", "\"", "\\", "}", "=", "a=", "a={", "a=[", "a=<", "[0x1,", "{length", "{length=32,bytes=0x",
    "<data>",
    "<key>", "<dict>", "&lt;", "\\u12", "\\\\\\\\n", "a = <268efc74 ", "NSStoreModelVersionIdentifiers=(", "\"a\" ",
    "00:00:00 [1",
    "\n", "\n> ", " ", "a", "é", "\u{2026}", "32 bytes", "NSStoreModelVersionHashes={a=;",
    "{a=<\(String(repeating: "0", count: 64))>",
    "<\(String(repeating: "0", count: 64))>=<", ",", ";",
  ]

  @Test(arguments: hostile)
  func `text of one thing is read without a trap on a small stack`(_ unit: String) throws {
    let text = Array(String(repeating: unit, count: 200_000 / unit.utf8.count).utf8)
    #expect(onSmallStack { HashesInText(text).places.count } != nil)
  }

  @Test(.slow("texts of two sizes"), arguments: hostile)
  func `time grows with the length of a text`(_ unit: String) throws {
    func seconds(_ length: Int) -> Double {
      let text = Array(String(repeating: unit, count: length / unit.utf8.count).utf8)
      let start = ContinuousClock.now
      _ = HashesInText(text)
      return Double((ContinuousClock.now - start) / .milliseconds(1)) / 1000
    }
    // Eight times the text: a quadratic reader takes 64 times as long, however busy the machine is.
    let tries = (0..<3).lazy.map { _ in (short: seconds(20_000), long: seconds(160_000)) }
    #expect(tries.contains { $0.long < max($0.short, 0.01) * 30 }, "\(Array(tries))")
  }
}
