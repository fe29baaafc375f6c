import Foundation
import Heirloom
import TestSupport
import Testing

/// Migrations that Core Data itself made, compared with Heirloom's fact by fact.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CorpusMigrationTests {
  /// A store, and the store that Core Data made of it.
  struct Pair: CustomTestStringConvertible, Sendable {
    let project: String
    let before: String
    /// The version of the store after the migration.
    let version: String
    let after: String
    /// True when the second store holds the first one's objects; if not, only facts independent of them are compared.
    var hasSameObjects = true
    /// The mapping model that the app gave Core Data; Heirloom infers its own.
    var mapping: String?

    var testDescription: String { "\(before) to \(after)" }
  }

  @Test(.slow("real stores, each migrated by both builders"))
  func `Heirloom makes of a store what Core Data made of it but for ten rules`() throws {
    var uses = [Int](repeating: 0, count: CoreDataRule.all.count)
    for pair in Pair.all {
      let judged = try judge(pair)
      for rule in judged.rules { uses[rule] += 1 }
      let counts = Dictionary(grouping: judged.rules) { $0 + 1 }.sorted { $0.key < $1.key }
        .map { "\($0.value.count) by rule \($0.key)" }
      print("\(pair.testDescription):", judged.facts, "facts,", counts.joined(separator: ", "))
      #expect(judged.unexplained.isEmpty, "\(pair.testDescription)")
    }
    #expect(uses.count <= 10)
    for (number, (rule, count)) in zip(CoreDataRule.all, uses).enumerated() {
      print("rule \(number + 1), used \(count) times: \(rule.cause).")
      #expect(count > 0, "\(rule.cause)")
    }
  }

  struct Judgement {
    var facts = 0
    /// One for each difference.
    var rules: [Int] = []
    var unexplained: [String] = []
    /// True when the objects have other keys.
    var isRenumbered = false

    mutating func judge(_ context: CoreDataRule.Context, where isMeant: (StorePicture.Place) -> Bool = { _ in true }) {
      facts = context.coreData.facts.count
      for difference in StorePicture.differences(heirloom: context.heirloom, coreData: context.coreData)
      where isMeant(difference.place) {
        if let rule = CoreDataRule.all.firstIndex(where: { $0.allows(difference, context) }) {
          rules.append(rule)
        } else {
          unexplained.append(
            "\(difference.place): \(difference.heirloom ?? "nothing"); in Core Data's: \(difference.coreData ?? "nothing")"
          )
        }
      }
    }
  }

  private func judge(_ pair: Pair) throws -> Judgement {
    let store = "\(pair.project)/stores/\(pair.before)"
    // Some stores are of a version that was edited after it was shipped.
    let own = try #require(try Corpus.withCopy(of: store) { try StoreModelCache.model(inStoreAt: $0) })
    let current = try Corpus.model(pair.version, in: pair.project)
    let run = try CorpusRun(of: store, to: ModelHistory(current: current, earlier: [("before", own)]))
    // Both builders make the same file, so that one is compared.
    try run.check()
    return try Corpus.withCopy(of: "\(pair.project)/stores/\(pair.after)") { after in
      let before = try StorePicture(of: run.original.storeURL, model: own)
      let judgement = try judge(pair, run.copies[0].url, after, before: before, run.copies[0].report.plan)
      if pair.hasSameObjects, !judgement.isRenumbered {
        // This compares links of all kinds, found through the model and not by the names of tables.
        #expect(try run.after.count > 0 && run.after == StoreContents(of: after, model: current))
      }
      return judgement
    }
  }

  private func judge(
    _ pair: Pair, _ store: URL, _ after: URL, before: StorePicture, _ plan: MigrationPlan
  ) throws -> Judgement {
    let heirloom = try StorePicture(of: store, model: plan.destination)
    var coreData = try StorePicture(of: after, model: plan.destination)
    let numbers = pair.hasSameObjects ? KeyMatching.keys(of: coreData, in: heirloom) : [:]
    if !numbers.isEmpty { coreData = try StorePicture(of: after, model: plan.destination, renumbered: numbers) }
    var judgement = Judgement()
    judgement.isRenumbered = !numbers.isEmpty
    judgement.judge(
      CoreDataRule.Context(
        before: before, heirloom: heirloom, coreData: coreData, plan: plan, isCopied: !numbers.isEmpty,
        hasMapping: pair.mapping != nil)
    ) { pair.hasSameObjects || !$0.dependsOnObjects }
    return judgement
  }

  /// An attribute that had a renaming identifier and has none now is a different one, even under the same name.
  @Test(arguments: [
    (Pair.post("2", "3", same: false), ["Post.content 10", "Post.hexColor 10"]),
    (Pair.mood(" 4", " 5"), ["Continent. 2", "Country.continent 3", "Mood.continent 4"]),
    (Pair.mood(" 3", " 4"), []),
  ])
  func `what only the app's mapping carried over is a loss in the plan`(pair: Pair, losses: [String]) throws {
    try Corpus.withCopy(of: "\(pair.project)/stores/\(pair.before)") { store in
      let history = try ModelHistory(contentsOf: Corpus.modelURL(pair.version, in: pair.project))
      let assistant = MigrationAssistant(store, history)
      let plan = try #require(try assistant.plan())
      #expect(plan.losses.map { "\($0.entity).\($0.property ?? "") \($0.rows)" }.sorted() == losses)
      #expect(plan.blockers.isEmpty)
    }
  }

  /// Traces that a mistake in a migration might leave; no rule may explain them.
  static let mistakes = [
    "UPDATE ZUSER SET ZNAME = NULL WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZUSER WHERE ZNAME NOT NULL)",
    "UPDATE ZUSER SET ZACCENTCOLORVALUE = ZACCENTCOLORVALUE + 0.5 WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZUSER)",
    "UPDATE ZUSER SET Z_OPT = Z_OPT + 1 WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZUSER)",
    "UPDATE ZUSERCLIENT SET ZUSER = ZUSER + 1 WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZUSERCLIENT WHERE ZUSER NOT NULL)",
    "UPDATE ZMESSAGE SET Z_ENT = Z_ENT + 1 WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZMESSAGE)",
    "UPDATE Z_24IGNOREDCLIENTS SET Z_24IGNOREDCLIENTS = Z_24IGNOREDCLIENTS + 100 WHERE rowid = 1",
    "DELETE FROM Z_15USERS WHERE rowid = 1",
    "UPDATE ZGENERICMESSAGEDATA SET Z_FOK_MESSAGE = Z_FOK_MESSAGE + 1 WHERE Z_FOK_MESSAGE NOT NULL",
    "UPDATE Z_5LASTSERVERSYNCEDACTIVEPARTICIPANTS SET Z_FOK_23LASTSERVERSYNCEDACTIVEPARTICIPANTS = 1 WHERE rowid = 1",
    "DROP INDEX Z_24IGNOREDCLIENTS_Z_24IGNOREDCLIENTS_INDEX",
    "DELETE FROM ZMESSAGE WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZMESSAGE)",
    "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX - 1 WHERE Z_NAME = 'Message'",
    "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Users' WHERE Z_NAME = 'User'",
    "UPDATE Z_PRIMARYKEY SET Z_SUPER = 0 WHERE Z_NAME = 'SystemMessage'",
    "UPDATE Z_METADATA SET Z_UUID = LOWER(Z_UUID)",
    "UPDATE Z_MODELCACHE SET Z_CONTENT = X''",
    "DROP INDEX ZMESSAGE_ZSENDER_INDEX", "DROP INDEX Z_Message_nonce_data", "DROP TABLE ZACTION",
    "CREATE INDEX other ON ZUSER (ZNAME)", "ALTER TABLE ZUSER ADD COLUMN ZOTHER",
    "ALTER TABLE ZUSER RENAME COLUMN ZNAME TO ZOTHER", "PRAGMA user_version = 1",
  ]

  @Test func `no rule explains a mistake`() throws {
    let pair = Pair.wire("100", "101")
    try Corpus.withCopy(of: "\(pair.project)/stores/\(pair.before)") { store in
      try Corpus.withCopy(of: "\(pair.project)/stores/\(pair.after)") { after in
        let history = try ModelHistory(contentsOf: Corpus.modelURL(pair.version, in: pair.project))
        let assistant = MigrationAssistant(store, history)
        let plan = try #require(try assistant.plan())
        let before = try StorePicture(of: store, model: plan.source)
        _ = try assistant.migrateStore()
        #expect(try judge(pair, store, after, before: before, plan).unexplained.isEmpty)
        for mistake in Self.mistakes {
          let copy = store.deletingLastPathComponent().appendingPathComponent("Mistaken.sqlite")
          try FileManager.default.copyItem(at: store, to: copy)
          try Connection.execute(mistake, on: copy.path)
          #expect(try !judge(pair, copy, after, before: before, plan).unexplained.isEmpty, "\(mistake)")
          for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) }
        }
      }
    }
  }
}

