import HeirloomModel

extension PhysicalSchemaBuilder {
  func makeIndexes() {
    for root in roots {
      addStandardIndexes(of: root)
      for entity in tree(of: root) {
        for index in entity.indexes { addFetchIndex(index, of: entity) }
        for constraint in entity.uniquenessConstraints { addConstraint(constraint, of: entity) }
      }
    }
  }

  private func addStandardIndexes(of root: String) {
    guard let physical = entity(root) else { return }
    let table = physical.table
    for draft in (drafts[root] ?? []).ordered(by: { $0.order < $1.order }) {
      switch draft.column.role {
      case .key, .inverselessKey: addStandardIndex(on: table, columns: [draft.column.name])
      default: continue
      }
    }
    if physical.treeNumbers.count > 1 { addStandardIndex(on: table, columns: [PhysicalName.entity]) }
    for join in joins {
      guard let owner = entity(join.owner.entity), physical.treeNumbers.contains(owner.number) else { continue }
      // The rule determines the name, even if a renamed table has its columns in reverse order.
      addStandardIndex(on: join.table.name, columns: [join.secondColumn, join.firstColumn])
    }
  }

  private func addStandardIndex(on table: String, columns: [String]) {
    let name = "\(table)_\(columns[0])_INDEX"
    let list = columns.map(bareIdentifier).joined(separator: ", ")
    indexes.append(
      PhysicalIndex(
        name: name, table: table, columns: columns, kind: .standard,
        sql: "CREATE INDEX \(bareIdentifier(name)) ON \(bareIdentifier(table)) (\(list))"))
  }

  private func addFetchIndex(_ index: FetchIndexDescription, of entity: EntityDescription) {
    guard let table = self.entity(entity.name)?.table else { return }
    // A key has its index already, and a to-many relationship has no column.
    if index.elements.count == 1, case .property(let name) = index.elements[0].subject,
      model.relationship(named: name, of: entity.name) != nil
    {
      return
    }
    if index.elements.contains(where: { $0.collation == .rTree }) { return addRTree(index, of: entity) }
    var columns: [String] = []
    var terms: [String] = []
    for element in index.elements {
      for column in self.columns(of: element, in: entity.name) {
        columns.append(column)
        terms.append("\(bareIdentifier(column)) COLLATE BINARY \(element.isAscending ? "ASC" : "DESC")")
      }
    }
    let name = "Z_\(entity.name)_\(index.name)"
    guard !columns.isEmpty, !indexes.contains(where: { $0.name == name }) else { return }
    // A condition on the objects is left out: how Core Data writes it is unknown, and an index of all rows also serves.
    let list = terms.joined(separator: ", ")
    indexes.append(
      PhysicalIndex(
        name: name, table: table, columns: columns, kind: .fetchIndex(entity: entity.name, name: index.name),
        sql: "CREATE INDEX \(bareIdentifier(name)) ON \(bareIdentifier(table)) (\(list))"))
  }

  private func addConstraint(_ properties: [String], of entity: EntityDescription) {
    guard let table = self.entity(entity.name)?.table else { return }
    let columns = properties.flatMap { self.columns(ofProperty: $0, in: entity.name) }
    let name = "Z_\(entity.name)_UNIQUE_\(properties.joined(separator: "_"))"
    guard !columns.isEmpty, !indexes.contains(where: { $0.name == name }) else { return }
    let list = columns.map { "\(bareIdentifier($0)) COLLATE BINARY ASC" }.joined(separator: ", ")
    indexes.append(
      PhysicalIndex(
        name: name, table: table, columns: columns,
        kind: .constraint(entity: entity.name, properties: properties),
        sql: "CREATE UNIQUE INDEX \(bareIdentifier(name)) ON \(bareIdentifier(table)) (\(list))"))
  }

  private func columns(of element: FetchIndexElementDescription, in entity: String) -> [String] {
    switch element.subject {
    case .property(let name): columns(ofProperty: name, in: entity)
    case .expression(.keyPath(operand: .evaluatedObject, let path), _): columns(ofProperty: path, in: entity)
    case .expression: []
    }
  }

  func columns(ofProperty name: String, in entity: String) -> [String] {
    switch storages[entity]?[name] {
    case .attribute(let columns): columns.map(\.name)
    case .relationship(.key(_, let column, _)): [column]
    case .relationship, nil: []
    }
  }

  private func addRTree(_ index: FetchIndexDescription, of entity: EntityDescription) {
    guard let table = self.entity(entity.name)?.table else { return }
    let columns: [String] = index.elements.flatMap { self.columns(of: $0, in: entity.name) }
    let name = "\(PhysicalName.rTreePrefix)\(entity.name)_\(index.name)"
    guard !columns.isEmpty, columns.count <= 5, !indexes.contains(where: { $0.name == name }) else { return }
    let bounds = columns.flatMap { ["\($0)_MIN", "\($0)_MAX"] }
    let list = bounds.map { "\(bareIdentifier($0)) FLOAT" }.joined(separator: ", ")
    let tree = bareIdentifier(name)
    indexes.append(
      PhysicalIndex(
        name: name, table: table, columns: columns, kind: .rTree(entity: entity.name, name: index.name),
        sql: "CREATE VIRTUAL TABLE \(tree) USING RTREE (\(PhysicalName.primaryKey) INTEGER PRIMARY KEY, \(list))"))
    let values = columns.flatMap { ["NEW.\(bareIdentifier($0))", "NEW.\(bareIdentifier($0))"] }.joined(separator: ", ")
    let isPlaced = columns.map { "NEW.\(bareIdentifier($0)) NOT NULL" }.joined(separator: " AND ")
    let key = PhysicalName.primaryKey
    let insertion = "INSERT INTO \(tree) SELECT NEW.\(key), \(values) WHERE \(isPlaced);"
    let deletion = "DELETE FROM \(tree) WHERE \(key) = OLD.\(key);"
    let changed = columns.map(bareIdentifier).joined(separator: ", ")
    for (event, clause, body) in [
      ("INSERT", "INSERT", insertion), ("UPDATE", "UPDATE OF \(changed)", "\(deletion) \(insertion)"),
      ("DELETE", "DELETE", deletion),
    ] {
      let trigger = "\(name)_\(event)"
      triggers.append(
        PhysicalTrigger(
          name: trigger, table: table, entity: entity.name, property: index.name,
          sql: "CREATE TRIGGER \(bareIdentifier(trigger)) AFTER \(clause) ON \(bareIdentifier(table))"
            + " FOR EACH ROW BEGIN \(body) END"))
    }
  }
}
