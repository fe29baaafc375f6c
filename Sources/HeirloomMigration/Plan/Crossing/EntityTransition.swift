import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The fate of an entity's objects, for rows that refer to objects by entity and key.
struct EntityTransition {
  let source: PhysicalEntity
  /// `nil` if there is none, or if objects go to several.
  let destination: PhysicalEntity?
  /// True when some mapping takes the objects.
  let goesOn: Bool
  let keyOffset: Int64
  /// By the destination's names; `nil` if code decides them.
  let properties: [String: PropertyMapping]?

  var isSame: Bool { destination?.number == source.number && keyOffset == 0 }

  static func fates(in crossing: Crossing) -> [EntityTransition] {
    let (split, routing, destination) = (crossing.split, crossing.routing, crossing.destination)
    return crossing.source.entities.map { entity in
      let byCode = split.byRow.filter { $0.sourceEntityName == entity.name && $0.destinationEntityName != nil }
      if let route = routing.bySource[entity.name], byCode.isEmpty {
        let target = destination.entity(numbered: route.destinationNumber)
        let offset = target.map { routing.keys.offset(from: entity.rootName, to: $0.rootName) }
        return EntityTransition(
          source: entity, destination: target, goesOn: true, keyOffset: offset ?? 0, properties: route.properties)
      }
      guard routing.bySource[entity.name] == nil, byCode.count == 1, let mapping = byCode.first,
        split.keepsKeys.contains(mapping.name)
      else {
        return EntityTransition(
          source: entity, destination: nil, goesOn: routing.bySource[entity.name] != nil || !byCode.isEmpty,
          keyOffset: 0, properties: nil)
      }
      let properties = mapping.attributeMappings + mapping.relationshipMappings
      return EntityTransition(
        source: entity, destination: mapping.destinationEntityName.flatMap { destination.entity(named: $0) },
        goesOn: true, keyOffset: 0,
        properties: mapping.entityMigrationPolicyClassName != nil
          ? nil : Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }))
    }
  }
}
