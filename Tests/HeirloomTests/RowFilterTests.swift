import Foundation
import Heirloom
import TestSupport
import Testing

/// Conditions of entity mappings: wherever rows are counted, only those that a mapping takes count.
///
/// The expected numbers are worked out over the rows in plain Swift.
struct RowFilterTests {
  struct Row: Sendable {
    let key: Int
    var image: String?
    var body: String?
    var size: Int64
    var ratio: Double
    var owner: Int?
  }

  private static let people = 4

  static func rows(seed: UInt64) -> [Row] {
    var random = SplitMix64(seed: seed)
    func chance(_ percent: UInt64) -> Bool { random.next() % 100 < percent }
    return (1...40).map { key in
      Row(
        key: key, image: chance(50) ? "image \(random.next() % 9)" : nil, body: chance(60) ? "body" : nil,
        size: chance(30) ? 100_000 + Int64(random.next() % 9) : Int64(random.next() % 100),
        ratio: chance(40) ? 0.5 : 2, owner: chance(70) ? Int(random.next() % UInt64(people)) : nil)
    }
  }

  private static func source() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      Make.entity(
        "Note",
        [
          Make.attribute("body"), Make.attribute("image"), Make.attribute("number", .integer64),
          Make.attribute("ratio", .double), Make.attribute("size", .integer64),
        ], [Make.toOne("owner", "Person", "notes")]),
      Make.entity("Person", [Make.attribute("age", .integer16)], [Make.toMany("notes", "Note", "owner")]),
    ])
  }

  private static func makeStore(_ rows: [Row], at url: URL) throws {
    let store = try PersistentStore.create(at: url, model: source())
    let context = ManagedObjectContext(store: store)
    let owners = try (0..<people).map { number in
      let person = try context.insert("Person")
      person["age"] = .integer(Int64(number * 10))
      return person
    }
    for row in rows {
      let note = try context.insert("Note")
      note["number"] = .integer(Int64(row.key))
      note["image"] = row.image.map { .string($0) }
      note["body"] = row.body.map { .string($0) }
      note["size"] = .integer(row.size)
      note["ratio"] = .double(row.ratio)
      note[toOne: "owner"] = row.owner.map { owners[$0] }
      // This puts the keys in order.
      try context.save()
    }
    try store.close()
  }

  /// A blocker or warning that a filter may avoid.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    /// The destination's only note.
    let note: EntityDescription
    let condition: String
    let takes: @Sendable (Row) -> Bool
    /// The number of rows that are in the way, among those that are checked.
    let blocks: @Sendable ([Row]) -> Int
    var kind: String
    var isLoss = false

    var testDescription: String { name }
  }

  private static func note(
    _ attributes: [AttributeDescription], isOwnerOptional: Bool = true, unique: [[String]] = []
  ) -> EntityDescription {
    let named = Set(attributes.map(\.name))
    let others = [
      Make.attribute("body"), Make.attribute("image"), Make.attribute("number", .integer64),
      Make.attribute("ratio", .double), Make.attribute("size", .integer64),
    ].filter { !named.contains($0.name) }
    return Make.entity(
      "Note", (attributes + others).sorted { $0.name < $1.name },
      [Make.toOne("owner", "Person", "notes", optional: isOwnerOptional)], unique: unique)
  }

  private static func equal(_ rows: [Row]) -> Int {
    Dictionary(grouping: rows.compactMap(\.image), by: { $0 }).values.reduce(0) { $0 + $1.count - 1 }
  }

  static let cases: [Case] = [
    Case(
      name: "required value", note: note([Make.attribute("image", optional: false)]), condition: "image != nil",
      takes: { $0.image != nil }, blocks: { $0.filter { $0.image == nil }.count }, kind: "missingValue"),
    Case(
      name: "required value, and some remain", note: note([Make.attribute("image", optional: false)]),
      condition: "number > 20", takes: { $0.key > 20 }, blocks: { $0.filter { $0.image == nil }.count },
      kind: "missingValue"),
    Case(
      name: "new required value", note: note([Make.attribute("fresh", optional: false)]), condition: "number > 35",
      takes: { $0.key > 35 }, blocks: { $0.count }, kind: "missingValue"),
    Case(
      name: "overflow", note: note([Make.attribute("size", .integer16)]), condition: "size < 1000",
      takes: { $0.size < 1000 }, blocks: { $0.filter { $0.size > 32767 }.count }, kind: "overflow"),
    Case(
      name: "required link", note: note([], isOwnerOptional: false), condition: "owner != nil",
      takes: { $0.owner != nil }, blocks: { $0.filter { $0.owner == nil }.count }, kind: "missingLink"),
    Case(
      name: "duplicates", note: note([], unique: [["image"]]), condition: "image == 'image 1' AND number < 20",
      takes: { $0.image == "image 1" && $0.key < 20 }, blocks: equal, kind: "duplicate"),
    Case(
      name: "changed values", note: note([Make.attribute("ratio", .integer32)]), condition: "ratio > 1",
      takes: { $0.ratio > 1 }, blocks: { $0.filter { $0.ratio == 0.5 }.count }, kind: "valuesChanged", isLoss: true),
    // A condition that SQL can't follow is known only when objects are made: nothing is in the way before.
    Case(
      name: "a condition for Swift", note: note([Make.attribute("image", optional: false)]),
      condition: "FUNCTION(SELF, 'known:', image) == 1", takes: { $0.image != nil }, blocks: { _ in 0 },
      kind: "missingValue"),
  ]

  private static func assistant(
    _ store: URL, _ mapping: MappingModel, to destination: ManagedObjectModel, decisions: [DataDecision] = [],
    builder: BuilderChoice = .automatic
  ) throws -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [mapping]
    configuration.decisions = decisions
    configuration.policies.register(function: "known:") { _, arguments in
      if case .value(.string)? = arguments.first { return .value(.integer(1)) }
      return .value(.integer(0))
    }
    return MigrationAssistant(store, from: try source(), to: destination, configuration, builder: builder)
  }

  private static func destination(_ note: EntityDescription) throws -> ManagedObjectModel {
    let person = Make.entity("Person", [Make.attribute("age", .integer16)], [Make.toMany("notes", "Note", "owner")])
    return try ManagedObjectModel(entities: [note, person])
  }

  private static func mapping(to destination: ManagedObjectModel, where condition: String) throws -> MappingModel {
    let source = try source()
    return MappingInference(
      from: source, to: destination, given: [EntityMapping(from: "Note", to: "Note", where: condition) {}]
    ).draft
  }

  @Test(arguments: cases, [11, 12] as [UInt64])
  func `only objects that the condition takes are in the way, and the others are a loss`(
    one: Case, seed: UInt64
  ) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let rows = Self.rows(seed: seed)
    try Self.makeStore(rows, at: store)
    let destination = try Self.destination(one.note)

    let whole = try #require(
      try Self.assistant(store, Self.mapping(to: destination, where: "TRUEPREDICATE"), to: destination).plan())
    func found(_ plan: MigrationPlan) -> Int {
      let rows =
        one.isLoss
        ? plan.losses.filter { $0.kind == .changedValues }.map(\.rows)
        : plan.blockers.filter { $0.kind == one.kind }.map(\.rows)
      return Int(rows.reduce(0, +))
    }
    if !one.condition.contains("FUNCTION") { #expect(found(whole) == one.blocks(rows)) }

    let assistant = try Self.assistant(store, Self.mapping(to: destination, where: one.condition), to: destination)
    let plan = try #require(try assistant.plan())
    let taken = rows.filter(one.takes)
    #expect(found(plan) == one.blocks(taken))
    if one.condition.contains("FUNCTION") {
      #expect(plan.warnings.contains { $0.contains("are known only when objects are made") })
    } else {
      let left = plan.losses.filter { $0.entity == "Note" && $0.property == nil }.map { Int($0.rows) }
      #expect(left == (taken.count == rows.count ? [] : [rows.count - taken.count]))
    }
    guard plan.blockers.isEmpty else { return }
    try assistant.migrate()
    #expect(try Self.numbers("Note", in: store, destination) == taken.map(\.key))
  }

  private static func numbers(_ entity: String, in url: URL, _ model: ManagedObjectModel) throws -> [Int] {
    let store = try PersistentStore.open(at: url, model: model, isReadOnly: true)
    defer { try? store.close() }
    return try ManagedObjectContext(store: store).fetch(entity).compactMap {
      if case .integer(let number)? = $0["number"] { Int(number) } else { nil }
    }.sorted()
  }

  @Test(arguments: [21, 22, 23] as [UInt64], [false, true])
  func `an entity that is split by conditions loses what the mapping that takes each object leaves out`(
    seed: UInt64, rebuilds: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let rows = Self.rows(seed: seed)
    try Self.makeStore(rows, at: store)
    let person = Make.entity("Person", [Make.attribute("age", .integer16)])
    let number = Make.attribute("number", .integer64)
    let destination = try ManagedObjectModel(entities: [
      person, Make.entity("Picture", [Make.attribute("image", optional: false), number]),
      Make.entity("Text", [Make.attribute("body"), number]),
    ])
    let mapping = MappingModel(entityMappings: [
      EntityMapping(from: "Person", to: "Person", where: "age > 5") { PropertyMapping("age", copying: "age") },
      EntityMapping(from: "Note", to: "Picture", where: "image != nil AND number < 30") {
        PropertyMapping("image", copying: "image")
        PropertyMapping("number", copying: "number")
      },
      EntityMapping(from: "Note", to: "Text", where: "image == nil OR size > 1000") {
        PropertyMapping("body", copying: "body")
        PropertyMapping("number", copying: "number")
      },
    ]).completed(from: try Self.source(), to: destination)
    let pictures = rows.filter { $0.image != nil && $0.key < 30 }
    let texts = rows.filter { $0.image == nil || $0.size > 1000 }
    let textKeys = Set(texts.map(\.key))
    let pictureKeys = Set(pictures.map(\.key))
    let taken = rows.filter { textKeys.contains($0.key) || pictureKeys.contains($0.key) }

    let assistant = try Self.assistant(
      store, mapping, to: destination, builder: .always(rebuilds ? .rebuild : .cloneAndAlter))
    let report = try assistant.migrate()
    #expect(try Self.numbers("Picture", in: store, destination) == pictures.map(\.key))
    #expect(try Self.numbers("Text", in: store, destination) == texts.map(\.key))
    var found: [String: Int] = [:]
    for loss in report.plan.losses {
      found["\(loss.entity)\(loss.property.map { ".\($0)" } ?? "")", default: 0] += Int(loss.rows)
    }
    let notInPictures = taken.filter { !pictureKeys.contains($0.key) }
    let notInTexts = taken.filter { !textKeys.contains($0.key) }
    let expected = [
      "Note": rows.count - taken.count, "Person": 1,
      "Note.image": notInPictures.filter { $0.image != nil }.count,
      "Note.body": notInTexts.filter { $0.body != nil }.count,
      "Note.ratio": taken.count, "Note.size": taken.count,
      "Note.owner": taken.filter { $0.owner != nil }.count,
      // These are the people with notes, among those who are taken.
      "Person.notes": Set(rows.compactMap(\.owner)).filter { $0 > 0 }.count,
    ].filter { $0.value > 0 }
    #expect(found == expected)
  }

  @Test func `an object that two mappings take becomes two`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let rows = Self.rows(seed: 5)
    try Self.makeStore(rows, at: store)
    let destination = try Self.destination(Self.note([], unique: [["number"]]))
    let mapping = MappingInference(
      from: try Self.source(), to: destination,
      given: ["number < 6", "number > 3"].enumerated().map { index, condition in
        EntityMapping(from: "Note", to: "Note", name: "M\(index)", where: condition) {}
      }
    ).draft
    let plan = try #require(try Self.assistant(store, mapping, to: destination).plan())
    // 4 and 5 are made twice.
    #expect(plan.blockers.map { "\($0.kind) \($0.rows)" } == ["duplicate 2"])
    let open = try Self.destination(Self.note([Make.attribute("new")]))
    let assistant = try Self.assistant(store, mapping.completed(from: Self.source(), to: open).unhashed, to: open)
    try assistant.migrate()
    #expect(try Self.numbers("Note", in: store, open) == (rows.map(\.key) + [4, 5]).sorted())
  }

  @Test(arguments: [31, 32] as [UInt64], [false, true])
  func `links to objects that a condition leaves out are a loss, or in the way where one must be there`(
    seed: UInt64, isRequired: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let rows = Self.rows(seed: seed)
    try Self.makeStore(rows, at: store)
    let destination = try Self.destination(Self.note([Make.attribute("new")], isOwnerOptional: !isRequired))
    let mapping = MappingInference(
      from: try Self.source(), to: destination,
      given: [
        EntityMapping(from: "Person", to: "Person", where: "age >= 20") {},
        EntityMapping(from: "Note", to: "Note", where: "number <= 25 AND owner != nil") {},
      ]
    ).draft
    let taken = rows.filter { $0.key <= 25 && $0.owner != nil }
    let cut = taken.filter { ($0.owner ?? 0) < 2 }.count
    let leftOut = rows.filter { $0.owner.map { $0 >= 2 } ?? false && $0.key > 25 }.count
    let assistant = try Self.assistant(store, mapping, to: destination)
    let plan = try #require(try assistant.plan())
    let losses = plan.losses.filter { $0.property != nil }
      .map { "\($0.entity).\($0.property ?? "") \($0.links ?? $0.rows)" }.sorted()
    #expect(losses == ["Note.owner \(cut)", "Person.notes \(leftOut)"])
    #expect(plan.blockers.map { "\($0.kind) \($0.rows)" } == (isRequired ? ["missingLink \(cut)"] : []))
    guard !isRequired else { return }
    try assistant.migrate()
    let opened = try PersistentStore.open(at: store, model: destination, isReadOnly: true)
    let notes = try ManagedObjectContext(store: opened).fetch("Note")
    #expect(notes.count == taken.count)
    #expect(notes.filter { $0[toOne: "owner"] != nil }.count == taken.count - cut)
    try opened.close()
  }

  @Test(arguments: [DataDecision.Choice.quarantine, .fill(.string("?"))])
  func `decisions are about objects that the condition takes, and the file holds no others`(
    choice: DataDecision.Choice
  ) throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    let rows = Self.rows(seed: 8)
    try Self.makeStore(rows, at: store)
    let destination = try Self.destination(Self.note([Make.attribute("image", optional: false)]))
    let mapping = try Self.mapping(to: destination, where: "number > 10")
    let decision = DataDecision(entity: "Note", property: "image", choice)
    let assistant = try Self.assistant(store, mapping, to: destination, decisions: [decision])
    let report = try assistant.migrate()
    let taken = rows.filter { $0.key > 10 }
    let lacking = taken.filter { $0.image == nil }
    let outcome = try #require(report.plan.decisions.first)
    let made = try Self.numbers("Note", in: store, destination)
    if choice == .quarantine {
      #expect(outcome.quarantined == Int64(lacking.count))
      #expect(made == taken.filter { $0.image != nil }.map(\.key))
      let lines = try report.quarantine.flatMap { try String(contentsOf: $0, encoding: .utf8).split(separator: "\n") }
      #expect(lines.count == lacking.count)
      for row in lacking { #expect(lines.contains { $0.contains("\"number\":\(row.key),") }) }
    } else {
      #expect(outcome.filled == Int64(lacking.count))
      #expect(made == taken.map(\.key))
      let opened = try PersistentStore.open(at: store, model: destination, isReadOnly: true)
      let filled = try ManagedObjectContext(store: opened).fetch("Note").filter { $0["image"] == .string("?") }
      #expect(filled.count == lacking.count)
      try opened.close()
    }
  }

  @Test func `a decision about missing values lets no number pass that is out of range`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    func model(_ type: AttributeType, optional: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Make.entity("P", [Make.attribute("sum", type, optional: optional)], isAbstract: true),
        Make.entity("A", parent: "P"), Make.entity("B", parent: "P"),
      ])
    }
    let (before, after) = (try model(.integer64, optional: true), try model(.integer16, optional: false))
    do {
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: before))
      _ = try context.insert("A")
      try context.insert("B")["sum"] = .integer(70_000)
      try context.save()
    }
    var configuration = MigrationAssistant.Configuration()
    // Which objects of B there will be is known only when they are made, and so is what stands in their way.
    configuration.mappings = [
      try MappingModel.inferred(from: before, to: after) {
        EntityMapping(from: "B", to: "B", where: "FUNCTION(SELF, 'known:', sum) == 0") {}
      }
    ]
    configuration.policies.register(function: "known:") { _, _ in .value(.integer(0)) }
    configuration.decisions = [DataDecision(entity: "P", property: "sum", .fill(.integer(1)))]
    let assistant = MigrationAssistant(url, from: before, to: after, configuration)
    #expect(try assistant.plan()?.decisions.map(\.filled) == [1])
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .failed(_, .mappingFailed(let failure)) = error,
      case MigrationManagerError.unfitValue(let property, _) = failure.underlying
    else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(property == "sum")
  }

  @Test func `a decision that needs all objects at once is refused where they are made one by one`() throws {
    let directory = try TemporaryDirectory()
    let store = directory.file("Store.sqlite")
    try Self.makeStore(Self.rows(seed: 8), at: store)
    let destination = try Self.destination(Self.note([], unique: [["image"]]))
    let decision = DataDecision(entity: "Note", property: "image", .keepNewest())
    let assistant = try Self.assistant(
      store, Self.mapping(to: destination, where: "number > 10"), to: destination, decisions: [decision])
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.plan() }
    #expect("\(error)".contains("are made one by one"))
  }
}

extension MappingModel {
  /// The same mapping for other versions.
  fileprivate var unhashed: MappingModel {
    var mapping = self
    for index in mapping.entityMappings.indices {
      mapping.entityMappings[index].sourceEntityVersionHash = nil
      mapping.entityMappings[index].destinationEntityVersionHash = nil
    }
    return mapping
  }
}
