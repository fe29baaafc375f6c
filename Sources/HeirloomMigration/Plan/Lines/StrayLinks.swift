import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Links between objects of entities that the relationship doesn't join, without a place in the
/// candidate.
///
/// Another program may change an object's entity to another one of the table, and leave its links.
/// Such a link fits neither side's relationship, so ``LinkLines`` doesn't count it. It is kept if
/// its column is copied, or if the destination's relationship joins the two entities.
struct StrayLinks {
  let crossing: Crossing
  let transfers: [TableTransfer]

  /// The links of a relationship that one key column or one join table stores.
  ///
  /// The row `s` has the key, or is the owner's for a join table; `t` is the other object's row.
  struct Account {
    /// The `FROM` clause.
    let rows: String
    let key: (table: String, column: String)?
    let isOwnersFirst: Bool
    /// The links as `owner` and `target`, and with the two swapped.
    let links: (own: LinkQuery, turned: LinkQuery)
    var orders: [Order] = []

    var owner: String { isOwnersFirst ? "s" : "t" }
    var target: String { isOwnersFirst ? "t" : "s" }

    /// True if a query has these links with owner and target swapped; `nil` if no query has them.
    func isTurned(in parts: [LinkQuery]) -> Bool? {
      if parts.contains(where: { $0.sql == links.own.sql }) { return false }
      return parts.contains { $0.sql == links.turned.sql } ? true : nil
    }
  }

  /// Links between objects with some entity numbers; `nil` means any number.
  struct Part {
    var owners: Set<Int>?
    var targets: Set<Int>?
    var condition: String?

    func contains(_ owner: Int, _ target: Int) -> Bool {
      condition == nil && owners?.contains(owner) != false && targets?.contains(target) != false
    }
  }

  var source: PhysicalSchema { crossing.source }
  var destination: PhysicalSchema { crossing.destination }

  init(_ crossing: Crossing, transfers: [TableTransfer]) {
    (self.crossing, self.transfers) = (crossing, transfers)
  }

  var entries: [AskedEntry] {
    var entries: [AskedEntry] = []
    var told: Set<[String]> = []
    for entity in source.model.entities {
      for relationship in entity.relationships where !told.contains([entity.name, relationship.name]) {
        let inverse = source.model.storedInverse(of: relationship)
        let accounts = accounts(of: relationship, declaredBy: entity.name)
        guard !accounts.isEmpty else { continue }
        // Both sides have the same links.
        if let inverse { told.insert([inverse.entity.name, inverse.relationship.name]) }
        var known = [Part(owners: numbers(entity.name), targets: numbers(relationship.destinationEntity))]
        if let inverse {
          known.append(
            Part(owners: numbers(inverse.relationship.destinationEntity), targets: numbers(inverse.entity.name)))
        }
        let strays = strays(known, ends: (entity.name, relationship.destinationEntity))
        guard !strays.isEmpty else { continue }
        for account in accounts { entries += places(account, known, strays) }
        guard let sql = query(accounts, known, strays) else { continue }
        let entry = Entry.links(
          .stray(name: "\(entity.name).\(relationship.name)"), entity.name, relationship.name)
        entries.append(AskedEntry(entry, .query(sql)))
      }
    }
    return entries
  }

  private func strays(_ known: [Part], ends: (owner: String, target: String)) -> [(owner: Int, target: Int)] {
    let (owners, targets) = (present(inTreeOf: ends.owner), present(inTreeOf: ends.target))
    return owners.flatMap { owner in targets.map { (owner, $0) } }
      .filter { pair in !known.contains { $0.contains(pair.0, pair.1) } }
  }

  private func query(_ accounts: [Account], _ known: [Part], _ strays: [(owner: Int, target: Int)]) -> String? {
    let kept = accounts.map(parts(takenOf:))
    guard
      kept.contains(where: { parts in strays.contains { pair in !parts.contains { $0.contains(pair.0, pair.1) } } })
    else { return nil }
    func rows(_ account: Account, _ condition: String) -> String {
      let keys = zip([account.owner, account.target], ["owner", "target"]).map {
        "\($0).\(quote(PhysicalName.primaryKey)) AS \($1)"
      }
      return "SELECT \(keys.joined(separator: ", ")) \(account.rows)"
        + " WHERE NOT (\(any(known, account))) AND \(condition)"
    }
    let lost = zip(accounts, kept).map { rows($0, "NOT (\(any($1, $0)))") }
    guard lost.count > 1 else { return "SELECT COUNT(*) FROM (\(lost[0]))" }
    // If both rows hold a key, one copied key keeps the link.
    let there = zip(accounts, kept).map { " EXCEPT " + rows($0, "(\(any($1, $0)))") }
    return "SELECT COUNT(*) FROM (\(lost.joined(separator: " UNION "))\(there.joined()))"
  }

