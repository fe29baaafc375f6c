package import HeirloomMapping
package import HeirloomModel
import HeirloomStore

/// Compares a store before and after a migration by what the mapping promises.
package enum KeptObjects {
  /// Lists what a migration did not keep, at most a few lines for each property.
  ///
  /// Objects of mapped entities must have the primary keys that ``MergedKeys`` says; copied values must be equal where the type is; links must
  /// lead to the same objects, in the same order where both sides are ordered.
  ///
  /// - Parameters:
  ///   - before: The store before.
  ///   - source: Its model.
  ///   - after: The store after.
  ///   - destination: Its model.
  ///   - mapping: What was carried out.
  /// - Returns: Nothing if all is well.
  package static func differences(
    before: StoreContents, source: ManagedObjectModel, after: StoreContents, destination: ManagedObjectModel,
    mapping: MappingModel
  ) -> [String] {
    var differences: [String] = []
    let becomes = Dictionary(
      mapping.entityMappings.compactMap { entity in entity.sourceEntityName.map { ($0, entity.destinationEntityName) }
      },
      uniquingKeysWith: { first, _ in first })
    func root(_ entity: String, _ model: ManagedObjectModel) -> String { model.rootEntity(of: entity)?.name ?? "" }
    let keys = MergedKeys(
      becomes.compactMap { from, to in
        to.map { to in
          MergedKeys.Member(
            sourceRoot: root(from, source), destinationRoot: root(to, destination),
            depth: destination.superentities(of: to).count, objects: before.objects[from]?.count ?? 0)
        }
      },
      highest: Dictionary(
        source.rootEntities.map { entity in
          (
            entity.name,
            source.entityTree(from: entity.name).flatMap { before.objects[$0.name, default: [:]].keys }.max() ?? 0
          )
        }, uniquingKeysWith: max))
    for entity in mapping.entityMappings {
      guard let from = entity.sourceEntityName, let to = entity.destinationEntityName else { continue }
      let (fromRoot, toRoot) = (root(from, source), root(to, destination))
      let old = Dictionary(
        (before.objects[from] ?? [:]).map { (keys.key($0.key, from: fromRoot, to: toRoot), $0.value) },
        uniquingKeysWith: { first, _ in first })
      let new = after.objects[to] ?? [:]
      if Set(old.keys) != Set(new.keys) { differences.append("\(from): \(old.count) objects, \(to): \(new.count)") }
      for property in entity.attributeMappings {
        guard case .attribute(let name) = property.form, let was = source.attribute(named: name, of: from),
          let will = destination.attribute(named: property.name, of: to), was.type == will.type, was.composite == nil,
          was.allowsExternalBinaryDataStorage == will.allowsExternalBinaryDataStorage, !was.isTransient,
          !will.isTransient
        else { continue }
        let isFilled = will.defaultValue != nil && !will.isOptional
        let wrong = old.filter { key, object in
          let value = object.values[name]
          return value != new[key]?.values[property.name] && !(isFilled && value == .null)
        }
        if let first = wrong.first {
          differences.append("\(to).\(property.name): \(wrong.count) differ, as \(first.key)")
        }
      }
      for property in entity.relationshipMappings {
        guard case .links(let name) = property.form, let was = source.relationship(named: name, of: from),
          let will = destination.relationship(named: property.name, of: to), !was.isTransient, !will.isTransient
        else { continue }
        // Primary keys are unique within a tree of entities.
        let targets = source.entityTree(from: was.destinationEntity).filter { target in
          guard let name = becomes[target.name] ?? nil else { return false }
          return destination.isEntity(name, kindOf: will.destinationEntity)
        }
        let targetRoots = (from: root(was.destinationEntity, source), to: root(will.destinationEntity, destination))
        let surviving = Set(targets.flatMap { before.objects[$0.name, default: [:]].keys })
        // Where one object may have fewer links than before, some are dropped; none may be made up.
        let wasInverseToOne = source.inverse(of: was).map { !$0.relationship.isToMany } ?? false
        let willInverseToOne = destination.inverse(of: will).map { !$0.relationship.isToMany } ?? false
        let isNarrowed = willInverseToOne && !wasInverseToOne
        let wrong = old.filter { key, object in
          let expected = object.links[name, default: []].filter { surviving.contains($0) }.map {
            keys.key($0, from: targetRoots.from, to: targetRoots.to)
          }
          let found = new[key]?.links[property.name] ?? []
          if isNarrowed { return !Set(found).isSubset(of: expected) || !will.isToMany && found.count > 1 }
          if !will.isToMany, was.isToMany { return found != Array(expected.sorted().prefix(1)) }
          return was.isOrdered && will.isOrdered ? found != expected : Set(found) != Set(expected)
        }
        if let first = wrong.first {
          differences.append("\(to).\(property.name): \(wrong.count) differ, as \(first.key)")
        }
      }
    }
    return differences
  }
}
