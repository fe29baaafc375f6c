extension PersistentStore {
  /// Whether a deferred lightweight migration has left something in the store to be cleaned up, as of now.
  ///
  /// Another connection may have cleaned up since the store was opened; so it is read from the file.
  public var hasPendingDeferredMigration: Bool {
    ((try? StoreMetadata(connection: connection, database: database, path: path)) ?? metadata).hasDeferredMigration
  }

  /// Cleans up all that a deferred lightweight migration has left in the store.
  ///
  /// It does what ``finishDeferredLightweightMigrationTask()`` does, until nothing is left. Nothing left is no error.
  ///
  /// - Throws: ``DeferredMigrationError``; what was done before is done, and the rest can be done later.
  public func finishDeferredLightweightMigration() throws(DeferredMigrationError) {
    while try finishDeferredLightweightMigrationTask() {}
  }

  /// Cleans up one piece of what a deferred lightweight migration has left in the store.
  ///
  /// A piece is one transaction. Rows may be added, changed and read by this and other connections between two pieces, and read
  /// meanwhile. After a crash the store is as before the piece or as after it. What bounds a piece:
  /// - a table goes in pieces of at most 5,000 rows and 16 MB, and then as an empty table;
  /// - empty pages go back to the file system in pieces of 1,000;
  /// - an index is dropped, or made, as one piece: as long as SQLite takes for it;
  /// - a column goes as one piece, for which SQLite writes all rows of its table again, which takes as long as the table is large.
  ///   Other connections can read meanwhile and wait with writing; SQLite has no way to do it step by step.
  ///
  /// No previous version is kept: the migration that deferred the work kept one.
  ///
  /// - Returns: Whether more is left.
  /// - Throws: ``DeferredMigrationError``; the piece is not done then, in no part.
  public func finishDeferredLightweightMigrationTask() throws(DeferredMigrationError) -> Bool {
    try DeferredCleanUp(store: self).runPiece()
  }
}
