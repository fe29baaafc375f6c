import Foundation
import HeirloomFormats
import HeirloomModel
import TestSupport
import Testing

struct FreezeTests {
  private let directory: TemporaryDirectory
  private let tool: Tool

  init() throws {
    directory = try TemporaryDirectory()
    tool = Tool(directory: directory.url)
    try ChatSource.write(in: directory.file("Chat"))
  }

  private func edit(_ name: String, _ words: String, _ others: String) throws {
    let file = directory.file("Chat/\(name)")
    let text = try String(contentsOf: file, encoding: .utf8)
    try #require(text.contains(words))
    try Data(text.replacingOccurrences(of: words, with: others).utf8).write(to: file)
  }

  /// Makes everything in the app's source certain.
  private func settle() throws {
    try edit("Models/Chat.swift", "URL?", "String?")
    try edit("App.swift", " + more()", "")
    try FileManager.default.removeItem(at: directory.file("Chat/Tests"))
  }

  private func sources() throws -> [String] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: directory.file("Chat").path).sorted()
    return try names + names.filter { $0.hasSuffix(".swift") }.map { try text("Chat/\($0)") }
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: directory.file(name), encoding: .utf8)
  }

  @Test func `the plan's last schema is frozen, and what follows on it is told with its places`() throws {
    try settle()
    let before = try sources()
    let json = try tool("freeze", "Chat", "--json").json()
    #expect(json["name"] as? String == "ChatV2" && json["versionIdentifier"] as? String == "2.0.0")
    #expect(json["replaces"] as? String == "Models/Schemas.swift:13")
    let plan = try #require(json["plan"] as? [String: String])
    #expect(plan == ["name": "ChatPlan", "schemasAt": "App.swift:4", "stagesAt": "App.swift:5"])
    let next = try #require(json["next"] as? [String: String])
    #expect(next["entry"] == "ChatV3.self" && next["stage"] == "chatV2ToChatV3")
    #expect(next["source"]?.contains("{ [Chat.self, Message.self] }") == true)
    // Beside the app's files lies the lock, which fixes the version.
    #expect(try sources().filter { $0 != "lock.json" } == before)
    #expect(json["lock"] as? String == directory.file("Chat/lock.json").path)
    #expect(try VersionLock(path: directory.file("Chat/lock.json").path).versions.map(\.name) == ["ChatV1", "ChatV2"])
    // The file alone has the hashes of the app's schema.
    let live = try tool("inspect", "Chat", "--root", "ChatV2", "--json").json()
    let frozen = try tool("inspect", "ChatV2.swift", "--json").json()
    let entities = try [live, frozen].map { json in
      let schema = try #require((json["schemas"] as? [[String: Any]])?.first)
      return try #require(schema["entities"] as? [String: [String: String]]).mapValues { $0["hash"] }
    }
    #expect(entities[0] == entities[1] && entities[0].count == 2)
    #expect(json["entities"] as? [String: String] == entities[0].compactMapValues(\.self))
  }

  @Test func `a file that is there is left alone, and one with the same schema is enough`() throws {
    try settle()
    #expect(tool("freeze", "Chat").code == 0)
    let again = tool("freeze", "Chat")
    #expect(again.code == 0 && again.output.contains("was left as it is"))
    try Data("mine".utf8).write(to: directory.file("ChatV2.swift"))
    #expect(try tool("freeze", "Chat", "--json").failure()["code"] as? String == "fileExists")
    #expect(try text("ChatV2.swift") == "mine")
    #expect(tool("freeze", "Chat", "--name", "Second", "--identifier", "7.0.0", "--output", "S.swift").code == 0)
    #expect(try text("S.swift").contains("enum Second: VersionedSchema {") && text("S.swift").contains("(7, 0, 0)"))
  }

  @Test func `all that is not certain is named, and nothing is written`() throws {
    let outcome = tool("freeze", "Chat")
    #expect(outcome.code == 1)
    for words in ["Tests/Broken.swift:1", "Models/Chat.swift:11: Message.link is not certain"] {
      #expect(outcome.error.contains(words), "\(outcome.error)")
    }
    #expect(!FileManager.default.fileExists(atPath: directory.file("ChatV2.swift").path))
    #expect(tool("freeze", "Chat", "--exclude", "Nowhere").error.contains("nothing at \"Nowhere\""))
    #expect(tool("freeze", "Chat", "--exclude", "Tests", "--name", "ChatV1").error.contains("declared already"))
    #expect(tool("freeze", "Chat", "--stage", "heavy").code == 2)
    let frozen = tool("freeze", "Chat", "--root", "ChatV1")
    #expect(frozen.code == 0 && frozen.output.contains("is frozen already"))
  }

  @Test func `the frozen schema in the place of the old one is the last version, until a class is edited`() throws {
    try settle()
    #expect(tool("freeze", "Chat", "--output", "Chat/Models/ChatV2.swift").code == 0)
    #expect(tool("freeze", "Chat").error.contains("Models/ChatV2.swift:6 and Models/Schemas.swift:13"))
    try edit("Models/Schemas.swift", "enum ChatV2: VersionedSchema", "enum Old")
    #expect(tool("freeze", "Chat").output.contains("ChatV2 (Models/ChatV2.swift:6) is frozen already"))
  }

  @Test func `the first version of an app without any is fixed under its own name`() throws {
    try Data(
      "import SwiftData\n@Model final class Crate { var code = \"\"; init() {} }\nlet c = try ModelContainer(for: Crate.self)\n"
        .utf8
    ).write(to: directory.file("Crates.swift"))
    let json = try tool("freeze", "Crates.swift", "--history", "Released", "--json").json()
    #expect(json["name"] as? String == "SchemaV1" && json["path"] as? String == directory.file("SchemaV1.swift").path)
    #expect(try VersionLock(path: directory.file("Released/lock.json").path).versions.map(\.name) == ["SchemaV1"])
  }

  @Test func `a snapshot is frozen with the classes that its model has`() throws {
    try settle()
    let snapshot = ModelSnapshot(
      model: try ManagedObjectModel(entities: [Make.entity("Crate", [Make.attribute("code")])]))
    try Data(snapshot.bytes(.readable)).write(to: directory.file("Crates.json"))
    let outcome = tool("freeze", "Crates.json", "--name", "CratesV1", "--stage", "custom")
    #expect(outcome.code == 0 && outcome.output.contains("willMigrate: { context in"), "\(outcome)")
    #expect(try text("CratesV1.swift").contains("    var code: String?\n"))
  }
}
