import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// `heirloom inspect MODELS --hash … --from-log …`: the versions that have hashes, and what is different in the nearest.
struct HashCommandTests {
  private let directory: TemporaryDirectory
  private let tool: Tool

  init() throws {
    directory = try TemporaryDirectory()
    tool = Tool(directory: directory.url)
    // Note and Tag change one after the other; Mood is in one version.
    for (name, note, tag, more) in [
      ("Journal", "title", "name", ""), ("Journal 2", "title text", "name", ""),
      ("Journal 3", "title text", "name color", Self.entity("Mood", "name")),
    ] {
      try write(name, Self.entity("Note", note) + Self.entity("Tag", tag) + more)
    }
  }

  private static func entity(_ name: String, _ attributes: String) -> String {
    let inside = attributes.split(separator: " ").map { "<attribute name=\"\($0)\" attributeType=\"String\"/>" }
    return "<entity name=\"\(name)\">\(inside.joined())</entity>"
  }

  private func write(_ name: String, in bundle: String = "Journal", _ inside: String) throws {
    let folder = directory.file("\(bundle).xcdatamodeld/\(name).xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("<model documentVersion=\"1.0\">\(inside)</model>".utf8).write(
      to: folder.appendingPathComponent("contents"))
  }

  private func hashes(_ version: String, in bundle: String = "Journal") throws -> [String: [UInt8]] {
    try ModelHistory(contentsOf: directory.file("\(bundle).xcdatamodeld/\(version).xcdatamodel")).current
      .versionHashes()
      .mapValues(\.bytes)
  }

  private func log(_ hashes: [String: [UInt8]], isWhole: Bool = true) throws {
    var printed = PrintedHashes(hashes: hashes)
    printed.identifiers = [""]
    let dialect = try #require(HashDialect.all.first { $0.name == "an error since iOS 13" })
    var text = dialect.print(printed)
    if !isWhole {
      let end = try #require(text.range(of: "    };\n    NSStoreModelVersionHashesVersion"))
      text = String(text[..<end.lowerBound])
    }
    try Data(text.utf8).write(to: directory.file("crash.txt"))
  }

  private func inspect(_ more: String...) -> Tool.Outcome {
    tool.run(["inspect", "Journal.xcdatamodeld", "--from-log", "crash.txt"] + more)
  }

  private func place(_ outcome: Tool.Outcome) throws -> [String: Any] {
    let places = try #require(try outcome.json()["hashes"] as? [[String: Any]])
    return try #require(places.first)
  }

  private static func names(_ place: [String: Any], _ key: String) -> [String] {
    (place[key] as? [[String: Any]] ?? []).compactMap { $0["versionName"] as? String }
  }

  // MARK: What is found

