import Foundation
import HeirloomCompare
import HeirloomFormats
import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

struct LockFormatTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// A lock as the release before format 2 wrote it.
  private static let first = """
    {
      "acknowledged": [
        {
          "from": "A",
          "losses": [
            "Item",
            "Item.note"
          ],
          "to": "B"
        }
      ],
      "byCode": [
        {
          "from": "B",
          "to": "C"
        }
      ],
      "floor": "A",
      "format": 1,
      "versions": [
        {
          "checksum": "a",
          "entities": {
            "Item": "00"
          },
          "name": "A"
        },
        {
          "checksum": "b",
          "name": "B"
        },
        {
          "checksum": "c",
          "name": "C"
        }
      ]
    }

    """

  /// A lock with each member that format 2 has.
  private static let second = """
    {
      "acknowledged": [
        {
          "from": "1",
          "losses": [
            {
              "kind": "order",
              "name": "Item.tags"
            },
            {
              "name": "Item.title"
            }
          ],
          "to": "2"
        }
      ],
      "byCode": [
        {
          "from": "2",
          "to": "3"
        }
      ],
      "decisions": [
        {
          "choice": "newest",
          "entity": "Item",
          "limits": [
            1,
            2.5,
            null,
            true
          ]
        }
      ],
      "floor": "1",
      "format": 2,
      "versions": [
        {
          "checksum": "a",
          "entities": {
            "Item": "00"
          },
          "id": "1",
          "name": "Model",
          "release": {
            "commit": "abc",
            "tag": "v1"
          }
        },
        {
          "checksum": "b",
          "id": "2",
          "name": "Model",
          "shape": "ff"
        },
        {
          "id": "3",
          "name": "Model 2"
        }
      ]
    }

    """

  private func read(_ text: String) throws -> VersionLock {
    let url = directory.file("lock.json")
    try Data(text.utf8).write(to: url)
    return try VersionLock(path: url.path)
  }

  @Test(arguments: [first, second]) func `a lock of either format is written as it was read`(text: String) throws {
    #expect(String(decoding: try read(text).encoded(), as: UTF8.self) == text)
  }

  @Test func `a lock has format 1 until it holds a kind, and stays of format 2`() throws {
    var lock = try read(Self.first)
    lock.acknowledge("Item.a", from: "A", to: "B")
    #expect(lock.format == 1)
    lock.acknowledge("Item.b", kind: .values, from: "A", to: "B")
    #expect(lock.format == 2)
    var later = try read(String(decoding: lock.encoded(), as: UTF8.self))
    #expect(later.acknowledgements == lock.acknowledgements && later.floor == "A")
    #expect(later.versions.map(\.id) == ["A", "B", "C"])
    later.acknowledgements = []
    #expect(later.format == 2)
  }

  @Test func `of several entries with one name, the last is the version's`() throws {
    let lock = try read(Self.second)
    #expect(lock.namedVersions.map(\.id) == ["2", "3"])
    #expect(lock.entry(named: "Model")?.checksum == "b" && lock.identifier(of: "Model") == "2")
    #expect(lock.namedStepsByCode == [VersionLock.Step(source: "Model", destination: "Model 2")])
    #expect(lock.namedAcknowledgements.map(\.source) == ["Model (1)"])
    #expect(lock.floorName == "Model (1)" && lock.versionsBelowFloor.isEmpty)
  }

  /// Changes of a member's name in the text of a lock.
  @Test(arguments: [
    ("\"byCode\"", "\"comment\""), ("\"checksum\"", "\"digest\""), ("\"from\"", "\"since\""), ("\"kind\"", "\"sort\""),
    ("\"order\"", "\"colour\""), ("\"format\": 2", "\"format\": 3"), ("\"format\": 2", "\"format\": 1"),
    ("\"shape\"", "\"form\""), ("\"decisions\"", "\"choices\""), ("\"id\": \"2\"", "\"id\": \"1\""),
    ("\"floor\": \"1\"", "\"floor\": \"Model\""), ("\"id\": \"3\",\n", "\n"),
  ]) func `a format or member that isn't known is refused in one sentence`(member: String, other: String) throws {
    let text = Self.second.replacingOccurrences(of: member, with: other)
    #expect(text != Self.second)
    let error = try #require(throws: ModelReadingError.self) { try read(text) }
    #expect(error.cause.filter { $0 == "\n" }.isEmpty && error.cause.contains("lock.json"))
    #expect(error.recoverySuggestion?.isEmpty == false)
    for (ours, theirs) in [(text, Self.second), (Self.second, text)] {
      let merge = HistoryMerge(.lock, base: [], ours: Array(ours.utf8), theirs: Array(theirs.utf8))
      #expect(merge.conflicts.count == 1)
    }
  }

  @Test(arguments: [false, true]) func `locks of both formats are merged, whichever branch has the later one`(
    isOurs: Bool
  ) throws {
    let base = try read(Self.first)
    var kinds = base
    kinds.acknowledge("Item.tags", kind: .order, from: "A", to: "B")
    var plain = base
    plain.acknowledge("Item.text", from: "A", to: "B")
    plain.versions.append(VersionLock.Entry(name: "D", checksum: "d"))
    let merge = HistoryMerge(
      .lock, base: base.encoded(), ours: (isOurs ? kinds : plain).encoded(), theirs: (isOurs ? plain : kinds).encoded())
    #expect(merge.conflicts.isEmpty)
    let merged = try read(String(decoding: merge.bytes, as: UTF8.self))
    #expect(merged.format == 2 && merged.versions.map(\.id) == ["A", "B", "C", "D"])
    #expect(merged.floor == "A" && merged.stepsByCode == base.stepsByCode)
    #expect(
      merged.acknowledgements.flatMap(\.losses).map { "\($0.name) \($0.kind?.rawValue ?? "-")" }
        == ["Item -", "Item.note -", "Item.tags order", "Item.text -"])
  }

  @Test func `merged locks keep what format 2 alone has, and tell where branches don't agree`() throws {
    let base = try read(Self.second)
    func merged(_ ours: VersionLock, _ theirs: VersionLock) -> HistoryMerge {
      HistoryMerge(.lock, base: base.encoded(), ours: ours.encoded(), theirs: theirs.encoded())
    }
    var (ours, theirs) = (base, base)
    ours.versions.append(VersionLock.Entry(id: "4", name: "Model 2", checksum: "d", release: .string("v4")))
    theirs.writtenDecisions = []
    let merge = merged(ours, theirs)
    #expect(merge.conflicts.isEmpty)
    var expected = ours
    expected.writtenDecisions = []
    #expect(merge.bytes == expected.encoded())
    // Two answers to different questions go together, and two to one don't.
    func decision(_ value: String, _ property: String) -> VersionLock.Decision {
      VersionLock.Decision(
        step: VersionLock.Step(source: "1", destination: "2"), entity: "Item", properties: [property], choice: "fill",
        value: .string(value))
    }
    ours.decide(decision("x", "a"))
    theirs.decide(decision("y", "b"))
    #expect(merged(ours, theirs).conflicts.isEmpty)
    #expect(
      try read(String(decoding: merged(ours, theirs).bytes, as: UTF8.self)).namedDecisions.map(\.value)
        == [.string("x"), .string("y")])
    theirs.decide(decision("z", "a"))
    #expect(merged(ours, theirs).conflicts.map(\.place) == ["decisions"])
    theirs.decide(decision("x", "a"))
    #expect(merged(ours, theirs).conflicts.isEmpty)
    // One branch may write an expression and a value for what it leaves; a value of the other branch was meant for all rows.
    let expression = VersionLock.Decision(
      step: decision("x", "c").step, entity: "Item", properties: ["c"], choice: "compute", value: .string("b"))
    ours.decide(expression)
    theirs.decide(decision("z", "c"))
    #expect(merged(ours, theirs).conflicts.map(\.place) == ["decisions"])
    theirs.decide(expression)
    #expect(merged(ours, theirs).conflicts.isEmpty)
    var renamed = base
    renamed.versions[0] = VersionLock.Entry(id: "1", name: "Model", checksum: "other")
    var removed = base
    removed.versions[0] = VersionLock.Entry(id: "1", name: "Model", checksum: "third")
    #expect(merged(renamed, removed).conflicts.first?.place == "version \"1\"")
  }

  // MARK: - What isn't a lock

  /// Returns the error of listing the bundle's versions.
  private func refusal(of bytes: [UInt8]) throws -> ModelReadingError? {
    let url = directory.file("lock.json")
    try Data(bytes).write(to: url)
    do {
      let list = try ModelVersionList(directory.file("M.xcdatamodeld").path)
      Issue.record("\(bytes.count) bytes were read: \(list.warnings)")
      return nil
    } catch {
      #expect(try Data(contentsOf: url) == Data(bytes))
      return error
    }
  }

  private static var odd: [(String, [UInt8])] {
    let text = Array(first.utf8)
    func utf16(_ order: (UInt8) -> [UInt8]) -> [UInt8] { text.flatMap(order) }
    return [
      ("is empty", []), ("white space", Array(" \n\t\r\n ".utf8)), ("not a JSON object", Array("null".utf8)),
      ("not a JSON object", Array("[]".utf8)), ("not a JSON object", Array("[1, {\"format\": 1}]".utf8)),
      ("not a JSON object", Array("7".utf8)),
      ("not a JSON object", Array("\"lock\"".utf8)), ("not a JSON object", Array("true\n".utf8)),
      ("UTF-16", [0xFF, 0xFE] + utf16 { [$0, 0] }), ("UTF-16", [0xFE, 0xFF] + utf16 { [0, $0] }),
      ("UTF-16", utf16 { [$0, 0] }), ("UTF-16", utf16 { [0, $0] }), ("UTF-16", [UInt8](repeating: 0, count: 4096)),
      ("byte order mark", [0xEF, 0xBB, 0xBF] + text), ("UTF-16", text + [0]),
      ("", text + text), ("", Array("<<<<<<< ours\n".utf8) + text), ("", Array(text.reversed())),
      ("format 1", Array("{\"format\": 1}".utf8)), ("", Array("{\"floor\": \"A\"}".utf8)),
      ("", Array("{\"format\": null, \"versions\": []}".utf8)), ("", Array("{\"versions\": []}".utf8)),
      ("format 12", Array("{\"format\": 12}".utf8)),
      ("4,194,305 bytes", text + [UInt8](repeating: 0x20, count: (4 << 20) + 1 - text.count)),
    ]
  }

  @Test(arguments: [#"{"name": "app", "lockfileVersion": 3}"#, #"{"versions": {"a": "1.0"}, "packages": []}"#])
  func `another program's file is called that in a history's own folder, and passed over beside a bundle`(
    text: String
  ) throws {
    let folder = directory.file("History")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let lock = folder.appendingPathComponent("lock.json")
    try Data(text.utf8).write(to: lock)
    let error = #expect(throws: ModelReadingError.self) { try ModelVersionList(folder.path) }
    #expect(error?.cause.contains("another program's") == true, "\(String(describing: error?.cause))")
    #expect(error?.recoverySuggestion?.contains("a separate folder") == true)
    let version = directory.file("M.xcdatamodeld/A.xcdatamodel")
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    try Data("<model><entity name=\"Item\"/></model>".utf8).write(to: version.appendingPathComponent("contents"))
    try FileManager.default.moveItem(at: lock, to: directory.file("lock.json"))
    let warnings = try ModelVersionList(directory.file("M.xcdatamodeld").path).warnings
    #expect(warnings.count == 1 && warnings[0].contains("skipped"), "\(warnings)")
  }

  @Test func `bytes that are no lock are an error, never passed over`() throws {
    let version = directory.file("M.xcdatamodeld/A.xcdatamodel")
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    try Data("<model><entity name=\"Item\"/></model>".utf8).write(to: version.appendingPathComponent("contents"))
    let whole = Array(Self.first.utf8)
    for (reason, bytes) in Self.odd + whole.indices.dropLast(2).map({ ("", Array(whole[..<$0])) }) {
      guard let error = try refusal(of: bytes) else { continue }
      #expect(
        error.path?.hasSuffix("/lock.json") == true && (reason.isEmpty || error.cause.contains(reason)),
        "\(error.cause)")
      #expect(error.cause.hasSuffix(".") && !error.cause.contains("\n"))
      #expect(error.recoverySuggestion?.isEmpty == false, "\(error.cause)")
    }
    // The file alone without its last line end is a lock still.
    try Data(whole.dropLast()).write(to: directory.file("lock.json"))
    #expect(try ModelVersionList(directory.file("M.xcdatamodeld").path).lock?.floor == "A")
  }
}
