import HeirloomStore
import HeirloomVault

final class BuiltCandidate {
  /// The plan, with the counts that are known only after it was carried out.
  var plan: MigrationPlan
  let store: RunStore
  let path: String
  /// The written pages of a copy of the store; `nil` for a new file.
  private(set) var written: WrittenPages?
  /// True if the copy began as a clone that shares the store's blocks.
  let sharesBlocks: Bool
  /// The progress of the hop; `nil` if none is reported.
  let progress: HopProgress?

  init(
    _ plan: MigrationPlan, of store: RunStore, at path: String, written: WrittenPages?, sharesBlocks: Bool,
    progress: HopProgress?
  ) {
    self.plan = plan
    self.store = store
    self.path = path
    self.written = written
    self.sharesBlocks = sharesBlocks
    self.progress = progress
  }

  /// Records that code changed the candidate on a connection of its own, whose written pages are unknown.
  func takeChangesByCode(objects: [String: Int64]) {
    plan.takeChangesByCode(objects: objects)
    written = nil
  }

  /// Compares the candidate with the plan and the store.
  ///
  /// It throws ``MigrationError/proofFailed(findings:)``, or ``MigrationError/cancelled``.
  func prove(level: ProofLevel) throws(MigrationError) {
    let connection = store.connection
    defer { try? connection.removeInterruption() }
    do throws(MigrationError) {
      try Self.attached(connection, path) { () throws(MigrationError) in
        do throws(SQLiteError) {
          try progress?.watchStatements()
        } catch {
          throw MigrationError(error)
        }
        try StoreProof(candidate: self, level: level).run()
      }
      progress?.finish()
    } catch {
      // The findings of an interrupted proof don't count.
      guard progress?.isCancelled != true else { throw .cancelled }
      throw MigrationError.cause(of: error, in: connection, model: plan.source, configuration: plan.configuration)
    }
  }

  /// Runs a body while a candidate is attached.
  ///
  /// `written` records the pages that the body writes; `nil` for none.
  static func attached(
    _ connection: Connection, _ path: String, noting written: WrittenPages? = nil,
    _ body: () throws(MigrationError) -> Void
  ) throws(MigrationError) {
    do throws(SQLiteError) {
      try connection.attach(path: path, as: SchemaName.candidate, noting: written)
    } catch {
      throw MigrationError(error)
    }
    do throws(MigrationError) {
      try body()
    } catch {
      // The first error counts; a candidate that stays attached is closed with the connection.
      try? connection.detach(SchemaName.candidate)
      throw error
    }
    do throws(SQLiteError) {
      try connection.detach(SchemaName.candidate)
    } catch {
      throw MigrationError(error)
    }
  }
}
