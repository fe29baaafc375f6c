import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Decisions that give each row without a required link a new object.
struct NewLinkDecisionTests {
  enum Inverse: String, CaseIterable {
    case none, toOne, toMany, ordered
  }

  private static func model(_ inverse: Inverse, link: Bool, required: Bool) throws -> ManagedObjectModel {
    let tag = Make.entity(
      "Tag", [Make.attribute("name")],
      link ? [Make.toOne("place", "Place", inverse == .none ? nil : "tags", optional: !required)] : [])
    let back: [RelationshipDescription] =
      switch inverse {
      case .none: []
      case .toOne: [Make.toOne("tags", "Tag", "place")]
      case .toMany: [Make.toMany("tags", "Tag", "place")]
      case .ordered: [Make.toMany("tags", "Tag", "place", ordered: true)]
      }
    return try ManagedObjectModel(entities: [
      tag, Make.entity("SubTag", [], parent: "Tag"),
      Make.entity("Place", [Make.attribute("title", value: .string("home"))], link ? back : []),
      Make.entity("SubPlace", [], parent: "Place"),
    ])
  }

  @Test(arguments: Inverse.allCases, [true, false])
  func `rows without a link get an object each, and others keep theirs`(inverse: Inverse, isNew: Bool) throws {
    for builder in [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)] {
      let directory = try TemporaryDirectory()
      let url = directory.file("Store.sqlite")
      let source = try Self.model(inverse, link: !isNew, required: false)
      let destination = try Self.model(inverse, link: true, required: true)
      let store = try PersistentStore.create(at: url, model: source)
      let context = ManagedObjectContext(store: store)
      for index in 0..<2500 {
        let tag = try context.insert(index % 5 == 4 ? "SubTag" : "Tag")
        tag["name"] = .string("tag \(index)")
        guard !isNew, index % 3 == 0 else { continue }
        let place = try context.insert(index % 2 == 0 ? "Place" : "SubPlace")
        place["title"] = .string("place \(index)")
        tag[toOne: "place"] = place
      }
      try context.save()
      try store.close()
      let places = try rows(url, "SELECT Z_PK, Z_ENT, ZTITLE FROM ZPLACE ORDER BY Z_PK")
      let links = isNew ? [] : try rows(url, "SELECT Z_PK, ZPLACE FROM ZTAG WHERE ZPLACE NOT NULL ORDER BY Z_PK")
      let lacking = Int64(2500 - links.count)
      let decision = DataDecision(entity: "Tag", property: "place", .link(newObjectOf: "SubPlace"))
      let assistant = DataDecisionTests.assistant(url, source, destination, [decision], builder: builder)
      let plan = try #require(try assistant.plan())
      #expect(plan.blockers.isEmpty && plan.decisions.map(\.filled) == [lacking])
      let report = try assistant.migrate()
      #expect(report.plan.rows.first { $0.entity == "SubPlace" }?.after == lacking + Int64(links.count / 2))
      #expect(try rows(url, "SELECT COUNT(*) FROM ZTAG WHERE ZPLACE IS NULL") == [[.integer(0)]])
      #expect(try rows(url, "SELECT COUNT(*), COUNT(DISTINCT ZPLACE) FROM ZTAG") == [[.integer(2500), .integer(2500)]])
      let numbers = try rows(url, "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'SubPlace'")
      let made = try rows(
        url, "SELECT Z_ENT, ZTITLE, COUNT(*) FROM ZPLACE WHERE Z_PK > \(places.count) GROUP BY 1, 2")
      #expect(made == [[numbers[0][0], .text("home"), .integer(lacking)]])
      if !isNew {
        let kept = try rows(
          url, "SELECT Z_PK, ZPLACE FROM ZTAG WHERE ZPLACE <= \(places.count) ORDER BY Z_PK")
        #expect(kept == links)
      }
      if inverse == .toOne {
        let wrong = "SELECT COUNT(*) FROM ZTAG t JOIN ZPLACE p ON p.Z_PK = t.ZPLACE WHERE p.ZTAGS IS NOT t.Z_PK"
        #expect(try rows(url, wrong) == [[.integer(0)]])
      }
      #expect(
        try rows(url, "SELECT MAX(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Place'")
          == rows(url, "SELECT MAX(Z_PK) FROM ZPLACE"))
      #expect(try DataDecisionTests.faults(url) == [])
      // One more release, with the decision still there.
      var later = destination.entities
      later[0].attributes.append(Make.attribute("more"))
      let next = DataDecisionTests.assistant(url, destination, try ManagedObjectModel(entities: later), [decision])
      let second = try next.migrate()
      #expect(second.plan.decisions.map(\.filled) == [0])
      #expect(try rows(url, "SELECT COUNT(*) FROM ZPLACE") == [[.integer(Int64(places.count) + lacking)]])
    }
  }

  /// An attribute that new places lack: a plain one, or a composite with a required element.
  private static var missing: [AttributeDescription] {
    var size = Make.attribute("needed", .composite, optional: false)
    size.composite = CompositeAttributeDescription(elements: [Make.attribute("width", .integer64, optional: false)])
    return [Make.attribute("needed", optional: false), size]
  }

  @Test(arguments: missing.indices)
  func `an object that would be invalid, or of another entity, is refused`(index: Int) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let source = try Self.model(.none, link: false, required: false)
    var entities = try Self.model(.none, link: true, required: true).entities
    let place = try #require(entities.firstIndex { $0.name == "Place" })
    entities[place].attributes.append(Self.missing[index])
    let destination = try ManagedObjectModel(entities: entities)
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
    try context.insert("Tag")["name"] = .string("a")
    try context.save()
    for (name, word) in [
      ("Place", "needed"), ("Tag", "has no destination entity"), ("Nothing", "has no destination entity"),
    ] {
      let decision = DataDecision(entity: "Tag", property: "place", .link(newObjectOf: name))
      let error = #expect(throws: MigrationAssistantError.self, "\(name)") {
        try DataDecisionTests.assistant(url, source, destination, [decision]).plan()
      }
      #expect("\(try #require(error))".contains(word))
    }
  }

  private func rows(_ url: URL, _ sql: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(reading: url)
    defer { try? connection.close() }
    return try connection.rows(sql)
  }
}
