import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Stores at SQLite's limits: each is migrated as planned, or refused by the plan.
struct WideTableTests {
  struct Width: CustomTestStringConvertible, Sendable {
    let columns: Int
    let builder: MigrationPlan.Builder
    var testDescription: String { "\(columns) columns, \(builder.rawValue)" }
  }

  // Around the 127 arguments of a function, the 1,000 levels of an expression and the 2,000 columns of a table.
  static let widths = (LongTests.areOn ? [126, 127, 128, 129, 1_001, 2_000] : [127, 128]).flatMap { columns in
    [MigrationPlan.Builder.rebuild, .cloneAndAlter].map { Width(columns: columns, builder: $0) }
  }

  /// There are at least nine columns; `type` is the sixth attribute's, and those after it may be
  /// required.
  private static func model(
    columns: Int, type: AttributeType = .integer32, areRequired: Bool = false
  ) throws -> ManagedObjectModel {
    // Three columns are in every table.
    try ManagedObjectModel(entities: [
      Make.entity(
        "Wide",
        (0..<(columns - 3)).map { index in
          let isFilled = areRequired && index > 5
          return Make.attribute(
            "a\(index)", index == 5 ? type : .string, optional: !isFilled, value: isFilled ? .string("new") : nil)
        })
    ])
  }

  private static func fill(_ url: URL, _ model: ManagedObjectModel) throws {
    try PersistentStore.create(at: url, model: model).close()
    let connection = try Connection(path: url.path, mode: .readWrite)
    for key in 1...3 {
      let names = model.entities[0].attributes.map { ", Z\($0.name.uppercased())" }.joined()
      let values = model.entities[0].attributes.map { $0.name == "a5" ? ", \(key)" : ", '\(key) \($0.name)'" }.joined()
      try connection.execute("INSERT INTO ZWIDE (Z_PK, Z_ENT, Z_OPT\(names)) VALUES (\(key), 1, 1\(values))")
    }
    try connection.execute("UPDATE ZWIDE SET ZA6 = NULL WHERE Z_PK = 2")
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 3")
    try connection.close()
  }

  private static func cells(_ url: URL, _ model: ManagedObjectModel) throws -> [[SQLiteValue]] {
    let connection = try Connection(reading: url, options: .inspecting)
    return try stride(from: 0, to: model.entities[0].attributes.count, by: 500).flatMap { start in
      let part = model.entities[0].attributes.dropFirst(start).prefix(500)
      let names = part.map { quote("Z" + $0.name.uppercased()) }.joined(separator: ", ")
      return try connection.rows("SELECT \(names) FROM ZWIDE ORDER BY Z_PK")
    }
  }

