import Foundation
import Heirloom
import HeirloomCommands
import HeirloomStore
import TestSupport
import Testing

/// An app whose three versions have five traps.
enum TripSource {
  static let text = """
    import SwiftData

    enum TripsV1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Trip.self] }
      @Model final class Trip {
        var name: String = ""
        var place: Place?
        init() {}
      }
    }

    enum TripsV2: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [Trip.self, Place.self] }
      @Model final class Trip {
        var title: String = ""
        var rating: Int
        var place: Place?
        init() {}
      }
      @Model final class Place {
        var city: String = ""
        init() {}
      }
    }

    enum TripsV3: VersionedSchema {
      static let versionIdentifier = Schema.Version(3, 0, 0)
      static var models: [any PersistentModel.Type] { [Trip.self, Place.self] }
    }

    @Model final class Trip {
      @Attribute(.unique) var title: String = ""
      var rating: Int
      var place: Place?
      init() {}
    }

    @Model final class Place {
      var city: String = ""
      init() {}
    }

    enum TripPlan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [TripsV1.self, TripsV2.self, TripsV3.self] }
      static var stages: [MigrationStage] { [.lightweight(fromVersion: TripsV1.self, toVersion: TripsV2.self)] }
    }

    """

  /// Without its traps.
  static let mended =
    text.replacing(
      "Schema.Version(1, 0, 0)\n  static var models: [any PersistentModel.Type] { [Trip.self, Place.self] }",
      with: "Schema.Version(2, 0, 0)\n  static var models: [any PersistentModel.Type] { [Trip.self, Place.self] }"
    )
    .replacing(
      "[Trip.self] }\n",
      with: "[Trip.self, Place.self] }\n  @Model final class Place { var city: String = \"\"; init() {} }\n"
    )
    .replacing(
      "var title: String = \"\"\n    var rating: Int\n",
      with: "@Attribute(originalName: \"name\") var title: String = \"\"\n    var rating: Int = 0\n"
    )
    .replacing(
      "@Attribute(.unique) var title: String = \"\"\n  var rating: Int\n",
      with: "@Attribute(originalName: \"name\") var title: String = \"\"\n  var rating: Int = 0\n  var stars: Int?\n"
    )
    .replacing(
      "toVersion: TripsV2.self)]",
      with: "toVersion: TripsV2.self), .lightweight(fromVersion: TripsV2.self, toVersion: TripsV3.self)]")

  static func write(_ text: String = text, in folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: folder.appendingPathComponent("Trips.swift"))
  }
}

