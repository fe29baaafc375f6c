import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

struct MigrationProgressTests {
  private struct Scene {
    let directory: TemporaryDirectory
    let old: ManagedObjectModel
    let new: ManagedObjectModel
    let before: StoreContents
    var store: URL { directory.file("Journal.sqlite") }

    init() throws {
      directory = try TemporaryDirectory()
      old = try ManagedObjectModel(entities: [Make.entity("Item", [Make.attribute("name")])])
      new = try ManagedObjectModel(
        entities: [Make.entity("Item", [Make.attribute("name"), Make.attribute("more")])])
      try StoreGenerator.makeStore(at: directory.file("Journal.sqlite"), model: old, objects: 40, seed: 3)
      before = try StoreContents(of: directory.file("Journal.sqlite"), model: old)
    }

    func assistant(current: ManagedObjectModel? = nil) -> MigrationAssistant {
      MigrationAssistant(store, from: old, to: current ?? new)
    }

    func checkUntouched() throws {
      #expect(try StoreContents(of: store, model: old) == before)
      #expect(try assistant().archive.previousVersions().isEmpty)
      #expect(try assistant().status() == .tooOld)
    }
  }

  /// A progress that notes each change, whoever else has the processors.
  private final class RecordedProgress: Progress, @unchecked Sendable {
    private let state = Locked<(phase: String, seen: [(phase: String, fraction: Double)])>(("before", []))

    var seen: [(phase: String, fraction: Double)] { state.withLock(\.seen) }

    func begin(_ phase: String) { state.withLock { $0.phase = phase } }

    override var completedUnitCount: Int64 {
      didSet {
        let fraction = fractionCompleted
        state.withLock { $0.seen.append(($0.phase, fraction)) }
      }
    }
  }

  private final class Listener: MigrationAssistantDelegate, Sendable {
    private let onEvent: @Sendable (MigrationEvent) -> Void

    init(_ onEvent: @escaping @Sendable (MigrationEvent) -> Void) { self.onEvent = onEvent }

