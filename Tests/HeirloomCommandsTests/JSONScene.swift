import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMapping
import HeirloomModel
import HeirloomStore
import HeirloomVault
import TestSupport
import Testing

/// Runs of every command with `--json`, in situations that give as many keys as possible.
struct JSONScene {
  let directory: TemporaryDirectory
  let tool: Tool
  private(set) var comparison: JSONComparison
  private(set) var commands: Set<String> = []

  init() throws {
    directory = try TemporaryDirectory()
    tool = Tool(directory: directory.url, environment: ["TMPDIR": directory.url.path])
    comparison = JSONComparison(try KeyTables.ofArticle())
  }

  mutating func tellAll() throws {
    try makeModels()
    try tellTool()
    try tellInspections()
    try tellMigrations()
    try tellGoingBack()
    try tellDamage()
    try tellModels()
    try tellFiles()
  }

  /// Compares the output with the table under a headline.
  @discardableResult
  private mutating func tell(_ headline: String, _ arguments: String...) throws -> [JSONValue] {
    let outcome = tool.run(arguments + ["--json"])
    commands.insert(arguments[0])
    let isBatch = arguments.contains("--jobs")
    let documents = isBatch ? outcome.output.split(separator: "\n").map(String.init) : [outcome.output]
    let values = try documents.map { try JSONReader.value(of: Array($0.utf8)) }
    for (number, value) in values.enumerated() {
      let isLast = isBatch && number == values.count - 1
      comparison.compare(
        value, with: isLast ? "migrate, the last line" : headline, at: arguments.joined(separator: " "))
    }
    return values
  }

  // MARK: Models and stores

  private static let title = "<attribute name=\"title\" attributeType=\"String\"/>"
  private static let mood = "<attribute name=\"mood\" optional=\"YES\" attributeType=\"String\"/>"
  private static let feeling = "<attribute name=\"feeling\" optional=\"YES\" attributeType=\"String\"/>"
  private static let author = "<attribute name=\"author\" attributeType=\"String\"/>"
  private static let number = "<attribute name=\"title\" attributeType=\"Date\" usesScalarValueType=\"NO\"/>"
  private static let tags =
    "<relationship name=\"tags\" optional=\"YES\" toMany=\"YES\" destinationEntity=\"Tag\" inverseName=\"notes\"/>"
  private static let notes =
    "<entity name=\"Tag\"><attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/><relationship name=\"notes\""
    + " optional=\"YES\" toMany=\"YES\" destinationEntity=\"Note\" inverseName=\"tags\"/></entity>"

