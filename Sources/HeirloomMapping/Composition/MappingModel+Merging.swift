/// A claim that two mapping models of one hop share, so that they can't be merged.
enum MappingOverlap: Hashable {
  /// An entity whose objects both take.
  case source(String)
  /// An entity whose objects both make.
  case destination(String)
  /// The name of an entity mapping that both have.
  case name(String)
}

extension MappingMismatch {
  /// Tells whether the mapping is wrong by itself, even if others are given for the same hop.
  ///
  /// - Parameter all: All mapping models that are given.
  /// - Returns: False for a link to what another of them makes.
  package func isOfMappingAlone(among all: [MappingModel]) -> Bool {
    if case .unknownEntityMapping(_, let name) = problem {
      return !all.contains { $0.entityMapping(named: name) != nil }
    }
    return isOfMappingAlone
  }
}

extension MappingModel {
  /// Finds a claim that two mapping models of one hop share; equal entity mappings don't count.
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

  /// Returns one mapping model with the entity mappings of two, equal ones once.
  func merged(with other: MappingModel) -> MappingModel {
    MappingModel(entityMappings: entityMappings + other.entityMappings.filter { !entityMappings.contains($0) })
  }
}
