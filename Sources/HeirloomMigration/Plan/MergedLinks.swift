import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Relationships of the destination in which several of the source go on, and what of their links has no room in one.
///
/// What a mapping says of each relationship alone is not enough here: two that led to one object each lead to two together.
struct MergedLinks {
  /// One side of such a relationship.
  private struct Side {
    let entity: String
    let relationship: RelationshipDescription
    let links: LinkUnion
  }

  private let queries: LinkQueries
  private let sides: [Side]

  /// Looks for them.
  init(routing: EntityRouting, source: PhysicalSchema, destination: PhysicalSchema) {
    let queries = LinkQueries(routing: routing, source: source, destination: destination)
    self.queries = queries
    sides = destination.model.entities.flatMap { entity in
      entity.relationships.compactMap { relationship in
        guard destination.storage(ofRelationship: relationship.name, in: entity.name) != nil,
          destination.model.inverse(of: relationship) != nil,
          let links = queries.links(of: relationship, declaredBy: entity.name), links.parts.count > 1
        else { return nil }
        return Side(entity: entity.name, relationship: relationship, links: links)
      }
    }
  }

  /// Whether ``questions`` ask how many objects have more links than they can keep.
  ///
  /// A hazard of the mapping sees one relationship of the source at a time.
  func cover(_ hazard: DataHazard) -> Bool {
    guard case .severalLinks = hazard.kind else { return false }
    return sides.contains { $0.entity == hazard.entity && [$0.relationship.name] == hazard.properties }
  }

  /// Asks how many objects have more links than they can keep.
  func ask(_ questions: inout StoreQuestions) {
    for side in sides where !side.relationship.isToMany {
      let links = queries.filtered(side.links, relationship: side.relationship, declaredBy: side.entity)
      questions.count(
        sql: "SELECT COUNT(*) FROM (SELECT owner FROM (\(links)) GROUP BY owner HAVING COUNT(DISTINCT target) > 1)"
      ) { rows in
        .loss(
          MigrationLoss(
            entity: side.entity, property: side.relationship.name,
            reason:
              "Several relationships go on in \"\(side.entity).\(side.relationship.name)\", which leads to one object;"
              + " of several, the one with the lowest primary key is kept.", rows: rows))
      }
    }
  }
}
