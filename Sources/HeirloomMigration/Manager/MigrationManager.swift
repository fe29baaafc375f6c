public import Foundation
public import HeirloomMapping
public import HeirloomModel
public import HeirloomStore

/// A manager that runs entity mappings object by object and serves their policies.
///
/// It serves one migration and belongs to the task that runs it. Objects of the source are read from the store, which
/// isn't changed. Objects of the destination are written to the candidate, which replaces the store on success. The
/// manager keeps the objects of neither side in memory: a policy finds an object again by its association.
public final class MigrationManager {
  /// The model of the source objects.
  public var sourceModel: ManagedObjectModel { setting.parts.source.model }
  /// The model of the destination objects.
  public var destinationModel: ManagedObjectModel { setting.parts.destination.model }
  /// All entity mappings, including those that run as SQL.
  public let mappingModel: MappingModel
  /// The objects of the store; they can't be changed.
  public let sourceContext: ManagedObjectContext
  /// The objects of the candidate.
  public let destinationContext: ManagedObjectContext
  /// The progress of the migration; cancelling it stops the run at the next object.
  public let progress: Progress
  /// A place for policies to share values.
  public var userInfo: [String: Any] = [:]
  /// By selector; the built-in functions and those of policies come in addition.
  package var functions: [String: ExpressionEvaluator.Function]
  /// The entity mapping that runs; `nil` before and after the run.
  @exclusivity(unchecked) public internal(set) var currentEntityMapping: EntityMapping?

  let setting: RowRunSetting
  /// The value of `now()` in expressions, in seconds since 2001-01-01 00:00:00 UTC.
  let startTime: Double = Date.now.timeIntervalSinceReferenceDate
  let associations: Associations
  var runs: [RowMapping] = []
  var account: CodeAccount?
  /// The error with which the app stops the run.
  private(set) var cancellation: (any Error)?

  init(setting: RowRunSetting, registry: MigrationPolicyRegistry, progress: Progress) throws {
    self.setting = setting
    self.progress = progress
    mappingModel = setting.mapping
    functions = registry.evaluatorFunctions
    sourceContext = ManagedObjectContext(store: setting.sourceStore)
    destinationContext = ManagedObjectContext(streamingInto: setting.destinationStore)
    associations = Associations(connection: setting.connection, removals: setting.parts.removals)
  }

  /// Records that a destination object was made from a source object.
  ///
  /// Only associated objects are visited when relationships are set.
  ///
  /// - Parameters:
  ///   - source: An object of ``sourceContext``.
  ///   - destination: An object of ``destinationContext``.
  ///   - mapping: The entity mapping that made it.
  /// - Throws: ``MigrationManagerError`` if one is of the wrong store, both have already been associated, or the
  ///   mapping is not in the mapping model.
  public func associate(source: ManagedObject, destination: ManagedObject, for mapping: EntityMapping) throws {
    if mapping.name != currentEntityMapping?.name { try checkNames([mapping.name]) }
    guard let from = key(of: source, in: sourceContext) else {
      throw MigrationManagerError.foreignObject(entity: source.entityName)
    }
    guard let to = key(of: destination, in: destinationContext) else {
      throw MigrationManagerError.foreignObject(entity: destination.entityName)
    }
    guard try associations.associate(from, to, mapping: mapping.name) else {
      throw MigrationManagerError.associatedTwice(source: from.primaryKey, destination: to.primaryKey)
    }
    if destination.isOf(mapping.destinationEntityName) { associatedObjects += 1 }
  }

  /// Counts objects of mappings' own destination entities, to detect those not associated.
  @exclusivity(unchecked) var associatedObjects: Int = 0

  var removedLinks: [RemovedLink: Int64] = [:]
  var filled: [Int: Int64] = [:]

