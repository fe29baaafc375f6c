import HeirloomModel

extension RowFlows {
  func effects() -> [DataEffect] {
    var collector = EffectCollector()
    for flow in flows where mayHaveObjects(flow.source) && !flow.isOpaque {
      if flow.isUninstantiable {
        collector.add(.uninstantiable, entity: flow.destination.name, rows: [flow.rows([])])
      } else {
        addAttributes(of: flow, to: &collector)
        addLinks(of: flow, to: &collector)
      }
    }
    for entity in source.entities where mayHaveObjects(entity) { addLosses(of: entity, to: &collector) }
    addLostLinks(to: &collector)
    addMergedLinks(to: &collector)
    for entity in destination.entities { addConstraints(of: entity, to: &collector) }
    return collector.sorted()
  }

  private func addAttributes(of flow: RowFlow, to collector: inout EffectCollector) {
    for attribute in destination.attributes(of: flow.destination.name) where attribute.derivation == nil {
      guard let owner = destination.declaringEntity(ofProperty: attribute.name, in: flow.destination.name) else {
        continue
      }
      let targets = flow.targets(in: attribute, of: destination)
      for target in targets {
        let origin = flow.origin(of: target.name)
        if origin == .unknown || origin == .constant { continue }
        let sourceAttribute = origin.name.flatMap { source.attribute(named: $0, of: flow.source.name) }
        for leaf in flow.leaves(of: target, among: targets, from: sourceAttribute).leaves {
          let rows = [flow.rows([leaf.sourcePath?.joined(separator: ".")])]
          for kind in leaf.effects(through: flow.steps[target.name] ?? [])
          where kind != .missingValue || !flow.filled.contains(target.name) {
            collector.add(kind, entity: owner.name, properties: [leaf.path.joined(separator: ".")], rows: rows)
          }
          if !flow.filled.contains(target.name), let companions = companions(of: leaf, in: attribute, targets, flow) {
            let rows = flow.rows([leaf.sourcePath?.joined(separator: ".")], companions: companions)
            collector.add(
              .missingValue, entity: owner.name, properties: [leaf.path.joined(separator: ".")], rows: [rows])
          }
        }
      }
    }
  }

  /// Returns the source paths of the other leaves of the optional composite around a required leaf.
  ///
  /// There are none if another leaf has a value in every row. `nil` if the leaf was required
  /// before, if no row can have a value of the composite, or if an expression supplies one.
  private func companions(
    of leaf: LeafCorrespondence, in attribute: AttributeDescription, _ targets: [AttributeTarget], _ flow: RowFlow
  ) -> [String]? {
    guard !leaf.leaf.isOptional, leaf.sourceLeaf?.isOptional ?? (leaf.leaf.defaultValue == nil),
      let composite = attribute.optionalComposite(around: leaf.path)
    else { return nil }
    var paths: [String] = []
    var isEverywhere = false
    for target in targets {
      let origin = flow.origin(of: target.name)
      let before = origin.name.flatMap { source.attribute(named: $0, of: flow.source.name) }
      for other in flow.leaves(of: target, among: targets, from: before).leaves
      where other.path != leaf.path && other.path.starts(with: composite) {
        if origin == .unknown || origin == .constant { return nil }
        if let path = other.sourcePath { paths.append(path.joined(separator: ".")) }
        if other.sourcePath == nil, other.leaf.defaultValue != nil { isEverywhere = true }
      }
    }
    // In a new composite, no row lacks a leaf.
    guard leaf.sourcePath != nil || !paths.isEmpty else { return nil }
    if isEverywhere { return [] }
    return paths.isEmpty ? nil : paths
  }

  private func addLosses(of entity: EntityDescription, to collector: inout EffectCollector) {
    let flows = flows(fromSource: entity.name)
    guard !flows.isEmpty else {
      let rows = DataEffect.Rows(entity: entity.name, destinationEntity: nil, properties: [])
      collector.add(.objectsDropped, entity: entity.name, rows: [rows])
      return
    }
    if flows.allSatisfy({ $0.isFiltered && !$0.isOpaque }) {
      let rows = DataEffect.Rows(
        entity: entity.name, destinationEntity: nil, properties: [], notTakenBy: flows.map(\.mapping))
      collector.add(.objectsLeftOut, entity: entity.name, rows: [rows])
    }
    guard !flows.contains(where: { $0.isOpaque || $0.readsAll || $0.isUninstantiable }) else { return }
    for attribute in source.attributes(of: entity.name) where attribute.hasOwnValues && !attribute.isTransient {
      let dropped = flows.map { Set(droppedPaths(of: attribute, in: $0)) }
      let owner = source.declaringEntity(ofProperty: attribute.name, in: entity.name)?.name ?? entity.name
      for path in Set(dropped.joined()) {
        guard let rows = RowFlow.losing(of: flows, carried: dropped.map { !$0.contains(path) }, property: path) else {
          continue
        }
        collector.add(.valuesDropped, entity: owner, properties: [path], rows: [rows])
      }
    }
    for relationship in source.relationships(of: entity.name) where !relationship.isTransient {
      guard
        let rows = RowFlow.losing(
          of: flows, carried: flows.map { carries(relationship, in: $0) }, property: relationship.name)
      else {
        continue
      }
      let owner = source.declaringEntity(ofProperty: relationship.name, in: entity.name)?.name ?? entity.name
      if relationship.isOrdered, otherSideSurvives(relationship) {
        collector.add(.orderDropped, entity: owner, properties: [relationship.name], rows: [rows])
      }
    }
  }

