import HeirloomFormats
import HeirloomModel
import HeirloomStore

/// The thoroughness of a candidate's proof before it replaces the store.
public enum ProofLevel: String, Hashable, Sendable {
  /// A proof of everything that was written: pages, row counts, sums of rewritten columns, schema, hashes and keys.
  ///
  /// In a copy of the store, unwritten pages are the store's own, byte for byte. In any other candidate, `quick_check`
  /// reads all pages.
  case standard
  /// A proof with `integrity_check`, which also compares indexes with their tables and takes ten times as long.
  case full
}

final class StoreProof {
  let candidate: BuiltCandidate
  let level: ProofLevel

  init(candidate: BuiltCandidate, level: ProofLevel) {
    (self.candidate, self.level) = (candidate, level)
  }

  private var connection: Connection { candidate.store.connection }
  private var plan: MigrationPlan { candidate.plan }

  func run() throws(MigrationError) {
    var findings: [String] = []
    do {
      try connection.registerRowSum()
      let pages = try provePages(&findings)
      candidate.progress?.finishPiece()
      for check in plan.checks {
        if !isProven(check, by: pages), let finding = try perform(check, pages) { findings.append(finding) }
        candidate.progress?.finishPiece()
      }
      let actual = try ActualSchema(of: connection, database: SchemaName.candidate)
      let expected = PhysicalSchema(
        model: plan.destination, configuration: plan.configuration, actual: actual
      ).adding(plan.unknownColumns)
      findings += actual.drift(from: expected).map { "the schema differs from the model: \($0)" }
      // Exactly the deferred clean-up is there and listed; anything else outside the model is a difference.
      let left = actual.pending(under: expected)
      if left != plan.deferred {
        findings.append(
          "the deferred clean-up differs from the plan: \(left.items) instead of \(plan.deferred.items)")
      }
      let metadata = try StoreMetadata(
        connection: connection, database: SchemaName.candidate, path: candidate.path)
      if metadata.versionHashes != plan.destination.versionHashes() {
        findings.append("the metadata's version hashes are not those of the destination model")
      }
      let before = try StoreMetadata(connection: connection, database: SchemaName.store, path: connection.path)
      if metadata.identifier != before.identifier || metadata.otherValues != before.otherValues {
        findings.append("the identifier or the app's values in the metadata are not those of the store")
      }
    } catch let error as SQLiteError where findings.isEmpty {
      throw MigrationError(error)
    } catch {
      // After a finding, SQLite may report the same fault as an error.
      findings.append("\(error)")
    }
    guard findings.isEmpty else { throw .proofFailed(findings: findings) }
  }

  /// `nil` if SQLite checked all pages instead, or there is a fault.
  private func provePages(_ findings: inout [String]) throws -> PageProof? {
    var proof: PageProof?
    do {
      proof = try PageProof(of: candidate)
      try proof?.run(sharing: candidate.sharesBlocks ? candidate.store.sharedRanges(candidate.path) : [])
    } catch let fault as PageFault {
      findings.append("the pages of the candidate: \(fault)")
      return nil
    }
    guard proof == nil || level == .full else { return proof }
    candidate.progress?.expectPages(byteCount: 0)
    let pragma = level == .full ? "integrity_check" : "quick_check"
    let structure = try connection.rows("PRAGMA \(quote(SchemaName.candidate)).\(pragma)").compactMap { $0[0].text }
    if structure != ["ok"] { findings += structure.prefix(5).map { "\(pragma): \($0)" } }
    return level == .full ? nil : proof
  }

  private func isProven(_ check: ProofCheck, by pages: PageProof?) -> Bool {
    switch check {
    case .rowCount(let table, _), .strangers(let table, _): pages?.unchanged.contains(table) ?? false
    case .sums, .rowSum, .balance, .unchanged, .noMore: false
    }
  }

  private static func differing(_ table: String) -> String {
    "the values of \(table) differ from the plan"
  }

  private func perform(_ check: ProofCheck, _ pages: PageProof?) throws(SQLiteError) -> String? {
    switch check {
    case .rowCount(let table, let rows):
      // A table that was read whole was counted at the same time.
      let known = pages?.contents[table]?.count
      let found =
        known != nil
        ? known : try connection.firstInteger("SELECT COUNT(*) FROM \(quote(SchemaName.candidate)).\(quote(table))")
      return found == rows ? nil : "\(table) has \(found ?? 0) rows instead of \(rows)"
    case .sums(let table, let expected, let found):
      let wanted = try connection.rows(expected)
      return try connection.rows(found) == wanted ? nil : Self.differing(table)
    case .rowSum(let table, let expected, let found, let columns):
      let wanted = try connection.rows(expected)
      if columns != nil, let known = pages?.sum(of: table) { return [known] == wanted ? nil : Self.differing(table) }
      return try connection.rows(found) == wanted ? nil : Self.differing(table)
    case .balance(_, let lines, let expected, let found):
      let (wanted, there) = (try connection.rows(expected).first ?? [], try connection.rows(found).first ?? [])
      let open = zip(lines, zip(wanted, there)).first { $1.0 != $1.1 }
      return open.map { line, counts in
        "the store has \(counts.0.integer ?? 0) values of \(line), but the new one has \(counts.1.integer ?? 0)"
      }
    case .unchanged(let subject, _, let found):
      let count = try connection.firstInteger(found) ?? 0
      return count == 0 ? nil : "\(subject): \(count)"
    case .strangers(let table, let found):
      let count = try connection.firstInteger(found) ?? 0
      return count == 0 ? nil : "rows of \(table) that belong to another entity: \(count)"
    case .noMore(let subject, let expected, let found):
      let count = try connection.firstInteger(found) ?? 0
      guard count > 0 else { return nil }
      let before = try connection.firstInteger(expected) ?? 0
      return count <= before ? nil : "\(subject): \(count) where there were \(before)"
    }
  }
}