  /// The condition that a link is in one of the parts.
  func any(_ parts: [Part], _ account: Account) -> String {
    parts.isEmpty ? "0" : parts.map { sql($0, account) }.chained(by: "OR")
  }

  private func sql(_ part: Part, _ account: Account) -> String {
    func isOf(_ numbers: Set<Int>?, _ row: String) -> String? {
      numbers.map { numbers in
        "\(row).\(quote(PhysicalName.entity)) IN (\(numbers.sorted().map(String.init).joined(separator: ", ")))"
      }
    }
    let conditions = [isOf(part.owners, account.owner), isOf(part.targets, account.target), part.condition]
    return "(\(conditions.compactMap(\.self).chained(by: "AND")))"
  }

  private func numbers(_ entity: String) -> Set<Int> {
    Set(source.model.entityTree(from: entity).compactMap { source.entity(named: $0.name)?.number })
  }

  private func present(inTreeOf entity: String) -> [Int] {
    numbers(source.model.rootEntity(of: entity)?.name ?? entity).filter { crossing.counts.rows(of: [$0]) > 0 }.sorted()
  }
}

// MARK: - The store's links

extension StrayLinks {
  /// Empty if only the inverse stores the links, or neither side.
  private func accounts(of relationship: RelationshipDescription, declaredBy entity: String) -> [Account] {
    guard let own = source.links(of: relationship.name, in: entity, isReversed: false),
      let turned = source.links(of: relationship.name, in: entity, isReversed: true),
      let table = source.table(ofEntity: entity)?.name,
      let other = source.table(ofEntity: relationship.destinationEntity)?.name
    else { return [] }
    switch source.storage(ofRelationship: relationship.name, in: entity) {
    case .key(_, let column, _):
      var account = keys(column, in: table, to: other, isOwnersFirst: true, (own, turned))
      account.orders = [order(ofInverseOf: relationship, row: "s", isOwners: false)].compactMap { $0 }
      guard let inverse = source.model.storedInverse(of: relationship),
        inverse.entity.name != entity || inverse.relationship.name != relationship.name,
        case .key(_, let column, _)? = source.storage(
          ofRelationship: inverse.relationship.name, in: inverse.entity.name),
        let back = source.links(of: inverse.relationship.name, in: inverse.entity.name, isReversed: false),
        let forth = source.links(of: inverse.relationship.name, in: inverse.entity.name, isReversed: true)
      else { return [account] }
      return [account, keys(column, in: other, to: table, isOwnersFirst: false, (forth, back))]
    case .inverselessKey(_, let column, let order):
      var account = keys(column, in: other, to: table, isOwnersFirst: false, (own, turned))
      account.orders = order.map { [Order(entity, relationship, row: "s", column: $0, isOwners: true)] } ?? []
      return [account]
    case .join(let pairs, let owner, let target, let order):
      let key = quote(PhysicalName.primaryKey)
      let orders = [
        order.map { Order(entity, relationship, row: "k", column: $0, isOwners: true) },
        self.order(ofInverseOf: relationship, row: "k", isOwners: false),
      ]
      return [
        Account(
          rows: "FROM \(SchemaName.rows(of: pairs, as: "k"))"
            + " JOIN \(SchemaName.rows(of: table, as: "s")) ON s.\(key) = k.\(quote(owner))"
            + " JOIN \(SchemaName.rows(of: other, as: "t")) ON t.\(key) = k.\(quote(target))",
          key: nil, isOwnersFirst: true, links: (own, turned), orders: orders.compactMap { $0 })
      ]
    case .inverseKey, nil: return []
    }
  }

  private func order(ofInverseOf relationship: RelationshipDescription, row: String, isOwners: Bool) -> Order? {
    guard let inverse = source.model.storedInverse(of: relationship), inverse.relationship != relationship,
      let column = source.storage(ofRelationship: inverse.relationship.name, in: inverse.entity.name)?.orderColumn
    else { return nil }
    return Order(inverse.entity.name, inverse.relationship, row: row, column: column, isOwners: isOwners)
  }

  private func keys(
    _ column: String, in table: String, to other: String, isOwnersFirst: Bool, _ links: (LinkQuery, LinkQuery)
  ) -> Account {
    Account(
      rows: "FROM \(SchemaName.rows(of: table, as: "s")) JOIN \(SchemaName.rows(of: other, as: "t"))"
        + " ON t.\(quote(PhysicalName.primaryKey)) = s.\(quote(column))",
      key: (table, column), isOwnersFirst: isOwnersFirst, links: links)
  }
}

