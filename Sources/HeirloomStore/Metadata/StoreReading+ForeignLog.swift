import Foundation
import HeirloomModel

extension StoreReading {
  /// SQLite finds a log by its name alone.
  ///
  /// If another database's log was copied there, the store's pages become those of that database at
  /// the next checkpoint. The identifier in the metadata reveals this, if the log holds it.
  package static func objectionToLog(besideStoreAt path: String) -> String? {
    // SQLite would wait for a named pipe.
    guard DatabaseFile.size(ofSideFile: "-wal", of: path) ?? 0 > 0, (try? checkFile(path)) != nil,
      let alone = try? identifier(ofStoreWithoutLogAt: path)
    else { return nil }
    do throws(StoreError) {
      let together = try withConnection(toStoreAt: path) { connection throws(StoreError) in
        try StoreMetadata(connection: connection, path: path).identifier
      }
      return together == alone
        ? nil
        : "it belongs to the store \(PlainText.line(together)), the main file is the store \(PlainText.line(alone))"
    } catch {
      guard case .notStore = error.problem else { return nil }
      return "the main file is a store only without it"
    }
  }

  package static func checkLog(besideStoreAt path: String) throws(StoreError) {
    guard let objection = objectionToLog(besideStoreAt: path) else { return }
    throw StoreError(
      path: path, problem: .unusableSideFile(path + "-wal", found: "the log of another database (\(objection))"))
  }

  private static func identifier(ofStoreWithoutLogAt path: String) throws(StoreError) -> String {
    let connection: Connection
    do throws(SQLiteError) {
      connection = try Connection(path: path, mode: .immutable, options: .inspecting)
    } catch {
      throw StoreError(error, path: path)
    }
    defer { try? connection.close() }
    return try StoreMetadata(connection: connection, path: path).identifier
  }
}
