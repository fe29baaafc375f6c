import Foundation
import Heirloom
import HeirloomCommands
import HeirloomStore
import HeirloomStories
import TestSupport
import Testing

/// The story Aircraft: flight data moves into objects of its own, in stages.
struct AircraftStagesTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("Aircraft.sqlite") }
  private let hangar: Hangar
  private let flown = Fleet.sample(count: 60).paintedAndFlown()

  init() throws {
    directory = try TemporaryDirectory()
    hangar = try Hangar()
  }

  private func makeStore(at url: URL) throws {
    try flown.makeStore(at: url, model: hangar.models[1])
    try flown.addColorsAndFlightData(to: url, model: hangar.models[1])
  }

  private func report(_ outcome: MigrationOutcome) throws -> MigrationReport {
    let report = try #require(outcome.report)
    return report
  }

  @Test func `every aircraft, colour, log entry and byte of flight data is in the last version`() throws {
    try makeStore(at: url)
    let before = try hangar.rows(url, "SELECT Z_PK, ZFLIGHTDATA FROM ZAIRCRAFT WHERE ZFLIGHTDATA NOT NULL ORDER BY 1")
    let stages = AircraftStages()
    let report = try report(hangar.launch(url, stages))
    #expect(stages.log.count == 2)
    #expect(try Fleet(of: url, model: hangar.models[3]) == flown)
    // Plain SQL shows the rows in the file: each record leads to its aircraft, and each aircraft to its record.
    #expect(try hangar.rows(url, "SELECT ZAIRCRAFT, ZDATA FROM ZFLIGHTDATA ORDER BY 1") == before)
    #expect(
      try hangar.rows(
        url,
        "SELECT a.Z_PK FROM ZAIRCRAFT AS a JOIN ZFLIGHTDATA AS f ON f.Z_PK = a.ZRECORDEDFLIGHT AND f.ZAIRCRAFT = a.Z_PK"
      )
      .count == before.count)
    #expect(before.count == flown.recordedCount)
    // The copied values are not lost: the attribute is empty when it goes.
    #expect(report.plan.hops.map(\.losses) == [[], []])
    #expect(try Fleet(of: report.previousVersion.storeURL, model: hangar.models[1]) == flown)
    #expect(Tool(directory: directory.url)("verify", url.path).code == 0)

    let bytes = StoreBytes(of: url)
    let again = AircraftStages()
    guard case .upToDate = try hangar.launch(url, again) else {
      Issue.record("the second launch had something to do")
      return
    }
    #expect(again.log.isEmpty)
    #expect(StoreBytes(of: url) == bytes)
  }

  @Test func `keys stay, and go on where the stages ended`() throws {
    try makeStore(at: url)
    let aircraft = try hangar.rows(url, "SELECT Z_PK, ZTAILNUMBER FROM ZAIRCRAFT ORDER BY 1")
    let entries = try hangar.rows(url, "SELECT Z_PK, ZAIRCRAFT, ZDATE, ZREMARKS FROM ZLOGENTRY ORDER BY 1")
    _ = try hangar.launch(url, AircraftStages())
    #expect(try hangar.rows(url, "SELECT Z_PK, ZTAILNUMBER FROM ZAIRCRAFT ORDER BY 1") == aircraft)
    #expect(
      try hangar.rows(url, "SELECT Z_PK, ZAIRCRAFT, ZDATE, ZREMARKS FROM ZLOGENTRY ORDER BY 1") == entries)
    let highest = try hangar.rows(url, "SELECT MAX(Z_PK) FROM ZFLIGHTDATA")
    #expect(highest == [[.integer(Int64(flown.recordedCount))]])
    #expect(try hangar.rows(url, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'FlightData'") == highest)
  }

  @Test func `from the first version straight to the last it comes out as step by step`() throws {
    let fleet = Fleet.sample(count: 60)
    try fleet.makeStore(at: url, model: hangar.models[0])
    let other = directory.file("Other.sqlite")
    try fleet.makeStore(at: other, model: hangar.models[0])
    let straight = AircraftStages()
    let report = try report(hangar.launch(url, straight))
    try hangar.migrate(other, toVersion: 1)
    _ = try hangar.launch(other, AircraftStages())
    let contents = try StoreContents(of: url, model: hangar.models[3])
    #expect(contents == (try StoreContents(of: other, model: hangar.models[3])))
    #expect(try Fleet(of: url, model: hangar.models[3]) == fleet)
    #expect(straight.log.count == 2)
    #expect(try Fleet(of: report.previousVersion.storeURL, model: hangar.models[0]) == fleet)
    #expect(try Tool(directory: directory.url)("versions", url.path, "--json").json()["versions"] as? [Any] != nil)
  }

  @Test func `a store of the version in between is led on, and what was not copied is not dropped`() throws {
    try makeStore(at: url)
    let stages = AircraftStages()
    try hangar.migrate(url, toVersion: 2)
    // That version's own app copied nothing.
    let error = try #require(throws: MigrationAssistantError.self) { try hangar.launch(url, stages) }
    #expect(error.description.contains("in no object of their own"), "\(error.description)")
    #expect(error.description.contains("willMigrate"), "\(error.description)")
    #expect(error.description.contains("the attribute goes"), "\(error.description)")
    #expect(try Fleet(of: url, model: hangar.models[2]) == flown)
  }

  /// Objects that are copied before something happens.
  static let places = LongTests.areOn ? [0, 1, 20, 30, 44] : [20]

  @Test(arguments: places)
  func `a handler that throws leaves every object, and the next launch copies all`(_ place: Int) throws {
    try makeStore(at: url)
    let contents = try StoreContents(of: url, model: hangar.models[1])
    let stages = AircraftStages { if $0 == place { throw CocoaError(.fileReadCorruptFile) } }
    let error = try #require(throws: MigrationAssistantError.self) { try hangar.launch(url, stages) }
    #expect(error.description.contains("didMigrate"), "\(error.description)")
    #expect(error.description.contains("flight data become objects"), "\(error.description)")
    #expect(try StoreContents(of: url, model: hangar.models[1]) == contents)
    #expect(try FileManager.default.contentsOfDirectory(atPath: url.path + ".heirloom/incoming") == [])
    _ = try hangar.launch(url, AircraftStages())
    #expect(try Fleet(of: url, model: hangar.models[3]) == flown)
  }

  @Test func `a run that is cancelled in a handler leaves every object`() throws {
    try makeStore(at: url)
    let contents = try StoreContents(of: url, model: hangar.models[1])
    let progress = Locked<Progress?>(nil)
    let stages = AircraftStages { number in if number == 10 { progress.withLock { $0?.cancel() } } }
    let app = try hangar.app(url, stages)
    let assistant = app.assistant(ModelController(storeURL: url))
    progress.withLock { $0 = assistant.progress }
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect(error.code == "cancelled")
    #expect(try StoreContents(of: url, model: hangar.models[1]) == contents)
    _ = try hangar.launch(url, AircraftStages())
    #expect(try Fleet(of: url, model: hangar.models[3]) == flown)
  }

  @Test(arguments: places)
  func `a process that is killed in a handler leaves the store, and the next launch completes`(_ place: Int)
    async throws
  {
    try makeStore(at: url)
    let before = try Fleet(of: url, model: hangar.models[1])
    let path = url.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, place = place as Int] in
      let hangar = try Hangar()
      let stages = AircraftStages { if $0 == place { _ = kill(getpid(), SIGKILL) } }
      _ = try hangar.launch(URL(fileURLWithPath: path), stages)
    }
    #expect(try Fleet(of: url, model: hangar.models[1]) == before)
    #expect(before == flown)
    _ = try hangar.launch(url, AircraftStages())
    #expect(try Fleet(of: url, model: hangar.models[3]) == flown)
    #expect(try FileManager.default.contentsOfDirectory(atPath: url.path + ".heirloom/incoming") == [])
  }

  @Test func `clean-up may wait until after the last stage, and comes to the same store`() throws {
    let other = directory.file("Other.sqlite")
    try makeStore(at: url)
    try makeStore(at: other)
    let app = AircraftApp(
      storeURL: url, history: hangar.history(3), stages: try AircraftStages().manager(of: hangar.named),
      defersCleanUp: true)
    let report = try report(app.launch())
    #expect(report.plan.hops.last?.deferred.columns == ["ZAIRCRAFT": ["ZFLIGHTDATA"]])
    #expect(try Fleet(of: url, model: hangar.models[3]) == flown)
    #expect(
      try hangar.rows(url, "SELECT COUNT(*), COUNT(ZFLIGHTDATA) FROM ZAIRCRAFT") == [[.integer(60), .integer(0)]])

    let store = try PersistentStore.open(at: url, model: hangar.models[3])
    #expect(store.hasPendingDeferredMigration)
    try store.finishDeferredLightweightMigration()
    #expect(!store.hasPendingDeferredMigration)
    try store.close()
    _ = try hangar.launch(other, AircraftStages())
    let contents = try StoreContents(of: url, model: hangar.models[3])
    #expect(contents == (try StoreContents(of: other, model: hangar.models[3])))
    let columns = "SELECT name FROM pragma_table_info('ZAIRCRAFT') ORDER BY 1"
    #expect(try hangar.rows(url, columns) == hangar.rows(other, columns))
  }

  @Test func `a shipped model that was edited is refused before anything is touched`() throws {
    try makeStore(at: url)
    let bytes = StoreBytes(of: url)
    var named = hangar.named
    var entities = named[2].model.entities
    let position = try #require(entities.firstIndex { $0.name == "LogEntry" })
    entities[position].attributes.removeLast()
    named[2].model = try ManagedObjectModel(entities: entities)
    let stages = AircraftStages()
    let manager = try stages.manager(of: named)
    let error = try #require(throws: MigrationAssistantError.self) {
      try AircraftApp(storeURL: url, history: hangar.history(3), stages: manager).launch()
    }
    #expect(error.description.contains("a shipped model was edited"), "\(error.description)")
    #expect(error.coreDataCode == 134504)
    #expect(StoreBytes(of: url) == bytes)
    #expect(stages.log.isEmpty)
  }

  @Test func `the checksums in the code are those of the lock`() throws {
    #expect(hangar.models.map { $0.versionChecksum() } == AircraftStages.checksums)
  }

  @Test func `without stages the loss is told beforehand`() throws {
    try makeStore(at: url)
    let plan = try #require(try AircraftApp(storeURL: url, history: hangar.history(3)).plan())
    let loss = try #require(plan.losses.first { $0.property == "flightData" })
    #expect(loss.rows == Int64(flown.recordedCount))
  }

  @Test func `the demo tells it all, and tidies up`() throws {
    let tool = Tool(directory: Tool.snapshots, environment: ["TMPDIR": directory.url.path])
    let outcome = tool("demo", "Aircraft")
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("would drop Aircraft.flightData of 225 aircraft"))
    #expect(outcome.output.contains("225 objects of FlightData, each byte as it was"))
    #expect(outcome.output.contains("The aircraft's recorder could not be read"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    let steps = try #require(try tool("demo", "Aircraft", "--json").json()["steps"] as? [[String: Any]])
    #expect(
      steps.map { $0["name"] as? String } == [
        "create", "migrate", "use", "plan", "fail", "stages", "upToDate", "kept", "migrateFromFirst",
      ])
    #expect(steps[3]["lost"] as? Int == steps[5]["records"] as? Int)
  }
}

extension Hangar {
  var named: [(name: String, model: ManagedObjectModel)] { zip(names, models).map { ($0, $1) } }

  func app(_ url: URL, _ stages: AircraftStages) throws -> AircraftApp {
    AircraftApp(storeURL: url, history: history(3), stages: try stages.manager(of: named))
  }

  func launch(_ url: URL, _ stages: AircraftStages) throws -> MigrationOutcome {
    try app(url, stages).launch()
  }
}
