import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Each kind of cell that an object has, where a decision takes the object out of the store or merges it.
struct DecidedCellTests {
  /// A kind of cell, with numbers that no other cell has.
  enum Kind: CaseIterable, Sendable {
    case ownAttribute, siblingAttribute, unknownColumn, toOneKey, siblingKey, oneWayKey, linkRow
    case subentityAttribute, subentityKey

    /// The columns, the first of which the loss is about; `F` is the number of the entity with the one-way relationship.
    var columns: [String] {
      switch self {
      case .ownAttribute: ["ZMEMO"]
      case .siblingAttribute, .subentityAttribute: ["ZEXTRA"]
      case .unknownColumn: ["note"]
      case .toOneKey: ["ZLIST", "Z_FOK_LIST"]
      case .siblingKey, .subentityKey: ["ZBOX"]
      case .oneWayKey: ["ZFFAVS", "Z_FOK_FFAVS"]
      case .linkRow: ["stamp"]
      }
    }

    /// The loss that tells these cells apart from their objects; `nil` if the objects' loss does.
    func loss(_ choice: DataDecision.Choice) -> String? {
      switch self {
      case .ownAttribute, .toOneKey: nil
      case .siblingAttribute: "unknownContent Item.ZEXTRA"
      case .unknownColumn: "unknownContent Item.note"
      case .siblingKey: "unknownContent Item.ZBOX"
      case .oneWayKey: "links Person.favs"
      case .linkRow: "unknownContent Item.stamp"
      case .subentityAttribute: choice.isMerge ? "values Sub.extra" : nil
      case .subentityKey: choice.isMerge ? "links Sub.box" : nil
      }
    }

    var isOfSubentity: Bool { self == .subentityAttribute || self == .subentityKey }
  }

