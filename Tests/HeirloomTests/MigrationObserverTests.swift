import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// The messages that an app's log and metrics get, their order, and the things that they never contain.
struct MigrationObserverTests {
  /// A value of a row, which no log may have.
  private static let secret = "dear diary"

  /// A type of the same shape as swift-log's `Logger`.
  private struct Logger: Sendable {
    enum Level: String { case trace, debug, info, notice, warning, error, critical }
    enum MetadataValue: Equatable { case string(String) }
    struct Message: ExpressibleByStringInterpolation {
      let text: String
      init(stringLiteral text: String) { self.text = text }
    }

    let book: Book
    func log(level: Level, _ message: Message, metadata: [String: MetadataValue]) {
      book.state.withLock { $0.lines.append((level, message.text, metadata.mapValues { "\($0)" })) }
    }
  }

  private final class Book: Sendable {
    struct State {
      var lines: [(level: Logger.Level, message: String, metadata: [String: String])] = []
      var metrics: [MigrationMetric] = []
    }
    let state = Locked(State())

    var observer: MigrationObserver {
      let logger = Logger(book: self)
      return MigrationObserver(
        log: { line in
          logger.log(
            level: Logger.Level(rawValue: line.level.rawValue) ?? .critical, "\(line.message)",
            metadata: line.metadata.mapValues { .string($0) })
        },
        metrics: { metric in self.state.withLock { $0.metrics.append(metric) } })
    }

    var headings: [String] {
      state.withLock { state in
        state.lines.map { line in
          let name = line.metadata["event"] ?? line.metadata["outcome"] ?? ""
          return "\(name.replacing("string(\"", with: "").replacing("\")", with: "")) \(line.level.rawValue)"
        }
      }
    }

    var metrics: [MigrationMetric] { state.withLock { $0.metrics } }

    var figures: [String] {
      metrics.filter { $0.name != "heirloom.events" }.map { metric in
        "\(metric.kind.rawValue) \(metric.name)"
          + metric.dimensions.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
      }
    }

