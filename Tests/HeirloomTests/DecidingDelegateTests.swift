import Foundation
import Heirloom
import TestSupport
import Testing

/// An app that decides when it sees the plan, and decisions that don't fit.
struct DecidingDelegateTests {
  private func makeStore(in directory: TemporaryDirectory) throws -> (URL, ManagedObjectModel, ManagedObjectModel) {
    let (url, source) = try DataDecisionTests.makeStore(
      DataDecisionTests.graph(unique: false), in: directory, objects: 10, names: 3, seed: 6)
    return (url, source, try ManagedObjectModel(entities: DataDecisionTests.graph(unique: true)))
  }

  @Test(arguments: DataDecisionTests.choices)
  func `the plan is made again with what the delegate decides`(choice: DataDecision.Choice) throws {
    let directory = try TemporaryDirectory()
    let (url, source, destination) = try makeStore(in: directory)
    let before = try TagGraph(url)
    let decision = DataDecision(entity: "Tag", property: "name", choice)
    let decider = ClosureDelegate(decision: { _ in .proceed(deciding: [decision]) })
    let assistant = DataDecisionTests.assistant(url, source, destination, [])
    assistant.delegate = decider
    let report = try assistant.migrate()
    #expect(decider.plans.first?.blockers.count == 1)
    #expect(report.plan.decisions.map(\.removed) == [before.surplus])
    #expect(try TagGraph(url) == before.expected(choice))
    let quarantined = decider.events.contains { event in
      if case .quarantined(before.surplus, let paths) = event { paths == report.quarantine.map(\.path) } else { false }
    }
    #expect(quarantined == (choice == .quarantine))
    withExtendedLifetime(directory) {}
  }

  @Test func `to proceed is no decision about rows`() throws {
    let directory = try TemporaryDirectory()
    let (url, source, destination) = try makeStore(in: directory)
    let bytes = try Data(contentsOf: url)
    let assistant = DataDecisionTests.assistant(url, source, destination, [])
    assistant.delegate = ClosureDelegate(decision: { _ in .proceed(deciding: []) })
    do {
      _ = try assistant.migrateStore()
      Issue.record("migrated in spite of a blocker")
    } catch MigrationAssistantError.decisionNeeded(_, let plan) {
      #expect(plan.blockers.map(\.choices) == [[.newest, .merge, .quarantine]])
    }
    #expect(try Data(contentsOf: url) == bytes)
    withExtendedLifetime(directory) {}
  }

  static let unfit: [[DataDecision]] = [
    [DataDecision(entity: "Tag", property: "name", .fill(.string("x")))],
    [DataDecision(entity: "Tag", property: "memo", .merge())],
    [DataDecision(entity: "Tag", property: "nothing", .merge())],
    [DataDecision(entity: "Nothing", property: "name", .merge())],
    [DataDecision(entity: "Tag", property: nil, .quarantine)],
    [DataDecision(entity: "Tag", constraint: ["name", "memo"], .merge())],
    [DataDecision(entity: "Tag", property: "name", .keepNewest(by: "memo"))],
    [DataDecision(entity: "Tag", property: "name", .merge(by: "nothing"))],
    [DataDecision(entity: "Note", property: "tag", .quarantine)],
    [
      DataDecision(entity: "Tag", property: "name", .merge()),
      DataDecision(entity: "Tag", property: "name", .keepNewest()),
    ],
    [
      DataDecision(entity: "Tag", property: "name", .quarantine),
      DataDecision(entity: "Tag", property: "name", .quarantine),
    ],
    [
      DataDecision(entity: "Tag", property: "name", .merge()),
      DataDecision(entity: "Tag", property: "name", .quarantine),
    ],
  ]

