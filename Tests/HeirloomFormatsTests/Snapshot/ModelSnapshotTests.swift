import Foundation
import HeirloomFormats
import HeirloomModel
import TestSupport
import Testing

struct ModelSnapshotTests {
  private let date = Date(timeIntervalSinceReferenceDate: 800_000_000)

  private func snapshot() throws -> ModelSnapshot {
    ModelSnapshot(model: try .everything(), applicationVersion: "1.2 (34)", archivedAt: date)
  }

  /// Every later version must read these files.
  private static let goldens = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Goldens")

  @Test(arguments: [ModelSnapshot.Layout.readable, .compressed])
  func `reads back what was written`(_ layout: ModelSnapshot.Layout) throws {
    let snapshot = try snapshot()
    let read = try ModelSnapshot(bytes: snapshot.bytes(layout))
    #expect(read == snapshot)
    #expect(read.applicationVersion == "1.2 (34)")
    #expect(read.archivedAt == date)
    #expect(read.versionHashes == snapshot.model.versionHashes())
    let bare = ModelSnapshot(model: try .everything(), archivedAt: date)
    #expect(try ModelSnapshot(bytes: bare.bytes(layout)) == bare)
  }

  @Test func `writes the golden files of format 1, and reads them`() throws {
    let snapshot = try snapshot()
    let readable = Self.goldens.appendingPathComponent("format-1.json")
    let compressed = Self.goldens.appendingPathComponent("format-1.json.gz")
    if TextSnapshot.isRecording {
      try snapshot.encoded(.readable).write(to: readable)
      try snapshot.encoded(.compressed).write(to: compressed)
      Issue.record("recorded; run again without RECORD_SNAPSHOTS")
    }
    #expect(try ModelSnapshot(contentsOf: readable) == snapshot)
    #expect(try ModelSnapshot(contentsOf: compressed) == snapshot)
    let isEqual = try snapshot.encoded(.readable) == Data(contentsOf: readable)
    #expect(isEqual, "the same snapshot must give the same bytes for ever")
  }

  @Test(arguments: [ModelSnapshot.Layout.readable, .compressed])
  func `writes sorted keys that other programs read`(_ layout: ModelSnapshot.Layout) throws {
    var bytes = try snapshot().bytes(layout)
    if layout == .compressed { bytes = try Compression.gunzip(bytes) }
    let object = try JSONSerialization.jsonObject(with: Data(bytes))
    let members = try #require(object as? [String: Any])
    #expect(Set(members.keys) == ["applicationVersion", "archivedAt", "checksum", "format", "hashes", "model"])
    #expect(members["format"] as? Int == 1)
    #expect(members["archivedAt"] as? String == "2026-05-09T06:13:20Z")
    // Foundation sorts keys as well: its compact form must have the members in our order.
    let sorted = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    #expect(keys(in: Array(sorted)) == keys(in: bytes))
  }

