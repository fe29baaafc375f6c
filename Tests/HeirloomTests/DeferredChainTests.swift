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
      // Things come back under the names of those that may not be cleaned up yet.
      let models = [source, destination, source]
      let atOnce = directory.file("AtOnce.sqlite")
      try StoreGenerator.makeStore(at: atOnce, model: source, objects: example.objects, seed: seed, isVaried: true)
      try example.source.deriveValues(inStoreAt: atOnce)
      let later = directory.file("Later.sqlite")
      try FileManager.default.copyItem(at: atOnce, to: later)
      let expected = try Self.outcomes(atOnce, models, defers: false)
      let found = try Self.outcomes(later, models, defers: true)
      #expect(found == expected, "HEIRLOOM_SEED=\(seed) \(example.edits)")
    }
  }

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
