import HeirloomStore
import HeirloomVault

/// A candidate that was built by a plan, with what its proof needs.
final class BuiltCandidate {
  /// The plan, with what only carrying it out could tell.
  var plan: MigrationPlan
  /// The store that it was built from.
  let store: RunStore
  /// The candidate's file.
  let path: String
  /// The written pages of a copy of the store; `nil` for a new file.
  private(set) var written: WrittenPages?
  /// True if the copy began as the same blocks of the volume.
  let sharesBlocks: Bool
  /// The progress of the hop; `nil` if nobody counts.
  let progress: HopProgress?

  /// Creates the description of a candidate that was just built.
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

  /// Notes that code has changed the candidate by its own connection, which tells nothing of its writes.
  func takeChangesByCode(objects: [String: Int64]) {
    plan.takeChangesByCode(objects: objects)
    written = nil
  }

  /// Compares the candidate with the plan and the store.
  ///
  /// - Parameter level: How thoroughly.
  /// - Throws: ``MigrationError/proofFailed(findings:)``, or ``MigrationError/cancelled``.
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
      // The findings of a proof that was stopped don't count.
      guard progress?.isCancelled != true else { throw .cancelled }
      throw MigrationError.cause(of: error, in: connection, model: plan.source, configuration: plan.configuration)
    }
  }

  /// Runs a body while a candidate is attached.
  ///
  /// - Parameters:
  ///   - connection: The connection to the store.
  ///   - path: The candidate's file.
  ///   - written: The record of what the body writes; `nil` for none.
  ///   - body: The work.
  /// - Throws: What the body throws, or ``MigrationError`` when the file can't be attached or detached.
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
      // The first error counts; a candidate that stays attached goes with the connection.
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
