package import HeirloomMapping
package import HeirloomModel
package import HeirloomStore

/// The contents that a store must have after a migration, as far as they follow from its mapping.
///
/// Results of code and expressions are unknown, with all that later hops derive from them.
package struct ExpectedContents {
  /// Unknown properties are left out.
  package struct Object {
    /// By path.
    package var values: [String: SQLiteValue]
    package var links: [String: Links]
  }

  /// Objects are given by primary key.
  package enum Links {
    /// In this order.
    case exactly([Int64])
    case set(Set<Int64>)
    case some(of: Set<Int64>, atMostOne: Bool)

    /// Sorted unless ordered; `nil` if only a superset is known.
    fileprivate var keys: [Int64]? {
      switch self {
      case .exactly(let keys): keys
      case .set(let keys): keys.sorted()
      case .some: nil
      }
    }

    fileprivate func isMet(by found: [Int64]) -> Bool {
      switch self {
      case .exactly(let keys): found == keys
      case .set(let keys): Set(found) == keys
      case .some(let keys, let atMostOne): Set(found).isSubset(of: keys) && !(atMostOne && found.count > 1)
      }
    }
  }

  /// By entity and primary key, without entities some of whose objects are unknown.
  package private(set) var objects: [String: [Int64: Object]] = [:]

  /// Expects that a store keeps its contents.
  package init(_ contents: StoreContents, of model: ManagedObjectModel) {
    for entity in model.entities {
      let names = model.relationships(of: entity.name).filter { !$0.isTransient }.map(\.name)
      objects[entity.name] = (contents.objects[entity.name] ?? [:]).mapValues { object in
        Object(
          values: object.values,
          links: Dictionary(
            names.map { ($0, .exactly(object.links[$0] ?? [])) }, uniquingKeysWith: { first, _ in first }))
      }
    }
  }

  private init() {}

  /// Objects of mapped entities keep their primary keys, or get those that ``MergedKeys`` gives.
  ///
  /// Copied values must be equal if the type is unchanged. Links must refer to the same objects, in
  /// the same order if both sides are ordered. `mapping` is the completed mapping of the hop.
  package func migrated(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, by mapping: MappingModel
  ) -> ExpectedContents {
    ExpectedStep(before: self, source: source, destination: destination, mapping: mapping).result()
  }

  fileprivate mutating func expect(_ objects: [Int64: Object], of entity: String) {
    self.objects[entity] = objects
  }
}

private struct ExpectedStep {
  let before: ExpectedContents
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  let mapping: MappingModel
  /// The entity mappings that copy all objects of an entity.
  let plain: [EntityMapping]
  /// The destination entities of these mappings, by source entity.
  let becomes: [String: String]
  let keys: MergedKeys

  init(
    before: ExpectedContents, source: ManagedObjectModel, destination: ManagedObjectModel, mapping: MappingModel
  ) {
    self.before = before
    self.source = source
    self.destination = destination
    self.mapping = mapping
    let pairs = mapping.entityMappings.filter { $0.sourceEntityName != nil && $0.destinationEntityName != nil }
    let sources = Dictionary(grouping: pairs) { $0.sourceEntityName }
    let destinations = Dictionary(grouping: mapping.entityMappings) { $0.destinationEntityName }
    plain = pairs.filter { pair in
      !pair.isCode && !pair.selectsRows && sources[pair.sourceEntityName]?.count == 1
        && destinations[pair.destinationEntityName]?.count == 1
    }
    becomes = Dictionary(
      plain.map { ($0.sourceEntityName ?? "", $0.destinationEntityName ?? "") }, uniquingKeysWith: { first, _ in first }
    )
    keys = MergedKeys(
      becomes.map { from, to in
        MergedKeys.Member(
          sourceRoot: source.rootEntity(of: from)?.name ?? "",
          destinationRoot: destination.rootEntity(of: to)?.name ?? "",
          depth: destination.superentities(of: to).count, objects: before.objects[from]?.count ?? 0)
      },
      highest: Dictionary(
        source.rootEntities.map { entity in
          (
            entity.name,
            source.entityTree(from: entity.name).flatMap { (before.objects[$0.name] ?? [:]).keys }.max() ?? 0
          )
        }, uniquingKeysWith: max))
  }

  func result() -> ExpectedContents {
    var result = ExpectedContents.empty
    let made = Set(mapping.entityMappings.compactMap(\.destinationEntityName))
    for entity in destination.entities where !made.contains(entity.name) { result.expect([:], of: entity.name) }
    for entity in mapping.entityMappings {
      guard let to = entity.destinationEntityName else { continue }
      guard let from = entity.sourceEntityName else {
        // A new entity has no objects, unless code creates some.
        let others = mapping.entityMappings.filter { $0.destinationEntityName == to }
        if others.count == 1, !entity.isCode { result.expect([:], of: to) }
        continue
      }
      guard becomes[from] == to, let objects = before.objects[from], let shift = shift(from, to) else { continue }
      var expected: [Int64: ExpectedContents.Object] = [:]
      for (key, object) in objects { expected[key + shift] = .init(values: values(of: object, entity), links: [:]) }
      for property in entity.relationshipMappings {
        guard let links = links(property, from, to) else { continue }
        for (key, object) in objects { expected[key + shift]?.links[property.name] = links(object) }
      }
      result.expect(expected, of: to)
    }
    return result
  }

