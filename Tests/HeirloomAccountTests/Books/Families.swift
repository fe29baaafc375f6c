/// Properties of both versions, grouped: those that continue each other are one family.
///
/// A loss may be told by the source's name or the destination's, for the entity that declares the property or for each
/// that inherits it; the family is the same.
final class Families {
  private struct Member: Hashable {
    let isSource: Bool
    let name: Layout.Name
  }

  private var parents: [Member: Member] = [:]
  private var numbers: [Member: Int] = [:]
  private let matching: Matching

  init(_ matching: Matching) {
    self.matching = matching
    for entity in matching.source.model.entities.map(\.name) {
      for attribute in matching.source.attributes[entity] ?? [] {
        let own = Layout.Name(entity: attribute.entity, property: attribute.property.name)
        guard let heir = matching.heir(of: attribute.property, in: entity) else { continue }
        unite(own, Layout.Name(entity: heir.entity, property: heir.property.name))
      }
      for relationship in matching.source.relationships[entity] ?? [] {
        let own = Layout.Name(entity: relationship.entity, property: relationship.property.name)
        guard let heir = matching.heir(of: relationship.property, in: entity) else { continue }
        unite(own, Layout.Name(entity: heir.entity, property: heir.property.name))
      }
    }
  }

  private func unite(_ source: Layout.Name, _ destination: Layout.Name) {
    let (first, second) = (
      root(of: Member(isSource: true, name: source)), root(of: Member(isSource: false, name: destination))
    )
    if first != second { parents[first] = second }
  }

  private func root(of member: Member) -> Member {
    var member = member
    while let next = parents[member] { member = next }
    return member
  }

  private func number(of member: Member) -> Int {
    let root = root(of: member)
    if let number = numbers[root] { return number }
    numbers[root] = numbers.count
    return numbers.count - 1
  }

  func family(ofSource name: Layout.Name) -> Int { number(of: Member(isSource: true, name: name)) }

  /// Returns `nil` if neither version has such a property.
  ///
  /// Losses are told by the source's names; only values that change, and links that find too little
  /// room, may be told by the destination's. A relationship that is new there tells the losses of
  /// its inverse.
  func family(told loss: ToldLoss) -> Int? {
    guard let property = loss.property else { return nil }
    let source = declared(property, of: loss.entity, in: matching.source).map { Member(isSource: true, name: $0) }
    let destination = declared(property, of: loss.entity, in: matching.destination).map(old)
    let member = loss.kind == .changedValues ? destination ?? source : source ?? destination
    return member.map(number)
  }

  /// The property if it continues something, or else its inverse.
  private func old(_ name: Layout.Name) -> Member {
    let member = Member(isSource: false, name: name)
    guard parents[member] == nil, !parents.values.contains(member),
      let inverse = matching.destination.relationship(name).flatMap(matching.destination.model.inverse)
    else { return member }
    return Member(isSource: false, name: Layout.Name(entity: inverse.entity, property: inverse.property.name))
  }

  private func declared(_ property: String, of entity: String, in layout: Layout) -> Layout.Name? {
    if let found = (layout.attributes[entity] ?? []).first(where: { $0.property.name == property }) {
      return Layout.Name(entity: found.entity, property: property)
    }
    guard let found = (layout.relationships[entity] ?? []).first(where: { $0.property.name == property }) else {
      return nil
    }
    return Layout.Name(entity: found.entity, property: property)
  }
}