  private static func model(unique: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      Make.entity(
        "Item", [Make.attribute("name"), Make.attribute("memo", .integer64)],
        [Make.toOne("list", "List", "items"), Make.toMany("tags", "Tag", "items", ordered: true)],
        unique: unique ? [["name"]] : []),
      Make.entity(
        "Sub", [Make.attribute("extra", .integer64, value: .integer(5))], [Make.toOne("box", "Box", "subs")],
        parent: "Item"),
      Make.entity("List", [], [Make.toMany("items", "Item", "list", ordered: true)]),
      Make.entity("Tag", [], [Make.toMany("items", "Item", "tags", ordered: true)]),
      Make.entity("Box", [], [Make.toMany("subs", "Sub", "box")]),
      Make.entity("Person", [], [Make.toMany("favs", "Item", ordered: true)]),
    ])
  }

  /// Every second item will go; the result is the numbers in the cells of those.
  private static func fill(_ url: URL, _ kind: Kind, all: Bool) throws -> [[Int64]] {
    try PersistentStore.create(at: url, model: model(unique: false)).close()
    let plain = try Connection(path: url.path, mode: .readWrite)
    try plain.registerCoreDataFunctions()
    let numbers = Dictionary(
      uniqueKeysWithValues: try plain.rows("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY").map {
        ($0[0].text ?? "", $0[1].integer ?? 0)
      })
    func number(_ entity: String) -> Int64 { numbers[entity] ?? 0 }
    try plain.execute("ALTER TABLE ZITEM ADD COLUMN note")
    for key in 1...6 as ClosedRange<Int64> {
      let entity = kind.isOfSubentity && key % 2 == 1 && key < 5 ? number("Sub") : number("Item")
      try plain.execute(
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZEXTRA) VALUES (\(key), \(entity), 1, 'n\((key + 1) / 2)',"
          // A default that the column had before is no value of an object.
          + " \(kind == .subentityKey ? "NULL" : "5"))")
    }
    let target: String? =
      switch kind {
      case .toOneKey: "List"
      case .siblingKey, .subentityKey: "Box"
      case .oneWayKey: "Person"
      case .linkRow: "Tag"
      default: nil
      }
    var planted: [[Int64]] = []
    for key in 1...4 as ClosedRange<Int64> where all || key % 2 == 1 {
      let cells = kind.columns.indices.map { 7_654_000 + Int64($0) * 100 + key }
      if let target {
        let links = kind == .linkRow ? 7_650_001 : cells[0]
        try plain.execute(
          "INSERT OR IGNORE INTO Z\(target.uppercased()) (Z_PK, Z_ENT, Z_OPT) VALUES (\(links), \(number(target)), 1)")
      }
      if kind == .linkRow {
        let join = try #require(
          try plain.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'Z_[0-9]*' AND type = 'table'").first?[0].text)
        let columns = try plain.rows("SELECT name FROM pragma_table_info(?1)", [.text(join)]).compactMap { $0[0].text }
        if !columns.contains("stamp") { try plain.execute("ALTER TABLE \(join) ADD COLUMN stamp") }
        let names = columns.filter { $0 != "stamp" }
        let values = names.map { name -> Int64 in
          // Keys first name the related objects.
          name.contains("FOK") ? 100 : name.hasSuffix("TAGS") ? 7_650_001 : key
        }
        try plain.execute(
          "INSERT INTO \(join) (\(names.joined(separator: ", ")), stamp)"
            + " VALUES (\(values.map(String.init).joined(separator: ", ")), \(cells[0]))")
      } else {
        let set = zip(kind.columns, cells).map {
          "\($0.replacingOccurrences(of: "FFAVS", with: "\(number("Person"))FAVS")) = \($1)"
        }
        try plain.execute("UPDATE ZITEM SET \(set.joined(separator: ", ")) WHERE Z_PK = \(key)")
      }
      if key % 2 == 1 { planted.append(cells) }
    }
    return planted
  }

  private static func numbers(_ url: URL) throws -> Set<Int64> {
    let plain = try Connection(reading: url)
    let tables = try plain.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name = 'ZITEM' OR name GLOB 'Z_[0-9]*')")
    return Set(
      try tables.flatMap { try plain.rows("SELECT * FROM \(quote($0[0].text ?? ""))") }.joined().compactMap(\.integer))
  }

  @Test(
    arguments: LongTests.pairs(of: Kind.allCases, [DataDecision.Choice.quarantine, .keepNewest(), .merge()], every: 3))
  func `each cell of an object that goes is in the file, in the store, or told`(
    kind: Kind, choice: DataDecision.Choice
  ) throws {
    for builder in [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)] {
      for all in [false, true] {
        let directory = try TemporaryDirectory()
        let url = directory.file("Store.sqlite")
        let planted = try Self.fill(url, kind, all: all)
        let assistant = DataDecisionTests.assistant(
          url, try Self.model(unique: false), try Self.model(unique: true),
          [DataDecision(entity: "Item", property: "name", choice)], builder: builder)
        let report = try assistant.migrate()
        let place: Comment = "\(builder), \(all)"
        let text = try report.quarantine.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let there = try Self.numbers(url)
        var told: [String: Int64] = [:]
        for loss in report.plan.losses where loss.kind != .objects {
          told["\(loss.kind) \(loss.name)", default: 0] += loss.rows
          #expect(loss.consent == .decision, place)
        }
        let gone = Int64(planted.filter { !there.contains($0[0]) }.count)
        if choice == .quarantine {
          #expect(gone == 2 && planted.joined().allSatisfy { text.contains("\($0)") }, place)
        } else if let name = kind.loss(choice) {
          #expect((told[name] ?? 0) == gone, "\(place): \(told)")
          // Only a loss of the object that a link leads from may come beside it.
          #expect(told.allSatisfy { $0.key == name || kind == .linkRow }, "\(place): \(told)")
        } else {
          #expect(gone == (choice.isMerge && !all && !kind.isOfSubentity ? 0 : 2) && told.isEmpty, "\(place): \(told)")
        }
      }
    }
  }

  @Test func `the file has what is left of a link: a key that is none, and a place without one`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    _ = try Self.fill(url, .ownAttribute, all: false)
    let plain = try Connection(path: url.path, mode: .readWrite)
    try plain.registerCoreDataFunctions()
    try plain.execute("UPDATE ZITEM SET ZLIST = 'no key 1', Z_FOK_LIST = 7650001 WHERE Z_PK = 1")
    try plain.execute("UPDATE ZITEM SET Z_FOK_LIST = 7650003 WHERE Z_PK = 3")
    try plain.close()
    let assistant = DataDecisionTests.assistant(
      url, try Self.model(unique: false), try Self.model(unique: true),
      [DataDecision(entity: "Item", property: "name", .quarantine)])
    let report = try assistant.migrate()
    let text = try report.quarantine.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    #expect(["\"ZLIST\":\"no key 1\"", "\"Z_FOK_LIST\":7650001", "\"Z_FOK_LIST\":7650003"].allSatisfy(text.contains))
  }

  @Test(arguments: [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `what another entity left in an object that goes is no value of the object that stays`(
    builder: BuilderChoice
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    _ = try Self.fill(url, .siblingAttribute, all: false)
    let plain = try Connection(path: url.path, mode: .readWrite)
    try plain.registerCoreDataFunctions()
    try plain.execute(
      "UPDATE ZITEM SET ZEXTRA = NULL, Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Sub') WHERE Z_PK % 2 = 0"
    )
    try plain.close()
    let assistant = DataDecisionTests.assistant(
      url, try Self.model(unique: false), try Self.model(unique: true),
      [DataDecision(entity: "Item", property: "name", .merge())], builder: builder)
    let report = try assistant.migrate()
    #expect(report.plan.losses.first { $0.name == "Item.ZEXTRA" }?.rows == 2)
    #expect(try Connection(reading: url).firstInteger("SELECT COUNT(ZEXTRA) FROM ZITEM") == 0)
  }
}

extension DataDecision.Choice {
  fileprivate var isMerge: Bool { if case .merge = self { true } else { false } }
}