  private func keys(in json: [UInt8]) -> [String] {
    let text = String(decoding: json, as: UTF8.self)
    return text.matches(of: /"((?:[^"\\]|\\.)*)"\s*:/).map { String($0.1) }
  }

  @Test func `the versions before it are in the container alone, and their damage shows`() throws {
    var snapshot = try snapshot()
    let plain = try snapshot.bytes(.compressed)
    snapshot.earlierVersions = ["kx0=", "b+/="]
    let bytes = try snapshot.bytes(.compressed)
    #expect(try ModelSnapshot(bytes: bytes) == snapshot)
    #expect(try Compression.gunzip(bytes) == Compression.gunzip(plain))
    #expect(try ModelSnapshot(bytes: snapshot.bytes(.readable)).earlierVersions == [])
    #expect(ModelSnapshot.file(bytes, holds: snapshot.model))
    // RFC 1952: a comment and a checksum of the header; gzip itself reads both.
    #expect(bytes[3] == 0x12 && bytes[10...].starts(with: Array("earlier versions: kx0= b+/=\0".utf8)))
    for index in 10..<(bytes.count - plain.count + 10) {
      var damaged = bytes
      damaged[index] ^= 1
      #expect(throws: ModelReadingError.self, "byte \(index)") { try ModelSnapshot(bytes: damaged) }
    }
  }

  @Test func `a readable file has one value a line`() throws {
    let lines = String(decoding: try snapshot().bytes(.readable), as: UTF8.self).split(separator: "\n")
    #expect(lines.count > 300)
    #expect(lines.allSatisfy { $0.count < 160 })
    #expect(lines.contains("            \"name\": \"address\","))
    #expect(lines.contains("  \"model\": {"))
  }

  @Test(arguments: [ModelSnapshot.Layout.readable, .compressed])
  func `tells without parsing whether a file holds a model`(_ layout: ModelSnapshot.Layout) throws {
    let model = try ManagedObjectModel.everything()
    let bytes = try snapshot().bytes(layout)
    #expect(ModelSnapshot.file(bytes, holds: model))
    // Unhashed content counts too.
    var entities = model.entities
    entities[2].userInfo = ["new": "text"]
    let changed = try ManagedObjectModel(
      entities: entities, versionIdentifiers: model.versionIdentifiers, configurations: model.configurations,
      fetchRequestTemplates: model.fetchRequestTemplates)
    #expect(changed.versionChecksum() == model.versionChecksum())
    #expect(!ModelSnapshot.file(bytes, holds: changed))
    #expect(!ModelSnapshot.file(Array(bytes.dropLast()), holds: model))
    #expect(!ModelSnapshot.file([], holds: model))
    #expect(!ModelSnapshot.file(ModelSnapshot.canonicalModelBytes(of: model), holds: model))
  }

  @Test func `keeps times to the second, within what can be written`() throws {
    for seconds in [0.75, -0.25, -63_113_904_000, 252_423_993_599, .infinity, -.infinity, .nan] {
      let snapshot = ModelSnapshot(
        model: try .everything(), archivedAt: Date(timeIntervalSinceReferenceDate: seconds))
      let isEqual = try ModelSnapshot(bytes: snapshot.bytes(.compressed)) == snapshot
      #expect(isEqual, "\(seconds)")
    }
  }

  @Test(arguments: ["2026-05-09T08:13:20+0200", "2026-05-09T04:13:20-02:00"])
  func `reads times that others wrote in another form`(_ time: String) throws {
    let text = String(decoding: try snapshot().bytes(.readable), as: UTF8.self)
    let other = text.replacingOccurrences(of: "2026-05-09T06:13:20Z", with: time)
    #expect(other != text)
    #expect(try ModelSnapshot(bytes: Array(other.utf8)).archivedAt == date)
  }

  // MARK: - Bad input

  private func refusal(_ change: (String) -> String) throws -> ModelReadingError {
    let text = String(decoding: try snapshot().bytes(.readable), as: UTF8.self)
    let changed = change(text)
    #expect(changed != text, "the test must change the file")
    return try #require(throws: ModelReadingError.self) { try ModelSnapshot(bytes: Array(changed.utf8)) }
  }

  @Test func `refuses an unknown format in a sentence`() throws {
    let error = try refusal { $0.replacingOccurrences(of: "\"format\": 1", with: "\"format\": 2") }
    #expect(error.problem == .unsupportedSnapshotFormat(2))
    #expect(error.description == "The data is a snapshot of format 2; this version reads format 1.")
  }

  @Test func `refuses hashes that are not the model's`() throws {
    let renamed = try refusal {
      $0.replacingOccurrences(
        of: "\"transient\": true,\n            \"type\": \"Undefined\"", with: "\"type\": \"String\"")
    }
    #expect(renamed.problem == .hashMismatch(entities: ["Note"]))
    let checksum = try snapshot().versionChecksum
    let wrong = try refusal { $0.replacingOccurrences(of: checksum, with: "AAAA") }
    #expect(wrong.problem == .hashMismatch(entities: []))
    #expect(wrong.description.contains("the whole model"))
  }

  @Test(
    arguments: [
      ("\"abstract\": true", "\"abstract\": 1"), ("\"abstract\": true", "\"abstrakt\": true"),
      ("\"archivedAt\": \"2", "\"archivedAt\": \"x"), ("\"maxCount\": 9", "\"maxCount\": 99999999999"),
      ("\"maxCount\": 9", "\"maxCount\": 9.5"), ("\"deleteRule\": \"Deny\"", "\"deleteRule\": \"Perhaps\""),
      ("\"type\": \"Undefined\"", "\"type\": \"Colour\""), ("\"decimal\": ", "\"decimals\": "),
      ("\"format\": 1,", "\"format\": 1, \"format\": 1,"),
      ("\"superentity\": \"Document\"", "\"superentity\": \"Doc\""),
      ("\"evaluatedObject\": true", "\"evaluatedObject\": false"), ("\"comparator\": 100", "\"comparator\": 55"),
      ("\"setOperation\": \"UNION\"", "\"setOperation\": \"XOR\""),
      ("\"resultType\": 2", "\"resultType\": 3"), ("\"entities\": [\n", "\"entities\": [0,\n"),
    ])
  func `refuses content that format 1 doesn't know`(_ found: String, _ replacement: String) throws {
    let error = try refusal { $0.replacingOccurrences(of: found, with: replacement) }
    #expect(error.recoverySuggestion != nil)
  }

  @Test func `refuses what is no snapshot`() {
    let cases: [(String, ModelReadingError.Problem)] = [
      ("", .notModel(.emptyFile)), ("{}", .notModel(.otherJSON)), ("[]", .notModel(.otherJSON)),
      ("{\"format\": 1}", .notModel(.otherJSON)), ("{\"format\": \"1\", \"model\": {}}", .notModel(.otherJSON)),
    ]
    for (text, problem) in cases {
      #expect(throws: ModelReadingError(problem: problem)) { try ModelSnapshot(bytes: Array(text.utf8)) }
    }
    for text in ["{", "{\"format\": 1, \"model\": {}}", "{\"format\": 1, \"model\": [}"] {
      #expect(throws: ModelReadingError.self) { try ModelSnapshot(bytes: Array(text.utf8)) }
    }
  }

  @Test func `refuses each truncation and most damage`() throws {
    let whole = try snapshot().bytes(.compressed)
    for length in stride(from: 0, to: whole.count, by: 7) {
      #expect(throws: ModelReadingError.self) { try ModelSnapshot(bytes: Array(whole[..<length])) }
    }
    let original = try snapshot()
    for position in stride(from: 0, to: whole.count, by: 5) {
      var bytes = whole
      bytes[position] ^= 0x40
      // A change that is not noticed must not change the content either.
      if let read = try? ModelSnapshot(bytes: bytes) { #expect(read == original) }
    }
  }

  @Test func `refuses a file that expands beyond measure`() throws {
    let bomb = try Compression.gzip(Array(repeating: 0x20, count: 30_000_000))
    #expect(throws: ModelReadingError.self) { try ModelSnapshot(bytes: bomb) }
  }

  @Test func `refuses to write expressions that could not be read again`() throws {
    var expression: ValueExpression = .evaluatedObject
    for _ in 0..<200 { expression = .function(operand: nil, selector: "abs:", arguments: [expression]) }
    var entity = EntityDescription(name: "E")
    entity.coreSpotlightDisplayNameExpression = expression
    let snapshot = ModelSnapshot(model: try ManagedObjectModel(entities: [entity]))
    #expect(throws: ModelReadingError.self) { try snapshot.bytes(.readable) }
  }
}
