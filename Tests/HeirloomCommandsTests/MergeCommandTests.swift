import Foundation
import Heirloom
import TestSupport
import Testing

struct MergeCommandTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  private func write(_ text: String, _ path: String) throws {
    let file = directory.file(path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOf: directory.file(path), encoding: .utf8)
  }

  private static func item(_ names: String...) -> String {
    """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Item">

    """ + names.map { "        <attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>\n" }.joined()
      + "    </entity>\n</model>"
  }

  @Test func `what both branches made of a new version is told from the version before`() throws {
    try write(Self.item("a", "b"), "J.xcdatamodeld/J.xcdatamodel/contents")
    try write("", "base")
    try write(Self.item("a", "b", "ours"), "ours")
    try write(Self.item("a", "theirs"), "theirs")
    let path = "J.xcdatamodeld/J 2.xcdatamodel/contents"
    let merged = tool("merge", "base", "ours", "theirs", "--path", path)
    #expect(merged.code == 0 && merged.error.contains("relative to \"J\""), "\(merged.error)")
    #expect(try text("ours") == Self.item("a", "ours", "theirs"))
    // A shipped version is not edited by a merge.
    let shipped = Self.item("a", "b", "ours")
    try write(shipped, path)
    #expect(tool("snapshot", "J.xcdatamodeld", "--history", ".").code == 0)
    try write(shipped, "ours")
    let refused = try tool("merge", "base", "ours", "theirs", "--path", path, "--json").json()
    #expect(refused["merged"] as? Bool == false)
    #expect("\(refused)".contains("version was shipped and must not change"), "\(refused)")
    #expect(try text("ours").hasPrefix("<<<<<<< ours\n"))
  }

  @Test func `what is no file of a history is left alone`() throws {
    for name in ["base", "ours", "theirs"] { try write(name, name) }
    let outcome = tool("merge", "base", "ours", "theirs", "--path", "README.md")
    #expect(outcome.code == 1 && outcome.error.contains("left as it is"))
    #expect(try text("ours") == "ours")
    try FileManager.default.createSymbolicLink(
      at: directory.file("link"), withDestinationURL: directory.file("ours"))
    #expect(tool("merge", "base", "link", "theirs", "--path", "lock.json").code == 1)
    #expect(try text("ours") == "ours")
    #expect(tool("merge", "base", "ours").code == 2)
  }

  private static let gitPath = ["/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @discardableResult
  private func git(_ arguments: String...) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Self.gitPath))
    process.arguments = ["-c", "user.name=A", "-c", "user.email=a@example.org"] + arguments
    process.currentDirectoryURL = directory.url
    process.environment = ["HOME": directory.url.path, "PATH": "/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  private func commit(_ message: String) throws {
    try git("add", "-A")
    #expect(try git("commit", "-q", "-m", message) == 0)
  }

  @Test(.enabled(if: gitPath != nil, "git is absent, so nothing is merged by it"))
  func `git merges two branches that each made a version`() throws {
    let built = try #require(BuiltTool.url)
    #expect(try git("init", "-q", "-b", "main") == 0)
    try git("config", "merge.heirloom.driver", "'\(built.path)' merge %O %A %B --path %P")
    try write(
      """
      **/*.xcdatamodel/contents merge=heirloom
      .xccurrentversion merge=heirloom
      lock.json merge=heirloom

      """, ".gitattributes")
    let model = "J.xcdatamodeld/J.xcdatamodel/contents"
    try write(Self.item("a"), model)
    #expect(tool("snapshot", "J.xcdatamodeld", "--history", ".").code == 0)
    try commit("base")
    for (branch, names) in [("left", ["J 2", "J 3"]), ("right", ["J 4"])] {
      try git("checkout", "-q", "-b", branch, "main")
      for name in names {
        #expect(tool("new-version", "J.xcdatamodeld", "--name", name).code == 0)
        try write(Self.item("a", branch + name.suffix(1)), "J.xcdatamodeld/\(name).xcdatamodel/contents")
        #expect(tool("snapshot", "J.xcdatamodeld", "--history", ".").code == 0)
      }
      try commit(branch)
    }
    #expect(try git("merge", "-q", "left") == 0)
    let list = try ModelVersionList(directory.file("J.xcdatamodeld").path)
    #expect(list.lock?.versions.map(\.name) == ["J", "J 2", "J 3", "J 4"])
    #expect(list.currentVersionName == "J 4")
    // Both add an attribute to one version, which nobody shipped.
    #expect(tool("new-version", "J.xcdatamodeld", "--name", "J 5").code == 0)
    try commit("J 5")
    let new = "J.xcdatamodeld/J 5.xcdatamodel/contents"
    try git("checkout", "-q", "-b", "one")
    try write(Self.item("a", "one", "right4"), new)
    try commit("one")
    try git("checkout", "-q", "-b", "two", "right")
    try write(Self.item("a", "two", "right4"), new)
    try commit("two")
    #expect(try git("merge", "-q", "one") == 0)
    #expect(try text(new) == Self.item("a", "one", "two", "right4"))
    // The same property in two ways is a conflict that git shows.
    try git("checkout", "-q", "-b", "three", "one")
    try write(Self.item("a", "one", "right4").replacing("name=\"one\"", with: "name=\"one\" transient=\"YES\""), new)
    try commit("three")
    try git("checkout", "-q", "-b", "four", "one")
    try write(Self.item("a", "one", "right4").replacing("name=\"one\"", with: "name=\"one\" syncable=\"YES\""), new)
    try commit("four")
    #expect(try git("merge", "-q", "three") == 1)
    let marked = try text(new)
    #expect(marked.contains("<<<<<<< ours\n"), "\(marked)")
    #expect(try git("diff", "--quiet", "--diff-filter=U") == 1)
  }
}
