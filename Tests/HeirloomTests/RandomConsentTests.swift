import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

/// Locks with random acknowledgements over random histories: a jump has consent for what it loses only where each step that
/// loses or changes it acknowledges that kind of loss, by the name that the step's source or destination has.
struct RandomConsentTests {
  /// An attribute through all versions: its name and whether it holds whole numbers, in each version that has it.
  private struct Track {
    var names: [String] = []
    var areWhole: [Bool] = []
    /// The number of values in the store, and of those with a fraction.
    var values = 0
    var fractions = 0
  }

  private struct StepLoss: Hashable {
    let step: Int
    let name: String
    let kind: LossKind
  }

  private struct Example {
    var tracks: [Track] = []
    /// The number of the first version without the entity "Tag"; `nil` if all have it.
    var tagEnd: Int?
    let count: Int
    var acknowledged: Set<StepLoss> = []

    init(seed: UInt64) {
      var random = SplitMix64(seed: seed)
      count = 3 + random.below(3)
      tracks = (0..<4).map { Track(names: ["a\($0)"], areWhole: [false]) }
      for version in 1..<count {
        for index in tracks.indices where tracks[index].names.count == version {
          let edit = random.below(8)
          guard edit > 1 else { continue }
          tracks[index].names.append(
            edit == 2 ? "r\(version)of\(index)" : tracks[index].names[version - 1])
          tracks[index].areWhole.append(edit == 3 || tracks[index].areWhole[version - 1])
        }
        if tagEnd == nil, random.below(6) == 0 { tagEnd = version }
      }
      for loss in losses where random.below(2) == 0 { acknowledged.insert(loss) }
      // Some are acknowledged for another step, or as another kind.
      for loss in losses where random.below(3) == 0 {
        let kind = loss.kind == .values ? LossKind.changedValues : .values
        acknowledged.insert(
          random.below(2) == 0
            ? StepLoss(step: loss.step, name: loss.name, kind: kind)
            : StepLoss(step: (loss.step + 1) % (count - 1), name: loss.name, kind: loss.kind))
      }
    }

    var losses: [StepLoss] {
      var losses = tracks.flatMap { Example.losses(of: $0, in: count) }
      if let tagEnd { losses.append(StepLoss(step: tagEnd - 1, name: "Tag", kind: .objects)) }
      return losses
    }

    static func losses(of track: Track, in count: Int) -> [StepLoss] {
      let end = track.names.count
      let dropped = end < count ? [StepLoss(step: end - 1, name: "Item.\(track.names[end - 1])", kind: .values)] : []
      return dropped
        + (1..<end).filter { track.areWhole[$0] && !track.areWhole[$0 - 1] }.map {
          StepLoss(step: $0 - 1, name: "Item.\(track.names[$0])", kind: .changedValues)
        }
    }

    func model(_ version: Int) throws -> ManagedObjectModel {
      var attributes = tracks.filter { $0.names.count > version }.map { track in
        var attribute = Make.attribute(track.names[version], track.areWhole[version] ? .integer64 : .double)
        attribute.renamingIdentifier = track.names[0]
        return attribute
      }
      // Each version differs from the one before.
      attributes += (0..<version).map { Make.attribute("added\($0)") }
      var entities = [Make.entity("Item", attributes)]
      if tagEnd.map({ version < $0 }) ?? true { entities.append(Make.entity("Tag", [Make.attribute("name")])) }
      return try ManagedObjectModel(entities: entities)
    }

    /// The losses of a jump from the first version to the last without consent, as `name kind rows`.
    func unconsented() -> [String] {
      var found = tracks.compactMap { track -> String? in
        let end = track.names.count
        if end < count {
          // A step before may have changed the values, which the jump hasn't kept either.
          let own = Example.losses(of: track, in: count)
          return track.values == 0 || own.allSatisfy(acknowledged.contains)
            ? nil : "Item.\(track.names[0]) values \(track.values)"
        }
        guard let step = (1..<count).first(where: { track.areWhole[$0] && !track.areWhole[$0 - 1] }) else { return nil }
        let loss = StepLoss(step: step - 1, name: "Item.\(track.names[step])", kind: .changedValues)
        return track.fractions == 0 || acknowledged.contains(loss)
          ? nil : "Item.\(track.names[count - 1]) changedValues \(track.fractions)"
      }
      if let tagEnd, !acknowledged.contains(StepLoss(step: tagEnd - 1, name: "Tag", kind: .objects)) {
        found.append("Tag objects 2")
      }
      return found.sorted()
    }
  }

  @Test(arguments: RandomSeeds.parts(quick: 40, long: 4_000))
  func `a jump has the consents of its steps, by step, name and kind`(seeds: [UInt64]) throws {
    for seed in seeds {
      var example = Example(seed: seed)
      let directory = try TemporaryDirectory()
      let url = directory.file("Store.sqlite")
      let models = try (0..<example.count).map { ("\($0)", try example.model($0)) }
      var random = SplitMix64(seed: seed &+ 1)
      let context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: models[0].1))
      for _ in 0..<7 {
        let item = try context.insert("Item")
        for index in example.tracks.indices where random.below(3) > 0 {
          let value = [1.0, 2.5, -3.25, 4.0][random.below(4)]
          item[example.tracks[index].names[0]] = .double(value)
          example.tracks[index].values += 1
          if value != value.rounded() { example.tracks[index].fractions += 1 }
        }
      }
      for _ in 0..<2 { _ = try context.insert("Tag") }
      try context.save()
      try context.store.close()
      var lock = VersionLock(versions: models.map { VersionLock.Entry(name: $0.0, model: $0.1) })
      for loss in example.acknowledged {
        lock.acknowledge(loss.name, kind: loss.kind, from: "\(loss.step)", to: "\(loss.step + 1)")
      }
      let last = models[example.count - 1]
      let history = ModelHistory(
        current: last.1, name: last.0, earlier: models.dropLast().map { (name: $0.0, model: $0.1) })
      let assistant = MigrationAssistant(url, history.locked(by: lock))
      let plan = try #require(try assistant.plan())
      let found = plan.unconsentedLosses.map { "\($0.name) \($0.kind) \($0.rows)" }.sorted()
      #expect(found == example.unconsented(), "seed \(seed): \(example.tracks), \(example.acknowledged)")
      withExtendedLifetime(directory) {}
    }
  }

  @Test func `most examples lose something, with and without consent`() {
    let examples = (0..<200).map { Example(seed: $0) }
    #expect(examples.count { !$0.losses.isEmpty } > 150)
    #expect(examples.count { example in example.losses.contains { !example.acknowledged.contains($0) } } > 100)
    #expect(examples.count { example in example.losses.contains { example.acknowledged.contains($0) } } > 100)
  }
}