  /// The offset added to primary keys; `nil` if it isn't known.
  private func shift(_ from: String, _ to: String) -> Int64? {
    let roots = (
      from: source.rootEntity(of: from)?.name ?? "", to: destination.rootEntity(of: to)?.name ?? ""
    )
    let shift = keys.key(0, from: roots.from, to: roots.to)
    let isKnown = source.entities.allSatisfy { $0.isAbstract || before.objects[$0.name] != nil }
    return shift == 0 || isKnown ? shift : nil
  }

  private func values(of object: ExpectedContents.Object, _ entity: EntityMapping) -> [String: SQLiteValue] {
    guard let from = entity.sourceEntityName, let to = entity.destinationEntityName else { return [:] }
    var values: [String: SQLiteValue] = [:]
    for property in entity.attributeMappings {
      guard case .attribute(let name) = property.form, let was = source.attribute(named: name, of: from),
        let will = destination.attribute(named: property.name, of: to)
      else { continue }
      for (path, leaf) in will.keptLeaves(of: was) {
        let path = path.isEmpty ? "" : "." + path.joined(separator: ".")
        guard let value = object.values[name + path] else { continue }
        let isFilled = value == .null && leaf.defaultValue != nil && !leaf.isOptional
        if !isFilled { values[property.name + path] = value }
      }
    }
    return values
  }

  private func isMerged(_ relationship: String, of entity: String) -> Bool {
    let owner = destination.declaringEntity(ofProperty: relationship, in: entity)?.name
    var origins: Set<[String]> = []
    for mapping in mapping.entityMappings {
      guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName else { continue }
      for property in mapping.relationshipMappings where property.name == relationship {
        guard case .links(let name) = property.form,
          destination.declaringEntity(ofProperty: relationship, in: to)?.name == owner,
          let declaring = source.declaringEntity(ofProperty: name, in: from)?.name
        else { continue }
        origins.insert([declaring, name])
      }
    }
    return origins.count > 1
  }

  /// `nil` if the relationship's links aren't known.
  private func links(
    _ property: PropertyMapping, _ from: String, _ to: String
  ) -> ((ExpectedContents.Object) -> ExpectedContents.Links?)? {
    guard case .links(let name) = property.form, let was = source.relationship(named: name, of: from),
      let will = destination.relationship(named: property.name, of: to), !was.isTransient, !will.isTransient,
      let shift = shift(was.destinationEntity, will.destinationEntity)
    else { return nil }
    // A link of another relationship may take the place of an object's own.
    if let inverse = destination.storedInverse(of: will),
      isMerged(inverse.relationship.name, of: inverse.entity.name)
    {
      return nil
    }
    let tree = source.entityTree(from: was.destinationEntity)
    // Objects mapped by code have an unknown result.
    let taken = Set(mapping.entityMappings.compactMap(\.sourceEntityName)).subtracting(becomes.keys)
    let removed = Set(
      mapping.entityMappings.filter { $0.destinationEntityName == nil && !$0.isCode }.compactMap(\.sourceEntityName))
    guard tree.allSatisfy({ $0.isAbstract || before.objects[$0.name] != nil }),
      !tree.contains(where: { taken.contains($0.name) && !removed.contains($0.name) })
    else { return nil }
    // Primary keys are unique within an entity tree.
    let surviving = Set(
      tree.filter { target in
        becomes[target.name].map { destination.isEntity($0, kindOf: will.destinationEntity) } ?? false
      }
      .flatMap { (before.objects[$0.name] ?? [:]).keys })
    // If the destination allows fewer links per object, some are dropped; none may be added.
    // Objects of a to-many relationship without inverse have one owner each.
    let wasInverseToOne = source.storedInverse(of: was).map { !$0.relationship.isToMany } ?? was.isToMany
    let willInverseToOne = destination.storedInverse(of: will).map { !$0.relationship.isToMany } ?? will.isToMany
    let isNarrowed = willInverseToOne && (!wasInverseToOne || isMerged(property.name, of: to))
    return { object in
      guard let links = object.links[name], let keys = links.keys else { return nil }
      let expected = keys.filter { surviving.contains($0) }.map { $0 + shift }
      if isNarrowed { return .some(of: Set(expected), atMostOne: !will.isToMany) }
      if !will.isToMany, was.isToMany { return .exactly(Array(expected.sorted().prefix(1))) }
      if case .exactly = links, was.isOrdered, will.isOrdered { return .exactly(expected) }
      return .set(Set(expected))
    }
  }
}