  private func droppedPaths(of attribute: AttributeDescription, in flow: RowFlow) -> [String] {
    let candidates = destination.attributes(of: flow.destination.name)
    // The time of the last change is carried over without a mapping.
    if candidates.contains(where: { $0.isDerived(as: attribute) }) { return [] }
    var lost: Set<[String]>?
    for candidate in candidates where candidate.derivation == nil {
      if candidate.composite == nil, flow.origin(of: candidate.name) != .property(attribute.name) { continue }
      let targets = flow.targets(in: candidate, of: destination)
      for target in targets where flow.origin(of: target.name) == .property(attribute.name) {
        // A value that any of several targets continues isn't lost.
        let dropped = Set(flow.leaves(of: target, among: targets, from: attribute).dropped)
        lost = lost?.intersection(dropped) ?? dropped
      }
    }
    return attribute.leafPaths.filter { lost?.contains($0) ?? true }.map { $0.joined(separator: ".") }
      .filter { !flow.reads($0) }
  }

  private func carries(_ relationship: RelationshipDescription, in flow: RowFlow) -> Bool {
    if flow.reads(relationship.name) { return true }
    return destination.relationships(of: flow.destination.name).contains {
      flow.origin(of: $0.name) == .property(relationship.name) && !$0.isTransient
    }
  }

  private func otherSideSurvives(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = source.storedInverse(of: relationship) else { return false }
    return source.entityTree(from: inverse.entity.name).contains { entity in
      flows(fromSource: entity.name).contains {
        $0.isOpaque || carries(inverse.relationship, in: $0)
      }
    }
  }

  /// Lists the stored source properties that no property mapping reads, attributes first.
  func unreadProperties(of flow: RowFlow) -> [String] {
    let attributes = source.attributes(of: flow.source.name).filter { attribute in
      attribute.derivation == nil && !attribute.isTransient && !droppedPaths(of: attribute, in: flow).isEmpty
    }
    let relationships = source.relationships(of: flow.source.name).filter { relationship in
      !relationship.isTransient && !carries(relationship, in: flow) && !otherSideSurvives(relationship)
    }
    return attributes.map(\.name) + relationships.map(\.name)
  }

  private func addConstraints(of entity: EntityDescription, to collector: inout EffectCollector) {
    for constraint in entity.uniquenessConstraints {
      let flows = flows(intoTreeOf: destination.entityCovered(by: constraint, of: entity.name)).filter {
        mayHaveObjects($0.source) && !$0.isUninstantiable && !$0.isOpaque && !leavesNull(constraint, in: $0)
      }
      if flows.isEmpty || isKept(constraint, in: flows) { continue }
      // Duplicates among computed values are found only when the index is built.
      if flows.contains(where: { flow in constraint.contains { flow.origin(of: $0) == .unknown } }) { continue }
      collector.add(
        .duplicate, entity: entity.name, properties: constraint,
        rows: flows.map { flow in flow.rows(constraint.map { flow.origin(of: $0).name }) })
    }
  }

  /// If one of the properties is NULL in all rows, no two rows are equal.
  ///
  /// A required property is filled first, possibly with the same value in all rows.
  private func leavesNull(_ constraint: [String], in flow: RowFlow) -> Bool {
    constraint.contains { name in
      guard flow.origin(of: name) == .none else { return false }
      let attribute = destination.attribute(named: name, of: flow.destination.name)
      return attribute.map { $0.isOptional && $0.defaultValue == nil }
        ?? destination.relationships(of: flow.destination.name).contains { $0.name == name && $0.isOptional }
    }
  }

  /// One constraint of the source must make the properties unique in all the flows.
  private func isKept(_ constraint: [String], in flows: [RowFlow]) -> Bool {
    let names = Set(flows.map { flow in constraint.map { flow.origin(of: $0).name } })
    guard names.count == 1, flows.allSatisfy({ keepsValues(of: constraint, in: $0) }) else { return false }
    let kept = Set(names.joined().compactMap { $0 })
    return source.entities.contains { entity in
      flows.allSatisfy { source.isEntity($0.source.name, kindOf: entity.name) }
        && entity.uniquenessConstraints.contains { Set($0).isSubset(of: kept) }
    }
  }

