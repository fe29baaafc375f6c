package import HeirloomModel

/// Makes the model from parsed descriptions, for all formats.
package enum ModelAssembly {
  /// Real models are far below.
  private enum Limits {
    static let entities = 5_000
    static let properties = 100_000
    static let ancestors = 64
  }

  /// Hostile chains are rejected first: walking up ancestors costs more than a file's size
  /// suggests.
  package static func model(
    entities: [EntityDescription], versionIdentifiers: [String], configurations: [ConfigurationDescription],
    fetchRequestTemplates: [FetchRequestDescription]
  ) throws(ModelReadingError) -> ManagedObjectModel {
    let propertyCount = entities.reduce(0) { $0 + $1.properties.count }
    guard entities.count <= Limits.entities, propertyCount <= Limits.properties else {
      let reason =
        "it describes \(entities.count) entities with \(propertyCount) properties; at most \(Limits.entities) "
        + "and \(Limits.properties) are accepted"
      throw ModelReadingError(problem: .malformed(reason: reason))
    }
    let parents = Dictionary(entities.map { ($0.name, $0.superentity) }, uniquingKeysWith: { first, _ in first })
    for entity in entities {
      var depth = 0
      var next = entity.superentity
      while let parent = next, depth <= Limits.ancestors {
        depth += 1
        next = parents[parent] ?? nil
      }
      // The model itself checks for cycles; here, a cycle exceeds the limit.
      guard depth <= Limits.ancestors else {
        let reason =
          "the entity \"\(entity.name.prefix(80))\" has more than \(Limits.ancestors) ancestors, or is its own"
        throw ModelReadingError(problem: .malformed(reason: reason))
      }
    }
    do throws(ModelError) {
      return try ManagedObjectModel(
        entities: entities, versionIdentifiers: versionIdentifiers, configurations: configurations,
        fetchRequestTemplates: fetchRequestTemplates)
    } catch {
      throw ModelReadingError(problem: .inconsistent(error))
    }
  }
}
