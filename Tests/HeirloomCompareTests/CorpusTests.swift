import HeirloomCompare
import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

/// Every hop from one version to the next that real apps made: 390, one of them between models of an unread format.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CorpusTests {
  /// Hops that apps shipped without a mapping model but that can't be inferred, each with the reason.
  static let disagreements: [String: String] = [:]

  /// The number of each project's hops with each verdict: 1 is identical, 11 are compatible, 377 lightweight.
  ///
  /// 36 of the lightweight ones shipped with a mapping model: it moves content or answers for rows, which isn't an
  /// obstacle.
  static let verdicts: [String: [ModelDifference.Verdict: Int]] = [
    "core-data-migration-revised": [.lightweight: 3], "coredataplus": [.lightweight: 4],
    "corestore": [.identical: 1, .lightweight: 1], "dashsync-ios": [.lightweight: 20], "delta": [.lightweight: 11],
    "duckduckgo-bsk": [.lightweight: 8], "duckduckgo-ios": [.lightweight: 1], "jsqcoredatakit": [.lightweight: 2],
    "magicalrecord": [:], "mastodon-ios": [.lightweight: 8], "objcio-core-data": [.lightweight: 5],
    "openemu": [.lightweight: 8], "threema-ios": [.compatible: 4, .lightweight: 104],
    "tutsplus-done": [.lightweight: 1],
    "waterme": [.lightweight: 1], "wire-ios-data-model": [.compatible: 7, .lightweight: 84],
    "woocommerce-ios": [.lightweight: 116],
  ]

  static let projects: [String] = Set(pairs.map(\.project)).sorted()
  static let pairs: [CorpusPair] = (try? CorpusPair.all()) ?? []
  static let unreadable: Set<String> = ["magicalrecord: Recipes.xcdatamodel → Recipes 2.xcdatamodel"]

  @Test func `all steps of the corpus are there`() {
    #expect(Self.pairs.count == 390)
    #expect(Self.projects == Self.verdicts.keys.sorted())
    #expect(Self.verdicts.values.flatMap(\.values).reduce(0, +) == 389)
  }

  @Test(.slow("the steps of all real histories"), arguments: projects)
  func `each step has a verdict, and what an app shipped without a mapping model is inferred`(project: String) throws {
    var verdicts: [ModelDifference.Verdict: Int] = [:]
    // One project has most of its history twice.
    var known: [[ManagedObjectModel]: ModelDifference] = [:]
    let pairs = Self.pairs.filter { $0.project == project && !Self.unreadable.contains($0.name) }
    let selection = LongTests.selection(of: pairs, every: pairs.count > 50 ? 4 : 1)
    for pair in selection {
      let (source, destination) = try pair.models()
      let isOfTwins = pair.project == "threema-ios"
      let twin = isOfTwins ? known[[source, destination]] : nil
      let difference = twin ?? ModelDifference(from: source, to: destination)
      if isOfTwins { known[[source, destination]] = difference }
      verdicts[difference.verdict, default: 0] += 1
      #expect(unexplainedHashes(in: difference).isEmpty, "\(pair.name)")
      if difference.verdict == .needsMapping {
        #expect(!difference.obstacles.isEmpty, "\(pair.name)")
        #expect(pair.hasMappingModel || Self.disagreements[pair.name] != nil, "\(pair.name): \(difference.obstacles)")
      } else {
        #expect(Self.disagreements[pair.name] == nil, "\(pair.name)")
        #expect(difference.inference.obstacles.isEmpty, "\(pair.name)")
      }
      // Changes that the facts flag as hard are listed, whatever their result.
      let subjects = Set(difference.changes.map(\.subject))
      for change in pair.hardChanges {
        let subject = change.prefix { $0 != ":" }
        #expect(subjects.contains(String(subject)), "\(pair.name): \(change)")
      }
    }
    if selection.count == pairs.count {
      #expect(verdicts == Self.verdicts[project])
    } else {
      #expect(Set(verdicts.keys).isSubset(of: Self.verdicts[project, default: [:]].keys))
    }
  }

  @Test(arguments: projects)
  func `inference from the first version of a history to the last covers every entity`(project: String) throws {
    for (_, steps) in Dictionary(grouping: Self.pairs.filter { $0.project == project }, by: \.bundle) {
      guard let first = steps.first, let last = steps.last, !Self.unreadable.contains(first.name) else { continue }
      let (source, destination) = (try first.models().source, try last.models().destination)
      let inference = MappingInference(from: source, to: destination)
      let mapped = Set(inference.draft.entityMappings.compactMap(\.destinationEntityName))
      #expect(mapped == Set(destination.entities.map(\.name)))
      let carried = Set(inference.draft.entityMappings.compactMap(\.sourceEntityName))
      #expect(carried == Set(source.entities.map(\.name)))
      #expect(inference.draft.mismatches(from: source, to: destination).isEmpty)
    }
  }

  @Test func `two entities of an app that would come under a common parent are an obstacle`() throws {
    // The app went the other way, from version 3 to 4.
    let pair = try #require(
      Self.pairs.first { $0.name == "objcio-core-data: Moody 3.xcdatamodel → Moody 4.xcdatamodel" })
    let (source, destination) = try pair.models()
    let obstacles = ModelDifference(from: destination, to: source).obstacles
    #expect(obstacles.map(\.kind) == [.mergedHierarchies])
    #expect(obstacles.map(\.entity) == ["GeographicRegion"])
  }

  @Test func `an entity that an app gave a property's identifier by mistake is noticed`() throws {
    // The identifier was meant for the attribute; it is gone again in the next version. Taken literally, it drops all
    // objects of the entity twice, which nobody may overlook.
    for (step, identifier) in [
      ("zmessaging2.46.0.xcdatamodel → zmessaging2.47.0.xcdatamodel", "Conversation"),
      ("zmessaging2.47.0.xcdatamodel → zmessaging2.48.0.xcdatamodel", "messageDestructionTimeout"),
    ] {
      let pair = try #require(Self.pairs.first { $0.name.hasSuffix(step) })
      let (source, destination) = try pair.models()
      let difference = ModelDifference(from: source, to: destination)
      #expect(difference.diagnostics.map(\.code) == ["sameNameOtherIdentifier Conversation Conversation \(identifier)"])
      #expect(difference.inference.effects.contains { $0.kind == .objectsDropped && $0.entity == "Conversation" })
    }
  }
}
