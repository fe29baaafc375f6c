import Foundation
import Heirloom
import TestSupport
import Testing

/// A small app's folder of Swift source: two schemas with a plan, and things that nobody can know.
enum ChatSource {
  static let files = [
    "Models/Schemas.swift": """
    import SwiftData

    enum ChatV1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Chat.self] }

      @Model final class Chat {
        var topic: String
        init(topic: String) { self.topic = topic }
      }
    }

    enum ChatV2: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [Chat.self, Message.self] }
    }
    """,
    "Models/Chat.swift": """
    import SwiftData

    @Model final class Chat {
      @Attribute(.unique) var topic: String = ""
      @Relationship(deleteRule: .cascade, inverse: \\Message.chat) var messages: [Message] = []
      init() {}
    }

    @Model final class Message {
      var text: String
      var link: URL?
      var chat: Chat?
      init(text: String) { self.text = text }
    }
    """,
    "App.swift": """
    import SwiftData

    enum ChatPlan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [ChatV1.self, ChatV2.self] }
      static var stages: [MigrationStage] { [.lightweight(fromVersion: ChatV1.self, toVersion: ChatV2.self)] + more() }
    }
    let container = try! ModelContainer(for: Chat.self, migrationPlan: ChatPlan.self)
    let preview = try! ModelContainer(for: Chat.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    """,
    "Tests/Broken.swift": "func f() { \"not closed }\n",
    "Pods/Other/Chat.swift": "@Model class Chat {}\n",
  ]

  static func write(in folder: URL) throws {
    for (name, text) in files {
      let file = folder.appendingPathComponent(name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
  }
}

struct SwiftInspectionTests {
  private static func tool() throws -> (TemporaryDirectory, Tool) {
    let directory = try TemporaryDirectory()
    try ChatSource.write(in: directory.file("Chat"))
    return (directory, Tool(directory: directory.url))
  }

  /// Made by hand as the published rules say.
  private static func hash(_ entities: [EntityDescription], _ name: String) throws -> String? {
    try ManagedObjectModel(entities: entities).versionHashes()[name]?.description
  }

  @Test func `a folder's schemas are shown with the hashes that are certain, and the rest by name`() throws {
    let (directory, tool) = try Self.tool()
    defer { withExtendedLifetime(directory) {} }
    let json = try tool("inspect", "Chat", "--json").json()
    #expect(json["kind"] as? String == "swiftSource" && json["files"] as? Int == 4)
    #expect(json["passedOver"] as? [String] == ["Pods"])
    let schemas = try #require(json["schemas"] as? [[String: Any]])
    #expect(schemas.map { $0["name"] as? String } == ["ChatV1", "ChatV2", "ModelContainer"])
    #expect(schemas.map { $0["isCertain"] as? Bool } == [true, false, false])
    #expect(schemas[2]["place"] as? String == "App.swift:7" && schemas[2]["alsoAt"] as? [String] == ["App.swift:8"])

    var first = Make.entity("Chat", [AttributeDescription(name: "topic", type: .string)])
    first.attributes[0].isOptional = false
    let chats = try #require(schemas[0]["entities"] as? [String: [String: Any]])
    #expect(try chats["Chat"]?["hash"] as? String == Self.hash([first], "Chat"))

    var second = first
    second.uniquenessConstraints = [["topic"]]
    var messages = RelationshipDescription(name: "messages", destinationEntity: "Message")
    (messages.maxCount, messages.isOptional, messages.inverseRelationship) = (0, false, "chat")
    second.relationships = [messages]
    var message = EntityDescription(name: "Message")
    let chat = Make.toOne("chat", "Chat", "messages")
    message.relationships = [chat]
    let entities = try #require(schemas[1]["entities"] as? [String: [String: Any]])
    #expect(try entities["Chat"]?["hash"] as? String == Self.hash([second, message], "Chat"))
    let doubts = try #require(entities["Message"]?["doubts"] as? [[String: Any]])
    #expect(entities["Message"]?["hash"] == nil)
    #expect(doubts.map { $0["property"] as? String } == ["link"])
    #expect(doubts.map { $0["place"] as? String } == ["Models/Chat.swift:11"])

    let plan = try #require((json["plans"] as? [[String: Any]])?.first)
    #expect(plan["schemas"] as? [String] == ["ChatV1", "ChatV2"])
    let faults = try #require(json["faults"] as? [[String: Any]]).compactMap { $0["place"] as? String }
    #expect(faults == ["Tests/Broken.swift:1", "App.swift:5"])
  }

  @Test func `a schema is named by hand, and folders are left out`() throws {
    let (directory, tool) = try Self.tool()
    defer { withExtendedLifetime(directory) {} }
    let json = try tool("inspect", "Chat", "--root", "ChatV1", "--exclude", "Tests", "--json").json()
    let schemas = try #require(json["schemas"] as? [[String: Any]])
    #expect(schemas.map { $0["name"] as? String } == ["ChatV1"])
    #expect(json["passedOver"] as? [String] == ["Pods", "Tests"])
    let classes = try tool("inspect", "Chat", "--root", "Message", "--root", "Gone", "--json").json()
    let root = try #require((classes["schemas"] as? [[String: Any]])?.first)
    // What a class refers to belongs to the schema.
    #expect((root["entities"] as? [String: Any])?.keys.sorted() == ["Chat", "Message"])
    #expect(root["isCertain"] as? Bool == false)
    #expect(tool("inspect", "Chat", "--root", "Gone").output.contains("no file that was read declares \"Gone\""))
    #expect(tool("inspect", "Chat/Models/Chat.swift").output.contains("name what the app lists by --root"))
  }

  @Test func `a folder without Swift files and without models is what it was`() throws {
    let (directory, tool) = try Self.tool()
    try FileManager.default.createDirectory(at: directory.file("Empty/Pods"), withIntermediateDirectories: true)
    try Data("let x = 1\n".utf8).write(to: directory.file("Empty/Pods/X.swift"))
    let outcome = tool("inspect", "Empty")
    #expect(outcome.code == 1)
    #expect(outcome.error.contains("expected a store, a model, a compiled model, a snapshot or Swift source"))
    #expect(tool("inspect", "Chat/Gone.swift").code == 1)
    // A folder may have a file's ending, and what --exclude misspells is told.
    try ChatSource.write(in: directory.file("Chat.swift"))
    let misspelt = try tool("inspect", "Chat.swift", "--exclude", "Test", "--exclude", "./Tests/", "--json").json()
    #expect(misspelt["files"] as? Int == 3)
    let reasons = try #require(misspelt["faults"] as? [[String: Any]]).compactMap { $0["reason"] as? String }
    #expect(reasons.filter { $0.contains("--exclude") }.count == 1 && reasons[0].contains("\"Test\""))
  }
}
