import HeirloomModel
import HeirloomStore

/// The links of a source relationship as a query of pairs, with the source's keys.
///
/// However a relationship is stored, its links are rows of `owner`, `target`, `position` and
/// `inverse_position`, seen from one of its sides. `position` is the target's position among the
/// owner's targets, and `inverse_position` the owner's among the target's owners. Both are NULL if
/// there is no order.
struct LinkQuery: Hashable {
  let sql: String
  let isOrdered: Bool
  let isInverseOrdered: Bool
  let ownerRoot: String
  let targetRoot: String
  /// In a join table, or in the table of the owners or of the targets.
  let columns: Pairs
  let isJoin: Bool

  var pairs: Pairs? { isJoin ? columns : nil }

  struct Pairs: Hashable {
    let table: String
    let owner: String
    let target: String
    let position: String?
    let inversePosition: String?
  }
}

extension LinkQuery {
  /// The name of an additional column in a query of links.
  static func other(_ index: Int) -> String { "u\(index)" }

  /// With `others`, the result has only those position columns that exist.
  ///
  /// `usesIndexes` is true for a query about the links of one object.
  static func select(
    _ columns: Pairs, with others: [String] = [], usesIndexes: Bool = false, in database: String = SchemaName.store
  ) -> String {
    let (owner, target) = (quote(columns.owner), quote(columns.target))
    var places = [(columns.position, "position"), (columns.inversePosition, "inverse_position")]
    // SQLite allows as many results as columns: missing positions must make room for others.
    if !others.isEmpty { places.removeAll { $0.0 == nil } }
    let results =
      ["\(owner) AS owner", "\(target) AS target"] + places.map { "\($0.map(quote) ?? "NULL") AS \($1)" }
      + others.enumerated().map { "\(quote($1)) AS \(other($0))" }
    // An object without the link also has a row, with NULL as its key.
    return "SELECT \(results.joined(separator: ", "))"
      + " FROM \(SchemaName.rows(of: columns.table, usesIndexes: usesIndexes, in: database))"
      + " WHERE \(owner) IS NOT NULL AND \(target) IS NOT NULL"
  }
}

/// The links of one or more source relationships that become one relationship.
struct LinkUnion {
  let parts: [LinkQuery]
  /// True when all links are of relationships that the owners have.
  let isOwn: Bool
  /// True when all links of one owner are in one part.
  private let keepsOwnersApart: Bool
  /// True when all links to one target are in one part.
  private let keepsTargetsApart: Bool

  /// No two of `own` share an owner, and no two of `reversed` a target.
  init?(own: [LinkQuery], reversed: [LinkQuery]) {
    parts = own + reversed
    guard !parts.isEmpty else { return nil }
    keepsOwnersApart = reversed.isEmpty || parts.count == 1
    keepsTargetsApart = own.isEmpty || parts.count == 1
    isOwn = reversed.isEmpty
  }

  enum Places {
    case none
    case stored
    /// Ranks by stored positions, some of which are missing or equal.
    case ranked
  }

  var sql: String { joined(parts.map(\.sql), "") }

  func sql(with columns: [PhysicalColumn]) -> String {
    guard let pairs, !columns.isEmpty else { return sql }
    return LinkQuery.select(pairs, with: columns.map(\.name))
  }

  var places: Places { places(\.isOrdered, areApart: keepsOwnersApart) }
  var inversePlaces: Places { places(\.isInverseOrdered, areApart: keepsTargetsApart) }
  var pairs: LinkQuery.Pairs? { parts.count == 1 ? parts.first?.pairs : nil }

  /// `columns` depend on owner and target alone, and each is followed by a comma.
  func joined(_ queries: [String], _ columns: String) -> String {
    let all = queries.united()
    // Two relationships that weren't inverses of each other may both link the same two objects.
    guard !keepsOwnersApart, !keepsTargetsApart else { return all }
    return "SELECT owner, target,\(columns) MIN(position) AS position, MIN(inverse_position) AS inverse_position"
      + " FROM (\(all)) GROUP BY owner, target"
  }

  private func places(_ isOrdered: KeyPath<LinkQuery, Bool>, areApart: Bool) -> Places {
    guard parts.contains(where: { $0[keyPath: isOrdered] }) else { return .none }
    return areApart && parts.allSatisfy { $0[keyPath: isOrdered] } ? .stored : .ranked
  }
}

extension PhysicalSchema {
  /// With `isReversed`, the objects that have the relationship are the `target`.
  func links(
    of name: String, in entity: String, isReversed: Bool, usesIndexes: Bool = false,
    in database: String = SchemaName.store
  ) -> LinkQuery? {
    guard let storage = storage(ofRelationship: name, in: entity),
      let relationship = model.relationship(named: name, of: entity),
      var ownerRoot = model.rootEntity(of: entity)?.name,
      var targetRoot = model.rootEntity(of: relationship.destinationEntity)?.name
    else { return nil }
    var (own, other): (String, String)
    var isPairs = false
    let table: String
    var order: String?
    switch storage {
    case .key(let keyTable, let column, _):
      (own, other, table) = (PhysicalName.primaryKey, column, keyTable)
    case .inverseKey(let keyTable, let column, _, let orderColumn):
      (own, other, table, order) = (column, PhysicalName.primaryKey, keyTable, orderColumn)
    case .inverselessKey(let keyTable, let column, let orderColumn):
      (own, other, table, order) = (column, PhysicalName.primaryKey, keyTable, orderColumn)
    case .join(let joinTable, let ownerColumn, let destinationColumn, let orderColumn):
      (own, other, table, order) = (ownerColumn, destinationColumn, joinTable, orderColumn)
      isPairs = true
    }
    var inverseOrder = self.inverseOrder(of: name, in: entity)
    if isReversed {
      swap(&own, &other)
      swap(&order, &inverseOrder)
      swap(&ownerRoot, &targetRoot)
    }
    let columns = LinkQuery.Pairs(
      table: table, owner: own, target: other, position: order, inversePosition: inverseOrder)
    let sql = LinkQuery.select(columns, usesIndexes: usesIndexes, in: database)
    return LinkQuery(
      sql: sql, isOrdered: order != nil, isInverseOrdered: inverseOrder != nil, ownerRoot: ownerRoot,
      targetRoot: targetRoot,
      columns: columns, isJoin: isPairs)
  }

  /// The column for the positions of owners among those of one related object.
  func inverseOrder(of name: String, in entity: String) -> String? {
    guard let relationship = model.relationship(named: name, of: entity),
      let inverse = model.storedInverse(of: relationship),
      let storage = storage(ofRelationship: inverse.relationship.name, in: inverse.entity.name)
    else { return nil }
    switch storage {
    case .key: return nil
    case .inverseKey(_, _, _, let orderColumn), .inverselessKey(_, _, let orderColumn),
      .join(_, _, _, let orderColumn):
      return orderColumn
    }
  }
}
