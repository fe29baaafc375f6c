/// A conflict between two mapping models of one hop that prevents merging them.
enum MappingOverlap: Hashable {
  /// An entity that is the source in both.
  case source(String)
  /// An entity that is the destination in both.
  case destination(String)
  /// An entity mapping name that both use.
  case name(String)
}

extension MappingMismatch {
  /// Returns true if the mapping is invalid regardless of the models and of the other mapping models given.
  ///
  /// A link to an entity mapping of another given mapping model is valid.
  package func isOfMappingAlone(among all: [MappingModel]) -> Bool {
    if case .unknownEntityMapping(_, let name) = problem {
      return !all.contains { $0.entityMapping(named: name) != nil }
    }
    return isOfMappingAlone
  }
}

extension MappingModel {
  /// Finds a conflict with another mapping model of the same hop; equal entity mappings don't conflict.
  func overlap(with other: MappingModel) -> MappingOverlap? {
    for mapping in other.entityMappings where !entityMappings.contains(mapping) {
      if let name = mapping.sourceEntityName, !entityMappings(fromEntity: name).isEmpty { return .source(name) }
      if let name = mapping.destinationEntityName, !entityMappings(toEntity: name).isEmpty {
        return .destination(name)
      }
      if entityMapping(named: mapping.name) != nil { return .name(mapping.name) }
    }
    return nil
  }

  /// Returns the entity mappings of both, equal ones once.
  func merged(with other: MappingModel) -> MappingModel {
    MappingModel(entityMappings: entityMappings + other.entityMappings.filter { !entityMappings.contains($0) })
  }
}
