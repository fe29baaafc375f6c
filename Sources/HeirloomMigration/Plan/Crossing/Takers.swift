import HeirloomMapping
import HeirloomModel

/// The entity mappings that carry objects of each source entity.
struct Takers {
  private let byEntity: [String: [Taker]]

  init(_ mappings: [EntityMapping], from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    var byEntity: [String: [Taker]] = [:]
    for mapping in mappings {
      guard let flow = RowFlow(mapping, from: source, to: destination) else { continue }
      var heirs: [String: [[String]]] = [:]
      for property in mapping.relationshipMappings.ordered(by: \.name) {
        guard let name = property.sourceRelationshipName,
          let owner = destination.declaringEntity(ofProperty: property.name, in: flow.destination.name),
          destination.relationship(named: property.name, of: owner.name)?.isTransient == false
        else { continue }
        heirs[name, default: []].append([owner.name, property.name])
      }
      byEntity[flow.source.name, default: []].append(Taker(flow: flow, heirs: heirs))
    }
    self.byEntity = byEntity
  }

  /// The takers of the objects of exactly one source entity; none if no mapping carries them.
  subscript(entity: String) -> [Taker] { byEntity[entity] ?? [] }
}

/// An entity mapping that carries objects of a source entity.
final class Taker {
  let flow: RowFlow
  /// The destination's relationships that continue one of the source, each as entity and name, by the source's name.
  let heirs: [String: [[String]]]

  fileprivate init(flow: RowFlow, heirs: [String: [[String]]]) {
    (self.flow, self.heirs) = (flow, heirs)
  }

  /// Returns true if the mapping itself carries the links of a relationship to objects that others take.
  func carries(_ relationship: String, to others: [Taker], in model: ManagedObjectModel) -> Bool {
    flow.reads(relationship)
      || heirs[relationship, default: []].contains { heir in
        guard let end = model.relationship(named: heir[1], of: heir[0])?.destinationEntity else { return false }
        // A policy may make objects of any entity.
        return others.contains { $0.flow.isOpaque || model.isEntity($0.flow.destination.name, kindOf: end) }
      }
  }
}
