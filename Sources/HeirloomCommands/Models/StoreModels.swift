import Foundation
import Heirloom
import HeirloomOutput

/// The models that are given for a store, and what its own is made of, which may be merged of several.
struct StoreModels {
  /// The models, and the merged one where the store has the entities of several.
  private(set) var all: [NamedModel]
  /// The versions that the store is made of; one at least has entities of it.
  private(set) var parts: [NamedModel] = []
  /// The paths of their models, as they were given.
  private(set) var paths: [String] = []
  /// The entities that no model has, sorted.
  private var missing: [String] = []

  /// Reads the models that `--model` names, and finds those that the store is made of.
  ///
  /// - Parameters:
  ///   - words: The paths as they were given.
  ///   - store: The store's file.
  ///   - console: Tells where paths start, and receives notes on versions that can't be read.
  /// - Throws: `ModelReadingError` for a path without a model.
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

  /// True if the store's model is merged of several that were given.
  var isMerged: Bool { parts.count > 1 && missing.isEmpty }

  /// The words for a store that is made of several models, or of one and of something that none has; `nil` for any other.
  var words: String? {
    guard isMerged || !parts.isEmpty && !missing.isEmpty else { return nil }
    let names = parts.map { "\"\($0.name)\"" }
    let rest = missing.isEmpty ? [] : ["of something that no given model has: \(listText(missing))"]
    return "made of \(ModelHistory.mergedName(names + rest))"
  }

  /// The words for models that are missing; `nil` where none is.
  var wordsForMissing: String? { parts.isEmpty || missing.isEmpty ? nil : words }
}
