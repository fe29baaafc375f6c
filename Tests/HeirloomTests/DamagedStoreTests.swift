import Foundation
import Heirloom
import HeirloomSupport
import TestSupport
import Testing

/// Stores that something other than their app wrote to: a clear error and an unchanged store, or the right migration.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct DamagedStoreTests {
  private static let history = Result {
    let path = try #require(CorpusPath.all.first { $0.store == StoreDamage.store })
    return path.history(to: path.last)
  }

  private static func isRefused(_ damage: StoreDamage) -> Bool {
    switch damage.kind {
    case .missingHashes, .differentHash, .invalidMetadata, .severalMetadata, .missingMetadata, .missingTable,
      .missingColumn:
      true
    // The table of users can hold nothing else, that of messages has seven entities.
    case .unknownEntityNumber: damage.entity == "Message"
    default: false
    }
  }

  private static let expected = Result {
    try Corpus.withCopy(of: StoreDamage.store) { url in
      _ = try assistant(for: url).migrateStore()
      return try StoreContents(of: url, model: history.get().current)
    }
  }

  private static func assistant(for url: URL) throws -> MigrationAssistant {
    MigrationAssistant(url, try history.get())
  }

  /// Only the first damage of each kind and severity is tried: a migration of this model is slow.
  private static func firsts(_ damages: [StoreDamage]) -> [StoreDamage] {
    var seen: Set<String> = []
    return damages.filter { seen.insert("\($0.kind) \($0.severity)").inserted }
  }

  @Test(arguments: StoreDamage.all.filter(isRefused))
  func `what a migration can't be right for is refused, and the store stays as it is`(damage: StoreDamage) throws {
    try damage.withStore { url in
      let bytes = try Data(contentsOf: url)
      let rows = try allRows(of: url)
      var message = ""
      do {
        _ = try Self.assistant(for: url).migrateStore()
        Issue.record("expected an error")
      } catch {
        message = "\(error)"
      }
      #expect(message.count > 40 && message.hasSuffix("."), "\(message)")
      #expect(!message.contains("integer(") && !message.contains("SELECT"), "\(message)")
      #expect(try Data(contentsOf: url) == bytes)
      #expect(try allRows(of: url) == rows)
      let kept = try? FileManager.default.contentsOfDirectory(atPath: url.path + ".heirloom/previous")
      #expect((kept ?? []) == [])
    }
  }

  @Test(arguments: firsts(StoreDamage.ofSchema.filter { !isRefused($0) }))
  func `what the model alone decides is migrated as if nothing had been done`(damage: StoreDamage) throws {
    try damage.withStore { url in
      let plan = try migrateAsExpected(url)
      if damage.kind == .differentColumnType {
        // The plan warns of values that SQLite may have converted.
        #expect(plan.warnings.contains { $0.contains("ZUSER.ZNAME") }, "\(plan.warnings)")
      }
      #expect(try faults(of: url) == [])
    }
  }

  @Test func `what does no harm does none to a migration`() throws {
    try Corpus.withCopy(of: StoreDamage.store) { url in
      // A missing index can't also be a different one, and the number of saves is part of the comparison.
      for damage in StoreDamage.harmless where ![.missingIndex, .invalidLockCount].contains(damage.kind) {
        try damage.apply(to: url)
      }
      let plan = try migrateAsExpected(url)
      #expect(plan.warnings.contains { $0.contains("ZUSER.ZNOTE") }, "\(plan.warnings)")
      // Metadata, columns and tables that no model knows, and rows that name nobody before or after travel along.
      #expect(try faults(of: url) == [.oddMetadata, .unknownEntityReference, .extraTable, .extraColumn])
    }
  }

  private func migrateAsExpected(_ url: URL) throws -> MigrationPlan {
    let report = try Self.assistant(for: url).migrate()
    #expect(try StoreContents(of: url, model: report.plan.destination) == Self.expected.get())
    return report.plan
  }

  @Test func `rows that no app wrote are migrated as they are, without anything new that is wrong`() throws {
    try Corpus.withCopy(of: StoreDamage.store) { url in
      for damage in StoreDamage.ofRows where !Self.isRefused(damage) { try damage.apply(to: url) }
      let before = try faults(of: url)
      #expect(before.count >= 9)
      let report = try Self.assistant(for: url).migrate()
      #expect(try faults(of: url).isSubset(of: before))
      let expected = try Self.expected.get().objects.values.reduce(0) { $0 + $1.count }
      let found = try StoreContents(of: url, model: report.plan.destination).objects.values
      // One object is of an abstract entity, and so of none that is checked.
      #expect(found.reduce(0) { $0 + $1.count } >= expected - 1)
    }
  }

  private func faults(of url: URL) throws -> Set<StoreFinding.Kind> {
    Set(try StoreVerification.report(onStoreAt: url.path).findings.filter { $0.severity < .note }.map(\.kind))
  }

  private func allRows(of url: URL) throws -> [String: [[SQLiteValue]]] {
    try StoreReading.withQuietConnection(toStoreAt: url.path) { connection in
      Result { () throws(SQLiteError) in
        var rows: [String: [[SQLiteValue]]] = [:]
        for table in try ActualSchema(of: connection).tables {
          rows[table.name] = try connection.rows("SELECT * FROM \(quote(table.name)) ORDER BY rowid")
        }
        return rows
      }
    }.get()
  }
}