  @Test(arguments: unfit)
  func `a decision that fits nothing is refused, and the store is as it was`(decisions: [DataDecision]) throws {
    let directory = try TemporaryDirectory()
    let (url, source, destination) = try makeStore(in: directory)
    let bytes = try Data(contentsOf: url)
    for assistant in [
      DataDecisionTests.assistant(url, source, destination, decisions),
      DataDecisionTests.assistant(url, source, destination, []),
    ] {
      if assistant.configuration.decisions.isEmpty {
        assistant.delegate = ClosureDelegate(decision: { _ in .proceed(deciding: decisions) })
      }
      do {
        _ = try assistant.migrateStore()
        Issue.record("migrated")
      } catch MigrationAssistantError.failed(_, .unfitDecision(let decision, let reason)) {
        #expect(decisions.contains(decision) && !reason.isEmpty)
      }
      #expect(try Data(contentsOf: url) == bytes)
      #expect(try assistant.archive.previousVersions().isEmpty)
    }
    withExtendedLifetime(directory) {}
  }

  /// Adds a value that can't be inferred, by a mapping for one hop; rows don't fit before that hop and after it.
  @Test func `decisions are carried out in the hop that they are about`() throws {
    let directory = try TemporaryDirectory()
    let first = [Make.entity("A", [Make.attribute("n", .string), Make.attribute("x")])]
    let second = [
      Make.entity("A", [Make.attribute("n", .string), Make.attribute("x"), Make.attribute("y", optional: false)])
    ]
    let third = [
      Make.entity(
        "A", [Make.attribute("n", .string), Make.attribute("x"), Make.attribute("y", optional: false)],
        unique: [["x"]])
    ]
    let models = try [first, second, third].map { try ManagedObjectModel(entities: $0) }
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: models[0], objects: 8, seed: 3)
    try Connection.execute("UPDATE ZA SET ZX = 'x' || (Z_PK % 3)", on: url.path)
    let decisions = [
      DataDecision(entity: "A", property: "y", .fill(.string("new"))),
      DataDecision(entity: "A", property: "x", .quarantine),
    ]
    let location = try StoreLocation(resolving: url.path, files: POSIXFileOperations())
    let vault = StoreVault(location)
    var plans: MigrationPlan?
    let hops = try zip(models, models.dropFirst()).map { source, destination in
      MigrationHop(
        source: source, destination: destination, mapping: try MappingModel.inferred(from: source, to: destination))
    }
    var chain: CandidateChain?
    let version = try vault.replaceStore(
      prepare: { StoreReplacement() },
      build: { hold, candidate in
        let run = CandidateChain(
          hold: hold, candidatePath: candidate, hops: hops, settings: RunSettings(proof: .full, decisions: decisions))
        chain = run
        plans = try run.build { _, _ in nil }
      }, prove: { _, _ in try chain?.prove() })
    let plan = try #require(plans)
    #expect(plan.decisions.map(\.filled) == [8, 0])
    #expect(plan.decisions.map(\.quarantined) == [0, 5])
    let files = try vault.quarantineFiles(of: try #require(version).name.text)
    #expect(try files.map { try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n").count } == [5])
    #expect(try Connection(reading: url).firstInteger("SELECT COUNT(*) FROM ZA WHERE ZY = 'new'") == 3)
    withExtendedLifetime(directory) {}
  }

  @Test func `a decision that no row needs changes nothing`() throws {
    let directory = try TemporaryDirectory()
    let (url, source) = try DataDecisionTests.makeStore(
      DataDecisionTests.graph(unique: false), in: directory, objects: 10, names: 1000, seed: 6)
    let destination = try ManagedObjectModel(entities: DataDecisionTests.graph(unique: true))
    let before = try TagGraph(url)
    let decision = DataDecision(entity: "Tag", property: "name", .quarantine)
    guard
      case .migrated(let report) = try DataDecisionTests.assistant(url, source, destination, [decision]).migrateStore()
    else {
      Issue.record("expected a migration")
      return
    }
    #expect(report.plan.decisions.map(\.removed) == [0])
    #expect(report.plan.losses.isEmpty && report.quarantine.isEmpty)
    #expect(try TagGraph(url) == before)
    withExtendedLifetime(directory) {}
  }
}