    var text: String { state.withLock { "\($0.lines) \($0.metrics)" } }
  }

  private struct Quoting: Error, CustomStringConvertible {
    var description: String { "the row says \(MigrationObserverTests.secret)" }
  }

  private struct Scene {
    let directory: TemporaryDirectory
    let old: ManagedObjectModel
    let book = Book()
    var store: URL { directory.file("Journal.sqlite") }

    init() throws {
      directory = try TemporaryDirectory()
      old = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name"), Make.attribute("note")])])
      try PersistentStore.make(at: directory.file("Journal.sqlite"), model: old) { context in
        for number in 0..<6 {
          let item = try context.insert("Item")
          try item.set(MigrationObserverTests.secret, for: "name")
          if number < 4 { try item.set("\(MigrationObserverTests.secret) \(number)", for: "note") }
        }
      }
      try ModelController(storeURL: self.store).archive(old)
    }

    func assistant(to model: ManagedObjectModel, aside: Bool = false) -> MigrationAssistant {
      var configuration = MigrationAssistant.Configuration()
      configuration.observers = [book.observer, MigrationObserver()]
      if aside { configuration.incompatibleStore = .setAside }
      return MigrationAssistant(store, ModelHistory(current: model), configuration)
    }

    func checkLines() {
      #expect(book.state.withLock { $0.lines }.allSatisfy { $0.metadata["store"] == "string(\"\(store.path)\")" })
      #expect(!book.text.contains(MigrationObserverTests.secret))
      #expect(!book.metrics.contains { "\($0.dimensions)".contains(directory.url.path) })
    }
  }

  @Test func `a migration is told step by step, with what it lost`() throws {
    let scene = try Scene()
    let new = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name")])])
    _ = try scene.assistant(to: new).migrateStore()
    #expect(
      scene.book.headings == [
        "foundSourceModel debug", "started info", "held debug", "built debug", "proven debug", "retained info",
        "swapped debug", "pinned warning", "finished info", "migrated notice",
      ])
    let last = try #require(scene.book.state.withLock { $0.lines }.last)
    #expect(last.metadata["losses"] == "string(\"4 × Item.note\")")
    #expect(last.metadata["rows"] == "string(\"6\")")
    #expect(
      scene.book.figures == [
        "timer heirloom.migration.duration", "counter heirloom.launches outcome=migrated",
        "counter heirloom.migration.rows", "gauge heirloom.retained.bytes",
      ])
    #expect(scene.book.metrics.filter { $0.name == "heirloom.events" }.count == 9)
    #expect(scene.book.metrics.first { $0.name == "heirloom.migration.rows" }?.value == 6)
    scene.checkLines()

    let later = try Scene()
    _ = try later.assistant(to: later.old).migrateStore()
    #expect(later.book.headings == ["upToDate debug"])
    #expect(later.book.figures == ["counter heirloom.launches outcome=upToDate"])
  }

  @Test func `a failure is told without the words of the app's code`() throws {
    let scene = try Scene()
    let new = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name")])])
    let assistant = scene.assistant(to: new)
    assistant.delegate = ClosureDelegate(decision: { _ in throw Quoting() })
    #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect(scene.book.headings == ["foundSourceModel debug", "failed error"])
    let line = try #require(scene.book.state.withLock { $0.lines }.last)
    #expect(line.message.contains("Quoting"))
    #expect(line.metadata["code"] == "string(\"failed\")")
    #expect(scene.book.figures == ["counter heirloom.launches code=failed outcome=failed"])
    scene.checkLines()
  }

  @Test func `rows that need a decision are told by their number`() throws {
    let scene = try Scene()
    var entity = Make.entity("Item", [Make.attribute("name"), Make.attribute("note")])
    entity.uniquenessConstraints = [["name"]]
    #expect(throws: MigrationAssistantError.self) {
      try scene.assistant(to: ManagedObjectModel(entities: [entity])).migrateStore()
    }
    #expect(scene.book.headings == ["foundSourceModel debug", "failed error"])
    #expect(scene.book.figures == ["counter heirloom.launches code=decisionNeeded outcome=failed"])
    scene.checkLines()
  }

  @Test func `a store that is moved aside is told with the reason`() throws {
    let scene = try Scene()
    let new = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name", .date)])])
    guard case .setAside = try scene.assistant(to: new, aside: true).migrateStore() else {
      Issue.record("it was not moved aside")
      return
    }
    #expect(
      scene.book.headings == [
        "foundSourceModel debug", "failed error", "held debug", "retained info", "movedAside warning",
        "setAside warning",
      ])
    #expect(scene.book.state.withLock { $0.lines }.last?.metadata["code"] == "string(\"mappingNeeded\")")
    #expect(scene.book.figures == ["counter heirloom.launches outcome=setAside"])
    scene.checkLines()
  }

  @Test func `every event has a name and a line of its own, and no reason that the app gave`() {
    let events: [MigrationEvent] = [
      .foundStaleCandidate(path: "p"), .removedStaleCandidate(path: "p"), .recovered(operation: "o"),
      .snapshotDisagrees(snapshotChecksum: "a", storeChecksum: "b"), .snapshotUnreadable(reason: "r"),
      .foundSourceModel(.cache, version: nil), .mappingUnused(reason: "r"), .started(from: "a", to: "b"), .held,
      .runningStage("s", handler: .willMigrate), .built, .proven, .previousVersionKept(id: "i"), .swapped,
      .quarantined(rows: 3, paths: ["p"]), .finished(.seconds(1.5)), .failed(reason: Self.secret),
      .cleanUpPostponed(reason: "r"), .movedAside(path: "p"), .passedOver(count: 2, first: "p"), .pruned(id: "i"),
      .attributesLeftOut(path: "p", count: 2, first: "a"),
    ]
    #expect(Set(events.map(\.name)).count == events.count)
    #expect(Set(events.map(\.logLine.message)).count == events.count)
    for event in events {
      #expect("\(event)".hasPrefix(event.logLine.message) && "\(event)".count < 300)
      #expect(event.logLine.metadata["event"] == event.name)
      #expect(event.metrics[0].dimensions == ["event": event.name])
      #expect(!"\(event.logLine)".contains(Self.secret))
    }
  }
}