extension CorpusMigrationTests.Pair {
  /// The pairs of the corpus: first those whose second store Core Data made from the first.
  ///
  /// Between some of the stores there are versions of which the corpus has no store.
  static let all =
    [
      wire("30", "31"), wire("66", "67"), wire("67", "68"), wire("79", "80"), wire("95", "96"), wire("100", "101"),
      wire("88", "95"), wire("95", "101"),
      sample("SampleModel_V1", "SampleModel2", "SampleModel_V2", same: true),
      post("1", "2"), mood("", " 2"), mood(" 2", " 3", "Moody 2-Moody 3"), mood(" 3", " 4", "Moody 3-Moody 4"),
      mood(" 4", " 5", "Moody 4-Moody 5"),
      sample("_SampleModelV1@346ef262", "SampleModel2", "_SampleModelV2@fbca827d", same: false),
      sample("SampleModelV1@6739d000", "SampleModel3", "SampleModelV2@6739d000", same: false),
      post("2", "3", same: false),
    ] + (LongTests.areOn ? long : [])

  private static let long = [
    wire("24-1", "30", from: "24-1"), wire("68", "79"), wire("80", "82"), wire("82", "88"), wire("96", "100"),
  ]

  static func wire(_ before: String, _ after: String, from: String? = nil) -> Self {
    Self(
      project: "wire-ios-data-model", before: "store2-\(from ?? before + "-0").wiredatabase",
      version: "zmessaging2.\(after).0",
      after: "store2-\(after)-0.wiredatabase")
  }

