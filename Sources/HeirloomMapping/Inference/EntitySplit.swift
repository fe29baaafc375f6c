import HeirloomModel

/// A suspected split of an entity: attributes that moved from it to a new entity.
///
/// It is a guess for the developer to judge; no mapping is inferred from it.
struct EntitySplit: Hashable {
  let source: String
  /// The destination entity that continues the source entity.
  let destination: String
  /// The new entity.
  let part: String
  private(set) var moves: [Move]
  let link: Link?
  /// Required properties of the new entity that no attribute supplies.
  private(set) var missing: [String] = []

  struct Move: Hashable {
    let from: String
    let to: String
    /// Swift source for the value of an object without one, where the new entity requires a value; else `nil`.
    var standIn: String?

    var value: String {
      "source[\(SwiftText.literal(from))]" + (standIn.map { " ?? " + $0 } ?? "")
    }
  }

  /// A relationship between the entity that continues the source entity and the new one.
  struct Link: Hashable {
    let name: String
    let isToMany: Bool
    /// True when the new entity declares the relationship.
    let isOfPart: Bool
    let inverse: String?
    /// True when several objects can refer to one object of the new entity.
    let isShared: Bool
    /// True when every object must refer to one of the new entity.
    let isRequired: Bool
  }

  /// A pair of attributes that may be the same.
  private struct Candidate {
    let split: EntitySplit
    let move: Move
    let likeness: Double
  }

  static func all(in inference: MappingInference) -> [EntitySplit] {
    let model = inference.destination
    let claimed = Set(inference.correspondence.entityAmbiguities.flatMap(\.destinations))
    let arrivals = model.entities.filter {
      !$0.isAbstract && inference.correspondence.pair(ofDestination: $0.name) == nil && !claimed.contains($0.name)
    }
    guard !arrivals.isEmpty else { return [] }
    return RowFlows(of: inference.draft.entityMappings, from: inference.source, to: inference.destination).flows
      .filter { !$0.isOpaque && !$0.source.isAbstract && !$0.destination.isAbstract }
      .flatMap { splits(of: $0, among: arrivals, inference) }
  }

  private static func splits(
    of flow: RowFlow, among arrivals: [EntityDescription], _ inference: MappingInference
  ) -> [EntitySplit] {
    let model = inference.destination
    let gone = inference.source.attributes(of: flow.source.name).filter {
      $0.isPlain && !flow.used.contains($0.name) && !flow.reads($0.name)
    }
    guard !gone.isEmpty else { return [] }
    var candidates: [Candidate] = []
    for arrival in arrivals {
      let link = link(of: flow, to: arrival.name, in: model)
      let split = EntitySplit(
        source: flow.source.name, destination: flow.destination.name, part: arrival.name, moves: [], link: link)
      for before in gone {
        for after in model.attributes(of: arrival.name) where after.isPlain && after.type == before.type {
          let likeness = NameSimilarity.value(before.name, after.name)
          // Without a relationship between the two entities, only an equal name is evidence.
          guard likeness >= (link == nil ? 1 : 0.5) else { continue }
          candidates.append(
            Candidate(split: split, move: Move(from: before.name, to: after.name), likeness: likeness))
        }
      }
    }
    // The most similar pairs come first; each attribute is used once.
    candidates = candidates.ordered { left, right in
      if left.likeness != right.likeness { return left.likeness > right.likeness }
      if (left.split.link == nil) != (right.split.link == nil) { return right.split.link == nil }
      return [left.split.part, left.move.from, left.move.to].utf16Precedes(
        [right.split.part, right.move.from, right.move.to])
    }
    var taken: Set<String> = []
    var found: [String: EntitySplit] = [:]
    for candidate in candidates where !taken.contains(candidate.move.from) {
      var split = found[candidate.split.part] ?? candidate.split
      guard !split.moves.contains(where: { $0.to == candidate.move.to }) else { continue }
      split.moves.append(candidate.move)
      taken.insert(candidate.move.from)
      found[split.part] = split
    }
    return found.values.ordered(by: \.part).map { split in
      var split = split
      split.moves = split.moves.ordered(by: \.to)
      split.missing = split.missing(in: model)
      split.addStandIns(inference)
      return split
    }
  }

  /// Returns the new relationship that assigns objects to each other in the simplest way.
  private static func link(of flow: RowFlow, to part: String, in model: ManagedObjectModel) -> Link? {
    func links(_ relationships: [RelationshipDescription], isOfPart: Bool) -> [Link] {
      relationships.filter { !$0.isTransient }.map { relationship in
        let inverse = model.inverse(of: relationship)?.relationship
        return Link(
          name: relationship.name, isToMany: relationship.isToMany, isOfPart: isOfPart, inverse: inverse?.name,
          isShared: isOfPart ? relationship.isToMany : inverse?.isToMany ?? true,
          isRequired: isOfPart ? inverse.map { !$0.isOptional } ?? false : !relationship.isOptional)
      }
    }
    let ofPart = model.relationships(of: part).filter {
      model.isEntity(flow.destination.name, kindOf: $0.destinationEntity)
    }
    let toPart = model.relationships(of: flow.destination.name).filter {
      $0.destinationEntity == part && flow.origin(of: $0.name) == .none
    }
    let all = links(ofPart, isOfPart: true) + links(toPart, isOfPart: false)
    return all.first { !$0.isToMany } ?? all.last
  }

  private mutating func addStandIns(_ inference: MappingInference) {
    for index in moves.indices {
      guard let before = inference.source.attribute(named: moves[index].from, of: source), before.isOptional,
        let after = inference.destination.attribute(named: moves[index].to, of: part), !after.isOptional,
        // An object without its only moved value gets no new object, unless the link is required.
        moves.count > 1 || link?.isRequired == true
      else { continue }
      moves[index].standIn = after.sourceOfValue
    }
  }

  private func missing(in model: ManagedObjectModel) -> [String] {
    let attributes = model.attributes(of: part).filter { attribute in
      !attribute.isOptional && !attribute.isTransient && attribute.derivation == nil && attribute.defaultValue == nil
        && !moves.contains { $0.to == attribute.name }
    }
    let linked = [link.flatMap { $0.isOfPart ? $0.name : $0.inverse }]
    let relationships = model.relationships(of: part).filter {
      !$0.isOptional && !$0.isTransient && !linked.contains($0.name)
    }
    return attributes.map(\.name) + relationships.map(\.name)
  }
}

extension AttributeDescription {
  fileprivate var isPlain: Bool { !isTransient && derivation == nil && composite == nil }

  /// Swift source for the default value, or else for an empty value of the type.
  fileprivate var sourceOfValue: String {
    let kind = ValueKind(type).flatMap { $0 == .composite ? nil : $0 } ?? .string
    // Of a default that is composite, nothing fits another type.
    let value = defaultValue.flatMap { $0.kind == .composite ? nil : $0 } ?? kind.empty
    let source =
      switch value.content {
      case .integer(let number): "\(number)"
      case .real(let number): "\(number)"
      case .flag(let flag): "\(flag)"
      case .text(let text): SwiftText.literal(text)
      case .bytes(let bytes): "\(bytes)"
      case .elements: "[:]"
      }
    return ".\(value.kind.rawValue)(\(source))"
  }
}
