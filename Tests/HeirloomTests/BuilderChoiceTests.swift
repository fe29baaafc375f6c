import Foundation
import Heirloom
import TestSupport
import Testing

/// The builder that a plan chooses, by the fate of the store's bytes.
struct BuilderChoiceTests {
  enum Fate: String, CaseIterable {
    case kept = "Kept"
    case changed = "Changed"
    case anew = "Anew"
    case gone = "Removed"
  }

  /// A division of the rows, in hundredths, and the plan's choice.
  struct Division: CustomTestStringConvertible, Sendable {
    let shares: [Fate: Int]
    let builder: MigrationPlan.Builder

    init(_ builder: MigrationPlan.Builder, gone: Int = 0, anew: Int = 0, changed: Int = 0) {
      self.builder = builder
      shares = [.gone: gone, .anew: anew, .changed: changed, .kept: 100 - gone - anew - changed]
    }

    var testDescription: String {
      Fate.allCases.map { "\(shares[$0] ?? 0) \($0.rawValue)" }.joined(separator: ", ")
    }
  }

  /// The results of the table at ``BuilderChoice``, at some distance from the point where both take the same time.
  static let divisions = [
    Division(.cloneAndAlter), Division(.cloneAndAlter, gone: 40), Division(.rebuild, gone: 60),
    Division(.rebuild, gone: 90), Division(.cloneAndAlter, anew: 65), Division(.rebuild, anew: 100),
    Division(.cloneAndAlter, changed: 100), Division(.cloneAndAlter, gone: 25, anew: 40),
    Division(.rebuild, gone: 30, anew: 70), Division(.cloneAndAlter, gone: 40, changed: 60),
  ]

  private static func model(isLater: Bool) throws -> ManagedObjectModel {
    let fates = Fate.allCases.filter { !isLater || $0 != .gone }
    return try ManagedObjectModel(
      entities: fates.map { fate in
        var entity = EntityDescription(name: fate.rawValue)
        var weight = Make.attribute("weight", .integer32, optional: !(isLater && fate == .changed))
        if isLater, fate == .changed { weight.defaultValue = .integer(7) }
        var names = ["body"]
        if fate == .anew, !isLater { names += ["first", "second"] }
        entity.attributes =
          [weight]
          + names.map { name in Make.attribute(name) }
        return entity
      })
  }

  private static func plan(
    in directory: TemporaryDirectory, rows: [Fate: Int], text: (Fate, Int) -> String
  ) throws -> MigrationPlan {
    let url = directory.file("Store.sqlite")
    let model = try model(isLater: false)
    try PersistentStore.create(at: url, model: model).close()
    let connection = try Connection(path: url.path, mode: .readWrite)
    let schema = PhysicalSchema(model: model)
    try connection.execute("BEGIN")
    for entity in schema.entities {
      guard let fate = Fate(rawValue: entity.name) else { continue }
      let statement = try connection.prepare(
        "INSERT INTO \(quote(entity.table)) (Z_PK, Z_ENT, Z_OPT, ZBODY) VALUES (?1, ?2, 1, ?3)")
      for key in 0..<(rows[fate] ?? 0) {
        try statement.bind([.integer(Int64(key + 1)), .integer(Int64(entity.number)), .text(text(fate, key))])
        try statement.run()
      }
      try connection.execute(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = ?1 WHERE Z_ENT = ?2",
        [.integer(Int64(rows[fate] ?? 0)), .integer(Int64(entity.number))])
    }
    try connection.execute("COMMIT")
    try connection.close()
    let assistant = MigrationAssistant(url, from: model, to: try Self.model(isLater: true))
    return try #require(try assistant.plan())
  }

  @Test(arguments: divisions) func `the builder follows from what becomes of the bytes`(division: Division) throws {
    let rows = division.shares.mapValues { $0 * 40 }
    let plan = try Self.plan(in: try TemporaryDirectory(), rows: rows) { _, _ in String(repeating: "x", count: 300) }
    #expect(plan.builder == division.builder)
  }

  @Test(arguments: ["x", "é", "語"]) func `the bytes of later rows and of any letters count`(letter: String) throws {
    // The first rows of the removed entity are small: an app once wrote less. The others hold four fifths of all bytes.
    let plan = try Self.plan(in: try TemporaryDirectory(), rows: [.gone: 1_000, .kept: 500]) { fate, key in
      fate == .kept
        ? String(repeating: "x", count: 300)
        : key < 150 ? "" : String(repeating: letter, count: 700 / letter.utf8.count)
    }
    #expect(plan.builder == .rebuild)
  }
}