  @Test(arguments: ["Journal", "Journal 2", "Journal 3"])
  func `the version with exactly these hashes is named`(_ version: String) throws {
    try log(hashes(version))
    let outcome = inspect()
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("\"\(version)\" has all \(version == "Journal 3" ? 3 : 2)."), "\(outcome.output)")
    #expect(outcome.error.isEmpty)
    #expect(Self.names(try place(inspect("--json")), "versions") == [version])
  }

  @Test func `a log that is cut off fits every version with the hashes that are there`() throws {
    let all = try hashes("Journal 3")
    try log(all.filter { $0.key == "Note" }, isWhole: false)
    #expect(Self.names(try place(inspect("--json")), "versions") == ["Journal 3", "Journal 2"])
    try log(all.filter { $0.key != "Mood" }, isWhole: false)
    #expect(Self.names(try place(inspect("--json")), "versions") == ["Journal 3"])
  }

  @Test(arguments: [0, 15, 24, 31])
  func `a hash that no version has is told with its entity, and the nearest version`(_ byte: Int) throws {
    var all = try hashes("Journal 3")
    all["Tag"]?[byte] ^= 1
    try log(all)
    let outcome = inspect()
    #expect(outcome.code == 5)
    #expect(outcome.output.contains("The nearest is \"Journal 3\", with 2 of them:"), "\(outcome.output)")
    #expect(outcome.output.contains(/Tag +another hash, which no version has/), "\(outcome.output)")
    #expect(
      outcome.error.contains("No version of \(directory.file("Journal.xcdatamodeld").path) has the hashes of line"))
    let place = try place(inspect("--json"))
    let differences = try #require(place["differences"] as? [[String: Any]])
    #expect(differences.map { $0["entity"] as? String } == ["Tag"])
    #expect(differences.map { $0["kind"] as? String } == ["hash"])
    #expect(try inspect("--json").failure()["code"] as? String == "unknownVersion")
  }

  @Test func `bytes that a log leaves out are not compared`() throws {
    var all = try hashes("Journal 3")
    all["Tag"]?[20] ^= 1
    try log(all)
    #expect(inspect().output.contains("24 of 32 bytes of each") && inspect().code == 0)
  }

  @Test func `a mixture of versions is told entity by entity`() throws {
    var all = try hashes("Journal 3")
    all["Note"] = try hashes("Journal")["Note"]
    try log(all)
    let outcome = inspect()
    #expect(outcome.output.contains("The nearest is \"Journal 3\", with 2 of them:"), "\(outcome.output)")
    #expect(outcome.output.contains(/Note +as in "Journal"\n/), "\(outcome.output)")
  }

  @Test func `entities that only one of the two has are told`() throws {
    var all = try hashes("Journal 2")
    all["Draft"] = Array(repeating: 7, count: 32)
    all["Mood"] = try hashes("Journal 3")["Mood"]
    try log(all)
    let more = inspect().output
    #expect(more.contains(/Draft +in no version/) && more.contains(/Tag +as in "Journal 2", "Journal"/), "\(more)")
    try log(hashes("Journal 3").filter { $0.key != "Note" })
    let fewer = inspect().output
    #expect(fewer.contains(/Note +only in "Journal 3"/), "\(fewer)")
  }

  @Test func `hashes of another app are in no version, and none is called near`() throws {
    try log(["Hero": Array(repeating: 1, count: 32), "Note": Array(repeating: 2, count: 32)])
    let outcome = inspect()
    #expect(outcome.code == 5)
    #expect(outcome.output.contains("No version has one of them."), "\(outcome.output)")
    #expect(!outcome.output.contains("nearest") && !outcome.output.contains("only in"), "\(outcome.output)")
    #expect(outcome.output.contains(/Hero +in no version/), "\(outcome.output)")
    #expect(outcome.output.contains(/Note +another hash, which no version has/), "\(outcome.output)")
    #expect((try place(inspect("--json"))["nearest"] as? [Any])?.isEmpty == true)
  }

  @Test func `a model that is merged of two is found in both`() throws {
    try write("Sync", in: "Sync", Self.entity("Peer", "address"))
    try write("Sync 2", in: "Sync", Self.entity("Peer", "address port"))
    let all = try hashes("Journal 2").merging(hashes("Sync", in: "Sync")) { first, _ in first }
    try log(all)
    let alone = inspect()
    #expect(alone.code == 5 && alone.output.contains(/Peer +in no version/), "\(alone.output)")
    let both = inspect("--model", "Sync.xcdatamodeld")
    #expect(both.code == 0, "\(both.output)")
    #expect(both.output.contains("\"Journal 2\", \"Sync\" together have all 3:"), "\(both.output)")
    // One hash of neither, and it is no merged model.
    try log(all.merging(["Tag": Array(repeating: 1, count: 32)]) { $1 })
    #expect(inspect("--model", "Sync.xcdatamodeld").code == 5)
  }

  @Test func `a store of a configuration has the hashes of its entities`() throws {
    try write(
      "Journal 4",
      Self.entity("Note", "title") + Self.entity("Cache", "key")
        + "<configuration name=\"Local\"><memberEntity name=\"Cache\"/></configuration>")
    try log(hashes("Journal 4").filter { $0.key == "Cache" })
    let outcome = inspect()
    #expect(outcome.code == 0)
    #expect(outcome.output.contains("\"Journal 4\" (configuration \"Local\") has it."), "\(outcome.output)")
  }

  @Test func `a version that was edited since it was shipped, or removed, is found in the lock`() throws {
    #expect(tool("snapshot", "Journal.xcdatamodeld", "--history", ".").code == 0)
    for name in ["Journal", "Journal 2", "Journal 3"] {
      try FileManager.default.removeItem(at: directory.file("\(name).json"))
    }
    let (first, third) = (try hashes("Journal"), try hashes("Journal 3"))
    try write("Journal 3", Self.entity("Note", "title text date"))
    try FileManager.default.removeItem(at: directory.file("Journal.xcdatamodeld/Journal.xcdatamodel"))
    for (name, all) in [("Journal", first), ("Journal 3", third)] {
      try log(all)
      let outcome = inspect()
      #expect(
        outcome.code == 0 && outcome.output.contains("\"\(name)\" as the lock has it has all"), "\(outcome.output)")
    }
  }

  @Test func `a checksum tells the version where names alone are left`() throws {
    var printed = PrintedHashes(hashes: try hashes("Journal"))
    let dialect = try #require(HashDialect.all.first { $0.name == "an error until iOS 12" })
    func find() throws -> [String] { Self.names(try place(inspect("--json")), "versions") }
    func write(_ change: (String) -> String) throws {
      try Data(change(dialect.print(printed)).utf8).write(to: directory.file("crash.txt"))
    }
    try write { $0.replacing(/<[0-9a-f ]+>/, with: "") }
    #expect(try find() == ["Journal 2", "Journal"])
    #expect(inspect().output.contains("hashes of 2 entities, the names alone"))
    let model = try ModelHistory(contentsOf: directory.file("Journal.xcdatamodeld/Journal.xcdatamodel")).current
    for path in [\PrintedHashes.checksum, \.digest] {
      (printed.checksum, printed.digest) = (nil, nil)
      printed[keyPath: path] =
        path == \.digest ? ManagedObjectModel.versionHashesDigest(of: model.versionHashes()) : model.versionChecksum()
      try write { $0.replacing(/<[0-9a-f ]+>/, with: "") }
      #expect(try find() == ["Journal"])
      // Without any of the entities.
      try write { $0.replacing(/.* = <[0-9a-f ]+>;\n/, with: "") }
      #expect(try find() == ["Journal"])
      // Of another version.
      printed[keyPath: path] = String(try #require(printed[keyPath: path]).reversed().drop { $0 == "=" })
      printed[keyPath: path] = (printed[keyPath: path] ?? "") + (path == \.digest ? "==" : "=")
      try write { $0.replacing(/<[0-9a-f ]+>/, with: "") }
      #expect(try find().isEmpty)
      #expect(inspect().output.contains("have all 2"), "\(inspect().output)")
    }
  }

  @Test func `the store's hashes and the model's in one log are answered apart`() throws {
    let (store, model) = (try hashes("Journal 2"), try hashes("Journal 3"))
    let text =
      "CoreData: annotation: Incompatible version schema for persistent store '/x.sqlite'.  store metadata = "
      + HashDialect.metadata(PrintedHashes(hashes: store), indent: 0, HashDialect.newData)
      + " and current model versions = {\n"
      + model.keys.sorted().map { "    \($0) = \(HashDialect.newData(model[$0] ?? []));\n" }.joined() + "}\n"
    try Data(text.utf8).write(to: directory.file("crash.txt"))
    let outcome = inspect()
    #expect(outcome.code == 0)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 4, "\(outcome.output)")
    #expect(lines[0].contains("a store's metadata") && lines[1] == "  \"Journal 2\" has all 2.", "\(outcome.output)")
    #expect(lines[2].contains("\"and current model versions\"") && lines[3] == "  \"Journal 3\" has all 3.")
  }

  @Test func `what an app prints besides is no hash, where one of its entities is there`() throws {
    let text = try hashes("Journal 2").map { "\($0): \(HashDialect.hex($1))\n" }.joined()
    try Data(
      ("token: \(String(repeating: "ab", count: 32))\n" + text + "session: \(String(repeating: "cd", count: 32))\n")
        .utf8
    )
    .write(to: directory.file("crash.txt"))
    let place = try place(inspect("--json"))
    #expect(Self.names(place, "versions") == ["Journal 2"])
    #expect((place["entities"] as? [[String: Any]])?.compactMap { $0["name"] as? String }.sorted() == ["Note", "Tag"])
  }

  @Test func `models of every kind are searched`() throws {
    try TripSource.write(in: directory.file("Trips"))
    let done = Tool.snapshots.appendingPathComponent("Done")
    #expect(tool("snapshot", "Journal.xcdatamodeld", "--output", "Journal.json").code == 0)
    for (path, name) in [
      (done.path, "Done 3"), (done.appendingPathComponent("Done.xcdatamodeld").path, "Done 3"),
      (done.appendingPathComponent("Done 2.json").path, "Done 2"), ("Journal.json", "Journal"),
      ("Journal.xcdatamodeld/Journal 2.xcdatamodel", "Journal 2"), ("Trips", "TripsV2"), ("Trips:TripsV1", "TripsV1"),
    ] {
      let model = try #require(try NamedVersion(path, in: directory.url), "\(path)")
      try log(model.hashes)
      let outcome = tool("inspect", path, "--from-log", "crash.txt", "--json")
      #expect(outcome.code == 0, "\(path): \(outcome.error)")
      #expect(Self.names(try place(outcome), "versions").contains(name), "\(path): \(outcome.output)")
    }
  }

  @Test func `a version that isn't certain is told, and the others are searched`() throws {
    let source = ["String", "URL"].enumerated().map { number, type in
      "enum V\(number): VersionedSchema {\n  static let versionIdentifier = Schema.Version(\(number), 0, 0)\n"
        + "  static var models: [any PersistentModel.Type] { [Note.self] }\n"
        + "  @Model final class Note { var link: \(type)?\n    init() {} }\n}\n"
    }
    try FileManager.default.createDirectory(at: directory.file("App"), withIntermediateDirectories: true)
    try Data(("import SwiftData\n" + source.joined()).utf8).write(to: directory.file("App/Schemas.swift"))
    try log(try #require(try NamedVersion("App:V0", in: directory.url)).hashes)
    let outcome = tool("inspect", "App", "--from-log", "crash.txt")
    #expect(outcome.code == 0 && outcome.output.contains("\"V0\" has it."), "\(outcome.output)")
    #expect(outcome.error.contains("note:") && outcome.error.contains("Note.link"), "\(outcome.error)")
  }

  private struct NamedVersion {
    let hashes: [String: [UInt8]]

    init?(_ path: String, in folder: URL) throws {
      let parts = path.split(separator: ":").map(String.init)
      let roots = parts.count > 1 ? ["--root", parts[1]] : path == "Trips" ? ["--root", "TripsV2"] : []
      let json = try Tool(directory: folder).run(["inspect", parts[0], "--json"] + roots).json()
      var hashes: [String: String] = [:]
      for entity in json["entities"] as? [[String: Any]] ?? [] {
        hashes[entity["name"] as? String ?? ""] = entity["versionHash"] as? String
      }
      for schema in json["schemas"] as? [[String: Any]] ?? [] {
        for (name, entity) in schema["entities"] as? [String: [String: Any]] ?? [:] {
          hashes[name] = entity["hash"] as? String
        }
      }
      guard !hashes.isEmpty else { return nil }
      self.hashes = hashes.mapValues { digits in
        stride(from: 0, to: 64, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
      }
    }
  }

  @Test func `very many other things hide no store`() throws {
    try log(hashes("Journal 2"))
    let others = (0..<300).map { number in
      "{\"key\(number)\": \"\(String(format: "%064x", number))\"}\n"
    }
    let text = try String(contentsOf: directory.file("crash.txt"), encoding: .utf8)
    try Data((others.joined() + text).utf8).write(to: directory.file("crash.txt"))
    let outcome = inspect()
    #expect(outcome.code == 0 && outcome.output.split(separator: "\n").count == 2, "\(outcome.output)")
  }

  // MARK: Hashes on the command line

  private static let forms: [(String, @Sendable ([UInt8]) -> String)] = [
    ("digits", { HashDialect.hex($0) }), ("the first digits", { HashDialect.hex($0.prefix(4)) }),
    ("upper case", { HashDialect.hex($0).uppercased() }), ("0x", { "0x" + HashDialect.hex($0) }),
    ("groups", { HashDialect.groups($0) }), ("angle brackets", { HashDialect.oldData($0) }),
    ("a description", { HashDialect.newData($0) }), ("base64", { Data($0).base64EncodedString() }),
    ("the first of base64", { String(Data($0).base64EncodedString().prefix(8)) }),
    ("both ends", { HashDialect.hex($0.prefix(4)) + "..." + HashDialect.hex($0.suffix(4)) }),
    ("an ellipsis", { HashDialect.hex($0.prefix(4)) + "…" + HashDialect.hex($0.suffix(4)) }),
  ]

  @Test(arguments: forms.indices)
  func `a hash is taken in each form, with its entity or without`(_ index: Int) throws {
    let hash = Self.forms[index].1(try #require(try hashes("Journal 3")["Tag"]))
    for word in ["Tag=\(hash)", hash] {
      let outcome = tool("inspect", "Journal.xcdatamodeld", "--hash", word)
      #expect(outcome.code == 0, "\(word): \(outcome.output)\(outcome.error)")
      #expect(outcome.output.contains("\"Journal 3\" has it: Tag."), "\(word): \(outcome.output)")
    }
    let other = tool("inspect", "Journal.xcdatamodeld", "--hash", "Note=\(hash)")
    #expect(other.code == 5 && other.output.contains(/Note +another hash, which no version has/), "\(other.output)")
  }

  @Test func `several hashes are of the versions that have all of them`() throws {
    let all = try hashes("Journal 2").mapValues { HashDialect.hex($0) }
    let note = try #require(all["Note"])
    let tag = try #require(all["Tag"])
    let one = tool("inspect", "Journal.xcdatamodeld", "--hash", note, "--json")
    #expect(Self.names(try place(one), "versions") == ["Journal 3", "Journal 2"])
    let both = tool("inspect", "Journal.xcdatamodeld", "--hash", note, "--hash", "Tag=\(tag)", "--json")
    #expect(Self.names(try place(both), "versions") == ["Journal 2"])
    let unknown = tool("inspect", "Journal.xcdatamodeld", "--hash", String(repeating: "0", count: 64))
    #expect(unknown.code == 5 && unknown.output.contains("No version has it."), "\(unknown.output)")
    #expect(unknown.output.contains("no entity of a version has this hash"), "\(unknown.output)")
  }

  @Test(arguments: [
    "", "Note", "DayRecord", "Note=", "=", "zz", "123", "Note=123456", "123456", "Note=xyz",
    String(repeating: "0", count: 66),
    "Note=<>", "\u{1B}[31m", "Note=\(String(repeating: "z", count: 44))",
  ])
  func `a word that is no hash is refused with what is expected`(_ word: String) throws {
    // A name that could be base64 text is a name.
    try write("Journal 5", Self.entity("DayRecord", "title"))
    let outcome = tool("inspect", "Journal.xcdatamodeld", "--hash", word)
    #expect(outcome.code == 2, "\(outcome.output)")
    #expect(word.isEmpty || outcome.error.contains("expected ENTITY=HASH or a hash"), "\(outcome.error)")
    #expect(!outcome.error.contains("\u{1B}"))
  }

  // MARK: Failures

  @Test(arguments: ["", "Cocoa error 134100: The model used to open the store is incompatible", "<private>"])
  func `a log without hashes is told in one sentence`(_ text: String) throws {
    try Data(text.utf8).write(to: directory.file("crash.txt"))
    let outcome = inspect()
    #expect(outcome.code == 1 && outcome.output.isEmpty)
    #expect(
      outcome.error.contains(
        "\(directory.file("crash.txt").path) has no version hashes; expected the hashes that Core Data prints"),
      "\(outcome.error)")
    #expect(try inspect("--json").failure()["code"] as? String == "noHashes")
  }

  @Test func `a log with hashes of other things alone names them`() throws {
    let text =
      "{\"token\": \"\(String(repeating: "ab", count: 32))\", \"user\": {\"key\": \"\(String(repeating: "cd", count: 32))\"}}"
    try Data(text.utf8).write(to: directory.file("crash.txt"))
    let outcome = inspect()
    #expect(outcome.code == 1 && outcome.error.contains("(key, token) is an entity of"), "\(outcome.error)")
  }

  @Test func `a log that can't be read and models that are none are named`() throws {
    let missing = inspect()
    #expect(missing.code == 1, "\(missing.error)")
    #expect(missing.error.contains("There is nothing at \(directory.file("crash.txt").path); expected a crash log"))
    try log(hashes("Journal"))
    let models = tool("inspect", "Nowhere", "--from-log", "crash.txt")
    #expect(models.code == 1 && models.error.contains("Nowhere"), "\(models.error)")
    let folder = tool("inspect", "Journal.xcdatamodeld", "--from-log", ".")
    #expect(folder.code == 1 && folder.error.contains("folder"), "\(folder.error)")
  }

  @Test func `standard input is a log too`() throws {
    try log(hashes("Journal 2"))
    let process = Process()
    process.executableURL = BuiltTool.url
    process.arguments = ["inspect", "Journal.xcdatamodeld", "--from-log", "-"]
    process.currentDirectoryURL = directory.url
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    // More than a pipe holds at once.
    try input.fileHandleForWriting.write(contentsOf: Data(repeating: UInt8(ascii: "\n"), count: 300_000))
    try input.fileHandleForWriting.write(contentsOf: Data(contentsOf: directory.file("crash.txt")))
    try input.fileHandleForWriting.close()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0 && text.contains("\"Journal 2\" has all 2."), "\(text)")
    #expect(text.hasPrefix("Line 3000"), "\(text)")
  }
}
