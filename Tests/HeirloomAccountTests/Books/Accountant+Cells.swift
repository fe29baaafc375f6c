extension Accountant {
  struct CellLine {
    var places: Set<String> = []
    var lost = 0
    var changed = 0
    /// The first cell that is lost or changed, for the message.
    var example: String?
    /// True if some of it is computed from other values, and so may or may not be told.
    var isDerived = false
  }

  func attributes() -> [Imbalance] {
    var lines: [Int: CellLine] = [:]
    for entity in matching.source.model.entities.map(\.name) where matching.entities[entity] != nil {
      for attribute in matching.source.attributes[entity] ?? [] {
        let name = Layout.Name(entity: attribute.entity, property: attribute.property.name)
        count(attribute.property, name, in: entity, &lines[families.family(ofSource: name), default: CellLine()])
      }
    }
    var told: [Int: (values: Int, changed: Int)] = [:]
    for loss in self.told where loss.kind == .values || loss.kind == .changedValues {
      guard let family = families.family(told: loss) else { continue }
      if lines[family] == nil { lines[family] = CellLine(places: ["\(loss)"]) }
      if loss.kind == .values {
        told[family, default: (0, 0)].values += loss.amount
      } else {
        told[family, default: (0, 0)].changed += loss.amount
      }
    }
    return lines.flatMap { family, line -> [Imbalance] in
      let place = line.places.sorted().joined(separator: ", ") + (line.example.map { " (\($0))" } ?? "")
      let (values, changed) = told[family] ?? (0, 0)
      if line.isDerived { return [] }
      return [(line.lost, values, "values"), (line.changed, changed, "changedValues")].compactMap {
        $0.0 == $0.1 ? nil : Imbalance(line: place, lost: $0.0, told: $0.1, kind: $0.2)
      }
    }
  }

  /// Only in objects that have an heir.
  func count(
    _ attribute: XMLModel.Attribute, _ name: Layout.Name, in entity: String, _ line: inout CellLine
  ) {
    let table = matching.source.tables[entity] ?? ""
    guard let column = matching.source.columns[name] else { return }
    line.places.insert("\(table).\(column) of \(entity).\(attribute.name)")
    line.isDerived = line.isDerived || attribute.isDerived
    let heir = matching.heir(of: attribute, in: entity)
    let heirTable = matching.entities[entity].flatMap { matching.destination.tables[$0] } ?? ""
    let heirColumn = heir.flatMap {
      matching.destination.columns[Layout.Name(entity: $0.entity, property: $0.property.name)]
    }
    let cells = before.values(of: column, in: table)
    let heirCells = heirColumn.map { after.values(of: $0, in: heirTable) } ?? [:]
    for object in objectsBefore.byEntity[entity, default: []] {
      guard let cell = cells[object.key], let heirObject = moves[object] else { continue }
      guard let heir else {
        line.lost += 1
        continue
      }
      let heirCell = heirCells[heirObject.key] ?? .null
      let entry = CellEntry(cell, heirCell, from: attribute, to: heir.property)
      if entry != .carried, line.example == nil {
        line.example = "\(attribute.type) \(cell.literal) → \(heir.property.type) \(heirCell.literal)"
      }
      switch entry {
      case .carried: break
      case .changed: line.changed += 1
      case .lost: line.lost += 1
      }
    }
  }

  private struct UnknownColumn: Hashable {
    let table: String
    let column: String
  }

  /// Balances columns of tables of links too.
  func unknownColumns() -> [Imbalance] {
    var lost: [UnknownColumn: Int] = [:]
    for table in Set(matching.source.tables.values) { countUnknown(in: table, &lost) }
    var joins: [String: Set<String>] = [:]
    for entity in matching.source.model.entities {
      for relationship in entity.relationships where !relationship.isTransient {
        let name = Layout.Name(entity: entity.name, property: relationship.name)
        guard let join = matching.source.join(of: name, in: before) else { continue }
        joins[entity.name, default: []].insert(join.table)
        // Of a relationship and its inverse, either would do.
        let inverse = matching.source.model.inverse(of: relationship)
        if let inverse, (inverse.entity, inverse.property.name) < (entity.name, relationship.name) { continue }
        countUnknown(name, join, &lost)
      }
    }
    var told: [UnknownColumn: Int] = [:]
    let losses = self.told.filter { $0.kind == .unknownContent }.map { loss in
      let tables = [matching.source.tables[loss.entity]].compactMap { $0 } + joins[loss.entity, default: []].sorted()
      return (loss, columns: tables.map { UnknownColumn(table: $0, column: loss.property ?? "") })
    }
    // Those that can be of one table only come first.
    for (loss, columns) in losses.sorted(by: { $0.columns.count < $1.columns.count }) {
      // An entity may have several tables of links, and only the amount tells which one is meant.
      let open = columns.filter { lost[$0] != nil && told[$0] != lost[$0] }
      let column = open.first { told[$0] == nil && lost[$0] == loss.amount } ?? open.first ?? columns.first
      told[column ?? UnknownColumn(table: loss.entity, column: loss.property ?? ""), default: 0] += loss.amount
    }
    return Set(lost.keys).union(told.keys).compactMap { column in
      let (lost, told) = (lost[column] ?? 0, told[column] ?? 0)
      guard lost != told else { return nil }
      return Imbalance(
        line: "\(column.table).\(column.column), unknown", lost: lost, told: told, kind: "unknownContent")
    }
  }

  private func countUnknown(in table: String, _ lost: inout [UnknownColumn: Int]) {
    let known = matching.source.knownColumns(of: table)
    guard let found = before.tables[table] else { return }
    // The destination may give such a name to a column of its own.
    let heirTables = Set(matching.destination.tables.values)
    let taken = Dictionary(uniqueKeysWithValues: heirTables.map { ($0, matching.destination.knownColumns(of: $0)) })
    for column in found.columns where !known.contains(column) {
      let line = UnknownColumn(table: table, column: column)
      for (key, cell) in before.values(of: column, in: table) {
        let heir = moves[ObjectKey(table: table, key: key)].flatMap { heir in
          taken[heir.table]?.contains(column) ?? true ? nil : after.values(of: column, in: heir.table)[heir.key]
        }
        if !(heir?.equals(cell) ?? false) { lost[line, default: 0] += 1 }
      }
    }
  }

  private func countUnknown(
    _ name: Layout.Name, _ join: Layout.Join, _ lost: inout [UnknownColumn: Int]
  ) {
    let destination = matching.source.relationship(name)?.destination ?? ""
    let (table, targetTable) = (matching.source.tables[name.entity] ?? "", matching.source.tables[destination] ?? "")
    for column in join.unknownColumns {
      let heirs = cellsOfLinks(continuing: name, column)
      let line = UnknownColumn(table: join.table, column: column)
      for (keys, cell) in before.tables[join.table]?.cells(of: column, by: join) ?? [:] {
        // A key that leads to no object stays what it is.
        let owner = heir(of: ObjectKey(table: table, key: keys[0]), among: name.entity)
        let target = heir(of: ObjectKey(table: targetTable, key: keys[1]), among: destination)
        let cellAfter = owner.flatMap { owner in target.flatMap { heirs[Link(owner: owner, target: $0)] } }
        if !(cellAfter?.equals(cell) ?? false) { lost[line, default: 0] += 1 }
      }
    }
  }

  private func heir(of object: ObjectKey, among entity: String) -> ObjectKey? {
    if objectsBefore.contains(object) { return moves[object] }
    return matching.entities[entity].flatMap { matching.destination.tables[$0] }
      .map { ObjectKey(table: $0, key: object.key) }
  }

  private func cellsOfLinks(continuing name: Layout.Name, _ column: String) -> [Link: Cell] {
    guard let relationship = matching.source.relationship(name) else { return [:] }
    let inverse = matching.source.model.inverse(of: relationship)
    var cells: [Link: Cell] = [:]
    let sides = [(name.entity, relationship, false)] + (inverse.map { [($0.entity, $0.property, true)] } ?? [])
    for (entity, side, isTurned) in sides {
      for heirEntity in matching.source.subtrees[entity, default: []] {
        guard let heir = matching.heir(of: side, in: heirEntity) else { continue }
        let heirName = Layout.Name(entity: heir.entity, property: heir.property.name)
        guard let join = matching.destination.join(of: heirName, in: after),
          let table = matching.destination.tables[heir.entity],
          let targetTable = matching.destination.tables[heir.property.destination]
        else { continue }
        for (keys, cell) in after.tables[join.table]?.cells(of: column, by: join) ?? [:] {
          let link = Link(
            owner: ObjectKey(table: table, key: keys[0]), target: ObjectKey(table: targetTable, key: keys[1]))
          cells[isTurned ? link.reversed : link] = cell
        }
      }
    }
    return cells
  }
}

extension Contents.Table {
  /// By both keys; cells without a value are left out.
  fileprivate func cells(of column: String, by join: Layout.Join) -> [[Int64]: Cell] {
    guard let owner = place(of: join.ownerColumn), let target = place(of: join.targetColumn),
      let place = place(of: column)
    else { return [:] }
    var cells: [[Int64]: Cell] = [:]
    for row in rows where row[place] != .null {
      if let from = row[owner].integer, let to = row[target].integer { cells[[from, to]] = row[place] }
    }
    return cells
  }
}
