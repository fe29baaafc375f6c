import HeirloomStore
import HeirloomVault

final class BuiltCandidate {
  /// The plan, with the counts that are known only after it was carried out.
  var plan: MigrationPlan
  let store: RunStore
  let path: String
  /// `nil` for a new file, and once code has changed the candidate.
  private(set) var written: WrittenPages?
  /// True if the copy began as a clone that shares the store's blocks.
  let sharesBlocks: Bool
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

  /// Code wrote on a connection of its own, so the written pages are unknown.
  func takeChangesByCode(objects: [String: Int64]) {
    plan.takeChangesByCode(objects: objects)
    written = nil
  }

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

  /// `written` records the pages that the body writes.
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
