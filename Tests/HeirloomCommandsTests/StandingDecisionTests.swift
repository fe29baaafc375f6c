import Foundation
import Heirloom
import HeirloomFormats
import TestSupport
import Testing

/// Steps at which every object of an entity stops: an error, until the lock decides for app and tool.
struct StandingDecisionTests: ModelMaking {
  /// Something new in the second version that stops every object.
  struct Case: CustomStringConvertible {
    let description: String
    /// The entity in the second version.
    let tag: EntityDescription
    /// The value of the new property in the store after the printed command; `nil` where the check prints none.
    let value: SQLiteValue?
    /// True if each object gets a value of its own: that of the first is given.
    var areDistinct = false
    /// Further entities, in all versions.
    var others: [EntityDescription] = []
  }

  private static let name = attribute("name")

  private static func required(_ type: AttributeType) -> AttributeDescription {
    attribute("mark", type, optional: false)
  }

  private static var values: [Case] {
    let zero = SQLiteValue.blob(Array(repeating: 0, count: 16))
    let types: [(AttributeType, SQLiteValue?)] = [
      (.integer16, .integer(0)), (.integer32, .integer(0)), (.integer64, .integer(0)), (.double, .real(0)),
      (.float, .real(0)), (.decimal, .integer(0)), (.string, .text("unknown")), (.uri, .text("unknown")),
      (.boolean, .integer(0)), (.date, .real(0)), (.uuid, zero), (.binary, nil), (.transformable, nil),
    ]
    return types.map { type, value in
      Case(description: type.name, tag: entity("Tag", [name, required(type)]), value: value)
    }
  }

  private static var others: [Case] {
    let unique = entity("Tag", [name, attribute("mark", value: .string("x"))], unique: [["mark"]])
    let linked = entity("Tag", [name], [toOne("mark", "Place", optional: false)])
    let gone = entity("Tag", [name], isAbstract: true)
    let place = entity("Place", [attribute("title")])
    return [
      // Each choice about objects that are all equal would leave one.
      Case(description: "unique", tag: unique, value: nil),
      Case(description: "link", tag: linked, value: .integer(1), areDistinct: true, others: [place]),
      Case(
        description: "link to what can't be made", tag: linked, value: nil,
        others: [entity("Place", [attribute("title", optional: false)])]),
      Case(description: "abstract", tag: gone, value: nil),
    ]
  }

  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }
  private var history: String { directory.file("History").path }

  init() throws { directory = try TemporaryDirectory() }

  private func fix(_ version: Int, _ entities: [EntityDescription]) throws {
    let snapshot = try Notebook.write(ManagedObjectModel(entities: entities), "\(version)", in: directory)
    #expect(tool("snapshot", snapshot, "--history", history).code == 0)
  }

  private func trial() throws -> (code: Int32, errors: [[String: Any]], version: [String: Any]) {
    let outcome = tool("check", history, "--json")
    let json = try outcome.json()
    let findings = try #require(json["findings"] as? [[String: Any]])
    let versions = try #require(json["versions"] as? [[String: Any]])
    return (Int32(outcome.code), findings.filter { $0["severity"] as? String == "error" }, versions[0])
  }

  @Test(arguments: values + others)
  func `every object stops: an error, and the printed command decides it for app and tool`(_ item: Case) throws {
    let first = [Self.entity("Tag", [Self.name])] + item.others
    try fix(1, first)
    try fix(2, [item.tag] + item.others)
    let before = try trial()
    #expect(before.code == 6 && before.errors.map { $0["rule"] as? String } == ["data-hazard"], "\(before)")
    let message = try #require(before.errors.first?.sentences)
    #expect(message.contains("every object stops the migration"))
    let printed = message.firstMatch(of: /heirloom (check .+?--decide \S+) decides it/)?.1
    #expect((printed == nil) == (item.value == nil), "\(message)")
    // Whether decided or not, something is tried, or the check says that nothing was.
    let (objects, result) = (before.version["objects"] as? Int, before.version["result"] as? String)
    #expect(objects == 0 ? result == "notTried" : result == "kept", "\(before.version)")
    guard let printed, let value = item.value else {
      #expect(message.contains("--by-app 1"))
      #expect(tool("check", history, "--by-app", "1").code == 0)
      return
    }
    let command = try #require(PrintedCommand.all(in: "heirloom \(printed)").first)
    #expect(tool.run(command.words).code == 0)
    let after = try trial()
    #expect(after.code == 0 && after.version["result"] as? String == "kept", "\(after)")
    #expect(after.version["objects"] as? Int ?? 0 > 0)
    let lock = try VersionLock(path: history + "/lock.json")
    #expect(lock.format == 2 && lock.namedDecisions.count == 1)

    // One more release renames the property and asks nothing new.
    var later = item.tag
    later.name = "Label"
    later.renamingIdentifier = "Tag"
    if let mark = later.attributes.firstIndex(where: { $0.name == "mark" }) {
      later.attributes[mark].name = "sign"
      later.attributes[mark].renamingIdentifier = "mark"
    } else {
      later.relationships[0].name = "sign"
      later.relationships[0].renamingIdentifier = "mark"
    }
    later.uniquenessConstraints = item.tag.uniquenessConstraints.isEmpty ? [] : [["sign"]]
    later.attributes.append(Self.attribute("more"))
    for version in 2...3 {
      if version == 3 {
        try fix(3, [later] + item.others)
        #expect(try trial().code == 0)
      }
      for isTool in [true, false] {
        let url = directory.file("\(version)-\(isTool).sqlite")
        try PersistentStore.make(at: url, model: ManagedObjectModel(entities: first)) { context in
          for index in 0..<5 { try context.insert("Tag")["name"] = .string("n\(index)") }
        }
        if isTool {
          let outcome = tool("migrate", url.path, "--to", history)
          #expect(outcome.code == 0, "\(outcome.output)\(outcome.error)")
        } else {
          let models = try ModelHistory(contentsOf: URL(fileURLWithPath: history))
          let assistant = MigrationAssistant(url, models)
          let report = try assistant.migrate()
          #expect(report.plan.decisions.count == 1)
        }
        let (table, column) = version == 2 ? ("ZTAG", "ZMARK") : ("ZLABEL", "ZSIGN")
        let rows = try Connection(reading: url).rows(
          "SELECT DISTINCT \(column) FROM \(table) ORDER BY 1")
        // Each object gets an identifier of its own.
        let isIdentified = item.tag.attributes.contains { $0.name == "mark" && $0.type == .uuid }
        #expect(rows.count == (item.areDistinct || isIdentified ? 5 : 1), "\(rows)")
        #expect(isIdentified || rows[0][0].isEqual(to: value), "\(rows)")
      }
    }
  }
}

