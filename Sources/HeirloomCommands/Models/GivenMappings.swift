import Heirloom

/// The mapping models that a command line names.
struct GivenMappings {
  /// A mapping model with its file.
  private struct Given {
    let path: String
    let read: ReadMappingModel
    /// The mapping model; with version hashes once its versions are known.
    let mapping: MappingModel
  }

  private var all: [Given] = []
  /// The decisions about rows on their way between two versions: the lock's, and those of the command line.
  let decisions: @Sendable (ManagedObjectModel, ManagedObjectModel) -> [DataDecision]
  /// The lock's decisions alone.
  let standing: @Sendable (ManagedObjectModel, ManagedObjectModel) -> [DataDecision]

  /// Creates those that a history's lock decides.
  init(decidedBy history: ModelHistory) {
    standing = { history.standingDecisions(from: $0, to: $1) }
    decisions = standing
  }

  /// True when none was named.
  var isEmpty: Bool { all.isEmpty }

  /// Reads mapping models and finds the versions that they are for.
  ///
  /// - Parameters:
  ///   - paths: The files.
  ///   - history: The known versions.
  ///   - decided: The decisions of the command line.
  ///   - console: Receives notes on what is not understood in the files.
  /// - Throws: `MappingReadingError`, also for a file that doesn't fit the versions that it names.
  init(_ paths: [String], history: ModelHistory, deciding decided: [DataDecision] = [], console: Console) throws {
    standing = { history.standingDecisions(from: $0, to: $1) }
    decisions = { decided + history.standingDecisions(from: $0, to: $1) }
    for path in paths {
      let read = try MappingModelFile.read(path).read
      for warning in read.warnings { console.log("note: \(path): \(warning.description)") }
      // Without known versions, the names of entities and properties have to do.
      let bound = try history.bound(read, path: path)
      all.append(Given(path: path, read: read, mapping: bound ?? read.mappingModel))
    }
  }

  /// Returns what a mapping may do to rows and no decision answers, from the models alone.
  func openEffects(
    of mapping: MappingModel, from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> [DataEffect] {
    let decided = decisions(source, destination).filter { $0.mistake(in: destination) == nil }
    return mapping.effects(from: source, to: destination).compactMap { effect in
      guard !decided.contains(where: effect.isAnswered) else { return nil }
      guard effect.kind == .duplicate else { return effect }
      let rows = effect.rows.filter { rows in !decided.contains { $0.givesDistinctValues(to: rows, of: effect) } }
      return rows.isEmpty
        ? nil : DataEffect(kind: effect.kind, entity: effect.entity, properties: effect.properties, rows: rows)
    }
  }

  /// Returns the reason why the lock's decision about an effect's rows says nothing about them, as a sentence; `nil` if
  /// there is no such decision.
  func mistake(
    inDecisionAbout effect: DataEffect, from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> String? {
    standing(source, destination).lazy.compactMap { decision in
      guard effect.isAnswered(by: decision), let mistake = decision.mistake(in: destination) else { return nil }
      return "The lock's decision \(decision) doesn't count: \(mistake)."
    }.first
  }

  /// Gives the mapping models to an assistant.
  ///
  /// - Parameters:
  ///   - configuration: The assistant's settings. They get mapping models with version hashes,
  ///     and fitting ones without; all if the store's model is not known.
  ///   - source: The model that made the store, if it is known.
  ///   - destination: The current model.
  func add(
    to configuration: inout MigrationAssistant.Configuration, from source: ManagedObjectModel?,
    to destination: ManagedObjectModel
  ) {
    for given in all {
      var mapping = given.mapping
      if !mapping.carriesHashes, let source {
        if let mismatch = given.read.mismatches(from: source, to: destination).first {
          configuration.leftOutMappings.append("\(given.path) is not for this migration: \(mismatch.description)")
          continue
        }
        mapping = mapping.completed(from: source, to: destination)
      }
      configuration.mappings.append(mapping)
      configuration.mappingLabels.append(given.path)
    }
  }

  /// Returns true if a mapping model for these two versions names one of some policies.
  func name(_ policies: [String], from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    all.contains { given in
      given.read.mismatches(from: source, to: destination).isEmpty
        && given.mapping.entityMappings.contains { mapping in
          mapping.entityMigrationPolicyClassName.map(policies.contains) ?? false
        }
    }
  }

  /// Lists the mapping models that have no part in the migration of any version to the current one.
  ///
  /// - Parameters:
  ///   - versions: The versions.
  ///   - history: The history.
  /// - Returns: The file of each, with a sentence.
  func unused(
    by versions: some Sequence<(name: String, model: ManagedObjectModel)>, in history: ModelHistory
  ) -> [(path: String, note: String)] {
    var notes: [String: String] = [:]
    var paths = all.map(\.path)
    for version in versions where version.model.versionHashes() != history.currentHashes {
      var configuration = MigrationAssistant.Configuration()
      add(to: &configuration, from: version.model, to: history.current)
      let labels = configuration.mappingLabels
      // Where there is no path, the trial says why.
      let path = try? history.path(
        from: version.model, named: version.name, to: history.current, named: history.currentName,
        given: configuration.mappings, labels: labels)
      for unused in path?.unused ?? [] { notes[labels[unused.index]] = unused.reason }
      let used = Set(labels).subtracting((path?.unused ?? []).map { labels[$0.index] })
      paths.removeAll { used.contains($0) }
      for (path, note) in zip(all.map(\.path).filter { !labels.contains($0) }, configuration.leftOutMappings) {
        notes[path] = note
      }
    }
    return paths.compactMap { path in notes[path].map { (path, $0) } }
  }
}
