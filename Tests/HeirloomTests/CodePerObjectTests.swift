import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// A policy that treats each object in another way: what it neither reads of an object nor leaves to the default is told.
struct CodePerObjectTests {
  enum Code: String, CaseIterable, Sendable {
    case defaultForSome, relatesSome, relatesSomeByMapping, leavesSomeOut, readsLate, readsByFetching, defaultTwice

    var policy: EntityMigrationPolicy.Type {
      switch self {
      case .defaultForSome: DefaultForSome.self
      case .relatesSome: RelatesSome.self
      case .relatesSomeByMapping: RelatesSomeByMapping.self
      case .leavesSomeOut: LeavesSomeOut.self
      case .readsLate: ReadsLate.self
      case .readsByFetching: ReadsByFetching.self
      case .defaultTwice: DefaultTwice.self
      }
    }

    /// The losses among twelve objects, as `kind name rows`, by plain counting of keys.
    var expected: [String] {
      switch self {
      // Every third object is made without a look at "b".
      case .defaultForSome: ["values Note.b 4"]
      case .relatesSome, .relatesSomeByMapping: ["links Note.author 8"]
      // Of every second object, "a" is read; code never reads what else it holds.
      case .leavesSomeOut: ["values Note.b 6", "links Note.author 6"]
      case .readsLate, .readsByFetching: ["values Note.b 2"]
      case .defaultTwice: []
      }
    }
  }

  class Own: EntityMigrationPolicy {
    func key(_ source: ManagedObject) -> Int64 { source.objectID?.primaryKey ?? 0 }