  /// Rounding, or a default in place of NULL, may make distinct values equal.
  private func keepsValues(of constraint: [String], in flow: RowFlow) -> Bool {
    constraint.allSatisfy { property in
      guard let name = flow.origin(of: property).name else { return false }
      guard let before = source.attribute(named: name, of: flow.source.name),
        let after = destination.attribute(named: property, of: flow.destination.name)
      else { return true }
      let isFilled = before.isOptional && !after.isOptional && after.defaultValue != nil
      return before.type == after.type && !isFilled
    }
  }
}

extension RowFlow {
  package func rows(
    _ properties: [String?], companions: [String] = [], lostTargets: [String] = []
  ) -> DataEffect.Rows {
    DataEffect.Rows(
      entity: source.name, destinationEntity: destination.name, properties: properties,
      takenBy: isFiltered ? [mapping] : [], companions: companions, lostTargets: lostTargets)
  }
}

extension LeafCorrespondence {
  /// The path may convert the values to several types.
  fileprivate func effects(through steps: [ValueStep]) -> [DataEffect.Kind] {
    var kinds: [DataEffect.Kind] = []
    if !isOptional, leaf.defaultValue == nil, sourceLeaf == nil || isSourceOptional { kinds.append(.missingValue) }
    guard let sourceLeaf else { return kinds }
    if sourceLeaf.type == .transformable, leaf.type == .transformable,
      sourceLeaf.transformerOfBytes != leaf.transformerOfBytes
    {
      kinds.append(.recoded(from: sourceLeaf.transformerOfBytes, to: leaf.transformerOfBytes))
    }
    let types = steps.compactMap { step in
      if case .converted(let type) = step { type } else { nil }
    }
    for type in types + (types.last == leaf.type ? [] : [leaf.type]) {
      let conversion = AttributeConversion(from: sourceLeaf.type, to: type)
      let found: [(Bool, DataEffect.Kind)] = [
        (conversion.mayOverflow, .overflow(from: sourceLeaf.type, to: type)),
        (conversion.mayChangeValues, .valuesChanged(from: sourceLeaf.type, to: type)),
      ]
      for (isMet, kind) in found where isMet && !kinds.contains(kind) { kinds.append(kind) }
      // 0 and 1 fit in every type.
      if type == .boolean { break }
    }
    return kinds
  }
}

extension AttributeDescription {
  /// Those of Foundation that write keyed archives count as one.
  fileprivate var transformerOfBytes: String {
    let archivers = ["", "NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData"]
    let name = valueTransformerName ?? ""
    return archivers.contains(name) ? archivers[1] : name
  }

  /// The names from the attribute down to the innermost one.
  fileprivate func optionalComposite(around path: [String]) -> [String]? {
    (1..<max(1, path.count)).reversed().map { Array(path.prefix($0)) }.first {
      element(atPath: $0.dropFirst())?.isOptional ?? false
    }
  }

  /// The names from the attribute down to each stored leaf.
  var leafPaths: [[String]] {
    guard !isTransient else { return [] }
    guard let composite else { return [[name]] }
    return composite.elements.flatMap { $0.leafPaths.map { path in [name] + path } }
  }
}

extension RowFlow {
  /// Returns the objects that are carried over without some content; `nil` if there are none.
  ///
  /// With several mappings of the entity, content that one of them carries isn't lost. Objects that
  /// none takes are lost as a whole. The property is `nil` for a column that belongs to none.
  package static func losing(
    of flows: [RowFlow], carried areCarriers: [Bool], property: String? = nil
  ) -> DataEffect.Rows? {
    let carriers = flows.indices.filter { areCarriers[$0] }.map { flows[$0] }
    let others = flows.indices.filter { !areCarriers[$0] }.map { flows[$0] }
    guard let first = others.first, carriers.allSatisfy(\.isFiltered) else { return nil }
    let takers = others.allSatisfy(\.isFiltered) ? others : []
    return DataEffect.Rows(
      entity: first.source.name, destinationEntity: first.destination.name,
      properties: property.map { [$0] } ?? [], takenBy: takers.map(\.mapping), notTakenBy: carriers.map(\.mapping))
  }
}

extension ManagedObjectModel {
  /// The index of a constraint on inherited properties has the rows of all entities that have them.
  package func entityCovered(by constraint: [String], of entity: String) -> String {
    let owners = constraint.compactMap { declaringEntity(ofProperty: $0, in: entity)?.name }
    return owners.max { superentities(of: $0).count < superentities(of: $1).count } ?? entity
  }
}
