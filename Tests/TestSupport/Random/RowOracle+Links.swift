import HeirloomModel
import HeirloomStore

extension RowOracle {
  private struct Link {
    let owner: Reference
    let target: Reference
    /// Among the owner's targets; `nil` without an order.
    var place: Int?
  }

  mutating func migrateLinks(of relationship: RandomModel.Relationship, declaredBy entity: RandomModel.Entity) {
    let inverse = destination.inverse(of: relationship)
    let isSelfInverse = inverse?.relationship.key == relationship.key
    var origins: Set<Int> = []
    var links = ownLinks(of: relationship, declaredBy: entity.origin, origins: &origins)
    let isOwnAlone = origins.count == 1
    if let inverse, !isSelfInverse {
      // These are the origins of the other side, except the inverses of origins that are kept already.
      var others = Set(origins.compactMap { source.relationship($0)?.relationship.inverse })
      let known = others
      let reversed = ownLinks(of: inverse.relationship, declaredBy: inverse.entity.origin, origins: &others)
      if !others.subtracting(known).isEmpty {
        links += turned(reversed, by: others.subtracting(known))
        origins.formUnion(others.subtracting(known))
      }
    }
    let isAlone = isOwnAlone && origins.count == 1
    var kept = links.filter { link in
      guard let owner = homes[link.owner], let target = homes[link.target] else { return false }
      return destination.isKind(owner, of: entity.origin) && destination.isKind(target, of: relationship.destination)
    }
    let isToMany = relationship.description.isToMany
    let mayShare = inverse.map { $0.relationship.description.isToMany } ?? !isToMany
    if !isToMany, !mayShare, isSelfInverse || !isAlone || wasShared(relationship, entity) {
      if let inverse {
        pairings.append(
          Pairing(
            entity: entity.description.name, relationship: relationship.description.name,
            inverseEntity: inverse.entity.description.name, inverse: inverse.relationship.description.name,
            links: kept.map { (newKey(of: $0.owner), newKey(of: $0.target)) }))
      }
      return
    }
    if !isToMany || inverse != nil && !mayShare || inverse == nil && isToMany {
      let byKeys = kept.sorted {
        (newKey(of: $0.owner), newKey(of: $0.target)) < (newKey(of: $1.owner), newKey(of: $1.target))
      }
      var owners: [Reference: Reference] = [:]
      var targets: [Reference: Reference] = [:]
      for link in byKeys {
        if !isToMany, targets[link.owner] == nil { targets[link.owner] = link.target }
        if isToMany, owners[link.target] == nil { owners[link.target] = link.owner }
      }
      kept = kept.filter { isToMany ? owners[$0.target] == $0.owner : targets[$0.owner] == $0.target }
    }
    place(kept, of: relationship, declaredBy: entity)
  }

  private mutating func place(
    _ links: [Link], of relationship: RandomModel.Relationship, declaredBy entity: RandomModel.Entity
  ) {
    let groups = Dictionary(grouping: links, by: \.owner)
    for (owner, links) in groups {
      let keys = links.map { (place: $0.place ?? .max, key: newKey(of: $0.target)) }
      let sorted = relationship.description.isOrdered ? keys.sorted { $0 < $1 } : keys.sorted { $0.key < $1.key }
      guard let home = homes[owner].flatMap({ destination.entity($0) }) else { continue }
      setLinks(
        sorted.map(\.key), of: relationship.description.name, entity: home.description.name,
        key: newKey(of: owner))
    }
    guard !relationship.description.isToMany, !relationship.description.isOptional else { return }
    let lacking = homes.filter { reference, home in
      destination.isKind(home, of: entity.origin) && groups[reference] == nil
    }
    if !lacking.isEmpty {
      block("missingLink \(entity.description.name).\(relationship.description.name)", Int64(lacking.count))
    }
  }

  /// True unless the links were already one-to-one.
  private func wasShared(_ relationship: RandomModel.Relationship, _ entity: RandomModel.Entity) -> Bool {
    guard let old = sourceRelationship(of: relationship, declaredBy: entity.origin), !old.description.isToMany,
      let inverse = source.inverse(of: old)
    else { return true }
    return inverse.relationship.description.isToMany
  }

  private func sourceRelationship(
    of relationship: RandomModel.Relationship, declaredBy entity: Int
  ) -> RandomModel.Relationship? {
    for heir in destination.tree(of: entity) {
      guard let old = source.entity(heir.origin) else { continue }
      for candidate in source.relationships(of: old.origin)
      where !candidate.origins.isDisjoint(with: relationship.origins) && !candidate.description.isTransient {
        return candidate
      }
    }
    return nil
  }