extension StandingDecisionTests {
  /// A composite attribute of one element, or of two, the second of them new and required.
  private static func measured(optional: Bool, elements: [String]) -> EntityDescription {
    var size = attribute("size", .composite, optional: optional)
    size.composite = CompositeAttributeDescription(
      elements: elements.map { attribute($0, .integer64, optional: $0 == "width") })
    return entity("Tag", [name, size])
  }

  @Test(arguments: [true, false]) func `a struct that gains a member stops every object, or those that have the struct`(
    isOptional: Bool
  ) throws {
    try fix(1, [Self.measured(optional: isOptional, elements: ["width"])])
    try fix(2, [Self.measured(optional: isOptional, elements: ["width", "height"])])
    let before = try trial()
    #expect(before.code == (isOptional ? 0 : 6), "\(before)")
    #expect(before.version["objects"] as? Int ?? 0 > 0 && before.version["result"] as? String == "kept")
    #expect(tool("check", history, "--decide", "Tag.size.height=fill:7").code == 0)
    #expect(try trial().code == 0)
    let url = directory.file("Store.sqlite")
    try PersistentStore.make(
      at: url, model: ManagedObjectModel(entities: [Self.measured(optional: isOptional, elements: ["width"])])
    ) { context in
      try context.insert("Tag")["size"] = .composite(["width": .integer(3)])
    }
    #expect(tool("migrate", url.path, "--to", history).code == 0)
    let rows = try Connection(reading: url).rows("SELECT ZWIDTH, ZHEIGHT FROM ZTAG")
    #expect(rows == [[.integer(3), .integer(7)]])
  }

  /// Makes a store of the first version with one object; returns what a migration by the library
  /// says.
  private func migrated(_ decisions: [DataDecision] = []) throws -> [String] {
    let url = directory.file("\(UUID().uuidString).sqlite")
    try PersistentStore.make(at: url, model: ManagedObjectModel(entities: [Self.entity("Tag", [Self.name])])) {
      context in
      try context.insert("Tag")["name"] = .string("n")
    }
    let assistant = MigrationAssistant(
      url, try ModelHistory(contentsOf: URL(fileURLWithPath: history)), .init(decisions: decisions))
    do {
      guard case .migrated(let report) = try assistant.migrateStore() else { return ["not migrated"] }
      return report.plan.decisions.map(\.decision.description)
    } catch MigrationAssistantError.decisionNeeded(_, let plan) {
      return plan.blockers.map(\.kind)
    }
  }

  private func rewrite(_ change: (inout VersionLock) -> Void) throws {
    let path = history + "/lock.json"
    var lock = try VersionLock(path: path)
    change(&lock)
    try Data(lock.encoded()).write(to: URL(fileURLWithPath: path))
  }

  private static func decision(
    _ source: String = "1", _ destination: String = "2", _ property: String = "mark",
    _ value: AttributeValue = .string("lock")
  ) -> VersionLock.Decision {
    VersionLock.Decision(
      step: VersionLock.Step(source: source, destination: destination), entity: "Tag", properties: [property],
      choice: "fill", value: value)
  }

