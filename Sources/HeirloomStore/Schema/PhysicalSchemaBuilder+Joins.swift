import HeirloomModel

extension PhysicalSchemaBuilder {
  private final class Direction {
    let entity: EntityDescription
    let relationship: RelationshipDescription
    let inverseEntity: EntityDescription
    let inverse: RelationshipDescription

    init(
      entity: EntityDescription, relationship: RelationshipDescription, inverseEntity: EntityDescription,
      inverse: RelationshipDescription
    ) {
      (self.entity, self.relationship) = (entity, relationship)
      (self.inverseEntity, self.inverse) = (inverseEntity, inverse)
    }

    var name: PropertyName { PropertyName(entity: entity.name, property: relationship.name) }
    var inverseName: PropertyName { PropertyName(entity: inverseEntity.name, property: inverse.name) }
    var reversed: Direction {
      Direction(entity: inverseEntity, relationship: inverse, inverseEntity: entity, inverse: relationship)
    }
  }

  func makeJoinTables() {
    // In plain order of entity names: the first to use a column name gets it without a number.
    var directions: [Direction] = []
    for entity in model.entities where included.contains(entity.name) {
      for relationship in entity.relationships where isStored(relationship) && relationship.isToMany {
        guard let inverse = inverse(of: relationship, in: entity.name), inverse.relationship.isToMany else { continue }
        directions.append(
          Direction(
            entity: entity, relationship: relationship, inverseEntity: inverse.entity, inverse: inverse.relationship))
      }
    }
    var used: Set<String> = []
    var columns: [PropertyName: String] = [:]
    for direction in directions {
      guard let number = entity(direction.inverseEntity.name)?.number else { continue }
      // A column is named after the relationship whose destination it identifies.
      columns[direction.name] = Self.unique(
        "Z_\(number)\(direction.relationship.name.uppercased())", in: &used)
    }
    var tableNames = Set(entities.map(\.table))
    let owners = directions.filter { isOwner($0, columns) }.ordered { left, right in
      let leftNumber = entity(left.entity.name)?.number ?? 0
      let rightNumber = entity(right.entity.name)?.number ?? 0
      return leftNumber == rightNumber
        ? left.relationship.name.utf16Precedes(right.relationship.name) : leftNumber < rightNumber
    }
    for owner in owners { makeJoinTable(of: owner, columns: columns, tableNames: &tableNames) }
  }

  /// The side whose entity's name comes first, unless the store's table has the other side's name.
  ///
  /// Earlier versions of Heirloom chose that if the other side's entity has the lower number.
  private func isOwner(_ direction: Direction, _ columns: [PropertyName: String]) -> Bool {
    guard direction.name != direction.inverseName else { return true }
    let (own, other) = (fit(of: direction, columns), fit(of: direction.reversed, columns))
    guard own == other else { return own > other }
    guard direction.entity.name == direction.inverseEntity.name else {
      return direction.entity.name.utf16Precedes(direction.inverseEntity.name)
    }
    let (ownName, otherName) = (direction.relationship.name, direction.inverse.name)
    let isPreferred = joinOwners.contains("\(direction.entity.name).\(ownName)")
    let isOtherPreferred = joinOwners.contains("\(direction.inverseEntity.name).\(otherName)")
    if isPreferred != isOtherPreferred { return isPreferred }
    return otherName.utf16Precedes(ownName)
  }

  /// 2 for a table with both columns, 1 without them, 0 for no table.
  private func fit(of direction: Direction, _ columns: [PropertyName: String]) -> Int {
    guard let actual, let number = entity(direction.entity.name)?.number,
      let table = actual.table(named: Self.joinTableName(number: number, relationship: direction.relationship.name))
    else { return 0 }
    let found = table.columns.map(\.name)
    let keys = [columns[direction.name], columns[direction.inverseName]].compactMap { $0 }
    return keys.allSatisfy { found.contains(Self.actualName(of: $0, among: found)) } ? 2 : 1
  }

  static func joinTableName(number: Int, relationship: String) -> String {
    "Z_\(number)\(relationship.uppercased())"
  }

  private func makeJoinTable(
    of owner: Direction, columns: [PropertyName: String], tableNames: inout Set<String>
  ) {
    guard let number = entity(owner.entity.name)?.number, let forward = columns[owner.name],
      let backward = columns[owner.inverseName]
    else { return }
    let table = Self.unique(
      Self.joinTableName(number: number, relationship: owner.relationship.name), in: &tableNames)
    let isSelfInverse = owner.name == owner.inverseName
    let found = actual?.table(named: table)?.columns.map(\.name) ?? []
    // The number that makes a name unique depends on a guess about the order, so the store's name wins.
    let destinationColumn = Self.actualName(of: forward, among: found)
    let ownerColumn = isSelfInverse ? PhysicalName.reflexiveColumn : Self.actualName(of: backward, among: found)

    func key(_ name: String, _ direction: PropertyName) -> PhysicalColumn {
      let role: PhysicalColumn.Role =
        isSelfInverse && name == PhysicalName.reflexiveColumn
        ? .reflexiveKey(entity: direction.entity, relationship: direction.property)
        : .joinKey(entity: direction.entity, relationship: direction.property)
      return PhysicalColumn(name: name, type: .integer, role: role)
    }
    func order(_ key: String, _ direction: PropertyName) -> PhysicalColumn {
      let name = PhysicalName.orderPrefix + key.dropFirst("Z_".count)
      return PhysicalColumn(
        name: name, type: .integer, role: .order(entity: direction.entity, relationship: direction.property))
    }

    let backwardKey = key(ownerColumn, owner.inverseName)
    let forwardKey = key(destinationColumn, owner.name)
    var list = isSelfInverse ? [forwardKey, backwardKey] : [backwardKey, forwardKey]
    let backwardOrder = owner.inverse.isOrdered && !isSelfInverse ? order(ownerColumn, owner.inverseName) : nil
    let forwardOrder = owner.relationship.isOrdered ? order(destinationColumn, owner.name) : nil
    let (first, second) = (list[0].name, list[1].name)
    list += [backwardOrder, forwardOrder].compactMap { $0 }
    if let found = found.first(where: { $0 == ownerColumn || $0 == destinationColumn }), found != first {
      // The table was renamed after its other side and kept its columns.
      list.swapAt(0, 1)
    }
    joins.append(
      JoinTable(
        table: PhysicalTable(
          name: table, kind: .links(entity: owner.entity.name, relationship: owner.relationship.name),
          columns: list), owner: owner.name, firstColumn: first, secondColumn: second))
    storages[owner.entity.name, default: [:]][owner.relationship.name] = .relationship(
      .join(
        table: table, ownerColumn: ownerColumn, destinationColumn: destinationColumn,
        orderColumn: forwardOrder?.name))
    guard !isSelfInverse else { return }
    storages[owner.inverseEntity.name, default: [:]][owner.inverse.name] = .relationship(
      .join(
        table: table, ownerColumn: destinationColumn, destinationColumn: ownerColumn,
        orderColumn: backwardOrder?.name))
  }

  /// The store's column may have another number at the end of its name.
  private static func actualName(of expected: String, among found: [String]) -> String {
    guard !found.isEmpty, !found.contains(expected) else { return expected }
    let matches = found.filter { stem(of: $0) == stem(of: expected) }
    return matches.count == 1 ? matches[0] : expected
  }

  private static func stem(of name: String) -> Substring {
    guard let last = name.lastIndex(where: { !$0.isNumber }) else { return "" }
    return name[...last]
  }
}
