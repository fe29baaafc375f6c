struct Link: Hashable {
  let owner: ObjectKey
  let target: ObjectKey
  var reversed: Link { Link(owner: target, target: owner) }
}

/// The links of a file: of each relationship those that either side accounts for, between objects that exist.
struct Links {
  private let contents: Contents
  private let layout: Layout
  private let objects: Objects

  init(in contents: Contents, _ layout: Layout, _ objects: Objects) {
    (self.contents, self.layout, self.objects) = (contents, layout, objects)
  }

  /// By the account of both sides.
  func all(of name: Layout.Name) -> Set<Link> {
    guard let relationship = layout.relationship(name) else { return [] }
    guard let inverse = layout.model.inverse(of: relationship) else { return own(of: name) }
    let inverseName = Layout.Name(entity: inverse.entity, property: inverse.property.name)
    return own(of: name).union(own(of: inverseName).map(\.reversed))
  }

  /// Those in the relationship's own column or table, or in the inverse's column.
  func own(of name: Layout.Name) -> Set<Link> {
    guard let relationship = layout.relationship(name), let table = layout.tables[name.entity],
      let targetTable = layout.tables[relationship.destination]
    else { return [] }
    if !relationship.isToMany { return keys(name, table, targetTable) }
    guard let inverse = layout.model.inverse(of: relationship) else {
      let column = layout.inverselessColumn(of: name)
      return links(contents.values(of: column, in: targetTable), from: targetTable, to: table, isTurned: true)
    }
    guard inverse.property.isToMany else {
      let inverseName = Layout.Name(entity: inverse.entity, property: inverse.property.name)
      return Set(keys(inverseName, targetTable, table).map(\.reversed))
    }
    guard let join = layout.join(of: name, in: contents), let found = contents.tables[join.table],
      let owner = found.place(of: join.ownerColumn), let target = found.place(of: join.targetColumn)
    else { return [] }
    let links = found.rows.compactMap { row -> Link? in
      guard let from = row[owner].integer, let to = row[target].integer else { return nil }
      return Link(owner: ObjectKey(table: table, key: from), target: ObjectKey(table: targetTable, key: to))
    }
    return Set(links.filter(isSound))
  }

  /// Of the targets among those of their owners; empty without an order.
  func places(of name: Layout.Name) -> [Link: Int64] {
    guard let relationship = layout.relationship(name), relationship.isToMany, relationship.isOrdered,
      let table = layout.tables[name.entity], let targetTable = layout.tables[relationship.destination]
    else { return [:] }
    var places: [Link: Int64] = [:]
    if let join = layout.join(of: name, in: contents), let found = contents.tables[join.table] {
      guard let owner = found.place(of: join.ownerColumn), let target = found.place(of: join.targetColumn),
        let order = join.orderColumn.flatMap({ found.place(of: $0) })
      else { return [:] }
      for row in found.rows {
        guard let from = row[owner].integer, let to = row[target].integer, let place = row[order].integer else {
          continue
        }
        let link = Link(owner: ObjectKey(table: table, key: from), target: ObjectKey(table: targetTable, key: to))
        places[link] = place
      }
      return places
    }
    let inverse = layout.model.inverse(of: relationship).map {
      Layout.Name(entity: $0.entity, property: $0.property.name)
    }
    let column = inverse.map { layout.columns[$0] ?? "" } ?? layout.inverselessColumn(of: name)
    let orders = contents.values(of: "Z_FOK_" + column.dropFirst(), in: targetTable)
    for link in own(of: name) { places[link] = orders[link.target.key]?.integer }
    return places
  }

  private func isSound(_ link: Link) -> Bool { objects.contains(link.owner) && objects.contains(link.target) }

  /// Only in rows of the entities that have the relationship.
  private func keys(_ name: Layout.Name, _ table: String, _ targetTable: String) -> Set<Link> {
    guard let column = layout.columns[name] else { return [] }
    let owners = layout.subtrees[name.entity, default: []]
    let values = contents.values(of: column, in: table).filter { key, _ in
      objects.entities[table]?[key].map(owners.contains) ?? false
    }
    return links(values, from: table, to: targetTable, isTurned: false)
  }

  private func links(
    _ values: [Int64: Cell], from table: String, to other: String, isTurned: Bool
  ) -> Set<Link> {
    var links: Set<Link> = []
    for (key, value) in values {
      guard let target = value.integer else { continue }
      let link = Link(owner: ObjectKey(table: table, key: key), target: ObjectKey(table: other, key: target))
      if isSound(link) { links.insert(isTurned ? link.reversed : link) }
    }
    return links
  }
}
