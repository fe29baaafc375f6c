import Foundation
import Heirloom
import HeirloomSalvage
import HeirloomStore
import HeirloomSupport
import TestSupport
import Testing

/// Statements of Heirloom's own read its own columns, whatever names the columns of others have.
struct ForeignNameTests {
  private static let builders: [MigrationPlan.Builder] = [.rebuild, .cloneAndAlter]

  /// The names that any statement uses, and those that hide the numbers of rows but for the last.
  private static func names(_ folders: [String], upper: Bool = false) throws -> [String] {
    let names = try ForeignNames.inSources(folders) + ForeignNames.rowNumbers.prefix(2)
    return upper ? names.map { $0.uppercased() } : names
  }

  private static func store(in directory: TemporaryDirectory) throws -> (url: URL, model: ManagedObjectModel) {
    try DataDecisionTests.makeStore(
      DataDecisionTests.graph(unique: false), in: directory, objects: 6, names: 3, seed: 5)
  }

  /// A next version in which entities have other numbers and each table changes.
  private static func next() throws -> ManagedObjectModel {
    var entities = DataDecisionTests.graph(unique: false)
    for index in entities.indices where entities[index].name != "SubTag" {
      entities[index].attributes.append(Make.attribute("zzAdded", value: .string("new")))
    }
    return try ManagedObjectModel(entities: entities + [Make.entity("AAAdded")])
  }

  @Test(arguments: builders)
  func `every value is there after a migration`(builder: MigrationPlan.Builder) throws {
    let directory = try TemporaryDirectory()
    let (url, model) = try Self.store(in: directory)
    let names = try Self.names(
      ["HeirloomMigration", "HeirloomStore", "HeirloomVault"], upper: builder == .cloneAndAlter)
    let known = Set(names.map { $0.lowercased() })
    #expect(known.count > 100 && known.isSuperset(of: ["inverse_position", "owner", "position", "target"]))
    let planted = try ForeignNames.plant(names, in: url)
    // The account asks of every column.
    let accounts = StoreAccounts()
    let assistant = DataDecisionTests.assistant(
      url, model, try Self.next(), [], builder: .always(builder), account: accounts.add)
    let report = try assistant.migrate()
    #expect(report.plan.losses.isEmpty)
    let cells = accounts.hops.flatMap(\.lines).filter { line in names.contains { line.name.hasSuffix(".\($0)") } }
    #expect(cells.count >= names.count && cells.allSatisfy { $0.count > 0 && $0.parts.map(\.fate) == [.carried] })
    #expect(try ForeignNames.values(in: url) == planted)
    #expect(try ForeignNames.misplaced(in: url) == [])
  }

  @Test func `a verification and a salvage find the same with and without them`() throws {
    let directory = try TemporaryDirectory()
    let (url, model) = try Self.store(in: directory)
    // Two members with one place, and tags with equal names, are found by groups.
    let app = try Connection(path: url.path, mode: .readWrite)
    try app.registerCoreDataFunctions()
    try app.execute("UPDATE ZNOTE SET ZTAG = 1, Z_FOK_TAG = 1024")
    try app.close()
    func messages() throws -> [String] {
      let candidate = StoreModelCandidate(source: .file("1"), model: model)
      return try StoreVerification.report(onStoreAt: url.path, candidates: [candidate]).findings
        .filter { $0.kind != .extraColumn }.map(\.message)
    }
    func salvaged(_ name: String) throws -> StoreContents {
      let output = directory.file(name)
      _ = try StoreSalvage(storeURL: url, models: [model]).run(to: output)
      return try StoreContents(of: output, model: model)
    }
    let (found, contents) = (try messages(), try salvaged("Before.sqlite"))
    #expect(found.contains { $0.contains("share 1 place") }, "\(found)")
    let names = try Self.names(["HeirloomSalvage", "HeirloomStore"])
    let planted = try ForeignNames.plant(names, in: url)
    #expect(try messages() == found)
    #expect(try salvaged("After.sqlite") == contents)
    #expect(try ForeignNames.values(in: url) == planted)
  }

  /// Ways in which a table that a deferred migration leaves has no usable name for the numbers of its rows.
  enum Numbers: CaseIterable, Sendable {
    case none, one, two, all, allOfLinks, withoutRowID
  }

  @Test(arguments: Numbers.allCases)
  func `a clean-up ends, whatever the tables that are left call their columns`(numbers: Numbers) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let source = try ManagedObjectModel(entities: [
      Make.entity("A", [Make.attribute("a")], [Make.toMany("zs", "Z", "as")]),
      Make.entity("Z", [Make.attribute("z")], [Make.toMany("as", "A", "zs")]),
    ])
    let destination = try ManagedObjectModel(entities: [Make.entity("A", [Make.attribute("a")])])
    try StoreGenerator.makeStore(at: store, model: source, objects: 30, seed: 4)
    _ = try DeferredMigrationTests.migrate(store, from: source, to: destination, defers: true)
    let app = try Connection(path: store.path, mode: .readWrite)
    switch numbers {
    case .none: break
    case .one, .two, .all, .allOfLinks:
      let count = numbers == .one ? 1 : numbers == .two ? 2 : 3
      for table in numbers == .allOfLinks ? ["Z_1ZS"] : ["ZZ", "Z_1ZS"] {
        for name in ForeignNames.rowNumbers.prefix(count) {
          try app.execute("ALTER TABLE \(table) ADD COLUMN \(name) TEXT")
        }
      }
    case .withoutRowID:
      for sql in [
        "CREATE TABLE x (Z_1ZS INTEGER, Z_2AS INTEGER, PRIMARY KEY (Z_1ZS, Z_2AS)) WITHOUT ROWID",
        "INSERT INTO x SELECT * FROM Z_1ZS", "DROP TABLE Z_1ZS", "ALTER TABLE x RENAME TO Z_1ZS",
      ] { try app.execute(sql) }
    }
    try app.close()
    let opened = try PersistentStore.open(at: store, model: destination)
    var pieces = 0
    while pieces < 50, try opened.finishDeferredLightweightMigrationTask() { pieces += 1 }
    #expect(pieces < 50 && !opened.hasPendingDeferredMigration)
    let tables = try ActualSchema(of: opened.connection).tables.map(\.name)
    #expect(!tables.contains("ZZ") && !tables.contains("Z_1ZS") && tables.contains("ZA"))
  }
}
