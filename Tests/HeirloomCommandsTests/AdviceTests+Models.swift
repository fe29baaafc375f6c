import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

extension AdviceTests {
  // MARK: - Swift source

  private static let source = """
    import SwiftData
    enum V1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Note.self] }
      @Model final class Note { var title: String = ""; init() {} }
    }
    enum V2: VersionedSchema {
      static let versionIdentifier = Schema.Version(2, 0, 0)
      static var models: [any PersistentModel.Type] { [Note.self] }
      @Model final class Note { var title: String = ""; var mood: String?; init() {} }
    }
    enum Notes: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
      static var stages: [MigrationStage] { [.lightweight(fromVersion: V1.self, toVersion: V2.self)] }
    }
    """

  /// The same, with the class of the last version outside of it, as an app has it.
  private static let live = source.replacing(
    "[Note.self] }\n  @Model final class Note { var title: String = \"\"; var mood: String?; init() {} }\n}",
    with: "[Note.self] }\n}\n@Model final class Note { var title: String = \"\"; var mood: String?; init() {} }")

  private static func write(_ files: [String: String], in scene: AdviceScene) throws -> String {
    let folder = scene.path("Source")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
    return folder
  }

  static let swift = [
    Situation("a Swift file with a fault is left out") { scene in
      let folder = try write(["Notes.swift": source, "Broken file.swift": "func f() { \"not closed }\n"], in: scene)
      scene.take(["check", folder], "--exclude", "Broken file.swift")
    },
    Situation("a Swift file with a twin is left out") { scene in
      let folder = try write(
        ["Notes.swift": source, "Twin.swift": "enum V1: VersionedSchema { @Model final class Note { init() {} } }\n"],
        in: scene)
      scene.take(["check", folder], "--exclude", "Twin.swift")
    },
    Situation("a plan that can't be read is inspected") { scene in
      let folder = try write(
        ["Notes.swift": source.replacing("[V1.self, V2.self]", with: "[V1.self] + others()")], in: scene)
      try scene.follow(["history", folder], "inspect", then: ["inspect", folder], isLasting: true)
      _ = try write(["Notes.swift": source], in: scene)
      scene.run("history", folder)
    },
    Situation("a schema in doubt is inspected") { scene in
      let folder = try write(
        [
          "Page.swift": """
          import SwiftData
          @Model final class Note { var link: URL?; var title: String = ""; init() {} }
          let container = try ModelContainer(for: Note.self)
          """
        ], in: scene)
      let asked = scene.tool("snapshot", folder, "--output", scene.path("Page.json"))
      let printed = PrintedCommand.all(in: asked.error)
      #expect(asked.code == 1 && printed.map(\.words[0]) == ["inspect"], "\(asked)")
      let shown = scene.tool.run(try #require(printed.first).words)
      #expect(shown.code == 0 && shown.output.contains("link"), "\(shown)")
    },
    Situation("the classes of an app are named") { scene in
      let folder = try write(
        ["Page.swift": "import SwiftData\n@Model final class Note { var title: String = \"\"; init() {} }\n"], in: scene
      )
      #expect(scene.tool("inspect", folder).output.contains("name what the app lists by --root"))
      #expect(scene.run("inspect", folder, "--root", "Note").output.contains("Note: 1 entity"))
    },
    Situation("another schema is frozen") { scene in
      let folder = try write(["Notes.swift": live, "Other.swift": "enum V3 {}\n"], in: scene)
      let question = ["freeze", folder, "--output", scene.path("Third.swift"), "--name", "V3"]
      let asked = scene.tool.run(question)
      #expect(asked.code == 1 && asked.error.contains("--name gives another name"), "\(asked)")
      scene.run("freeze", folder, "--output", scene.path("Fourth.swift"), "--name", "V4")
      scene.take(question, "--exclude", "Other.swift")
    },
    Situation("an edited schema is frozen under another name") { scene in
      let folder = try write(["Notes.swift": live], in: scene)
      scene.run("freeze", folder, "--output", scene.path("V2.swift"))
      _ = try write(["Notes.swift": live.replacing("var mood: String?", with: "var moods: String?")], in: scene)
      scene.take(["freeze", folder, "--output", scene.path("Edited.swift")], "--name", "V3")
    },
  ]

  // MARK: - Histories, further

  static let laterHistories = [
    Situation("histories have folders of their own") { scene in
      let bundle = try scene.writeBundle([("V1", ["mood"])], current: "V1")
      for name in ["A", "B"] {
        try FileManager.default.createDirectory(atPath: scene.path("Two"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: bundle, toPath: scene.path("Two/\(name).xcdatamodeld"))
      }
      let asked = scene.tool("snapshot", bundle, "--history", scene.path("Two"))
      #expect(asked.code == 1 && asked.error.contains("Name a folder of its own with --history"), "\(asked)")
      scene.run("snapshot", bundle, "--history", scene.path("Own"))
    },
    Situation("a version that stands late is moved") { scene in
      let bundle = try scene.writeBundle([("A", ["mood"]), ("C", ["mood", "b", "c"])], current: "C")
      scene.run("snapshot", bundle, "--history", scene.path(""))
      try scene.writeBundle(
        [("A", ["mood"]), ("B", ["mood", "b"]), ("C", ["mood", "b", "c"]), ("D", ["mood", "b", "c", "d"])],
        current: "D")
      let told = scene.run("snapshot", bundle, "--history", scene.path(""))
      let command = try #require(PrintedCommand.all(in: told.output).first, "\(told)")
      let file = scene.path("lock.json")
      var lock = try VersionLock(path: file)
      #expect(told.output.contains("take its entry out of \(file)"))
      lock.versions.removeAll { $0.name == "B" }
      try Data(lock.encoded()).write(to: URL(fileURLWithPath: file))
      let placed = scene.tool.run(command.words)
      #expect(placed.code == 0, "\(command): \(placed)")
      #expect(try VersionLock(path: file).versions.map(\.name) == ["A", "B", "C", "D"])
      scene.run("check", bundle)
    },
    Situation("sample rows that don't fit are left to code") { scene in
      var unique = try #require(try Notebook.converting().entity(named: "Note"))
      unique.uniquenessConstraints = [["title"]]
      let models = [try Notebook.first(), try Notebook.converting(), try ManagedObjectModel(entities: [unique])]
      for (index, model) in models.enumerated() {
        scene.ship(try Notebook.write(model, "It's here/\(index + 1)", in: scene.directory))
      }
      // All notes get the same title on the way, which the last step wants to be unique.
      let values = [
        PropertyMapping(name: "title", valueExpression: .constant(.value(.integer(7)))),
        PropertyMapping(name: "mood", valueExpression: .constant(.value(.date(0)))),
      ]
      let mapping = MappingModel(entityMappings: [EntityMapping(from: "Note", to: "Note", attributeMappings: values)])
      try Data(MappingArchiveWriter.archive(mapping.completed(from: models[0], to: models[1]))).write(
        to: URL(fileURLWithPath: scene.path("1-2.cdm")))
      let question = ["check", scene.history, "--mapping", scene.path("1-2.cdm")]
      let asked = scene.tool.run(question)
      let words = asked.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      let option = try #require(words.firstMatch(of: /have to try it: say so with --by-app (\S+)\./), "\(asked)").1
      scene.take(
        question, "--by-app", String(option), then: ["--acknowledge", "Note.title", "--acknowledge", "Note.mood"])
    },
  ]

  // MARK: - Others

  static let others = [
    Situation("a list of stores is explained") { scene in
      try scene.makeStore()
      try Data().write(to: URL(fileURLWithPath: scene.path("list")))
      let asked = scene.tool("migrate", "--files-from", scene.path("list"), "--to", scene.adding)
      #expect(asked.code == 2 && PrintedCommand.all(in: asked.error).map(\.words) == [["help", "migrate"]], "\(asked)")
      #expect(scene.run("help", "migrate").output.contains("--files-from"))
      try Data((scene.store.path + "\n").utf8).write(to: URL(fileURLWithPath: scene.path("list")))
      scene.run("migrate", "--files-from", scene.path("list"), "--to", scene.adding)
    },
    Situation("a demo's store is inspected") { scene in
      var tool = scene.tool
      tool.environment["TMPDIR"] = scene.path("")
      let snapshots = Tool.snapshots.path
      let told = tool("demo", "Done", "--snapshots", snapshots)
      #expect(told.code == 0 && told.output.contains("--keep-files leaves it"), "\(told)")
      let kept = tool("demo", "Done", "--snapshots", snapshots, "--keep-files")
      let command = try #require(PrintedCommand.all(in: kept.output).last { $0.words[0] == "inspect" }, "\(kept)")
      #expect(tool.run(command.words).code == 0, "\(command)")
    },
    Situation("a demo's folder is named") { scene in
      scene.take(["demo", "Done"], "--snapshots", Tool.snapshots.path)
    },
    Situation("a report rehearses the migration") { scene in
      try scene.makeStore()
      let page = scene.path("page.html")
      scene.run("report", scene.store.path, "--to", scene.adding, "--output", page)
      let text = try String(contentsOfFile: page, encoding: .utf8)
      #expect(text.contains("heirloom report --rehearse makes one"))
      let other = scene.path("other.html")
      scene.run("report", scene.store.path, "--to", scene.adding, "--output", other, "--rehearse")
      #expect(try !String(contentsOfFile: other, encoding: .utf8).contains("--rehearse makes one"))
    },
    Situation("many findings are verified") { scene in
      try scene.makeStore()
      for number in 0..<7 { try scene.execute("CREATE TABLE ZOLD\(number) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER)") }
      let statements = (0..<7).map { "ALTER TABLE ZNOTE ADD COLUMN ZEXTRA\($0) VARCHAR" }
      for statement in statements { try scene.execute(statement) }
      let asked = scene.tool("doctor", scene.store.path)
      let shown = try #require(PrintedCommand.all(in: asked.output).first { $0.words[0] == "verify" }, "\(asked)")
      let verified = scene.tool.run(shown.words)
      #expect([0, 6].contains(verified.code) && verified.output.contains("ZOLD6"), "\(verified)")
      scene.run("migrate", scene.store.path, "--to", scene.adding, "--accept-losses")
    },
    Situation("a version is restored with its faults") { scene in
      try scene.makeMigratedStore()
      let kept = try #require(try StoreArchive(storeURL: scene.store).previousVersions().first)
      try Connection.execute("CREATE TABLE more (id INTEGER PRIMARY KEY)", on: kept.storeURL.path)
      let restored = scene.tool("restore", scene.store.path)
      #expect(restored.code == 0, "\(restored)")
      for command in PrintedCommand.all(in: restored.output + restored.error) {
        #expect([0, 6].contains(scene.tool.run(command.words).code), "\(command)")
        #expect(command.words.count > 1, "\(command) names no store")
      }
    },
    Situation("what a finding advises is run") { scene in
      try scene.makeMigratedStore()
      let kept = try #require(try StoreArchive(storeURL: scene.store).previousVersions().first)
      try Connection.execute("CREATE TABLE more (id INTEGER PRIMARY KEY)", on: kept.storeURL.path)
      let page = try scene.rootPage(of: "ZNOTE")
      try scene.damage(page: page)
      for question in ["verify", "doctor"] {
        let asked = scene.tool(question, scene.store.path)
        let printed = PrintedCommand.all(in: asked.output + asked.error)
        #expect(!printed.isEmpty, "\(asked)")
        for command in printed where command.words[0] != "restore" {
          #expect(command.placeholder == nil, "\(command)")
          #expect([0, 6].contains(scene.tool.run(command.words).code), "\(command)")
        }
      }
      try scene.follow(["doctor", scene.store.path], "restore", then: ["inspect", scene.store.path])
    },
    Situation("duplicates are made to differ") { scene in
      try scene.makeStore()
      let unique = try scene.write("4") { $0.uniquenessConstraints = [["title"]] }
      scene.run("migrate", scene.store.path, "--to", unique)
      try scene.execute(
        "DROP INDEX IF EXISTS Z_Note_UNIQUE_title", "DROP INDEX IF EXISTS Z_ZNOTE_UNIQUE_ZTITLE",
        "UPDATE ZNOTE SET ZTITLE = 'same' WHERE Z_PK <= 2")
      let asked = scene.tool("verify", scene.store.path)
      #expect(asked.output.contains("share 1 value"), "\(asked)")
      #expect(asked.code == 6 && asked.output.contains("Make their values differ"), "\(asked)")
      try scene.execute("UPDATE ZNOTE SET ZTITLE = 'note ' || Z_PK")
      #expect(!scene.tool("verify", scene.store.path).output.contains("share 1 value"))
    },
    Situation("uncertain pages are read") { scene in
      _ = try Notebook.makeStore(in: scene.directory, count: 600, name: "It's here/Notebook.sqlite")
      try scene.execute(
        "PRAGMA journal_mode = DELETE", "PRAGMA auto_vacuum = 0", "VACUUM", "PRAGMA secure_delete = OFF",
        "DELETE FROM ZNOTE WHERE Z_PK BETWEEN 101 AND 500")
      try scene.damage(page: try scene.rootPage(of: "ZNOTE"))
      let handle = try FileHandle(forWritingTo: scene.store)
      try handle.write(contentsOf: Data(count: 100))
      try handle.close()
      let question = ["salvage", scene.store.path, "--model", scene.first, "--output"]
      let asked = scene.tool.run(question + [scene.path("A.sqlite")])
      #expect(asked.code == 6 && asked.output.contains("--include-uncertain reads them"), "\(asked)")
      let taken = scene.tool.run(question + [scene.path("B.sqlite"), "--include-uncertain"])
      #expect([0, 6].contains(taken.code) && !taken.output.contains("--include-uncertain"), "\(taken)")
      func count(_ name: String) throws -> Int64 {
        let connection = try Connection(path: scene.path(name), mode: .readOnly)
        defer { try? connection.close() }
        return try connection.firstInteger("SELECT COUNT(*) FROM ZNOTE") ?? 0
      }
      #expect(try count("B.sqlite") > count("A.sqlite"))
      try FileManager.default.removeItem(at: scene.store)
    },
  ]
}
