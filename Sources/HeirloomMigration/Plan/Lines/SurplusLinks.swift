import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Links that the destination can't hold, counted in their final form.
///
/// A source relationship can't be counted alone: two to-one relationships that become one have two
/// links for an object, and a key identifies an object only in its destination tree.
struct SurplusLinks {
  /// A destination relationship that may not hold all links.
  private struct Side {
    let entity: String
    let relationship: RelationshipDescription
    let links: LinkUnion
  }

  private let crossing: Crossing
  private let sides: [Side]

  /// Finds to-one sides with several or to-many sources, and to-many sides without an inverse.
  init(_ crossing: Crossing, effects: [DataEffect]) {
    self.crossing = crossing
    var several: Set<[String]> = []
    for effect in effects {
      if case .severalLinks = effect.kind { several.insert([effect.entity] + effect.properties) }
    }
    let destination = crossing.destination
    sides = destination.model.entities.flatMap { entity in
      entity.relationships.compactMap { relationship in
        let isShared = relationship.isToMany && destination.model.storedInverse(of: relationship) == nil
        guard isShared || !relationship.isToMany,
          destination.storage(ofRelationship: relationship.name, in: entity.name) != nil,
          let links = crossing.links(of: relationship, declaredBy: entity.name),
          isShared || links.parts.count > 1 || several.contains([entity.name, relationship.name])
        else { return nil }
        return Side(entity: entity.name, relationship: relationship, links: links)
      }
    }
  }

  func cover(_ effect: DataEffect) -> Bool {
    switch effect.kind {
    case .severalLinks, .sharedLinks:
      sides.contains { $0.entity == effect.entity && [$0.relationship.name] == effect.properties }
    default: false
    }
  }

  var entries: [AskedEntry] {
    sides.map { side in
      let links = crossing.filtered(side.links, relationship: side.relationship, declaredBy: side.entity)
      let (sql, cause): (String, LossCause)
      if side.relationship.isToMany {
        // Each target keeps one of its owners; the other links are dropped.
        sql =
          "SELECT COUNT(DISTINCT owner) AS owners, COUNT(*) AS links FROM (SELECT owner, ROW_NUMBER() OVER (PARTITION BY"
          + " target ORDER BY owner) AS place FROM (SELECT DISTINCT owner, target FROM (\(links)))) WHERE place > 1"
        cause = .effect(.sharedLinks, entity: side.entity, properties: [side.relationship.name])
      } else {
        // Two relationships that refer to the same object lose nothing.
        sql =
          "SELECT COUNT(*) AS owners, SUM(n) AS links FROM (SELECT COUNT(DISTINCT target) - 1 AS n FROM (\(links))"
          + " GROUP BY owner) WHERE n > 0"
        cause =
          side.links.parts.count > 1
          ? .severalRelationships(name: "\(side.entity).\(side.relationship.name)")
          : .effect(.severalLinks(otherSide: nil), entity: side.entity, properties: [side.relationship.name])
      }
      return AskedEntry(.room(cause, side.entity, side.relationship.name), .links([sql]))
    }
  }
}
