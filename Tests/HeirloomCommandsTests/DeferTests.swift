import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

struct DeferTests {
  @Test func `clean-up is left, told, and done by a run without the flag`() throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory)
    let model = try Notebook.write(Notebook.dropping(), "Dropping", in: directory)
    let tool = Tool(directory: directory.url)
    func texts(_ name: String, _ arguments: String...) throws -> [String]? {
      let outcome = tool.run(arguments + ["--json"])
      #expect(outcome.code == 0, "\(outcome.output)")
      return try outcome.json()[name] as? [String]
    }
    #expect(try texts("deferred", "plan", "Notebook.sqlite", "--to", model, "--accept-losses") == [])
    let planned = try #require(
      try texts("deferred", "plan", "Notebook.sqlite", "--to", model, "--accept-losses", "--defer"))
    #expect(planned.contains("the column ZNOTE.ZMOOD"))
    #expect(
      try texts("deferred", "rehearse", "Notebook.sqlite", "--to", model, "--accept-losses", "--defer") == planned)
    let migrated = tool("migrate", "Notebook.sqlite", "--to", model, "--accept-losses", "--defer")
    #expect(migrated.code == 0 && migrated.output.contains("the column ZNOTE.ZMOOD"), "\(migrated.output)")

    let bytes = StoreBytes(of: store)
    for command in ["inspect", "doctor"] {
      #expect(try texts("deferred", command, "Notebook.sqlite") == planned)
      #expect(tool(command, "Notebook.sqlite").output.contains("  left "))
    }
    let left = tool("plan", "Notebook.sqlite", "--to", model)
    #expect(left.code == 0 && left.output.contains("nothing to do but to clean up"), "\(left.output)")
    #expect(left.output.contains("the column ZNOTE.ZMOOD"))
    let snapshot = "\(store.path).heirloom/model.json.gz"
    #expect(tool("doctor", "Notebook.sqlite").output.contains("Notebook.sqlite --to \(snapshot)"))
    let verified = tool("verify", "Notebook.sqlite")
    #expect(verified.code == 0 && verified.output.contains("ZNOTE.ZMOOD"), "\(verified.output)")
    #expect(try texts("deferred", "migrate", "Notebook.sqlite", "--to", model, "--accept-losses", "--defer") == planned)
    #expect(StoreBytes(of: store) == bytes)

    if LongTests.areOn {
      // Another process writes: nothing is done, and the store stays in place.
      let holder = try Connection(path: store.path, mode: .readWrite)
      try holder.execute("BEGIN IMMEDIATE")
      let held = tool("migrate", "Notebook.sqlite", "--to", model, "--accept-losses", "--json")
      #expect(held.code == 4)
      #expect(try held.failure()["storeAt"] as? String == store.path)
      try holder.execute("ROLLBACK")
      try holder.close()
    }

    #expect(try texts("cleanedUp", "migrate", "Notebook.sqlite", "--to", model, "--accept-losses") == planned)
    #expect(try texts("cleanedUp", "migrate", "Notebook.sqlite", "--to", model, "--accept-losses") == [])
    #expect(try texts("deferred", "inspect", "Notebook.sqlite") == [])
    #expect(tool("plan", "Notebook.sqlite", "--to", model).output.contains(": nothing to do."))
    #expect(tool("verify", "Notebook.sqlite").output.contains("no findings"))
    #expect(tool("help", "migrate").output.contains("--defer  "))
  }
}
