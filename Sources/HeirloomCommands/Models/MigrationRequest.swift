import Foundation
import Heirloom

/// What a command line asks of a migration: the store, the model to migrate to, the models that are known.
struct MigrationRequest {
  /// The current model and the known ones.
  let history: ModelHistory
  /// Whether losses of an unknown or newer store are accepted.
  let acceptsLosses: Bool
  /// The settings.
  var configuration = MigrationAssistant.Configuration()

  /// Reads the models that the arguments name.
  ///
  /// - Parameters:
  ///   - arguments: `--to`, `--model`, `--accept-losses`.
  ///   - console: Told of what is not understood in the models.
  /// - Throws: `UsageError`, `ModelReadingError`.
  init(_ arguments: Arguments, console: Console) throws {
    let path = console.path(try arguments.required("--to", "MODEL"))
    var history = try ModelHistory(contentsOf: URL(fileURLWithPath: path))
    for warning in history.warnings { console.log("note: \(warning)") }
    let others = try arguments.all("--model").flatMap { word in
      try NamedModel.all(at: console.path(word), console: console)
    }
    if !others.isEmpty { history = history.adding(Self.distinct(others, from: history)) }
    acceptsLosses = arguments.has("--accept-losses")
    self.history = acceptsLosses ? try Self.withCurrentLast(history) : history
  }

  /// Returns an assistant for a store.
  func assistant(for path: String) -> MigrationAssistant {
    let url = URL(fileURLWithPath: path)
    return MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url), history: history, configuration: configuration)
  }

  /// Further models under names that the history doesn't use.
  ///
  /// The order of versions goes by names: a further model with the name of a newer version must not make that an older one.
  private static func distinct(
    _ models: [NamedModel], from history: ModelHistory
  ) -> [(name: String, model: ManagedObjectModel)] {
    var names = Set(history.versionNames)
    return models.compactMap { model in
      if names.contains(model.name), (try? history.model(named: model.name)) == model.model { return nil }
      var name = model.name
      var number = 2
      while !names.insert(name).inserted {
        name = "\(model.name) (\(number))"
        number += 1
      }
      return (name, model.model)
    }
  }

  /// The same history with the current version as the newest: whoever accepts losses may go back.
  private static func withCurrentLast(_ history: ModelHistory) throws -> ModelHistory {
    let earlier = history.versionNames.filter { $0 != history.currentName }.compactMap { name in
      (try? history.model(named: name)).map { (name: name, model: $0) }
    }
    return ModelHistory(current: history.current, name: history.currentName, earlier: earlier)
  }
}
