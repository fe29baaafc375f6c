import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

/// Values that no model knows, and places in lists, of objects that decisions take out of a store or merge.
struct DecidedForeignValueTests {
  private static let builders: [MigrationPlan.Builder] = [.rebuild, .cloneAndAlter]

  private static func quarantined(_ report: MigrationReport) throws -> String {
    try report.quarantine.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
  }

  private static func double(_ value: SQLiteValue) -> Double? {
    if case .real(let number) = value { number } else { nil }
  }

  private static func isTruthValue(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }

  private static let choices = LongTests.selection(
    of: [DataDecision.Choice.quarantine, .merge(by: "date"), .merge(), .keepNewest()].flatMap { choice in
      builders.map { (choice, $0) }
    }, every: 3)

  @Test(arguments: choices)
  func `each value is in the store, in the file, or counted as a loss`(
    choice: DataDecision.Choice, builder: MigrationPlan.Builder
  ) throws {
    let directory = try TemporaryDirectory()
    let (url, source) = try DataDecisionTests.makeStore(
      DataDecisionTests.graph(unique: false), in: directory, objects: 9, names: 3, seed: 7)
    let names = try ForeignNames.inSources(["HeirloomMigration/Decisions", "HeirloomMigration/Plan/Links"])
    var planted = try ForeignNames.plant(names + ForeignNames.rowNumbers, in: url)
    // Some objects and links have no value, for the others to fill.
    let app = try Connection(path: url.path, mode: .readWrite)
    try app.registerCoreDataFunctions()
    for (table, _, columns) in try ForeignNames.tables(app) {
      let list = names.filter(columns.contains).enumerated().filter { $0.offset % 3 == 0 }
        .map { "\(quote($0.element)) = NULL" }
      let condition = columns.contains("Z_PK") ? "Z_PK > 6" : "survivor LIKE '%/1>' OR survivor LIKE '%/2>'"
      try app.execute("UPDATE \(quote(table)) SET \(list.joined(separator: ", ")) WHERE \(condition)")
    }
    try app.close()
    planted = try ForeignNames.values(in: url)
    let destination = try ManagedObjectModel(entities: DataDecisionTests.graph(unique: true) + [Make.entity("AAAdded")])
    let decision = DataDecision(entity: "Tag", property: "name", choice)
    let assistant = DataDecisionTests.assistant(url, source, destination, [decision], builder: .always(builder))
    let plan = try #require(try assistant.plan())
    let report = try assistant.migrate()
    #expect(report.plan.losses == plan.losses)
    let outcome = try #require(plan.decisions.first)
    #expect(outcome.removed > 2)
    // Each text of the file is between quotation marks.
    let texts = Data(try Self.quarantined(report).utf8).split(separator: UInt8(ascii: "\""))
    let missing = planted.subtracting(try ForeignNames.values(in: url))
      .subtracting(texts.map { String(decoding: $0, as: UTF8.self) })
    var lost: [String: Int64] = [:]
    for value in missing {
      // Names may have spaces; the row's key has none.
      let name = value.dropFirst().prefix(upTo: value.lastIndex(of: " ") ?? value.endIndex)
      lost[String(name.drop { $0 != "." }.dropFirst()), default: 0] += 1
    }
    var told: [String: Int64] = [:]
    for loss in plan.losses where loss.property.map(Set(names + ForeignNames.rowNumbers).contains) ?? false {
      told[loss.property ?? "", default: 0] += loss.rows
      #expect(loss.consent == .decision)
    }
    #expect(told == lost)
    if choice == .quarantine { #expect(missing.isEmpty) } else { #expect(!missing.isEmpty) }
  }

  /// Values of each storage class, of which most aren't what an attribute's type is stored as; bytes of no text among them.
  private static let strangeValues = [
    "0", "1", "2", "7", "-1", "9007199254740993", "9223372036854775807", "0.5", "-0.25", "1e300", "'text'",
    "'\u{FFFD}'",
    "''", "X''", "X'00FF'", "X'000102030405060708090A0B0C0D0E0F'", "CAST(X'4DFC6E' AS TEXT)",
    "CAST(X'41FF0042' AS TEXT)",
    "CAST(X'EDA080' AS TEXT)", "CAST(X'C3' AS TEXT)",
  ]

  @Test(arguments: AttributeType.allCases.filter { ![.composite, .undefined, .objectID].contains($0) })
  func `each value in the file is the one that was stored, bit by bit`(type: AttributeType) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(required: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity("Item", [Make.attribute("value", type), Make.attribute("needed", optional: !required)])
      ])
    }
    let (source, destination) = (try model(required: false), try model(required: true))
    try PersistentStore.create(at: url, model: source).close()
    let connection = try Connection(path: url.path, mode: .readWrite)
    try connection.execute("ALTER TABLE ZITEM ADD COLUMN other")
    for (index, value) in Self.strangeValues.enumerated() {
      try connection.execute(
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZVALUE, other) VALUES (\(index + 1), 1, 1, \(value), \(value))")
    }
    func stored(_ column: String) throws -> [(class: String, hex: String, number: SQLiteValue)] {
      try connection.rows("SELECT typeof(\(column)), hex(CAST(\(column) AS BLOB)), \(column) FROM ZITEM ORDER BY Z_PK")
        .map {
          ($0[0].text ?? "", $0[1].text ?? "", $0[2])
        }
    }
    let columns = [try stored("ZVALUE"), try stored("other")]
    try connection.close()
    let decision = DataDecision(entity: "Item", property: "needed", .quarantine)
    let assistant = DataDecisionTests.assistant(url, source, destination, [decision], builder: .always(.rebuild))
    let report = try assistant.migrate()
    let lines = try Self.quarantined(report).split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(lines.count == Self.strangeValues.count)
    for line in lines {
      let index = try #require(line["key"] as? Int) - 1
      for (written, column) in zip(
        [(line["attributes"] as? [String: Any])?["value"], (line["unknownColumns"] as? [String: Any])?["other"]],
        columns)
      {
        let (kind, hex, number) = column[index]
        let place: Comment = "\(type), \(Self.strangeValues[index]): \(String(describing: written)) for \(kind) \(hex)"
        func bytes(_ base64: Any?) -> String? {
          (base64 as? String).flatMap { Data(base64Encoded: $0) }?.map { String(format: "%02X", $0) }.joined()
        }
        switch (kind, written) {
        case ("text", let text as String): #expect(text.utf8.map { String(format: "%02X", $0) }.joined() == hex, place)
        case ("text", let object as [String: Any]): #expect(bytes(object["textBase64"]) == hex, place)
        case ("blob", let object as [String: Any]): #expect(bytes(object["base64"]) == hex, place)
        // The one type whose bytes are written as text.
        case ("blob", let text as String): #expect(type == .uuid && text.filter { $0 != "-" } == hex, place)
        case ("integer", let text as String): #expect(type == .decimal && text == "\(number.integer ?? 0)", place)
        case ("real", let text as String): #expect(type == .decimal && Double(text) == Self.double(number), place)
        case ("integer", let value as NSNumber):
          let isTruth = Self.isTruthValue(value)
          #expect(value.int64Value == number.integer && (!isTruth || type == .boolean), place)
        case ("real", let value as NSNumber):
          #expect(value.doubleValue == Self.double(number) && !Self.isTruthValue(value), place)
        default: Issue.record(place)
        }
      }
    }
  }

  @Test(arguments: builders)
  func `the object that stays takes the place of the one whose owner it takes`(builder: MigrationPlan.Builder) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(unique: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity("List", [Make.attribute("name")], [Make.toMany("items", "Item", "list", ordered: true)]),
        Make.entity(
          "Item", [Make.attribute("name")], [Make.toOne("list", "List", "items")], unique: unique ? [["name"]] : []),
      ])
    }
    let (source, destination) = (try model(unique: false), try model(unique: true))
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
      let items = try ["a", "b", "c", "b"].map { name in
        let item = try context.insert("Item")
        try item.set(name, for: "name")
        return item
      }
      // The newest "b" has no list.
      try context.insert("List")[toMany: "items"] = [items[2], items[1], items[0]]
      try context.save()
    }
    let decision = DataDecision(entity: "Item", property: "name", .merge())
    let assistant = DataDecisionTests.assistant(url, source, destination, [decision], builder: .always(builder))
    try assistant.migrate()
    let found = try Connection(reading: url, options: .inspecting)
    #expect(
      try found.rows("SELECT ZNAME FROM ZITEM WHERE ZLIST = 1 ORDER BY Z_FOK_LIST").map { $0[0].text } == [
        "c", "b", "a",
      ])
  }

  @Test func `the file has places in lists and unknown values, with their kinds`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(unique: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity(
          "Item", [Make.attribute("name")],
          [Make.toOne("list", "List", "items"), Make.toMany("tags", "Tag", "items", ordered: true)],
          unique: unique ? [["name"]] : []),
        Make.entity("List", [], [Make.toMany("items", "Item", "list", ordered: true)]),
        Make.entity("Tag", [], [Make.toMany("items", "Item", "tags", ordered: true)]),
      ])
    }
    let (source, destination) = (try model(unique: false), try model(unique: true))
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: source))
      let items = try (0..<2).map { _ in
        let item = try context.insert("Item")
        try item.set("same", for: "name")
        return item
      }
      try context.insert("List")[toMany: "items"] = items
      try context.insert("Tag")[toMany: "items"] = items
      try context.save()
    }
    let app = try Connection(path: url.path, mode: .readWrite)
    try app.registerCoreDataFunctions()
    let joins = try ForeignNames.tables(app).first { $0.name.hasPrefix("Z_1") || $0.name.hasPrefix("Z_3") }
    let join = try #require(joins)
    for sql in [
      "ALTER TABLE ZITEM ADD COLUMN owner BLOB", "ALTER TABLE ZITEM ADD COLUMN note",
      "ALTER TABLE ZITEM ADD COLUMN big INTEGER", "ALTER TABLE ZITEM ADD COLUMN part REAL",
      "UPDATE ZITEM SET owner = x'00ff', note = 'text', big = 9007199254740993, part = 0.5",
      "ALTER TABLE \(join.name) ADD COLUMN \"when\" TEXT", "UPDATE \(join.name) SET \"when\" = 'today'",
    ] { try app.execute(sql) }
    let orders = join.columns.filter { $0.contains("FOK") }
    #expect(orders.count == 2)
    let places = try app.rows(
      "SELECT \(orders.map(quote).joined(separator: ", ")) FROM \(join.name) ORDER BY \(quote(join.keys[0])),"
        + " \(quote(join.keys[1]))")
    let listPlaces = try app.rows("SELECT Z_PK, Z_FOK_LIST FROM ZITEM ORDER BY Z_PK")
    try app.close()
    let decision = DataDecision(entity: "Item", property: "name", .quarantine)
    guard
      case .migrated(let report) = try DataDecisionTests.assistant(url, source, destination, [decision]).migrateStore()
    else {
      Issue.record("expected a migration")
      return
    }
    let line = try Self.quarantined(report).split(separator: "\n")[0]
    let row = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let key = try #require(row["key"] as? NSNumber).int64Value
    let columns = try #require(row["unknownColumns"] as? [String: Any])
    #expect((columns["owner"] as? [String: String]) == ["base64": "AP8="])
    #expect(columns["note"] as? String == "text" && (columns["part"] as? NSNumber)?.doubleValue == 0.5)
    #expect((columns["big"] as? NSNumber)?.int64Value == 9_007_199_254_740_993)
    let positions = try #require(row["positions"] as? [String: Any])
    #expect(
      (positions["list"] as? NSNumber)?.int64Value == listPlaces.first { $0[0] == .integer(key) }?[1].integer)
    let links = try #require(row["links"] as? [String: [[String: Any]]])
    let link = try #require(links["tags"]?.first)
    #expect((link["unknownColumns"] as? [String: Any])?["when"] as? String == "today")
    let numbers = Set([link["position"], link["inversePosition"]].compactMap { ($0 as? NSNumber)?.int64Value })
    #expect(places.contains { Set($0.compactMap(\.integer)) == numbers } && !numbers.isEmpty)
  }
}