extension ExpectedContents {
  /// The changes that decisions about rows may have made.
  package struct Decided {
    /// The most objects that may be gone, by entity.
    package var removed: [String: Int64] = [:]
    package var made: [String: Int64] = [:]
    /// The entities whose missing values may have been filled.
    package var filled: Set<String> = []
    /// The entities whose missing links may have been filled.
    package var linked: Set<String> = []
    /// True if code may have created objects, of any entity.
    package var hasCode = false

    package init() {}
  }

  fileprivate static var empty: ExpectedContents { ExpectedContents() }

  /// At most one finding for each property.
  package func findings(in found: StoreContents, decided: Decided = Decided()) -> [MigrationFinding] {
    objects.ordered { $0.key }.flatMap { entity, objects in
      findings(entity, objects, found.objects[entity] ?? [:], decided)
    }
  }

  private func findings(
    _ entity: String, _ objects: [Int64: Object], _ found: [Int64: StoreContents.StoredObject],
    _ decided: Decided
  ) -> [MigrationFinding] {
    var findings: [MigrationFinding] = []
    let gone = objects.keys.filter { found[$0] == nil }
    if gone.count > Int(clamping: decided.removed[entity] ?? 0), let first = gone.min() {
      findings.append(
        .init(
          .objectsLost, entity,
          "\(gone.count) of \(objects.count) objects of \"\(entity)\" \(CountText.verb("are", gone.count)) missing, key \(first)"
        )
      )
    }
    let added = found.keys.filter { objects[$0] == nil }
    if let first = added.min(), !decided.hasCode, added.count != Int(clamping: decided.made[entity] ?? 0) {
      findings.append(
        .init(
          .objectsAdded, entity,
          "\(CountText.counted(added.count, "object")) of \"\(entity)\" came from nowhere, key \(first)"))
    }
    let kept = objects.filter { found[$0.key] != nil }
    for path in Set(kept.values.flatMap(\.values.keys)).ordered() {
      let wrong = kept.filter { key, object in
        guard let value = object.values[path], value != .null || !decided.filled.contains(entity) else { return false }
        return found[key]?.values[path] != value
      }
      guard let first = wrong.keys.min() else { continue }
      let was = wrong[first]?.values[path].map(Self.words) ?? ""
      let new = found[first]?.values[path].map(Self.words) ?? "nothing"
      findings.append(
        .init(
          .valuesChanged, entity, property: path,
          "\(CountText.counted(wrong.count, "value")) of \"\(entity).\(path)\" \(CountText.verb("are", wrong.count)) not as before: key \(first) has \(new), expected \(was)"
        ))
    }
    // Decisions may merge objects, and therefore their links.
    guard decided.removed.isEmpty else { return findings }
    for name in Set(kept.values.flatMap(\.links.keys)).ordered() {
      let wrong = kept.filter { key, object in
        guard let links = object.links[name], !decided.linked.contains(entity) || !links.isMet(by: []) else {
          return false
        }
        return !links.isMet(by: found[key]?.links[name] ?? [])
      }
      guard let first = wrong.keys.min() else { continue }
      findings.append(
        .init(
          .linksChanged, entity, property: name,
          "\(CountText.counted(wrong.count, "object")) of \"\(entity)\" \(CountText.verb("have", wrong.count)) other links by \"\(name)\" than before, key \(first)"
        ))
    }
    return findings
  }

  private static func words(_ value: SQLiteValue) -> String {
    switch value {
    case .null: "no value"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): "\"\(text.prefix(40))\"\(text.count > 40 ? "…" : "")"
    case .blob(let bytes): CountText.counted(bytes.count, "byte")
    }
  }
}

extension EntityMapping {
  var isCode: Bool { entityMigrationPolicyClassName != nil || entityMigrationPolicyClass != nil }

  fileprivate var selectsRows: Bool {
    guard let sourceExpression else { return false }
    return sourceExpression.sourceRows.map { $0.predicate != "TRUEPREDICATE" } ?? true
  }
}

extension AttributeDescription {
  /// The leaves whose stored values don't change, with their paths below the attribute.
  fileprivate func keptLeaves(of was: AttributeDescription) -> [(path: [String], leaf: AttributeDescription)] {
    guard type == was.type, !isTransient, !was.isTransient, derivation == nil, was.derivation == nil else { return [] }
    guard let composite, let old = was.composite else {
      return allowsExternalBinaryDataStorage == was.allowsExternalBinaryDataStorage ? [([], self)] : []
    }
    // If elements were renamed, they can't be matched by name.
    let isRenamed = composite.elements.contains { ($0.renamingIdentifier ?? $0.name) != $0.name }
    guard !isRenamed else { return [] }
    return composite.elements.flatMap { element in
      old.elements.first { $0.name == element.name }.map { other in
        element.keptLeaves(of: other).map { (path: [element.name] + $0.path, leaf: $0.leaf) }
      } ?? []
    }
  }
}
