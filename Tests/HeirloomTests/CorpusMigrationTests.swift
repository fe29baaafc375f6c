import Foundation
import Heirloom
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CorpusMigrationTests {
  /// A migration that Core Data itself made: the store before, the model after, the store after.
  struct Pair: CustomTestStringConvertible, Sendable {
    let project: String
    let before: String
    let version: String
    let after: String

    var testDescription: String { "\(before) to \(version)" }

    static let all = [
      wire("30", "31"), wire("66", "67"), wire("67", "68"), wire("79", "80"), wire("95", "96"), wire("100", "101"),
    ]

    static func wire(_ before: String, _ after: String) -> Pair {
      Pair(
        project: "wire-ios-data-model", before: "store2-\(before)-0.wiredatabase", version: "zmessaging2.\(after).0",
        after: "store2-\(after)-0.wiredatabase")
    }
  }

  @Test(arguments: Pair.all)
  func `a migrated store holds what Core Data's own migration left`(pair: Pair) throws {
    try Corpus.withCopy(of: "\(pair.project)/stores/\(pair.before)") { store in try check(pair, store) }
  }

  private func check(_ pair: Pair, _ store: URL) throws {
    let history = try ModelHistory(contentsOf: Corpus.modelURL(pair.version, in: pair.project))
    let assistant = MigrationAssistant(
      storeURL: store, modelController: ModelController(storeURL: store), history: history)
    guard case .migrated(let report) = try assistant.migrateStore() else {
      Issue.record("expected a migration")
      return
    }
    let expected = try Corpus.withCopy(of: "\(pair.project)/stores/\(pair.after)") {
      try StoreContents(of: $0, model: history.current)
    }
    let found = try StoreContents(of: store, model: history.current)
    #expect(found.count > 0)
    for (entity, objects) in expected.objects {
      #expect(found.objects[entity] == objects, "\(entity)")
    }
    #expect(report.plan.rows.allSatisfy { $0.after == nil || $0.before == nil || $0.before == $0.after })

    // A second run does nothing, and the retained version holds every row of the original.
    guard case .upToDate = try assistant.migrateStore() else {
      Issue.record("expected nothing to do")
      return
    }
    let original = try Corpus.withCopy(of: "\(pair.project)/stores/\(pair.before)") {
      try StoreContents(of: $0, model: report.plan.source)
    }
    let kept = try StoreContents(of: report.retained.storeURL, model: report.plan.source)
    #expect(kept == original)
  }
}