    func make(_ source: ManagedObject, _ mapping: EntityMapping, _ manager: MigrationManager) throws {
      let note = try manager.destinationContext.insert("Note")
      note["a"] = try source.value(forAttribute: "a")
      try manager.associate(source: source, destination: note, for: mapping)
    }

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard key(source) % 3 == 0 else {
        return try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      }
      try make(source, mapping, manager)
    }
  }

  final class DefaultForSome: Own {}

  class RelatesSome: EntityMigrationPolicy {
    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard (destination.objectID?.primaryKey ?? 0) % 3 == 0 else { return }
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }
  }

  final class RelatesSomeByMapping: RelatesSome {
    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard (destination.objectID?.primaryKey ?? 0) % 3 == 0 else { return }
      try manager.createRelationships(of: destination, in: mapping)
    }
  }

  final class LeavesSomeOut: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      guard try source.string("a")?.hasSuffix("1") ?? false else { return }
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }
  }

  /// It reads what it left in a later phase, of half of the objects.
  final class ReadsLate: Own {
    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      for source in try manager.sourceInstances(
        forEntityMappingNamed: mapping.name, destinationInstances: [destination]) where key(source) % 6 == 0
      {
        destination["b"] = source["b"]
      }
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }
  }

  /// It reads it when it has made its objects, from objects that it keeps or fetches.
  final class ReadsByFetching: Own {
    private var kept: [ManagedObject] = []

    override func make(_ source: ManagedObject, _ mapping: EntityMapping, _ manager: MigrationManager) throws {
      if key(source) == 3 { kept.append(source) }
      try super.make(source, mapping, manager)
    }

    override func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws {
      for note in kept { _ = try note.string("b") }
      try manager.sourceContext.forEach("Note") { note throws(ManagedObjectError) in
        if note.objectID?.primaryKey == 6 { _ = try note.string("b") }
        return true
      }
    }
  }

  final class DefaultTwice: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      for _ in 0..<2 { try super.createDestinationInstances(forSource: source, in: mapping, manager: manager) }
    }
  }

  private static func model(isLater: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      Make.entity(
        "Note", ["a", "b"].map { Make.attribute($0) } + (isLater ? [Make.attribute("mood")] : []),
        [Make.toOne("author", "Author")]),
      Make.entity("Author", [Make.attribute("name")]),
    ])
  }

  private static func migrate(
    _ code: Code, where condition: String? = nil, in directory: TemporaryDirectory, _ losses: LossPolicy
  ) throws -> MigrationOutcome {
    let url = directory.file("Store.sqlite")
    let (source, destination) = (try model(isLater: false), try model(isLater: true))
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
      let author = try context.insert("Author")
      for place in 1...12 {
        let note = try context.insert("Note")
        (note["a"], note["b"]) = (.string("a\(place % 2)"), .string("b"))
        note[toOne: "author"] = author
      }
      try context.save()
    }
    var configuration = MigrationAssistant.Configuration()
    configuration.losses = losses
    configuration.mappings = [
      try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: "Note", to: "Note", where: condition, policy: code.policy) {}
      }
    ]
    configuration.policies.register(function: "isThere:") { _, arguments in
      .value(.integer(arguments.first == .null ? 0 : 1))
    }
    return try MigrationAssistant(url, from: source, to: destination, configuration)
      .migrateStore()
  }

  @Test(arguments: Code.allCases)
  func `what code leaves of some objects is told and pins the previous version`(_ code: Code) throws {
    let directory = try TemporaryDirectory()
    guard case .migrated(let report) = try Self.migrate(code, in: directory, .keepVersion) else {
      Issue.record("not migrated")
      return
    }
    #expect(report.plan.losses.map { "\($0.kind) \($0.name) \($0.rows)" } == code.expected)
    let kept = try StoreArchive(storeURL: directory.file("Store.sqlite")).previousVersions()
    #expect(kept.map(\.isPinned) == [!code.expected.isEmpty])
  }

  /// A condition takes nothing along, also when it reads "b"; the objects that it leaves out are the plan's.
  @Test(arguments: [
    ("a == 'a1'", ["objects Note 6", "values Note.b 2"]), ("FUNCTION(SELF, 'isThere:', b) == 1", ["values Note.b 4"]),
  ])
  func `code accounts for the objects that its condition takes`(condition: String, expected: [String]) throws {
    let directory = try TemporaryDirectory()
    guard
      case .migrated(let report) = try Self.migrate(.defaultForSome, where: condition, in: directory, .keepVersion)
    else {
      Issue.record("not migrated")
      return
    }
    #expect(report.plan.losses.map { "\($0.kind) \($0.name) \($0.rows)" } == expected)
  }

  @Test func `what code leaves of some objects stops a migration that may lose nothing`() throws {
    let directory = try TemporaryDirectory()
    let error = #expect(throws: MigrationAssistantError.self) {
      try Self.migrate(.defaultForSome, in: directory, .stop)
    }
    guard case .lossesNotConsented(_, let plan) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(plan.losses.map { "\($0.kind) \($0.name) \($0.rows)" } == Code.defaultForSome.expected)
  }
}

// MARK: - Policies at random

extension CodePerObjectTests {
  /// The objects and properties that a random policy read, and the objects that it made.
  struct Deeds {
    var reads: Set<[String]> = []
    var made: [Int64: Int64] = [:]
  }

  static let deeds = Locked(Deeds())

  /// A policy whose way with each object follows from a seed, the object's key and the phase.
  final class Random: EntityMigrationPolicy {
    private var seed: UInt64 = 0

    private func random(_ key: Int64, _ phase: UInt64) -> SplitMix64 {
      var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(bitPattern: key) &* 31 &+ phase)
      _ = random.next()
      return random
    }

    private func read(_ source: ManagedObject, _ random: inout SplitMix64) throws -> [String] {
      let names = ["a", "b", "c", "author", "editor", "old", "next", "topics"].filter { _ in random.below(3) == 0 }
      for name in names {
        _ = try source.value(forKey: name)
        CodePerObjectTests.deeds.withLock { _ = $0.reads.insert(["\(source.objectID?.primaryKey ?? 0)", name]) }
      }
      return names
    }

