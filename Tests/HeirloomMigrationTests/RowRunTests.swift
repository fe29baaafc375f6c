import Foundation
import HeirloomMapping
import HeirloomMigration
import HeirloomModel
import HeirloomStore
import HeirloomVault
import TestSupport
import Testing

/// Runs of mappings object by object: their order, what they keep in memory, and how they end early.
struct RowRunTests {
  /// The calls of policies in one test.
  private final class Log: Sendable {
    @TaskLocal static var current = Log()
    let calls = Locked<[String]>([])
    /// The most objects that were alive at one call.
    let peak = Locked(0)
    /// The call at which something is to happen.
    let place: String

    init(place: String = "") { self.place = place }

    func note(_ call: String) -> Bool {
      calls.withLock { $0.append(call) }
      return call == place
    }
  }

  private struct OwnError: Error, Equatable {}

  /// A policy that notes each call, and does something at one of them.
  private class Recorder: EntityMigrationPolicy {
    func act(_ manager: MigrationManager) throws {}

    private func note(
      _ hook: MigrationHook, _ mapping: EntityMapping, _ object: ManagedObject?, _ manager: MigrationManager
    ) throws {
      let key = (object?.objectID?.primaryKey).map { " \($0)" } ?? ""
      if Log.current.note("\(hook.rawValue) \(mapping.sourceEntityName ?? "")\(key)") { try act(manager) }
    }

    override func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {
      try note(.begin, mapping, nil, manager)
    }

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try note(.createDestinationInstances, mapping, source, manager)
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    }

