import Foundation
import Heirloom
import TestSupport
import Testing

/// Every command finds the same version if several have a store's hashes.
struct SourceVersionCommandTests {
  private struct Scene {
    let directory: TemporaryDirectory
    let tool: Tool

    init() throws {
      directory = try TemporaryDirectory()
      tool = Tool(directory: directory.url)
      let folder = directory.file("Models")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      func write(_ model: ManagedObjectModel, _ url: URL) throws {
        try ModelSnapshot(model: model, archivedAt: Date(timeIntervalSince1970: 0)).encoded(.readable).write(to: url)
      }
      for version in TwinVersions.Version.allCases {
        try write(TwinVersions.model(version), folder.appendingPathComponent("\(version.rawValue).json"))
        // A file that is given by hand may have any name.
        try write(TwinVersions.model(version), directory.file("given \(version.rawValue).json"))
      }
      try write(TwinVersions.current(), folder.appendingPathComponent("3.json"))
    }

    func values(_ name: String) throws -> [String] { try TwinVersions.values(in: directory.file(name)) }
  }

  private static func doubts(_ json: [String: Any]) -> Bool {
    (json["warnings"] as? [String] ?? []).contains { $0.lowercased().contains("it is unknown whether") }
  }

  @Test(arguments: TwinVersions.evidence)
  func `inspect, compare, plan and migrate have one answer`(evidence: TwinVersions.Evidence) throws {
    let scene = try Scene()
    try TwinVersions.makeStore(at: scene.directory.file("Store.sqlite"), evidence)
    let given = evidence.given.map { ["--model", "given \($0.rawValue).json"] } ?? []
    let models = given.isEmpty ? ["--model", "Models"] : given
    let inspected = try scene.tool.run(["inspect", "Store.sqlite", "--json"] + models).json()
    #expect(
      inspected["versionName"] as? String == (evidence.given == nil ? "" : "given ") + evidence.expected.rawValue)
    #expect(Self.doubts(inspected) == evidence.isDoubtful)
    let checked = try scene.tool.run(["doctor", "Store.sqlite", "--json"] + models).json()
    #expect(checked["versionName"] as? String == inspected["versionName"] as? String)

    let plan = scene.tool.run(["plan", "Store.sqlite", "--to", "Models"] + given)
    #expect(plan.output.contains("from \"\(evidence.expected.rawValue)\" "), "\(plan.output)")
    let planned = try scene.tool.run(["plan", "Store.sqlite", "--to", "Models", "--json"] + given).json()
    #expect(Self.doubts(planned) == evidence.isDoubtful)
    if evidence.given == nil {
      // The new name of `a` depends on the version: 1 makes it the first, 2 the second.
      let name = evidence.expected == .one ? "first" : "second"
      let compared = scene.tool("compare", "Store.sqlite", "Models")
      #expect(compared.output.contains("\(name): renamed from \"a\""), "\(compared.output)")
      #expect(compared.error.contains("it is unknown whether") == evidence.isDoubtful)
    }
    let migrated = scene.tool.run(["migrate", "Store.sqlite", "--to", "Models", "--json"] + given)
    #expect(migrated.code == 0)
    #expect(migrated.error.contains("it is unknown whether") == evidence.isDoubtful)
    #expect(try scene.values("Store.sqlite") == TwinVersions.expected(evidence.expected))
  }

  @Test(arguments: [nil, TwinVersions.Version.one, .two])
  func `many stores in one run get each their version`(given: TwinVersions.Version?) throws {
    let scene = try Scene()
    let evidence = TwinVersions.evidence.filter { $0.given == nil }
    let names = evidence.indices.map { "\($0).sqlite" }
    for (name, evidence) in zip(names, evidence) {
      try TwinVersions.makeStore(at: scene.directory.file(name), evidence)
    }
    let options = given.map { ["--model", "given \($0.rawValue).json"] } ?? []
    let run = scene.tool.run(["migrate"] + names + ["--to", "Models"] + options)
    #expect(run.code == 0, "\(run.output) \(run.error)")
    for (name, evidence) in zip(names, evidence) {
      #expect(
        try scene.values(name) == TwinVersions.expected(given ?? evidence.expected), "\(evidence.testDescription)")
    }
  }

  @Test func `a version of a bundle is given without its sisters`() throws {
    let scene = try Scene()
    let bundle = scene.directory.file("App.xcdatamodeld")
    for version in TwinVersions.Version.allCases {
      let (a, b) = version == .one ? ("p", "q") : ("q", "p")
      let folder = bundle.appendingPathComponent("\(version.rawValue).xcdatamodel")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(
        """
        <?xml version="1.0"?><model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Item">
        <attribute name="a" optional="YES" attributeType="String" elementID="\(a)"/>
        <attribute name="b" optional="YES" attributeType="String" elementID="\(b)"/></entity></model>
        """.utf8
      ).write(to: folder.appendingPathComponent("contents"))
    }
    for version in TwinVersions.Version.allCases {
      let name = "\(version.rawValue).sqlite"
      try TwinVersions.makeStore(at: scene.directory.file(name), .init(.one, snapshot: version == .one ? .two : .one))
      let path = "App.xcdatamodeld/\(version.rawValue).xcdatamodel"
      let inspected = try scene.tool("inspect", name, "--model", path, "--json").json()
      #expect(inspected["versionName"] as? String == version.rawValue)
      #expect(scene.tool("migrate", name, "--to", "Models", "--model", path).code == 0)
      #expect(try scene.values(name) == TwinVersions.expected(version))
    }
  }
}
