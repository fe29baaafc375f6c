import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

/// `heirloom check --cloudkit`: each rule of CloudKit has a model that breaks it and one that keeps it.
struct CloudKitRulesTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  /// Notes with optional texts and a folder, which CloudKit can mirror.
  private static func entities() -> [EntityDescription] {
    var note = EntityDescription(name: "Note")
    var (text, size) = (
      AttributeDescription(name: "text", type: .string), AttributeDescription(name: "size", type: .integer32)
    )
    text.isOptional = true
    size.defaultValue = .integer(0)
    let folder = Make.toOne("folder", "Folder", "notes")
    (note.attributes, note.relationships) = ([text, size], [folder])
    let notes = Make.toMany("notes", "Note", "folder")
    let owner = Make.entity("Folder", [], [notes])
    return [note, owner]
  }

  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Severity, kind, entity and property of the findings, several separated by `|`; empty for none.
    let finding: String
    let words: String
    var configurations: [ConfigurationDescription] = []
    let make: @Sendable (inout EntityDescription, inout EntityDescription) -> Void

    init(
      _ description: String, _ finding: String, _ words: String = "", configurations: [ConfigurationDescription] = [],
      _ make: @escaping @Sendable (inout EntityDescription, inout EntityDescription) -> Void
    ) {
      (testDescription, self.finding, self.words, self.configurations, self.make) =
        (description, finding, words, configurations, make)
    }

    func model() throws -> ManagedObjectModel {
      var entities = CloudKitRulesTests.entities()
      var (note, folder) = (entities[0], entities[1])
      make(&note, &folder)
      entities = [note, folder].filter { !$0.name.isEmpty }
      return try ManagedObjectModel(entities: entities, configurations: configurations)
    }
  }

  private func write(_ model: ManagedObjectModel, _ name: String) throws {
    let file = try Notebook.write(model, name, in: directory)
    let result = tool("snapshot", file, "--history", directory.file("History").path)
    try #require(result.code == 0)
  }

  private func check(_ options: String...) throws -> (code: Int32, findings: [[String: Any]]) {
    let outcome = tool.run(["check", directory.file("History").path, "--json", "--objects", "3"] + options)
    let findings = try #require(try outcome.json()["findings"] as? [[String: Any]])
    return (outcome.code, findings.filter { ($0["rule"] as? String)?.hasPrefix("cloudkit") == true })
  }

  private func line(_ finding: [String: Any]) -> String {
    ["severity", "rule", "entity", "property"].compactMap { finding[$0] as? String }.joined(separator: " ")
  }

  private static let model = "error cloudkit-model"

  static let faults: [Change] = [
    Change("a uniqueness constraint", "\(model) Note text", "uniqueness constraint (text)") { note, _ in
      note.uniquenessConstraints = [["text"]]
    },
    Change("a constraint of two", "\(model) Note", "uniqueness constraint (text, size)") { note, _ in
      note.uniquenessConstraints = [["text", "size"]]
    },
    Change("an attribute of no type", "\(model) Note text", "the type Undefined") { note, _ in
      note.attributes[0].type = .undefined
      note.attributes[0].isTransient = true
    },
    Change("a required attribute without a default", "\(model) Note size", "required and has no default") { note, _ in
      note.attributes[1].defaultValue = nil
    },
    Change("a required relationship", "\(model) Note folder", "is required") { note, _ in
      note.relationships[0].isOptional = false
    },
    Change("a relationship without an inverse", "\(model) Note other", "has no inverse") { note, _ in
      let other = Make.toOne("other", "Folder")
      note.relationships.append(other)
    },
    Change("an ordered relationship", "\(model) Folder notes", "is ordered") { _, folder in
      folder.relationships[0].isOrdered = true
    },
    Change("a deletion that is denied", "\(model) Folder notes", "denies deletion") { _, folder in
      folder.relationships[0].deleteRule = .deny
    },
    Change(
      "a relationship out of a configuration", "\(model) Note folder", "out of the configuration \"Cloud\"",
      configurations: [ConfigurationDescription(name: "Cloud", entityNames: ["Note"])]
    ) { _, _ in },
  ]

  @Test(arguments: faults) func `a model that can't be mirrored is an error, once mended it is none`(
    change: Change
  ) throws {
    try write(change.model(), "A")
    let broken = try check("--cloudkit")
    #expect(broken.findings.map(line).contains(change.finding), "\(broken.findings)")
    #expect(broken.findings.contains { $0.sentences.contains(change.words) })
    #expect(broken.code == 6)
    #expect(try check().findings.isEmpty)

    try FileManager.default.removeItem(at: directory.file("History"))
    try write(ManagedObjectModel(entities: Self.entities()), "A")
    let mended = try check("--cloudkit")
    #expect(mended.findings.isEmpty && mended.code == 0, "\(mended.findings)")
  }

  private static let schema = "error cloudkit-schema"

  static let changes: [Change] = [
    Change("an entity that is gone", "\(schema) Folder|\(schema) Note folder", "is removed") { note, folder in
      folder.name = ""
      note.relationships = []
    },
    Change("an entity of another name", "\(schema) Folder", "now called \"Box\"") { note, folder in
      (folder.name, folder.renamingIdentifier) = ("Box", "Folder")
      note.relationships[0].destinationEntity = "Box"
    },
    Change("an entity under another root", "\(schema) Folder", "of the type CD_Note") { _, folder in
      folder.superentity = "Note"
    },
    Change("an attribute that is gone", "\(schema) Note text", "is removed") { note, _ in note.attributes.removeFirst()
    },
    Change("an attribute of another name", "\(schema) Note text", "now called \"body\"") { note, _ in
      (note.attributes[0].name, note.attributes[0].renamingIdentifier) = ("body", "text")
    },
    Change("an attribute of another type", "\(schema) Note size", "would be a floating-point number") { note, _ in
      note.attributes[1].type = .double
      note.attributes[1].defaultValue = .double(0)
    },
    Change("an attribute that is encrypted now", "\(schema) Note text", "encrypted") { note, _ in
      note.attributes[0].allowsCloudEncryption = true
    },
    Change("an attribute that has no field any more", "\(schema) Note text", "is removed") { note, _ in
      note.attributes[0].isTransient = true
    },
    Change("a relationship of another name", "\(schema) Note folder", "now called \"box\"") { note, folder in
      (note.relationships[0].name, note.relationships[0].renamingIdentifier) = ("box", "folder")
      folder.relationships[0].inverseRelationship = "box"
    },
    Change("a relationship to several", "\(schema) Note folder", "links to several objects") { note, _ in
      note.relationships[0].maxCount = 0
    },
    Change("a wider number is the same field", "") { note, _ in note.attributes[1].type = .integer64 },
    Change("additions", "") { note, folder in
      let text = Make.attribute("title")
      folder.attributes.append(text)
      note.attributes.append(text)
    },
  ]

  @Test(arguments: changes) func `what doesn't only add is an error, additions are none`(change: Change) throws {
    try write(ManagedObjectModel(entities: Self.entities()), "A")
    try write(change.model(), "B")
    let found = try check("--cloudkit", "--by-app", "A")
    #expect(found.findings.map(line) == change.finding.split(separator: "|").map(String.init), "\(found.findings)")
    if !change.finding.isEmpty {
      #expect(
        found.findings.contains { $0.sentences.contains(change.words) }, "\(found.findings)")
    }
    #expect(found.code == (change.finding.isEmpty ? 0 : 6))
  }

  @Test func `a field keeps its type though the property was gone for a while`() throws {
    try write(ManagedObjectModel(entities: Self.entities()), "A")
    try write(Change("", "") { note, _ in note.attributes.removeLast() }.model(), "B")
    try write(
      Change("", "") { note, _ in
        note.attributes[1].type = .string; note.attributes[1].defaultValue = .string("")
      }.model(), "C")
    let found = try check("--cloudkit", "--by-app", "A", "--by-app", "B")
    #expect(found.findings.map(line) == ["error cloudkit-schema Note size", "warning cloudkit-schema Note size"])
    #expect((found.findings[0]["message"] as? String)?.contains("since \"A\"") == true)
  }

  @Test func `a version that was never mirrored binds nobody`() throws {
    try write(Change("", "") { note, _ in note.uniquenessConstraints = [["text"]] }.model(), "A")
    try write(Change("", "") { note, _ in note.attributes.removeFirst() }.model(), "B")
    let found = try check("--cloudkit", "--by-app", "A")
    #expect(found.findings.map(line) == ["note cloudkit-model Note text"])
    #expect(found.code == 0)
  }

  @Test func `entities outside the configuration that is mirrored may be as they like`() throws {
    let local = Make.entity("Local", [AttributeDescription(name: "key", type: .string)], unique: [["key"]])
    let cloud = ConfigurationDescription(name: "Cloud", entityNames: ["Note", "Folder"])
    try write(ManagedObjectModel(entities: Self.entities() + [local], configurations: [cloud]), "A")
    #expect(try check("--cloudkit").findings.count == 2)
    #expect(try check("--cloudkit-configuration", "Cloud").findings.isEmpty)
    let outcome = tool.run(["check", directory.file("History").path, "--cloudkit-configuration", "Clod"])
    #expect(outcome.code == 2)
  }
}