// MARK: - The candidate's links

extension StrayLinks {
  func parts(takenOf account: Account) -> [Part] {
    var parts = copies(of: account)
    for entity in destination.model.entities {
      for relationship in entity.relationships {
        switch destination.storage(ofRelationship: relationship.name, in: entity.name) {
        case .key(let table, let column, _):
          parts += keys(table, column, of: relationship, declaredBy: entity.name, from: account)
        case .inverselessKey:
          parts += gathered(relationship, declaredBy: entity.name, from: account)
        // The other side holds the keys; join tables are handled below.
        case .inverseKey, .join, nil: continue
        }
      }
    }
    for case .links(let entity, let name) in destination.tables.map(\.kind) {
      guard let relationship = destination.model.relationship(named: name, of: entity) else { continue }
      parts += gathered(relationship, declaredBy: entity, from: account)
    }
    return parts
  }

  /// The links whose keys are copied with their rows to `place`; `nil` for any column.
  func copies(of account: Account, to place: (table: String, column: String)? = nil) -> [Part] {
    guard let key = account.key else { return [] }
    return transfers.filter { $0.sourceTable == key.table }.flatMap { transfer in
      transfer.columns.flatMap { column -> [Part] in
        guard place.map({ $0 == (transfer.table, column.name) }) ?? true else { return [] }
        return transfer.sourceNumbers.compactMap { number -> Part? in
          guard let entry = column.entry.ofRows(numbered: number), entry.origin == key.column else {
            return nil
          }
          let condition = entry.isVerbatim ? nil : "(\(entry.sql)) IS NOT NULL"
          return account.isOwnersFirst
            ? Part(owners: [number], condition: condition) : Part(targets: [number], condition: condition)
        }
      }
    }
  }

  /// Includes links that ``SurplusLinks`` reports.
  func keys(
    _ table: String, _ column: String, of relationship: RelationshipDescription, declaredBy entity: String,
    from account: Account
  ) -> [Part] {
    guard let union = crossing.links(of: relationship, declaredBy: entity) else { return [] }
    var gatheredNumbers: Set<Int> = []
    var parts: [Part] = []
    for transfer in transfers where transfer.table == table {
      guard let value = transfer.columns.first(where: { $0.name == column })?.entry else { continue }
      for number in transfer.sourceNumbers {
        guard let entry = value.ofRows(numbered: number), entry != .null else { continue }
        if entry.origin == nil {
          gatheredNumbers.insert(number)
        } else if union.parts.count > 1, account.isOwnersFirst, account.isTurned(in: union.parts) == false,
          entry.origin != account.key?.column || transfer.sourceTable != account.key?.table
        {
          // If several relationships become one, links besides the kept one are reported already.
          parts.append(
            Part(
              owners: [number], targets: heirs(of: relationship.destinationEntity),
              condition: "(\(entry.sql)) IS NOT NULL"))
        }
      }
    }
    guard !gatheredNumbers.isEmpty else { return parts }
    let inverse = destination.model.storedInverse(of: relationship)
    guard let inverse, !inverse.relationship.isToMany else {
      return parts + gathered(relationship, declaredBy: entity, from: account, owners: gatheredNumbers)
    }
    let side = PairSide(of: relationship, declaredBy: entity, in: destination.model)
    return parts
      + gathered(
        side.relationship, declaredBy: side.entity, from: account, owners: side.isReversed ? nil : gatheredNumbers,
        targets: side.isReversed ? gatheredNumbers : nil)
  }

  /// Must select the links that `Crossing.filtered(_:relationship:declaredBy:)` selects.
  func gathered(
    _ relationship: RelationshipDescription, declaredBy entity: String, from account: Account,
    owners: Set<Int>? = nil, targets: Set<Int>? = nil
  ) -> [Part] {
    guard let links = crossing.links(of: relationship, declaredBy: entity),
      let isTurned = account.isTurned(in: links.parts)
    else { return [] }
    let (first, second) = (heirs(of: entity), heirs(of: relationship.destinationEntity))
    let ends = (
      owners.map(first.intersection) ?? first, targets.map(second.intersection) ?? second
    )
    return [isTurned ? Part(owners: ends.1, targets: ends.0) : Part(owners: ends.0, targets: ends.1)]
  }

  /// The source entities whose objects become objects of the entity's tree.
  private func heirs(of entity: String) -> Set<Int> {
    Set(destination.model.entityTree(from: entity).compactMap { crossing.routing.byDestination[$0.name]?.sourceNumber })
  }
}
