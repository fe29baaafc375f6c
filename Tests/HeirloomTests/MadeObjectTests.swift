import Foundation
import Heirloom
import TestSupport
import Testing

/// The check of objects that policies make, as at saving, before the new store takes the old one's place.
struct MadeObjectTests {
  /// A policy that makes an entry of each note, and of some notes the fault that the mapping's user info names.
  final class Maker: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let entry = try manager.createDestinationInstance(forSource: source, in: mapping)
      let number = source.objectID?.primaryKey ?? 0
      let context = manager.destinationContext
      for part in 0..<2 {
        let line = try context.insert("Line")
        line["text"] = .string("line \(part)")
        line[toOne: "entry"] = entry
      }
      guard number == 3 else { return }
      switch mapping.userInfo["fault"] {
      case "short text": entry["title"] = .string("x")
      case "no text of a part": try context.insert("Line")[toOne: "entry"] = entry
      case "part of nothing": try context.insert("Line")["text"] = .string("alone")
      case "rule of a part":
        let line = try context.insert("Line")
        line["text"] = .string("far too long a text")
        line[toOne: "entry"] = entry
      case "too many parts":
        for part in 2..<5 {
          let line = try context.insert("Line")
          line["text"] = .string("line \(part)")
          line[toOne: "entry"] = entry
        }
      default: break
      }
    }

    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
      guard destination.objectID?.primaryKey == 3 else { return }
      let boxes = try manager.destinationContext.fetch("Box")
      switch mapping.userInfo["fault"] {
      case "too few parts":
        for line in destination[toMany: "lines"].dropFirst() { try manager.destinationContext.delete(line) }
      case "too many of others":
        for entry in try manager.destinationContext.fetch("Entry").prefix(3) { entry[toOne: "box"] = boxes.first }
      case "empties another's value": boxes.first { $0.objectID?.primaryKey == 3 }?["label"] = nil
      case "empties all", "empties all but mends them": for box in boxes { box["label"] = nil }
      default: break
      }
    }

    override func performCustomValidation(for mapping: EntityMapping, manager: MigrationManager) throws {
      let entries = try manager.destinationContext.fetch("Entry")
      switch mapping.userInfo["fault"] {
      case "mended at last", "broken at last":
        entries.first { $0.objectID?.primaryKey == 3 }?["title"] =
          .string(mapping.userInfo["fault"] == "broken at last" ? "y" : "long enough")
      case "empties all", "empties all but mends them":
        let boxes = try manager.destinationContext.fetch("Box")
        let forgets = mapping.userInfo["fault"] == "empties all"
        for box in forgets ? boxes.dropLast() : boxes[...] { box["label"] = .string("again") }
      default: break
      }
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
      guard mapping.userInfo["fault"] == "broken at the end" else { return }
      try manager.destinationContext.fetch("Entry").first { $0.objectID?.primaryKey == 3 }?["title"] = .string("z")
    }
  }

  private static func ruled(_ name: String, _ rule: String, optional: Bool = false) throws -> AttributeDescription {
    var attribute = Make.attribute(name, optional: optional)
    attribute.validationRules = [ValidationRule(predicate: try PredicateDescription(parsing: rule))]
    return attribute
  }

  private static func counted(
    _ relationship: RelationshipDescription, _ limits: ClosedRange<Int>, optional: Bool = false
  ) -> RelationshipDescription {
    var relationship = relationship
    relationship.minCount = limits.lowerBound
    relationship.maxCount = limits.upperBound
    relationship.isOptional = optional
    return relationship
  }

  private static func models() throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    let box = { (target: String) in
      Make.entity(
        "Box", [Make.attribute("label", optional: false)],
        [counted(Make.toMany("entries", target, "box"), 1...2, optional: true)])
    }
    return (
      try ManagedObjectModel(entities: [
        box("Note"), Make.entity("Note", [Make.attribute("title")], [Make.toOne("box", "Box", "entries")]),
      ]),
      try ManagedObjectModel(entities: [
        box("Entry"),
        Make.entity(
          "Entry", [try ruled("title", "length >= 3")],
          [
            Make.toOne("box", "Box", "entries"), counted(Make.toMany("lines", "Line", "entry"), 2...4),
          ]),
        Make.entity(
          "Line", [try ruled("text", "length <= 10")], [Make.toOne("entry", "Entry", "lines", optional: false)]),
      ])
    )
  }

  private func migrate(fault: String, notes: Int = 5) throws -> MigrationError? {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let (source, destination) = try Self.models()
    try PersistentStore.make(at: store, model: source) { context in
      for number in 1...notes {
        let note = try context.insert("Note")
        note["title"] = .string("note \(number)")
        let box = try context.insert("Box")
        box["label"] = .string("box \(number)")
        note[toOne: "box"] = box
      }
    }
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [
      try MappingInference(
        from: source, to: destination,
        given: [EntityMapping(from: "Note", to: "Entry", policy: Maker.self, userInfo: ["fault": fault])]
      ).mappingModel()
    ]
    let assistant = MigrationAssistant(store, from: source, to: destination, configuration)
    let before = try StoreContents(of: store, model: source)
    do {
      guard case .migrated = try assistant.migrateStore() else {
        Issue.record("expected a migration")
        return nil
      }
      #expect(try StoreContents(of: store, model: destination).objects["Entry"]?.count == notes)
      return nil
    } catch let error as MigrationAssistantError {
      #expect(try StoreContents(of: store, model: source) == before)
      let left = FileManager.default.enumerator(atPath: store.path + ".heirloom")?.allObjects as? [String] ?? []
      #expect(!left.contains { $0.hasPrefix("incoming/") || $0.hasPrefix("previous/") || $0 == "manifest.json" })
      guard case .failed(_, let failure) = error else { throw error }
      return failure
    }
  }

  @Test(
    arguments: [
      ("short text", "Entry", 3, .invalidValue(entity: "Entry", property: "title", rule: "length >= 3")),
      ("rule of a part", "Line", nil, .invalidValue(entity: "Line", property: "text", rule: "length <= 10")),
      (
        "too many parts", "Entry", 3,
        .tooManyObjects(entity: "Entry", relationship: "lines", found: 5, maximum: 4)
      ),
      ("too few parts", "Entry", 3, .tooFewObjects(entity: "Entry", relationship: "lines", found: 1, minimum: 2)),
      (
        "too many of others", "Box", 1,
        .tooManyObjects(entity: "Box", relationship: "entries", found: 3, maximum: 2)
      ),
      ("broken at last", "Entry", 3, .invalidValue(entity: "Entry", property: "title", rule: "length >= 3")),
      ("broken at the end", "Entry", 3, .invalidValue(entity: "Entry", property: "title", rule: "length >= 3")),
    ] as [(String, String, Int64?, ManagedObjectError)])
  func `what a save would refuse is told with the mapping, the hook and the object`(
    fault: String, entity: String, key: Int64?, expected: ManagedObjectError
  ) throws {
    guard case .mappingFailed(let failure)? = try migrate(fault: fault) else {
      Issue.record("expected a failure of the mapping")
      return
    }
    #expect(failure.mapping == "Note->Entry")
    #expect(failure.hook == .performCustomValidation)
    #expect(failure.entity == entity)
    #expect(failure.object?.entityName == entity)
    if let key { #expect(failure.object?.primaryKey == key) }
    #expect(failure.underlying as? ManagedObjectError == expected)
  }

  @Test(arguments: [
    ("no text of a part", "Line", "text"), ("part of nothing", "Line", "entry"),
    ("empties another's value", "Box", "label"),
  ])
  func `a value or link that must be there is missed in whatever a policy made or changed`(
    fault: String, entity: String, property: String
  ) throws {
    guard case .mappingFailed(let failure)? = try migrate(fault: fault) else {
      Issue.record("expected a failure of the mapping")
      return
    }
    #expect(failure.mapping == "Note->Entry")
    #expect(failure.hook == .performCustomValidation)
    guard case .missingValue(entity, property, let key)? = failure.underlying as? MigrationManagerError else {
      throw failure
    }
    #expect(failure.object?.primaryKey == key)
    #expect(failure.object?.entityName == entity)
  }

  @Test(arguments: ["none", "mended at last"])
  func `what is right in the end is let pass`(fault: String) throws {
    #expect(try migrate(fault: fault) == nil)
  }

  @Test func `a row that was changed is looked at in the end, however many were`() throws {
    #expect(try migrate(fault: "empties all but mends them", notes: 1_050) == nil)
    guard case .mappingFailed(let failure)? = try migrate(fault: "empties all", notes: 1_050) else {
      Issue.record("expected a failure of the mapping")
      return
    }
    guard case .missingValue("Box", "label", _)? = failure.underlying as? MigrationManagerError else { throw failure }
  }

  // MARK: Links that must be there

  final class Leaving: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard source.objectID?.primaryKey != 3, mapping.userInfo["leaves"] != "all" else { return }
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }

    override func endRelationshipCreation(for mapping: EntityMapping, manager: MigrationManager) throws {
      guard mapping.userInfo["leaves"] == "mended" else { return }
      let boxes = try manager.destinationContext.fetch("Box")
      for item in try manager.destinationContext.fetch("Item") where item[toOne: "box"] == nil {
        item[toOne: "box"] = boxes.first
      }
    }
  }

  @Test(arguments: ["one", "all", "mended"])
  func `an object that loses a link that must be there, since a policy made nothing, is named`(leaves: String) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let entities = [
      Make.entity("Box", [Make.attribute("label")], [Make.toMany("items", "Item", "box")]),
      Make.entity("Item", [Make.attribute("name")], [Make.toOne("box", "Box", "items", optional: false)]),
    ]
    let source = try ManagedObjectModel(entities: entities)
    var changed = entities
    changed[0].attributes.append(Make.attribute("size", .integer16))
    let destination = try ManagedObjectModel(entities: changed)
    try PersistentStore.make(at: store, model: source) { context in
      for _ in 1...5 { try context.insert("Item")[toOne: "box"] = context.insert("Box") }
    }
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [
      try MappingInference(
        from: source, to: destination,
        given: [EntityMapping(from: "Box", to: "Box", policy: Leaving.self, userInfo: ["leaves": leaves])]
      ).mappingModel()
    ]
    let assistant = MigrationAssistant(store, from: source, to: destination, configuration)
    let before = try StoreContents(of: store, model: source)
    if leaves == "mended" {
      _ = try assistant.migrateStore()
      #expect(
        try StoreContents(of: store, model: destination).objects["Item"]?.values.allSatisfy { $0.links["box"] != nil }
          == true)
      return
    }
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect(try StoreContents(of: store, model: source) == before)
    guard case .failed(_, .mappingFailed(let failure))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.mapping.contains("Item"))
    #expect(failure.hook == .createRelationships)
    let key: Int64 = leaves == "all" ? 1 : 3
    #expect(
      failure.underlying as? MigrationManagerError
        == .missingValue(entity: "Item", property: "box", primaryKey: key))
    #expect(failure.object?.primaryKey == key)
    withExtendedLifetime(directory) {}
  }
}
