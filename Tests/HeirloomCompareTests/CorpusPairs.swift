import Foundation
import HeirloomModel
import TestSupport

/// Two consecutive versions of a model that an app shipped.
struct CorpusPair: Hashable, Sendable {
  let project: String
  /// Relative to the corpus.
  let bundle: String
  let from: String
  let to: String
  /// The app shipped one for the hop.
  let hasMappingModel: Bool
  /// Inference may not make them, by the facts.
  let hardChanges: [String]

  var name: String { "\(project): \(from) → \(to)" }

  func models() throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    (try Self.read("\(bundle)/\(from)"), try Self.read("\(bundle)/\(to)"))
  }

  static func all() throws -> [CorpusPair] {
    let projects = try FileManager.default.contentsOfDirectory(atPath: Corpus.folder.path).sorted()
    return try projects.flatMap { project -> [CorpusPair] in
      let url = Corpus.folder.appendingPathComponent("\(project)/FACTS.json")
      guard let data = try? Data(contentsOf: url) else { return [] }
      return try JSONDecoder().decode(Facts.self, from: data).models.flatMap { model in
        (model.pairs ?? []).map { pair in
          CorpusPair(
            project: project, bundle: "\(project)/\(model.path)", from: pair.from, to: pair.to,
            hasMappingModel: !pair.mappingModels.isEmpty, hardChanges: pair.diff?.hardForLightweight ?? [])
        }
      }
    }
  }

  private static func read(_ path: String) throws -> ManagedObjectModel {
    try Corpus.model(at: Corpus.folder.appendingPathComponent(path).path)
  }
}

/// The part of a project's facts that tells the order of its model versions.
private struct Facts: Decodable {
  let models: [Model]

  struct Model: Decodable {
    let path: String
    let pairs: [Pair]?
  }

  struct Pair: Decodable {
    let from: String
    let to: String
    let mappingModels: [AnyJSON]
    let diff: Difference?

    enum CodingKeys: String, CodingKey {
      case from, to, diff
      case mappingModels = "mapping_models"
    }
  }

  struct Difference: Decodable {
    let hardForLightweight: [String]?

    enum CodingKeys: String, CodingKey {
      case hardForLightweight = "hard_for_lightweight"
    }
  }

  /// Only its presence counts.
  struct AnyJSON: Decodable {
    init(from decoder: any Decoder) {}
  }
}
