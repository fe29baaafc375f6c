import HeirloomModel

struct SampleLinks {
  private(set) var plans: [SampleObjects.Plan]

  private let model: ManagedObjectModel
  /// By entity, without those of subentities.
  private let positions: [String: [Int]]

  init(model: ManagedObjectModel, plans: [SampleObjects.Plan]) {
    self.model = model
    self.plans = plans
    positions = Dictionary(grouping: plans.indices) { plans[$0].entity }
  }

  private struct Side {
    let relationship: RelationshipDescription
    let inverse: RelationshipDescription?
    let owners: [Int]
    let targets: [Int]

    var need: Int { relationship.isOptional ? 0 : max(1, relationship.minCount) }
    var room: Int { relationship.maxCount > 0 ? relationship.maxCount : .max }
  }

  /// Enough of each entity for objects that need a target of their own.
  static func numbers(of model: ManagedObjectModel, objectsPerEntity: Int) -> [String: Int] {
    func kinds(_ name: String) -> [String] { model.entityTree(from: name).filter { !$0.isAbstract }.map(\.name) }
    var numbers = Dictionary(
      model.entities.filter { !$0.isAbstract }.map { ($0.name, objectsPerEntity) }, uniquingKeysWith: max)
    // Chains of required relationships are short; a cycle that needs ever more isn't followed.
    for _ in 0..<3 {
      for entity in model.entities {
        for relationship in entity.relationships
        where !relationship.isTransient && !relationship.isToMany && !relationship.isOptional {
          guard let inverse = model.storedInverse(of: relationship)?.relationship, !inverse.isToMany else { continue }
          let targets = kinds(relationship.destinationEntity)
          let needed = kinds(entity.name).reduce(0) { $0 + (numbers[$1] ?? 0) }
          let share = min(objectsPerEntity * 16, (needed + max(1, targets.count) - 1) / max(1, targets.count))
          for target in targets { numbers[target] = max(numbers[target] ?? 0, share) }
        }
      }
    }
    return numbers
  }

  mutating func link(using random: inout SplitMix64) {
    var done: Set<[String]> = []
    for entity in model.entities {
      for relationship in entity.relationships where !relationship.isTransient {
        guard done.insert([entity.name, relationship.name]).inserted else { continue }
        let inverse = model.storedInverse(of: relationship)
        if let inverse { done.insert([inverse.entity.name, inverse.relationship.name]) }
        let owners = objects(of: entity.name)
        let targets = objects(of: relationship.destinationEntity)
        let side = Side(
          relationship: relationship, inverse: inverse?.relationship, owners: owners, targets: targets)
        let isOwnInverse = inverse.map { $0.entity.name == entity.name && $0.relationship.name == relationship.name }
        link(side, isOwnInverse: isOwnInverse ?? false, in: entity, using: &random)
      }
    }
    leaveOutIncomplete()
  }

  private func objects(of entity: String) -> [Int] {
    model.entityTree(from: entity).flatMap { positions[$0.name] ?? [] }
  }

  private mutating func link(
    _ side: Side, isOwnInverse: Bool, in entity: EntityDescription, using random: inout SplitMix64
  ) {
    let other = side.inverse
    if isOwnInverse { return linkPairs(side, using: &random) }
    switch (side.relationship.isToMany, other?.isToMany) {
    case (false, nil):
      // If a constraint covers the link alone, each object may be its target only once.
      let isAlone = entity.uniquenessConstraints.contains([side.relationship.name])
      isAlone ? linkOnce(side, using: &random) : linkChildren(side, using: &random)
    case (false, true?): linkChildren(side, using: &random)
    case (false, false?): linkOnce(side, using: &random)
    case (true, false?):
      let children = Side(
        relationship: other ?? side.relationship, inverse: side.relationship, owners: side.targets, targets: side.owners
      )
      linkChildren(children, using: &random)
    case (true, true?): linkMany(side, using: &random)
    case (true, nil): linkMembers(side, using: &random)
    }
  }

  private mutating func note(_ side: Side, _ owner: Int, _ target: Int) {
    plans[owner].links[side.relationship.name, default: []].append(target)
    if let inverse = side.inverse { plans[target].links[inverse.name, default: []].append(owner) }
  }

  private func count(_ position: Int, _ name: String) -> Int { plans[position].links[name]?.count ?? 0 }

  /// For a relationship that is its own inverse, such as friends or a partner.
  private mutating func linkPairs(_ side: Side, using random: inout SplitMix64) {
    let common = Set(side.owners).intersection(side.targets).sorted().shuffled(using: &random)
    let name = side.relationship.name
    for index in stride(from: 0, to: common.count - 1, by: 2) {
      plans[common[index]].links[name, default: []].append(common[index + 1])
      plans[common[index + 1]].links[name, default: []].append(common[index])
    }
  }

