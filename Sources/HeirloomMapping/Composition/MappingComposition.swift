import HeirloomModel

/// The mapping composed of the hops of a path through several versions, from the models alone.
///
/// It follows each property of the last version back from version to version, so a property continues the same source
/// property as if each hop were taken. A property that was dropped on the path stays dropped, and rows get the default
/// that filled them on the path.
struct MappingComposition {
  private let hops: [ModelCorrespondence]
  private let first: ManagedObjectModel?
  /// The position of each hop's destination among the versions.
  private let ends: [Int]
  /// The positions of versions at which the path must be divided.
  var breaks: [Int] { found.filter { $0 > 0 && $0 < (ends.last ?? 0) }.sorted() }
  private var found: Set<Int> = []
  /// Not yet completed for the first and the last version.
  private(set) var entityMappings: [EntityMapping] = []
  /// Types that don't convert on a hop, and ambiguous identifiers.
  private(set) var obstacles: [MappingObstacle] = []

  /// Takes two or more versions as shipped.
  init(through versions: [ManagedObjectModel]) {
    first = versions.first
    // Versions with equal hashes need no migration between them: there every name stays, whatever the identifiers.
    let hashes = versions.map { $0.versionHashes() }
    ends = versions.indices.dropFirst().filter { hashes[$0 - 1] != hashes[$0] }
    hops = ends.map { ModelCorrespondence(from: versions[$0 - 1], to: versions[$0]) }
    guard let first = versions.first, let last = versions.last else { return }
    for hop in hops { addAmbiguities(of: hop) }
    var used: Set<String> = []
    for entity in last.entities {
      guard let pairs = pairs(to: entity.name),
        let source = first.entity(named: pairs.first?.source.name ?? entity.name)
      else {
        entityMappings.append(EntityMapping(from: nil, to: entity.name))
        continue
      }
      used.insert(source.name)
      var attributes: [PropertyMapping] = []
      for attribute in last.attributes(of: entity.name) { attributes.append(mapping(of: attribute, pairs)) }
      var relationships: [PropertyMapping] = []
      for relationship in last.relationships(of: entity.name) { relationships.append(mapping(of: relationship, pairs)) }
      entityMappings.append(
        EntityMapping(
          from: source.name, to: entity.name, attributeMappings: attributes, relationshipMappings: relationships))
    }
    for entity in first.entities where !used.contains(entity.name) {
      entityMappings.append(EntityMapping(from: entity.name, to: nil))
    }
  }

  /// `nil` if the entity was added after the first version.
  private func pairs(to entity: String) -> [EntityCorrespondence]? {
    var name = entity
    var pairs: [EntityCorrespondence] = []
    for hop in hops.reversed() {
      guard let pair = hop.pair(ofDestination: name) else { return nil }
      pairs.append(pair)
      name = pair.source.name
    }
    return pairs.reversed()
  }

  private mutating func mapping(
    of relationship: RelationshipDescription, _ pairs: [EntityCorrespondence]
  ) -> PropertyMapping {
    var name = relationship.name
    for (index, (hop, pair)) in zip(hops, pairs).enumerated().reversed() {
      addAmbiguity(of: name, pair)
      let new = hop.destination.relationship(named: name, of: pair.destination.name)
      guard let before = pair.relationships[name],
        let old = hop.source.relationship(named: before, of: pair.source.name), !old.isTransient,
        let new, !new.isTransient
      else {
        // The relationship takes its first links from its inverse, which the last version may lack.
        if let new, !new.isTransient, hop.sourceOfInverse(of: new) != nil { found.insert(ends[index]) }
        return PropertyMapping(name: relationship.name)
      }
      name = before
    }
    return PropertyMapping(name: relationship.name, linksOf: name)
  }

