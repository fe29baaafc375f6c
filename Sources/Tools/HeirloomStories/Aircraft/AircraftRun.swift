package import Foundation
import Heirloom
import HeirloomCompare
import HeirloomOutput

package struct AircraftRun: DemoRun {
  package static let name = "Aircraft"
  package static let versionCount = 4

  private static let aircraftCount = 300

  private let story: DemoStory
  package let directory: URL
  package private(set) var tale: DemoTale

  package init(story: DemoStory, directory: URL, tale: DemoTale) {
    self.story = story
    self.directory = directory
    self.tale = tale
  }

  private var url: URL { directory.appendingPathComponent("Aircraft.sqlite") }
  private var models: [ManagedObjectModel] { story.versions.map(\.model) }

  package var storePath: String { url.path }

  package mutating func tell() throws {
    tale.lines = [
      tale.style.bold("Aircraft get colours, and their flight data move into objects of their own, stage by stage."),
      "Everything happens in \(directory.path).",
    ]
    let first = Fleet.sample(count: Self.aircraftCount)
    try makeStore(of: first)
    try update(first)
    let flown = try use(first)
    try lookWithoutStages(flown)
    try failInStage(flown)
    let kept = try migrateInStages(flown)
    try launchAgain()
    try readKept(kept, flown)
    try migrateFromFirst(first)
    tale.lines += ["", tale.style.green("All of this was checked, aircraft by aircraft, nothing assumed.")]
  }

  // MARK: The steps

  private mutating func makeStore(of fleet: Fleet) throws {
    tale.heading("The app ships with the model \"\(story.versions[0].name)\"")
    try fleet.makeStore(at: url, model: models[0])
    try ModelController(storeURL: url).archive(models[0])
    try check(try Fleet(of: url, model: models[0]) == fleet, "the store does not hold the fleet")
    tale.say("\(number(fleet.aircraft.count)) aircraft with \(counted(Int64(fleet.logEntryCount), "log entry")).")
    tale.step("create", [("aircraft", .integer(Int64(fleet.aircraft.count)))])
  }

  private mutating func update(_ fleet: Fleet) throws {
    tale.heading("An update brings the model \"\(story.versions[1].name)\", and the app starts")
    for change in ModelDifference(from: models[0], to: models[1]).changes where change.isHashed {
      tale.say("changed: \(change.description)")
    }
    let report = try migrated(AircraftApp(storeURL: url, history: story.history(at: 1)).launch())
    try check(try Fleet(of: url, model: models[1]) == fleet, "the migrated store does not hold the fleet")
    tale.say("Inferred and done in \(durationText(report.seconds)); kept: \(report.previousVersion.id).")
    tale.step("migrate", [("version", .text(story.versions[1].name)), ("retained", .text(report.previousVersion.id))])
  }

  private mutating func use(_ fleet: Fleet) throws -> Fleet {
    tale.heading("The aircraft are painted, and fly")
    let flown = fleet.paintedAndFlown()
    try flown.addColorsAndFlightData(to: url, model: models[1])
    try check(try Fleet(of: url, model: models[1]) == flown, "the store does not hold what was written")
    let store = try PersistentStore.open(at: url, model: models[1], isReadOnly: true)
    let white = try ManagedObjectContext(store: store).count(
      ObjectFetchRequest("Aircraft", where: "colorScheme.primary == %@", "white"))
    try store.close()
    let expected = flown.aircraft.count { $0.colorScheme?.primary == "white" }
    try check(white == expected, "\(white) aircraft instead of \(expected) are white")
    tale.say("colorScheme.primary == \"white\": \(number(white)) aircraft.")
    tale.say("flightData: \(number(flown.recordedCount)) aircraft, some of them with no byte.")
    tale.step("use", [("white", .integer(Int64(white))), ("recorded", .integer(Int64(flown.recordedCount)))])
    return flown
  }

  private mutating func lookWithoutStages(_ flown: Fleet) throws {
    tale.heading("The model \"\(story.versions[3].name)\" keeps flight data in objects of their own")
    guard let plan = try AircraftApp(storeURL: url, history: story.history(at: 3)).plan() else {
      throw failure("there is nothing to migrate")
    }
    let loss = plan.losses.first { $0.entity == "Aircraft" && $0.property == "flightData" }
    try check(loss?.rows == Int64(flown.recordedCount), "the plan does not report what inference would lose")
    tale.say(
      "Inferred, the step would drop Aircraft.flightData of \(number(flown.recordedCount)) aircraft: heirloom plan reports it."
    )
    tale.say(
      "So the app gives stages: \"\(story.versions[2].name)\" only adds, code copies, and the last step only removes.")
    tale.step("plan", [("lost", .optional(loss?.rows))])
  }

  private mutating func failInStage(_ flown: Fleet) throws {
    tale.heading("The app starts, and its code fails in the middle of a stage")
    let half = flown.recordedCount / 2
    let stages = AircraftStages { number in if number == half { throw DemoMishap() } }
    do {
      _ = try AircraftApp(
        storeURL: url, history: story.history(at: 3), stages: try stages.manager(of: named)
      ).launch()
    } catch let error as MigrationAssistantError {
      try check(error.description.contains(DemoMishap().description), "the error is another: \(error.description)")
      tale.say("The launch throws: \(error.description)")
      try check(try Fleet(of: url, model: models[1]) == flown, "the failed launch changed the store")
      tale.say("The store is unchanged: \(number(half)) copies were made in a candidate, and were removed with it.")
      tale.step(
        "fail", [("code", .text(error.code)), ("coreDataCode", .optional(error.coreDataCode.map { Int64($0) }))])
      return
    }
    throw failure("the launch went well although a handler threw")
  }

  private mutating func migrateInStages(_ flown: Fleet) throws -> PreviousVersion {
    tale.heading("It starts again, and nothing fails")
    let stages = AircraftStages()
    let manager = try stages.manager(of: named)
    let report = try migrated(AircraftApp(storeURL: url, history: story.history(at: 3), stages: manager).launch())
    for (position, stage) in manager.stages.enumerated() { tale.say("stage \(position + 1): \(stage.label)") }
    for line in stages.log { tale.say("handler: \(line)") }
    try check(try Fleet(of: url, model: models[3]) == flown, "the migrated store does not hold the fleet")
    let store = try PersistentStore.open(at: url, model: models[3], isReadOnly: true)
    let records = try ManagedObjectContext(store: store).count("FlightData")
    try store.close()
    try check(records == flown.recordedCount, "there are \(records) objects of FlightData")
    tale.say("\(number(records)) objects of FlightData, each byte as it was; one swap at the end.")
    tale.say("It took \(durationText(report.seconds)); kept: \(report.previousVersion.id).")
    tale.step(
      "stages",
      [
        ("records", .integer(Int64(records))), ("retained", .text(report.previousVersion.id)),
        ("seconds", .number(report.seconds)),
      ])
    return report.previousVersion
  }

  private mutating func launchAgain() throws {
    tale.heading("The app starts once more")
    let bytes = try Data(contentsOf: url)
    let stages = AircraftStages()
    let outcome = try AircraftApp(
      storeURL: url, history: story.history(at: 3), stages: try stages.manager(of: named)
    ).launch()
    guard case .upToDate = outcome, stages.log.isEmpty else { throw failure("the next launch migrated again") }
    try check(try Data(contentsOf: url) == bytes, "the next launch changed the store")
    tale.say("Nothing to do; no handler ran, no byte of the store changed.")
    tale.step("upToDate", [])
  }

  private mutating func readKept(_ kept: PreviousVersion, _ flown: Fleet) throws {
    tale.heading("And the version before?")
    try check(try Fleet(of: kept.storeURL, model: models[1]) == flown, "the kept version is not the fleet from before")
    tale.say("\(kept.id) holds all \(number(flown.aircraft.count)) aircraft, flight data in their attribute.")
    tale.step("kept", [("aircraft", .integer(Int64(flown.aircraft.count)))])
  }

  private mutating func migrateFromFirst(_ first: Fleet) throws {
    tale.heading("Another user never updated: from the first version to the last, in one launch")
    let other = directory.appendingPathComponent("Other.sqlite")
    try first.makeStore(at: other, model: models[0])
    let report = try migrated(
      AircraftApp(
        storeURL: other, history: story.history(at: 3), stages: try AircraftStages().manager(of: named)
      ).launch())
    try check(try Fleet(of: other, model: models[3]) == first, "the migrated store does not hold the fleet")
    tale.say("All \(number(first.aircraft.count)) aircraft, in \(durationText(report.seconds)); one version is kept.")
    tale.step("migrateFromFirst", [("aircraft", .integer(Int64(first.aircraft.count)))])
  }

  // MARK: Parts

  private var named: [(name: String, model: ManagedObjectModel)] { story.versions.map { ($0.name, $0.model) } }

  private func number(_ count: Int) -> String { grouped(Int64(count)) }

  private func migrated(_ outcome: MigrationOutcome) throws -> MigrationReport {
    guard case .migrated(let report) = outcome else { throw failure("there was nothing to migrate") }
    return report
  }
}

/// Thrown once by the story's stage code.
private struct DemoMishap: Error, CustomStringConvertible {
  let description = "The aircraft's recorder could not be read"
}
