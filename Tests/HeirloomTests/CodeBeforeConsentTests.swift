import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// A value that the app's code keeps, though the lock acknowledges that the step loses it.
struct CodeBeforeConsentTests {
  private static func delegate(keeps: Bool) -> ClosureDelegate {
    ClosureDelegate(mapping: { source, destination, _ in
      guard keeps, source.attribute(named: "listName", of: "Item") != nil else { return nil }
      return try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: "Item", to: "Item") { PropertyMapping("label", copying: "listName") }
      }
    })
  }

  private static func missing(_ delegate: ClosureDelegate) -> [String] {
    delegate.events.compactMap {
      if case .codeMissing(let source, let destination) = $0 { "\(source) \(destination)" } else { nil }
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
    let assistant = MigrationAssistant(url, history, .init(losses: losses))
    let delegate = Self.delegate(keeps: true)
    assistant.delegate = delegate
    let report = try assistant.migrate()
    #expect(report.plan.losses.isEmpty && Self.missing(delegate).isEmpty)
    #expect(try Connection(reading: url).firstInteger("SELECT COUNT(*) FROM ZITEM WHERE ZLABEL LIKE 'List %'") == 3)
    #expect(try StoreArchive(storeURL: url).previousVersions().map(\.isPinned) == [false])
  }

  @Test(arguments: [nil, false])
  func `what nobody's code keeps is lost with the lock's consent, and only there`(keeps: Bool?) throws {
    for byCode in [false, true] {
      let directory = try TemporaryDirectory()
      let history = try Self.history(byCode: byCode, in: directory)
      let url = try Self.makeStore(in: directory, history)
      let assistant = MigrationAssistant(url, history)
      let delegate = keeps.map(Self.delegate)
      assistant.delegate = delegate
      let report = try assistant.migrate()
      #expect(report.plan.losses.map(\.name) == ["Item.listName"])
      #expect(report.plan.losses.map(\.consent) == [byCode ? nil : .lock])
      #expect(report.plan.warnings.contains { $0.contains("the app's own code") } == byCode)
      #expect(try StoreArchive(storeURL: url).previousVersions().map(\.isPinned) == [byCode])
      if let delegate {
        #expect(!delegate.needs.isEmpty)
        #expect(Self.missing(delegate) == (byCode ? ["2 3"] : []))
      }
    }
  }

  @Test func `without its code, a step is a reason to stop where losses stop a migration`() throws {
    let directory = try TemporaryDirectory()
    let history = try Self.history(byCode: true, in: directory)
    let url = try Self.makeStore(in: directory, history)
    let before = try FileContents(of: url)
    let assistant = MigrationAssistant(url, history, .init(losses: .stop))
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .lossesNotConsented(_, let plan) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(plan.stepsWithoutCode == ["\"2\" → \"3\""])
    #expect(try FileContents(of: url) == before)
  }
}