  private mutating func linkOnce(_ side: Side, using random: inout SplitMix64) {
    let isNeeded = !side.relationship.isOptional || side.inverse.map { !$0.isOptional } ?? false
    var targets = side.targets.shuffled(using: &random)
    // Targets may run out; the random order gives each entity some.
    for owner in side.owners.shuffled(using: &random) where isNeeded || random.below(5) != 0 {
      guard let target = targets.popLast() else { return }
      note(side, owner, target)
    }
  }

  /// From objects with one link each to objects with many.
  private mutating func linkChildren(_ side: Side, using random: inout SplitMix64) {
    guard !side.targets.isEmpty else { return }
    let parents = Side(
      relationship: side.inverse ?? side.relationship, inverse: nil, owners: side.targets, targets: side.owners)
    let need = side.inverse == nil ? 0 : parents.need
    let room = side.inverse == nil ? .max : parents.room
    let possible = Set(side.targets)
    let isTree = !possible.isDisjoint(with: side.owners)
    var waiting = side.targets.flatMap { Array(repeating: $0, count: need) }.makeIterator()
    // In a tree, linking an object to the previous one makes some chains deep.
    for (index, owner) in (isTree ? side.owners : side.owners.shuffled(using: &random)).enumerated() {
      if let parent = waiting.next() {
        note(side, owner, parent)
        continue
      }
      guard side.need > 0 || random.below(5) != 0 else { continue }
      var parent = side.targets[random.below(side.targets.count)]
      if isTree, index > 0, random.below(4) != 0 { parent = side.owners[index - 1] }
      guard possible.contains(parent) else { continue }
      if let inverse = side.inverse, count(parent, inverse.name) >= room {
        guard let other = side.targets.first(where: { count($0, inverse.name) < room }) else { continue }
        parent = other
      }
      note(side, owner, parent)
    }
  }

  private mutating func linkMany(_ side: Side, using random: inout SplitMix64) {
    guard let inverse = side.inverse else { return }
    let room = inverse.maxCount > 0 ? inverse.maxCount : .max
    for owner in side.owners {
      let wanted = min(side.room, max(side.need, random.below(4)))
      for _ in 0..<wanted where !side.targets.isEmpty {
        link(owner, by: side, toSomeOf: side.targets, room: room, using: &random)
      }
    }
    let need = inverse.isOptional ? 0 : max(1, inverse.minCount)
    for target in side.targets {
      let start = side.owners.isEmpty ? 0 : random.below(side.owners.count)
      for owner in side.owners[start...] + side.owners[..<start] {
        if count(target, inverse.name) >= need { break }
        guard count(owner, side.relationship.name) < side.room, !isLinked(owner, side, target) else { continue }
        note(side, owner, target)
      }
    }
  }

  private func isLinked(_ owner: Int, _ side: Side, _ target: Int) -> Bool {
    plans[owner].links[side.relationship.name]?.contains(target) ?? false
  }

  private mutating func link(
    _ owner: Int, by side: Side, toSomeOf targets: [Int], room: Int, using random: inout SplitMix64
  ) {
    let start = random.below(targets.count)
    for index in targets.indices {
      let target = targets[(start + index) % targets.count]
      guard let inverse = side.inverse, count(target, inverse.name) < room, !isLinked(owner, side, target) else {
        continue
      }
      return note(side, owner, target)
    }
  }

  /// For links without an inverse, each to a different target.
  private mutating func linkMembers(_ side: Side, using random: inout SplitMix64) {
    guard !side.owners.isEmpty else { return }
    var targets = side.targets.shuffled(using: &random)
    for owner in side.owners {
      for _ in 0..<side.need { if let target = targets.popLast() { note(side, owner, target) } }
    }
    for target in targets where random.below(3) != 0 {
      let owner = side.owners[random.below(side.owners.count)]
      if count(owner, side.relationship.name) < side.room { note(side, owner, target) }
    }
  }

  /// Also leaves out objects that required one that is left out.
  private mutating func leaveOutIncomplete() {
    var isStable = false
    while !isStable {
      isStable = true
      for index in plans.indices where !plans[index].isOut {
        let isIncomplete = model.relationships(of: plans[index].entity).contains { relationship in
          guard !relationship.isTransient, !relationship.isOptional else { return false }
          let links = (plans[index].links[relationship.name] ?? []).filter { !plans[$0].isOut }
          return links.count < (relationship.isToMany ? relationship.minCount : 1)
        }
        guard isIncomplete else { continue }
        plans[index].isOut = true
        isStable = false
      }
    }
    // An optional to-many relationship has either no links or at least its minimum.
    for index in plans.indices where !plans[index].isOut {
      for relationship in model.relationships(of: plans[index].entity) where relationship.isToMany {
        let links = (plans[index].links[relationship.name] ?? []).filter { !plans[$0].isOut }
        guard relationship.isOptional, !links.isEmpty, links.count < relationship.minCount else { continue }
        for target in links {
          if let inverse = model.storedInverse(of: relationship)?.relationship.name {
            plans[target].links[inverse]?.removeAll { $0 == index }
          }
        }
        plans[index].links[relationship.name] = []
      }
    }
  }
}
