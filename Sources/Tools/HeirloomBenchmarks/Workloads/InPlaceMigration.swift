import Heirloom

/// Changes the store itself, as frameworks do it, and leaves no previous version.
///
/// Each hop is a synced transaction; between two the store has a version that the app shipped.
struct InPlaceMigration {
  struct Step {
    /// Without those for the metadata.
    let statements: String
    /// The metadata of the hop's version, a constant of the migration.
    let propertyList: [UInt8]
  }

  let path: String
  let steps: [Step]

  /// Uses exclusive mode without WAL, which would be slower for so large a change.
  func run() throws {
    let connection = try Connection(path: path, mode: .readWrite, options: .building)
    // W1 and W5 are measured in place, and both index titles.
    let size = try POSIXFileOperations().status(of: path)?.size ?? 0
    for pragma in HandWrittenSettings.inPlace(sortedBytes: size) { try connection.execute("PRAGMA \(pragma)") }
    for step in steps {
      try connection.executeScript("BEGIN IMMEDIATE;\n" + step.statements)
      try connection.execute("UPDATE Z_METADATA SET Z_PLIST = ?1", [.blob(step.propertyList)])
      try connection.execute("COMMIT")
    }
    try connection.execute("PRAGMA locking_mode = NORMAL")
    _ = try connection.firstInteger("SELECT COUNT(*) FROM sqlite_schema")
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.close()
  }
}
