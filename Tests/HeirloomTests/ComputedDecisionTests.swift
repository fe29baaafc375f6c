import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Decisions whose expression gives each row a value of its own.
struct ComputedDecisionTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var url: URL { directory.file("Store.sqlite") }

  private func makeStore(_ model: ManagedObjectModel, amounts: [String?]) throws {
    let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: model))
    for (index, amount) in amounts.enumerated() {
      let invoice = try context.insert(index % 3 == 2 ? "Reminder" : "Invoice")
      invoice["title"] = .string("invoice \(index)")
      if let amount { invoice["amount"] = .string(amount) }
    }
    try context.save()
  }

  private static func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      Make.entity("Invoice", [Make.attribute("title")] + attributes), Make.entity("Reminder", [], parent: "Invoice"),
    ])
  }

  private func assistant(
    _ source: ManagedObjectModel, _ destination: ManagedObjectModel, _ decisions: [DataDecision],
    builder: BuilderChoice = .automatic
  ) -> MigrationAssistant {
    DataDecisionTests.assistant(url, source, destination, decisions, builder: builder)
  }

  private func rows(_ sql: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(reading: url)
    defer { try? connection.close() }
    return try connection.rows(sql)
  }

  private static let builders: [BuilderChoice] = [.always(.rebuild), .always(.cloneAndAlter)]
  private static let text = Make.attribute("amount")

  @Test(arguments: builders, [true, false])
  func `each row gets an identifier of its own`(builder: BuilderChoice, isOptional: Bool) throws {
    let source = try Self.model([Self.text])
    let destination = try Self.model([Self.text, Make.attribute("key", .uuid, optional: isOptional)])
    try makeStore(source, amounts: Array(repeating: "1", count: 50))
    let decision = DataDecision(entity: "Invoice", property: "key", .compute("uuid()"))
    let plan = try #require(try assistant(source, destination, [decision], builder: builder).plan())
    #expect(plan.blockers.isEmpty && plan.losses.isEmpty && plan.decisions.map(\.filled) == [50])
    _ = try assistant(source, destination, [decision], builder: builder).migrateStore()
    let found = try rows("SELECT COUNT(DISTINCT ZKEY), MIN(LENGTH(ZKEY)), MAX(LENGTH(ZKEY)), COUNT(*) FROM ZINVOICE")
    #expect(found == [[.integer(50), .integer(16), .integer(16), .integer(50)]])
    // The decision stays in the app, and a later change leaves what was written since.
    try Connection.execute("UPDATE ZINVOICE SET ZKEY = NULL WHERE Z_PK <= 5", on: url.path)
    guard isOptional else { return }
    let before = try rows("SELECT Z_PK, ZKEY FROM ZINVOICE ORDER BY 1")
    let next = try Self.model([Self.text, Make.attribute("key", .uuid), Make.attribute("note")])
    _ = try assistant(destination, next, [decision], builder: builder).migrateStore()
    #expect(try rows("SELECT Z_PK, ZKEY FROM ZINVOICE ORDER BY 1") == before)
  }

  /// Texts, each with the whole number that it writes.
  private static let amounts: [(text: String?, number: Int64?)] = [
    ("1", 1), ("-20", -20), ("abc", nil), ("7", 7), (nil, nil), ("9223372036854775807", .max), ("", nil), ("3.5", nil),
    ("99999999999999999999", nil), ("12", 12),
  ]

  @Test(arguments: builders, [true, false])
  func `texts become numbers, and rows whose text is none are counted and quarantined`(
    builder: BuilderChoice, isOptional: Bool
  ) throws {
    let source = try Self.model([Self.text])
    let destination = try Self.model([Make.attribute("amount", .integer64, optional: isOptional)])
    try makeStore(source, amounts: Self.amounts.map(\.text))
    // An attribute that may lack a value lacks it where there was none.
    let unfit = Int64(Self.amounts.count { $0.number == nil && !(isOptional && $0.text == nil) })
    let compute = DataDecision(entity: "Invoice", property: "amount", .compute("CAST(amount, \"NSNumber\")"))
    let plan = try #require(try assistant(source, destination, [compute], builder: builder).plan())
    #expect(plan.blockers.map(\.rows) == [unfit] && plan.blockers.map(\.choices) == [[.fill, .quarantine]])
    #expect(plan.decisions.map(\.filled) == [Int64(Self.amounts.count { $0.number != nil })])
    #expect(throws: MigrationAssistantError.self) {
      try assistant(source, destination, [compute], builder: builder).migrateStore()
    }
    let quarantine = DataDecision(entity: "Invoice", property: "amount", .quarantine)
    let decided = assistant(source, destination, [compute, quarantine], builder: builder)
    let report = try decided.migrate()
    #expect(report.plan.decisions.map(\.quarantined) == [0, unfit], "\(report.plan.losses)")
    let expected = Self.amounts.enumerated().compactMap { index, amount in
      let value = amount.number.map { SQLiteValue.integer($0) } ?? (isOptional && amount.text == nil ? .null : nil)
      return value.map { [SQLiteValue.text("invoice \(index)"), $0] }
    }
    #expect(try rows("SELECT ZTITLE, ZAMOUNT FROM ZINVOICE ORDER BY ZTITLE") == expected.sorted { "\($0)" < "\($1)" })
  }

  @Test(arguments: builders)
  func `a second value replaces texts that are none, and no missing value`(builder: BuilderChoice) throws {
    let source = try Self.model([Self.text])
    let destination = try Self.model([Make.attribute("amount", .integer64)])
    try makeStore(source, amounts: ["1", "x", nil])
    let decisions = [
      DataDecision(entity: "Invoice", property: "amount", .compute("CAST(amount, \"NSNumber\")")),
      DataDecision(entity: "Invoice", property: "amount", .fill(.integer(-1))),
    ]
    let report = try assistant(source, destination, decisions, builder: builder).migrate()
    #expect(report.plan.decisions.map(\.filled) == [1, 1])
    #expect(try rows("SELECT ZAMOUNT FROM ZINVOICE ORDER BY Z_PK") == [[.integer(1)], [.integer(-1)], [.null]])
  }

  @Test func `another value fills what the expression leaves, and an unknown name is told`() throws {
    let source = try Self.model([Self.text])
    let destination = try Self.model([Self.text, Make.attribute("number", .double, optional: false)])
    try makeStore(source, amounts: ["1.5", "x", nil])
    let compute = DataDecision(entity: "Invoice", property: "number", .compute("CAST(amount, \"NSNumber\") * 2"))
    let fill = DataDecision(entity: "Invoice", property: "number", .fill(.double(-1)))
    let plan = try #require(try assistant(source, destination, [fill, compute]).plan())
    #expect(plan.blockers.isEmpty && plan.decisions.map(\.filled) == [2, 1])
    for text in ["amout", "nothing(", "FUNCTION(amount, \"unknown:\")"] {
      let wrong = DataDecision(entity: "Invoice", property: "number", .compute(text))
      #expect(throws: MigrationAssistantError.self, "\(text)") { try assistant(source, destination, [wrong]).plan() }
    }
    _ = try assistant(source, destination, [fill, compute]).migrateStore()
    #expect(
      try rows("SELECT ZNUMBER FROM ZINVOICE ORDER BY Z_PK") == [[.real(3)], [.real(-1)], [.real(-1)]])
  }

  @Test func `values that were missing are computed, and others stay byte for byte`() throws {
    let source = try Self.model([Self.text])
    let destination = try Self.model([Make.attribute("amount", optional: false)])
    try makeStore(source, amounts: ["a", nil, "c", nil])
    try Connection.execute("UPDATE ZINVOICE SET ZAMOUNT = CAST(x'C3C3' AS TEXT) WHERE Z_PK = 3", on: url.path)
    let decision = DataDecision(entity: "Invoice", property: "amount", .compute("uppercase:(title)"))
    _ = try assistant(source, destination, [decision]).migrateStore()
    #expect(
      try rows("SELECT HEX(ZAMOUNT) FROM ZINVOICE ORDER BY Z_PK").map { $0[0].text }
        == ["61", hex("INVOICE 1"), "C3C3", hex("INVOICE 3")])
  }

  private func hex(_ text: String) -> String { text.utf8.map { String(format: "%02X", $0) }.joined() }

  @Test func `a value that goes into a new one is no loss, and another is`() throws {
    let source = try Self.model([Self.text, Make.attribute("other")])
    let destination = try Self.model([Make.attribute("number", .integer64, optional: false)])
    try makeStore(source, amounts: ["1", "2"])
    try Connection.execute("UPDATE ZINVOICE SET ZOTHER = 'x'", on: url.path)
    let decision = DataDecision(entity: "Invoice", property: "number", .compute("CAST(amount, \"NSNumber\")"))
    let plan = try #require(try assistant(source, destination, [decision]).plan())
    #expect(plan.losses.map(\.property) == ["other"], "\(plan.losses)")
  }

  @Test(arguments: builders)
  func `what an expression would have read of rows with a value of their own is lost, and told`(
    builder: BuilderChoice
  ) throws {
    let source = try Self.model([Self.text, Make.attribute("other")])
    let destination = try Self.model([Make.attribute("amount", optional: false)])
    try makeStore(source, amounts: ["a", nil, "b", nil, "c", nil])
    let connection = try Connection(path: url.path, mode: .readWrite)
    // The first has both, the third neither needs nor has another, the fourth lacks both.
    try connection.execute("UPDATE ZINVOICE SET ZOTHER = 'o' || Z_PK WHERE Z_PK NOT IN (3, 4)")
    try connection.close()
    let decisions = [
      DataDecision(entity: "Invoice", property: "amount", .compute("other")),
      DataDecision(entity: "Invoice", property: "amount", .fill(.string("none"))),
    ]
    let plan = try #require(try assistant(source, destination, decisions, builder: builder).plan())
    #expect(plan.losses.map(\.property) == ["other"] && plan.losses.map(\.rows) == [2], "\(plan.losses)")
    _ = try assistant(source, destination, decisions, builder: builder).migrateStore()
    let found = try rows("SELECT ZAMOUNT FROM ZINVOICE ORDER BY Z_PK").map { $0[0].text }
    #expect(found == ["a", "o2", "b", "none", "c", "o6"])
    let versions = try StoreArchive(storeURL: url).previousVersions()
    #expect(versions.map(\.isPinned) == [true])
  }

  @Test(arguments: builders, [true, false])
  func `texts that are replaced since they are no numbers are lost, and told; in quarantine they aren't`(
    builder: BuilderChoice, isFilled: Bool
  ) throws {
    let source = try Self.model([Self.text])
    let destination = try Self.model([Make.attribute("amount", .integer64, optional: false)])
    try makeStore(source, amounts: Self.amounts.map(\.text))
    let decisions = [
      DataDecision(entity: "Invoice", property: "amount", .compute("CAST(amount, \"NSNumber\")")),
      DataDecision(entity: "Invoice", property: "amount", isFilled ? .fill(.integer(-1)) : .quarantine),
    ]
    let plan = try #require(try assistant(source, destination, decisions, builder: builder).plan())
    let texts = Int64(Self.amounts.count { $0.number == nil && $0.text != nil })
    let values = plan.losses.filter { $0.property == "amount" }
    #expect(values.map(\.rows) == (isFilled ? [texts] : []), "\(plan.losses)")
    #expect(values.allSatisfy { $0.consent == nil }, "\(plan.losses)")
    _ = try assistant(source, destination, decisions, builder: builder).migrateStore()
    let versions = try StoreArchive(storeURL: url).previousVersions()
    #expect(versions.map(\.isPinned) == [isFilled])
  }

  @Test(arguments: builders, [AttributeType.decimal, .double])
  func `numbers that are rounded are told, unless their texts stay`(builder: BuilderChoice, type: AttributeType) throws
  {
    var numbers = SystemRandomNumberGenerator()
    let texts = (0..<60).map { index -> String in
      let digits = (0..<Int.random(in: 1...24, using: &numbers)).map { _ in
        Character("\(Int.random(in: 0...9, using: &numbers))")
      }
      let whole = Int.random(in: 0...digits.count, using: &numbers)
      let text = (whole == 0 ? "0" : String(digits[..<whole])) + (whole < digits.count ? "." + digits[whole...] : "")
      return (index.isMultiple(of: 3) ? "-" : "") + text
    }
    // What Foundation's own decimal numbers say of the double that is nearest.
    let rounded = texts.filter { text in
      // A double holds some whole numbers of more digits.
      if let whole = Int64(text) { return Int64(exactly: Double(whole)) != whole }
      return Double(text).map { Decimal(string: text) != Decimal(string: "\($0)") } ?? true
    }
    let source = try Self.model([Self.text])
    for isKept in [true, false] {
      try? FileManager.default.removeItem(at: url)
      try? FileManager.default.removeItem(atPath: url.path + ".heirloom")
      try makeStore(source, amounts: texts)
      let name = isKept ? "number" : "amount"
      let destination = try Self.model((isKept ? [Self.text] : []) + [Make.attribute(name, type)])
      let decision = DataDecision(entity: "Invoice", property: name, .compute("CAST(amount, \"NSDecimalNumber\")"))
      let plan = try #require(try assistant(source, destination, [decision], builder: builder).plan())
      #expect(plan.blockers.isEmpty && plan.decisions.map(\.filled) == [Int64(texts.count)], "\(texts)")
      let lost = isKept || rounded.isEmpty ? [] : [Int64(rounded.count)]
      #expect(plan.losses.map(\.rows) == lost, "\(texts) \(rounded) \(plan.losses)")
      #expect(plan.losses.allSatisfy { $0.kind == .changedValues && $0.property == "amount" && $0.consent == nil })
      _ = try assistant(source, destination, [decision], builder: builder).migrateStore()
      #expect(try StoreArchive(storeURL: url).previousVersions().map(\.isPinned) == [!lost.isEmpty])
    }
  }

  private final class Standard: EntityMigrationPolicy {}

  @Test func `objects that a policy makes by the default get their values too`() throws {
    let source = try Self.model([Self.text])
    let destination = try Self.model([Self.text, Make.attribute("key", .uuid, optional: false)])
    try makeStore(source, amounts: ["1", "2", nil])
    var configuration = MigrationAssistant.Configuration()
    configuration.decisions = [DataDecision(entity: "Invoice", property: "key", .compute("uuid()"))]
    configuration.mappings = [
      try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: "Invoice", to: "Invoice", policy: Standard.self)
      }
    ]
    let assistant = MigrationAssistant(url, from: source, to: destination, configuration)
    _ = try assistant.migrateStore()
    #expect(try rows("SELECT COUNT(DISTINCT ZKEY), MIN(LENGTH(ZKEY)) FROM ZINVOICE") == [[.integer(3), .integer(16)]])
  }
}
