import Foundation
import Heirloom
import TestSupport
import Testing

/// Decisions about rows, together with policies that lead to them or make values that must be unique.
struct DecidedPolicyTests {
  /// A policy that does what the standard policy does, and asks for the tags itself.
  final class Asking: EntityMigrationPolicy {
    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let sources = try manager.sourceInstances(
        forEntityMappingNamed: mapping.name, destinationInstances: [destination])
      let tags = sources.flatMap { $0[toMany: "tags"] }
      destination[toMany: "tags"] = try manager.destinationInstances(
        forSourceRelationshipNamed: "tags", sourceInstances: tags)
      destination[toOne: "main"] =
        try manager.destinationInstances(
          forSourceRelationshipNamed: "main", sourceInstances: sources.compactMap { $0[toOne: "main"] }
        ).first
    }
  }

  private static func entities(unique: Bool, sized: Bool) -> [EntityDescription] {
    [
      Make.entity(
        "Note", [Make.attribute("title")] + (sized ? [Make.attribute("size", .integer16)] : []),
        [
          Make.toOne("main", "Tag", "mains"), Make.toMany("pins", "Tag", "pinned", ordered: true),
          Make.toMany("tags", "Tag", "notes"),
        ]),
      Make.entity(
        "Tag", [Make.attribute("name")],
        [
          Make.toMany("mains", "Note", "main"), Make.toMany("notes", "Note", "tags"),
          Make.toOne("pinned", "Note", "pins"),
        ], unique: unique ? [["name"]] : []),
    ]
  }

  /// The content of a store, by names: the keys of tags that stay don't matter.
  private struct Picture: Equatable {
    var tags: [String: String] = [:]
    var mains: [String: Set<String>] = [:]
    var links: [String: Set<String>] = [:]
    var pins: [String: Set<String>] = [:]

    init(_ url: URL, _ model: ManagedObjectModel) throws {
      let store = try PersistentStore.open(at: url, model: model, isReadOnly: true)
      let context = ManagedObjectContext(store: store)
      for tag in try context.fetch("Tag") {
        let key = "\(tag.objectID?.primaryKey ?? 0)"
        guard case .string(let name)? = tag["name"] else { continue }
        tags[key] = name
      }
      for note in try context.fetch("Note") {
        guard case .string(let title)? = note["title"] else { continue }
        func key(_ tag: ManagedObject) -> String { "\(tag.objectID?.primaryKey ?? 0)" }
        mains[title] = Set([note[toOne: "main"]].compactMap { $0 }.map(key))
        links[title] = Set(note[toMany: "tags"].map(key))
        pins[title] = Set(note[toMany: "pins"].map(key))
      }
      try store.close()
    }

    /// The newest of each name stays.
    func expected(_ choice: DataDecision.Choice) -> Picture {
      var picture = self
      let newest = Dictionary(grouping: tags.keys, by: { tags[$0] ?? "" }).mapValues { keys in
        keys.max { (Int($0) ?? 0) < (Int($1) ?? 0) } ?? ""
      }
      func now(_ key: String) -> String? {
        let stays = newest[tags[key] ?? ""] ?? key
        return stays == key || choice.option == .merge ? stays : nil
      }
      picture.tags = tags.filter { now($0.key) == $0.key }
      picture.mains = mains.mapValues { Set($0.compactMap(now)) }
      picture.links = links.mapValues { Set($0.compactMap(now)) }
      picture.pins = pins.mapValues { Set($0.compactMap(now)) }
      return picture
    }

    func lost(_ after: Picture) -> [String: Int64] {
      func difference(_ path: KeyPath<Picture, [String: Set<String>]>) -> Int64 {
        Int64(self[keyPath: path].values.joined().count - after[keyPath: path].values.joined().count)
      }
      return ["main": difference(\.mains), "pins": difference(\.pins), "tags": difference(\.links)]
    }
  }

  private static func makeStore(in directory: TemporaryDirectory) throws -> (url: URL, model: ManagedObjectModel) {
    let url = directory.file("Store.sqlite")
    let model = try ManagedObjectModel(entities: entities(unique: false, sized: false))
    try PersistentStore.make(at: url, model: model) { context in
      var tags: [ManagedObject] = []
      for number in 0..<12 {
        let tag = try context.insert("Tag")
        tag["name"] = .string("tag \(number % 5)")
        tags.append(tag)
      }
      for number in 0..<9 {
        let note = try context.insert("Note")
        note["title"] = .string("note \(number)")
        note[toOne: "main"] = tags[number * 5 % 12]
        note[toMany: "tags"] = [tags[number], tags[(number + 5) % 12], tags[(number * 7 + 3) % 12]]
        // One tag of each name is pinned; if two are, the newest tag's own note counts.
        if number < 5 { note[toMany: "pins"] = [tags[number]] }
      }
    }
    return (url, model)
  }

  private func assistant(
    _ url: URL, _ source: ManagedObjectModel, _ destination: ManagedObjectModel, _ given: [EntityMapping],
    decisions: [DataDecision] = [], policies: MigrationPolicyRegistry = .init()
  ) throws -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration()
    configuration.decisions = decisions
    configuration.policies = policies
    configuration.mappings = [try MappingInference(from: source, to: destination, given: given).mappingModel()]
    return MigrationAssistant(url, from: source, to: destination, configuration)
  }

  @Test(arguments: [DataDecision.Choice.merge(), .keepNewest(), .quarantine], [true, false])
  func `links of objects that policies make follow decisions about what they lead to`(
    choice: DataDecision.Choice, asks: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let (url, source) = try Self.makeStore(in: directory)
    let destination = try ManagedObjectModel(entities: Self.entities(unique: true, sized: true))
    let before = try Picture(url, source)
    let policy: EntityMigrationPolicy.Type = asks ? Asking.self : EntityMigrationPolicy.self
    let assistant = try assistant(
      url, source, destination, [EntityMapping(from: "Note", to: "Note", policy: policy)],
      decisions: [DataDecision(entity: "Tag", property: "name", choice)])
    let report = try assistant.migrate()
    let after = try Picture(url, destination)
    let expected = before.expected(choice)
    #expect(after.tags == expected.tags)
    #expect(after.mains == expected.mains)
    #expect(after.links == expected.links)
    // The policy that asks for itself leaves the other side to the tags, whose mapping is SQL.
    #expect(after.pins == expected.pins)
    var lost: [String: Int64] = [:]
    for loss in report.plan.losses where loss.entity == "Note" && loss.consent == .decision {
      lost[loss.property ?? "", default: 0] += loss.rows
    }
    var expectedLosses = before.lost(after)
    if asks { expectedLosses["pins"] = nil }
    #expect(lost == (choice.option == .merge ? [:] : expectedLosses))
    let faults = try DataDecisionTests.faults(url)
    #expect(faults == [])
    withExtendedLifetime(directory) {}
  }

  // MARK: Made values that must differ

  /// A policy that shortens names, which makes some equal.
  final class Cutting: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let object = try manager.createDestinationInstance(forSource: source, in: mapping)
      guard case .string(let name)? = source["name"] else { return }
      object["name"] = .string(String(name.prefix(2)))
    }
  }

  enum Way: String, CaseIterable {
    case policy, policyFunction, function, sql

    var expression: String? {
      switch self {
      case .policy: nil
      case .policyFunction: "FUNCTION($entityPolicy, \"cut:\", $source.name)"
      case .function: "cut:($source.name)"
      case .sql: "TERNARY($source.name == 'd4', 'a1', lowercase:($source.name))"
      }
    }
  }

  @Test(arguments: Way.allCases)
  func `equal values that a policy or an expression makes are counted and named, and nothing is changed`(
    way: Way
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let source = try ManagedObjectModel(entities: [Make.entity("Tag", [Make.attribute("name")])])
    let destination = try ManagedObjectModel(entities: [
      Make.entity("Tag", [Make.attribute("name")], unique: [["name"]])
    ])
    try PersistentStore.make(at: url, model: source) { context in
      for name in ["a1", "b2", "A1", "c3", "d4"] {
        try context.insert("Tag")["name"] = .string(way == .sql ? name : name.lowercased())
      }
    }
    var policies = MigrationPolicyRegistry()
    policies.register(function: "cut:") { _, arguments in
      guard case .value(.string(let name))? = arguments.first else { return .null }
      return .string(String(name.prefix(1) == "d" ? "a1" : name))
    }
    let properties = try [way.expression].compactMap { $0 }.map {
      PropertyMapping(name: "name", valueExpression: try ValueExpression(parsing: $0))
    }
    let mapping =
      switch way {
      case .policy: EntityMapping(from: "Tag", to: "Tag", policy: Cutting.self)
      case .policyFunction:
        EntityMapping(from: "Tag", to: "Tag", policy: EntityMigrationPolicy.self, attributeMappings: properties)
      case .function, .sql: EntityMapping(from: "Tag", to: "Tag", attributeMappings: properties)
      }
    let bytes = try StoreContents(of: url, model: source)
    let error = #expect(throws: MigrationAssistantError.self) {
      try assistant(url, source, destination, [mapping], policies: policies).migrateStore()
    }
    #expect(try StoreContents(of: url, model: source) == bytes)
    guard case .failed(_, .notUnique(let duplicates))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(duplicates.entity == "Tag" && duplicates.properties == ["name"])
    #expect(duplicates.rows == (way == .policy ? 1 : 2))
    #expect(duplicates.examples.first?.values == ["a1"])
    #expect(duplicates.examples.first?.primaryKeys == [1, 3])
    #expect(error?.coreDataCode == 134_111)
    #expect(error?.recoverySuggestion?.contains("unique") == true)
    let left = FileManager.default.enumerator(atPath: url.path + ".heirloom")?.allObjects as? [String] ?? []
    #expect(!left.contains { $0.hasPrefix("incoming/") || $0.hasPrefix("previous/") || $0 == "manifest.json" })
    withExtendedLifetime(directory) {}
  }

  // MARK: Finding members

  /// A policy that gathers the notes of a year in an ordered relationship, one after the other.
  final class Gathering: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let note = try manager.createDestinationInstance(forSource: source, in: mapping)
      let year = try manager.destinationContext.insert("Year")
      year[toMany: "notes"] = [note]
      try manager.associate(source: source, destination: year, for: mapping)
    }

    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard destination.entityName == "Year" else { return }
      destination[toMany: "notes"] = destination[toMany: "notes"]
    }
  }

  @Test func `members are found by an index while there is none, which is gone in the end`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let source = try ManagedObjectModel(entities: [Make.entity("Note", [Make.attribute("title")])])
    let destination = try ManagedObjectModel(entities: [
      Make.entity("Note", [Make.attribute("title")], [Make.toOne("year", "Year", "notes")]),
      Make.entity("Year", [], [Make.toMany("notes", "Note", "year", ordered: true)]),
    ])
    var generator = StoreGenerator(objectsPerEntity: LongTests.areOn ? 100_000 : 300, seed: 4)
    try generator.makeStore(at: url, model: source)
    let assistant = try assistant(
      url, source, destination,
      [EntityMapping(from: "Note", to: "Note", policy: Gathering.self)])
    let clock = ContinuousClock()
    let time = try clock.measure { _ = try assistant.migrateStore() }
    if LongTests.areOn { print("100,000 ordered to-many sets in the candidate: \(time)") }
    let connection = try Connection(reading: url, options: .inspecting)
    let linked = try connection.firstInteger("SELECT COUNT(*) FROM ZNOTE WHERE ZYEAR IS NOT NULL")
    #expect(linked == Int64(generator.objectsPerEntity))
    #expect(try connection.rows("SELECT name FROM sqlite_master WHERE name LIKE 'heirloom%'").isEmpty)
    try connection.close()
    #expect(try DataDecisionTests.faults(url) == [])
    withExtendedLifetime(directory) {}
  }
}
