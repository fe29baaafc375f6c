import Foundation
import Heirloom
import HeirloomCommands
import HeirloomStories
import TestSupport
import Testing

/// The code of the article *Staged and deferred*, run as it is printed there.
struct StagedArticleTests {
  private let directory: TemporaryDirectory
  private var storeURL: URL { directory.file("Aircraft.sqlite") }
  private let hangar: Hangar
  private let models = Tool.snapshots.appendingPathComponent("Aircraft")

  init() throws {
    directory = try TemporaryDirectory()
    hangar = try Hangar()
  }

  private struct NotCopied: Error {
    let aircraft: String?
  }

  @Test func `every block of code in the article is in this file, line by line`() throws {
    let checkout = Tool.snapshots.deletingLastPathComponent()
    let article = try String(
      contentsOf: checkout.appendingPathComponent("Sources/Heirloom/Heirloom.docc/StagedAndDeferred.md"),
      encoding: .utf8)
    let source = "\n" + Self.trimmed(try String(contentsOfFile: #filePath, encoding: .utf8)) + "\n"
    let parts = article.components(separatedBy: "\n```")
    let blocks = parts.filter { $0.hasPrefix("swift\n") }.map { String($0.dropFirst("swift\n".count)) }
    #expect(blocks.count >= 5)
    #expect(parts.count == 2 * blocks.count + 1, "every block is in Swift, and closed")
    for block in blocks {
      #expect(source.contains("\n" + Self.trimmed(block) + "\n"), "\(block)")
    }
  }

  private static func trimmed(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  private func stages() throws -> [StoreMigrationStage] {
    let version2 = ManagedObjectModelReference(
      fileURL: models.appendingPathComponent("Aircraft 2.json"),
      versionChecksum: "m9g5rsHWxdYfdfd27quPHIsxWBMbNGZgnvhQ6XXhS4U=")
    let additions = ManagedObjectModelReference(
      fileURL: models.appendingPathComponent("Aircraft 2 additions.json"), versionChecksum: AircraftStages.checksums[2])
    let version3 = ManagedObjectModelReference(
      fileURL: models.appendingPathComponent("Aircraft 3.json"), versionChecksum: AircraftStages.checksums[3])
    let colors = LightweightMigrationStage(
      ["q4XeWgbJcsuyH/Smfplt1VtTDBSXUsLVGsK3lBIJpig="], label: "colours and flight data")

    let copy = CustomMigrationStage(migratingFrom: version2, to: additions, label: "flight data become objects")
    copy.didMigrateHandler = { context in
      for aircraft in try context.fetch(ObjectFetchRequest("Aircraft", where: "flightData != nil")) {
        let record = try context.insert("FlightData")
        try record.set(aircraft.bytes("flightData"), for: "data")
        try record.setObject(aircraft, forRelationship: "aircraft")
      }
      try context.save()
    }

    let removal = CustomMigrationStage(migratingFrom: additions, to: version3, label: "the attribute goes")
    removal.willMigrateHandler = { context in
      for aircraft in try context.fetch(ObjectFetchRequest("Aircraft", where: "flightData != nil")) {
        let record = try aircraft.object(forRelationship: "recordedFlight")
        guard let record, try record.bytes("data") == aircraft.bytes("flightData") else {
          throw NotCopied(aircraft: try aircraft.string("tailNumber"))
        }
        try aircraft.setValue(nil, forAttribute: "flightData")
      }
      try context.save()
    }
    return [colors, copy, removal]
  }

  private func makeStore() throws -> Fleet {
    let flown = Fleet.sample(count: 30).paintedAndFlown()
    try flown.makeStore(at: storeURL, model: hangar.models[1])
    try flown.addColorsAndFlightData(to: storeURL, model: hangar.models[1])
    return flown
  }

  @Test func `the article's stages lead a store to the last version`() throws {
    let flown = try makeStore()
    let history = try ModelHistory(contentsOf: models)
    let controller = ModelController(storeURL: storeURL)
    let stages = try stages()
    let (colors, copy, removal) = (stages[0], stages[1], stages[2])

    let assistant = MigrationAssistant(storeURL: storeURL, modelController: controller, history: history)
    assistant.stagedManager = try StagedMigrationManager([colors, copy, removal], history: history)
    let outcome = try assistant.migrateStore()
    try controller.archive(history.current)

    let report = try #require(outcome.report)
    #expect(report.plan.losses.isEmpty && report.plan.hops.count == 2)
    #expect(report.plan.losses == [])
    #expect(try Fleet(of: storeURL, model: hangar.models[3]) == flown)
  }

  @Test func `the article's clean-up waits and is done`() throws {
    let flown = try makeStore()
    let history = hangar.history(2)
    let controller = ModelController(storeURL: storeURL)

    var configuration = MigrationAssistant.Configuration()
    configuration.defersLightweightMigration = true
    let assistant = MigrationAssistant(
      storeURL: storeURL, modelController: controller, history: history, configuration: configuration)
    _ = try assistant.migrateStore()

    let store = try PersistentStore.open(at: storeURL, history: history)
    while try store.finishDeferredLightweightMigrationTask(), !Task.isCancelled {}

    #expect(!store.hasPendingDeferredMigration)
    try store.close()
    #expect(try Fleet(of: storeURL, model: hangar.models[2]) == flown)
  }

  @Test func `the article's colours are found`() throws {
    let flown = try makeStore()
    let store = try PersistentStore.open(at: storeURL, model: hangar.models[1])
    let context = ManagedObjectContext(store: store)
    let aircraft = try #require(try context.fetch("Aircraft").first { try $0.string("tailNumber") == "N172SP" })

    try aircraft.set(["primary": .string("white"), "secondary": .string("blue")], for: "colorScheme")
    try aircraft.set("red", for: "colorScheme.tertiary")
    let red = try context.fetch(ObjectFetchRequest("Aircraft", where: "colorScheme.tertiary == %@", "red"))
    let colors = try aircraft.composite("colorScheme") ?? [:]
    try context.save()

    #expect(red.map { $0 === aircraft } == [true])
    #expect(colors == ["primary": .string("white"), "secondary": .string("blue"), "tertiary": .string("red")])
    try store.close()
    var expected = flown
    let position = try #require(expected.aircraft.firstIndex { $0.tailNumber == "N172SP" })
    expected.aircraft[position].colorScheme = Fleet.ColorScheme(primary: "white", secondary: "blue", tertiary: "red")
    #expect(try Fleet(of: storeURL, model: hangar.models[1]) == expected)
  }
}
