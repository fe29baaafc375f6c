import Heirloom

/// A migration in the store itself, as frameworks do it: the previous version is gone afterwards.
///
/// Each hop is a transaction and is synced. Between two of them the store is of a version that the app once shipped.
struct InPlaceMigration {
  /// A hop of the migration, in one transaction.
  struct Step {
    /// The statements, without those of the metadata.
    let statements: String
    /// The metadata of its version: a constant of the migration.
    let propertyList: [UInt8]
  }

  /// The store's file.
  let path: String
  /// The hops, in order.
  let steps: [Step]

  /// Migrates the store out of WAL mode, which is slower for so much at once, and lets nobody else in.
  ///
  /// - Throws: `SQLiteError`.
  func run() throws {
    let connection = try Connection(path: path, mode: .readWrite, options: .building)
    // W1 and W5 are measured in place, and both make an index of titles.
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
