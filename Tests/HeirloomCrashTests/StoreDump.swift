import Foundation
import HeirloomStore
import TestSupport

/// A cache of dumps by the bytes of the store's file.
final class StoreDumps {
  private var known: [Data: StoreDump] = [:]

  func dump(_ path: String) throws -> StoreDump {
    for suffix in ["-wal", "-journal"] where FileManager.default.fileExists(atPath: path + suffix) {
      return try StoreDump(path)
    }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    if let dump = known[bytes] { return dump }
    let dump = try StoreDump(path)
    known[bytes] = dump
    return dump
  }
}

/// Everything that any app reads in a store, apart from the bytes of the file.
struct StoreDump: Hashable {
  /// Schema and rows of all tables but the metadata.
  let content: String
  /// The metadata's rows, which name the model's version and the generation.
  let metadata: String
  let versionHashes: String

  /// SQLite replays the journal or `-wal` that is beside the store.
  init(_ path: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    guard try connection.firstValue("PRAGMA integrity_check")?.text == "ok" else {
      throw CrashFailure("the integrity check finds damage")
    }
    var content = "\(try connection.firstInteger("PRAGMA user_version") ?? 0)\n"
    var metadata = ""
    for row in try connection.rows("SELECT name, type, sql FROM sqlite_schema ORDER BY name") {
      guard let name = row[0].text, let type = row[1].text else { continue }
      content += "\(type) \(name) \(row[2].text ?? "")\n"
      guard type == "table" else { continue }
      // SQLite makes the text, since a run makes thousands of dumps.
      let columns = try connection.rows("PRAGMA table_info(\(quote(name)))").compactMap { $0[1].text }
      let line = columns.map { "quote(\(quote($0)))" }.joined(separator: " || ',' || ")
      let rows = try connection.firstValue(
        "SELECT group_concat(line, char(10)) FROM (SELECT \(line) AS line FROM \(quote(name)) ORDER BY 1)")
      if name == "Z_METADATA" { metadata += rows?.text ?? "" } else { content += (rows?.text ?? "") + "\n" }
    }
    self.content = content
    self.metadata = metadata
    versionHashes = "\(try StoreMetadata(connection: connection, path: path).versionHashes.sorted { $0.key < $1.key })"
    try connection.close()
  }

  /// The generation may differ.
  func isSameVersion(as other: StoreDump) -> Bool {
    content == other.content && versionHashes == other.versionHashes
  }
}