  /// Returns the destination objects that were made from source objects.
  ///
  /// - Parameters:
  ///   - name: The name of the entity mapping that made them.
  ///   - sources: Objects of ``sourceContext``.
  /// - Returns: The objects, by source object, each in the order in which they were associated.
  /// - Throws: ``MigrationManagerError/unknownEntityMapping(_:known:)``, or an error of the stores.
  public func destinationInstances(
    forEntityMappingNamed name: String, sourceInstances sources: [ManagedObject]
  ) throws -> [ManagedObject] {
    // The fast path for policies that ask for the one object of each source object.
    if sources.count == 1, let rule = try associations.rule(ofMapping: name) {
      guard let key = key(of: sources[0], in: sourceContext).flatMap(rule.destination) else { return [] }
      return try destinationContext.object(numbered: key.entity, primaryKey: key.primaryKey).map { [$0] } ?? []
    }
    try checkNames([name])
    return try destinations(of: sources, mappings: [name])
  }

  /// Returns the destination objects that any mapping made from the source objects of a relationship.
  ///
  /// - Parameters:
  ///   - name: The name of the source relationship.
  ///   - sources: The objects of ``sourceContext`` that it refers to.
  /// - Returns: The objects, by source object, each in the order of the mappings.
  /// - Throws: An error of the stores.
  public func destinationInstances(
    forSourceRelationshipNamed name: String, sourceInstances sources: [ManagedObject]
  ) throws -> [ManagedObject] {
    try destinations(of: sources, mappings: mappingModel.entityMappings.map(\.name), relationship: name)
  }

  /// Returns the source objects that destination objects were made from.
  ///
  /// - Parameters:
  ///   - name: The name of the entity mapping that made them.
  ///   - destinations: Objects of ``destinationContext``.
  /// - Returns: The objects, by destination object, each in the order in which they were associated.
  /// - Throws: ``MigrationManagerError/unknownEntityMapping(_:known:)``, or an error of the stores.
  public func sourceInstances(
    forEntityMappingNamed name: String, destinationInstances destinations: [ManagedObject]
  ) throws -> [ManagedObject] {
    try checkNames([name])
    var objects: [ManagedObject] = []
    for destination in destinations {
      guard let key = key(of: destination, in: destinationContext) else { continue }
      for source in try associations.sources(of: key, mapping: name) {
        guard let object = try sourceContext.object(numbered: source.entity, primaryKey: source.primaryKey) else {
          continue
        }
        objects.append(object)
      }
    }
    return objects
  }

  func destinations(
    of sources: [ManagedObject], mappings: [String], relationship: String? = nil
  ) throws -> [ManagedObject] {
    let removed = associations.removedCount
    defer { noteRemovedLinks(associations.removedCount - removed, relationship) }
    var objects: [ManagedObject] = []
    var seen: Set<Associations.Key> = []
    for source in sources {
      guard let key = key(of: source, in: sourceContext) else { continue }
      for name in mappings {
        for found in try associations.destinations(of: key, mapping: name) where seen.insert(found).inserted {
          guard let object = try destinationContext.object(numbered: found.entity, primaryKey: found.primaryKey)
          else { continue }
          objects.append(object)
        }
      }
    }
    return objects
  }

  private func noteRemovedLinks(_ count: Int64, _ relationship: String?) {
    guard count > 0, let mapping = currentEntityMapping, runs.contains(where: { $0.mapping.name == mapping.name })
    else {
      return
    }
    // Links between objects whose mappings run as SQL are counted where decisions are carried out.
    let link = RemovedLink(mapping: mapping.name, entity: mapping.sourceEntityName, relationship: relationship)
    removedLinks[link, default: 0] += count
  }

  private func key(of object: ManagedObject, in context: ManagedObjectContext) -> Associations.Key? {
    context.key(of: object).map { Associations.Key(entity: $0.entity, primaryKey: $0.primaryKey) }
  }

  private func checkNames(_ names: [String]) throws(MigrationManagerError) {
    for name in names where !setting.mappingNames.contains(name) {
      throw .unknownEntityMapping(name, known: setting.mapping.entityMappings.map(\.name))
    }
  }

  /// Stops the run at the next object; the store is unchanged.
  ///
  /// - Parameter error: The error that ends the migration.
  public func cancelMigration(with error: any Error) {
    if cancellation == nil { cancellation = error }
  }
}

/// A manager belongs to the task that runs the migration, as its contexts do.
@available(*, unavailable)
extension MigrationManager: Sendable {}
