extension PersistentStore {
  /// True while something that a deferred lightweight migration left in the store is to be cleaned up.
  ///
  /// Another connection may have cleaned up since the store was opened, so this is read from the file.
  public var hasPendingDeferredMigration: Bool {
    ((try? StoreMetadata(connection: connection, database: database, path: path)) ?? metadata).hasDeferredMigration
  }

  /// Cleans up everything that a deferred lightweight migration has left in the store.
  ///
  /// It does what ``finishDeferredLightweightMigrationTask()`` does, until nothing is left. Nothing left is no error.
  ///
  /// - Throws: ``DeferredMigrationError``; what was done before stays done, and the rest can be done later.
  public func finishDeferredLightweightMigration() throws(DeferredMigrationError) {
    while try finishDeferredLightweightMigrationTask() {}
  }

  /// Cleans up one piece of what a deferred lightweight migration has left in the store.
  ///
  /// A piece is one transaction. Between two pieces, this and other connections may add, change and read rows; during a
  /// piece, they may read. After a crash the store is as before the piece or as after it. What bounds a piece:
  /// - a table goes in pieces of at most 5,000 rows and about 16 MB, and then as an empty table;
  /// - empty pages go back to the file system in pieces of 1,000;
  /// - an index is dropped, or made, as one piece: as long as SQLite takes for it;
  /// - a column goes as one piece, for which SQLite writes all rows of its table again: as long as the table is large.
  ///   Other connections can read meanwhile and wait with writing; SQLite has no way to do it step by step.
  ///
  /// No previous version is kept: the migration that deferred the work kept one.
  ///
  /// - Returns: True if more is left.
  /// - Throws: ``DeferredMigrationError``; then no part of the piece is done.
  public func finishDeferredLightweightMigrationTask() throws(DeferredMigrationError) -> Bool {
    try DeferredCleanUp(store: self).runPiece()
  }
}
