import Foundation
import Heirloom
import TestSupport
import Testing

/// The advice about a store that several steps lie before.
struct SeveralStepsAdviceTests: ModelMaking {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }
  private var history: String { directory.file("History").path }

  init() throws { directory = try TemporaryDirectory() }

  /// The second of the three versions drops an attribute; the store is of the first, with one
  /// object.
  private func prepare(last: [AttributeDescription], value: String = "12") throws -> URL {
    let first = [Self.attribute("number"), Self.attribute("mood"), Self.attribute("title")]
    for (number, attributes) in [first, [first[0], first[2]], last].enumerated() {
      let model = try ManagedObjectModel(entities: [Self.entity("Note", attributes)])
      let path = try Notebook.write(model, "\(number + 1)", in: directory)
      #expect(tool("snapshot", path, "--history", history).code == 0)
    }
    let url = directory.file("Store.sqlite")
    try PersistentStore.make(at: url, model: ManagedObjectModel(entities: [Self.entity("Note", first)])) { context in
      let note = try context.insert("Note")
      for name in ["number", "mood", "title"] { note[name] = .string(value) }
    }
    return url
  }

  @Test(arguments: [
    [attribute("number")], [attribute("number", .integer64), attribute("title")],
  ])
  func `the skeleton is that of the step that needs it`(_ last: [AttributeDescription]) throws {
    let store = try prepare(last: last)
    _ = tool("check", history, "--acknowledge", "Note.mood")
    let refusal = tool("migrate", store.path, "--to", history)
    #expect(refusal.code == 3)
    let command = try #require(
      PrintedCommand.all(in: refusal.output + refusal.error).first { $0.words.contains("--skeleton") },
      "\(refusal.output)\(refusal.error)")
    let skeleton = tool.run(command.words)
    #expect(skeleton.code == 0)
    #expect(skeleton.output.contains("try step(from: \"2\", to: \"3\")"), "\(skeleton.output)")
    #expect(!skeleton.output.contains("mood"), "\(skeleton.output)")
  }

  @Test func `below the floor nothing is to be decided`() throws {
    let store = try prepare(last: [Self.attribute("number", .integer64), Self.attribute("title")])
    #expect(tool("squash", history, "--floor", "2").code == 0)
    let plan = tool("plan", store.path, "--to", history)
    #expect(plan.code == 5 && plan.output.contains("from \"1\" to \"3\""), "\(plan.output)\(plan.error)")
    #expect(!plan.output.contains("--decide") && !plan.output.contains("stands in the way"), "\(plan.output)")
  }

  @Test func `values that the decided expression can't read are lost, and their attribute isn't gone`() throws {
    let store = try prepare(
      last: [Self.attribute("number", .integer64, optional: false), Self.attribute("title")], value: "a few")
    let words = "uses only some values of \"Note.number\"; the others are lost."
    let check = tool(
      "check", history, "--acknowledge", "Note.mood", "--decide", "Note.number=fill:=CAST(number, \"NSNumber\")",
      "--decide", "Note.number=fill:0", "--json")
    let findings = try #require(try check.json()["findings"] as? [[String: Any]])
    let messages = findings.map(\.sentences).filter { $0.contains("Note.number") }
    #expect(check.code == 6 && messages.contains { $0.contains(words) }, "\(messages)")
    #expect(!messages.contains { $0.contains("is removed") }, "\(messages)")
    let plan = tool("plan", store.path, "--to", history)
    let lines = plan.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(plan.code == 3 && lines.contains(words), "\(plan.output)")
    #expect(!lines.contains("\"Note.number\" is removed"), "\(plan.output)")
    #expect(tool("check", history, "--acknowledge", "Note.number").code == 0)
    #expect(tool("migrate", store.path, "--to", history).code == 0)
  }

  @Test func `the command that a history prints acknowledges nothing that a rename would keep`() throws {
    func model(_ name: String) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Self.entity("Item", [Self.attribute("n")], [Self.toMany("tags", name, "items")]),
        Self.entity(name, [Self.attribute("t"), Self.attribute("d", .date)], [Self.toMany("items", "Item", "tags")]),
      ])
    }
    for (number, name) in ["Tag", "Label"].enumerated() {
      let path = try Notebook.write(model(name), "\(number + 1)", in: directory)
      #expect(tool("snapshot", path, "--history", history).code == 0)
    }
    let table = tool("history", history)
    #expect(table.output.contains("loses Item.tags, Tag") && table.output.contains("a rename?"), "\(table.output)")
    #expect(!table.output.contains("--acknowledge"), "\(table.output)")
    #expect(tool("check", history, "--acknowledge", "Tag").code == 6)
    #expect(tool("history", history).output.contains("--acknowledge Item.tags"))
  }
}
