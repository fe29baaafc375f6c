package import HeirloomModel

enum ValueOrigin: Hashable, Sendable {
  /// The property is new to these objects.
  case none
  case constant
  case property(String)
  /// The value is known only after evaluation.
  case unknown

  var name: String? {
    if case .property(let name) = self { name } else { nil }
  }
}

/// The objects of exactly one source entity that one mapping carries to a destination entity.
package final class RowFlow: Sendable {
  package let mapping: String
  package let source: EntityDescription
  package let destination: EntityDescription
  /// A policy creates the objects, so their properties aren't known.
  package let isOpaque: Bool
  /// Objects of an entity that was abstract before are carried over.
  package var isUninstantiable: Bool { destination.isAbstract && !source.isAbstract }
  package let isFiltered: Bool
  private let origins: [String: ValueOrigin]
  /// The destination properties in which a value replaces NULL.
  let filled: Set<String>
  /// The source paths that expressions read; `nil` if they may read any.
  let read: Set<String>?
  /// By destination property.
  let steps: [String: [ValueStep]]
  /// By source relationship: the entity and name of each stored relationship that continues it.
  package let heirs: [String: [[String]]]

  /// `nil` for an entity mapping that carries no objects.
  package init?(_ mapping: EntityMapping, from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    guard let sourceEntity = mapping.sourceEntityName.flatMap({ source.entity(named: $0) }),
      let destinationEntity = mapping.destinationEntityName.flatMap({ destination.entity(named: $0) })
    else { return nil }
    self.mapping = mapping.name
    self.source = sourceEntity
    self.destination = destinationEntity
    isOpaque = mapping.mappingType == .custom || mapping.entityMigrationPolicyClassName != nil
    isFiltered = mapping.sourceExpression.map { $0.sourceRows?.predicate != "TRUEPREDICATE" } ?? false
    var origins: [String: ValueOrigin] = [:]
    var filled: Set<String> = []
    var read: Set<String>? = []
    var steps: [String: [ValueStep]] = [:]
    for property in mapping.attributeMappings + mapping.relationshipMappings {
      if case .filledAttribute = property.form { filled.insert(property.name) }
      if case .expression(let expression) = property.form {
        read = expression.pathsRead(of: "source").flatMap { read?.union($0) }
      }
      if case .steppedAttribute(_, let taken) = property.form { steps[property.name] = taken }
      if steps[property.name]?.contains(where: \.isFilling) ?? false { filled.insert(property.name) }
      origins[property.name] =
        switch property.form {
        case .defaultValue: ValueOrigin.none
        case .constant: .constant
        case .filledAttribute(let name, _), .steppedAttribute(let name, _): .property(name)
        case .attribute(let name), .links(let name), .linksThroughMapping(_, let name): .property(name)
        case .expression: .unknown
        }
    }
    self.origins = origins
    self.filled = filled
    self.read = read
    self.steps = steps
    var heirs: [String: [[String]]] = [:]
    for property in mapping.relationshipMappings.ordered(by: \.name) {
      guard let name = property.sourceRelationshipName,
        let owner = destination.declaringEntity(ofProperty: property.name, in: destinationEntity.name),
        destination.relationship(named: property.name, of: owner.name)?.isTransient == false
      else { continue }
      heirs[name, default: []].append([owner.name, property.name])
    }
    self.heirs = heirs
  }

  func origin(of property: String) -> ValueOrigin { origins[property] ?? .none }

  package func isNew(_ path: [String]) -> Bool {
    (1...max(1, path.count)).allSatisfy { origin(of: path.prefix($0).joined(separator: ".")) == .none }
  }

  /// Source properties that some destination property continues.
  var used: Set<String> { Set(origins.values.compactMap(\.name)) }

  var readsAll: Bool { read == nil }

  /// The property is given by name or path.
  package func reads(_ property: String) -> Bool {
    guard let read else { return true }
    return read.contains { $0 == property || $0.hasPrefix("\(property).") || property.hasPrefix("\($0).") }
  }

  /// The attribute comes first, then the elements of a composite that have mappings of their own.
  func targets(in attribute: AttributeDescription, of model: ManagedObjectModel) -> [AttributeTarget] {
    let own = AttributeTarget(attribute)
    guard attribute.composite != nil else { return [own] }
    let elements = origins.keys.filter { $0.hasPrefix("\(attribute.name).") }.ordered()
    return [own] + elements.compactMap { model.attributeTarget($0, of: destination.name) }
  }

  /// Leaves of an inner element with its own mapping are left out.
  ///
  /// The source leaves that would fill them are dropped.
  func leaves(
    of target: AttributeTarget, among targets: [AttributeTarget], from source: AttributeDescription?
  ) -> (leaves: [LeafCorrespondence], dropped: [[String]]) {
    let all = AttributeLeaves(
      from: source, to: target.description, at: target.path, isWithinOptional: target.isWithinOptional)
    let inner = targets.filter { $0.path.count > target.path.count && $0.path.starts(with: target.path) }
    var kept: [LeafCorrespondence] = []
    var dropped = all.dropped
    for leaf in all.leaves {
      if inner.contains(where: { leaf.path.starts(with: $0.path) }) {
        if let path = leaf.sourcePath { dropped.append(path) }
      } else {
        kept.append(leaf)
      }
    }
    return (kept, dropped)
  }
}

