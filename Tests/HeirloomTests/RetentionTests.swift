import Foundation
import Heirloom
import HeirloomMigration
import TestSupport
import Testing

/// Previous versions, which are removed only when a later launch has found the new store working.
struct RetentionTests {
  private struct Scene {
    let directory: TemporaryDirectory
    let models: [ManagedObjectModel]
    var store: URL { directory.file("Journal.sqlite") }

    init() throws {
      directory = try TemporaryDirectory()
      models = try [["a"], ["a", "b"], ["a", "b", "c"]].map { names in
        try ManagedObjectModel(entities: [Make.entity("Item", names.map { Make.attribute($0) })])
      }
      try StoreGenerator.makeStore(at: store, model: models[0], objects: 5, seed: 1)
      _ = try assistant(1).migrateStore()
    }

    func assistant(_ index: Int, files: any FileOperations = POSIXFileOperations()) -> MigrationAssistant {
      MigrationAssistant(
        store,
        ModelHistory(
          current: models[index], name: "\(index)",
          earlier: models[..<index].enumerated().map { (name: "\($0.offset)", model: $0.element) }), files: files)
    }

    /// The oldest are first.
    func kept() throws -> [Int?] {
      try assistant(2).archive.previousVersions().reversed().map { version in
        models.firstIndex { $0.versionChecksum() == version.versionChecksum }
      }
    }
  }

  @Test func `wherever a migration dies, what was kept before it stays until a later launch has nothing to do`() throws
  {
    var (settled, undone, complete) = (0, 0, 0)
    var count = 10
    while complete == 0 {
      let scene = try Scene()
      #expect(try scene.kept() == [0])
      _ = try? scene.assistant(2, files: StoppingFiles(after: count)).migrateStore()
      #expect(try scene.kept().first == 0, "after \(count) calls")
      let status = try scene.assistant(2).status()
      let isUnsettled = status == .inProgress
      let outcome = try scene.assistant(2).migrateStore()
      switch outcome {
      case .migrated: undone += 1
      case .upToDate where isUnsettled: settled += 1
      default: complete += 1
      }
      // The launch that recovers or migrates is not the one that finds all well.
      #expect(try scene.kept() == (isUnsettled || status == .tooOld ? [0, 1] : [1]), "after \(count) calls")
      guard case .upToDate = try scene.assistant(2).migrateStore() else {
        Issue.record("expected nothing to do after \(count) calls")
        return
      }
      #expect(try scene.kept() == [1], "after \(count) calls")
      count += LongTests.areOn ? 1 : 4
      try #require(count < 1000)
    }
    print("migrations that died: \(undone) undone, \(settled) settled")
    #expect(undone > 3 && settled > 0)
  }

  @Test func `wherever pruning dies, the newest version is whole, and the next launch prunes the rest`() throws {
    var count = 3
    var isComplete = false
    while !isComplete {
      let scene = try Scene()
      _ = try scene.assistant(2).migrateStore()
      #expect(try scene.kept() == [0, 1])
      _ = try? scene.assistant(2, files: StoppingFiles(after: count)).migrateStore()
      isComplete = try scene.kept() == [1]
      let newest = try #require(try scene.assistant(2).archive.previousVersions().first)
      #expect(try newest.objectCount() == 5)
      #expect(try StoreContents(of: newest.storeURL, model: scene.models[1]).count == 5)
      _ = try scene.assistant(2).migrateStore()
      #expect(try scene.kept() == [1])
      count += LongTests.areOn ? 1 : 7
      try #require(count < 1000)
    }
  }
}
