import HeirloomMapping
import HeirloomModel
import HeirloomStore

// List positions that are dropped although their links are kept.
extension StrayLinks {
  /// An order of links: each link has a position in the list of the object at one end.
  struct Order {
    let entity: String
    let relationship: RelationshipDescription
    /// The alias of the row that holds the position.
    let row: String
    let column: String
    /// True if it orders the links of one owner; false if those to one target.
    let isOwners: Bool

    init(_ entity: String, _ relationship: RelationshipDescription, row: String, column: String, isOwners: Bool) {
      (self.entity, self.relationship) = (entity, relationship)
      (self.row, self.column, self.isOwners) = (row, column, isOwners)
    }
  }

  /// The position of a link that is alone in its list is no loss.
  func places(
    _ account: Account, _ known: [Part], _ strays: [(owner: Int, target: Int)]
  ) -> [AskedEntry] {
    account.orders.compactMap { order in
      let placed = parts(placedBy: order, of: account)
      guard strays.contains(where: { pair in !placed.contains { $0.contains(pair.owner, pair.target) } }) else {
        return nil
      }
      let (end, list) = order.isOwners ? (account.owner, "owner") : (account.target, "target")
      let sql =
        "SELECT COUNT(*) \(account.rows) WHERE NOT (\(any(known, account)))"
        + " AND (\(any(parts(takenOf: account), account))) AND NOT (\(any(placed, account)))"
        + " AND \(order.row).\(quote(order.column)) IS NOT NULL AND \(end).\(quote(PhysicalName.primaryKey)) IN"
        + " (SELECT \(list) FROM (\(account.links.own.sql)) GROUP BY \(list) HAVING COUNT(*) > 1)"
      let (entity, name) = (order.entity, order.relationship.name)
      return AskedEntry(.links(.strayOrder(name: "\(entity).\(name)"), entity, name), .query(sql))
    }
  }

  private func parts(placedBy order: Order, of account: Account) -> [Part] {
    destination.model.entities.flatMap { entity in
      entity.relationships.flatMap { relationship -> [Part] in
        guard let storage = destination.storage(ofRelationship: relationship.name, in: entity.name),
          let column = storage.orderColumn, let links = crossing.links(of: relationship, declaredBy: entity.name),
          let isTurned = account.isTurned(in: links.parts), order.isOwners != isTurned
        else { return [] }
        let gathered = gathered(relationship, declaredBy: entity.name, from: account)
        switch storage {
        case .inverseKey(let table, let key, _, _):
          guard let inverse = destination.model.storedInverse(of: relationship) else { return [] }
          // If positions aren't copied, they are numbered from the collected links.
          return isCopied(order, of: account, to: table, column)
            ? copies(of: account, to: (table, key))
              + keys(table, key, of: inverse.relationship, declaredBy: inverse.entity.name, from: account)
            : gathered
        case .inverselessKey, .join: return gathered
        case .key: return []
        }
      }
    }
  }

  private func isCopied(_ order: Order, of account: Account, to table: String, _ column: String) -> Bool {
    transfers.contains { transfer in
      transfer.table == table && transfer.sourceTable == account.key?.table
        && transfer.columns.contains { $0.name == column && $0.entry.origin == order.column }
    }
  }
}
