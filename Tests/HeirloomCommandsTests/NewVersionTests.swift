import Foundation
import Heirloom
import HeirloomCommands
import TestSupport
import Testing

struct NewVersionTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  private static func source(_ attribute: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\r
        <entity name="Entry"><!-- kept --><attribute name="\(attribute)" optional="YES" attributeType="String"/></entity>\r
    </model>
    """
  }

  private func contents(_ version: String, in bundle: String = "Journal") -> URL {
    directory.file("\(bundle).xcdatamodeld/\(version).xcdatamodel/contents")
  }

  private func write(_ version: String, _ attribute: String, in bundle: String = "Journal") throws {
    let file = contents(version, in: bundle)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(Self.source(attribute).utf8).write(to: file)
  }

  private func versions(_ bundle: String = "Journal") throws -> ModelVersionList {
    try ModelVersionList(directory.file("\(bundle).xcdatamodeld").path)
  }

  /// Hidden names too.
  private func names() throws -> [String] {
    try #require(FileManager.default.enumerator(atPath: directory.url.path)).compactMap { $0 as? String }.sorted()
  }

  @Test(arguments: [
    ("Sources/App/Models/Journal.xcdatamodeld", "\"App\"", "Models"),
    ("Tests/AppTests/Journal.xcdatamodeld", "\"AppTests\"", "Journal.xcdatamodeld"),
    ("Models/Journal.xcdatamodeld", nil, nil),
  ])
  func `in a package, what Package.swift has to say of the bundle is told`(
    path: String, target: String?, name: String?
  ) throws {
    try Data().write(to: directory.file("Package.swift"))
    let output = tool("new-version", path).output
    guard let target, let name else { return #expect(!output.contains("Package.swift")) }
    // Without the lock an app can't tell a newer store from an older one.
    #expect(output.contains("its lock and snapshots") == name.hasSuffix(".xcdatamodeld"))
    for words in ["target \(target)", "resources: [.copy(\"\(name)\")]", "exclude: [\"\(name)\"]"] {
      #expect(output.contains(words), "\(output)")
    }
  }

  @Test func `a newcomer begins in an empty folder`() throws {
    let first = tool("new-version", "Journal.xcdatamodeld")
    #expect(first.code == 0 && first.output.contains("\"Journal\", an example to edit"), "\(first.output)")
    #expect(!first.output.contains("Package.swift"))
    #expect(try versions().currentVersionName == "Journal")
    #expect(
      try ModelFile.read(directory.file("Journal.xcdatamodeld").path).model.entities.map(\.name) == ["Note", "Tag"])
    let untouched = try tool("new-version", "Journal.xcdatamodeld", "--json").json()
    #expect(untouched["made"] is NSNull)
    try write("Journal", "note")
    #expect(tool("new-version", "Journal.xcdatamodeld").code == 0)
    #expect(try versions().currentVersionName == "Journal 2")
    #expect(try Data(contentsOf: contents("Journal 2")) == Data(Self.source("note").utf8))
    // Nothing was edited since.
    let before = try names()
    let again = tool("new-version", "Journal.xcdatamodeld")
    #expect(again.code == 0 && again.output.contains("still the same as \"Journal\""), "\(again.output)")
    #expect(tool("new-version", "Journal.xcdatamodeld", "--name", "Other").code == 1)
    #expect(try names() == before)
  }

  @Test(arguments: ["A first", "Journal 1", "Z last"])
  func `the command that a new version prints fixes the order as it was, whatever its name`(_ name: String) throws {
    try write("Journal", "note")
    #expect(tool("new-version", "Journal.xcdatamodeld").code == 0)
    try write("Journal 2", "text")
    let made = tool("new-version", "Journal.xcdatamodeld", "--name", name)
    #expect(made.code == 0)
    let command = try #require(
      PrintedCommand.all(in: made.output).first { $0.words[0] == "snapshot" }, "\(made.output)")
    #expect(tool.run(command.words).code == 0)
    func order() throws -> [String] { try VersionLock(path: directory.file("lock.json").path).versions.map(\.name) }
    #expect(try order() == ["Journal", "Journal 2"])
    try write(name, "more")
    #expect(tool("check", ".", "--acknowledge", "Entry.note", "--acknowledge", "Entry.text").code == 0)
    let versions = try tool("check", ".", "--json").json()["versions"] as? [[String: Any]]
    #expect(versions?.compactMap { $0["result"] as? String } == ["kept", "kept"], "\(versions ?? [])")
    #expect(tool("snapshot", "Journal.xcdatamodeld", "--history", ".").code == 0)
    #expect(try order() == ["Journal", "Journal 2", name])
  }

  @Test func `folders that lead to a new bundle are made`() throws {
    let first = tool("new-version", "App/Models/Journal.xcdatamodeld")
    #expect(first.code == 0, "\(first.output)")
    #expect(try versions("App/Models/Journal").currentVersionName == "Journal")
    // Elsewhere a missing folder is named as what it is.
    let snapshot = tool("snapshot", "App/Models/Journal.xcdatamodeld", "--output", "Missing/Journal.json")
    #expect(snapshot.code == 1 && snapshot.error.contains("Create its folder"), "\(snapshot.error)")
  }

  @Test func `the version before is fixed where there is a lock, and the new one is not`() throws {
    try write("Journal", "note")
    #expect(tool("snapshot", "Journal.xcdatamodeld", "--history", ".").code == 0)
    #expect(tool("new-version", ".").code == 0)
    try write("Journal 2", "text")
    let third = try tool("new-version", ".", "--json").json()
    #expect(third["made"] as? String == "Journal 3" && third["fixed"] as? [String] == ["Journal 2"])
    let lock = try VersionLock(path: directory.file("lock.json").path)
    #expect(lock.versions.map(\.name) == ["Journal", "Journal 2"])
    #expect(try names().contains("Journal 2.json") && !names().contains("Journal 3.json"))
    let check = try tool("check", ".", "--json").json()
    let kinds = (check["findings"] as? [[String: Any]])?.compactMap { $0["rule"] as? String } ?? []
    #expect(kinds.contains("unlocked-version") && !kinds.contains("edited-after-release"))
    // A shipped version that was edited since is no start.
    try write("Journal 3", "again")
    #expect(tool("snapshot", "Journal.xcdatamodeld", "--history", ".").code == 0)
    try write("Journal 3", "more")
    let before = try names()
    let edited = try tool("new-version", ".", "--json").failure()
    #expect(edited["code"] as? String == "editedVersion")
    #expect(try names() == before)
  }

  @Test(arguments: [
    (["Journal"], "Journal", "Journal 2"), (["Journal", "Journal 9"], "Journal 9", "Journal 10"),
    (["V1", "V2"], "V2", "V3"), (["Model2.104.0", "Model2.105.0"], "Model2.105.0", "Model2.106.0"),
    (["App 1.1", "App 1.2"], "App 1.2", "App 1.3"), (["V008", "V009"], "V009", "V010"),
    (["Journal", "Journal 2", "Journal 3"], "Journal 2", "Journal 4"),
    (["journal 2", "Journal"], "Journal", "Journal 3"),
    (["V99999999999999999999"], "V99999999999999999999", "V100000000000000000000"),
    (["Année", "Année 2"], "Année 2", "Année 3"),
  ])
  func `names go on as they began`(versions: [String], current: String, next: String) {
    let taken = Set(versions.map { $0.lowercased() })
    #expect(VersionNaming.next(after: current, among: versions) { taken.contains($0.lowercased()) } == next)
  }

  @Test(.enabled(if: Corpus.isPresent, Corpus.absence))
  func `names go on as the developers of real apps chose them`() throws {
    let bundles = Dictionary(grouping: Corpus.modelPaths) { ($0 as NSString).deletingLastPathComponent }
    var (asked, hit) = (0, 0)
    for (bundle, paths) in bundles where bundle.hasSuffix(".xcdatamodeld") {
      let names = paths.map { (($0 as NSString).lastPathComponent as NSString).deletingPathExtension }
        .sorted { NaturalOrder.precedes($0, $1) }
      for position in names.indices.dropFirst() {
        let known = Array(names[..<position])
        asked += 1
        if VersionNaming.next(after: known[position - 1], among: known, isTaken: known.contains) == names[position] {
          hit += 1
        }
      }
    }
    // The others are jumps, and first changes of a habit.
    #expect(asked > 300 && Double(hit) > 0.9 * Double(asked), "\(hit) of \(asked)")
  }

  @Test(arguments: ["a/b", "..", ".hidden", "a\nb", "", "lock", "x.lock", "A.xcdatamodel", " A", "a:b", "\u{202E}a"])
  func `a name that is none is refused`(name: String) throws {
    try write("Journal", "note")
    let before = try names()
    for path in ["Journal.xcdatamodeld", "New.xcdatamodeld"] {
      #expect(tool("new-version", path, "--name=\(name)").code == 2)
    }
    #expect(try names() == before)
  }

  @Test func `what is no bundle, and what leads out of one, is refused`() throws {
    try write("Journal", "note")
    try FileManager.default.createDirectory(at: directory.file("Old.momd"), withIntermediateDirectories: true)
    try Data("x".utf8).write(to: directory.file("Old.momd/Old.mom"))
    try FileManager.default.copyItem(
      at: contents("Journal").deletingLastPathComponent(), to: directory.file("Alone.xcdatamodel"))
    try write("Linked", "note", in: "Linked")
    try FileManager.default.removeItem(at: contents("Linked", in: "Linked"))
    try FileManager.default.createSymbolicLink(
      at: contents("Linked", in: "Linked"), withDestinationURL: contents("Journal"))
    try write("Noted", "note", in: "Noted")
    try FileManager.default.createSymbolicLink(
      at: directory.file("Noted.xcdatamodeld/.xccurrentversion"), withDestinationURL: directory.file("elsewhere"))
    let before = try names()
    for (path, words) in [
      ("Old.momd", "generated by a tool"), ("Alone.xcdatamodel", "isn't a bundle"),
      ("Journal.xcdatamodeld/Journal.xcdatamodel", "Name the bundle around it"),
      ("Missing", "isn't the name of a bundle"),
      ("Linked.xcdatamodeld", "not links"), ("Noted.xcdatamodeld", "symbolic link"), (".", "isn't a bundle"),
    ] {
      let outcome = tool("new-version", path)
      #expect(outcome.code == 1 && outcome.error.contains(words), "\(path): \(outcome.output) \(outcome.error)")
    }
    try FileManager.default.removeItem(at: directory.file("Alone.xcdatamodel"))
    #expect(tool("new-version", ".").error.contains("at most one"))
    #expect(tool("new-version", "Journal.xcdatamodeld", "--name", "JOURNAL").error.contains("already"))
    #expect(try names() == before.filter { !$0.hasPrefix("Alone") })
  }

  @Test func `a version of the lock that is gone keeps its name`() throws {
    try write("Journal", "note")
    #expect(tool("snapshot", "Journal.xcdatamodeld", "--history", ".").code == 0)
    var lock = try VersionLock(path: directory.file("lock.json").path)
    lock.versions.insert(VersionLock.Entry(name: "Journal 2", checksum: "gone"), at: 0)
    try Data(lock.encoded()).write(to: directory.file("lock.json"))
    #expect(tool("new-version", "Journal.xcdatamodeld").code == 0)
    #expect(try versions().currentVersionName == "Journal 3")
  }

  @Test func `an interrupted run leaves the old current version or the new one, and the next goes on`() throws {
    var (stops, drafts) = (0, 0)
    for count in 0... {
      let folder = try TemporaryDirectory()
      let path = folder.file("Journal.xcdatamodeld").path
      try VersionBundle(path: path).make(first: "Journal", content: ["contents": Array(Self.source("a").utf8)])
      let content = try VersionBundle(path: path).content(of: "Journal")
      let bundle = VersionBundle(path: path, files: StoppingFiles(after: count))
      let isDone = (try? bundle.makeCurrent("Journal 2", content: content)) != nil
      // Both versions that are listed are whole.
      let list = try ModelVersionList(path)
      #expect(["Journal", "Journal 2"].contains(list.currentVersionName))
      for version in list.versions { #expect(try VersionBundle(path: path).content(of: version.name) == content) }
      // A young draft could be another run's.
      for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasSuffix(".tmp") {
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: path + "/" + name)
        drafts += 1
      }
      if list.currentVersionName == "Journal" {
        // The tool goes on: it finishes what is there, or makes it.
        #expect(Tool(directory: folder.url)("new-version", "Journal.xcdatamodeld").code == 0)
      }
      #expect(try ModelVersionList(path).currentVersionName == "Journal 2")
      if isDone {
        let left = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(left.sorted() == [".xccurrentversion", "Journal 2.xcdatamodel", "Journal.xcdatamodel"])
        break
      }
      stops += 1
      #expect(try FileManager.default.contentsOfDirectory(atPath: path).allSatisfy { !$0.hasSuffix(".tmp") })
    }
    #expect(stops > 8 && drafts > 3)
  }

  @Test func `runs at one time leave one whole version`() throws {
    let tool = try #require(BuiltTool.url)
    try write("Journal", "note")
    let processes = try (0..<4).map { _ in
      let process = Process()
      process.executableURL = tool
      process.arguments = ["new-version", directory.file("Journal.xcdatamodeld").path]
      (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
      try process.run()
      return process
    }
    for process in processes { process.waitUntilExit() }
    #expect(processes.contains { $0.terminationStatus == 0 })
    #expect(try versions().currentVersionName == "Journal 2" && versions().versions.count == 2)
    #expect(try Data(contentsOf: contents("Journal 2")) == Data(Self.source("note").utf8))
  }

  @Test(.enabled(if: geteuid() != 0, "the superuser may write anywhere"))
  func `a folder that can't be written gets nothing`() throws {
    try write("Journal", "note")
    let bundle = directory.file("Journal.xcdatamodeld").path
    #expect(chmod(bundle, 0o555) == 0)
    defer { chmod(bundle, 0o755) }
    #expect(tool("new-version", "Journal.xcdatamodeld").code == 1)
    #expect(try versions().versions.count == 1)
  }
}
