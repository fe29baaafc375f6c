import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Values in the column of an attribute, in rows of entities that don't have it: another program changed the entity.
struct StrayValueTests {
  /// A next version of a model of fruit, of which apples alone have a unit.
  enum Release: CaseIterable, Sendable {
    case renumbered, renamed, required, dropped, movedUp, movedOut, withoutPears

    /// The losses, by plain counts of the rows below.
    var losses: [String] {
      let stray = "unknownContent Fruit.ZUNIT 2"
      return switch self {
      case .renumbered, .renamed: []
      case .required, .movedUp, .movedOut: [stray]
      case .dropped: [stray, "values Apple.unit 2"]
      case .withoutPears: ["objects Pear 4", stray]
      }
    }
  }

  private static func model(_ release: Release?) throws -> ManagedObjectModel {
    let title = Make.attribute("title")
    let unit = Make.attribute(
      release == .renamed ? "measure" : "unit", .integer64, optional: release != .required, value: .integer(5),
      id: release == .renamed ? "unit" : nil)
    let isUp = release == .movedUp
    let hasUnit = release != .dropped && !isUp
    let more = release == .renumbered ? [Make.entity("AAAdded", [title])] : []
    let pears = [Make.entity("Pear", release == .movedOut ? [title] : [], parent: release == .movedOut ? nil : "Fruit")]
    return try ManagedObjectModel(
      entities: more + [
        Make.entity("Fruit", [title] + (isUp ? [unit] : [])),
        Make.entity("Apple", hasUnit ? [unit] : [], parent: "Fruit"),
      ] + (release == .withoutPears ? [] : pears))
  }

  /// Makes a store of two apples, and of four pears that were apples, of which one has no unit and one the default.
  private static func fill(_ url: URL, _ model: ManagedObjectModel) throws {
    try PersistentStore.make(at: url, model: model) { context in
      for number in 0..<6 { try context.insert("Apple").set("fruit \(number)", for: "title") }
    }
    try Connection(path: url.path, mode: .readWrite).execute(
      "UPDATE ZFRUIT SET Z_ENT = (SELECT k.Z_ENT FROM Z_PRIMARYKEY AS k"
        + " WHERE k.Z_NAME = iif(ZFRUIT.Z_PK > 2, 'Pear', 'Apple')),"
        + " ZUNIT = CASE Z_PK WHEN 5 THEN NULL WHEN 6 THEN 5 ELSE 1000 + Z_PK END")
  }

  private static func units(_ url: URL, _ column: String) throws -> [[SQLiteValue]] {
    try Connection(reading: url).rows(
      "SELECT Z_PK, \(column) FROM ZFRUIT ORDER BY Z_PK")
  }

  @Test(arguments: Release.allCases, [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `values of an attribute that the row's entity lacks are there or told, and kept`(
    release: Release, builder: BuilderChoice
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Fruit.sqlite")
    let before = try Self.model(nil)
    try Self.fill(url, before)
    let stored = try Self.units(url, "ZUNIT")
    let assistant = MigrationAssistant(
      url, ModelHistory(current: try Self.model(release), earlier: [("before", before)]), .withBothProofs,
      builder: builder)
    let report = try assistant.migrate()
    #expect(report.plan.losses.map { "\($0.kind) \($0.name) \($0.rows)" }.sorted() == release.losses)
    switch release {
    case .renumbered: #expect(try Self.units(url, "ZUNIT") == stored)
    case .renamed: #expect(try Self.units(url, "ZMEASURE") == stored)
    default:
      let kept = try #require(try assistant.archive.previousVersions().first)
      #expect(kept.isPinned)
      #expect(try Self.units(kept.storeURL, "ZUNIT") == stored)
    }
  }
}
