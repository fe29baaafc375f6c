import Foundation
import Heirloom
import HeirloomMapping
import HeirloomStore
import TestSupport
import Testing

/// Ways that only the versions between make possible: each hop can be inferred, and the whole way can't.
struct StepwisePathTests {
  /// An attribute of a version: its name, whether it is a number, and its renaming identifier.
  private typealias Item = (name: String, isNumber: Bool, id: String?)

  private static func model(_ items: [Item]) throws -> ManagedObjectModel {
    let attributes = items.map { Make.attribute($0.name, $0.isNumber ? .integer64 : .string, id: $0.id) }
    return try ManagedObjectModel(entities: [Make.entity("Note", [Make.attribute("key", .integer64)] + attributes)])
  }

  /// Histories of which some step takes a name, or a renaming identifier, that another property had.
  private static let histories: [[[Item]]] = {
    let (a, number): (Item, Item) = (("a", false, nil), ("a", true, nil))
    let (b, title, name): (Item, Item, Item) = (("b", false, nil), ("title", false, nil), ("name", false, "title"))
    var all: [[[Item]]] = [
      [[a, b], [b], [number, b]], [[title], [name], [name, title]], [[a, b], [number, b], [b], [b, number, title]],
      // The second version changes a type that the third changes back.
      [[a, b], [number, b], [a, title], [a, title, ("b", true, nil)]],
      [[a, b], [b], [number, b], [b], [a, b, title], [b, title], [b, number]],
    ]
    var generator = SplitMix64(seed: 1)
    for _ in 0..<160 {
      var history: [[Item]] = [[a, b]]
      for _ in 0..<Int.random(in: 2...4, using: &generator) {
        var next = history[history.count - 1].map { (name: $0.name, isNumber: $0.isNumber, id: String?.none) }
        switch Int.random(in: 0..<3, using: &generator) {
        case 0 where !next.isEmpty: next.remove(at: Int.random(in: next.indices, using: &generator))
        case 1 where !next.isEmpty:
          let index = Int.random(in: next.indices, using: &generator)
          guard let new = ["a", "b", "c"].first(where: { name in !next.contains { $0.name == name } }) else { continue }
          next[index] = (new, next[index].isNumber, next[index].name)
        default:
          let new = ["a", "b", "c"].shuffled(using: &generator).first { name in !next.contains { $0.name == name } }
          if let new { next.append((new, Bool.random(using: &generator), nil)) }
        }
        history.append(next)
      }
      all.append(history)
    }
    return all
  }()

  private static func makeStore(_ url: URL, _ model: ManagedObjectModel) throws {
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: model))
    for number in 0..<4 {
      let note = try context.insert("Note")
      note["key"] = .integer(Int64(number))
      for attribute in model.entities[0].attributes where attribute.name != "key" && number != 3 {
        note[attribute.name] = attribute.type == .string ? .string("\(attribute.name) \(number)") : .integer(7)
      }
    }
    try context.save()
  }

  private static func rows(_ url: URL, _ model: ManagedObjectModel) throws -> [[SQLiteValue]] {
    let columns = model.entities[0].attributes.map { "Z\($0.name.uppercased())" }.sorted()
    return try Connection(reading: url).rows(
      "SELECT \(columns.joined(separator: ", ")) FROM ZNOTE ORDER BY Z_PK")
  }

  /// Returns the ways with the fewest hops, by trying all: each hop is inferred from two models alone.
  private static func shortestWays(_ models: [ManagedObjectModel]) -> [[Int]] {
    func isInferable(_ way: [Int]) -> Bool {
      zip(way, way.dropFirst()).allSatisfy { start, end in
        MappingInference(from: models[start], to: models[end]).obstacles.isEmpty
      }
    }
    let inner = models.count - 2
    let ways = (0..<(1 << inner)).map { set in
      [0] + (0..<inner).filter { set & (1 << $0) != 0 }.map { $0 + 1 } + [models.count - 1]
    }.filter(isInferable)
    let fewest = ways.map(\.count).min()
    return ways.filter { $0.count == fewest }
  }

  private static func migrate(
    _ url: URL, _ history: ModelHistory, losses: LossPolicy = .keepVersion
  ) throws -> MigrationReport? {
    let assistant = MigrationAssistant(url, history, .init(losses: losses))
    guard case .migrated(let report) = try assistant.migrateStore() else { return nil }
    return report
  }

  @Test(arguments: [true, false])
  func `where the whole way can't be inferred, it goes through the history's versions in one run`(
    isLocked: Bool
  ) throws {
    var stepwise = 0
    for (number, history) in Self.histories.enumerated() {
      let models = try history.map(Self.model)
      // Hashes of versions that are alike to a store would make another way.
      guard Set(models.map { $0.versionChecksum() }).count == models.count else { continue }
      let ways = Self.shortestWays(models)
      guard let way = ways.first, way.count > 2 else { continue }
      let directory = try TemporaryDirectory()
      let url = directory.file("Notes.sqlite")
      try Self.makeStore(url, models[0])
      // By hand: a run for each hop, which knows two models.
      let expected = try ways.enumerated().map { index, way in
        let copy = directory.file("\(index).sqlite")
        try FileManager.default.copyItem(at: url, to: copy)
        for (start, end) in zip(way, way.dropFirst()) {
          _ = try Self.migrate(
            copy, ModelHistory(current: models[end], name: "to", earlier: [(name: "from", model: models[start])]))
        }
        return try Self.rows(copy, models[models.count - 1])
      }
      let folder = directory.file("Models")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (index, model) in models.enumerated() {
        try ModelSnapshot(model: model).encoded(.readable).write(
          to: folder.appendingPathComponent("\(index + 1).json"))
      }
      let lock = VersionLock(versions: models.enumerated().map { VersionLock.Entry(name: "\($0 + 1)", model: $1) })
      if isLocked { try Data(lock.encoded()).write(to: folder.appendingPathComponent("lock.json")) }
      // What any hop loses asks for consent, and is told by the plan of the whole way before it is counted.
      let before = try Self.rows(url, models[0])
      let isLost = expected.map { rows in
        !Set(before.joined()).subtracting([.null]).isSubset(of: rows.joined())
      }
      if !isLost.contains(false) {
        let plan = try #require(
          try MigrationAssistant(url, ModelHistory(contentsOf: folder)).plan())
        #expect(
          !plan.losses.isEmpty
            || plan.warnings.contains { $0.contains("hops. Possible losses of later hops (values of") },
          "\(number): \(plan.warnings)")
        #expect(throws: MigrationAssistantError.self) {
          try Self.migrate(url, try ModelHistory(contentsOf: folder), losses: .stop)
        }
        #expect(try Self.rows(url, models[0]) == before)
      }
      let report = try #require(
        try Self.migrate(url, try ModelHistory(contentsOf: folder)), "\(number): \(history)")
      let found = try Self.rows(url, models[models.count - 1])
      #expect(expected.contains(found), "\(number) by \(ways): \(history)")
      #expect(
        report.previousVersion.isPinned == isLost[try #require(expected.firstIndex(of: found))], "\(number): \(history)"
      )
      // One swap, one kept version, which opens with the first model.
      let kept = try MigrationAssistant(url, try ModelHistory(contentsOf: folder)).archive.previousVersions()
      #expect(kept.map(\.id) == [report.previousVersion.id])
      #expect(try Self.rows(report.previousVersion.storeURL, models[0]).count == 4)
      stepwise += 1
    }
    #expect(stepwise > 10)
  }
}
