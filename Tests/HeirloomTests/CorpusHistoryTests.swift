import Foundation
import Heirloom
import HeirloomFormats
import TestSupport
import Testing

/// Every store of the corpus, migrated to the next and to the last version of its own history.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CorpusHistoryTests {
  private static let projects = Set(Corpus.storePaths.map { String($0.prefix { $0 != "/" }) }).sorted()

  @Test(arguments: projects)
  func `stores reach later versions of their history with every object`(project: String) throws {
    let jumps = LongTests.selection(of: try Self.jumps(of: project), every: 6)
    for jump in jumps { try migrate(jump.store, to: jump) }
  }

  /// Returns every store of the corpus with the next and the last version of its history.
  static func jumps() throws -> [BuilderCorpusTests.Jump] {
    try projects.flatMap { try jumps(of: $0) }
  }

  private static func jumps(of project: String) throws -> [BuilderCorpusTests.Jump] {
    var jumps: [BuilderCorpusTests.Jump] = []
    for versions in try histories(of: project) {
      for path in Corpus.storePaths where path.hasPrefix(project + "/") {
        let stored = try Corpus.withCopy(of: path) { try StoreMetadata(contentsOf: $0).versionHashes }
        // A version may have been shipped again under a later name.
        guard let position = versions.lastIndex(where: { $0.hashes == stored }) else { continue }
        let later = versions.indices.filter { $0 > position && versions[$0].hashes != stored }
        for index in Set([later.first, later.last].compactMap { $0 }).sorted() {
          let version = versions[index]
          jumps.append(BuilderCorpusTests.Jump(store: path, version: version.name, path: version.path))
        }
      }
    }
    return jumps
  }

  /// Returns the bundles of a project, only their newest snapshot in the repository.
  private static func histories(of project: String) throws -> [[Corpus.Version]] {
    let bundles = Set(
      Corpus.modelPaths.filter { $0.hasPrefix(project + "/models/") && !$0.contains("@") }.map {
        ($0 as NSString).deletingLastPathComponent
      })
    return try bundles.sorted().filter { $0.hasSuffix(".xcdatamodeld") }.map {
      try Corpus.versions(of: $0)
    }
  }

  private func migrate(_ path: String, to jump: BuilderCorpusTests.Jump) throws {
    try Corpus.withCopy(of: path) { store in try migrate(store, path, to: jump) }
  }

  private func migrate(_ store: URL, _ path: String, to jump: BuilderCorpusTests.Jump) throws {
    let history = try jump.history()
    let assistant = MigrationAssistant(
      storeURL: store, modelController: ModelController(storeURL: store), history: history,
      configuration: .withBothProofs)
    let plan = try #require(try assistant.plan())
    let before = try Corpus.withCopy(of: path) { try StoreContents(of: $0, model: plan.source) }
    guard case .migrated(let report) = try assistant.migrateStore() else {
      Issue.record("\(path) to \(jump.version): expected a migration")
      return
    }
    let after = try StoreContents(of: store, model: history.current)
    let differences = KeptObjects.differences(
      before: before, source: plan.source, after: after, destination: history.current, mapping: plan.mapping)
    #expect(differences.isEmpty, "\(path) to \(jump.version)")
    let kept = try StoreContents(of: report.previousVersion.storeURL, model: plan.source)
    #expect(kept == before, "\(path) to \(jump.version): the previous version")
  }

  /// Adds one entity, as any app's next version may, whose name sorts first and so renumbers all others.
  @Test(arguments: LongTests.selection(of: Corpus.storePaths, every: 3))
  func `a new entity that renumbers all others leaves every object and every table of others as it was`(
    path: String
  ) throws {
    try Corpus.withCopy(of: path) { store in
      // One store of 2010 has no copy of its model.
      guard let source = try StoreModelCache.model(inStoreAt: store) else { return }
      var added = EntityDescription(name: "AAAdded")
      added.attributes = [AttributeDescription(name: "name", type: .string)]
      let destination = try ManagedObjectModel(entities: source.entities + [added])
      let before = try StoreContents(of: store, model: source)
      let others = try OtherTables(of: store, model: source, movingEntitiesBy: 1)
      let assistant = MigrationAssistant(
        storeURL: store, modelController: ModelController(storeURL: store),
        history: ModelHistory(current: destination, earlier: [("before", source)]),
        configuration: .withBothProofs)
      guard case .migrated(let report) = try assistant.migrateStore() else {
        Issue.record("expected a migration")
        return
      }
      let after = try StoreContents(of: store, model: destination)
      let differences = KeptObjects.differences(
        before: before, source: source, after: after, destination: destination, mapping: report.plan.mapping)
      #expect(differences.isEmpty)
      #expect(report.plan.losses.isEmpty)
      #expect(before.objects.allSatisfy { after.objects[$0.key] == $0.value })
      #expect(try OtherTables(of: store, model: destination) == others)
      #expect(try StoreModelCache.model(inStoreAt: store)?.versionHashes() == destination.versionHashes())
    }
  }
}
