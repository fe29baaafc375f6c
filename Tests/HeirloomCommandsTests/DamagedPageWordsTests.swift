import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Sentences on a store of which a page is lost: each comes once, and holds nothing but characters.
struct DamagedPageWordsTests {
  private static func model(adding: Bool = false) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      Make.entity(
        "Item", [Make.attribute("code")] + (adding ? [Make.attribute("more")] : []),
        [Make.toOne("shelf", "Shelf", "items")]),
      Make.entity("Book", parent: "Item"), Make.entity("Disc", parent: "Item"),
      Make.entity("Shelf", [Make.attribute("title")], [Make.toMany("items", "Item", "shelf")]),
    ])
  }

  private func zero(_ page: Int, of url: URL) throws {
    var data = try Data(contentsOf: url)
    data.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(count: 4096))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    try data.write(to: url)
  }

  @Test func `verify and doctor say no sentence twice, and show no escaped character`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    let store = directory.file("Items.sqlite")
    let made = try PersistentStore.create(at: store, model: Self.model())
    let context = ManagedObjectContext(store: made)
    let shelf = try context.insert("Shelf")
    for number in 0..<400 {
      let item = try context.insert(["Item", "Book", "Disc"][number % 3])
      try item.setValue(.string("code \(number)"), forAttribute: "code")
      try item.setObject(shelf, forRelationship: "shelf")
    }
    try context.save()
    try made.connection.execute("PRAGMA journal_mode = DELETE")
    try made.close()
    let whole = try Data(contentsOf: store)
    var faultyCount = 0
    for page in 2...whole.count / 4096 {
      try zero(page, of: store)
      let findings = try tool("verify", store.path, "--json").json()["findings"] as? [[String: Any]] ?? []
      let messages = findings.compactMap { $0["message"] as? String }
      #expect(Set(messages).count == messages.count, "page \(page): \(messages)")
      faultyCount += messages.isEmpty ? 0 : 1
      let told = tool("doctor", store.path).output + tool("verify", store.path).output
      #expect(!told.contains("\\u{") && !told.contains("*** in database"), "page \(page): \(told)")
      try whole.write(to: store)
    }
    #expect(faultyCount > 5)
  }

  @Test func `a kept version that is found unsound is told in one line`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    let store = try Notebook.makeStore(in: directory, count: 900)
    let model = try Notebook.write(Notebook.adding(), "2", in: directory)
    #expect(tool("migrate", store.path, "--to", model).code == 0)
    let kept = try #require(try StoreArchive(storeURL: store).previousVersions().first).storeURL
    let connection = try Connection(path: kept.path, mode: .immutable)
    let page = try #require(
      try connection.firstInteger("SELECT rootpage FROM sqlite_schema WHERE name = 'ZNOTE'"))
    try connection.close()
    try zero(Int(clamping: page), of: kept)
    // The next operation notes what it finds.
    let first = try Notebook.write(Notebook.first(), "1", in: directory)
    #expect(tool("migrate", store.path, "--to", first, "--keep", "3", "--accept-losses").code == 0)
    for words in [["doctor", store.path], ["verify", store.path], ["versions", store.path]] {
      let told = tool.run(words)
      // The list of versions ends with the newest that is sound.
      if words[0] != "versions" { #expect(told.output.contains("unsound"), "\(told)") }
      #expect(!told.output.contains("\\u{") && !told.output.contains("*** in database"), "\(told)")
    }
  }
}