  private mutating func mapping(of attribute: AttributeDescription, _ pairs: [EntityCorrespondence]) -> PropertyMapping
  {
    guard !attribute.isTransient, attribute.derivation == nil else { return PropertyMapping(name: attribute.name) }
    var name = attribute.name
    var current = attribute
    var way = AttributeWay()
    // Elements of composites are matched between the ends only.
    var composed: [Int] = []
    defer { found.formUnion(composed.dropFirst()) }
    for (index, (hop, pair)) in zip(hops, pairs).enumerated().reversed() {
      guard let new = Self.same(current, in: hop.destination, entity: pair.destination.name) else { break }
      name = new.name
      addAmbiguity(of: name, pair)
      guard let before = pair.attributes[name],
        let old = hop.source.attribute(named: before, of: pair.source.name), old.carriesValues(to: new)
      else {
        if new.composite != nil { composed.append(ends[index]) }
        if let before = pair.attributes[name] { addObstacle(to: new, from: before, hop, pair) }
        // A required attribute without a default implies that no rows exist before the version that gives it one.
        let value = way.value(startingWith: new) ?? (attribute.isOptional ? nil : attribute.defaultValue)
        return PropertyMapping(name: attribute.name, initially: value, attribute)
      }
      if old.composite != new.composite { composed.append(ends[index]) }
      way.changes.insert((old, new), at: 0)
      (name, current) = (before, old)
    }
    if let first, let entity = pairs.first?.source.name {
      name = Self.same(current, in: first, entity: entity)?.name ?? name
    }
    if way.mustBeTaken { return PropertyMapping(name: attribute.name, copying: name, through: way.steps) }
    // Completion fills in the last version's own default anyway.
    guard let filling = way.filling, filling != attribute.defaultValue || attribute.isOptional,
      attribute.composite == nil
    else { return PropertyMapping(name: attribute.name, copying: name) }
    return PropertyMapping(name: attribute.name, copying: name, filling: filling)
  }

  /// In a version with equal hashes, only a composite may have another name.
  ///
  /// Neither hashes nor columns contain it, so a composite is found by its elements.
  private static func same(
    _ attribute: AttributeDescription, in model: ManagedObjectModel, entity: String
  ) -> AttributeDescription? {
    if let namesake = model.attribute(named: attribute.name, of: entity) { return namesake }
    guard attribute.composite != nil else { return nil }
    let leaves = Set(attribute.leafPaths.map { $0.dropFirst() })
    return model.attributes(of: entity).first {
      $0.composite != nil && Set($0.leafPaths.map { $0.dropFirst() }) == leaves
    }
  }

  private mutating func addObstacle(
    to new: AttributeDescription, from name: String, _ hop: ModelCorrespondence, _ pair: EntityCorrespondence
  ) {
    guard let old = hop.source.attribute(named: name, of: pair.source.name), !old.isTransient, !new.isTransient,
      new.derivation == nil
    else { return }
    obstacles.append(
      MappingObstacle(
        kind: .incompatibleTypes, entity: pair.destination.name, property: new.name,
        reason: """
          On the path, "\(pair.destination.name).\(new.name)" changes from \(old.type.name) to \(new.type.name), and no \
          conversion between them is inferred.
          """,
        suggestion: "Give a property mapping that converts."))
  }

  private mutating func addAmbiguity(of property: String, _ pair: EntityCorrespondence) {
    guard let ambiguity = pair.ambiguities.first(where: { $0.destinations.contains(property) }) else { return }
    obstacles.append(
      MappingObstacle(
        kind: .ambiguousProperty, entity: pair.destination.name, property: property,
        reason: ambiguity.reason(for: "properties of \"\(pair.destination.name)\""),
        suggestion: "Give each its own renaming identifier, or give property mappings for them."))
  }

  private mutating func addAmbiguities(of hop: ModelCorrespondence) {
    obstacles +=
      ObstacleFinder(flows: RowFlows(of: [], from: hop.source, to: hop.destination), hop).ambiguousEntities
  }
}
