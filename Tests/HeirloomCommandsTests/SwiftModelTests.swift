import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

/// Swift source as a model of every command that takes one.
struct SwiftModelTests {
  /// Of two stores of the corpus, which an app of another author made with SwiftData.
  private static func people(
    stage: String = ".lightweight(fromVersion: V1.self, toVersion: V2.self)", createdAt: String = "Date?",
    other: String = ""
  ) -> String {
    """
    import SwiftData
    enum V1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [User.self] }
      @Model final class User {
        var name: String?
        var createdAt: \(createdAt)
        init() {}
      }
    }
    enum V2: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [User.self] }
      @Model final class User {
        var name: String?
        var createdAt: Date?
        var email: String?
        init() {}
      }
    }
    enum People: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
      static var stages: [MigrationStage] { [\(stage)] }
    }
    \(other)
    """
  }

  private static let customStage =
    ".custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil, didMigrate: nil)"

  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  private func write(_ text: String, to name: String = "People/Schema.swift") throws {
    let file = directory.file(name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  /// Of the first version; returns the number of objects.
  private func makeStore(_ name: String = "People.sqlite") throws -> Int {
    #expect(tool("snapshot", "People:V1", "--output", "V1.json").code == 0)
    let model = try ModelHistory(contentsOf: directory.file("V1.json")).current
    let store = try PersistentStore.open(at: directory.file(name), history: ModelHistory(current: model, name: "V1"))
    let context = ManagedObjectContext(store: store)
    for number in 1...3 { try context.insert("User")["name"] = .string("person \(number)") }
    try context.save()
    try store.close()
    return 3
  }

  // MARK: - Core Data's own stores

  @Test(.enabled(if: Corpus.isPresent, Corpus.absence)) func `stores of SwiftData are of the versions of their source`()
    throws
  {
    try write(Self.people())
    let stores = try [1, 2].map { version in
      try Corpus.copyStore(
        "freezeray-swiftdata/stores/App-\(version).0.0@249d147e.sqlite", to: directory, in: "\(version)"
      ).path
    }
    let plan = try tool("plan", stores[0], "--to", "People", "--json").json()
    #expect(plan["fromName"] as? String == "V1" && plan["toName"] as? String == "V2")
    #expect((plan["losses"] as? [Any])?.isEmpty == true)
    #expect(tool("plan", stores[1], "--to", "People").output.contains("has the model \"V2\": nothing to do"))
    #expect(tool("plan", stores[1], "--to", "People:V1").error.contains("V2"))
    #expect(try tool("compare", stores[0], "People:V1", "--json").json()["verdict"] as? String == "identical")
    #expect(try tool("migrate", stores[0], "--to", "People", "--json").json()["outcome"] as? String == "migrated")
    // What Core Data made of the second version, Heirloom's own migration fits.
    #expect(try tool("compare", stores[0], stores[1], "--json").json()["verdict"] as? String == "compatible")
    #expect(tool("verify", stores[0], "--model", "People").code == 0)
    #expect(tool("migrate", stores[0], "--to", "People").output.contains("nothing to do"))
  }

  // MARK: - Histories

  @Test func `a plan's versions are migrated as a history, and rows stay`() throws {
    try write(Self.people())
    let count = try makeStore()
    #expect(try tool("rehearse", "People.sqlite", "--to", "People", "--json").json()["toName"] as? String == "V2")
    let outcome = try tool("migrate", "People.sqlite", "--to", "People", "--json").json()
    #expect(outcome["outcome"] as? String == "migrated")
    #expect((outcome["rows"] as? [[String: Any]])?.map { $0["after"] as? Int } == [count])
    let history = try tool("history", "People", "--json").json()
    #expect((history["versions"] as? [[String: Any]])?.map { $0["name"] as? String } == ["V1", "V2"])
    let check = try tool("check", "People", "--json").json()
    #expect((check["versions"] as? [[String: Any]])?.map { $0["result"] as? String } == ["kept"])
    // A store of the newer version is known as newer.
    #expect(
      try tool("migrate", "People.sqlite", "--to", "People:V1", "--json").failure()["code"] as? String == "newerVersion"
    )
  }

  @Test func `a custom stage is refused by name without its code`() throws {
    try write(Self.people(stage: Self.customStage))
    _ = try makeStore()
    let before = StoreBytes(of: directory.file("People.sqlite"))
    for command in ["plan", "rehearse", "migrate"] {
      let outcome = tool(command, "People.sqlite", "--to", "People")
      #expect(outcome.code == 3)
      #expect(outcome.error.contains("The step from \"V1\" to \"V2\" is a custom stage"), "\(outcome)")
    }
    let failure = try tool("migrate", "People.sqlite", "--to", "People", "--json").failure()
    #expect(failure["code"] as? String == "mappingNeeded")
    #expect(StoreBytes(of: directory.file("People.sqlite")) == before)
    #expect(tool("history", "People").output.contains("by code"))
    #expect(tool("check", "People").output.contains("left to the app's own code"))
  }

  @Test func `the lock of a folder fixes what was shipped, and an edit of it is found with its place`() throws {
    try write(Self.people())
    let advice = tool("check", "People").output
    #expect(
      advice.contains(
        "If \"V1\" was shipped, heirloom snapshot \(directory.url.path)/People:V1 --history \(directory.url.path)/People writes one."
      ))
    #expect(tool("snapshot", "\(directory.url.path)/People:V1", "--history", "\(directory.url.path)/People").code == 0)
    // Among Swift files lies the lock alone.
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.file("People").path).sorted()
    #expect(names == ["Schema.swift", "lock.json"])
    #expect(tool("check", "People").code == 0)
    #expect(tool("snapshot", "People", "--history", "People").output.contains("fixes \"V1\", \"V2\", in this order"))
    #expect(tool("check", "People").output.contains("no findings"))
    try write(Self.people(createdAt: "Date"))
    let edited = tool("check", "People", "--annotations", "github")
    #expect(edited.code == 6)
    #expect(edited.output.contains("Schema.swift:5: V1 differs from the release: User was edited."))
    #expect(edited.output.contains("::error file=People/Schema.swift,line=5"), "\(edited.output)")
    #expect(tool("generate", "People", "--output", "People.swift").error.contains("was shipped and must not change"))
  }

  // MARK: - Differences

  @Test func `a store and a source are compared property by property, with places`() throws {
    try write(Self.people())
    _ = try makeStore()
    try write(Self.people(createdAt: "Date"))
    let text = tool("compare", "People.sqlite", "People:V1").output
    #expect(text.contains("createdAt: became required"), "\(text)")
    #expect(text.contains("(Schema.swift:7)"), "\(text)")
    let changes = try #require(
      try tool("compare", "People.sqlite", "People:V1", "--json").json()["changes"] as? [[String: Any]])
    #expect(changes.contains { $0["property"] as? String == "createdAt" && $0["place"] as? String == "Schema.swift:7" })
    #expect(tool("compare", "People").output.contains("email: new attribute (String, optional)"))
  }

  // MARK: - Doubts

  private static let doubtful = """
    import SwiftData
    @Model final class Page { var link: URL?; var title: String = ""; init() {} }
    let container = try ModelContainer(for: Page.self)
    """

  @Test func `a model that isn't certain is shown, and no store is held against it`() throws {
    try write(Self.doubtful, to: "Pages/Page.swift")
    for arguments in [["diagram", "Pages", "--format", "dot"], ["compare", "Pages", "Pages"]] {
      let outcome = tool.run(arguments)
      #expect(outcome.code == 0)
      #expect(outcome.error.contains("Page.link (Page.swift:2)"), "\(outcome.error)")
    }
    try write(Self.people())
    _ = try makeStore()
    let refused = [
      ["plan", "People.sqlite", "--to", "Pages"], ["snapshot", "Pages"], ["generate", "Pages", "--output", "P.swift"],
      ["migrate", "People.sqlite", "--to", "Pages"], ["verify", "People.sqlite", "--model", "Pages"],
    ]
    for arguments in refused {
      let outcome = tool.run(arguments)
      #expect(outcome.code == 1)
      #expect(outcome.error.contains("doesn't determine a single model: Page.link (Page.swift:2)"), "\(outcome.error)")
    }
    // A check that is red for ever would be switched off.
    let check = tool("check", "Pages")
    #expect(check.code == 0)
    #expect(check.output.contains("Page.link (Page.swift:2)"), "\(check.output)")
  }

  @Test(arguments: [
    ("let x = 1", "no class in it is marked @Model"),
    ("@Model class A { init() {} }\n@Model class B { init() {} }", "no schema and no container in it lists A, B"),
    (
      "@Model class A { init() {} }\n@Model class B { init() {} }\nlet a = ModelContainer(for: A.self)\nlet b = ModelContainer(for: B.self)",
      "its containers list different classes, at Models.swift:3, Models.swift:4"
    ),
    ("let x = \"", "Models.swift:1: this string isn't closed"),
    (
      people(
        other:
          "enum Second: SchemaMigrationPlan {\nstatic var schemas: [any VersionedSchema.Type] { [V1.self] }\nstatic var stages: [MigrationStage] { [] }\n}"
      ), "it declares 2 migration plans, People (Models.swift:21), Second (Models.swift:25)"
    ),
    (
      people(stage: "more()"),
      "the plan People: Models.swift:23: only the compiler can determine the stages in \"more()\""
    ),
  ])
  func `source that doesn't tell one history is refused with places`(_ source: String, _ reason: String) throws {
    try write(source, to: "App/Models.swift")
    for arguments in [["check", "App"], ["snapshot", "App"], ["compare", "App", "App"], ["history", "App"]] {
      let outcome = tool.run(arguments)
      // What can be checked is checked all the same.
      let isChecked = arguments[0] == "check" && reason.contains(/plan|list different/)
      #expect(outcome.code == (isChecked ? 6 : 1))
      #expect((outcome.output + outcome.error).contains(reason), "\(outcome)")
    }
    #expect(!FileManager.default.fileExists(atPath: directory.file("App/lock.json").path))
  }

  @Test func `what the advice names is taken`() throws {
    try write(
      Self.people(
        other:
          "enum Second: SchemaMigrationPlan {\nstatic var schemas: [any VersionedSchema.Type] { [V1.self] }\nstatic var stages: [MigrationStage] { [] }\n}\n@Model class Loose { var a = 1; init() {} }\nlet x = \""
      ))
    #expect(tool("check", "People").error.contains("--exclude Schema.swift"))
    try write("import SwiftData\n@Model class Loose { var a = 1; init() {} }\n", to: "People/Loose.swift")
    #expect(
      tool("snapshot", "People", "--exclude", "Schema.swift").error.contains("as in \(directory.url.path)/People:Loose")
    )
    #expect(tool("snapshot", "People:Loose", "--exclude", "Schema.swift").code == 0)
    #expect(FileManager.default.fileExists(atPath: directory.file("Loose.json").path))
    let misspelt = tool("snapshot", "People:Loose", "--exclude", "Scheme.swift")
    #expect(misspelt.error.contains("no folder at \"Scheme.swift\" that --exclude could leave out"))
  }

  @Test func `a plan is named where there are several, and a schema outside of it is known`() throws {
    try write(
      Self.people(
        other: """
          enum Beta: VersionedSchema {
            static let versionIdentifier = Schema.Version(3, 0, 0)
            static var models: [any PersistentModel.Type] { [User.self] }
            @Model final class User { var nickname: String?; init() {} }
          }
          """))
    _ = try makeStore()
    let plan = try tool("plan", "People.sqlite", "--to", "People", "--json").json()
    #expect(plan["toName"] as? String == "V2")
    let history = try tool("history", "People", "--json").json()
    #expect((history["versions"] as? [[String: Any]])?.map { $0["name"] as? String } == ["Beta", "V1", "V2"])
    #expect(try tool("plan", "People.sqlite", "--to", "People:People", "--json").json()["toName"] as? String == "V2")
    #expect(try tool("compare", "People:Beta", "People:V1", "--json").json()["verdict"] as? String == "lightweight")
  }
}
