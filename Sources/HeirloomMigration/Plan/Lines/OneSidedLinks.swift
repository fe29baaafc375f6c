import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Links of one-to-one relationships that only one side stores and that aren't carried.
///
/// Both rows of such a link should hold a key, but another program or a crash of an old framework
/// may have left only one.
struct OneSidedLinks {
  let crossing: Crossing
  /// Links with a line aren't reported again.
  let lines: LinkLines

  private var source: PhysicalSchema { crossing.source }

  var entries: [AskedEntry] {
    let drawn = drawnQueries
    func isDrawn(_ relationship: String, _ entity: String) -> Bool {
      [false, true].contains { query(relationship, entity, $0).map(drawn.contains) ?? false }
    }
    return source.model.entities.flatMap { entity in
      entity.relationships.compactMap { relationship -> AskedEntry? in
        guard !relationship.isToMany, let inverse = source.model.storedInverse(of: relationship),
          !inverse.relationship.isToMany,
          let own = query(relationship.name, entity.name, false),
          let other = query(inverse.relationship.name, inverse.entity.name, true), own != other,
          !isDrawn(relationship.name, entity.name), isDrawn(inverse.relationship.name, inverse.entity.name)
        else { return nil }
        // Code links the objects that it makes; links of dropped objects are reported with them.
        let carried = lines.carried(relationship, declaredBy: entity.name, own)
        guard !carried.isEmpty else { return nil }
        let cause = LossCause.oneSided(
          name: "\(entity.name).\(relationship.name)", other: "\(inverse.entity.name).\(inverse.relationship.name)")
        return AskedEntry(
          .links(cause, entity.name, relationship.name),
          .links([
            "SELECT COUNT(DISTINCT owner) AS owners, COUNT(*) AS links FROM (SELECT owner, target FROM"
              + " (\(carried.united())) EXCEPT SELECT owner, target FROM (\(other.sql)))"
          ]))
      }
    }
  }

  private func query(_ relationship: String, _ entity: String, _ isReversed: Bool) -> LinkQuery? {
    source.links(of: relationship, in: entity, isReversed: isReversed)
  }

  /// The links from which the destination's key columns and join tables are filled.
  private var drawnQueries: Set<LinkQuery> {
    let destination = crossing.destination
    var drawn: Set<LinkQuery> = []
    func draw(_ relationship: RelationshipDescription, _ entity: String) {
      drawn.formUnion(crossing.links(of: relationship, declaredBy: entity)?.parts ?? [])
    }
    for entity in destination.model.entities {
      for relationship in entity.relationships {
        switch destination.storage(ofRelationship: relationship.name, in: entity.name) {
        // The other side holds the keys; join tables are handled below.
        case .inverseKey, .join, nil: continue
        case .inverselessKey: draw(relationship, entity.name)
        case .key:
          // Each side's keys are copied; links of several relationships are collected on one side.
          let isCopied = (crossing.links(of: relationship, declaredBy: entity.name)?.parts.count ?? 0) < 2
          let isPair = destination.model.storedInverse(of: relationship).map { !$0.relationship.isToMany } ?? false
          let side = PairSide(of: relationship, declaredBy: entity.name, in: destination.model)
          if isCopied || !isPair { draw(relationship, entity.name) } else { draw(side.relationship, side.entity) }
        }
      }
    }
    // Both sides of a many-to-many relationship share one table, filled from one of them.
    for case .links(let entity, let name) in destination.tables.map(\.kind) {
      guard let relationship = destination.model.relationship(named: name, of: entity) else { continue }
      draw(relationship, entity)
    }
    return drawn
  }
}
