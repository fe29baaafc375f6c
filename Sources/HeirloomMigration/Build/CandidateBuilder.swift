import Foundation
import HeirloomStore

/// The connection holds the store as `main`, which is only read, and the new file as `candidate`:
/// empty or a copy of the store, depending on the plan.
final class CandidateBuilder {
  let connection: Connection
  let plan: MigrationPlan
  let progress: HopProgress?
  let runMappings: (RowRunParts) throws -> RowRunOutcome

  init(
    connection: Connection, plan: MigrationPlan, progress: HopProgress?,
    runMappings: @escaping (RowRunParts) throws -> RowRunOutcome
  ) {
    (self.connection, self.plan, self.progress) = (connection, plan, progress)
    self.runMappings = runMappings
  }

  /// The attached file is useless if this throws; `nil` means that all mappings ran as SQL.
  func run() throws(MigrationError) -> RowRunOutcome? {
    var outcome: RowRunOutcome?
    do {
      try prepareFile()
      try connection.execute("BEGIN")
      _ = connection.takeFunctionFailure()
      for step in plan.steps {
        for statement in step.statements {
          do throws(SQLiteError) {
            try connection.execute(statement.sql, statement.values)
          } catch {
            if let duplicates = duplicates(error, step) { throw MigrationError.notUnique(duplicates) }
            throw error
          }
          guard let expected = statement.expectedRows, connection.changes != expected else { continue }
          throw MigrationError.unexpectedRowCount(
            step: step.summary, expected: expected, written: connection.changes)
        }
        if step.kind == .runMappings, let parts = plan.rowRun { outcome = try runMappings(parts) }
        progress?.finishPiece()
      }
      try connection.execute("COMMIT")
      if plan.builder == .rebuild { try takeOverHeader() }
    } catch let error as MigrationError {
      rollBack()
      throw error
    } catch let error as EntityMappingFailure {
      rollBack()
      throw .mappingFailed(error)
    } catch let error as SQLiteError {
      rollBack()
      // SQLite reports only the message of an error that a Swift function threw.
      if let failure = connection.takeFunctionFailure() as? EntityMappingFailure { throw .mappingFailed(failure) }
      throw MigrationError(error)
    } catch {
      rollBack()
      throw .database(reason: "\(error)", coreDataCode: 134110)
    }
    return outcome
  }

  private func duplicates(_ error: SQLiteError, _ step: MigrationStep) -> DuplicateObjects? {
    guard step.kind == .createIndex, error.isConstraint,
      let index = PhysicalSchema(model: plan.destination, configuration: plan.configuration).indexes.first(where: {
        $0.name == step.subject
      })
    else { return nil }
    return (try? DuplicateObjects(violating: index, connection: connection)) ?? nil
  }

  private func rollBack() {
    if connection.isInTransaction { try? connection.execute("ROLLBACK") }
    // The connection still holds the store.
    try? connection.execute("PRAGMA writable_schema = OFF")
  }

  /// These must be set before the first table is created.
  private func prepareFile() throws(SQLiteError) {
    let candidate = quote(SchemaName.candidate)
    // The candidate is discarded on any error, so it needs no journal and is synced once, at the end. These come first:
    // setting the page size or auto-vacuum writes the first page, and would sync it with its journal.
    try connection.execute("PRAGMA \(candidate).journal_mode = OFF")
    try connection.execute("PRAGMA \(candidate).synchronous = OFF")
    // Rows of the app's own tables are copied unchanged; checking them is up to the app.
    try connection.execute("PRAGMA ignore_check_constraints = ON")
    if plan.builder == .rebuild {
      for pragma in ["page_size", "auto_vacuum"] {
        guard let value = try connection.firstInteger("PRAGMA \(quote(SchemaName.store)).\(pragma)") else { continue }
        try connection.execute("PRAGMA \(candidate).\(pragma) = \(value)")
      }
    }
    // Rows and index entries are written in order: a larger cache takes memory and saves no time. To sort index
    // entries, SQLite uses as much memory as the cache of the first database.
    try connection.execute("PRAGMA \(quote(SchemaName.store)).cache_size = -1024")
    try connection.execute("PRAGMA \(candidate).cache_size = -2048")
    // A second thread sorts the entries of large indexes: a fifth less time with a million rows, but more work in
    // total. Below this size it saves nothing (`PRAGMA threads` was measured from 10 to 360 MB).
    let store = quote(SchemaName.store)
    let pages = try connection.firstInteger("PRAGMA \(store).page_count") ?? 0
    let bytes = try (connection.firstInteger("PRAGMA \(store).page_size") ?? 0).multipliedReportingOverflow(by: pages)
    if bytes.overflow || bytes.partialValue >= 100_000_000, ProcessInfo.processInfo.activeProcessorCount > 1 {
      try connection.execute("PRAGMA threads = 1")
    }
  }

  /// An app may store these numbers in the file's header.
  private func takeOverHeader() throws(SQLiteError) {
    for pragma in ["user_version", "application_id"] {
      let value = try connection.firstInteger("PRAGMA \(quote(SchemaName.store)).\(pragma)") ?? 0
      try connection.execute("PRAGMA \(quote(SchemaName.candidate)).\(pragma) = \(value)")
    }
  }
}
