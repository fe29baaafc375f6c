/// A conflict between two mapping models of one hop that prevents merging them.
enum MappingOverlap: Hashable {
  case source(String)
  case destination(String)
  case name(String)
}

extension MappingMismatch {
  /// A link to an entity mapping of another given mapping model is valid.
  package func isOfMappingAlone(among all: [MappingModel]) -> Bool {
    if case .unknownEntityMapping(_, let name) = problem {
      return !all.contains { $0.entityMapping(named: name) != nil }
    }
    return isOfMappingAlone
  }
}

extension MappingModel {
  /// Equal entity mappings don't conflict.
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

  func merged(with other: MappingModel) -> MappingModel {
    MappingModel(entityMappings: entityMappings + other.entityMappings.filter { !entityMappings.contains($0) })
  }
}
