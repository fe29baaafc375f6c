import Foundation
import HeirloomStore
import TestSupport

/// Everything that any app reads in a store, the bytes of the file apart.
struct StoreDump: Hashable {
  /// Schema and rows of all tables but the metadata.
  let content: String
  /// The metadata's rows, which name the model's version and the generation.
  let metadata: String
  /// The version hashes, by entity.
  let versionHashes: String

  /// Opens a store as any app would, and reads all of it.
  ///
  /// - Parameter path: The store; SQLite replays its journal or `-wal`.
  /// - Throws: SQLite's error, or what is wrong with the file.
  init(_ path: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    guard try connection.firstValue("PRAGMA integrity_check")?.text == "ok" else {
      throw CrashFailure("the integrity check finds damage")
    }
    var content = "\(try connection.firstInteger("PRAGMA user_version") ?? 0)\n"
    var metadata = ""
    for row in try connection.rows("SELECT name, type, sql FROM sqlite_schema ORDER BY name") {
      guard let name = row[0].text, let type = row[1].text else { continue }
      content += "\(type) \(name) \(row[2])\n"
      guard type == "table" else { continue }
      let rows = try connection.rows("SELECT * FROM \(quote(name))").map { "\($0)" }.sorted().joined(separator: "\n")
      if name == "Z_METADATA" { metadata += rows } else { content += rows + "\n" }
    }
    self.content = content
    self.metadata = metadata
    versionHashes = "\(try StoreMetadata(connection: connection, path: path).versionHashes.sorted { $0.key < $1.key })"
    try connection.close()
  }

  /// Whether both hold the same rows of the same version, whatever their generation.
  func isSameVersion(as other: StoreDump) -> Bool {
    content == other.content && versionHashes == other.versionHashes
  }
}
