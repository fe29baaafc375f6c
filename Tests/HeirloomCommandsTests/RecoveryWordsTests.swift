import Foundation
import Heirloom
import TestSupport
import Testing

struct RecoveryWordsTests {
  @Test func `a restoration where no store is says so, and speaks of no earlier run`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    let store = try Notebook.makeStore(in: directory, count: 3)
    let model = try Notebook.write(Notebook.adding(), "Notebook 2", in: directory)
    #expect(tool("migrate", store.path, "--to", model).code == 0)
    let kept = try #require(try StoreArchive(storeURL: store).previousVersions().first)
    try FileManager.default.removeItem(at: store)
    let outcome = tool("restore", store.path)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("Restored \(kept.id)"), "\(outcome.output)")
    #expect(outcome.output.contains("There was no store at \(store.path)"), "\(outcome.output)")
    let all = outcome.output + outcome.error
    #expect(!all.contains("undecided") && !all.contains("settled") && !all.contains("interrupted"), "\(all)")
    #expect(FileManager.default.fileExists(atPath: store.path))
    // Nothing of it is left for a later run to settle.
    #expect(!FileManager.default.fileExists(atPath: store.path + ".heirloom/manifest.json"))
  }

  @Test(arguments: ["rolledBack", "rolledForward", "undecided"])
  func `a recovery is told in words`(operation: String) {
    let words = MigrationEvent.words(ofRecovery: operation)
    #expect(words.hasPrefix("an earlier run was interrupted") && !words.contains(operation))
    #expect(words.contains("undecided") == false && words.last != ".")
  }
}
