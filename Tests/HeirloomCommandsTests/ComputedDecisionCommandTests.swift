import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Expressions on the command line that give each row a value of its own.
struct ComputedDecisionCommandTests: ModelMaking {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var history: String { directory.file("History").path }

  private func tool(_ arguments: String...) -> Tool.Outcome {
    Tool(directory: directory.url).run(arguments)
  }

  private func fix(_ version: Int, _ model: ManagedObjectModel) throws {
    let snapshot = try Notebook.write(model, "\(version)", in: directory)
    #expect(tool("snapshot", snapshot, "--history", history).code == 0)
  }

  private static func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      entity("Invoice", [attribute("title")] + attributes)
    ])
  }

  private func makeStore(_ name: String, _ model: ManagedObjectModel) throws -> URL {
    let url = directory.file(name)
    try PersistentStore.make(at: url, model: model) { context in
      for amount in ["3", "x", "-5"] {
        let invoice = try context.insert("Invoice")
        invoice["title"] = .string("of \(amount)")
        invoice["amount"] = .string(amount)
      }
    }
    return url
  }

  private static let text = attribute("amount", .string)

  @Test func `a type changes by an expression in the lock, for app and tool, over one more release`() throws {
    let first = try Self.model([Self.text])
    try fix(1, first)
    try fix(2, Self.model([Self.attribute("amount", .integer64)]))
    #expect(tool("check", history).code == 6)
    let decided = tool(
      "check", history, "--decide", "Invoice.amount=fill:=CAST(amount, \"NSNumber\")", "--decide",
      "Invoice.amount=quarantine")
    #expect(decided.code == 0, "\(decided.output)\(decided.error)")
    #expect(tool("check", history).code == 0)
    for version in 2...3 {
      if version == 3 {
        try fix(
          3,
          Self.model([
            Self.attribute("amount", .integer64),
            Self.attribute("more", .string),
          ]))
        let again = tool("check", history)
        #expect(again.code == 0, "\(again.output)\(again.error)")
      }
      for isTool in [true, false] {
        let url = try makeStore("\(version)-\(isTool).sqlite", first)
        if isTool {
          let run = tool("migrate", url.path, "--to", history)
          #expect(run.code == 0, "\(run.output)\(run.error)")
        } else {
          let assistant = MigrationAssistant(url, try ModelHistory(contentsOf: URL(fileURLWithPath: history)))
          guard case .migrated(let report) = try assistant.migrateStore() else {
            Issue.record("not migrated")
            continue
          }
          #expect(report.plan.decisions.map(\.quarantined).reduce(0, +) == 1)
        }
        let connection = try Connection(reading: url)
        let rows = try connection.rows("SELECT ZTITLE, ZAMOUNT FROM ZINVOICE ORDER BY Z_PK")
        #expect(rows == [[.text("of 3"), .integer(3)], [.text("of -5"), .integer(-5)]])
        try connection.close()
      }
    }
  }

  @Test func `identifiers and times are given row by row, for texts too`() throws {
    let first = try Self.model([Self.text])
    let second = try Self.model([
      Self.text, Self.attribute("key", .uuid, optional: false), Self.attribute("name", .string, optional: false),
      Self.attribute("made", .date, optional: false), Self.attribute("twice", .double, optional: false),
    ])
    let url = try makeStore("Store.sqlite", first)
    let models = [try Notebook.write(first, "1", in: directory), try Notebook.write(second, "2", in: directory)]
    let decisions = ["key=fill:uuid()", "name=fill:uuid()", "made=fill:now()", "twice=fill:$source.title.length * 2.5"]
    let run = Tool(directory: directory.url).run(
      ["migrate", url.path, "--model", models[0], "--to", models[1]]
        + decisions.flatMap { ["--decide", "Invoice.\($0)"] })
    #expect(run.code == 0, "\(run.output)\(run.error)")
    let rows = try Connection(reading: url).rows("SELECT ZKEY, ZNAME, ZMADE, ZTWICE FROM ZINVOICE ORDER BY Z_PK")
    #expect(Set(rows.map { $0[0] }).count == 3 && Set(rows.compactMap { $0[1].text.flatMap(UUID.init) }).count == 3)
    #expect(rows.map { $0[3] } == [.real(10), .real(10), .real(12.5)])
    let now = Date().timeIntervalSinceReferenceDate
    #expect(rows.allSatisfy { if case .real(let time) = $0[2] { abs(time - now) < 300 } else { false } })
  }

  @Test(arguments: [
    ("title=fill:lowercase:(amount)", "fill:=lowercase:(amount)"), ("title=fill:=lower(", "an expression after fill:="),
    ("count=fill:=many", "no property \"many\""), ("count=fill:many", "a value of the type Integer 32"),
    ("count=fill:title - 1", "a value of the type Integer 32"),
  ]) func `what may be a text or an expression is asked, and what is neither is told`(decision: String, words: String)
    throws
  {
    let first = try Self.model([Self.text])
    let url = try makeStore("Store.sqlite", first)
    let later = try Self.model([Self.text, Self.attribute("count", .integer32, optional: false)])
    let models = [try Notebook.write(first, "1", in: directory), try Notebook.write(later, "2", in: directory)]
    let run = tool("plan", url.path, "--model", models[0], "--to", models[1], "--decide", "Invoice.\(decision)")
    #expect(run.code != 0 && run.error.contains(words), "\(run.error)")
  }

  @Test func `a required link gets new objects by the lock, and the trial counts them`() throws {
    let place = Self.entity("Place", [Self.attribute("title", value: .string("home"))])
    let first = try ManagedObjectModel(entities: [Self.entity("Tag", [Self.attribute("name")]), place])
    let second = try ManagedObjectModel(entities: [
      Self.entity("Tag", [Self.attribute("name")], [Self.toOne("place", "Place", optional: false)]), place,
    ])
    try fix(1, first)
    try fix(2, second)
    let before = tool("check", history)
    #expect(before.code == 6)
    let decided = tool("check", history, "--decide", "Tag.place=new:Place")
    #expect(decided.code == 0, "\(decided.output)\(decided.error)")
    let url = directory.file("Store.sqlite")
    try PersistentStore.make(at: url, model: first) { context in
      for _ in 0..<3 { _ = try context.insert("Tag") }
    }
    let run = tool("migrate", url.path, "--to", history)
    #expect(run.code == 0 && run.output.contains("3 rows filled"), "\(run.output)\(run.error)")
    #expect(try Connection(reading: url).firstInteger("SELECT COUNT(DISTINCT ZPLACE) FROM ZTAG") == 3)
  }

  @Test func `what an expression of a later step leaves is decided as it is printed`() throws {
    let first = try Self.model([Self.text])
    let needed = Self.attribute("needed", .string, optional: false)
    try fix(1, first)
    try fix(2, Self.model([Self.text, needed]))
    #expect(tool("check", history, "--decide", "Invoice.needed=fill:none").code == 0)
    try fix(3, Self.model([Self.attribute("amount", .integer64), needed]))
    _ = tool("check", history, "--decide", "Invoice.amount=fill:=CAST(amount, \"NSNumber\")")
    let refused = tool("migrate", try makeStore("refused.sqlite", first).path, "--to", history)
    let printed = Set(refused.error.matches(of: /--decide (Invoice\.amount=\S+)/).map { String($0.1) })
    #expect(refused.code == 3 && printed.contains("Invoice.amount=quarantine"), "\(refused.error)")
    for (number, choice) in printed.sorted().enumerated() {
      let url = try makeStore("\(number).sqlite", first)
      // A value in place of a text that is no number loses the text, which is asked.
      let run = tool("migrate", url.path, "--to", history, "--decide", choice, "--accept-losses")
      #expect(run.code == 0, "\(choice): \(run.output)\(run.error)")
    }
  }
}
