import HeirloomModel
import HeirloomStore

/// Redirects a join table's links from objects that decisions removed to those that they were merged into.
final class LinkRedirection {
  let entity: String
  let relationship: String
  let owner: JoinEnd
  let target: JoinEnd
  private let table: String
  private let candidate: String
  private let pairsName: String
  private let ownerColumn: String
  private let targetColumn: String
  private let order: String?
  private let inverseOrder: String?
  private let unknown: [String]

  private var pairs: String { "temp.\(quote(pairsName))" }

  /// The condition of links that are kept; one between objects that are merged into one would link it to itself.
  var isKept: String {
    "o IS NOT NULL AND t IS NOT NULL" + (owner.root == target.root ? " AND (o <> t OR owner = target)" : "")
  }

  /// `nil` if the table doesn't join objects of the model.
  init?(_ join: JoinTransfer, number: Int, _ planner: DecisionPlanner) {
    let destination = planner.destination
    guard case .links(let entity, let name) = join.table.kind,
      let relationship = destination.model.relationship(named: name, of: entity),
      case .join(_, let ownerColumn, let targetColumn, let order)? = destination.storage(
        ofRelationship: name, in: entity),
      let owner = JoinEnd("owner", entity: entity, planner),
      let target = JoinEnd("target", entity: relationship.destinationEntity, planner)
    else { return nil }
    let inverseOrder = destination.model.storedInverse(of: relationship).flatMap {
      destination.storage(ofRelationship: $0.relationship.name, in: $0.entity.name)?.orderColumn
    }
    (self.entity, self.relationship, self.owner, self.target) = (entity, name, owner, target)
    table = join.table.name
    candidate = "\(quote(SchemaName.candidate)).\(quote(join.table.name))"
    pairsName = "heirloom_pairs_\(number + 1)"
    (self.ownerColumn, self.targetColumn) = (quote(ownerColumn), quote(targetColumn))
    self.order = order.map { quote($0) }
    self.inverseOrder = inverseOrder == order ? nil : inverseOrder.map { quote($0) }
    unknown = join.unknown.map { quote($0.column.name) }
  }

  var step: MigrationStep {
    MigrationStep(
      kind: .decideRows, subject: table, summary: "Redirect the links of \(entity).\(relationship) by decision",
      statements: (collecting + moving + ordering).map { PlannedStatement($0) })
  }

  /// A `SELECT` of `owner`, `target`, their final keys `o` and `t`, and both ends' places and
  /// decisions; `value`, a column outside the model, becomes `v`.
  func selection(of join: JoinTransfer, with value: String? = nil) -> String {
    let value = value.map { ", k.\($0) AS v" } ?? ""
    return "SELECT l.*, \(owner.key) AS o, \(target.key) AS t, \(owner.place) AS owner_place,"
      + " \(target.place) AS target_place, \(owner.decision) AS owner_decision, \(target.decision) AS target_decision"
      + " FROM (SELECT k.owner AS owner, k.target AS target\(value) \(join.survivors)) AS l" + owner.join + target.join
  }

  /// `quarantines` are the indexes of the decisions that move objects to a file, with their links.
  func lostValues(of name: String, in join: JoinTransfer, unless quarantines: String) -> String {
    let isMoved = "o IS NOT owner OR t IS NOT target"
    // Of equal links, the one that was there first is kept, as in the table.
    return "SELECT COUNT(*) FROM (SELECT v, \(isKept) AS is_kept, owner_decision, target_decision,"
      + " FIRST_VALUE(v) OVER (PARTITION BY (\(isKept)) IS TRUE, o, t"
      + " ORDER BY \(isMoved), owner_place, target_place, owner, target) AS kept"
      + " FROM (\(selection(of: join, with: name))) WHERE v IS NOT NULL)"
      + " WHERE (is_kept IS NOT TRUE AND owner_decision NOT IN (\(quarantines)) AND target_decision NOT IN (\(quarantines))) OR (is_kept AND \(isDifferent("v", "kept")))"
  }

  private var collecting: [String] {
    let stored =
      "SELECT \(ownerColumn) AS owner, \(targetColumn) AS target FROM \(candidate)"
    return [
      // Of links that become equal, the first is kept.
      "CREATE TEMP TABLE \(quote(pairsName)) AS SELECT l.*, \(owner.key) AS o, \(target.key) AS t,"
        + " \(owner.place) AS owner_place, \(target.place) AS target_place, 0 AS moves FROM (\(stored)) AS l"
        + owner.join + target.join + " WHERE \(owner.isGone) OR \(target.isGone)"
        + " ORDER BY owner_place, target_place, l.owner, l.target",
      "CREATE INDEX temp.\(quote(pairsName + "_ends")) ON \(quote(pairsName)) (o, t)",
      removal(where: "NOT (\(isKept)) IS TRUE"),
      "DELETE FROM \(pairs) WHERE NOT (\(isKept)) IS TRUE",
      // The object that replaces the removed one may have the link already.
      "UPDATE \(pairs) AS p SET moves = 1 WHERE p.rowid IN (SELECT MIN(q.rowid) FROM \(pairs) AS q GROUP BY q.o, q.t)"
        + " AND NOT EXISTS (SELECT 1 FROM \(candidate) AS j WHERE j.\(ownerColumn) = p.o AND j.\(targetColumn) = p.t)",
    ]
  }

