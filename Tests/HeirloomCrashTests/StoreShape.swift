import Foundation
import HeirloomStore

/// A store in one file in rollback mode that is given the side files of another state.
struct StoreShape {
  let path: String

  init(_ path: String) { self.path = path }

  func make(_ state: InitialState) throws {
    switch state {
    case .uncheckpointedWAL: try makeWAL(isPartlyCheckpointed: false)
    case .partlyCheckpointedWAL: try makeWAL(isPartlyCheckpointed: true)
    case .hotJournal: try makeHotJournal()
    case .unreadableLog:
      try makeWAL(isPartlyCheckpointed: false)
      try damageLog()
    case .coldJournal:
      try leaveWAL()
      try Data().write(to: URL(fileURLWithPath: path + "-journal"))
    case .persistedJournal:
      let connection = try leaveWAL()
      _ = try connection.firstValue("PRAGMA journal_mode=PERSIST")
      try save(connection)
      try connection.close()
      let journal = try Data(contentsOf: URL(fileURLWithPath: path + "-journal"))
      guard journal.count > 512, journal.prefix(8).allSatisfy({ $0 == 0 }) else {
        throw CrashFailure("the journal is not a cold one")
      }
    case .rollbackAtRest, .externalData, .previousVersion, .archiveDue, .staleCandidate: try leaveWAL()
    }
  }

  @discardableResult
  private func leaveWAL() throws -> Connection {
    let connection = try Connection(path: path, mode: .readWrite)
    guard try connection.firstValue("PRAGMA journal_mode=DELETE")?.text == "delete" else {
      throw CrashFailure("the store can't leave WAL mode")
    }
    return connection
  }

  /// Saves all objects once more, as an app does that touches each.
  private func save(_ connection: Connection, tables: Range<Int> = 0..<Int.max) throws {
    let all = try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%Z_OPT%'").filter {
      try connection.firstInteger("SELECT COUNT(*) FROM \(quote($0[0].text ?? ""))") ?? 0 > 0
    }
    for row in all[tables.clamped(to: all.indices)] {
      guard let table = row[0].text else { continue }
      try connection.execute("UPDATE \(quote(table)) SET \"Z_OPT\" = \"Z_OPT\" + 1")
    }
  }

  private func makeWAL(isPartlyCheckpointed: Bool) throws {
    try leaveWAL().close()
    let connection = try Connection(path: path, mode: .readWrite, options: .inspecting)
    guard try connection.firstValue("PRAGMA journal_mode=WAL")?.text == "wal" else {
      throw CrashFailure("the store can't enter WAL mode")
    }
    // A checkpoint skips pages that a later transaction changed again.
    try save(connection, tables: 0..<1)
    if isPartlyCheckpointed {
      let before = try Data(contentsOf: URL(fileURLWithPath: path))
      let reader = try Connection(path: path, mode: .readOnly, options: .inspecting)
      try reader.execute("BEGIN")
      _ = try reader.firstInteger("SELECT COUNT(*) FROM Z_METADATA")
      try save(connection, tables: 1..<Int.max)
      _ = try connection.rows("PRAGMA wal_checkpoint(PASSIVE)")
      try reader.execute("COMMIT")
      try reader.close()
      guard try Data(contentsOf: URL(fileURLWithPath: path)) != before else {
        throw CrashFailure("the checkpoint did nothing")
      }
    } else {
      try save(connection)
    }
    try connection.close()
    guard let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int, size > 0 else {
      throw CrashFailure("the -wal is empty")
    }
  }

  /// Changes a byte of the log's last frame but one, so that SQLite reads the log up to there.
  private func damageLog() throws {
    let url = URL(fileURLWithPath: path + "-wal")
    var bytes = [UInt8](try Data(contentsOf: url))
    let frame = 24 + (Int(bytes[10]) << 8 | Int(bytes[11]))
    guard (bytes.count - 32) / frame >= 3 else { throw CrashFailure("the -wal has fewer than three frames") }
    bytes[bytes.count - frame - 10] ^= 1
    try Data(bytes).write(to: url)
  }

  /// Copies the store and its journal in the middle of a transaction, when changed pages are already in the main file.
  private func makeHotJournal() throws {
    let connection = try leaveWAL()
    try connection.execute("PRAGMA synchronous=FULL")
    try connection.execute("PRAGMA cache_size=2")
    try connection.execute("PRAGMA cache_spill=1")
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    try connection.execute("BEGIN IMMEDIATE")
    for _ in 0..<3 { try save(connection) }
    let main = try Data(contentsOf: URL(fileURLWithPath: path))
    let journal = try Data(contentsOf: URL(fileURLWithPath: path + "-journal"))
    try connection.execute("ROLLBACK")
    try connection.close()
    guard main != before, journal.prefix(4) == Data([0xd9, 0xd5, 0x05, 0xf9]) else {
      throw CrashFailure("the transaction has not changed the main file")
    }
    try main.write(to: URL(fileURLWithPath: path))
    try journal.write(to: URL(fileURLWithPath: path + "-journal"))
  }
}