  /// The links of the source relationships that `relationship` continues; adds their keys to
  /// `origins` and skips relationships whose keys are already there.
  private func ownLinks(
    of relationship: RandomModel.Relationship, declaredBy entity: Int, origins: inout Set<Int>
  ) -> [Link] {
    let known = origins
    var links: [Link] = []
    for heir in destination.tree(of: entity) {
      guard let old = source.entity(heir.origin),
        let origin = source.relationships(of: old.origin).first(where: {
          !$0.origins.isDisjoint(with: relationship.origins) && !$0.description.isTransient
        }), !known.contains(origin.key)
      else { continue }
      origins.insert(origin.key)
      let (ownRoot, otherRoot) = (source.root(of: old.origin), source.root(of: origin.destination))
      for (key, object) in before.objects[old.description.name] ?? [:] {
        for (place, target) in (object.links[origin.description.name] ?? []).enumerated() {
          links.append(
            Link(
              owner: Reference(root: ownRoot, key: key), target: Reference(root: otherRoot, key: target),
              place: origin.description.isOrdered ? place : nil))
        }
      }
    }
    return links
  }

  /// As seen from the targets, in the targets' order.
  private func turned(_ links: [Link], by origins: Set<Int>) -> [Link] {
    var places: [[Reference]: Int] = [:]
    for key in origins {
      guard let origin = source.relationship(key)?.relationship,
        let old = source.inverse(of: origin)?.relationship, old.description.isOrdered
      else { continue }
      places.merge(storedOrder(of: old)) { first, _ in first }
    }
    return links.map { Link(owner: $0.target, target: $0.owner, place: places[[$0.target, $0.owner]]) }
  }

  private func storedOrder(of relationship: RandomModel.Relationship) -> [[Reference]: Int] {
    var order: [[Reference]: Int] = [:]
    guard let entity = source.relationship(relationship.key)?.entity else { return [:] }
    let (ownRoot, otherRoot) = (source.root(of: entity.origin), source.root(of: relationship.destination))
    for heir in source.tree(of: entity.origin) {
      for (key, object) in before.objects[heir.description.name] ?? [:] {
        for (index, target) in (object.links[relationship.description.name] ?? []).enumerated() {
          order[[Reference(root: ownRoot, key: key), Reference(root: otherRoot, key: target)]] = index
        }
      }
    }
    return order
  }
}

// MARK: - Losses

extension RowOracle {
  /// Links that are gone although both objects are there and no loss names them: one line for each
  /// relationship.
  ///
  /// `lost` are the plan's losses, as `Entity.property`.
  package func unreportedLinks(in found: StoreContents, lost: Set<String>) -> [String] {
    source.entities.flatMap { entity in
      entity.relationships.compactMap { unreported($0, of: entity, in: found, lost: lost) }
    }
  }

  private func unreported(
    _ relationship: RandomModel.Relationship, of entity: RandomModel.Entity, in found: StoreContents, lost: Set<String>
  ) -> String? {
    guard !relationship.description.isTransient else { return nil }
    var names: Set = ["\(entity.description.name).\(relationship.description.name)"]
    var heirs: [(RandomModel.Relationship, isReversed: Bool)] = []
    let inverse = source.inverse(of: relationship)
    if let inverse { names.insert("\(inverse.entity.description.name).\(inverse.relationship.description.name)") }
    for other in destination.entities {
      for candidate in other.relationships where !candidate.description.isTransient {
        let isHeir = !candidate.origins.isDisjoint(with: relationship.origins)
        let isReversed = inverse.map { !candidate.origins.isDisjoint(with: $0.relationship.origins) } ?? false
        guard isHeir || isReversed else { continue }
        heirs.append((candidate, isReversed: !isHeir))
        names.insert("\(other.description.name).\(candidate.description.name)")
        if let back = destination.inverse(of: candidate) {
          names.insert("\(back.entity.description.name).\(back.relationship.description.name)")
        }
      }
    }
    let (ownRoot, otherRoot) = (source.root(of: entity.origin), source.root(of: relationship.destination))
    for owner in source.tree(of: entity.origin) {
      for (key, object) in before.objects[owner.description.name] ?? [:] {
        for target in object.links[relationship.description.name] ?? [] {
          let (own, other) = (Reference(root: ownRoot, key: key), Reference(root: otherRoot, key: target))
          guard let home = homes[own], let targetHome = homes[other] else { continue }
          let (newKey, newTarget) = (newKey(of: own), newKey(of: other))
          let isThere = heirs.contains { heir, isReversed in
            let from = isReversed ? targetHome : home
            let (fromKey, toKey) = isReversed ? (newTarget, newKey) : (newKey, newTarget)
            let name = destination.entity(from)?.description.name ?? ""
            return found.objects[name]?[fromKey]?.links[heir.description.name]?.contains(toKey) ?? false
          }
          if !isThere, lost.isDisjoint(with: names) {
            return "\(names.sorted()): \(key) → \(target) is gone, and the plan doesn't say so"
          }
        }
      }
    }
    return nil
  }
}

