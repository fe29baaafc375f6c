import Foundation
import Heirloom
import TestSupport
import Testing

/// An attribute that one version adds as required without a default, and a later one of the same hashes gives one.
struct AddedDefaultTests {
  private static func model(_ attributes: AttributeDescription...) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [Make.entity("Note", [Make.attribute("title")] + attributes)])
  }

  @Test(arguments: [true, false])
  func `rows get the last version's default, whether the history has the one between or not`(
    hasBetween: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let first = try Self.model()
    let second = try Self.model(Make.attribute("kind", optional: false))
    let third = try Self.model(Make.attribute("kind", optional: false, value: .string("x")))
    #expect(second.versionHashes() == third.versionHashes())
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: first))
    try context.insert("Note")["title"] = .string("a")
    try context.save()
    try context.store.close()
    let assistant = MigrationAssistant(
      url,
      ModelHistory(
        current: third, name: "3", earlier: [("1", first)] + (hasBetween ? [("2", second)] : [])))
    try assistant.migrate()
    let connection = try Connection(reading: url, options: .inspecting)
    #expect(try connection.rows("SELECT ZTITLE, ZKIND FROM ZNOTE") == [[.text("a"), .text("x")]])
  }
}