  private static func sample(_ before: String, _ version: String, _ after: String, same: Bool) -> Self {
    Self(
      project: "coredataplus", before: "\(before).sqlite", version: version, after: "\(after).sqlite",
      hasSameObjects: same)
  }

  static func post(_ before: String, _ after: String, same: Bool = true) -> Self {
    Self(
      project: "core-data-migration-revised", before: "CoreDataMigration_Example_\(before).sqlite",
      version: "CoreDataMigration_Example \(after)", after: "CoreDataMigration_Example_\(after).sqlite",
      hasSameObjects: same)
  }

  static func mood(_ before: String, _ after: String, _ mapping: String? = nil) -> Self {
    Self(
      project: "objcio-core-data", before: "Moody\(before).moody", version: "Moody\(after)",
      after: "Moody\(after).moody", mapping: mapping)
  }
}

extension StorePicture.Place {
  /// True when the fact depends on the objects that a store holds, or on which store it is.
  fileprivate var dependsOnObjects: Bool {
    switch self {
    case .row, .cell, .entity(_, "Z_MAX"), .metadata("Z_UUID"): true
    default: false
    }
  }
}

/// The search for the same objects in two files that gave them different keys.
enum KeyMatching {
  /// The result is the other file's keys by table and key, for tables in which any differ.
  ///
  /// Objects are the same if their values are the same, for all attributes whose sets of values
  /// agree in both tables. Nothing is found unless these values tell all objects of a table apart.
  static func keys(of file: StorePicture, in other: StorePicture) -> [String: [Int64: Int64]] {
    var numbers: [String: [Int64: Int64]] = [:]
    for (table, objects) in file.objects {
      guard let others = other.objects[table], others.count == objects.count,
        let planned = file.schema.table(named: table)
      else { continue }
      let columns = planned.columns.filter { column in
        guard case .attribute = column.role else { return false }
        func values(_ objects: [Int64: [String: SQLiteValue]]) -> [String] {
          objects.values.map { StorePicture.text($0[column.name] ?? .null) }.sorted()
        }
        return values(objects) == values(others)
      }.map(\.name)
      func byValues(_ objects: [Int64: [String: SQLiteValue]]) -> [[SQLiteValue]: [Int64]] {
        Dictionary(grouping: objects.keys) { key in columns.map { objects[key]?[$0] ?? .null } }
      }
      let (own, found) = (byValues(objects), byValues(others))
      guard own != found, own.count == objects.count, Set(own.keys) == Set(found.keys) else { continue }
      for (values, keys) in own {
        for (key, number) in zip(keys, found[values] ?? []) { numbers[table, default: [:]][key] = number }
      }
    }
    return numbers
  }
}
