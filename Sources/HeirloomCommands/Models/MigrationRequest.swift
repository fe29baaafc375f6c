import Foundation
import Heirloom

/// The settings of a migration on a command line: the model to migrate to and the known models.
struct MigrationRequest {
  /// The path of the model to migrate to; several if it is merged of them.
  let paths: [String]
  /// The paths of further models.
  let otherPaths: [String]
  let console: Console
  /// The current model and the known ones.
  let history: ModelHistory
  /// The mapping models that were named.
  let mappings: GivenMappings
  /// Gets the accounts of the plans; `nil` if none were asked for.
  let accounts: StoreAccounts?
  /// The settings.
  var configuration = MigrationAssistant.Configuration()

  /// Reads the models that the arguments name.
  ///
  /// - Parameters:
  ///   - arguments: `--to`, `--with`, `--model`, `--mapping`, `--decide`, `--accept-losses`, `--accept-version`, `--defer`.
  ///   - console: Receives notes on what is not understood in the files.
  /// - Throws: `UsageError`, `ModelReadingError`, `ModelError`, `MappingReadingError`.
  init(_ arguments: Arguments, console: Console) throws {
    self.console = console
    var named: Set<String> = []
    paths = try ([arguments.required("--to", "MODEL")] + arguments.all("--with")).map(console.path)
      .flatMap(Console.modelPaths)
      .filter { named.insert(URL(fileURLWithPath: $0).resolvingSymlinksInPath().path).inserted }
    otherPaths = try arguments.all("--model").map(console.path)
    let given = try DecisionArgument.all(in: arguments)
    var history = try console.history(merging: paths)
    for warning in history.warnings { console.log("note: \(warning)") }
    var trusted: Set<String> = []
    let others = try otherPaths.flatMap(Console.modelPaths).flatMap { other in
      try NamedModel.all(at: other, console: console) { version, isGiven in
        // The history reads it when a store asks for it.
        guard history.lists(version) else { return false }
        if isGiven { trusted.insert(version.name) }
        return true
      }
    }
    let added = Self.distinct(others, from: history, trusted: &trusted)
    if !added.isEmpty { history = history.adding(added) }
    mappings = try GivenMappings(arguments.all("--mapping").map(console.path), history: history, console: console)
    configuration.storeTimeout = console.storeTimeout
    accounts = arguments.declares("--account") && arguments.has("--account") ? StoreAccounts() : nil
    if let accounts { configuration.account = accounts.add }
    // A person who runs the tool reads its output, and is asked before something is lost.
    configuration.losses = arguments.has("--accept-losses") ? .accept : .stop
    configuration.migratesUnknownVersions = arguments.has("--accept-version")
    configuration.defersLightweightMigration = arguments.declares("--defer") && arguments.has("--defer")
    let versions = history
    configuration.decisions = try given.map { argument throws(UsageError) in try argument.decision(in: versions) }
    if configuration.migratesUnknownVersions { history = try Self.withCurrentLast(history) }
    self.history = history.trusting(trusted)
  }

  /// Returns an assistant for a store.
  ///
  /// - Parameters:
  ///   - path: The store.
  ///   - source: The store whose model the mappings have to fit; `nil` for the store itself.
  ///   - correctsNumbers: True if rows are known whose entity number isn't their table's.
  /// - Returns: The assistant.
  func assistant(
    for path: String, migrating source: String? = nil, correctsNumbers: Bool = false
  ) -> MigrationAssistant {
    let url = URL(fileURLWithPath: path)
    var configuration = configuration
    configuration.correctsNumbers = correctsNumbers
    if !mappings.isEmpty {
      mappings.add(to: &configuration, from: inspection(atStore: source ?? path)?.model, to: history.current)
    }
    return MigrationAssistant(
      storeURL: url, modelController: ModelController(storeURL: url), history: history, configuration: configuration)
  }

  /// Inspects a store; `nil` where nothing can be read, which the assistant explains better.
  private func inspection(atStore path: String) -> StoreInspection? {
    try? StoreInspection(at: path) { history.versions(withHashes: $0) }
  }

  /// Returns further models under names that the history doesn't use.
  ///
  /// The order of versions goes by names: a further model must not make a newer version of the same name an older one.
  ///
  /// - Parameters:
  ///   - models: The further models.
  ///   - history: The history.
  ///   - trusted: Gets the names of those that the command line gives by themselves.
  /// - Returns: The models that the history lacks.
  private static func distinct(
    _ models: [NamedModel], from history: ModelHistory, trusted: inout Set<String>
  ) -> [(name: String, model: ManagedObjectModel)] {
    let histories = history.parts.isEmpty ? [history] : history.parts
    var names = Set(histories.flatMap(\.versionNames))
    return models.compactMap { model in
      var name = model.name
      defer { if model.isGiven { trusted.insert(name) } }
      if histories.contains(where: { (try? $0.model(named: name)) == model.model }) { return nil }
      var number = 2
      while !names.insert(name).inserted {
        name = "\(model.name) (\(number))"
        number += 1
      }
      return (name, model.model)
    }
  }

  /// Returns the history with the current version as the newest: a user who accepts any version may go back.
  private static func withCurrentLast(_ history: ModelHistory) throws -> ModelHistory {
    guard history.parts.isEmpty else { return try ModelHistory(merging: history.parts.map(withCurrentLast)) }
    let earlier = history.versionNames.filter { $0 != history.currentName }.compactMap { name in
      (try? history.model(named: name)).map { (name: name, model: $0) }
    }
    return ModelHistory(current: history.current, name: history.currentName, earlier: earlier)
      .locked(by: history.lock)
  }
}
