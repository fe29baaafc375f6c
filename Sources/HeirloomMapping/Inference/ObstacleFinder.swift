import HeirloomModel

final class ObstacleFinder {
  let flows: RowFlows
  private let correspondence: ModelCorrespondence
  private var found: Set<MappingObstacle> = []

  init(flows: RowFlows, _ correspondence: ModelCorrespondence) {
    (self.flows, self.correspondence) = (flows, correspondence)
  }

  var obstacles: [MappingObstacle] {
    found.ordered { [$0.entity, $0.property ?? "", $0.kind.rawValue, $0.reason] }
  }

  private var source: ManagedObjectModel { flows.source }
  private var destination: ManagedObjectModel { flows.destination }

  /// Those of the two versions, whatever the mappings.
  var ambiguousEntities: [MappingObstacle] {
    let finder = self
    finder.findAmbiguousEntities(given: [])
    return finder.obstacles
  }

  /// A choice that a given entity mapping states is not an obstacle.
  ///
  /// `areInferred` is true if the given entity mappings were inferred as well.
  func find(
    mismatches: [MappingMismatch], in draft: MappingModel, given: [EntityMapping], areInferred: Bool = false
  ) {
    for mismatch in mismatches { add(mismatch, in: draft) }
    // A mapping from a file leaves no entity to inference, and few properties.
    if !MappingModel(entityMappings: given).isOfFile { findAmbiguousEntities(given: given) }
    let inferredNames = Set(draft.entityMappings.map(\.name)).subtracting(areInferred ? [] : given.map(\.name))
    findMergedHierarchies(among: flows.flows.filter { inferredNames.contains($0.mapping) })
    for flow in flows.flows where !flow.isOpaque && speaks(for: flow.destination) {
      let mapping = given.first { $0.name == flow.mapping }
      let pair = correspondence.pair(from: flow.source, to: flow.destination)
      findAmbiguousProperties(of: pair, given: mapping)
      findAttributes(of: pair, given: mapping, flow: flow)
      findRelationships(of: flow)
    }
  }

  /// True if obstacles in properties are reported for the entity, not for its subentities.
  private func speaks(for entity: EntityDescription) -> Bool {
    !entity.isAbstract || destination.entityTree(from: entity.name).allSatisfy(\.isAbstract)
  }

  private func add(_ mismatch: MappingMismatch, in draft: MappingModel) {
    found.insert(MappingObstacle(mismatch, in: draft, suggestion: "Correct the entity mapping."))
  }

  private func findAmbiguousEntities(given: [EntityMapping]) {
    let sources = Set(given.compactMap(\.sourceEntityName))
    let destinations = Set(given.compactMap(\.destinationEntityName))
    for ambiguity in correspondence.entityAmbiguities
    where !sources.isSuperset(of: ambiguity.sources) && !destinations.isSuperset(of: ambiguity.destinations) {
      found.insert(
        MappingObstacle(
          kind: .ambiguousEntity, entity: ambiguity.destinations[0], reason: ambiguity.reason(for: "entities"),
          suggestion: "Give each its own renaming identifier, or give entity mappings for them."))
    }
  }

  private func findAmbiguousProperties(of pair: EntityCorrespondence, given: EntityMapping?) {
    guard given?.openProperties == nil else { return }
    let explicit = Set(given.map { ($0.attributeMappings + $0.relationshipMappings).map(\.name) } ?? [])
    for ambiguity in pair.ambiguities where !explicit.isSuperset(of: ambiguity.destinations) {
      let property = ambiguity.destinations[0]
      found.insert(
        MappingObstacle(
          kind: .ambiguousProperty, entity: owner(of: property, in: pair), property: property,
          reason: ambiguity.reason(for: "properties of \"\(pair.destination.name)\""),
          suggestion: "Give each its own renaming identifier, or give property mappings for them."))
    }
  }

  private func findAttributes(of pair: EntityCorrespondence, given: EntityMapping?, flow: RowFlow) {
    for attribute in destination.attributes(of: pair.destination.name) {
      guard !attribute.isTransient, attribute.derivation == nil else { continue }
      findElements(of: attribute, in: pair, flow: flow)
      // Elements with mappings of their own define the source of the attribute.
      if given?.attributeMappings.contains(where: { $0.name.hasPrefix("\(attribute.name).") }) ?? false,
        flow.origin(of: attribute.name) == .none
      {
        continue
      }
      let isGiven = given?.openProperties != nil || given?.attributeMapping(named: attribute.name) != nil
      let name = isGiven ? flow.origin(of: attribute.name).name : pair.attributes[attribute.name]
      guard let name, let before = source.attribute(named: name, of: pair.source.name), !before.isTransient else {
        continue
      }
      let owner = owner(of: attribute.name, in: pair)
      let leaves = AttributeLeaves(from: before, to: attribute)
      for change in leaves.shapeChanges {
        addTypes(entity: owner, path: change.path, from: change.source.type, to: change.destination.type)
      }
      for leaf in leaves.leaves {
        guard let origin = leaf.sourceLeaf else { continue }
        let isStepped = flow.steps[attribute.name] != nil
        if !isStepped, !AttributeConversion(from: origin.type, to: leaf.leaf.type).isPossible {
          addTypes(
            entity: owner, path: leaf.path, from: origin.type, to: leaf.leaf.type,
            reading: leaf.path.count == 1 ? name : nil)
        } else if origin.allowsExternalBinaryDataStorage && !leaf.leaf.allowsExternalBinaryDataStorage {
          addExternalStorage(entity: owner, path: leaf.path)
        }
      }
      for ambiguity in leaves.ambiguities {
        let path = (ambiguity.path + [ambiguity.ambiguity.destinations[0]]).joined(separator: ".")
        found.insert(
          MappingObstacle(
            kind: .ambiguousProperty, entity: owner, property: path,
            reason: ambiguity.ambiguity.reason(
              for: "elements of \"\(owner).\(ambiguity.path.joined(separator: "."))\""),
            suggestion: "Give each its own renaming identifier, or give a mapping for the attribute."))
      }
    }
  }

