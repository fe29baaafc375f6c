import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The links of one-to-one relationships that one side alone has, and that do not go on.
///
/// Both rows of such a link hold a key, and another program, or a crash of an old framework, may have left one of them.
/// Where the destination draws from one side's keys only, the links that the other side alone has would be gone.
struct OneSidedLinks {
  let crossing: Crossing
  /// The other lines of links: what these tell is not told again.
  let lines: LinkLines

  private var source: PhysicalSchema { crossing.source }

  /// The links of sides from which nothing is drawn, though something is from the other.
  var entries: [AskedEntry] {
    let drawn = drawnQueries
    func isDrawn(_ relationship: String, _ entity: String) -> Bool {
      [false, true].contains { query(relationship, entity, $0).map(drawn.contains) ?? false }
    }
    return source.model.entities.flatMap { entity in
      entity.relationships.compactMap { relationship -> AskedEntry? in
        guard !relationship.isToMany, let inverse = source.model.inverse(of: relationship),
          !inverse.relationship.isToMany,
          let own = query(relationship.name, entity.name, false),
          let other = query(inverse.relationship.name, inverse.entity.name, true), own != other,
          !isDrawn(relationship.name, entity.name), isDrawn(inverse.relationship.name, inverse.entity.name)
        else { return nil }
        // Code links the objects that it makes; the links of objects that go are told with them.
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

  /// The links of the source from which the keys, the tables of pairs and the joins of the destination draw.
  private var drawnQueries: Set<LinkQuery> {
    let destination = crossing.destination
    var drawn: Set<LinkQuery> = []
    func draw(_ relationship: RelationshipDescription, _ entity: String) {
      drawn.formUnion(crossing.links(of: relationship, declaredBy: entity)?.parts ?? [])
    }
    for entity in destination.model.entities {
      for relationship in entity.relationships {
        switch destination.storage(ofRelationship: relationship.name, in: entity.name) {
        // The other side holds the keys, or the join has its own line below.
        case .inverseKey, .join, nil: continue
        case .inverselessKey: draw(relationship, entity.name)
        case .key:
          // Each side's keys are copied, unless several relationships become one: then they are gathered as pairs.
          let isCopied = (crossing.links(of: relationship, declaredBy: entity.name)?.parts.count ?? 0) < 2
          let isPair = destination.model.inverse(of: relationship).map { !$0.relationship.isToMany } ?? false
          let side = PairSide(of: relationship, declaredBy: entity.name, in: destination.model)
          if isCopied || !isPair { draw(relationship, entity.name) } else { draw(side.relationship, side.entity) }
        }
      }
    }
    // Both sides of a many-to-many relationship share one table, which is filled from one of them.
    for case .links(let entity, let name) in destination.tables.map(\.kind) {
      guard let relationship = destination.model.relationship(named: name, of: entity) else { continue }
      draw(relationship, entity)
    }
    return drawn
  }
}