    override func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {
      seed = mapping.userInfo["seed"].flatMap { UInt64($0) } ?? 0
    }

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let key = source.objectID?.primaryKey ?? 0
      var random = random(key, 1)
      let way = random.below(4)
      let names = way == 0 ? [] : try read(source, &random)
      switch way {
      case 0, 1:
        let made = try manager.createDestinationInstance(forSource: source, in: mapping)
        CodePerObjectTests.deeds.withLock { $0.made[key] = made.objectID?.primaryKey }
      case 2:
        let made = try manager.destinationContext.insert("Note")
        for name in names where name == "a" || name == "b" { made[name] = source[name] }
        try manager.associate(source: source, destination: made, for: mapping)
        CodePerObjectTests.deeds.withLock { $0.made[key] = made.objectID?.primaryKey }
      default: break
      }
    }

    override func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws {
      guard seed % 3 == 0 else { return }
      for source in try manager.sourceContext.fetch("Note") {
        var random = random(source.objectID?.primaryKey ?? 0, 2)
        if random.below(4) == 0 { _ = try read(source, &random) }
      }
      for author in try manager.sourceContext.fetch("Author") where (author.objectID?.primaryKey ?? 0) % 2 == 0 {
        _ = try author.objects(forRelationship: "notes")
        CodePerObjectTests.deeds.withLock {
          _ = $0.reads.insert(["\(author.objectID?.primaryKey ?? 0)", "Author.notes"])
        }
      }
    }

    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      for source in try manager.sourceInstances(
        forEntityMappingNamed: mapping.name, destinationInstances: [destination])
      {
        var random = random(source.objectID?.primaryKey ?? 0, 3)
        switch random.below(3) {
        case 0: try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
        case 1: _ = try read(source, &random)
        default: break
        }
      }
    }
  }

  /// All values are different.
  private struct RandomScene {
    let directory: TemporaryDirectory
    let url: URL
    let report: MigrationReport

    init?(seed: UInt64) throws {
      directory = try TemporaryDirectory()
      url = directory.file("Store.sqlite")
      func model(isLater: Bool) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
          Make.entity(
            "Note", (isLater ? ["a", "b", "mood"] : ["a", "b", "c"]).map { Make.attribute($0) },
            [
              Make.toOne("author", "Author", "notes"), Make.toOne("editor", "Author"), Make.toOne("next", "Note"),
              Make.toMany("topics", "Topic", "notes"),
            ] + (isLater ? [] : [Make.toOne("old", "Author")])),
          Make.entity("Author", [Make.attribute("name")], [Make.toMany("notes", "Note", "author")]),
          Make.entity("Topic", [Make.attribute("name")], [Make.toMany("notes", "Note", "topics")]),
        ])
      }
      let (source, destination) = (try model(isLater: false), try model(isLater: true))
      var random = SplitMix64(seed: seed)
      do {
        let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
        let authors = try (0..<4).map { _ in try context.insert("Author") }
        let topics = try (0..<4).map { _ in try context.insert("Topic") }
        var notes: [ManagedObject] = []
        // More than one row of a set of keys holds.
        for place in 0..<150 {
          let note = try context.insert("Note")
          for name in ["a", "b", "c"] where random.below(4) != 0 { note[name] = .string("\(name)\(place)") }
          for name in ["author", "editor", "old"] where random.below(4) != 0 {
            note[toOne: name] = authors[random.below(4)]
          }
          note[toMany: "topics"] = topics.filter { _ in random.below(3) == 0 }
          notes.append(note)
        }
        for note in notes where random.below(4) != 0 { note[toOne: "next"] = notes[random.below(notes.count)] }
        try context.save()
      }
      if seed % 2 == 0 {
        // Keys with gaps; a key that leads to no object is no link.
        try Connection(path: url.path, mode: .readWrite).execute("DELETE FROM ZNOTE WHERE Z_PK % 7 = 0")
      }
      var configuration = MigrationAssistant.Configuration.withBothProofs
      configuration.mappings = [
        try MappingModel.inferred(from: source, to: destination) {
          EntityMapping(from: "Note", to: "Note", policy: Random.self, userInfo: ["seed": "\(seed)"])
        }
      ]
      guard
        case .migrated(let report) = try MigrationAssistant(url, from: source, to: destination, configuration)
          .migrateStore()
      else { return nil }
      self.report = report
    }
  }

  /// The losses by plain SQL on both files and what the policy noted: of each property, the values and links that are
  /// neither in the new store nor were read.
  private static func expected(_ before: Connection, _ after: Connection, _ deeds: Deeds) throws -> [String: Int64] {
    func wasRead(_ key: Int64, _ name: String) -> Bool { deeds.reads.contains(["\(key)", name]) }
    let keys = try before.rows("SELECT Z_PK FROM ZNOTE").compactMap { $0[0].integer }
    let names = ["a", "b", "c", "author", "editor", "old", "next", "topics"]
    let whole = Set(keys.filter { key in deeds.made[key] == nil && !names.contains { wasRead(key, $0) } })
    var lost: [String: Int64] = [:]
    if !whole.isEmpty { lost["objects Note"] = Int64(whole.count) }
    for name in ["a", "b", "c"] {
      var values: Set<String> = []
      if name != "c" {
        values = Set(try after.rows("SELECT Z\(name.uppercased()) FROM ZNOTE").compactMap { $0[0].text })
      }
      for row in try before.rows("SELECT Z_PK, Z\(name.uppercased()) FROM ZNOTE") {
        guard let key = row[0].integer, let value = row[1].text, !whole.contains(key), !wasRead(key, name),
          !values.contains(value)
        else { continue }
        lost["values Note.\(name)", default: 0] += 1
      }
    }
    let (oldTable, newTable) = (try joinTable(before), try joinTable(after))
    for name in ["author", "editor", "old", "next", "topics"] {
      let column = "Z\(name.uppercased())"
      let target = name == "topics" ? "ZTOPIC" : name == "next" ? "ZNOTE" : "ZAUTHOR"
      let own = name == "topics" ? oldTable : (table: "ZNOTE", owner: "Z_PK", target: column)
      let new = name == "topics" ? newTable : (table: "ZNOTE", owner: "Z_PK", target: column)
      var links: Set<[Int64?]> = []
      if name != "old" {
        links = Set(
          try after.rows("SELECT \(new.owner), \(new.target) FROM \(new.table)").map { [$0[0].integer, $0[1].integer] })
      }
      let rows = try before.rows(
        "SELECT l.\(own.owner), l.\(own.target) FROM \(own.table) AS l JOIN ZNOTE AS o ON o.Z_PK = l.\(own.owner)"
          + " JOIN \(target) AS t ON t.Z_PK = l.\(own.target)")
      for row in rows {
        guard let key = row[0].integer, let other = row[1].integer, !whole.contains(key), !wasRead(key, name) else {
          continue
        }
        if name == "author", wasRead(other, "Author.notes") { continue }
        let end = name == "next" ? deeds.made[other] : other
        if let made = deeds.made[key], let end, links.contains([made, end]) { continue }
        lost["links Note.\(name)", default: 0] += 1
      }
    }
    return lost
  }

  private static func joinTable(_ connection: Connection) throws -> (table: String, owner: String, target: String) {
    let name =
      try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
      .compactMap { $0[0].text }.first ?? ""
    let columns = try connection.rows("SELECT name FROM pragma_table_info(?1)", [.text(name)]).compactMap { $0[0].text }
    return (
      name, columns.first { $0.hasSuffix("NOTES") } ?? "", columns.first { $0.hasSuffix("TOPICS") } ?? ""
    )
  }

  @Test func `random code loses exactly what is told`() throws {
    for seed in 0..<UInt64(LongTests.count(quick: 8, long: 400)) {
      Self.deeds.withLock { $0 = Deeds() }
      guard let scene = try RandomScene(seed: seed) else {
        Issue.record("not migrated")
        return
      }
      let kept = try StoreArchive(storeURL: scene.url).previousVersions()
      let version = try #require(kept.first)
      let before = try Connection(reading: version.storeURL)
      let after = try Connection(reading: scene.url)
      let expected = try Self.expected(before, after, Self.deeds.withLock { $0 })
      var told: [String: Int64] = [:]
      for loss in scene.report.plan.losses { told["\(loss.kind) \(loss.name)", default: 0] += loss.links ?? loss.rows }
      #expect(told == expected, "seed \(seed)")
    }
  }
}
