/// Something that two mapping models of one step both speak for, so that they can't be one.
enum MappingOverlap: Hashable {
  /// Both take the objects of an entity.
  case source(String)
  /// Both make the objects of an entity.
  case destination(String)
  /// Both have an entity mapping of that name.
  case name(String)
}

extension MappingMismatch {
  /// Whether the mapping is wrong by itself, even if others are given for the same step.
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
  /// Finds what two mapping models of one step both speak for; entity mappings that are equal don't count.
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

  /// Returns the entity mappings of two mapping models as one, equal ones once.
  func merged(with other: MappingModel) -> MappingModel {
    MappingModel(entityMappings: entityMappings + other.entityMappings.filter { !entityMappings.contains($0) })
  }
}
