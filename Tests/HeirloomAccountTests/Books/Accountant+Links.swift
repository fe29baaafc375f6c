extension Accountant {
  private struct Line {
    var places: Set<String> = []
    /// Those of objects that have heirs.
    var lost: Set<Link> = []
    /// The number of those that this family alone can tell.
    var alone = 0
    /// The inverses' families.
    var inverses: Set<Int> = []
  }

  /// A link is one fact, which a relationship and its inverse both tell.
  ///
  /// It is carried if what continues the relationship has it, by either side's account. What
  /// continues the inverse alone has it, if nothing continues the relationship, or if the inverse
  /// alone told it before. A lost link is told by either of the two, or by both. A link between two
  /// objects that go is told with them; of a link of which one end goes, the relationship of the
  /// object that stays tells.
  func links() -> [Imbalance] {
    let own = Links(in: before, matching.source, objectsBefore)
    let heirs = HeirLinks(matching, Links(in: after, matching.destination, objectsAfter))
    var lines: [Int: Line] = [:]
    var imbalances: [Imbalance] = []
    for entity in matching.source.model.entities {
      for relationship in entity.relationships where !relationship.isTransient {
        let name = Layout.Name(entity: entity.name, property: relationship.name)
        let inverse = matching.source.model.inverse(of: relationship)
        let family = families.family(ofSource: name)
        var line = lines[family] ?? Line()
        line.places.insert("\(name.entity).\(name.property)")
        if let inverse {
          line.inverses.insert(
            families.family(ofSource: Layout.Name(entity: inverse.entity, property: inverse.property.name)))
        }
        let known = own.own(of: name)
        for link in own.all(of: name) {
          let (owner, target) = (objectsBefore.entity(link.owner), objectsBefore.entity(link.target))
          guard moves[link.owner] != nil else { continue }
          guard let moved = moves[link] else {
            line.lost.insert(link)
            line.alone += 1
            continue
          }
          // What a relationship that stays has told itself, it has to tell; the rest may stay with the inverse.
          let mayLeave =
            !known.contains(link) || owner.flatMap { matching.heir(of: relationship, in: $0) } == nil
          let isThere =
            heirs.contain(moved, of: relationship, in: owner)
            || mayLeave && inverse.map { heirs.contain(moved.reversed, of: $0.property, in: target) } ?? false
          if isThere { continue }
          line.lost.insert(link)
          if inverse == nil { line.alone += 1 }
        }
        lines[family] = line
        imbalances += oneSided(name, relationship, own, heirs) + misordered(name, relationship, own, heirs)
        imbalances += misnumbered(name, relationship, own)
      }
    }
    return imbalances + balance(lines)
  }

  /// Lost links of two relationships that become inverses, as links of the first; a link that both
  /// told is one now.
  func lostLinks(joining first: Layout.Name, _ second: Layout.Name) -> Set<Link> {
    let own = Links(in: before, matching.source, objectsBefore)
    let heirs = HeirLinks(matching, Links(in: after, matching.destination, objectsAfter))
    guard let relationship = matching.source.relationship(first) else { return [] }
    return own.own(of: first).union(own.own(of: second).map(\.reversed)).filter { link in
      moves[link].map { !heirs.contain($0, of: relationship, in: objectsBefore.entity(link.owner)) } ?? true
    }
  }

  private func balance(_ lines: [Int: Line]) -> [Imbalance] {
    var lines = lines
    var told: [Int: Int] = [:]
    for loss in self.told where loss.kind == .links {
      guard let family = families.family(told: loss) else { continue }
      told[family, default: 0] += loss.amount
      if lines[family] == nil { lines[family] = Line(places: ["\(loss)"]) }
    }
    return lines.compactMap { family, line in
      let amount = told[family] ?? 0
      let others = line.inverses.subtracting([family])
      // Each link is told by one of the two at least.
      let both = amount + others.reduce(0) { $0 + (told[$1] ?? 0) }
      if amount >= line.alone, amount <= line.lost.count, both >= line.lost.count { return nil }
      return Imbalance(
        line: "\(line.places.sorted().joined(separator: ", "))", lost: line.lost.count, told: amount, kind: "links")
    }
  }

  /// Links that both sides of a one-to-one relationship stored, and now only the inverse does.
  private func oneSided(
    _ name: Layout.Name, _ relationship: XMLModel.Relationship, _ own: Links, _ heirs: HeirLinks
  ) -> [Imbalance] {
    guard !relationship.isToMany, let inverse = matching.source.model.inverse(of: relationship),
      !inverse.property.isToMany
    else { return [] }
    let back = own.own(of: Layout.Name(entity: inverse.entity, property: inverse.property.name))
    let lost = own.own(of: name).filter { link in
      guard back.contains(link.reversed), let moved = moves[link], let owner = objectsBefore.entity(link.owner),
        let heir = matching.heir(of: relationship, in: owner), !heir.property.isToMany
      else { return false }
      let isBack = heirs.contain(moved.reversed, of: inverse.property, in: objectsBefore.entity(link.target))
      return isBack && !heirs.containOwn(moved, of: relationship, in: owner)
    }
    if lost.isEmpty { return [] }
    return [Imbalance(line: "\(name.entity).\(name.property), own column", lost: lost.count, told: 0, kind: "links")]
  }

  /// Owners whose targets were in an order before, and are in another one after.
  private func misordered(
    _ name: Layout.Name, _ relationship: XMLModel.Relationship, _ own: Links, _ heirs: HeirLinks
  ) -> [Imbalance] {
    var sequences: [ObjectKey: [(before: Int64, after: Int64)]] = [:]
    for (link, place) in own.places(of: name) {
      guard let moved = moves[link],
        let heirPlace = heirs.place(of: moved, relationship, in: objectsBefore.entity(link.owner))
      else { continue }
      sequences[link.owner, default: []].append((place, heirPlace))
    }
    let lost = sequences.values.count { sequence in
      let sorted = sequence.sorted { $0.before < $1.before }
      return zip(sorted, sorted.dropFirst()).contains { $0.before < $1.before && $0.after >= $1.after }
    }
    return lost == 0
      ? [] : [Imbalance(line: "\(name.entity).\(name.property), owners", lost: lost, told: 0, kind: "orders")]
  }

  /// Keys beside which the number of the target's entity is wrong now, and wasn't before.
  private func misnumbered(
    _ name: Layout.Name, _ relationship: XMLModel.Relationship, _ own: Links
  ) -> [Imbalance] {
    guard !relationship.isToMany, let table = matching.source.tables[name.entity] else { return [] }
    let numbers = matching.source.numberColumn(of: name).map { before.values(of: $0, in: table) }
    let lost = own.own(of: name).count { link in
      guard let moved = moves[link], let owner = objectsBefore.entity(link.owner),
        let target = objectsBefore.entity(link.target), let heir = matching.heir(of: relationship, in: owner)
      else { return false }
      let heirName = Layout.Name(entity: heir.entity, property: heir.property.name)
      guard let column = matching.destination.columns[heirName],
        after.values(of: column, in: moved.owner.table)[moved.owner.key] == .integer(moved.target.key),
        let numberColumn = matching.destination.numberColumn(of: heirName)
      else { return false }
      if let numbers, numbers[link.owner.key]?.integer != matching.source.numbers[target] { return false }
      let number = after.values(of: numberColumn, in: moved.owner.table)[moved.owner.key]?.integer
      return number != objectsAfter.entity(moved.target).flatMap { matching.destination.numbers[$0] }
    }
    return lost == 0
      ? [] : [Imbalance(line: "\(name.entity).\(name.property), numbers", lost: lost, told: 0, kind: "entities")]
  }
}
