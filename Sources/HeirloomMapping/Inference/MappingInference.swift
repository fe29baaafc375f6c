public import HeirloomModel

/// The inference from two models alone: a mapping or the obstacles to it, and where the rows matter.
///
/// An obstacle is about the models: no mapping can be inferred whatever the store holds. A loss, blocker or warning is
/// about rows: the mapping holds, but the store must be read before the mapping is used.
package struct MappingInference: Sendable {
  /// The model that objects come from.
  package let source: ManagedObjectModel
  /// The model that objects become part of.
  package let destination: ManagedObjectModel
  /// The obstacles, sorted by entity and property.
  package internal(set) var obstacles: [MappingObstacle]
  /// The losses, blockers and warnings that rows may cause, sorted by entity and property.
  package let effects: [DataEffect]
  /// The positions of versions at which the path must be divided to have the result of its single hops.
  ///
  /// A mapping says where each property's content comes from. It can't say so for single elements of composites, nor
  /// for links that only a removed inverse held.
  package internal(set) var breaks: [Int] = []
  /// The elements of the two models that belong together.
  package let correspondence: ModelCorrespondence
  /// The mapping as far as it goes: where there is an obstacle, it leaves the default or drops the links.
  package let draft: MappingModel
  /// The version hashes of the source by entity name.
  package let sourceHashes: [String: VersionHash]
  /// The version hashes of the destination by entity name.
  package let destinationHashes: [String: VersionHash]

  /// Compares two models.
  ///
  /// A given entity mapping replaces every inferred one that shares its source or its destination. What it leaves open
  /// is inferred, as ``MappingModel/completed(from:to:)`` does. Nobody can know what a policy does, so no obstacle,
  /// loss, blocker or warning is found in the objects of a mapping that has one.
  ///
  /// - Parameters:
  ///   - source: The model that objects come from.
  ///   - destination: The model that objects become part of.
  ///   - given: Entity mappings that say what can't be inferred.
  package init(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, given: [EntityMapping] = []
  ) {
    let completion = MappingCompletion(ModelCorrespondence(from: source, to: destination))
    self.init(
      completion: completion, given: given,
      draft: MappingModel(entityMappings: Self.entityMappings(given: given, completion: completion)))
  }

  /// Compares two models, with a mapping model that is given.
  ///
  /// A mapping model that is read from a file leaves no entity to inference.
  ///
  /// - Parameters:
  ///   - source: The model that objects come from.
  ///   - destination: The model that objects become part of.
  ///   - given: The mapping model.
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

  /// Returns the mapping.
  ///
  /// - Returns: The given entity mappings in their order, then one for each other destination entity, then those for
  ///   removed entities, by entity name.
  /// - Throws: ``MappingInferenceError`` with all obstacles, if there are any.
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

  /// Makes a mapping with the name that Core Data gives it: a renamed entity's mapping has the source's name.
  private static func inferred(
    from source: String?, to destination: String?, completion: MappingCompletion
  ) -> EntityMapping {
    named(EntityMapping(from: source, to: destination), completion: completion)
  }

  /// Completes a mapping and names it as inference does.
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
  /// Infers how one model becomes another.
  ///
  /// - Parameters:
  ///   - source: The model that objects come from.
  ///   - destination: The model that objects become part of.
  /// - Returns: A mapping for every entity of either model.
  /// - Throws: ``MappingInferenceError`` with all obstacles.
  public static func inferred(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) throws(MappingInferenceError) -> MappingModel {
    try MappingInference(from: source, to: destination).mappingModel()
  }

  /// Infers how one model becomes another, except for the given entity mappings.
  ///
  /// ```swift
  /// try MappingModel.inferred(from: source, to: destination) {
  ///   EntityMapping(from: "Records", to: "DayRecord", policyNamed: "RecordsToDayRecord")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - source: The model that objects come from.
  ///   - destination: The model that objects become part of.
  ///   - given: Entity mappings; each replaces the inferred ones that share its source or its destination.
  /// - Returns: The given mappings, completed, then the inferred ones.
  /// - Throws: ``MappingInferenceError`` with all obstacles that remain.
  public static func inferred(
    from source: ManagedObjectModel, to destination: ManagedObjectModel,
    @EntityMappingBuilder _ given: () -> [EntityMapping]
  ) throws(MappingInferenceError) -> MappingModel {
    try MappingInference(from: source, to: destination, given: given()).mappingModel()
  }

  /// Lists the losses, blockers and warnings that the rows of a store may cause for this mapping model.
  ///
  /// - Parameters:
  ///   - source: The model that objects come from.
  ///   - destination: The model that objects become part of.
  ///   - abstractEntities: The abstract entities of the source that have objects all the same.
  /// - Returns: The list, sorted by entity and property.
  package func effects(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, abstractEntities: Set<String> = []
  ) -> [DataEffect] {
    RowFlows(of: entityMappings, from: source, to: destination, abstractEntities: abstractEntities).effects()
  }

  /// Lists the properties of source entities that only a policy can make use of.
  ///
  /// - Parameters:
  ///   - source: The model that objects come from.
  ///   - destination: The model that objects become part of.
  /// - Returns: For each entity mapping with a policy, in order, the stored properties that no property mapping reads,
  ///   if there are any.
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
