import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Entity mappings, divided into those that run as SQL and those that run object by object.
struct MappingSplit {
  let declarative: MappingModel
  /// With a policy, a condition or value that SQL can't compute, or an earlier mapping's entity.
  let byRow: [EntityMapping]
  /// The names of those of ``byRow`` whose objects keep the source's keys where they can.
  let keepsKeys: Set<String>
  let keptRoots: [(source: String, destination: String)]

  init(
    _ mapping: MappingModel, source: ManagedObjectModel, destination: ManagedObjectModel,
    compiled: CompiledMappings
  ) {
    var declarative: [EntityMapping] = []
    var byRow: [EntityMapping] = []
    var sources: Set<String> = []
    var destinations: Set<String> = []
    for entityMapping in mapping.entityMappings {
      // A mapping that only adds or removes an entity shares none.
      let isPair = entityMapping.sourceEntityName != nil && entityMapping.destinationEntityName != nil
      if Self.needsRows(entityMapping, compiled)
        || isPair
          && (entityMapping.sourceEntityName.map(sources.contains) == true
            || entityMapping.destinationEntityName.map(destinations.contains) == true)
      {
        byRow.append(entityMapping)
        continue
      }
      declarative.append(entityMapping)
      guard isPair else { continue }
      if let name = entityMapping.sourceEntityName { sources.insert(name) }
      if let name = entityMapping.destinationEntityName { destinations.insert(name) }
    }
    // Removing or adding an entity has no effect if another mapping takes or makes its objects.
    let taken = Set(byRow.compactMap(\.sourceEntityName))
    let made = Set(byRow.compactMap(\.destinationEntityName))
    declarative.removeAll { mapping in
      mapping.destinationEntityName == nil && mapping.sourceEntityName.map(taken.contains) == true
        || mapping.sourceEntityName == nil && mapping.destinationEntityName.map(made.contains) == true
    }
    self.declarative = MappingModel(entityMappings: declarative)
    self.byRow = byRow
    let kept = KeyKeeping(mappings: mapping.entityMappings, source: source, destination: destination)
    let keeping = byRow.filter { kept.keeps($0) }
    keepsKeys = Set(keeping.map(\.name))
    keptRoots = keeping.compactMap { kept.roots(of: $0) }
  }

  static func needsRows(_ mapping: EntityMapping, _ compiled: CompiledMappings) -> Bool {
    if mapping.entityMigrationPolicyClassName != nil { return true }
    if let rows = mapping.sourceExpression?.sourceRows {
      if rows.predicate != "TRUEPREDICATE" { return true }
    } else if mapping.sourceExpression != nil {
      return true
    }
    return !compiled.isCompilable(mapping)
  }
}

/// Decides which objects made object by object may keep the keys of their source objects.
///
/// A tree keeps the keys of one source tree if each of its entities has one destination only.
private struct KeyKeeping {
  let mappings: [EntityMapping]
  let source: ManagedObjectModel
  let destination: ManagedObjectModel

  func roots(of mapping: EntityMapping) -> (source: String, destination: String)? {
    guard let from = mapping.sourceEntityName.flatMap({ source.rootEntity(of: $0)?.name }),
      let to = mapping.destinationEntityName.flatMap({ destination.rootEntity(of: $0)?.name })
    else { return nil }
    return (from, to)
  }

  func keeps(_ mapping: EntityMapping) -> Bool {
    guard let own = roots(of: mapping) else { return false }
    let sisters = mappings.filter { roots(of: $0)?.destination == own.destination }
    return sisters.allSatisfy { roots(of: $0)?.source == own.source }
      && sisters.filter { $0.sourceEntityName == mapping.sourceEntityName }.count == 1
  }
}
