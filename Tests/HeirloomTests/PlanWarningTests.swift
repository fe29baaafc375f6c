import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

struct PlanWarningTests {
  private func plan(_ before: [EntityDescription], _ after: [EntityDescription]) throws -> MigrationPlan {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    // Identifiers alone need no migration.
    let more = Make.entity("Z", [Make.attribute("new")])
    let source = try ManagedObjectModel(entities: before)
    let destination = try ManagedObjectModel(entities: after + [more])
    try StoreGenerator.makeStore(at: store, model: source, objects: 9, seed: 2)
    let assistant = MigrationAssistant(store, from: source, to: destination)
    let plan = try #require(try assistant.plan())
    withExtendedLifetime(directory) {}
    return plan
  }

  @Test(arguments: ["A", "C"]) func `values dropped although there is a property of their name are pointed out`(
    owner: String
  ) throws {
    let children = [Make.entity("C", [], parent: "A")]
    func model(id: String?) -> [EntityDescription] {
      let color = Make.attribute("color", id: id)
      return owner == "A"
        ? [Make.entity("A", [color])] + children
        : [Make.entity("A", []), Make.entity("C", [color], parent: "A")]
    }
    let warnings = try plan(model(id: nil), model(id: "hue")).warnings
    #expect(warnings.count == 1)
    #expect(warnings.first?.contains("values of \"\(owner).color\" are dropped although \"\(owner)\" has") == true)
    #expect(warnings.first?.contains("\"hue\"") == true)
    // This one lost the identifier that it had.
    #expect(try plan(model(id: "hue"), model(id: nil)).warnings.count == 1)
  }

  @Test func `links dropped although there is a relationship of their name are pointed out`() throws {
    func model(id: String?) -> [EntityDescription] {
      [Make.entity("A", [], [Make.toOne("b", "B", id: id)]), Make.entity("B", [Make.attribute("x")])]
    }
    let warnings = try plan(model(id: nil), model(id: "other")).warnings
    #expect(warnings.count == 1)
    #expect(warnings.first?.contains("\"A.b\"") == true)
  }

  @Test func `nothing is pointed out of what is gone, transient or goes on`() throws {
    let before = [Make.entity("A", [Make.attribute("x"), Make.attribute("y"), Make.attribute("z")])]
    let after = [
      Make.entity("A", [Make.attribute("w", id: "x"), Make.attribute("y", transient: true), Make.attribute("n")])
    ]
    let plan = try plan(before, after)
    #expect(Set(plan.losses.compactMap(\.property)) == ["y", "z"])
    #expect(plan.warnings == [])
  }
}
