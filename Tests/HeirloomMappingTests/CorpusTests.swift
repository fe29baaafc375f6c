import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

/// Every step from one version to the next that real apps made: 390, one of them between models of a format that isn't read.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct CorpusTests {
  /// Steps that apps shipped without a mapping model but that can't be inferred, each with the reason.
  static let disagreements: [String: String] = [:]

  /// How many of the 389 steps come to each verdict.
  ///
  /// 36 of the lightweight ones shipped with a mapping model: it moves content or answers for rows, which is no obstacle.
  static let verdicts: [ModelDifference.Verdict: Int] = [.identical: 1, .compatible: 11, .lightweight: 377]

  static let projects: [String] = Set(pairs.map(\.project)).sorted()
  static let pairs: [CorpusPair] = (try? CorpusPair.all()) ?? []
  static let unreadable: Set<String> = ["magicalrecord: Recipes.xcdatamodel → Recipes 2.xcdatamodel"]

  @Test func `each step has a verdict, and what an app shipped without a mapping model is inferred`() throws {
    #expect(Self.pairs.count == 390)
    var verdicts: [ModelDifference.Verdict: Int] = [:]
    // One project has its history twice, for the most part.
    var known: [[ManagedObjectModel]: ModelDifference] = [:]
    for pair in Self.pairs where !Self.unreadable.contains(pair.name) {
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
      // What the facts flag as hard is among the changes, whatever comes of it.
      let subjects = Set(difference.changes.map(\.subject))
      for change in pair.hardChanges {
        let subject = change.prefix { $0 != ":" }
        #expect(subjects.contains(String(subject)), "\(pair.name): \(change)")
      }
    }
    #expect(verdicts == Self.verdicts)
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
}
