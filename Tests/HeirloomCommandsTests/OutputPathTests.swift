import Foundation
import Heirloom
import TestSupport
import Testing

struct OutputPathTests {
  /// Files and folders that belong to a store, without those that need not exist.
  static let ownNames = [
    "Notebook.sqlite-wal", "Notebook.sqlite-shm", "Notebook.sqlite-journal", "Notebook.sqlite.heirloom/page",
    "Notebook.sqlite.heirloom/previous/page", ".Notebook_SUPPORT/page", ".Notebook_SUPPORT/_EXTERNAL_DATA/page",
    "link/Notebook.sqlite-wal", ".Notebook_SUPPORT",
  ]

  @Test(arguments: ownNames) func `no output takes the place of what belongs to a store`(name: String) throws {
    let directory = try TemporaryDirectory()
    let store = try Notebook.makeStore(in: directory, count: 5)
    for suffix in ["-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
    for folder in [".heirloom/previous", ""] {
      try FileManager.default.createDirectory(
        atPath: folder.isEmpty ? directory.file(".Notebook_SUPPORT/_EXTERNAL_DATA").path : store.path + folder,
        withIntermediateDirectories: true)
    }
    if name == ".Notebook_SUPPORT" { try FileManager.default.removeItem(at: directory.file(name)) }
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("link").path, withDestinationPath: directory.url.path)
    let model = try Notebook.write(Notebook.adding(), "Adding", in: directory)
    let isPage = name.hasSuffix("page")
    let tool = Tool(directory: directory.url)
    let before = try FileManager.default.subpathsOfDirectory(atPath: directory.url.path).sorted()
    for command in [
      ["snapshot", model, "--output", name], ["generate", model, "--output", name],
      ["diagram", model, "--output", isPage ? name + ".svg" : name, "--format", "svg"],
      ["report", store.path, "--to", model, "--output", isPage ? name + ".html" : name],
      ["salvage", store.path, "--output", name], ["doctor", store.path, "--archive", name],
    ] where isPage || !["report", "diagram"].contains(command[0]) {
      let outcome = tool.run(command + ["--json"])
      #expect(outcome.code == 2, "\(command): \(outcome.output)")
      #expect(try outcome.failure()["message"] as? String ?? "" != "", "\(command)")
      #expect(outcome.output.contains("belongs to a store"), "\(command): \(outcome.output)")
    }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: directory.url.path).sorted() == before)
  }
}