  /// Concerns elements that have a mapping of their own to a source attribute.
  private func findElements(
    of attribute: AttributeDescription, in pair: EntityCorrespondence, flow: RowFlow
  ) {
    let targets = flow.targets(in: attribute, of: destination)
    for target in targets.dropFirst() {
      guard let name = flow.origin(of: target.name).name,
        let before = source.attribute(named: name, of: pair.source.name), !before.isTransient
      else { continue }
      let owner = owner(of: attribute.name, in: pair)
      if (before.composite == nil) != (target.description.composite == nil) {
        addTypes(entity: owner, path: target.path, from: before.type, to: target.description.type)
      }
      for leaf in flow.leaves(of: target, among: targets, from: before).leaves {
        guard let origin = leaf.sourceLeaf else { continue }
        if !AttributeConversion(from: origin.type, to: leaf.leaf.type).isPossible {
          addTypes(entity: owner, path: leaf.path, from: origin.type, to: leaf.leaf.type)
        } else if origin.allowsExternalBinaryDataStorage && !leaf.leaf.allowsExternalBinaryDataStorage {
          addExternalStorage(entity: owner, path: leaf.path)
        }
      }
    }
  }

  private func addTypes(
    entity: String, path: [String], from: AttributeType, to: AttributeType, reading name: String? = nil
  ) {
    let property = path.joined(separator: ".")
    let expression = name.flatMap { AttributeConversion(from: from, to: to).expression(reading: $0) }
    found.insert(
      MappingObstacle(
        kind: .incompatibleTypes, entity: entity, property: property,
        reason:
          "\"\(entity).\(property)\" changes from \(from.name) to \(to.name), and no conversion between them is"
          + " inferred.",
        suggestion: """
          Give a property mapping that converts\(expression.map { ", or decide \($0) for each row" } ?? ""); or add an \
          attribute of another name, copy in a custom stage, and remove the old one.
          """,
        expression: expression))
  }

  private func addExternalStorage(entity: String, path: [String]) {
    let property = path.joined(separator: ".")
    found.insert(
      MappingObstacle(
        kind: .externalStorageDisabled, entity: entity, property: property,
        reason:
          "\"\(entity).\(property)\" no longer allows external storage, and its values may lie in files beside the store.",
        suggestion: """
          Keep external storage on; or add an attribute without it, copy in a custom stage, and remove the old one.
          """))
  }

  private func findRelationships(of flow: RowFlow) {
    for relationship in destination.relationships(of: flow.destination.name) where !relationship.isTransient {
      guard let name = flow.origin(of: relationship.name).name,
        let before = source.relationship(named: name, of: flow.source.name), !before.isTransient
      else { continue }
      let targets = flows.targets(of: before, as: relationship)
      guard targets.kept.isEmpty, !targets.foreign.isEmpty else { continue }
      let entity =
        destination.declaringEntity(ofProperty: relationship.name, in: flow.destination.name)?.name
        ?? flow.destination.name
      found.insert(
        MappingObstacle(
          kind: .relationshipDestination, entity: entity, property: relationship.name,
          reason: """
            "\(entity).\(relationship.name)" now refers to "\(relationship.destinationEntity)", but its related objects, of \
            "\(before.destinationEntity)", are mapped to another entity.
            """,
          suggestion: """
            Give a relationship mapping that finds the new objects; or, to drop the links, give the relationship a renaming \
            identifier of its own.
            """))
    }
  }

  private func owner(of property: String, in pair: EntityCorrespondence) -> String {
    destination.declaringEntity(ofProperty: property, in: pair.destination.name)?.name ?? pair.destination.name
  }

  /// A single entity may move below an entity of another hierarchy.
  ///
  /// Two entities without a common parent may not get one, nor may one bring descendants along.
  private func findMergedHierarchies(among flows: [RowFlow]) {
    for root in destination.rootEntities {
      let tree = Set(destination.entityTree(from: root.name).map(\.name))
      let members = flows.filter { tree.contains($0.destination.name) }
      let groups = Dictionary(grouping: members) { source.rootEntity(of: $0.source.name)?.name ?? $0.source.name }
      guard groups.count > 1, !groups.values.contains(where: { isHome($0, for: groups) }) else { continue }
      let names = groups.keys.ordered()
      found.insert(
        MappingObstacle(
          kind: .mergedHierarchies, entity: root.name,
          reason: """
            \(names.map { "\"\($0)\"" }.joined(separator: " and ")) have no common parent in the source but a common one, \
            "\(root.name)", in the destination.
            """,
          suggestion: "Keep the hierarchies apart, or give entity mappings for all but one of them."))
    }
  }

  private func isHome(_ home: [RowFlow], for groups: [String: [RowFlow]]) -> Bool {
    let homeNames = Set(home.map(\.destination.name))
    return groups.values.allSatisfy { group in
      if group.elementsEqual(home, by: ===) { return true }
      return group.count == 1
        && group.allSatisfy { flow in
          destination.superentities(of: flow.destination.name).contains { homeNames.contains($0.name) }
        }
    }
  }
}

extension IdentifierMatching.Ambiguity {
  func reason(for what: String) -> String {
    let before = sources.map { "\"\($0)\"" }.joined(separator: ", ")
    let after = destinations.map { "\"\($0)\"" }.joined(separator: ", ")
    return """
      Several \(what) claim the identifier "\(identifier)": \(before) in the source, \(after) in the destination. Which \
      continues which can't be told.
      """
  }
}