  private func removal(where condition: String) -> String {
    "DELETE FROM \(candidate) WHERE (\(ownerColumn), \(targetColumn)) IN"
      + " (SELECT owner, target FROM \(pairs) WHERE \(condition))"
  }

  /// The rows stay, so positions and the values of other columns are kept.
  private var moving: [String] {
    // A link that was changed in one step could temporarily equal another, which the table's key forbids.
    let meanwhile = "\(Int64.min) + p.rowid"
    let filled = ([order, inverseOrder].compactMap { $0 } + unknown).map { column in
      "\(column) = COALESCE(j.\(column), (SELECT x.\(column) FROM \(pairs) AS p JOIN \(candidate) AS x"
        + " ON x.\(ownerColumn) = p.owner AND x.\(targetColumn) = p.target WHERE p.moves = 0 AND"
        + " p.o = j.\(ownerColumn) AND p.t = j.\(targetColumn) AND x.\(column) IS NOT NULL ORDER BY p.rowid LIMIT 1))"
    }
    return [
      "UPDATE \(candidate) AS j SET \(ownerColumn) = \(meanwhile), \(targetColumn) = \(meanwhile) FROM \(pairs) AS p"
        + " WHERE p.moves AND j.\(ownerColumn) = p.owner AND j.\(targetColumn) = p.target",
      "UPDATE \(candidate) AS j SET \(ownerColumn) = p.o, \(targetColumn) = p.t FROM \(pairs) AS p"
        + " WHERE p.moves AND j.\(ownerColumn) = \(meanwhile) AND j.\(targetColumn) = \(meanwhile)",
    ]
      // A link that is kept gets its missing values from those that equal it.
      + (filled.isEmpty
        ? []
        : [
          "UPDATE \(candidate) AS j SET \(filled.joined(separator: ", ")) WHERE"
            + " (j.\(ownerColumn), j.\(targetColumn)) IN (SELECT o, t FROM \(pairs) WHERE moves = 0)"
        ]) + [removal(where: "moves = 0"), "DELETE FROM \(pairs) WHERE moves = 0"]
  }

  /// Members of a merged object follow in that object's place.
  private var ordering: [String] {
    [
      (order, "o", ownerColumn, targetColumn, "owner_place"),
      (inverseOrder, "t", targetColumn, ownerColumn, "target_place"),
    ].compactMap { order, list, key, member, place in
      order.map { order in
        // A member that the object had itself has no place in `p`, and NULL sorts first.
        "UPDATE \(candidate) AS j SET \(order) = v.place FROM (SELECT i.\(ownerColumn) AS owner,"
          + " i.\(targetColumn) AS target, 1024 + 1024 * ROW_NUMBER() OVER (PARTITION BY i.\(key) ORDER BY p.\(place),"
          + " i.\(order), i.\(member)) AS place FROM \(candidate) AS i"
          + " LEFT JOIN \(pairs) AS p ON p.o = i.\(ownerColumn) AND p.t = i.\(targetColumn)"
          + " WHERE i.\(key) IN (SELECT \(list) FROM \(pairs) WHERE \(place) IS NOT NULL)) AS v"
          + " WHERE v.owner = j.\(ownerColumn) AND v.target = j.\(targetColumn)"
      }
    }
  }

  var checks: [ProofCheck] {
    [(ownerColumn, owner), (targetColumn, target)].compactMap { column, end in
      end.table.map { table in
        .noMore(
          subject: "links of \(entity).\(relationship) to an object that was removed by decision",
          expected: "SELECT 0",
          found: "SELECT COUNT(*) FROM \(candidate) AS j WHERE j.\(column) IN (SELECT pk FROM \(table.removed))")
      }
    }
  }
}

/// One end of the links of a many-to-many relationship, whose objects may be removed.
struct JoinEnd {
  let root: String
  /// `nil` if no objects may be removed.
  let table: DecisionTable?
  /// The SQL of the key that replaces the end's; NULL if none does.
  let key: String
  /// The SQL of the joins to the links `l` that the key needs.
  let join: String
  let isGone: String
  /// The SQL of the place of a merged object among those that were merged into one.
  let place: String
  /// The SQL of the index of the decision that removed the object; -1 for one that stays.
  let decision: String

  init?(_ name: String, entity: String, _ planner: DecisionPlanner) {
    guard let physical = planner.destination.entity(named: entity) else { return nil }
    root = physical.rootName
    guard let table = planner.tables[root], table.mayLoseRows else {
      (table, key, join, isGone, place, decision) = (nil, "l.\(name)", "", "0", "NULL", "-1")
      return
    }
    self.table = table
    let (gone, stays) = ("\(name)_gone", "\(name)_stays")
    key = "CASE WHEN \(gone).pk IS NULL THEN l.\(name) ELSE \(stays).pk END"
    join =
      " LEFT JOIN \(table.removed) AS \(gone) ON \(gone).pk = l.\(name) LEFT JOIN \(table.rows) AS \(stays)"
      + " ON \(stays).pk = \(gone).survivor AND \(DecisionPlanner.isIn("\(stays).ent", physical.treeNumbers))"
    isGone = "\(gone).pk IS NOT NULL"
    place = "\(gone).place"
    decision = "IFNULL(\(gone).decision, -1)"
  }
}
