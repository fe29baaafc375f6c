import Foundation
import Heirloom
import HeirloomModel
import HeirloomStore
import HeirloomTesting
import TestSupport
import Testing

struct ExpectKeptTests {
  /// A garden that was migrated, with its content from before.
  struct Migrated {
    let directory: TemporaryDirectory
    let before: StoreContents
    let report: MigrationReport
    let model: ManagedObjectModel
    var url: URL { directory.file("Garden.sqlite") }

    init(_ change: (inout [String: EntityDescription]) -> Void) throws {
      directory = try TemporaryDirectory()
      let url = directory.file("Garden.sqlite")
      let old = try Garden.model()
      model = try Garden.model(change)
      try SampleObjects(of: old, objectsPerEntity: 10).makeStore(at: url)
      before = try StoreContents(of: url, model: old)
      let assistant = MigrationAssistant(url, ModelHistory(current: model, earlier: [("old", old)]))
      let report = try assistant.migrate()
      self.report = report
    }

    /// Changes the migrated store as a faulty migration would have.
    func spoil(_ sql: String) throws {
      let connection = try Connection(path: url.path, mode: .readWrite)
      try connection.registerCoreDataFunctions()
      try connection.execute(sql)
      try connection.close()
    }
  }

  private static func renaming(_ entities: inout [String: EntityDescription]) {
    entities["Bed"]?.attributes[0].name = "title"
    entities["Bed"]?.attributes[0].renamingIdentifier = "name"
    entities["Plant"]?.attributes.removeAll { $0.name == "notes" }
    entities["Label"]?.attributes.append(Garden.attribute("color", .string))
  }

  @Test func `a migration that keeps everything passes, whatever is added, renamed and dropped`() throws {
    let migrated = try Migrated(Self.renaming)
    #expect(migrated.report.plan.losses.map(\.property) == ["notes"])
    try migrated.before.expectKept(in: migrated.url, after: migrated.report)
  }

  /// The fault of a migration, and the expected finding.
  struct Fault: Sendable, CustomTestStringConvertible {
    let sql: String
    let kind: MigrationFinding.Kind
    let place: String
    var testDescription: String { "\(kind) in \(place)" }
  }

  @Test(arguments: [
    Fault(sql: "DELETE FROM ZBED WHERE Z_PK = 2", kind: .objectsLost, place: "Bed"),
    Fault(
      sql: "INSERT INTO ZLABEL (Z_PK, Z_ENT, Z_OPT, ZCODE) SELECT 99, Z_ENT, 1, 999 FROM ZLABEL LIMIT 1",
      kind: .objectsAdded, place: "Label"),
    Fault(sql: "UPDATE ZBED SET ZTITLE = 'x' WHERE Z_PK = 3", kind: .valuesChanged, place: "Bed.title"),
    Fault(sql: "UPDATE ZTHING SET ZHEIGHT = 7.25 WHERE Z_PK = 3", kind: .valuesChanged, place: "Plant.height"),
    Fault(sql: "UPDATE ZTHING SET ZPLACE1 = ZPLACE1 + 1", kind: .valuesChanged, place: "Plant.place.number"),
    Fault(sql: "UPDATE ZTHING SET ZBED = ZBED % 10 + 1 WHERE Z_PK = 1", kind: .linksChanged, place: "Plant.bed"),
    Fault(
      sql: "UPDATE ZTHING SET Z_FOK_BED = -Z_FOK_BED", kind: .linksChanged, place: "Bed.plants"),
  ])
  func `each thing that is not kept is found`(fault: Fault) throws {
    let migrated = try Migrated(Self.renaming)
    let columns = try Connection(reading: migrated.url, options: .inspecting)
    let names = try columns.rows("SELECT name FROM pragma_table_info('ZTHING')").compactMap { $0[0].text }
    try columns.close()
    // The schema chooses the names of the columns of composite elements and places.
    let number = names.first { $0.hasPrefix("ZNUMBER") || $0.hasPrefix("ZPLACENUMBER") || $0.hasSuffix("NUMBER") } ?? ""
    let order = names.first { $0.hasPrefix("Z_FOK_BED") } ?? ""
    let sql = fault.sql.replacingOccurrences(of: "ZPLACE1", with: number)
      .replacingOccurrences(of: "Z_FOK_BED", with: order)
    try migrated.spoil(sql)
    let error = #expect(throws: MigrationNotKept.self) {
      try migrated.before.expectKept(in: migrated.url, after: migrated.report)
    }
    let found = error?.findings.map { "\($0.kind) \($0.entity)\($0.property.map { "." + $0 } ?? "")" } ?? []
    #expect(found.contains("\(fault.kind) \(fault.place)"), "\(found) \(error.map { "\($0)" } ?? "")")
    let intended = Set(error?.findings.map(\.entity) ?? [])
    #expect(throws: Never.self) {
      try migrated.before.expectKept(in: migrated.url, after: migrated.report, except: intended)
    }
  }

  /// The index of a constraint on inherited properties holds the objects of the entities beside its own, too.
  @Test(arguments: [DataDecision.Choice.merge(by: nil), .keepNewest(by: nil), .quarantine])
  func `what a decision about a subentity's constraint removes of others is known`(choice: DataDecision.Choice) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(isUnique: Bool) throws -> ManagedObjectModel {
      func entity(_ name: String, _ own: String, unique: [[String]] = []) -> EntityDescription {
        let attribute = Make.attribute(own)
        return Make.entity(name, [attribute], parent: "Item", unique: unique)
      }
      var item = Make.entity("Item", isAbstract: true)
      let title = Make.attribute("title")
      item.attributes = [title]
      return try ManagedObjectModel(entities: [
        item, entity("Recipe", "note", unique: isUnique ? [["title"]] : []), entity("Beverage", "alcohol"),
      ])
    }
    let (source, destination) = (try model(isUnique: false), try model(isUnique: true))
    try PersistentStore.make(at: url, model: source) { context in
      for (entity, title) in [("Recipe", "wine"), ("Beverage", "wine"), ("Beverage", "tea"), ("Beverage", "tea")] {
        try context.insert(entity)["title"] = .string(title)
      }
    }
    let before = try StoreContents(of: url, model: source)
    let assistant = MigrationAssistant(
      url, from: source, to: destination,
      .init(decisions: [DataDecision(entity: "Recipe", constraint: ["title"], choice)]))
    let report = try assistant.migrate()
    #expect(report.plan.decisions.map(\.removed) == [2])
    try before.expectKept(in: url, after: report)
  }
}