struct SwiftCheckTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  private func findings(_ arguments: String...) throws -> [String] {
    let json = try tool.run(["check"] + arguments + ["--json"]).json()
    let findings = try #require(json["findings"] as? [[String: Any]])
    return findings.map { finding in
      let file = (finding["file"] as? String).map { ($0 as NSString).lastPathComponent } ?? ""
      let line = (finding["line"] as? Int).map { ":\($0)" } ?? ""
      return "\(finding["severity"] ?? "") \(finding["rule"] ?? "") \(file)\(line)"
    }
  }

  @Test func `five traps are five findings with file and line, and the mended source has none`() throws {
    try TripSource.write(in: directory.file("Trips"))
    #expect(
      try findings("Trips") == [
        "error live-type Trips.swift:8", "error reused-identifier Trips.swift:14",
        "error missing-default Trips.swift:18",
        "error missing-stage Trips.swift:45", "error loss Trips.swift", "warning suspected-rename Trips.swift:17",
        "warning new-constraint Trips.swift:34", "warning missing-lock Trips",
      ])
    let outcome = tool("check", "Trips", "--annotations", "github")
    #expect(outcome.code == 6)
    #expect(outcome.output.contains("::error file=Trips/Trips.swift,line=8,title=heirloom check%3A live-type::"))
    try TripSource.write(TripSource.mended, in: directory.file("Mended"))
    #expect(try findings("Mended") == ["warning missing-lock Mended"])
    let check = try tool("check", "Mended", "--json").json()
    #expect((check["versions"] as? [[String: Any]])?.map { $0["result"] as? String } == ["kept", "kept"])
    #expect(tool("check", "Mended").code == 0)
  }

  @Test func `a released version that was edited or is gone is an error at its place`() throws {
    try TripSource.write(TripSource.mended, in: directory.file("Trips"))
    #expect(tool("snapshot", "Trips", "--history", "Trips").code == 0)
    #expect(try findings("Trips").isEmpty)
    let edited = TripSource.mended.replacing("var stars: Int?", with: "var stars: Double?")
    try TripSource.write(edited, in: directory.file("Trips"))
    #expect(try findings("Trips") == ["error edited-after-release Trips.swift:34"])
    let gone = TripSource.mended.replacing("enum TripsV1: VersionedSchema", with: "enum TripsV0: VersionedSchema")
      .replacing("TripsV1.self", with: "TripsV0.self")
    try TripSource.write(gone, in: directory.file("Trips"))
    let found = try findings("Trips")
    // The same under another name is told as that.
    #expect(found.contains("warning missing-version Trips.swift:3"), "\(found)")
    #expect(found.filter { $0.hasPrefix("error") } == ["error unlocked-version lock.json"], "\(found)")
  }

  @Test func `a lock of another tool is passed over with a word, and one that is damaged is no lock`() throws {
    try TripSource.write(TripSource.mended, in: directory.file("Trips"))
    let lock = directory.file("Trips/lock.json")
    try Data("{\"packages\": []}".utf8).write(to: lock)
    #expect(try findings("Trips") == ["warning missing-lock Trips", "warning missing-lock Trips"])
    #expect(tool("check", "Trips").output.contains("it is not a lock of model versions"))
    // So is any other JSON, until it is a snapshot: then the folder is a history of snapshots.
    try Data("{\"name\": \"trips\"}".utf8).write(to: directory.file("Trips/package.json"))
    #expect(try findings("Trips") == ["warning missing-lock Trips", "warning missing-lock Trips"])
    #expect(tool("snapshot", "Trips", "--output", "V3.json").code == 0)
    try FileManager.default.copyItem(at: directory.file("V3.json"), to: directory.file("Trips/V3.json"))
    #expect(tool("check", "Trips").error.contains("lock.json"))
    try FileManager.default.removeItem(at: directory.file("Trips/V3.json"))
    #expect(tool("freeze", "Trips").code == 1)
    #expect(try String(contentsOf: lock, encoding: .utf8) == "{\"packages\": []}")
    try FileManager.default.removeItem(at: lock)
    #expect(tool("snapshot", "Trips", "--history", "Trips").code == 0)
    try Data(try Data(contentsOf: lock).dropLast(20)).write(to: lock)
    for command in ["check", "history", "freeze"] { #expect(tool(command, "Trips").error.contains("lock.json")) }
  }

  @Test func `a fixture is of a version, or the difference is told by property with its place`() throws {
    try TripSource.write(TripSource.mended, in: directory.file("Trips"))
    #expect(tool("snapshot", "Trips:TripsV2", "--output", "V2.json").code == 0)
    let model = try ModelSnapshot(bytes: Array(Data(contentsOf: directory.file("V2.json")))).model
    try StoreGenerator.makeStore(at: directory.file("V2.sqlite"), model: model, objects: 3, seed: 1)
    let store = try PersistentStore.open(at: directory.file("V2.sqlite"), model: model)
    try StoreModelCache.write(model, to: store.connection)
    try store.close()
    let before = StoreBytes(of: directory.file("V2.sqlite"))
    #expect(try findings("Trips", "--store", "V2.sqlite") == ["warning missing-lock Trips"])
    #expect(tool("check", "Trips", "--store", "V2.sqlite").output.contains("V2.sqlite is of \"TripsV2\""))
    let edited = TripSource.mended.replacing(
      "var rating: Int = 0\n    var place", with: "var rating: Int?\n    var place")
    try TripSource.write(edited, in: directory.file("Trips"))
    let outcome = tool("check", "Trips", "--store", "V2.sqlite")
    #expect(outcome.code == 6)
    #expect(outcome.output.contains("V2.sqlite fits no version of the history"), "\(outcome.output)")
    #expect(
      outcome.output.contains("The nearest is \"TripsV2\": Trip.rating: became optional (Trips.swift:19)."),
      "\(outcome.output)")
    #expect(StoreBytes(of: directory.file("V2.sqlite")) == before)
    // A version before one that isn't certain is known all the same; without any, nothing is claimed.
    let unclear = TripSource.mended.replacing("  var stars: Int?", with: "  var stars: URL?")
    try TripSource.write(unclear, in: directory.file("Trips"))
    #expect(tool("check", "Trips", "--store", "V2.sqlite").output.contains("V2.sqlite is of \"TripsV2\""))
    try TripSource.write(
      "import SwiftData\n@Model class A { var a: URL? }\nlet c = ModelContainer(for: A.self)\n",
      in: directory.file("Unclear"))
    #expect(
      tool("check", "Unclear", "--store", "V2.sqlite").output.contains(
        "isn't compared with anything: no version could be determined"))
    let failure = tool("check", "Trips", "--store", "V3.sqlite")
    #expect(failure.code == 1 && failure.error.contains("V3.sqlite"))
  }

  @Test func `versions behind one that isn't certain are not tried, which is said`() throws {
    let text = TripSource.mended.replacing(
      "    var rating: Int = 0\n    var place", with: "    var rating: Int = 0\n    var link: URL?\n    var place")
    try TripSource.write(text, in: directory.file("Trips"))
    #expect(
      try findings("Trips") == [
        "warning uncertain-version Trips.swift:14", "warning missing-lock Trips", "warning not-tried Trips.swift:3",
      ])
    #expect(tool("check", "Trips").code == 0)
    // Where the current one isn't certain, nothing can be tried.
    try TripSource.write(
      TripSource.mended.replacing("  var stars: Int?", with: "  var stars: URL?"), in: directory.file("Trips"))
    #expect(
      try findings("Trips") == [
        "warning uncertain-version Trips.swift:29", "warning missing-lock Trips", "warning not-tried Trips.swift:29",
      ])
    #expect(tool("check", "Trips").output.contains("TripsV1  not tried"))
  }

  @Test func `the plan gives the order of what is fixed, whatever the versions are called`() throws {
    let renamed = [("TripsV1", "Zero"), ("TripsV2", "Middle"), ("TripsV3", "Best")].reduce(TripSource.mended) {
      $0.replacing($1.0, with: $1.1)
    }
    try TripSource.write(renamed, in: directory.file("Trips"))
    #expect(
      tool("snapshot", "Trips:Middle", "--history", "Trips").output.contains("fixes \"Zero\", \"Middle\", in this"))
    let note = tool("check", "Trips")
    #expect(note.code == 0 && note.output.contains("The current version \"Best\" is not in lock.json yet"))
    #expect(
      tool("snapshot", "Trips", "--history", "Trips").output.contains("\"Zero\", \"Middle\", \"Best\", in this order"))
    // One that was left out goes to its place by the command that is printed.
    let lock = directory.file("Trips/lock.json")
    var content = try VersionLock(path: lock.path)
    content.versions.removeFirst()
    try Data(content.encoded()).write(to: lock)
    let advice = tool("check", "Trips")
    let command = "snapshot \(directory.url.path)/Trips:Zero --history \(directory.url.path)/Trips --before Middle"
    #expect(advice.code == 6 && advice.output.contains("heirloom \(command) fixes it"), "\(advice.output)")
    #expect(tool.run(command.split(separator: " ").map(String.init)).code == 0)
    #expect(try VersionLock(path: lock.path).versions.map(\.name) == ["Zero", "Middle", "Best"])
  }

  @Test func `a schema outside of the plan has no part in its steps`() throws {
    let outsider = """
      enum Mock: VersionedSchema {
        static let versionIdentifier = Schema.Version(0, 1, 0)
        static var models: [any PersistentModel.Type] { [Trip.self] }
        @Model final class Trip { var everythingElse: Int?; init() {} }
      }

      """
    try TripSource.write(TripSource.mended + outsider, in: directory.file("Trips"))
    #expect(
      try findings("Trips") == [
        "warning schema-outside-plan Trips.swift:51", "warning missing-lock Trips", "note not-tried Trips.swift:51",
      ])
    let history = try tool("history", "Trips", "--json").json()
    #expect(
      (history["versions"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == [
        "Mock", "TripsV1", "TripsV2", "TripsV3",
      ])
    #expect(tool("history", "Trips").output.contains("outside the plan"))
    #expect(
      tool("snapshot", "Trips", "--history", "Trips").output.contains("\"TripsV1\", \"TripsV2\", \"TripsV3\", in this"))
    #expect(!tool("check", "Trips").output.contains("error"))
  }

  @Test(arguments: [("Trips/", "Trips"), ("Trips", "./Trips/"), ("./Trips/.", "Trips"), ("Trips/Trips.swift", "Trips")])
  func `among the source lies the lock alone, however its folder is written`(_ source: String, _ folder: String) throws
  {
    try TripSource.write(TripSource.mended, in: directory.file("Trips"))
    #expect(tool("snapshot", source, "--history", folder).code == 0)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: directory.file("Trips").path).sorted() == [
        "Trips.swift", "lock.json",
      ])
    #expect(tool("check", "Trips").output.contains("no findings"))
  }

  @Test func `source that doesn't tell its versions is a finding beside its traps`() throws {
    try TripSource.write(
      TripSource.text
        + "enum Second: SchemaMigrationPlan { static var schemas: [any VersionedSchema.Type] { [TripsV1.self] }\n"
        + "static var stages: [MigrationStage] { [] } }\n", in: directory.file("Trips"))
    let found = try findings("Trips")
    #expect(found.contains("error undecided-history Trips"))
    #expect(found.contains("error live-type Trips.swift:8"))
    #expect(tool("check", "Trips").code == 6)
    #expect(tool("check", "Trips:TripPlan").output.contains("kept"))
  }
}
