import Foundation
import Heirloom
import HeirloomSupport
import TestSupport
import Testing

/// Migrations whose clean-up waits: the store has the new model at once, and is the same in the end.
struct DeferredMigrationTests {
  /// Changes that leave something behind, or nearly do.
  static let removals: [InferableChangeTests.Change] = {
    func indexed(_ entity: EntityDescription, _ properties: [String]) -> EntityDescription {
      var entity = entity
      entity.indexes = properties.map {
        FetchIndexDescription(name: "by\($0)", elements: [FetchIndexElementDescription(property: $0)])
      }
      return entity
    }
    let values = ["a", "b", "c"].map { Make.attribute($0) }
    return [
      InferableChangeTests.Change(
        "attributes removed, one of them indexed", [indexed(Make.entity("A", values), ["a", "b"])],
        [indexed(Make.entity("A", [Make.attribute("b")]), ["b"])]),
      InferableChangeTests.Change(
        "entity removed with its relationship",
        [
          indexed(Make.entity("A", values, [Make.toMany("zs", "Z", "as")]), ["c"]),
          Make.entity("Z", values, [Make.toMany("as", "A", "zs")]),
        ], [Make.entity("A", values)]),
      InferableChangeTests.Change(
        "one attribute's name taken by another",
        [Make.entity("A", [Make.attribute("x"), Make.attribute("y"), Make.attribute("z")])],
        [Make.entity("A", [Make.attribute("x", id: "other"), Make.attribute("z")])]),
      InferableChangeTests.Change(
        "entity renamed, attribute renamed, attribute removed, constraint removed",
        [Make.entity("A", values, unique: [["a"]])],
        [Make.entity("B", [Make.attribute("d", id: "b"), Make.attribute("e", value: .string("new"))], id: "A")]),
      InferableChangeTests.Change(
        "index added and attribute removed", [Make.entity("A", values)],
        [indexed(Make.entity("A", [Make.attribute("a"), Make.attribute("b")]), ["a"])]),
      InferableChangeTests.Change(
        "rows of an entity that is gone in a table that stays",
        [Make.entity("P", values), Make.entity("Q", [Make.attribute("q")], parent: "P")],
        [Make.entity("P", values)]),
      InferableChangeTests.Change(
        "many-to-many becomes to-one",
        [
          Make.entity("A", [], [Make.toMany("bs", "B", "as")]), Make.entity("B", [], [Make.toMany("as", "A", "bs")]),
        ],
        [
          Make.entity("A", [], [Make.toMany("bs", "B", "as")]), Make.entity("B", [], [Make.toOne("as", "A", "bs")]),
        ]),
    ]
  }()

  static let changes =
    removals
    + (LongTests.areOn ? InferableChangeTests.changes + InferableChangeTests.arrivals + BuilderTests.traps : [])

  @Test(arguments: changes, LongTests.areOn ? [0, 1, 9] : [9])
  func `a deferred migration comes to the same store in the end`(
    change: InferableChangeTests.Change, objects: Int
  ) throws {
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: change.before)
    let destination = try ManagedObjectModel(entities: change.after + [EntityDescription(name: "Zone")])
    let (atOnce, later) = (directory.file("AtOnce.sqlite"), directory.file("Later.sqlite"))
    try StoreGenerator.makeStore(at: atOnce, model: source, objects: objects, seed: 5)
    try FileManager.default.copyItem(at: atOnce, to: later)

    let plain = try #require(try Self.migrate(atOnce, from: source, to: destination, defers: false))
    let deferred = try #require(try Self.migrate(later, from: source, to: destination, defers: true))
    #expect(plain.deferred.isEmpty)
    #expect(deferred.losses == plain.losses && deferred.rows == plain.rows)
    #expect(try StoreContents(of: later, model: destination) == StoreContents(of: atOnce, model: destination))
    try Self.checkPending(deferred.deferred, in: later, model: destination)