    override func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws {
      try note(.endInstanceCreation, mapping, nil, manager)
    }

    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try note(.createRelationships, mapping, destination, manager)
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }

    override func endRelationshipCreation(for mapping: EntityMapping, manager: MigrationManager) throws {
      try note(.endRelationshipCreation, mapping, nil, manager)
    }

    override func performCustomValidation(for mapping: EntityMapping, manager: MigrationManager) throws {
      try note(.performCustomValidation, mapping, nil, manager)
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
      try note(.end, mapping, nil, manager)
    }
  }

  private final class Failing: Recorder {
    override func act(_ manager: MigrationManager) throws { throw OwnError() }
  }

  private final class Cancelling: Recorder {
    override func act(_ manager: MigrationManager) throws { manager.cancelMigration(with: OwnError()) }
  }

  private final class Stopping: Recorder {
    override func act(_ manager: MigrationManager) throws { manager.progress.cancel() }
  }

  /// A policy in the middle of reading when the run is cancelled.
  private final class StoppedReading: Recorder {
    override func act(_ manager: MigrationManager) throws {
      manager.progress.cancel()
      for _ in 0..<20 { _ = try manager.sourceContext.fetch(ObjectFetchRequest("Item")) }
      Issue.record("nothing interrupted the policy")
    }
  }

  // MARK: The store

  private static func item(_ more: [AttributeDescription] = [], optional: Bool = true) -> EntityDescription {
    Make.entity("Item", [Make.attribute("name", optional: optional)] + more, [Make.toOne("box", "Box", "items")])
  }

  private static let box = Make.entity("Box", [Make.attribute("label")], [Make.toMany("items", "Item", "box")])

  private static func store(
    _ policy: EntityMigrationPolicy.Type, items: [Int64], more: [String] = [], optional: Bool = true
  ) throws -> PlannedStore {
    let rows = items.map {
      "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZBOX) VALUES (\($0), 2, 1, 'item \($0)', \($0 & 1 + 1))"
    }
    return try PlannedStore(
      [box, item()], [box, item([Make.attribute("size", .integer32)], optional: optional)],
      ["INSERT INTO ZBOX (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (2, 1, 1, 'two'), (1, 1, 1, 'one')"] + rows + more,
      given: [
        EntityMapping(from: "Box", to: "Box", policy: policy), EntityMapping(from: "Item", to: "Item", policy: policy),
      ])
  }

  private static func migrate(
    _ store: PlannedStore, decisions: [DataDecision] = [], log: Log = Log()
  ) throws -> MigrationPlan {
    try Log.$current.withValue(log) {
      var policies = MigrationPolicyRegistry()
      policies.register(function: "sizeOf:") { _, arguments in
        var text = ""
        if case .value(.string(let found))? = arguments.first { text = found }
        _ = Log.current.note("sizeOf \(text)")
        return .value(.integer(Int64(text.count)))
      }
      let settings = RunSettings(policies: policies, decisions: decisions, progress: Progress(totalUnitCount: 1))
      var chain: CandidateChain?
      var plan: MigrationPlan?
      _ = try StoreVault(try StoreLocation(resolving: store.url.path, files: POSIXFileOperations())).replaceStore(
        prepare: { StoreReplacement() },
        build: { hold, candidate in
          let made = CandidateChain(hold: hold, candidatePath: candidate, hops: [store.hop], settings: settings)
          chain = made
          plan = try made.build { _, _ in nil }
        }, prove: { _, _ in try chain?.prove() })
      return try #require(plan)
    }
  }

  /// Expects that a run ends early, and that nothing of it is left.
  private static func stop(_ store: PlannedStore, _ log: Log) throws -> MigrationError? {
    let before = try Data(contentsOf: store.url)
    let error = #expect(throws: MigrationError.self) { try migrate(store, log: log) }
    #expect(try Data(contentsOf: store.url) == before)
    let left = FileManager.default.enumerator(atPath: store.url.path + ".heirloom")?.allObjects as? [String] ?? []
    #expect(!left.contains { $0.hasPrefix("incoming/") || $0.hasPrefix("previous/") || $0 == "manifest.json" })
    return error
  }

  // MARK: Order

  /// The calls by Core Data's rule: all mappings make objects, then all relate them, then all are checked.
  private static let calls = [
    "begin Box", "createDestinationInstances Box 1", "createDestinationInstances Box 2", "endInstanceCreation Box",
    "begin Item", "createDestinationInstances Item 3", "createDestinationInstances Item 8", "endInstanceCreation Item",
    "createRelationships Box 1", "createRelationships Box 2", "endRelationshipCreation Box",
    "createRelationships Item 3", "createRelationships Item 8", "endRelationshipCreation Item",
    "performCustomValidation Box", "end Box", "performCustomValidation Item", "end Item",
  ]

  @Test func `objects are visited three times, mapping by mapping in the order of their keys`() throws {
    let store = try Self.store(Recorder.self, items: [8, 3])
    let log = Log()
    let plan = try Self.migrate(store, log: log)
    #expect(log.calls.withLock { $0 } == Self.calls)
    #expect(plan.steps.count { $0.kind == .runMappings } == 1)
    #expect(
      plan.mappingResults.map { [$0.sourceObjects, $0.destinationObjects, $0.leftBehind] } == [[2, 2, 0], [2, 2, 0]])
    let connection = try store.open()
    #expect(try connection.lines("SELECT * FROM Z_PRIMARYKEY") == ["1 'Box' 0 2", "2 'Item' 0 8"])
    #expect(
      try connection.lines("SELECT Z_PK, Z_ENT, ZNAME, ZBOX, ZSIZE FROM ZITEM") == [
        "3 2 'item 3' 2 -", "8 2 'item 8' 1 -",
      ])
    #expect(try connection.lines("SELECT Z_PK, Z_ENT, ZLABEL FROM ZBOX") == ["1 1 'one'", "2 1 'two'"])
  }

  // MARK: Ending early

  @Test(arguments: calls) func `an error at any call ends the run there, and another run finds all as it was`(
    place: String
  ) throws {
    let store = try Self.store(Failing.self, items: [8, 3])
    let log = Log(place: place)
    guard case .mappingFailed(let failure)? = try Self.stop(store, log) else {
      Issue.record("no failure of a mapping")
      return
    }
    #expect(failure.underlying as? OwnError == OwnError())
    #expect(place.hasPrefix("\(failure.hook.rawValue) \(failure.entity)"))
    #expect(log.calls.withLock { $0 } == Array(Self.calls.prefix { $0 != place }) + [place])
    guard place == "createRelationships Item 3" else { return }
    _ = try Self.migrate(store)
    #expect(try store.open().lines("SELECT Z_PK, ZNAME FROM ZITEM") == ["3 'item 3'", "8 'item 8'"])
  }

  @Test(arguments: calls.filter { $0.contains("Item") }) func `a policy may cancel at any call`(place: String) throws {
    let store = try Self.store(Cancelling.self, items: [8, 3])
    guard case .mappingFailed(let failure)? = try Self.stop(store, Log(place: place)) else {
      Issue.record("no failure of a mapping")
      return
    }
    #expect(failure.underlying as? OwnError == OwnError())
  }

  @Test(arguments: [1, 128, 129, 300]) func `a run stops at the object after which it is cancelled`(
    key: Int
  ) throws {
    let store = try Self.store(Stopping.self, items: Array(1...300))
    let log = Log(place: "createDestinationInstances Item \(key)")
    guard case .cancelled? = try Self.stop(store, log) else {
      Issue.record("not cancelled")
      return
    }
    let created = log.calls.withLock { $0 }.filter { $0.hasPrefix("createDestinationInstances Item") }
    #expect(created.count == key && !log.calls.withLock { $0 }.contains("createRelationships Item 1"))
  }

  @Test func `a run is cancelled, not failed, when the cancellation interrupts what a policy reads`() throws {
    let many =
      "WITH RECURSIVE n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
      + "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZBOX) SELECT i, 2, 1, 'item ' || i, 1 FROM n"
    let store = try Self.store(StoppedReading.self, items: Array(1...9), more: [many])
    let error = try Self.stop(store, Log(place: "createDestinationInstances Item 7"))
    guard case .cancelled? = error else {
      Issue.record("\(error as Any)")
      return
    }
  }

  // MARK: Memory

  /// A policy that counts the objects that are alive, and keeps none.
  private final class Watching: EntityMigrationPolicy {
    private struct Weak {
      weak var object: ManagedObject?
    }

    private var seen: [Weak] = []

    private func watch(_ object: ManagedObject) {
      if !seen.contains(where: { $0.object === object }) { seen.append(Weak(object: object)) }
      seen.removeAll { $0.object == nil }
      let count = seen.count
      Log.current.peak.withLock { $0 = max($0, count) }
    }

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      watch(source)
      watch(try manager.createDestinationInstance(forSource: source, in: mapping))
      _ = Log.current.note("create")
    }

    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      watch(destination)
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
      _ = Log.current.note("relate")
    }
  }

  @Test func `no object is kept after its step`() throws {
    let log = Log()
    _ = try Self.migrate(try Self.store(Watching.self, items: Array(1...300)), log: log)
    let calls = log.calls.withLock { $0 }
    #expect(calls.count { $0 == "create" } == 302 && calls.count { $0 == "relate" } == 302)
    // One of each side, and those of the step before that are about to go.
    #expect(log.peak.withLock { $0 } <= 4)
  }

  private final class Keeping: EntityMigrationPolicy {
    private var kept: [(source: ManagedObject, destination: ManagedObject)] = []

    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      kept.append((source, try manager.createDestinationInstance(forSource: source, in: mapping)))
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
      guard mapping.sourceEntityName == "Item" else { return }
      for (source, destination) in kept {
        let keys = "\(source.objectID?.primaryKey ?? 0) \(destination.objectID?.primaryKey ?? 0)"
        _ = Log.current.note("\(keys) \(source["name"] ?? .string("")) \(destination["name"] ?? .string(""))")
      }
    }
  }

  @Test func `objects that a policy keeps stay what they were`() throws {
    let log = Log()
    _ = try Self.migrate(try Self.store(Keeping.self, items: Array(1...150)), log: log)
    let names = (1...150).map {
      "\($0) \($0) \(AttributeValue.string("item \($0)")) \(AttributeValue.string("item \($0)"))"
    }
    #expect(log.calls.withLock { $0 } == names)
  }

  // MARK: Odd rows

  @Test func `decisions leave objects out before code sees them, or fill them`() throws {
    func outcome(_ choice: DataDecision.Choice) throws -> (plan: MigrationPlan, calls: [String], rows: [String]) {
      let size = PropertyMapping(name: "size", valueExpression: try ValueExpression(parsing: "sizeOf:($source.name)"))
      let store = try PlannedStore(
        [Self.item(), Self.box], [Self.item([Make.attribute("size", .integer32)], optional: false), Self.box],
        ["INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'a'), (2, 2, 1, NULL), (3, 2, 1, 'abc')"],
        given: [EntityMapping(from: "Item", to: "Item", where: "box == nil") { size }])
      let log = Log()
      let decision = DataDecision(entity: "Item", property: "name", choice)
      let plan = try Self.migrate(store, decisions: [decision], log: log)
      let rows = try store.open().lines("SELECT Z_PK, ZNAME, ZSIZE FROM ZITEM")
      return (plan, log.calls.withLock { $0 }, rows)
    }
    let left = try outcome(.quarantine)
    #expect(left.plan.decisions.map(\.quarantined) == [1])
    #expect(left.calls == ["sizeOf a", "sizeOf abc"] && left.rows == ["1 'a' 1", "3 'abc' 3"])
    let filled = try outcome(.fill(.string("none")))
    #expect(filled.plan.decisions.map(\.filled) == [1])
    #expect(filled.calls == ["sizeOf a", "sizeOf ", "sizeOf abc"])
    #expect(filled.rows == ["1 'a' 1", "2 'none' 0", "3 'abc' 3"])
  }

  private final class Doubling: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      for _ in 0..<2 { _ = try manager.createDestinationInstance(forSource: source, in: mapping) }
    }
  }

  @Test func `keys at the ends of their range are kept, and there is an error where none is left`() throws {
    let odd: [Int64] = [.max, -.max, -1]
    let kept = try Self.store(Recorder.self, items: odd)
    _ = try Self.migrate(kept)
    #expect(
      try kept.open().lines("SELECT Z_PK, ZNAME FROM ZITEM") == odd.sorted().map { "\($0) 'item \($0)'" })
    _ = try Self.stop(try Self.store(Doubling.self, items: [1, .max]), Log())
    // An object without a key of its own can't be associated.
    _ = try Self.stop(try Self.store(Recorder.self, items: [0]), Log())
    let doubled = try Self.store(Doubling.self, items: [1, 5])
    _ = try Self.migrate(doubled)
    // New objects come after the highest key of the source.
    #expect(
      try doubled.open().lines("SELECT Z_PK, ZNAME FROM ZITEM")
        == ["1 'item 1'", "5 'item 5'", "6 'item 1'", "7 'item 5'"])
  }
}
