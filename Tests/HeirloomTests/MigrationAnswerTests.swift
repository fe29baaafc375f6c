import Foundation
import Heirloom
import TestSupport
import Testing

/// The answers of a delegate, each to its own question, and the delegate that gives them.
struct MigrationAnswerTests {
  /// What stands in the way of a migration, each thing there or not.
  struct Obstacles: Hashable, CustomTestStringConvertible {
    let rows: Bool
    let losses: Bool
    let isUnknown: Bool

    var testDescription: String {
      [rows ? "rows" : nil, losses ? "losses" : nil, isUnknown ? "unknown" : nil].compactMap(\.self)
        .joined(separator: ", ")
    }

    static let all: [Obstacles] = (0..<8).map {
      Obstacles(rows: $0 & 1 > 0, losses: $0 & 2 > 0, isUnknown: $0 & 4 > 0)
    }

    /// The error that an answer leaves, by the rules of the article *Nothing without a word*; `nil` if it migrates.
    func error(deciding: Bool, consenting: Bool, accepting: Bool) -> String? {
      if isUnknown, losses, !accepting { return "unknownVersion" }
      if rows, !deciding { return "decisionNeeded" }
      if losses, !consenting { return "lossesNotConsented" }
      return nil
    }

    /// The assistant stops at losses.
    func assistant(in directory: TemporaryDirectory) throws -> MigrationAssistant {
      let url = directory.file("Store.sqlite")
      let source = try ManagedObjectModel(entities: [
        Make.entity("A", [Make.attribute("name"), Make.attribute("other")])
      ])
      let destination = try ManagedObjectModel(entities: [
        Make.entity(
          "A",
          [Make.attribute("name", optional: false), Make.attribute("new")] + (losses ? [] : [Make.attribute("other")]))
      ])
      try PersistentStore.make(at: url, model: source) { context in
        try context.insert("A")["name"] = .string("one")
        let object = try context.insert("A")
        (object["name"], object["other"]) = (rows ? nil : .string("two"), .string("goes or stays"))
      }
      return MigrationAssistant(
        url, ModelHistory(current: destination, earlier: isUnknown ? [] : [("1", source)]), .init(losses: .stop))
    }
  }

