import Foundation
import Heirloom
import TestSupport
import Testing

/// Deferred migrations of random and real stores, each compared with the same migration at once.
struct DeferredChainTests {
  private static let parts = RandomSeeds.parts(quick: 3, long: 400)

  @Test(arguments: parts)
  func `random changes there and back are the same, whether clean-up waits or not`(seeds: [UInt64]) throws {
    for seed in seeds {
      let example = RandomCase(seed: seed)
      let directory = try TemporaryDirectory()
      let (source, destination) = (try example.source.model(), try example.destination.model())
      // Whatever comes back has the names of things that may still be there.
      let models = [source, destination, source]
      let atOnce = directory.file("AtOnce.sqlite")
      var generator = StoreGenerator(objectsPerEntity: example.objects, seed: seed)
      generator.isVaried = true
      try generator.makeStore(at: atOnce, model: source)
      try example.source.deriveValues(inStoreAt: atOnce)
      let later = directory.file("Later.sqlite")
      try FileManager.default.copyItem(at: atOnce, to: later)
      let expected = try Self.outcomes(atOnce, models, defers: false)
      let found = try Self.outcomes(later, models, defers: true)
      #expect(found == expected, "HEIRLOOM_SEED=\(seed) \(example.edits)")
    }
  }

  /// The outcome of each hop.
  private enum Outcome: Equatable {
    case contents(StoreContents)
    case nothing
    case refusal(String)
  }

  private static func outcomes(_ url: URL, _ models: [ManagedObjectModel], defers: Bool) throws -> [Outcome] {
    try zip(models, models.dropFirst()).map { source, destination in
      // Once the first hop was refused, the store is not of the second hop's model.
      guard try StoreMetadata(contentsOf: url).isCompatible(with: source) else { return .nothing }
      do {
        let plan = try DeferredMigrationTests.migrate(url, from: source, to: destination, defers: defers)
        if defers { try DeferredMigrationTests.checkPending(plan?.deferred, in: url, model: destination) }
        return .contents(try StoreContents(of: url, model: destination))
      } catch let error as MigrationAssistantError {
        return .refusal(error.code)
      }
    }
  }
}

/// The same with real stores.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct DeferredCorpusTests {
  private static let jumps = LongTests.areOn ? BuilderCorpusTests.jumps : Array(BuilderCorpusTests.jumps.prefix(2))

  @Test(arguments: jumps)
  func `a real store is the same, whether clean-up waits or not`(jump: BuilderCorpusTests.Jump) throws {
    let directory = try TemporaryDirectory()
    let history = try ModelHistory(contentsOf: URL(fileURLWithPath: jump.path))
    var urls: [URL] = []
    for defers in [false, true] {
      let copy = try Corpus.copyStore(jump.store, to: directory)
      let folder = directory.file("\(defers)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let url = folder.appendingPathComponent(copy.lastPathComponent)
      for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: copy.path + suffix) {
        try FileManager.default.moveItem(atPath: copy.path + suffix, toPath: url.path + suffix)
      }
      var configuration = MigrationAssistant.Configuration()
      configuration.defersLightweightMigration = defers
      let assistant = MigrationAssistant(
        storeURL: url, modelController: ModelController(storeURL: url), history: history, configuration: configuration,
        files: POSIXFileOperations(), builder: .always(.cloneAndAlter))
      guard case .migrated(let report) = try assistant.migrateStore() else {
        Issue.record("\(jump): expected a migration")
        return
      }
      if defers {
        try DeferredMigrationTests.checkPending(report.plan.lastDeferred, in: url, model: history.current)
        #expect(
          try StoreContents(of: url, model: history.current) == StoreContents(of: urls[0], model: history.current))
        let store = try PersistentStore.open(at: url, model: history.current)
        try store.finishDeferredLightweightMigration()
        try store.close()
      }
      urls.append(url)
    }
    try DeferredMigrationTests.compare(urls[1], with: urls[0], model: history.current)
  }
}
