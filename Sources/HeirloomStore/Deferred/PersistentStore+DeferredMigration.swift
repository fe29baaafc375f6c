extension PersistentStore {
  /// True while the clean-up of a deferred lightweight migration is unfinished.
  ///
  /// It is read from the file, because another connection may have cleaned up since the store was opened.
  public var hasPendingDeferredMigration: Bool {
    ((try? StoreMetadata(connection: connection, database: database, path: path)) ?? metadata).hasDeferredMigration
  }

  /// Finishes the clean-up of a deferred lightweight migration.
  ///
  /// It calls ``finishDeferredLightweightMigrationTask()`` until nothing is left. It is no error if nothing is left.
  ///
  /// - Throws: ``DeferredMigrationError``; what was done before stays done, and the rest can be done later.
  public func finishDeferredLightweightMigration() throws(DeferredMigrationError) {
    while try finishDeferredLightweightMigrationTask() {}
  }

  /// Runs one piece of the clean-up of a deferred lightweight migration.
  ///
  /// A piece is one transaction. Between two pieces, this and other connections may add, change and read rows; during a
  /// piece, they may read. After a crash the store is as it was before the piece or after it. The pieces are:
  /// - for a removed table, at most 5,000 rows or about 16 MB each, then the empty table;
  /// - for empty pages, 1,000 each, which are released to the file system;
  /// - for an index, one piece that drops or creates it;
  /// - for a removed column, one piece, in which SQLite rewrites all rows of its table: the larger the table, the
  ///   longer it takes. Other connections can read meanwhile but must wait to write; SQLite can't do it in steps.
  ///
  /// No previous version is kept: the migration that deferred the work kept one.
  ///
  /// - Returns: True if more is left.
  /// - Throws: ``DeferredMigrationError``; then no part of the piece is done.
  public func finishDeferredLightweightMigrationTask() throws(DeferredMigrationError) -> Bool {
    try DeferredCleanUp(store: self).runPiece()
  }
}