    let store = try PersistentStore.open(at: later, model: destination)
    #expect(store.hasPendingDeferredMigration == !deferred.deferred.isEmpty)
    try store.finishDeferredLightweightMigration()
    #expect(!store.hasPendingDeferredMigration && !store.metadata.hasDeferredMigration)
    #expect(try !store.finishDeferredLightweightMigrationTask())
    try store.close()
    try Self.compare(later, with: atOnce, model: destination)
  }

  @Test(arguments: LongTests.areOn ? removals : Array(removals.prefix(2)))
  func `rows come and go while clean-up waits`(change: InferableChangeTests.Change) throws {
    let directory = try TemporaryDirectory()
    let source = try ManagedObjectModel(entities: change.before)
    let destination = try ManagedObjectModel(entities: change.after)
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: source, objects: 7, seed: 2)
    _ = try Self.migrate(url, from: source, to: destination, defers: true)
    let store = try PersistentStore.open(at: url, model: destination)
    let other = try PersistentStore.open(at: url, model: destination)
    let entity = try #require(destination.entities.first).name
    var isMore = true
    var count = try ManagedObjectContext(store: other).count(entity)
    while isMore {
      isMore = try store.finishDeferredLightweightMigrationTask()
      let context = ManagedObjectContext(store: other)
      let first = try context.insert(entity)
      let second = try context.insert(entity)
      for object in [first, second] {
        for attribute in destination.attributes(of: entity) where attribute.type == .string {
          try object.set("\(count) \(attribute.name)", for: attribute.name)
        }
      }
      try context.save()
      try context.delete(second)
      try context.save()
      count += 1
      #expect(try ManagedObjectContext(store: store).count(entity) == count)
    }
    try other.close()
    try store.close()
    let report = try StoreVerification.report(onStoreAt: url.path)
    #expect(report.findings.filter { $0.severity < .note } == [])
  }

  static func migrate(
    _ store: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel, defers: Bool,
    builder: BuilderChoice = .always(.cloneAndAlter)
  ) throws -> MigrationPlan? {
    let assistant = MigrationAssistant(
      store, from: source, to: destination, .init(defersLightweightMigration: defers), builder: builder)
    let planned = try assistant.plan()
    guard case .migrated(let report) = try assistant.migrateStore() else { return nil }
    #expect(planned?.deferred == report.plan.deferred)
    return report.plan
  }

  /// Checks that waiting clean-up is in the file, is listed, and is neither a difference nor foreign.
  static func checkPending(_ pending: DeferredMigration?, in url: URL, model: ManagedObjectModel) throws {
    guard let pending else { return }
    let metadata = try StoreMetadata(contentsOf: url)
    #expect(metadata.deferredMigration == (pending.isEmpty ? nil : pending))
    #expect(metadata.hasDeferredMigration == !pending.isEmpty)
    let connection = try Connection(reading: url, options: .inspecting)
    let actual = try ActualSchema(of: connection)
    let schema = PhysicalSchema(model: model, actual: actual)
    #expect(actual.pending(under: schema) == pending && actual.drift(from: schema) == [])
    let owned = actual.ownership(under: schema)
    #expect(
      !owned.contains { [.foreign, .leftover].contains($0.ownership) && pending.tables.contains($0.object.table) })
    try connection.close()
    let report = try StoreVerification.report(onStoreAt: url.path)
    #expect(report.findings.contains { $0.kind == .pendingCleanUp } == !pending.isEmpty)
  }

  /// Checks that a real store is the same, whether clean-up waits or not.
  static func check(_ run: CorpusRun) throws {
    let (atOnce, model) = (try run.copy(by: .cloneAndAlter).url, run.history.current)
    try Corpus.withCopy(of: run.store) { later in
      let assistant = MigrationAssistant(
        later, run.history, .init(defersLightweightMigration: true), builder: .always(.cloneAndAlter))
      guard case .migrated(let report) = try assistant.migrateStore() else {
        Issue.record("\(run.name): expected a migration")
        return
      }
      try checkPending(report.plan.deferred, in: later, model: model)
      #expect(try StoreContents(of: later, model: model) == run.after, run.name)
      let store = try PersistentStore.open(at: later, model: model)
      try store.finishDeferredLightweightMigration()
      try store.close()
      try compare(later, with: atOnce, model: model)
    }
  }

  /// Generations, free pages and the order of columns may differ.
  static func compare(_ later: URL, with atOnce: URL, model: ManagedObjectModel) throws {
    var pictures: [StorePicture] = []
    for url in [later, atOnce] { pictures.append(try StorePicture(of: url, model: model)) }
    let differences = StorePicture.differences(heirloom: pictures[0], coreData: pictures[1]).filter { difference in
      switch difference.place {
      case .metadata("HeirloomGeneration"): return false
      case .columnOrder: return false
      default: return true
      }
    }
    #expect(differences.isEmpty, "\(differences)")
    // Faults from before are in both.
    let candidate = StoreModelCandidate(source: .file("current"), model: model)
    let findings = try [later, atOnce].map { url in
      // Their messages name the folder.
      try StoreVerification.report(onStoreAt: url.path, candidates: [candidate]).findings.map {
        "\($0)".replacingOccurrences(of: url.deletingLastPathComponent().path, with: "")
      }
    }
    #expect(findings[0] == findings[1])
  }
}
