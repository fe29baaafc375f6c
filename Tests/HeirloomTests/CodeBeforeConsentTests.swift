import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// A value that the app's code keeps, though the lock acknowledges that the step loses it.
struct CodeBeforeConsentTests {
  private typealias Make = InferableChangeTests

  /// A delegate that keeps the list's name, or has nothing to give.
  private final class Delegate: MigrationAssistantDelegate {
    let keeps: Bool
    var needs = 0
    var missing: [String] = []

    init(keeps: Bool) { self.keeps = keeps }

    func migrationAssistant(
      _ assistant: MigrationAssistant, mappingModelFrom source: ManagedObjectModel, to destination: ManagedObjectModel,
      need: MappingNeed
    ) throws -> MappingModel? {
      needs += 1
      guard keeps, source.attribute(named: "listName", of: "Item") != nil else { return nil }
      return try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: "Item", to: "Item") { PropertyMapping("label", copying: "listName") }
      }
    }

    func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) {
      if case .codeMissing(let source, let destination) = event { missing.append("\(source) \(destination)") }
    }
  }

  /// Four versions: the name of the list comes, its column goes and another one comes, and a size comes.
  private static func history(byCode: Bool, in directory: TemporaryDirectory) throws -> ModelHistory {
    let title = Make.attribute("title")
    let versions = try [[], [Make.attribute("listName")], [Make.attribute("label")]].map {
      try ManagedObjectModel(entities: [Make.entity("Item", [title] + $0)])
    }
    let last = try ManagedObjectModel(entities: [
      Make.entity("Item", [title, Make.attribute("label"), Make.attribute("size")])
    ])
    let models = zip(1..., versions + [last]).map { (name: "\($0)", model: $1) }
    let history = try LossConsentTests.history(models, acknowledging: [("2", "3", ["Item.listName"])], in: directory)
    guard byCode else { return history }
    let path = directory.file("History/lock.json").path
    var lock = try VersionLock(path: path)
    lock.stepsByCode = [VersionLock.Step(source: "2", destination: "3")]
    try Data(lock.encoded()).write(to: URL(fileURLWithPath: path))
    #expect(try VersionLock(path: path) == lock)
    return try ModelHistory(contentsOf: directory.file("History"))
  }

  private static func makeStore(in directory: TemporaryDirectory, _ history: ModelHistory) throws -> URL {
    let url = directory.file("Items.sqlite")
    let model = try #require(try history.model(named: "2"))
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: model))
    for number in 1...3 {
      let item = try context.insert("Item")
      item["title"] = .string("\(number)")
      item["listName"] = .string("List \(number)")
    }
    try context.save()
    return url
  }

  @Test(arguments: [true, false], [LossPolicy.keepVersion, .stop])
  func `code that keeps a value is asked before the lock`(byCode: Bool, losses: LossPolicy) throws {
    let directory = try TemporaryDirectory()
    let history = try Self.history(byCode: byCode, in: directory)
    let url = try Self.makeStore(in: directory, history)
    var configuration = MigrationAssistant.Configuration()
    configuration.losses = losses
    let assistant = MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url), history: history, configuration: configuration)
    let delegate = Delegate(keeps: true)
    assistant.delegate = delegate
    guard case .migrated(let report) = try assistant.migrateStore() else {
      Issue.record("not migrated")
      return
    }
    #expect(report.plan.losses.isEmpty && delegate.missing.isEmpty)
    let migrated = try Connection(path: url.path, mode: .readOnly)
    #expect(try migrated.firstInteger("SELECT COUNT(*) FROM ZITEM WHERE ZLABEL LIKE 'List %'") == 3)
    #expect(try StoreArchive(storeURL: url).previousVersions().map(\.isPinned) == [false])
  }

  @Test(arguments: [nil, false])
  func `what nobody's code keeps is lost with the lock's consent, and only there`(keeps: Bool?) throws {
    for byCode in [false, true] {
      let directory = try TemporaryDirectory()
      let history = try Self.history(byCode: byCode, in: directory)
      let url = try Self.makeStore(in: directory, history)
      let assistant = MigrationAssistant(
        storeURL: url, modelController: ModelController(storeURL: url), history: history)
      let delegate = keeps.map(Delegate.init)
      assistant.delegate = delegate
      guard case .migrated(let report) = try assistant.migrateStore() else {
        Issue.record("not migrated")
        return
      }
      #expect(report.plan.losses.map(\.name) == ["Item.listName"])
      #expect(report.plan.losses.map(\.consent) == [byCode ? nil : .lock])
      #expect(report.plan.warnings.contains { $0.contains("the app's own code") } == byCode)
      #expect(try StoreArchive(storeURL: url).previousVersions().map(\.isPinned) == [byCode])
      if let delegate {
        #expect(delegate.needs > 0)
        #expect(delegate.missing == (byCode ? ["2 3"] : []))
      }
    }
  }

  @Test func `without its code, a step is a reason to stop where losses stop a migration`() throws {
    let directory = try TemporaryDirectory()
    let history = try Self.history(byCode: true, in: directory)
    let url = try Self.makeStore(in: directory, history)
    var configuration = MigrationAssistant.Configuration()
    configuration.losses = .stop
    let before = try FileContents(of: url)
    let assistant = MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url), history: history, configuration: configuration)
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .lossesNotConsented(_, let plan) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(plan.stepsWithoutCode == ["\"2\" → \"3\""])
    #expect(try FileContents(of: url) == before)
  }
}
