import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// The commands that salvage prints, where another store keeps its external data in the same folder.
struct SalvagePlacingTests {
  private static func photo(_ number: Int) -> String { "0A000000-0000-4000-8000-00000000000\(number)" }

  /// With a note whose picture is in a file of its own.
  private func make(_ url: URL, _ number: Int, _ model: ManagedObjectModel) throws {
    let store = try PersistentStore.create(at: url, model: model)
    let folder = URL(fileURLWithPath: ExternalStorage.folder(forStoreAt: url.path))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(repeating: UInt8(number), count: 5000).write(to: folder.appendingPathComponent(Self.photo(number)))
    try store.connection.execute(
      "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZPICTURE) VALUES (1, 1, 1, ?1)",
      [.blob(ExternalStorage.file(Self.photo(number)).bytes)])
    try store.connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
    try store.connection.execute("PRAGMA journal_mode = DELETE")
    try store.close()
  }

  @Test(
    arguments: [
      ("S.sqlite", "S.db"), ("S.db", "S.sqlite"), ("S", "S.sqlite"), ("It's.sqlite", "It's"), ("S.sqlite", "T.sqlite"),
    ])
  func `each store has its pictures after the printed commands`(name: String, other: String) throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: directory.url)
    let model = try ManagedObjectModel(entities: [
      Make.entity("Note", [Make.attribute("picture", .binary, external: true)])
    ])
    let (store, neighbour) = (directory.file(name), directory.file(other))
    try make(store, 1, model)
    try make(neighbour, 2, model)
    let run = tool("salvage", store.path, "--output", directory.file("New.sqlite").path)
    #expect(run.code == 0, "\(run)")
    let lines = run.output.split(separator: "\n").filter { line in
      ["  mkdir ", "  mv ", "  cp "].contains { line.hasPrefix($0) }
    }
    #expect(try DoctorWalk.shell("set -e\n" + lines.joined(separator: "\n")).code == 0, "\(lines)")
    let moved = URL(fileURLWithPath: store.path + ".damaged").appendingPathComponent(name)
    for (place, number) in [(store, 1), (neighbour, 2), (moved, 1)] {
      let file = ExternalStorage.folder(forStoreAt: place.path) + "/" + Self.photo(number)
      #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(repeating: UInt8(number), count: 5000))
      #expect(tool("verify", place.path).code == 0)
    }
  }
}
