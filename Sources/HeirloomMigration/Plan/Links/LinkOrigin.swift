import HeirloomModel
import HeirloomStore

/// The links of a relationship of the source as a query of pairs, with the keys of the source.
///
/// However a relationship is stored, its links are rows of `owner`, `target`, `position` and `inverse_position`,
/// seen from one of its sides. `position` is the target's place among the owner's targets.
/// `inverse_position` is the owner's place among the target's owners. Both are NULL where there is no order.
struct LinkQuery: Hashable {
  /// A `SELECT` with the four columns.
  let sql: String
  /// True when `position` holds an order.
  let isOrdered: Bool
  /// True when `inverse_position` holds an order.
  let isInverseOrdered: Bool
  /// The root entity of the owners.
  let ownerRoot: String
  /// The root entity of the targets.
  let targetRoot: String
  /// The columns that hold the links, in a table of pairs, of the owners or of the targets.
  let columns: Pairs
  /// True if that is a table of pairs.
  let isJoin: Bool

  /// The one table of pairs that holds all links; `nil` if they are stored otherwise.
  var pairs: Pairs? { isJoin ? columns : nil }

  /// The columns of a table that holds links.
  struct Pairs: Hashable {
    /// The table.
    let table: String
    /// The column of `owner`.
    let owner: String
    /// The column of `target`.
    let target: String
    /// The column of `position`.
    let position: String?
    /// The column of `inverse_position`.
    let inversePosition: String?
  }
}

extension LinkQuery {
  /// Returns the name that a query of links gives to one of the further columns.
  static func other(_ index: Int) -> String { "u\(index)" }

  /// Returns the query of the rows of a table that hold links.
  ///
  /// - Parameters:
  ///   - columns: The table and its columns.
  ///   - others: The names of further columns of the table, which belong to others and may have any name.
  ///   - usesIndexes: True for a query that is asked for the links of one object.
  ///   - database: The database that has the table.
  /// - Returns: A `SELECT` with the four columns, or with further ones, those of them that exist, and these, each of
  ///   which has the name that `other(_:)` returns.
  static func select(
    _ columns: Pairs, with others: [String] = [], usesIndexes: Bool = false, in database: String = SchemaName.store
  ) -> String {
    let (owner, target) = (quote(columns.owner), quote(columns.target))
    var places = [(columns.position, "position"), (columns.inversePosition, "inverse_position")]
    // SQLite allows as many results as columns, and then there are as many others as fit beside the places that exist.
    if !others.isEmpty { places.removeAll { $0.0 == nil } }
    let results =
      ["\(owner) AS owner", "\(target) AS target"] + places.map { "\($0.map(quote) ?? "NULL") AS \($1)" }
      + others.enumerated().map { "\(quote($1)) AS \(other($0))" }
    // An object without the link has a row too, with NULL for the key.
    return "SELECT \(results.joined(separator: ", "))"
      + " FROM \(SchemaName.rows(of: columns.table, usesIndexes: usesIndexes, in: database))"
      + " WHERE \(owner) IS NOT NULL AND \(target) IS NOT NULL"
  }
}

/// The links of one or more relationships of the source that become one relationship.
struct LinkUnion {
  /// The links of each relationship; not empty.
  let parts: [LinkQuery]
  /// True when all links are of relationships that the owners have.
  let isOwn: Bool
  /// True when each owner's links are all of one part.
  private let keepsOwnersApart: Bool
  /// True when all links that lead to one target are of one part.
  private let keepsTargetsApart: Bool

  /// Creates a union; `nil` without any links.
  ///
  /// - Parameters:
  ///   - own: The links of relationships that the owners have, no two of one owner.
  ///   - reversed: The links of relationships that the targets have, no two of one target.
  init?(own: [LinkQuery], reversed: [LinkQuery]) {
    parts = own + reversed
    guard !parts.isEmpty else { return nil }
    keepsOwnersApart = reversed.isEmpty || parts.count == 1
    keepsTargetsApart = own.isEmpty || parts.count == 1
    isOwn = reversed.isEmpty
  }

  /// A source for the places of links among others.
  enum Places {
    /// No places, since there is no order.
    case none
    /// The stored places.
    case stored
    /// A ranking by stored places, of which some are missing or equal.
    case ranked
  }

  /// A `SELECT` with the columns of a link query and the keys of the source.
  var sql: String { joined(parts.map(\.sql), "") }

  /// Returns the query with further columns of the one table of pairs.
  func sql(with columns: [PhysicalColumn]) -> String {
    guard let pairs, !columns.isEmpty else { return sql }
    return LinkQuery.select(pairs, with: columns.map(\.name))
  }

  /// The kind of order in `position`.
  var places: Places { places(\.isOrdered, areApart: keepsOwnersApart) }
  /// The kind of order in `inverse_position`.
  var inversePlaces: Places { places(\.isInverseOrdered, areApart: keepsTargetsApart) }
  /// The one table of pairs that holds all links; `nil` if there is none.
  var pairs: LinkQuery.Pairs? { parts.count == 1 ? parts.first?.pairs : nil }

  /// Returns a query that joins queries of the parts, with each link once.
  ///
  /// - Parameters:
  ///   - queries: A query for each part.
  ///   - columns: More columns that follow from owner and target, each with a comma.
  /// - Returns: A query with the columns of a ``LinkQuery`` and these.
  func joined(_ queries: [String], _ columns: String) -> String {
    let all = queries.united()
    // Relationships that were no inverses of each other may both lead from one object to another.
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
  /// Returns the links of a stored relationship as pairs.
  ///
  /// - Parameters:
  ///   - name: The relationship's name.
  ///   - entity: The entity that has or inherits it.
  ///   - isReversed: True if the relationship's own side is to be the `target`.
  ///   - usesIndexes: True for a query that is asked for the links of one object.
  ///   - database: The database that has the schema's tables.
  /// - Returns: `nil` if the relationship is not stored.
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

  /// Returns the column with the places of a relationship's owners among those of one related object.
  func inverseOrder(of name: String, in entity: String) -> String? {
    guard let relationship = model.relationship(named: name, of: entity),
      let inverse = model.inverse(of: relationship),
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
