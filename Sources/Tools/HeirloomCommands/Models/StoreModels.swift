import Foundation
import Heirloom
import HeirloomOutput

/// The models given for a store, and those that its own model is merged from.
struct StoreModels {
  /// With the merged one if the store has entities of several.
  private(set) var all: [NamedModel]
  /// They make up the store's model.
  private(set) var parts: [NamedModel] = []
  /// Of the parts, as given.
  private(set) var paths: [String] = []
  /// Entities that no model has, sorted.
  private var missing: [String] = []

  init(at words: [String], forStoreAt store: String, console: Console) throws {
    let groups = try words.flatMap { word in
      try NamedModel.groups(at: [word], console: console).map { (word: word, models: $0) }
    }
    all = groups.flatMap(\.models)
    guard !groups.isEmpty, let hashes = try? StoreMetadata(contentsOf: URL(fileURLWithPath: store)).versionHashes else {
      return
    }
    let fitting = groups.map { group in
      group.models.filter { $0.model.versionHashes().allSatisfy { hashes[$0.key] == $0.value } }
    }
    let found = ManagedObjectModel.versions(
      having: Set(hashes.keys), in: fitting.map { $0.map { Set($0.model.entities.map(\.name)) } })
    for (group, (models, needed)) in zip(groups, zip(fitting, found.needed)) {
      guard let needed else { continue }
      parts.append(models[needed])
      if !paths.contains(group.word) { paths.append(group.word) }
    }
    missing = found.missing.ordered()
    if isMerged, let model = try? ManagedObjectModel(merging: parts.map(\.model)) {
      all.append(NamedModel(name: ModelHistory.mergedName(parts.map(\.name)), model: model))
    }
  }

  var isMerged: Bool { parts.count > 1 && missing.isEmpty }

  /// For a store made of several models, or partly of unknown ones; `nil` for any other store.
  var words: String? {
    guard isMerged || !parts.isEmpty && !missing.isEmpty else { return nil }
    let names = parts.map { "\"\($0.name)\"" }
    let rest = missing.isEmpty ? [] : ["of something that no given model has: \(listText(missing))"]
    return "made of \(ModelHistory.mergedName(names + rest))"
  }

  var wordsForMissing: String? { parts.isEmpty || missing.isEmpty ? nil : words }
}