  private func write(_ text: String, _ path: String) throws {
    let file = directory.file(path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  private func writeVersion(_ version: String, in bundle: String = "App", _ note: String, _ more: String = "") throws {
    try write(
      "<model documentVersion=\"1.0\"><entity name=\"Note\">\(note)</entity>\(more)<configuration name=\"None\"/>"
        + "<configuration name=\"Notes\"><memberEntity name=\"Note\"/></configuration></model>",
      "\(bundle).xcdatamodeld/\(version).xcdatamodel/contents")
  }

  private func version(_ name: String) -> String { "App.xcdatamodeld/\(name).xcdatamodel" }

  private func model(_ name: String) throws -> ManagedObjectModel {
    try ModelFile.read(directory.file(version(name)).path).model
  }

  private func makeModels() throws {
    try writeVersion("V1", Self.title + Self.mood + Self.tags, Self.notes)
    try writeVersion("V2", Self.title + Self.mood)
    try writeVersion("V3", Self.title + Self.feeling, "<entity name=\"New\"/>")
    try writeVersion("V4", Self.title + Self.mood + Self.author)
    try writeVersion(
      "V5", Self.number + Self.mood, "<entity name=\"A\" elementID=\"Tag\"/><entity name=\"B\" elementID=\"Tag\"/>")
    try write(
      "<model userDefinedModelVersionIdentifier=\"6\"><entity name=\"Note\" isAbstract=\"YES\">\(Self.title)\(Self.mood)"
        + "</entity></model>", version("V6") + "/contents")
    for name in ["App", "Other", "Held", "Aside", "Same", "Decided", "Deferred", "Nameless"] { try makeStore(name) }
  }

  private func makeStore(_ name: String, _ version: String = "V1", configuration: String? = nil) throws {
    let model = try model(version)
    let url = directory.file("\(name).sqlite")
    let store = try PersistentStore.create(at: url, model: model, configuration: configuration)
    let context = ManagedObjectContext(store: store)
    var tags: [ManagedObject] = []
    if version == "V1" { tags = try (0..<3).map { _ in try context.insert("Tag") } }
    for number in 0..<4 {
      let note = try context.insert("Note")
      try note.setValue(.string("note \(number)"), forAttribute: "title")
      if version != "V3" { try note.setValue(.string("merry"), forAttribute: "mood") }
      if !tags.isEmpty { try note.setObjects(tags, forRelationship: "tags") }
    }
    try context.save()
    try StoreModelCache.write(model, to: store.connection)
    try store.close()
  }

  private func change(_ name: String, _ sql: String) throws {
    let connection = try Connection(path: directory.file("\(name).sqlite").path, mode: .readWrite)
    try connection.executeScript(sql)
    try connection.close()
  }

  // MARK: The tool itself

  private mutating func tellTool() throws {
    try tell("help", "help")
    try tell("help, the manual page", "help", "--man")
    try tell("help of a command", "help", "plan")
    try tell("--version", "--version")
    for story in ["Done", "Diary", "Aircraft"] { try tell("demo", "demo", story, "--snapshots", Tool.snapshots.path) }
    try tell("completions", "completions", "fish")
    try tell("help", "plan")
  }

  // MARK: Looking

  private mutating func tellInspections() throws {
    try tell("inspect a store", "inspect", "App.sqlite")
    try tell("inspect a store", "inspect", "App.sqlite", "--model", "App.xcdatamodeld")
    try makeStore("Part", "V2", configuration: "Notes")
    try tell("inspect a store", "inspect", "Part.sqlite")
    try makeStore("Bare")
    try change("Bare", "DELETE FROM Z_MODELCACHE")
    try tell("inspect a store", "inspect", "Bare.sqlite")
    try tell("inspect a model", "inspect", "App.xcdatamodeld")
    try tell("inspect a model", "inspect", version("V1"))
    try tell("inspect a model", "inspect", Self.everything)
    try tellHashes()
    try ChatSource.write(in: directory.file("Chat"))
    try tell("inspect Swift source", "inspect", "Chat")
    try tell("inspect Swift source", "inspect", "Chat", "--root", "Message", "--root", "Chat")
    try tell("inspect Swift source", "inspect", "Chat", "--root", "Twin", "--root", "ChatPlan")
    try tell("freeze", "freeze", "Chat", "--root", "ChatV1")
    try tell("freeze", "freeze", "Chat")
    try TripSource.write(in: directory.file("Trips"))
    try tell("freeze", "freeze", "Trips")
    try tell("freeze", "freeze", "Trips", "--name", "Other")
    try tell("freeze", "freeze", "App.sqlite")
    try tell("check", "check", "Trips", "--store", "App.sqlite")
    try writeMapping()
    try tell("inspect a mapping model", "inspect", "Map.cdm")
    try tell("inspect a mapping model", "inspect", "Ends.cdm")
    try tell("doctor", "doctor", "App.sqlite")
    try write("", "Empty.sqlite")
    try tell("doctor", "doctor", "Empty.sqlite")
    try tell("doctor --archive", "doctor", "App.sqlite", "--archive", "support.tar.gz")
    try tell("verify", "verify", "App.sqlite")
    try tell("verify", "verify", "Bare.sqlite")
    try tell("compare", "compare", version("V1"), version("V3"))
    try tell("compare", "compare", version("V1"), version("V2"), "--skeleton")
    try tell("compare", "compare", version("V2"), version("V2"), "--skeleton")
    try makeStore("Later", "V3")
    try tell("compare", "compare", "App.sqlite", "Later.sqlite")
    try tell("compare", "compare", version("V1"), version("V5"))
    try tell("diagram", "diagram", "App.xcdatamodeld")
    try tell("diagram", "diagram", "App.xcdatamodeld", "--output", "App.svg")
    try tell("generate", "generate", "App.xcdatamodeld", "--output", "Model.swift")
    for arguments in [[], ["--rehearse", "--accept-losses"]] {
      let outcome = tool.run(
        ["report", "App.sqlite", "--to", version("V2"), "--output", "r.html", "--json"] + arguments)
      comparison.compare(try JSONReader.value(of: Array(outcome.output.utf8)), with: "report", at: "report")
    }
    try tell("report", "report", "Bare.sqlite", "--to", version("V1"), "--output", "r.html")
  }

  private mutating func tellHashes() throws {
    func dictionary(_ version: String, only name: String? = nil) throws -> String {
      let hashes = try model(version).versionHashes().filter { name == nil || $0.key == name }
      return "{ " + hashes.keys.sorted().map { "\($0) = <\(hashes[$0]?.description ?? "")>; " }.joined() + "}"
    }
    let digest = ManagedObjectModel.versionHashesDigest(of: try model("V1").versionHashes())
    try write(
      "metadata = { NSStoreModelVersionChecksumKey = \"\(try model("V1").versionChecksum())\"; NSStoreModelVersionHashes = "
        + dictionary("V1")
        + "; NSStoreModelVersionHashesDigest = \"\(digest)\"; NSStoreModelVersionIdentifiers = ( x ); };\n"
        + "current model versions = \(dictionary("V3"));\n\(dictionary("V1", only: "Note"))\n"
        + "merged = { A = <\(String(repeating: "0", count: 64))>; " + dictionary("V2").dropFirst(), "log.txt")
    let title = "inspect with hashes"
    try tell(title, "inspect", "App.xcdatamodeld", "--from-log", "log.txt")
    let note = try #require(try model("V1").versionHashes()["Note"])
    try tell(title, "inspect", "App.xcdatamodeld", "--hash", note.description)
    try tell(title, "inspect", "App.xcdatamodeld", "--hash", String(repeating: "0", count: 64))
    try write(
      "<model><entity name=\"Peer\"><attribute name=\"p\" attributeType=\"String\"/></entity></model>",
      "Peer.xcdatamodel/contents")
    let peer =
      try ModelFile.read(directory.file("Peer.xcdatamodel").path).model.versionHashes()["Peer"]?.description ?? ""
    try write("{ Peer = <\(peer)>; " + dictionary("V3").dropFirst(), "merged.txt")
    try tell(title, "inspect", "App.xcdatamodeld", "--from-log", "merged.txt", "--model", "Peer.xcdatamodel")
  }

  /// A model with every feature.
  private static let everything = KeyTables.root.appendingPathComponent(
    "Tests/HeirloomFormatsTests/Snapshot/Goldens/format-1.json"
  ).path

  private func writeMapping() throws {
    var mapping = EntityMapping(
      from: "Note", to: "Note", policyNamed: "App.NotePolicy",
      attributeMappings: [PropertyMapping("title", copying: "title"), PropertyMapping(name: "mood")])
    mapping.userInfo = ["key": "value"]
    let completed = MappingModel(entityMappings: [mapping]).completed(from: try model("V1"), to: try model("V2"))
    try Data(MappingArchiveWriter.archive(completed)).write(to: directory.file("Map.cdm"))
    let ends = [EntityMapping(from: "Tag", to: nil, mappingType: .remove), EntityMapping(from: nil, to: "New")]
    try Data(MappingArchiveWriter.archive(MappingModel(entityMappings: ends))).write(to: directory.file("Ends.cdm"))
  }

  // MARK: Migrating

  private mutating func tellMigrations() throws {
    let title = "plan and rehearse"
    try tell(title, "plan", "App.sqlite", "--to", version("V3"))
    try tell(title, "plan", "App.sqlite", "--to", version("V2"), "--sql", "--accept-losses")
    try tell(title, "plan", "App.sqlite", "--to", version("V2"), "--account", "--accept-losses")
    try tell(title, "plan", "App.sqlite", "--to", version("V1"))
    try tell(title, "plan", "App.sqlite", "--to", version("V4"))
    try tell(title, "plan", "App.sqlite", "--to", version("V5"))
    try tell(title, "plan", "App.sqlite", "--to", version("V6"))
    try tell(title, "plan", "Part.sqlite", "--to", version("V3"), "--accept-losses")
    try tell(
      title, "rehearse", "App.sqlite", "--to", version("V4"), "--decide", "Note.author=fill:me", "--accept-losses")
    // Nobody knows the name of a version that is in none of the models.
    let alone = try Notebook.write(model("V2"), "Alone", in: directory)
    try tell(title, "plan", "Nameless.sqlite", "--to", alone)
    try tell("migrate", "migrate", "Nameless.sqlite", "--to", alone, "--accept-version", "--accept-losses")
    try tell("restore", "restore", "Nameless.sqlite")
    try tell("migrate", "migrate", "App.sqlite", "--to", version("V5"))
    try tell("migrate", "migrate", "App.sqlite", "--to", version("V4"))
    try tell("migrate", "migrate", "App.sqlite", "--to", version("V2"))
    try tell("migrate", "migrate", "App.sqlite", "--to", version("V2"), "--accept-losses")
    try tell("migrate", "migrate", "App.sqlite", "--to", version("V2"))
    try tell("migrate", "migrate", "Missing.sqlite", "--to", version("V2"))
    try tell("migrate several stores", "migrate", "App.sqlite", "Missing.sqlite", "--to", version("V2"))
    try tell("migrate", "migrate", "App.sqlite", "Other.sqlite", "Missing.sqlite", "--to", version("V2"), "--jobs", "1")
    // Columns of no model, with a value in one row each.
    try change(
      "Decided",
      "ALTER TABLE ZNOTE ADD COLUMN app TEXT; UPDATE ZNOTE SET app = 'x' WHERE Z_PK = 1;"
        + "ALTER TABLE Z_1TAGS ADD COLUMN app TEXT; UPDATE Z_1TAGS SET app = 'x' WHERE Z_1NOTES = 1")
    try tell(
      "migrate", "migrate", "Decided.sqlite", "--to", version("V4"), "--decide", "Note.author=quarantine",
      "--accept-losses")
    try tell("migrate", "migrate", "App.sqlite", "--to", version("V3"), "--accept-losses")
    try tell("migrate", "migrate", "Deferred.sqlite", "--to", version("V2"), "--accept-losses", "--defer")
  }

  // MARK: Going back

  private mutating func tellGoingBack() throws {
    // An app that consents to nothing: the previous version is pinned.
    let url = directory.file("Held.sqlite")
    let history = ModelHistory(current: try model("V2"), name: "V2", earlier: [(name: "V1", model: try model("V1"))])
    _ = try MigrationAssistant(url, history).migrateStore()
    let list = try tell("versions", "versions", "Held.sqlite")
    guard case .object(let members) = list[0], case .array(let versions)? = members["versions"],
      case .object(let version)? = versions.first, case .string(let id)? = version["id"]
    else { throw CocoaError(.featureUnsupported) }
    try tell("doctor", "doctor", "Held.sqlite")
    try tell("restore", "restore", "Held.sqlite")
    try tell("versions", "versions", "Held.sqlite")
    try FileManager.default.removeItem(at: url)
    try tell("doctor", "doctor", "Held.sqlite")
    try tell("restore", "restore", "Held.sqlite", "--version", id)
    try tell("versions", "versions", "Held.sqlite", "--release", id)
    // Of a version without its record and with a damaged store nobody can tell the model.
    try FileManager.default.removeItem(at: directory.file("Held.sqlite.heirloom/previous/\(id)/manifest.json"))
    try write("", "Held.sqlite.heirloom/previous/\(id)/Held.sqlite")
    try tell("versions", "versions", "Held.sqlite")

    let title = "restore --set-aside"
    let (aside, same) = (try setAside("Aside"), try setAside("Same"))
    try tell("versions", "versions", "Aside.sqlite")
    for name in ["V4", "V5"] {
      try tell(title, "restore", "Aside.sqlite", "--set-aside", aside.id, "--to", self.version(name))
    }
    for _ in 1...2 {
      try tell(title, "restore", "Aside.sqlite", "--set-aside", aside.id, "--to", self.version("V2"), "--accept-losses")
    }
    try tell("versions", "versions", "Aside.sqlite")
    try tell(title, "restore", "Same.sqlite", "--set-aside", same.id, "--to", self.version("V1"))
    try FileManager.default.removeItem(at: same.folderURL.appendingPathComponent("notice.json"))
    try write("", "Same.sqlite.heirloom/incompatible/\(same.id)/Same.sqlite")
    try tell("versions", "versions", "Same.sqlite")
  }

  private func setAside(_ name: String) throws -> MigrationNotice {
    let url = directory.file("\(name).sqlite")
    let app = MigrationAssistant(url, ModelHistory(current: try model("V5")), .init(incompatibleStore: .setAside))
    guard case .setAside(let notice) = try app.migrateStore() else { throw CocoaError(.featureUnsupported) }
    return notice
  }

  // MARK: Damage

  private mutating func tellDamage() throws {
    try tell("repair", "repair", "App.sqlite")
    try write("{", "App.sqlite.heirloom/manifest.json")
    try tell("repair", "repair", "App.sqlite")
    let salvage = ["salvage", "salvage", "Other.sqlite", "--output"]
    try tell(salvage[0], salvage[1], salvage[2], salvage[3], "Whole.sqlite")
    try makeStore("Damaged")
    try change(
      "Damaged",
      "PRAGMA journal_mode = DELETE; DELETE FROM ZTAG WHERE Z_PK = 1; UPDATE ZNOTE SET Z_ENT = 77 WHERE Z_PK = 1")
    try tell("verify", "verify", "Damaged.sqlite")
    try tell("salvage", "salvage", "Damaged.sqlite", "--output", "Salvaged.sqlite")
    try change("Damaged", "DELETE FROM Z_METADATA")
    try tell("salvage", "salvage", "Damaged.sqlite", "--output", "Without.sqlite", "--model", version("V1"))
  }

  // MARK: Histories

  private mutating func tellModels() throws {
    try tell("new-version", "new-version", "New.xcdatamodeld")
    try tell("new-version", "new-version", "New.xcdatamodeld")
    try writeVersion("V1", in: "Odd", Self.title + "<gadget/>")
    try tell("check", "check", "Odd.xcdatamodeld")
    try writeVersion("H1", in: "Life/Life", Self.title + Self.mood + Self.tags, Self.notes)
    try tell("snapshot", "snapshot", "Life/Life.xcdatamodeld", "--output", "H1.json")
    try tell("history", "history", "Life/Life.xcdatamodeld")
    try tell("check", "check", "Life")
    try tell("snapshot", "snapshot", "Life/Life.xcdatamodeld", "--history", "Life")
    try tellFile("lock.json", directory.file("Life/lock.json"))
    try writeVersion("H2", in: "Life/Life", Self.title + Self.mood)
    try tell("history", "history", "Life")
    try tell("check", "check", "Life")
    try tell("check", "check", "Life", "--acknowledge", "Note.tags", "--acknowledge", "Tag")
    try writeVersion("H3", in: "Life/Life", Self.number + Self.mood)
    try tell("history", "history", "Life")
    try tell("check", "check", "Life", "--by-app", "H2")
    try tell("new-version", "new-version", "Life")
    try tell("squash", "squash", "Life", "--floor", "H2")
    try tellFile("lock.json", directory.file("Life/lock.json"))
    try tell("squash", "squash", "Life", "--floor", "H1")
    for (name, attribute) in [
      ("base", Self.mood), ("ours", Self.title), ("theirs", Self.mood.replacing("String", with: "Date")),
    ] {
      try write("<model><entity name=\"Note\">\(attribute)</entity></model>", name)
    }
    try tell("merge", "merge", "base", "ours", "theirs", "--path", "App.xcdatamodeld/V9.xcdatamodel/contents")
    for name in ["Two/A", "Two/B"] { try writeVersion("V1", in: name, Self.title) }
    try tell("snapshot", "snapshot", "Two/A.xcdatamodeld", "--history", "Two")
  }

  // MARK: Files

  private mutating func tellFiles() throws {
    // The report is the second file of the archive; each begins with a block that has its name and its size.
    let bytes = try Compression.gunzip([UInt8](Data(contentsOf: directory.file("support.tar.gz"))))
    let text = String(decoding: bytes, as: UTF8.self)
    let start = try #require(text.range(of: "diagnostics/report.json"))
    let report = text[start.upperBound...].drop { $0 != "{" }.prefix { $0 != "\0" }
    comparison.compare(try JSONReader.value(of: Array(report.utf8)), with: "report.json", at: "report.json")
    try write(#"{"format": 1, "versions": [{"checksum": "x", "name": "V1"}]}"#, "lock.json")
    try tellFile("lock.json", directory.file("lock.json"))
    var lock = VersionLock(versions: [
      VersionLock.Entry(
        id: "1", name: "V1", checksum: "x", entities: ["Note": "00"], release: .string("1.0"), shape: .string("ff")),
      VersionLock.Entry(id: "2", name: "V1", checksum: nil),
    ])
    lock.acknowledge("Note.mood", kind: .values, from: "1", to: "2")
    lock.acknowledge("Note.title", from: "1", to: "2")
    lock.stepsByCode = [VersionLock.Step(source: "1", destination: "2")]
    lock.floor = "1"
    let step = VersionLock.Step(source: "1", destination: "2")
    lock.decide(
      VersionLock.Decision(
        step: step, entity: "Note", properties: ["title"], choice: "fill", value: .string("none")))
    lock.decide(
      VersionLock.Decision(step: step, entity: "Note", properties: ["mood"], choice: "newest", age: "created"))
    try Data(lock.encoded()).write(to: directory.file("lock.json"))
    try tellFile("a lock of format 2", directory.file("lock.json"))
    let unknown = VersionLock(versions: [VersionLock.Entry(id: "1", name: "V1", checksum: nil)])
    try Data(unknown.encoded()).write(to: directory.file("lock.json"))
    try tellFile("a lock of format 2", directory.file("lock.json"))
    try tellFile("a snapshot", URL(fileURLWithPath: Self.everything))
    let bare = try ModelSnapshot(model: try Self.bareModel()).encoded(.readable)
    try bare.write(to: directory.file("Bare.json"))
    try tellFile("a snapshot", directory.file("Bare.json"))
    let folder = directory.file("Decided.sqlite.heirloom/quarantine")
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try tellFile("a row in quarantine", folder.appendingPathComponent(name), isLines: true)
    }
    try tellFile("a cut", directory.file("Salvaged.sqlite.cuts.jsonl"), isLines: true)
  }

  /// The features have as little as they can; a composite has a default.
  private static func bareModel() throws -> ManagedObjectModel {
    var note = EntityDescription(name: "Note")
    var address = AttributeDescription(name: "address", type: .composite)
    address.composite = CompositeAttributeDescription(
      name: "Address", elements: [AttributeDescription(name: "street", type: .string)])
    address.defaultValue = .composite(["street": .string("a")])
    var count = AttributeDescription(name: "count", type: .integer64)
    count.derivation = DerivedAttributeDescription(derivationExpression: .constant(.null))
    note.attributes = [address, count]
    note.indexes = [FetchIndexDescription(name: "empty", elements: [])]
    note.fetchedProperties = [
      FetchedPropertyDescription(
        name: "similar", fetchRequest: FetchRequestDescription(name: "all", entityName: "Note"))
    ]
    note.fetchedProperties[0].isOptional = true
    return try ManagedObjectModel(entities: [note])
  }

  private mutating func tellFile(_ headline: String, _ url: URL, isLines: Bool = false) throws {
    let text = try String(contentsOf: url, encoding: .utf8)
    for document in isLines ? text.split(separator: "\n").map(String.init) : [text] {
      comparison.compare(try JSONReader.value(of: Array(document.utf8)), with: headline, at: url.lastPathComponent)
    }
  }
}
