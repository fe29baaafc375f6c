import Heirloom

/// The mapping models that the command line gives, and the decisions that apply beside them.
struct GivenMappings {
  private struct Given {
    let path: String
    let read: ReadMappingModel
    /// With version hashes if its versions are known.
    let mapping: MappingModel
  }

  private var all: [Given] = []
  /// About a step's rows: those of the command line, then the lock's.
  let decisions: @Sendable (ManagedObjectModel, ManagedObjectModel) -> [DataDecision]
  /// The lock's alone.
  let standing: @Sendable (ManagedObjectModel, ManagedObjectModel) -> [DataDecision]

  init(decidedBy history: ModelHistory) {
    standing = { history.standingDecisions(from: $0, to: $1) }
    decisions = standing
  }

  var isEmpty: Bool { all.isEmpty }

  /// Throws `MappingReadingError` also for a file that doesn't fit the versions it names.
  init(_ paths: [String], history: ModelHistory, deciding decided: [DataDecision] = [], console: Console) throws {
    standing = { history.standingDecisions(from: $0, to: $1) }
    decisions = { decided + history.standingDecisions(from: $0, to: $1) }
    for path in paths {
      let read = try MappingModelFile.read(path).read
      for warning in read.warnings { console.log("note: \(path): \(warning.description)") }
      // If no version fits, the mapping is matched by the names of entities and properties.
      let bound = try history.bound(read, path: path)
      all.append(Given(path: path, read: read, mapping: bound ?? read.mappingModel))
    }
  }

  /// Effects on rows that no decision covers, from the models alone.
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

  func mistake(
    inDecisionAbout effect: DataEffect, from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> String? {
    standing(source, destination).lazy.compactMap { decision in
      guard effect.isAnswered(by: decision), let mistake = decision.mistake(in: destination) else { return nil }
      return "The lock's decision \(decision) doesn't count: \(mistake)."
    }.first
  }

  /// Adds the mapping models with version hashes, and others that fit the two models; all of them
  /// if the source model is `nil`.
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

  /// True if a mapping model for the two versions uses one of the policies.
  func name(_ policies: [String], from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    all.contains { given in
      given.read.mismatches(from: source, to: destination).isEmpty
        && given.mapping.entityMappings.contains { mapping in
          mapping.entityMigrationPolicyClassName.map(policies.contains) ?? false
        }
    }
  }

  func unused(
    by versions: some Sequence<(name: String, model: ManagedObjectModel)>, in history: ModelHistory
  ) -> [(path: String, note: String)] {
    var notes: [String: String] = [:]
    var paths = all.map(\.path)
    for version in versions where version.model.versionHashes() != history.currentHashes {
      var configuration = MigrationAssistant.Configuration()
      add(to: &configuration, from: version.model, to: history.current)
      let labels = configuration.mappingLabels
      // If there is no path, the trial reports the reason.
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