  @Test(arguments: widths)
  func `a table of any width goes into a new file and is changed in place`(width: Width) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Wide.sqlite")
    let before = try Self.model(columns: width.columns)
    try Self.fill(url, before)
    // In a copy, nearly all columns are written, so that they are summed there as well.
    let after =
      width.builder == .rebuild
      ? try Self.model(columns: width.columns, type: .double)
      : try Self.model(columns: width.columns, areRequired: true)
    let cells = try Self.cells(url, before)
    let assistant = DataDecisionTests.assistant(url, before, after, [], builder: .always(width.builder))
    let plan = try #require(try assistant.plan())
    #expect(plan.losses.isEmpty && plan.builder == width.builder)
    try assistant.migrate()
    let filled = width.builder == .rebuild ? "" : "new"
    #expect(
      try Self.cells(url, after).joined().map(Self.text)
        == cells.joined().map { $0 == .null ? filled : Self.text($0) })
  }

  @Test(
    .enabled(if: LongTests.areOn, "a value of a gigabyte is for the long tests"), .slow("a value of a gigabyte"),
    arguments: [MigrationPlan.Builder.rebuild, .cloneAndAlter])
  func `a text of nearly the greatest length is migrated`(builder: MigrationPlan.Builder) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Long.sqlite")
    let before = try Self.model(columns: 12)
    try Self.fill(url, before)
    // SQLite takes a row of 1,000,000,000 bytes.
    let text = "printf('%.*c', 999999000, 'x')"
    try Connection.execute("UPDATE ZWIDE SET ZA7 = \(text) WHERE Z_PK = 2", on: url.path)
    let after = try Self.model(columns: 13, type: builder == .rebuild ? .double : .integer32)
    guard
      case .migrated(let report) = try DataDecisionTests.assistant(url, before, after, [], builder: .always(builder))
        .migrateStore()
    else {
      Issue.record("expected a migration")
      return
    }
    #expect(report.plan.losses.isEmpty && report.plan.builder == builder)
    let found = try Connection(reading: url, options: .inspecting)
    #expect(try found.firstInteger("SELECT COUNT(*) FROM ZWIDE WHERE ZA7 = \(text)") == 1)
  }

  @Test func `a table whose statement could not be read again is refused by the plan`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Wide.sqlite")
    let before = try Self.model(columns: 10)
    try Self.fill(url, before)
    let long = String(repeating: "n", count: 100)
    let after = try ManagedObjectModel(entities: [
      Make.entity("Wide", before.entities[0].attributes + (0..<1_000).map { Make.attribute("\(long)\($0)") })
    ])
    let error = #expect(throws: (any Error).self) { try DataDecisionTests.assistant(url, before, after, []).plan() }
    #expect(error.map { "\($0)" }?.contains("Heirloom reads at most 100000") == true)
  }

  @Test func `a tree of more entities than SQLite takes terms or levels is migrated`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Tree.sqlite")
    // In a long run more than 500 queries in a compound, and more than 1,000 levels of an expression.
    let count = LongTests.areOn ? 1_010 : 102
    func model(isAfter: Bool) throws -> ManagedObjectModel {
      let leaves = (0..<count).map { index in
        Make.entity(
          "E\(index)", isAfter ? [] : [Make.attribute("code")],
          isAfter ? [] : [Make.toMany("targets", "Target", "of\(index)")], parent: "Root")
      }
      let back = (0..<(isAfter ? 0 : count)).map { Make.toMany("of\($0)", "E\($0)", "targets") }
      return try ManagedObjectModel(
        entities: [
          Make.entity(
            "Root", [Make.attribute("name", optional: !isAfter)] + (isAfter ? [Make.attribute("code")] : []),
            isAfter ? [Make.toMany("targets", "Target", "owners")] : [], unique: isAfter ? [["code"]] : []),
          Make.entity("Target", [], isAfter ? [Make.toMany("owners", "Root", "targets")] : back),
        ] + leaves)
    }
    let (before, after) = (try model(isAfter: false), try model(isAfter: true))
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: before))
      let target = try context.insert("Target")
      for index in [0, count / 2, count - 1] {
        let object = try context.insert("E\(index)")
        try object.set("\(index)", for: "code")
        try object.set("name", for: "name")
        object[toMany: "targets"] = [target]
      }
      try context.save()
    }
    let report = try DataDecisionTests.assistant(url, before, after, []).migrate()
    #expect(report.plan.losses.isEmpty)
    let found = try Connection(reading: url, options: .inspecting)
    let codes = try found.rows("SELECT ZCODE FROM ZROOT ORDER BY Z_PK").map(\.[0].text)
    #expect(codes == ["0", "\(count / 2)", "\(count - 1)"])
    let joins = try found.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'Z\\_%' ESCAPE '\\' AND type = 'table'")
    let tables = joins.compactMap(\.[0].text).filter { $0.contains(#/^Z_\d/#) }
    #expect(try tables.map { try found.firstInteger("SELECT COUNT(*) FROM \(quote($0))") } == [3])
  }

  private static func text(_ value: SQLiteValue) -> String {
    switch value {
    case .integer(let number): "\(Double(number))"
    case .real(let number): "\(number)"
    default: value.text ?? ""
    }
  }
}
