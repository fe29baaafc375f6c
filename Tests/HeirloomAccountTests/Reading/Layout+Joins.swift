extension Layout {
  /// A table of links: each row leads from the owner's key to the target's.
  struct Join {
    let table: String
    let ownerColumn: String
    let targetColumn: String
    /// The column of each target's place among its owner's; `nil` if there is no order.
    let orderColumn: String?
    let unknownColumns: [String]
  }

  /// The table is named after either side, each key's column after the relationship to its row.
  func join(of name: Name, in contents: Contents) -> Join? {
    guard let relationship = relationship(name), relationship.isToMany,
      let inverse = model.inverse(of: relationship), inverse.property.isToMany,
      let own = numbers[name.entity], let other = numbers[inverse.entity]
    else { return nil }
    let there = "Z_\(other)\(name.property.uppercased())"
    let back = "Z_\(own)\(inverse.property.name.uppercased())"
    let names = ["Z_\(own)\(name.property.uppercased())", "Z_\(other)\(inverse.property.name.uppercased())"]
    for table in names {
      guard let found = contents.tables[table] else { continue }
      let isSelfInverse = there == back
      guard let target = found.columns.first(where: { Self.isColumn($0, of: there) }),
        let owner = found.columns.first(where: { isSelfInverse ? $0 == "REFLEXIVE" : Self.isColumn($0, of: back) })
      else { continue }
      let orders = ["Z_FOK_" + there.dropFirst(2), "Z_FOK_" + back.dropFirst(2)]
      let unknown = found.columns.filter { column in
        column != target && column != owner && !orders.contains { Self.isColumn(column, of: $0) }
      }
      let order = relationship.isOrdered ? found.columns.first { Self.isColumn($0, of: orders[0]) } : nil
      return Join(
        table: table, ownerColumn: owner, targetColumn: target, orderColumn: order, unknownColumns: unknown)
    }
    return nil
  }

  /// The name, perhaps with a number that tells it from another table's column.
  private static func isColumn(_ column: String, of base: String) -> Bool {
    column.hasPrefix(base) && column.dropFirst(base.count).allSatisfy(\.isNumber)
  }
}
