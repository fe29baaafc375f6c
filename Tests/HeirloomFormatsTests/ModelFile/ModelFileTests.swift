import Foundation
import HeirloomFormats
import HeirloomModel
import TestSupport
import Testing

struct ModelFileTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// Makes the folders above the file too, and returns its path.
  @discardableResult
  private func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
    let url = directory.file(name)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
    return url.path
  }

  @discardableResult
  private func write(_ name: String, _ text: String) throws -> String {
    try write(name, text.utf8)
  }

  private func path(_ name: String) -> String { directory.file(name).path }

  private func source(_ entity: String) -> String { "<model><entity name=\"\(entity)\"/></model>" }

  private func names(_ path: String) throws -> [String] {
    try ModelFile.read(path).model.entities.map(\.name)
  }

  private func snapshot(_ entity: String) throws -> ModelSnapshot {
    ModelSnapshot(model: try ManagedObjectModel(entities: [EntityDescription(name: entity)]))
  }

  private func refusal(_ path: String) throws -> ModelReadingError {
    let error = try #require(throws: ModelReadingError.self) { try ModelFile.read(path) }
    #expect(error.path != nil)
    #expect(error.recoverySuggestion != nil)
    return error
  }

  @Test func `of two snapshots of one version neither is taken`() throws {
    try write("Models/V1.json", try snapshot("A").bytes(.readable))
    #expect(try SnapshotFolder(path("Models")).snapshots.keys.sorted() == ["V1"])
    try write("Models/V1.json.gz", try snapshot("B").bytes(.compressed))
    let error = try #require(throws: ModelReadingError.self) { try SnapshotFolder(path("Models")) }
    #expect(error.path == path("Models") && "\(error)".contains("V1.json and V1.json.gz"), "\(error)")
  }

  @Test func `an entry without a checksum is compared by the hashes of its entities`() throws {
    let model = try ManagedObjectModel(entities: [EntityDescription(name: "A")])
    let hashes = model.versionHashes()
    let entry = VersionLock.Entry(
      id: "1", name: "V1", checksum: nil, entities: hashes.mapValues(\.description))
    #expect(entry.editedEntities(in: hashes) == nil)
    let other = try ManagedObjectModel(entities: [EntityDescription(name: "B")]).versionHashes()
    #expect(entry.editedEntities(in: other) == ["A", "B"])
    #expect(VersionLock.Entry(id: "1", name: "V1", checksum: nil).editedEntities(in: other) == nil)
  }

  @Test func `reads a source by its folder or its file`() throws {
    let file = try write("A.xcdatamodel/contents", source("A"))
    #expect(try names(file) == ["A"])
    #expect(try names(path("A.xcdatamodel")) == ["A"])
    #expect(try names(path("A.xcdatamodel/")) == ["A"])
    #expect(try ModelFile(path("A.xcdatamodel")).kind == .source)
    #expect(try ModelVersionList(path("A.xcdatamodel")).versions.map(\.name) == ["A"])
  }

  @Test func `reads the current version of a bundle`() throws {
    for version in ["M", "M 2", "M 10"] { try write("M.xcdatamodeld/\(version).xcdatamodel/contents", source("E")) }
    try write("M.xcdatamodeld/M 2.xcdatamodel/contents", source("Current"))
    let list = try ModelVersionList(path("M.xcdatamodeld"))
    #expect(list.name == "M")
    #expect(list.versions.map(\.name) == ["M", "M 2", "M 10"])
    #expect(list.currentVersionName == "M 10", "without a note the last one is current")
    let note = "<plist><dict><key>_XCCurrentVersionName</key><string>M 2.xcdatamodel</string></dict></plist>"
    try write("M.xcdatamodeld/.xccurrentversion", note)
    #expect(try ModelVersionList(path("M.xcdatamodeld")).currentVersionName == "M 2")
    #expect(try names(path("M.xcdatamodeld")) == ["Current"])
    try write("M.xcdatamodeld/.xccurrentversion", "<plist><dict/></plist>")
    #expect(try ModelVersionList(path("M.xcdatamodeld")).currentVersionName == "M 10")
  }

  @Test func `lists the sisters of a version, which is then the current one`() throws {
    for version in ["M", "M 2", "M 3"] { try write("M.xcdatamodeld/\(version).xcdatamodel/contents", source("E")) }
    for one in ["M.xcdatamodeld/M 2.xcdatamodel", "M.xcdatamodeld/M 2.xcdatamodel/contents"] {
      let list = try ModelVersionList(path(one))
      #expect(list.name == "M")
      #expect(list.versions.map(\.name) == ["M", "M 2", "M 3"])
      #expect(list.currentVersionName == "M 2")
      #expect(try list.currentVersion?.file.read().model.entities.count == 1)
    }
  }

  @Test func `lists versions that can't be read and says why on reading`() throws {
    try write("M.xcdatamodeld/M.xcdatamodel/elements", "bplist00")
    try write("M.xcdatamodeld/M 2.xcdatamodel/contents", source("E"))
    let list = try ModelVersionList(path("M.xcdatamodeld"))
    #expect(list.versions.count == 2)
    let old = try #require(list.version(named: "M"))
    let error = try #require(throws: ModelReadingError.self) { try old.file.read() }
    #expect(error.problem == .notModel(.oldBinaryModel))
    #expect(error.path?.hasSuffix("M.xcdatamodel") == true)
  }

  @Test func `refuses a note that names a version which isn't there`() throws {
    try write("M.xcdatamodeld/M.xcdatamodel/contents", source("E"))
    let note = "<plist><dict><key>_XCCurrentVersionName</key><string>M 9.xcdatamodel</string></dict></plist>"
    try write("M.xcdatamodeld/.xccurrentversion", note)
    #expect(try refusal(path("M.xcdatamodeld")).description.contains("M 9"))
    try write("M.xcdatamodeld/.xccurrentversion", "<plist>")
    #expect(try refusal(path("M.xcdatamodeld")).description.contains(".xccurrentversion"))
  }

  @Test func `reads snapshots in either layout`() throws {
    let snapshot = try snapshot("S")
    let readable = try write("S.json", snapshot.bytes(.readable))
    let compressed = try write("S.json.gz", snapshot.bytes(.compressed))
    for path in [readable, compressed] {
      #expect(try names(path) == ["S"])
      #expect(try ModelFile(path).kind == .snapshot)
      let list = try ModelVersionList(path)
      #expect(list.versions.map(\.name) == ["S"])
      #expect(list.currentVersionName == "S")
    }
  }

  @Test func `lists a story in the order of its lock`() throws {
    for version in ["Zero", "Later", "Done"] {
      try write("Story/D.xcdatamodeld/\(version).xcdatamodel/contents", source(version))
    }
    let note = "<plist><dict><key>_XCCurrentVersionName</key><string>Later.xcdatamodel</string></dict></plist>"
    try write("Story/D.xcdatamodeld/.xccurrentversion", note)
    try write("Story/Zero.json", snapshot("FromSnapshot").bytes(.readable))
    try write("Story/Exported.json.gz", snapshot("Exported").bytes(.compressed))
    try write(
      "Story/lock.json",
      """
      {"format": 1, "versions": [{"name": "Zero", "checksum": "z"}, {"name": "Exported", "checksum": "e"},
      {"name": "Done", "checksum": "d"}]}
      """)
    let list = try ModelVersionList(path("Story"))
    #expect(list.name == "D")
    #expect(list.versions.map(\.name) == ["Zero", "Exported", "Done", "Later"])
    #expect(list.versions.map(\.lockedChecksum) == ["z", "e", "d", nil])
    #expect(list.currentVersionName == "Later")
    #expect(try names(path("Story")) == ["Later"])
    #expect(try list.version(named: "Zero")?.file.read().model.entities.map(\.name) == ["Zero"], "the source wins")
    #expect(try list.version(named: "Exported")?.file.read().model.entities.map(\.name) == ["Exported"])
  }

  @Test func `lists a folder of snapshots without a lock in natural order`() throws {
    for version in ["v10", "v9"] { try write("Story/\(version).json", snapshot(version).bytes(.readable)) }
    let list = try ModelVersionList(path("Story"))
    #expect(list.versions.map(\.name) == ["v9", "v10"])
    #expect(list.name == "Story")
    #expect(try names(path("Story")) == ["v10"])
  }

  @Test(
    arguments: [
      "", "{", "[]", "{\"format\": 3, \"versions\": []}", "{\"format\": 1}", "{\"format\": 1, \"versions\": [{}]}",
      "{\"format\": 1, \"versions\": [{\"name\": \"gone\", \"checksum\": \"x\"}]}",
      "{\"format\": 1, \"versions\": [{\"name\": \"a\", \"checksum\": \"x\"}, {\"name\": \"a\", \"checksum\": \"x\"}]}",
    ])
  func `refuses a bad lock`(_ text: String) throws {
    try write("Story/a.json", snapshot("A").bytes(.readable))
    try write("Story/lock.json", text)
    #expect(try refusal(path("Story")).path?.hasSuffix("lock.json") == true)
  }

  static let otherFiles: [(String, [UInt8], ModelReadingError.Content)] = [
    ("empty.mom", [], .emptyFile), ("a.txt", Array("some text\n".utf8), .text),
    ("a.bin", [1, 2, 3, 0, 255], .unknownData),
    ("a.sqlite", Array("SQLite format 3\0".utf8), .sqliteStore),
    ("a.omo", Array("momv2$srsraori".utf8), .optimizedModel),
    ("a.html", Array("<html></html>".utf8), .otherXML(rootElement: "html")),
    ("a.json", Array("{\"a\": 1}".utf8), .otherJSON),
    ("xcmapping.xml", Array("<database><object type=\"XDDEVMAPPINGMODEL\" id=\"z1\"/></database>".utf8), .mappingModel),
    ("Store.xml", Array("<database><object type=\"NOTE\" id=\"z1\"/></database>".utf8), .xmlStore),
  ]

  @Test(arguments: otherFiles)
  func `says what a file is that is no model`(
    _ name: String, _ bytes: [UInt8], _ content: ModelReadingError.Content
  ) throws {
    let path = try write(name, bytes)
    #expect(try refusal(path) == ModelReadingError(path: path, problem: .notModel(content)))
    #expect(throws: ModelReadingError.self) { try ModelVersionList(path).currentVersion?.file.read() }
  }

  @Test func `says what a folder is that is no model`() throws {
    try write("Other/file.txt", "x")
    #expect(try refusal(path("Other")).problem == .notModel(.folder))
    try write("Map.xcmappingmodel/xcmapping.xml", "<database/>")
    #expect(try refusal(path("Map.xcmappingmodel")).problem == .notModel(.mappingModel))
    try write("Old.xcdatamodel/elements", "bplist00")
    #expect(try refusal(path("Old.xcdatamodel")).problem == .notModel(.oldBinaryModel))
    try write("Lost.xcdatamodel/layout", "x")
    #expect(try refusal(path("Lost.xcdatamodel")).description.contains("contents"))
    for name in ["Empty.xcdatamodeld", "Empty.momd"] {
      try write("\(name)/note.txt", "x")
      #expect(try refusal(path(name)).problem == .notModel(.bundleWithoutVersions))
    }
    try write("Two/A.xcdatamodeld/A.xcdatamodel/contents", source("A"))
    try write("Two/B.xcdatamodeld/B.xcdatamodel/contents", source("B"))
    #expect(try refusal(path("Two")).description.contains("2 model bundles"))
  }

  @Test func `refuses what is missing or no file at all`() throws {
    #expect(try refusal(path("nothing")).problem == .missing)
    let file = try write("file", "x")
    #expect(try refusal(file + "/below").problem == .missing)
    #expect(mkfifo(path("pipe"), 0o600) == 0)
    #expect(try refusal(path("pipe")).problem == .notModel(.specialFile))
    try FileManager.default.createSymbolicLink(atPath: path("loop"), withDestinationPath: path("loop"))
    guard case .unreadable = try refusal(path("loop")).problem else {
      Issue.record("a loop of links must be refused")
      return
    }
  }

  @Test func `orders names as a person counts`() {
    let names = [
      "Model", "model 1", "Model 2", "Model 02", "Model 2.1", "Model 10", "Model10", "Modelz", "v1.9", "v1.10", "v2",
    ]
    #expect(
      names.shuffled().sorted { NaturalOrder.precedes($0, $1) } == [
        "Model", "model 1", "Model 02", "Model 2", "Model 2.1", "Model 10", "Model10", "Modelz", "v1.9", "v1.10", "v2",
      ])
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct ModelFileCorpusTests {
  private func paths(_ endings: String...) -> [String] {
    guard let enumerator = FileManager.default.enumerator(atPath: Corpus.folder.path) else { return [] }
    return enumerator.compactMap { $0 as? String }.filter { path in endings.contains { path.hasSuffix($0) } }.sorted()
  }

  @Test func `lists every bundle of the corpus`() throws {
    let bundles = paths(".xcdatamodeld", ".momd")
    #expect(bundles.count > 50)
    for bundle in bundles {
      let list = try ModelVersionList(Corpus.folder.appendingPathComponent(bundle).path)
      #expect(!list.versions.isEmpty)
      #expect(list.currentVersion != nil, "\(bundle)")
    }
  }

  @Test func `knows the order in which shipped apps counted`() throws {
    let wire = Corpus.folder.appendingPathComponent("wire-ios-data-model/models/zmessaging.xcdatamodeld")
    let names = try ModelVersionList(wire.path).versions.map(\.name)
    let tail = names.suffix(3)
    #expect(names.count == 90)
    #expect(Array(tail).last?.contains("2.101") == true || Array(tail).last == "zmessaging2.101.0", "\(tail)")
  }

  @Test func `refuses what is no model and says what it is`() throws {
    let expected: [String: ModelReadingError.Content] = [
      ".omo": .optimizedModel, ".cdm": .mappingModel, ".xcmappingmodel": .mappingModel, ".sqlite": .sqliteStore,
      "/elements": .oldBinaryModel, "/layout": .otherPropertyList,
    ]
    for (ending, content) in expected {
      let found = paths(ending)
      #expect(!found.isEmpty, "\(ending)")
      for path in found {
        // A file of the corpus is only read, never opened as a store.
        let error = try #require(throws: ModelReadingError.self) {
          try ModelFile.read(Corpus.folder.appendingPathComponent(path).path)
        }
        #expect(error.problem == .notModel(content), "\(path)")
      }
    }
  }
}
