import Foundation
import Heirloom
import TestSupport
import Testing

struct SnapshotLockTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  /// The versions differ in one attribute each.
  private func writeBundle(_ versions: [String], current: String, name: String = "App", in folder: String = "Models")
    throws
  {
    let bundle = directory.file(folder).appendingPathComponent("\(name).xcdatamodeld")
    try? FileManager.default.removeItem(at: bundle)
    for version in versions {
      let url = bundle.appendingPathComponent("\(version).xcdatamodel")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      try Data(
        """
        <?xml version="1.0"?><model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="\(name)">
        <attribute name="kept" optional="YES" attributeType="String"/>
        <attribute name="of\(version.filter(\.isLetter))\(version.filter(\.isNumber))" optional="YES" attributeType="String" elementID="of"/>
        </entity></model>
        """.utf8
      ).write(to: url.appendingPathComponent("contents"))
    }
    let note = try PropertyListSerialization.data(
      fromPropertyList: ["_XCCurrentVersionName": "\(current).xcdatamodel"], format: .xml, options: 0)
    try note.write(to: bundle.appendingPathComponent(".xccurrentversion"))
  }

  private func snapshot(_ arguments: String..., model: String = "Models/App.xcdatamodeld") -> Tool.Outcome {
    tool.run(["snapshot", model, "--history", "Models"] + arguments)
  }

  private func locked(_ name: String = "lock.json") throws -> [String] {
    try VersionLock(path: directory.file("Models").appendingPathComponent(name).path).versions.map(\.name)
  }

  private var files: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: directory.file("Models").path).filter {
        $0.hasSuffix(".json")
      }
      .sorted()
    }
  }

  @Test func `a refused model leaves no folder behind`() throws {
    try writeBundle(["V1"], current: "V1")
    let contents = directory.file("Models/App.xcdatamodeld/V1.xcdatamodel/contents")
    let text = try String(contentsOf: contents, encoding: .utf8)
    try Data(text.replacingOccurrences(of: "optional", with: "optinal").utf8).write(to: contents)
    let refused = try tool("snapshot", "Models/App.xcdatamodeld", "--history", "Shipped", "--json").failure()
    #expect(refused["code"] as? String == "notRead")
    #expect(!FileManager.default.fileExists(atPath: directory.file("Shipped").path))
  }

  @Test func `all versions up to the current one are fixed, in order, and named`() throws {
    try writeBundle(["V1", "V2"], current: "V2")
    let first = try snapshot("--json").json()
    #expect(first["fixed"] as? [String] == ["V1", "V2"])
    #expect(first["versions"] as? [String] == ["V1", "V2"])
    // There are two releases that nobody fixed, and one that comes later.
    try writeBundle(["V1", "V2", "V3", "V10", "V9", "V11"], current: "V10")
    let text = snapshot()
    #expect(text.code == 0 && text.output.contains("fixed now: \"V3\", \"V9\", \"V10\"."), "\(text.output)")
    #expect(try locked() == ["V1", "V2", "V3", "V9", "V10"])
    #expect(try files == ["V1.json", "V10.json", "V2.json", "V3.json", "V9.json", "lock.json"])
    let again = try snapshot("--json").json()
    #expect(again["fixed"] as? [String] == [])
    #expect(snapshot().output.contains("fixed now: nothing"))
    let check = try tool("check", "Models", "--json").json()
    #expect((check["findings"] as? [[String: Any]])?.contains { $0["severity"] as? String == "error" } == false)
  }

  @Test func `a version between two that are fixed comes before the current one, and the order is told`() throws {
    try writeBundle(["A", "C"], current: "C")
    #expect(snapshot().code == 0)
    try writeBundle(["A", "B", "C", "D"], current: "D")
    let outcome = snapshot()
    #expect(try locked() == ["A", "C", "B", "D"])
    #expect(outcome.output.contains("\"B\" stands after \"C\", which was fixed first"), "\(outcome.output)")
    #expect(outcome.output.contains("--before C"))
  }

  @Test func `a version that would come after the current one is refused, and put in its place by the flag`() throws {
    try writeBundle(["V1", "V4"], current: "V4")
    #expect(snapshot().code == 0)
    try writeBundle(["V1", "V2", "V3", "V4"], current: "V4")
    let before = try files
    let refused = try snapshot("--json").failure()
    #expect(refused["code"] as? String == "unlockedVersion")
    #expect(try #require(refused["message"] as? String).contains("\"V2\" comes before \"V4\""))
    let advice = try #require(refused["suggestion"] as? String)
    #expect(advice.contains("--before V4") && advice.contains("remove it") && advice.contains("\"V3\""))
    #expect(try files == before)
    #expect(try locked() == ["V1", "V4"])
    let unsound = tool("check", "Models", "--json")
    #expect(unsound.code == 6)

    let path = "Models/App.xcdatamodeld/V3.xcdatamodel"
    let placed = try snapshot("--before", "V4", "--json", model: path).json()
    #expect(placed["fixed"] as? [String] == ["V3"])
    #expect(try locked() == ["V1", "V3", "V4"])
    // The sentence names the next place, for the other version.
    #expect(try #require(try snapshot("--json").failure()["suggestion"] as? String).contains("--before V3"))
    #expect(snapshot("--before", "V3", model: "Models/App.xcdatamodeld/V2.xcdatamodel").code == 0)
    #expect(try locked() == ["V1", "V2", "V3", "V4"])
    #expect(snapshot().code == 0)
    #expect(tool("check", "Models").code == 0)
  }

  @Test func `a stray version is left out by removing it`() throws {
    try writeBundle(["V1", "V3"], current: "V3")
    #expect(snapshot().code == 0)
    try writeBundle(["V1", "V2", "V3"], current: "V3")
    #expect(snapshot().code == 1)
    try writeBundle(["V1", "V3"], current: "V3")
    #expect(snapshot().code == 0 && tool("check", "Models").code == 0)
  }

  @Test(arguments: [
    (["--before", "V9"], Int32(2), "one of the versions"), (["--before", "V1"], 1, "has its place"),
  ])
  func `a place that can't be is refused`(arguments: [String], code: Int32, words: String) throws {
    try writeBundle(["V1", "V2"], current: "V2")
    #expect(snapshot().code == 0)
    let outcome = tool.run(["snapshot", "Models/App.xcdatamodeld", "--history", "Models"] + arguments)
    #expect(outcome.code == code && outcome.error.contains(words), "\(outcome.error)")
    #expect(try locked() == ["V1", "V2"])
    #expect(tool("snapshot", "Models/App.xcdatamodeld", "--before", "V1").code == 2)
  }

  @Test func `bundles of one folder have a lock each`() throws {
    try writeBundle(["V1", "V2"], current: "V2")
    try writeBundle(["V1"], current: "V1", name: "Cache")
    let outcome = try snapshot("--json").json()
    #expect(outcome["fixed"] as? [String] == ["V1", "V2"])
    #expect((outcome["lock"] as? String)?.hasSuffix("Models/App.lock.json") == true)
    #expect(snapshot(model: "Models/Cache.xcdatamodeld").code == 0)
    #expect(try locked("App.lock.json") == ["V1", "V2"])
    #expect(try locked("Cache.lock.json") == ["V1"])
    #expect(try files == ["App.lock.json", "Cache.lock.json"])
    // A model of neither has no lock there.
    try writeBundle(["V1"], current: "V1", name: "Other", in: "Elsewhere")
    let other = try snapshot("--json", model: "Elsewhere/Other.xcdatamodeld").failure()
    #expect(other["code"] as? String == "severalHistories")
    #expect(try files == ["App.lock.json", "Cache.lock.json"])
  }

  @Test func `an edited version is refused as before`() throws {
    try writeBundle(["V1", "V2"], current: "V2")
    #expect(snapshot().code == 0)
    let file = directory.file("Models").appendingPathComponent("App.xcdatamodeld/V2.xcdatamodel/contents")
    let text = try String(contentsOf: file, encoding: .utf8).replacingOccurrences(of: "ofV2", with: "changed")
    try Data(text.utf8).write(to: file)
    #expect(try snapshot("--json").failure()["code"] as? String == "editedVersion")
  }
}