    func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) { onEvent(event) }
  }

  private func code(_ error: any Error) -> String? { (error as? MigrationAssistantError)?.code }

  // MARK: Progress

  @Test func `a migration is its share of an app's progress, and one with nothing to do is too`() throws {
    let scene = try Scene()
    for assistant in [scene.assistant(), scene.assistant()] {
      let launch = Progress(totalUnitCount: 10)
      launch.addChild(assistant.progress, withPendingUnitCount: 8)
      _ = try assistant.migrateStore()
      #expect(assistant.progress.fractionCompleted == 1)
      #expect(launch.completedUnitCount == 8)
    }
    let assistant = scene.assistant(current: scene.old)
    #expect(assistant.progress.totalUnitCount < 0)
    #expect(try scene.assistant().status() == .current)
  }

  @Test(arguments: [(MigrationEvent.held, true), (.held, false), (.built, true), (.built, false)])
  func `cancelling before the swap leaves the store as it was`(moment: MigrationEvent, byTheApp: Bool) throws {
    let scene = try Scene()
    let assistant = scene.assistant()
    let launch = Progress(totalUnitCount: 1)
    launch.addChild(assistant.progress, withPendingUnitCount: 1)
    let cancelled = byTheApp ? launch : assistant.progress
    let listener = Listener { event in if event == moment { cancelled.cancel() } }
    assistant.delegate = listener
    var code: String?
    do { _ = try assistant.migrateStore() } catch { code = self.code(error) }
    #expect(code == "cancelled")
    withExtendedLifetime(listener) {}
    try scene.checkUntouched()
    guard case .migrated = try scene.assistant().migrateStore() else {
      Issue.record("it is migrated by the next launch")
      return
    }
  }

  @Test(
    .slow("a statement has to take long enough for progress to move"),
    arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter], [false, true])
  func `progress moves while one statement runs`(builder: MigrationPlan.Builder, makesIndex: Bool) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Journal.sqlite")
    let names = ["name", "count"].map { Make.attribute($0, $0 == "count" ? .integer64 : .string) }
    let old = try ManagedObjectModel(entities: [Make.entity("Item", names)])
    var item = Make.entity("Item", [names[0], Make.attribute("count", makesIndex ? .integer64 : .double)])
    if makesIndex {
      item.attributes.append(Make.attribute("more"))
      item.indexes = [
        FetchIndexDescription(name: "byName", elements: [FetchIndexElementDescription(subject: .property("name"))])
      ]
    }
    let new = try ManagedObjectModel(entities: [item])
    let opened = try PersistentStore.create(at: store, model: old)
    let count = 400_000
    try opened.connection.execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) INSERT INTO ZITEM"
        + " (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCOUNT) SELECT i, 1, 1, 'item ' || i * 7919 % \(count), i FROM n")
    try opened.connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(count)")
    try opened.close()
    let assistant = MigrationAssistant(store, from: old, to: new, builder: .always(builder))
    let progress = RecordedProgress(totalUnitCount: -1)
    assistant.progress = progress
    let listener = Listener { event in
      switch event {
      case .held: progress.begin("writing")
      case .built: progress.begin("proof")
      case .proven: progress.begin("after")
      default: break
      }
    }
    assistant.delegate = listener
    _ = try assistant.migrateStore()
    withExtendedLifetime(listener) {}
    let fractions = progress.seen
    #expect(fractions.map(\.fraction) == fractions.map(\.fraction).sorted() && progress.fractionCompleted == 1)
    for (phase, count) in [("writing", 3), ("proof", 2)] {
      #expect(fractions.count { $0.phase == phase && $0.fraction > 0 && $0.fraction < 1 } >= count, "\(fractions)")
    }
  }

  @Test func `on a way of several steps, progress never goes back`() throws {
    let scene = try StagedMigrationTests.Scene()
    try scene.makeStore()
    let fractions = Locked<[Double]>([])
    let progress = Locked<Progress?>(nil)
    @Sendable func note() {
      let fraction = progress.withLock { $0?.fractionCompleted ?? -1 }
      fractions.withLock { $0.append(fraction) }
    }
    let assistant = try scene.assistant(
      [
        scene.custom(1, 2, will: { _ in note() }, did: { _ in note() }),
        scene.custom(2, 3, will: { _ in note() }, did: { _ in note() }),
      ], to: 3)
    progress.withLock { $0 = assistant.progress }
    _ = try assistant.migrateStore()
    note()
    let seen = fractions.withLock { $0 }
    #expect(seen.count == 5)
    #expect(seen == seen.sorted())
    // The first hop is done when its second handler runs, and the second hop isn't.
    #expect(seen[1] > 0 && seen[1] < 1)
    #expect(seen.last == 1)
    #expect(assistant.progress.completedUnitCount == assistant.progress.totalUnitCount)
  }

  // MARK: Tasks

  @Test func `a task waits without holding its actor, and the delegate is called on another thread`() async throws {
    let scene = try Scene()
    let names = Locked<Set<String?>>([])
    let turn = DispatchSemaphore(value: 0)
    let waited = Locked(DispatchTimeoutResult.timedOut)
    let listener = Listener { event in
      names.withLock { _ = $0.insert(Thread.current.name) }
      // It continues when another task of the actor has had its turn.
      if event == .held { waited.withLock { $0 = turn.wait(timeout: .now() + 20) } }
    }
    let outcome = try await Self.migrate(scene.assistant(), listener) { turn.signal() }
    guard case .migrated = outcome else {
      Issue.record("it was not migrated")
      return
    }
    #expect(waited.withLock { $0 } == .success)
    #expect(names.withLock { $0 } == ["heirloom"])
    #expect(try scene.assistant().status() == .current)
  }

  @MainActor private static func migrate(
    _ assistant: sending MigrationAssistant, _ listener: Listener, meanwhile: @escaping @Sendable () -> Void
  ) async throws -> MigrationOutcome {
    let other = Task { @MainActor in meanwhile() }
    let outcome = try await MigrationAssistant.migrateStore(with: assistant, delegate: listener)
    await other.value
    return outcome
  }

  @MainActor fileprivate final class Screen {
    var (events, plans): ([MigrationEvent], Int) = ([], 0)
    /// True as long as nobody called elsewhere than on the main queue. (On Linux that may be any thread.)
    var wasOnMainQueue = true
    private let mark = DispatchSpecificKey<Bool>()

    init() { DispatchQueue.main.setSpecific(key: mark, value: true) }

    func heard(_ event: MigrationEvent) {
      events.append(event)
      wasOnMainQueue = wasOnMainQueue && DispatchQueue.getSpecific(key: mark) == true
    }
  }

  @MainActor @Test func `a delegate of the main actor's is called there`() async throws {
    let scene = try Scene()
    let screen = Screen()
    let outcome = try await MigrationAssistant.migrateStore(with: scene.assistant(), mainActorDelegate: screen)
    guard case .migrated = outcome else {
      Issue.record("it was not migrated")
      return
    }
    #expect(screen.events.contains(.swapped) && screen.plans == 1 && screen.wasOnMainQueue)
    #expect(try scene.assistant().status() == .current)
  }

  @Test func `an assistant whose delegate was set elsewhere is not put on another thread`() async throws {
    let scene = try Scene()
    let set = Listener { _ in }
    let error: MigrationAssistantError?
    do {
      let assistant = scene.assistant()
      assistant.delegate = set
      _ = try await MigrationAssistant.migrateStore(with: assistant, delegate: Listener { _ in })
      error = nil
    } catch let thrown as MigrationAssistantError {
      error = thrown
    }
    #expect(error?.cause.contains("delegate") == true && error?.advice.contains("migrateStore(with:delegate:)") == true)
    withExtendedLifetime(set) {}
    try scene.checkUntouched()
  }

  @Test func `a task's priority goes along`() async throws {
    let scene = try Scene()
    let quality = Locked(QualityOfService.default)
    let listener = Listener { _ in quality.withLock { $0 = Thread.current.qualityOfService } }
    let assistant = scene.assistant()
    let task = Task(priority: .high) { [box = Locked<MigrationAssistant?>(assistant)] in
      guard let assistant = box.withLock({ $0.take() }) else { return }
      _ = try await MigrationAssistant.migrateStore(with: assistant, delegate: listener)
    }
    try await task.value
    #expect(quality.withLock { $0 } == .userInitiated)
  }

  @Test(arguments: [true, false])
  func `cancelling the task leaves the store as it was`(beforeItBegins: Bool) async throws {
    let scene = try Scene()
    let (held, cancelled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let listener = Listener { event in
      guard event == .held else { return }
      held.signal()
      cancelled.wait()
    }
    let store = scene.store
    let (old, new) = (scene.old, scene.new)
    let task = Task {
      if beforeItBegins { while !Task.isCancelled { await Task.yield() } }
      let assistant = MigrationAssistant(store, from: old, to: new)
      return try await MigrationAssistant.migrateStore(with: assistant, delegate: listener)
    }
    if !beforeItBegins {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          held.wait()
          continuation.resume()
        }
      }
    }
    task.cancel()
    cancelled.signal()
    guard case .failure(let error) = await task.result else {
      Issue.record("it was not cancelled")
      return
    }
    #expect(code(error) == "cancelled")
    try scene.checkUntouched()
  }
}

extension MigrationProgressTests.Screen: @MainActor MigrationAssistantDelegate {
  func migrationAssistant(_ assistant: MigrationAssistant, didReport event: MigrationEvent) { heard(event) }

  func migrationAssistant(
    _ assistant: MigrationAssistant, shouldMigrate plan: MigrationPlan
  ) throws -> MigrationDecision {
    plans += 1
    return .automatic
  }
}
