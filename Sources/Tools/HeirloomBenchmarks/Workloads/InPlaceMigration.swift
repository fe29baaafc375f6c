import Foundation
import Heirloom

/// Changes the store itself, as frameworks do it, and leaves no previous version.
///
/// Each hop is a synced transaction; between two the store has a version that the app shipped.
struct InPlaceMigration {
  private let path: String
  private let hops: [(statements: String, propertyList: [UInt8])]

  init(path: String, steps: [MigrationWorkload.Step]) throws {
    self.path = path
    var metadata = try StoreMetadata(contentsOf: URL(fileURLWithPath: path))
    hops = try steps.map { step in
      metadata.adopt(step.model)
      return (step.statements, try metadata.propertyList())
    }
  }

  /// Uses exclusive mode without WAL, which would be slower for so large a change.
  func run() throws {
    let connection = try Connection(path: path, mode: .readWrite, options: .building)
    // W1 and W5 are measured in place, and both index titles.
    let size = try POSIXFileOperations().status(of: path)?.size ?? 0
    for pragma in HandWrittenSettings.inPlace(sortedBytes: size) { try connection.execute("PRAGMA \(pragma)") }
    for hop in hops {
      try connection.executeScript("BEGIN IMMEDIATE;\n" + hop.statements)
      try connection.execute("UPDATE Z_METADATA SET Z_PLIST = ?1", [.blob(hop.propertyList)])
      try connection.execute("COMMIT")
    }
    try connection.execute("PRAGMA locking_mode = NORMAL")
    _ = try connection.firstInteger("SELECT COUNT(*) FROM sqlite_schema")
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.close()
  }
}