  @Test func `a lock's decision counts where nobody else decides, and only for the rows of its own step`() throws {
    let tag = Self.entity("Tag", [Self.name, Self.required(.string)])
    try fix(1, [Self.entity("Tag", [Self.name])])
    try fix(2, [tag])
    #expect(try migrated() == ["missingValue"])
    try rewrite { $0.decide(Self.decision()) }
    #expect(try migrated() == ["Tag.mark=fill:lock"])
    let own = DataDecision(entity: "Tag", property: "mark", .fill(.string("own")))
    #expect(try migrated([own]) == ["Tag.mark=fill:own"])
    // One of another type, of a later step, or with something that this release doesn't know, decides nothing.
    for decision in [
      Self.decision("1", "2", "mark", .integer(7)), Self.decision("2", "3"), Self.decision("1", "2", "name"),
    ] {
      try rewrite {
        $0.writtenDecisions = []
        $0.decide(decision)
      }
      #expect(try migrated() == ["missingValue"], "\(decision)")
    }
    try rewrite {
      $0.writtenDecisions = []
      $0.decide(Self.decision())
      guard case .object(var members)? = $0.writtenDecisions.first else { return }
      members["where"] = .string("name = 'other'")
      $0.writtenDecisions = [.object(members)]
    }
    #expect(try migrated() == ["missingValue"])
    // An edited version isn't the one that was decided about.
    try rewrite {
      $0.writtenDecisions = []
      $0.decide(Self.decision())
      $0.versions[1].checksum = String(repeating: "A", count: 43) + "="
    }
    #expect(try migrated() == ["missingValue"])
  }

  @Test func `each of two steps decides about its own rows`() throws {
    let name = Self.name
    try fix(1, [Self.entity("Tag", [name])])
    try fix(2, [Self.entity("Tag", [name, Self.required(.integer64)])])
    try fix(3, [Self.entity("Tag", [name, Self.required(.integer16)])])
    func decide(_ second: Int64) throws {
      try rewrite {
        $0.decide(Self.decision("1", "2", "mark", .integer(1)))
        $0.decide(Self.decision("2", "3", "mark", .integer(second)))
      }
    }
    for second in [Int64(2), 1, 70_000] {
      try decide(second)
      #expect(try migrated().first == "Tag.mark=fill:1", "\(second)")
    }
  }

  @Test func `what the lock decides of a later hop is no finding`() throws {
    let name = Self.name
    let slug = Self.attribute("slug", id: "name")
    try fix(1, [Self.entity("Tag", [name])])
    try fix(2, [Self.entity("Tag", [slug])])
    try fix(3, [Self.entity("Tag", [slug, Self.attribute("name"), Self.required(.string)])])
    #expect(try trial().code == 6)
    #expect(tool("check", history, "--decide", "Tag.mark=fill:x").code == 0)
    #expect(try trial().errors.isEmpty)
  }

  @Test func `without a lock no command is advised that would need one`() throws {
    for (version, entity) in [
      Self.entity("Tag", [Self.name]), Self.entity("Tag", [Self.name, Self.required(.string)]),
    ]
    .enumerated() {
      _ = try Notebook.write(ManagedObjectModel(entities: [entity]), "\(version + 1)", in: directory)
    }
    let outcome = tool("check", directory.url.path)
    #expect(outcome.code == 6 && !outcome.output.contains("heirloom check"), "\(outcome.output)")
  }

  @Test func `a property that goes and comes back under its name isn't the one that was decided about`() throws {
    let plain = Self.entity("Tag", [Self.name])
    try fix(1, [plain])
    try fix(2, [Self.entity("Tag", [Self.name, Self.required(.string)])])
    try fix(3, [Self.entity("Tag", [Self.name, Self.attribute("other")])])
    try fix(4, [Self.entity("Tag", [Self.name, Self.required(.string), Self.attribute("last")])])
    try rewrite { $0.decide(Self.decision()) }
    #expect(try migrated() == ["missingValue"])
    #expect(tool("check", history, "--decide", "Tag.name=fill:x").code == 2)
    #expect(tool("check", history, "--decide", "Tag.mark=newest").code == 2)
    #expect(tool("check", history, "--acknowledge", "Tag.mark", "--decide", "Tag.mark=fill:again").code == 6)
    #expect(try VersionLock(path: history + "/lock.json").namedDecisions.map(\.step.source) == ["1", "3"])
    #expect(try migrated() == ["Tag.mark=fill:lock", "Tag.mark=fill:again"])
  }
}

extension SQLiteValue {
  /// An integral number has either storage class.
  fileprivate func isEqual(to other: SQLiteValue) -> Bool {
    switch (self, other) {
    case (.integer(let number), .real(let value)), (.real(let value), .integer(let number)): Double(number) == value
    default: self == other
    }
  }
}