/// The flows of entity mappings between two models: the one answer to which mapping carries what.
package struct RowFlows: Sendable {
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  let flows: [RowFlow]
  /// Those of the source that have objects.
  private let abstractEntities: Set<String>
  private let positionsBySource: [String: [Int]]
  private let positionsByDestination: [String: [Int]]

  package init(
    of mappings: [EntityMapping], from source: ManagedObjectModel, to destination: ManagedObjectModel,
    abstractEntities: Set<String> = []
  ) {
    (self.source, self.destination, self.abstractEntities) = (source, destination, abstractEntities)
    flows = mappings.compactMap { RowFlow($0, from: source, to: destination) }
    positionsBySource = Dictionary(grouping: flows.indices) { [flows] in flows[$0].source.name }
    positionsByDestination = Dictionary(grouping: flows.indices) { [flows] in flows[$0].destination.name }
  }

  func mayHaveObjects(_ entity: EntityDescription) -> Bool {
    !entity.isAbstract || abstractEntities.contains(entity.name)
  }

  package func flows(fromSource entity: String) -> [RowFlow] { (positionsBySource[entity] ?? []).map { flows[$0] } }

  func flows(toDestination entity: String) -> [RowFlow] { (positionsByDestination[entity] ?? []).map { flows[$0] } }

  func flows(intoTreeOf entity: String) -> [RowFlow] {
    destination.entityTree(from: entity).flatMap { flows(toDestination: $0.name) }
  }

  /// The fate of a source relationship's related objects, by source entity.
  package struct Targets: Hashable {
    /// Source entities whose objects become ones that the relationship may refer to.
    package var kept: [String] = []
    /// Source entities whose objects become something else.
    package var foreign: [String] = []
    package var dropped: [String] = []
    /// Objects of kept entities that every mapping's condition excludes.
    var leftOut: [DataEffect.Rows] = []
  }

  package func targets(of relationship: RelationshipDescription, as result: RelationshipDescription) -> Targets {
    var targets = Targets()
    for entity in source.entityTree(from: relationship.destinationEntity) where mayHaveObjects(entity) {
      let flows = flows(fromSource: entity.name)
      let fitting = flows.filter { destination.isEntity($0.destination.name, kindOf: result.destinationEntity) }
      if flows.isEmpty {
        targets.dropped.append(entity.name)
      } else if !fitting.isEmpty {
        targets.kept.append(entity.name)
        if fitting.allSatisfy({ $0.isFiltered && !$0.isOpaque }) {
          targets.leftOut.append(
            DataEffect.Rows(
              entity: entity.name, destinationEntity: nil, properties: [], notTakenBy: fitting.map(\.mapping)))
        }
      } else {
        targets.foreign.append(entity.name)
      }
    }
    return targets
  }

  /// The inverse of a new relationship.
  enum OtherSide: Hashable {
    /// No inverse, or one that is new as well.
    case none
    /// A source relationship that the inverse continues; its reversed links are those of the new relationship.
    case source(DataEffect.SourceRelationship)
    /// An inverse whose links a policy or an expression creates.
    case unknown
  }

  func otherSide(of relationship: RelationshipDescription) -> OtherSide {
    guard let inverse = destination.storedInverse(of: relationship) else { return .none }
    var result = OtherSide.none
    for flow in flows(intoTreeOf: inverse.entity.name) {
      if flow.isOpaque { return .unknown }
      switch flow.origin(of: inverse.relationship.name) {
      case .none, .constant: continue
      case .unknown: return .unknown
      case .property(let name):
        guard let owner = source.declaringEntity(ofProperty: name, in: flow.source.name),
          let found = owner.relationships.first(where: { $0.name == name }), !found.isTransient
        else { continue }
        result = .source(DataEffect.SourceRelationship(entity: owner.name, relationship: name))
      }
    }
    return result
  }
}

extension ValueStep {
  fileprivate var isFilling: Bool {
    if case .filled = self { true } else { false }
  }
}