// MARK: - Comparing

extension RowOracle {
  package func differences(from found: StoreContents) -> [String] {
    let expected = derivedContents(with: found)
    var found = found
    var differences: [String] = pairings.flatMap { takeOut($0, from: &found) }
    for (entity, objects) in expected.objects.sorted(by: { $0.key < $1.key }) {
      let others = found.objects[entity] ?? [:]
      for (key, object) in objects.sorted(by: { $0.key < $1.key }) {
        guard let other = others[key] else {
          differences.append("\(entity) \(key) is gone")
          continue
        }
        for path in Set(object.values.keys).union(other.values.keys).sorted()
        where object.values[path] != other.values[path] {
          differences.append(
            "\(entity) \(key) \(path): \(other.values[path].map { "\($0)" } ?? "-"), expected \(object.values[path].map { "\($0)" } ?? "-")"
          )
        }
        for name in Set(object.links.keys).union(other.links.keys).sorted()
        where object.links[name] != other.links[name] {
          differences.append(
            "\(entity) \(key) \(name) → \(other.links[name] ?? []), expected \(object.links[name] ?? [])")
        }
        if object.saves != other.saves {
          differences.append("\(entity) \(key): \(other.saves) saves, expected \(object.saves)")
        }
      }
      for key in others.keys where objects[key] == nil { differences.append("\(entity) \(key) came from nowhere") }
    }
    for entity in found.objects.keys where expected.objects[entity] == nil {
      differences.append("\(entity) is unknown")
    }
    return differences
  }

  /// Takes the links of pairings from `found`: derived values may follow from one of several right
  /// choices of links.
  private func derivedContents(with found: StoreContents) -> StoreContents {
    var linked = after
    for pairing in pairings {
      for entity in tree(ofName: pairing.entity) {
        for (key, object) in found.objects[entity] ?? [:] {
          linked.objects[entity]?[key]?.links[pairing.relationship] = object.links[pairing.relationship]
        }
      }
    }
    linked = destination.derived(linked)
    for pairing in pairings {
      for entity in tree(ofName: pairing.entity) {
        for key in (linked.objects[entity] ?? [:]).keys {
          linked.objects[entity]?[key]?.links[pairing.relationship] = nil
        }
      }
    }
    return linked
  }

  /// Checks a newly one-to-one relationship and removes its links from `found`.
  private func takeOut(_ pairing: Pairing, from found: inout StoreContents) -> [String] {
    var differences: [String] = []
    var targets: [Int64: Int64] = [:]
    for entity in tree(ofName: pairing.entity) {
      for (key, object) in found.objects[entity] ?? [:] {
        guard let links = object.links[pairing.relationship] else { continue }
        found.objects[entity]?[key]?.links[pairing.relationship] = nil
        targets[key] = links.first
        if links.count != 1 { differences.append("\(entity) \(key) \(pairing.relationship) has \(links)") }
      }
    }
    let subject = "\(pairing.entity).\(pairing.relationship)"
    let isOwnInverse = pairing.entity == pairing.inverseEntity && pairing.relationship == pairing.inverse
    if !isOwnInverse, Set(targets.values).count != targets.count {
      differences.append("\(subject) shares objects: \(targets)")
    }
    for (owner, target) in targets where !pairing.links.contains(where: { $0 == (owner, target) }) {
      differences.append("\(subject): \(owner) → \(target) came from nowhere")
    }
    if isOwnInverse { return differences }
    let taken = Set(targets.values)
    for link in pairing.links where targets[link.owner] == nil && !taken.contains(link.target) {
      differences.append("\(subject): \(link.owner) → \(link.target) is lost although both are free")
    }
    // The other side has its own turn; here both must agree.
    for entity in tree(ofName: pairing.inverseEntity) {
      for (key, object) in found.objects[entity] ?? [:] {
        guard let back = object.links[pairing.inverse]?.first else { continue }
        if targets[back] != key {
          differences.append("\(subject): \(key) leads back to \(back), which leads to \(targets[back] ?? 0)")
        }
      }
    }
    return differences
  }

  private func tree(ofName name: String) -> [String] {
    guard let entity = destination.entities.first(where: { $0.description.name == name }) else { return [] }
    return destination.tree(of: entity.origin).map(\.description.name)
  }
}
