import Foundation
import Heirloom
import HeirloomModel
import TestSupport
import Testing

/// The tool as a process among others: started ten times at once, and killed at any moment.
///
/// A quick selection runs with every `swift test`; `HEIRLOOM_LONG_TESTS=1` runs the full numbers.
@Suite(.enabled(if: BuiltTool.url != nil, "the tool was not built beside the tests"), .serialized)
struct ProcessTests {
  private struct Scene {
    let directory: TemporaryDirectory
    let store: URL
    let models: URL
    let before: StoreContents
    let first: ManagedObjectModel
    let last: ManagedObjectModel

    init(objects: Int) throws {
      directory = try TemporaryDirectory()
      store = directory.file("Done.sqlite")
      models = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Snapshots/Done")
      let history = try ModelHistory(contentsOf: models)
      first = try #require(try history.model(named: "Done"))
      last = history.current
      try StoreGenerator.makeStore(at: store, model: first, objects: objects, seed: 11)
      before = try StoreContents(of: store, model: first)
    }

    func start() throws -> (process: Process, output: Pipe) {
      let process = Process()
      process.executableURL = BuiltTool.url
      process.arguments = ["migrate", store.path, "--to", models.path, "--json"]
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      return (process, output)
    }

    func companion(_ name: String) -> [String] {
      (try? FileManager.default.contentsOfDirectory(atPath: store.path + ".heirloom/" + name)) ?? []
    }

    func checkMigrated() throws {
      let after = try StoreContents(of: store, model: last)
      #expect(
        after.objects["Item"]?.mapValues { $0.values["name"] }
          == before.objects["Item"]?.mapValues { $0.values["name"] })
      let kept = companion("previous")
      #expect(kept.count == 1)
      #expect(companion("incoming").isEmpty)
      #expect(!FileManager.default.fileExists(atPath: store.path + ".heirloom/manifest.json"))
      let version = store.path + ".heirloom/previous/\(kept.first ?? "")/Done.sqlite"
      #expect(try StoreContents(of: URL(fileURLWithPath: version), model: first) == before)
    }
  }

  private static func outcome(_ output: Pipe) -> String {
    let data = output.fileHandleForReading.readDataToEndOfFile()
    let object = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
    return object?["outcome"] as? String ?? "none"
  }

  @Test func `of ten launches at once exactly one migrates and the others find nothing to do`() throws {
    for _ in 0..<LongTests.count(quick: 4, long: 200) {
      let scene = try Scene(objects: 300)
      let launches = try (0..<10).map { _ in try scene.start() }
      let outcomes = launches.map { launch in
        let outcome = Self.outcome(launch.output)
        launch.process.waitUntilExit()
        return outcome
      }
      #expect(outcomes.filter { $0 == "migrated" }.count == 1)
      #expect(outcomes.filter { $0 == "upToDate" }.count == 9)
      try scene.checkMigrated()
    }
  }

  @Test(.disabled(if: Sanitizer.isOn, Sanitizer.reason))
  func `whenever a run is stopped, the store is the one before or the new one, and nothing lies about`() throws {
    var duration = 0.0
    var random = SplitMix64(seed: 78)
    var cancelled = 0
    // A busy machine's runs may all be too quick or too slow for the moment that the first one told.
    for number in 0..<100 where LongTests.areOn || number < 5 || cancelled == 0 {
      let scene = try Scene(objects: 300)
      let begin = ContinuousClock.now
      let run = try scene.start()
      if number > 0 {
        Thread.sleep(forTimeInterval: duration * Double(200 + random.below(700)) / 1000)
        kill(run.process.processIdentifier, SIGINT)
      }
      let outcome = Self.outcome(run.output)
      run.process.waitUntilExit()
      if number == 0 { duration = begin.duration(to: .now) / .seconds(1) }
      // A process that is stopped before it listens has been killed.
      guard run.process.terminationReason == .exit else {
        duration *= 1.2
        continue
      }
      guard outcome != "migrated" else {
        if number > 0 { duration *= 0.8 }
        #expect(run.process.terminationStatus == 0)
        try scene.checkMigrated()
        continue
      }
      #expect(run.process.terminationStatus == 130)
      cancelled += 1
      #expect(try StoreContents(of: scene.store, model: scene.first) == scene.before)
      for name in ["previous", "incoming"] { #expect(scene.companion(name).isEmpty) }
      #expect(!FileManager.default.fileExists(atPath: scene.store.path + ".heirloom/manifest.json"))
    }
    print("stopped \(cancelled) runs")
    #expect(cancelled > 0)
  }

  @Test func `whenever a run is killed, the next one finishes and nothing is lost`() throws {
    let kills = LongTests.count(quick: 30, long: 1000)
    let measured = try Scene(objects: 300)
    let start = ContinuousClock.now
    let whole = try measured.start()
    _ = Self.outcome(whole.output)
    whole.process.waitUntilExit()
    // The time of a run depends on the machine's other work, so each whole run is timed.
    var duration = start.duration(to: .now) / .seconds(1)
    var random = SplitMix64(seed: 77)
    var inFlight = 0
    for _ in 0..<kills {
      let scene = try Scene(objects: 300)
      let run = try scene.start()
      Thread.sleep(forTimeInterval: duration * Double(random.below(1000)) / 1000)
      kill(run.process.processIdentifier, SIGKILL)
      run.process.waitUntilExit()
      if run.process.terminationReason == .uncaughtSignal { inFlight += 1 }
      // A plain opener sees one of the two versions, whole, before any recovery.
      let metadata = try StoreMetadata(contentsOf: scene.store)
      #expect(metadata.isCompatible(with: scene.first) || metadata.isCompatible(with: scene.last))
      let begin = ContinuousClock.now
      let next = try scene.start()
      let outcome = Self.outcome(next.output)
      #expect(["migrated", "upToDate"].contains(outcome))
      next.process.waitUntilExit()
      if outcome == "migrated" { duration = begin.duration(to: .now) / .seconds(1) }
      try scene.checkMigrated()
    }
    print("killed \(kills) runs, \(inFlight) of them in flight")
    #expect(LongTests.areOn ? inFlight * 2 >= kills : inFlight > 0)
  }
}
