public import HeirloomModel

/// The inference from two models alone: a mapping or the obstacles to it, and the rows to check.
///
/// An obstacle is in the models: no mapping can be inferred whatever the store contains. A loss, blocker or warning is
/// in the rows: the mapping is complete, but the store must be read before the mapping is used.
package struct MappingInference: Sendable {
  package let source: ManagedObjectModel
  package let destination: ManagedObjectModel
  /// Sorted by entity and property.
  package internal(set) var obstacles: [MappingObstacle]
  /// Sorted by entity and property.
  package let effects: [DataEffect]
  /// The positions of versions at which the path must be divided to have the result of its single hops.
  ///
  /// A mapping gives the source of each property. It can't do so for single elements of composites, nor for links that
  /// are stored by an inverse that a later version removes.
  package internal(set) var breaks: [Int] = []
  package let correspondence: ModelCorrespondence
  /// Where there is an obstacle, it leaves the default or drops the links.
  package let draft: MappingModel
  package let sourceHashes: [String: VersionHash]
  package let destinationHashes: [String: VersionHash]

  /// Given entity mappings replace inferred ones of the same source or destination.
  ///
  /// Properties that a given mapping omits are inferred, as ``MappingModel/completed(from:to:)``
  /// does. The effect of a policy can't be known, so no obstacle, loss, blocker or warning is found
  /// in the objects of a mapping that has one.
  package init(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, given: [EntityMapping] = []
  ) {
    let completion = MappingCompletion(ModelCorrespondence(from: source, to: destination))
    self.init(
      completion: completion, given: given,
      draft: MappingModel(entityMappings: Self.entityMappings(given: given, completion: completion)))
  }

  /// For a mapping model that is read from a file, no entity mapping is inferred.
  package init(from source: ManagedObjectModel, to destination: ManagedObjectModel, given: MappingModel) {
    guard given.isOfFile else {
      self.init(from: source, to: destination, given: given.entityMappings)
      return
    }
    let completion = MappingCompletion(ModelCorrespondence(from: source, to: destination))
    self.init(
      completion: completion, given: given.entityMappings,
      draft: MappingModel(entityMappings: given.entityMappings.map(completion.complete)))
  }

  init(
    completion: MappingCompletion, given: [EntityMapping], draft: MappingModel, areInferred: Bool = false,
    obstacles known: [MappingObstacle] = []
  ) {
    let correspondence = completion.correspondence
    source = correspondence.source
    destination = correspondence.destination
    let flows = RowFlows(of: draft.entityMappings, from: source, to: destination)
    let mismatches = draft.mismatches(
      from: source, to: destination, sourceHashes: completion.sourceHashes,
      destinationHashes: completion.destinationHashes)

    self.correspondence = correspondence
    self.draft = draft
    sourceHashes = completion.sourceHashes
    destinationHashes = completion.destinationHashes
    let finder = ObstacleFinder(flows: flows, correspondence)
    finder.find(mismatches: mismatches, in: draft, given: given, areInferred: areInferred)
    obstacles = known + finder.obstacles
    effects = flows.effects()
  }

  /// The given entity mappings come first, then those to other destinations, then removals.
  package func mappingModel() throws(MappingInferenceError) -> MappingModel {
    guard obstacles.isEmpty else {
      throw MappingInferenceError(obstacles: obstacles, skeleton: MappingSkeleton(self)?.source)
    }
    return draft
  }

  private static func entityMappings(given: [EntityMapping], completion: MappingCompletion) -> [EntityMapping] {
    let correspondence = completion.correspondence
    let givenSources = Set(given.compactMap(\.sourceEntityName))
    let givenDestinations = Set(given.compactMap(\.destinationEntityName))
    var mappings = given.map(completion.complete)
    for entity in correspondence.destination.entities where !givenDestinations.contains(entity.name) {
      let source = correspondence.pair(ofDestination: entity.name)?.source.name
      if let source, givenSources.contains(source) { continue }
      mappings.append(inferred(from: source, to: entity.name, completion: completion))
    }
    for entity in correspondence.source.entities
    where !givenSources.contains(entity.name) && correspondence.pair(ofSource: entity.name) == nil {
      mappings.append(inferred(from: entity.name, to: nil, completion: completion))
    }
    return mappings
  }

  /// Core Data gives the mapping of a renamed entity the source's name.
  private static func inferred(
    from source: String?, to destination: String?, completion: MappingCompletion
  ) -> EntityMapping {
    named(EntityMapping(from: source, to: destination), completion: completion)
  }

  /// Completes the mapping too.
  static func named(_ mapping: EntityMapping, completion: MappingCompletion) -> EntityMapping {
    var mapping = completion.complete(mapping)
    let verb =
      switch mapping.mappingType {
      case .add: "Add"
      case .remove: "Remove"
      case .copy: "Copy"
      case .undefined, .custom, .transform: "Transform"
      }
    mapping.name = "IEM_\(verb)_\(mapping.sourceEntityName ?? mapping.destinationEntityName ?? "")"
    return mapping
  }
}

extension MappingModel {
  /// Infers the mapping between two models.
  ///
  /// - Parameters:
  ///   - source: The source model.
  ///   - destination: The destination model.
  /// - Returns: A mapping for every entity of either model.
  /// - Throws: ``MappingInferenceError`` with all obstacles.
  public static func inferred(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) throws(MappingInferenceError) -> MappingModel {
    try MappingInference(from: source, to: destination).mappingModel()
  }

  /// Infers the mapping between two models, except for the given entity mappings.
  ///
  /// ```swift
  /// try MappingModel.inferred(from: source, to: destination) {
  ///   EntityMapping(from: "Records", to: "DayRecord", policyNamed: "RecordsToDayRecord")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - source: The source model.
  ///   - destination: The destination model.
  ///   - given: Entity mappings; each replaces the inferred ones that share its source or its destination.
  /// - Returns: The given mappings, completed, then the inferred ones.
  /// - Throws: ``MappingInferenceError`` with all obstacles that remain.
  public static func inferred(
    from source: ManagedObjectModel, to destination: ManagedObjectModel,
    @EntityMappingBuilder _ given: () -> [EntityMapping]
  ) throws(MappingInferenceError) -> MappingModel {
    try MappingInference(from: source, to: destination, given: given()).mappingModel()
  }

  /// Abstract entities have objects only if they are listed.
  package func effects(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, abstractEntities: Set<String> = []
  ) -> [DataEffect] {
    RowFlows(of: entityMappings, from: source, to: destination, abstractEntities: abstractEntities).effects()
  }

  /// Lists the stored source properties that only a policy can read, for mappings that have any.
  package func propertiesLeftToPolicies(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> [(mapping: EntityMapping, properties: [String])] {
    guard !policyNames.isEmpty else { return [] }
    let flows = RowFlows(of: entityMappings, from: source, to: destination)
    return flows.flows.filter(\.isOpaque).compactMap { flow in
      let properties = flows.unreadProperties(of: flow)
      guard !properties.isEmpty, let mapping = entityMapping(named: flow.mapping) else { return nil }
      return (mapping, properties)
    }
  }
}
