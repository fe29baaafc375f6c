import HeirloomFormats
import HeirloomModel
import HeirloomStore

/// The thoroughness of a candidate's proof before it takes the store's place.
public enum ProofLevel: String, Hashable, Sendable {
  /// A proof by `quick_check`, row counts, sums of rewritten columns, schema, hashes and keys.
  case standard
  /// The same with `integrity_check`, which also compares indexes with their tables and takes ten times as long.
  case full
}

/// The proof that a candidate is what the plan promised.
struct StoreProof {
  let connection: Connection
  /// The candidate's file, for messages.
  let candidatePath: String
  let plan: MigrationPlan
  let level: ProofLevel

  /// Compares the attached candidate with the plan and the store.
  ///
  /// - Throws: ``MigrationError/proofFailed(findings:)`` with all findings.
  func run() throws(MigrationError) {
    var findings: [String] = []
    do {
      let pragma = level == .full ? "integrity_check" : "quick_check"
      let structure = try connection.rows("PRAGMA \(quote(SchemaName.candidate)).\(pragma)").compactMap { $0[0].text }
      if structure != ["ok"] { findings += structure.prefix(5).map { "\(pragma): \($0)" } }
      for check in plan.checks {
        if let finding = try perform(check) { findings.append(finding) }
      }
      let actual = try ActualSchema(of: connection, database: SchemaName.candidate)
      let expected = PhysicalSchema(
        model: plan.destination, configuration: plan.configuration, actual: actual)
      findings += actual.drift(from: expected).map { "the schema differs from the model: \($0)" }
      // Exactly what the plan defers is there and listed; anything else outside the model is a difference.
      let left = actual.pending(under: expected)
      if left != plan.deferred {
        findings.append(
          "what is left for later is not what the plan says: \(left.items) instead of \(plan.deferred.items)")
      }
      let metadata = try StoreMetadata(
        connection: connection, database: SchemaName.candidate, path: candidatePath)
      if metadata.versionHashes != plan.destination.versionHashes() {
        findings.append("the metadata's version hashes are not those of the destination model")
      }
    } catch let error as SQLiteError {
      throw MigrationError(error)
    } catch {
      findings.append("\(error)")
    }
    guard findings.isEmpty else { throw .proofFailed(findings: findings) }
  }

  private func perform(_ check: ProofCheck) throws(SQLiteError) -> String? {
    switch check {
    case .rowCount(let table, let rows):
      let found = try connection.firstInteger(
        "SELECT COUNT(*) FROM \(quote(SchemaName.candidate)).\(quote(table))")
      return found == rows ? nil : "\(table) has \(found ?? 0) rows instead of \(rows)"
    case .sums(let table, let expected, let found):
      let wanted = try connection.rows(expected)
      return try connection.rows(found) == wanted ? nil : "the rewritten values of \(table) differ from the plan"
    case .unchanged(let subject, _, let found):
      let count = try connection.firstInteger(found) ?? 0
      return count == 0 ? nil : "\(subject): \(count)"
    case .noMore(let subject, let expected, let found):
      let count = try connection.firstInteger(found) ?? 0
      guard count > 0 else { return nil }
      let before = try connection.firstInteger(expected) ?? 0
      return count <= before ? nil : "\(subject): \(count) where there were \(before)"
    }
  }
}
