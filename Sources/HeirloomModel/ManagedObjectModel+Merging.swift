extension ManagedObjectModel {
  /// The rules are those of Core Data's `mergedModel(from:)`; the names are only for the error.
  package init(merging models: [ManagedObjectModel], named names: [String] = []) throws(ModelError) {
    var entities: [EntityDescription] = []
    var hashes: [String: VersionHash] = [:]
    var configurations: [String: Set<String>] = [:]
    var templates: [FetchRequestDescription] = []
    for model in models {
      for entity in model.entities {
        let hash = model.hashes[entity.name]
        if let known = hashes[entity.name] {
          guard known == hash else {
            let owners = zip(models, names).filter { $0.0.entity(named: entity.name) != nil }
            throw .unequalEntities(entity: entity.name, models: owners.map(\.1))
          }
          continue
        }
        hashes[entity.name] = hash
        entities.append(entity)
      }
      for configuration in model.configurations {
        configurations[configuration.name, default: []].formUnion(configuration.entityNames)
      }
      templates += model.fetchRequestTemplates.filter { new in !templates.contains { $0.name == new.name } }
    }
    try self.init(
      entities: entities, versionIdentifiers: models.flatMap(\.versionIdentifiers),
      configurations: configurations.map { ConfigurationDescription(name: $0.key, entityNames: Array($0.value)) },
      fetchRequestTemplates: templates)
  }

  /// Finds the versions of several models whose merged model is that of a store.
  ///
  /// A group has, for each version of one model, the entities with the store's hashes, the
  /// likeliest version first. `nil` means that no version of the model is needed. If no combination
  /// has all entities that any version has, all are missing.
  package static func versions(
    having names: Set<String>, in groups: [[Set<String>]]
  ) -> (needed: [Int?], missing: Set<String>) {
    let missing = names.subtracting(groups.joined().joined())
    func search(_ rest: Set<String>, _ chosen: [Int?]) -> [Int?]? {
      guard let name = rest.min() else { return chosen }
      let choices = groups.indices.filter { chosen[$0] == nil }.flatMap { group in
        groups[group].indices.filter { groups[group][$0].contains(name) }.map { version in
          (group: group, version: version, gain: groups[group][version].count { rest.contains($0) })
        }
      }
      // Sorting is stable, so of equal gains the likeliest comes first.
      for choice in choices.ordered(by: { $0.gain > $1.gain }) {
        var next = chosen
        next[choice.group] = choice.version
        if let found = search(rest.subtracting(groups[choice.group][choice.version]), next) { return found }
      }
      return nil
    }
    let none = [Int?](repeating: nil, count: groups.count)
    guard let needed = search(names.subtracting(missing), none) else { return (none, names) }
    return (needed, missing)
  }
}
