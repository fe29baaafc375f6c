import Foundation
import Heirloom
import HeirloomCommands
import HeirloomStories
import TestSupport
import Testing

/// The story Aircraft, before its stages: models, and the first two versions.
struct AircraftTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("Aircraft.sqlite") }
  private let hangar: Hangar

  init() throws {
    directory = try TemporaryDirectory()
    hangar = try Hangar()
  }

  @Test func `the story's models are as they were shipped`() throws {
    let folder = Tool.snapshots.appendingPathComponent("Aircraft")
    let history = try ModelHistory(contentsOf: folder)
    #expect(history.versionNames == ["Aircraft", "Aircraft 2", "Aircraft 2 additions", "Aircraft 3"])
    #expect(history.currentName == "Aircraft 3")
    for version in try ModelVersionList(folder.path).versions {
      let bytes = try Array(Data(contentsOf: folder.appendingPathComponent(version.name + ".json")))
      let snapshot = try ModelSnapshot(bytes: bytes)
      let source = folder.appendingPathComponent("Aircraft.xcdatamodeld/\(version.name).xcdatamodel")
      #expect(try ModelFile.read(source.path).model == snapshot.model)
      #expect(version.lockedChecksum == snapshot.versionChecksum)
      let written = directory.file("\(version.name).json")
      #expect(Tool(directory: directory.url)("snapshot", source.path, "--output", written.path).code == 0)
      #expect(try Array(Data(contentsOf: written)) == bytes)
    }
  }

  @Test func `each step but the last adds only, and the last removes only`() throws {
    let models = hangar.models
    for (source, destination) in zip(models, models.dropFirst()) {
      let mapping = try MappingModel.inferred(from: source, to: destination)
      let names = { (model: ManagedObjectModel) in
        Set(model.entities.flatMap { entity in entity.properties.map { "\(entity.name).\($0.name)" } })
      }
      let (before, after) = (names(source), names(destination))
      let isLast = destination == models.last
      #expect(isLast ? after.isStrictSubset(of: before) : before.isStrictSubset(of: after))
      #expect(!mapping.entityMappings.isEmpty)
    }
  }

  @Test func `the second version takes every row over, and its colours are found by their elements`() throws {
    let fleet = Fleet.sample(count: 40)
    try fleet.makeStore(at: url, model: hangar.models[0])
    #expect(try Fleet(of: url, model: hangar.models[0]) == fleet)
    try hangar.migrate(url, toVersion: 1)
    #expect(try Fleet(of: url, model: hangar.models[1]) == fleet)

    let later = fleet.paintedAndFlown()
    try later.addColorsAndFlightData(to: url, model: hangar.models[1])
    #expect(try Fleet(of: url, model: hangar.models[1]) == later)
    // Plain SQL shows the rows in the file.
    #expect(
      try hangar.rows(url, "SELECT ZPRIMARY, ZSECONDARY, ZTERTIARY FROM ZAIRCRAFT ORDER BY Z_PK LIMIT 5")
        == [
          [.text("white"), .text("blue"), .text("göld")], [.text("white"), .text("blue"), .text("göld")],
          [.text("红"), .null, .null], [.text(""), .null, .text("white")], [.null, .null, .null],
        ])
    #expect(
      try hangar.rows(
        url, "SELECT COUNT(*), COUNT(ZFLIGHTDATA), SUM(LENGTH(ZFLIGHTDATA) = 0) FROM ZAIRCRAFT")
        == [[.integer(40), .integer(30), .integer(10)]])

    let store = try PersistentStore.open(at: url, model: hangar.models[1], isReadOnly: true)
    let context = ManagedObjectContext(store: store)
    let white = try ObjectFetchRequest("Aircraft", where: "colorScheme.primary == %@", "white")
    #expect(try context.count(white) == 16)
    let any = try ObjectFetchRequest(
      "Aircraft", where: "colorScheme.tertiary == 'white' AND colorScheme.primary != nil")
    #expect(try context.fetch(any).map { try $0.string("tailNumber") == "N172SP" }.filter { $0 }.count == 1)
    try store.close()
  }
}

/// The story's models, and shortcuts for work with its stores.
struct Hangar {
  let models: [ManagedObjectModel]
  let names: [String]

  init() throws {
    let versions = try ModelVersionList(Tool.snapshots.appendingPathComponent("Aircraft").path).versions
    models = try versions.map { try $0.file.read().model }
    names = versions.map(\.name)
  }

  func history(_ index: Int) -> ModelHistory {
    ModelHistory(
      current: models[index], name: names[index], earlier: Array(zip(names, models).prefix(index)).map { ($0, $1) })
  }

  /// Without stages.
  @discardableResult
  func migrate(_ url: URL, toVersion index: Int) throws -> MigrationOutcome {
    try MigrationAssistant(url, history(index)).migrateStore()
  }

  func rows(_ url: URL, _ sql: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(path: url.path, mode: .readWrite)
    let rows = try connection.rows(sql)
    try connection.close()
    return rows
  }
}
