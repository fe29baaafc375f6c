import Foundation
import Heirloom

struct MigrationRequest {
  /// Of the model to migrate to; several for a merged model.
  let paths: [String]
  let otherPaths: [String]
  let console: Console
  let history: ModelHistory
  let mappings: GivenMappings
  let accounts: StoreAccounts?
  var configuration = MigrationAssistant.Configuration()

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
        // The history reads it when needed.
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
    // The tool stops before losses unless the user consents.
    configuration.losses = arguments.has("--accept-losses") ? .accept : .stop
    configuration.migratesUnknownVersions = arguments.has("--accept-version")
    configuration.defersLightweightMigration = arguments.declares("--defer") && arguments.has("--defer")
    let versions = history
    configuration.decisions = try given.map { argument throws(UsageError) in try argument.decision(in: versions) }
    if configuration.migratesUnknownVersions { history = try Self.withCurrentLast(history) }
    self.history = history.trusting(trusted)
  }

  /// `correctsNumbers` is true if rows are known whose entity number differs from their table's.
  ///
  /// The mappings must fit the model of `source`, or of the store itself if that is `nil`.
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

  /// `nil` if the store can't be read, which the assistant reports in more detail.
  private func inspection(atStore path: String) -> StoreInspection? {
    try? StoreInspection(at: path) { history.versions(withHashes: $0) }
  }

  /// Versions are ordered by name: a further model must not make a newer version of the same name
  /// look older.
  ///
  /// `trusted` receives the names of those that were given by their own path.
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

  /// A user who accepts any version may migrate back.
  private static func withCurrentLast(_ history: ModelHistory) throws -> ModelHistory {
    guard history.parts.isEmpty else { return try ModelHistory(merging: history.parts.map(withCurrentLast)) }
    let earlier = history.versionNames.filter { $0 != history.currentName }.compactMap { name in
      (try? history.model(named: name)).map { (name: name, model: $0) }
    }
    return ModelHistory(current: history.current, name: history.currentName, earlier: earlier)
      .locked(by: history.lock)
  }
}
