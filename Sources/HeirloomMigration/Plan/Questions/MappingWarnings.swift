import HeirloomMapping
import HeirloomModel

/// The warnings of a plan about gaps in a mapping model.
struct MappingWarnings {
  let mapping: MappingModel
  let source: ManagedObjectModel
  let destination: ManagedObjectModel

  /// Properties that no mapping reads are lost unless a policy's code reads them.
  func leftToPolicies(_ counts: [String: Int64]) -> [String] {
    mapping.propertiesLeftToPolicies(from: source, to: destination).compactMap { mapping, properties -> String? in
      guard let entity = mapping.sourceEntityName, counts[entity, default: 0] > 0,
        let policy = mapping.entityMigrationPolicyClassName
      else { return nil }
      return
        "no property mapping of \"\(mapping.name)\" reads \(Self.list(properties)) of \"\(entity)\";"
        + " values that the policy \"\(policy)\" doesn't read are lost"
    }
  }

  /// Xcode's editor leaves such gaps if a model is changed after its mapping model was created.
  func leftOut(_ losses: [MigrationLoss]) -> [String] {
    mapping.entityMappings.compactMap { mapping -> String? in
      guard mapping.openProperties != nil, let entity = mapping.sourceEntityName,
        let made = mapping.destinationEntityName
      else { return nil }
      var names: [String] = []
      for loss in losses where loss.consent != .decision && source.isEntity(entity, kindOf: loss.entity) {
        guard let name = loss.property, isStored(name, in: made), !names.contains(name) else { continue }
        let property = mapping.attributeMapping(named: name) ?? mapping.relationshipMapping(named: name)
        if property?.valueExpression == nil { names.append(name) }
      }
      guard !names.isEmpty else { return nil }
      return
        "the entity mapping \"\(mapping.name)\" of the mapping file has no value for \(Self.list(names)) of \"\(made)\","
        + " so, as in Core Data, new objects get the default or no value; is that a mistake?"
    }
  }

  private func isStored(_ property: String, in entity: String) -> Bool {
    let isTransient =
      destination.attribute(named: property, of: entity)?.isTransient
      ?? destination.relationship(named: property, of: entity)?.isTransient
    return isTransient == false
  }

  private static func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }
}