  @Test(arguments: Obstacles.all)
  func `an answer answers one question, and leaves the others open`(obstacles: Obstacles) throws {
    for bits in 0..<8 {
      let (decides, consents, accepts) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)
      let directory = try TemporaryDirectory()
      let assistant = try obstacles.assistant(in: directory)
      let before = try Data(contentsOf: assistant.storeURL)
      let decision = DataDecision(entity: "A", property: "name", .fill(.string("filled")))
      assistant.delegate = ClosureDelegate(decision: { _ in
        .proceed(deciding: decides ? [decision] : [], consentingToLosses: consents, acceptingUnknownVersion: accepts)
      })
      var found: String?
      var plan: MigrationPlan?
      do {
        if case .migrated(let report) = try assistant.migrateStore() { plan = report.plan }
      } catch let error as MigrationAssistantError {
        found = error.code
      }
      let expected = obstacles.error(deciding: decides, consenting: consents, accepting: accepts)
      #expect(found == expected, "\(decides) \(consents) \(accepts)")
      guard let plan else {
        #expect(try Data(contentsOf: assistant.storeURL) == before)
        continue
      }
      #expect(plan.losses.map(\.consent) == (obstacles.losses ? [.delegate] : []))
      #expect(plan.decisions.map(\.filled) == (decides ? [obstacles.rows ? 1 : 0] : []))
    }
  }

  @Test func `a decision about rows pins the version that alone holds what is lost`() throws {
    let directory = try TemporaryDirectory()
    let stopping = try Obstacles(rows: true, losses: true, isUnknown: false).assistant(in: directory)
    let assistant = MigrationAssistant(
      storeURL: stopping.storeURL, modelController: stopping.modelController, history: stopping.history)
    assistant.delegate = ClosureDelegate(decision: { _ in
      .proceed(deciding: [DataDecision(entity: "A", property: "name", .fill(.string("filled")))])
    })
    let report = try assistant.migrate()
    #expect(report.plan.unconsentedLosses.map(\.name) == ["A.other"] && report.previousVersion.isPinned)
  }

  /// A policy that makes objects of names alone, and one that has seen the rest.
  private class Forgetting: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let object = try manager.destinationContext.insert("A")
      object["name"] = source["name"]
      try manager.associate(source: source, destination: object, for: mapping)
    }
  }

  private final class Reading: Forgetting {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      _ = source["other"]
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }
  }

  @Test(arguments: [true, false])
  func `what only the run shows to be lost of an unknown version stops it too`(reads: Bool) throws {
    let directory = try TemporaryDirectory()
    let scene = try Obstacles(rows: false, losses: true, isUnknown: true).assistant(in: directory)
    // The store's journal may have changed its mode and back, so the bytes of the first page differ.
    func rows() throws -> [[SQLiteValue]] {
      try Connection(reading: scene.storeURL).rows("SELECT * FROM ZA ORDER BY Z_PK")
    }
    let before = try rows()
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [
      MappingModel(entityMappings: [
        EntityMapping(from: "A", to: "A", policy: reads ? Reading.self : Forgetting.self)
      ])
    ]
    let assistant = MigrationAssistant(
      storeURL: scene.storeURL, modelController: scene.modelController, history: scene.history,
      configuration: configuration)
    #expect(try assistant.plan()?.losses == [])
    guard !reads else {
      try assistant.migrate()
      return
    }
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .unknownVersion(_, let plan?, _) = error else { throw try #require(error) }
    #expect(plan.losses.map(\.name) == ["A.other"])
    #expect(try rows() == before)
    #expect(try StoreMetadata(contentsOf: scene.storeURL).versionHashes != scene.history.current.versionHashes())
    #expect(try assistant.archive.previousVersions().isEmpty)
  }

  @Test func `automatic is to proceed without a word, and to refuse is neither`() {
    #expect(MigrationDecision.automatic == .proceed())
    #expect(MigrationDecision.refuse != .automatic)
  }

  // MARK: The delegate

  @Test func `a delegate that is assigned where it is made is asked, and goes with its assistant`() throws {
    let directory = try TemporaryDirectory()
    let scene = try Obstacles(rows: false, losses: true, isUnknown: false).assistant(in: directory)
    let source = try #require(try scene.history.model(named: "1"))
    let destination = try ManagedObjectModel(entities: [
      Make.entity("A", [Make.attribute("name"), Make.attribute("label")])
    ])
    weak var delegate: ClosureDelegate?
    do {
      let assistant = MigrationAssistant(
        storeURL: scene.storeURL, modelController: scene.modelController,
        history: ModelHistory(current: destination, earlier: [("1", source)]))
      assistant.delegate = ClosureDelegate(mapping: { _, _, _ in
        MappingModel(entityMappings: [EntityMapping(from: "A", to: "A") { PropertyMapping("label", copying: "other") }])
      })
      delegate = assistant.delegate as? ClosureDelegate
      let report = try assistant.migrate()
      #expect(report.plan.losses.isEmpty && delegate != nil)
    }
    #expect(delegate == nil)
    let connection = try Connection(reading: scene.storeURL)
    #expect(try connection.firstValue("SELECT group_concat(ZLABEL) FROM ZA")?.text == "goes or stays")
  }

  // MARK: Plans of several hops

  @Test func `a plan has what all hops lose, decide and leave, and each hop has its own`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    // Each version drops what the one before had; the second requires a name, the last a mark that no mapping gives.
    let models = try [
      [Make.attribute("name"), Make.attribute("a"), Make.attribute("b")],
      [Make.attribute("name", optional: false), Make.attribute("b"), Make.attribute("mark")],
      [Make.attribute("name", optional: false), Make.attribute("mark", optional: false)],
    ].map { try ManagedObjectModel(entities: [Make.entity("A", $0)]) }
    try PersistentStore.make(at: url, model: models[0]) { context in
      for number in 0..<3 {
        let object = try context.insert("A")
        (object["a"], object["b"]) = (.string("a\(number)"), number > 0 ? .string("b\(number)") : nil)
      }
    }
    var history = ModelHistory(current: models[2], name: "3", earlier: [("1", models[0]), ("2", models[1])])
    try history.step(from: "1", to: "2", didMigrate: { _ in })
    var configuration = MigrationAssistant.Configuration()
    configuration.decisions = [
      DataDecision(entity: "A", property: "name", .fill(.string("none"))),
      DataDecision(entity: "A", property: "mark", .fill(.string("new"))),
    ]
    configuration.defersLightweightMigration = true
    let assistant = MigrationAssistant(url, history, configuration)
    let report = try assistant.migrate()
    let plan = report.plan
    #expect(plan.hops.map { $0.losses.map(\.name) } == [["A.a"], ["A.b"]])
    #expect(plan.losses.map { "\($0.name) \($0.rows)" } == ["A.a 3", "A.b 2"])
    #expect(plan.unconsentedLosses == plan.losses)
    #expect(plan.hops.map { $0.decisions.map(\.filled) } == [[3, 0], [0, 3]])
    #expect(plan.decisions.map(\.filled) == [3, 3])
    #expect(plan.hops.map(\.deferred.columns) == [[:], ["ZA": ["ZB"]]])
    #expect(plan.deferred.columns == ["ZA": ["ZB"]])
    #expect(plan.hops.allSatisfy { $0.hops == [$0] } && plan.hops.map(\.destination) == Array(models.dropFirst()))
    let connection = try Connection(reading: url)
    #expect(try connection.firstValue("SELECT group_concat(ZNAME || ZMARK) FROM ZA")?.text == "nonenew,nonenew,nonenew")
  }
}
