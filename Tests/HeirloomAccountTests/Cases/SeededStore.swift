import Foundation
import TestSupport

/// A writer of rows and links by plain SQL, into a store that the product made empty.
struct SeededStore {
  private let layout: Layout
  private let empty: Contents
  private let isDistinct: Bool
  private var random: SplitMix64
  private(set) var statements: [String] = []
  private(set) var objects: [String: [ObjectKey]] = [:]
  /// One-to-one links that both sides have: the statement that takes one side away.
  private(set) var halves: [String] = []
  /// Statements that lead existing links elsewhere.
  private(set) var changes: [String] = []

  /// `emptyStoreAt` is a store of the model; with `isDistinct` values differ, as constraints of one
  /// of the versions may ask.
  init(_ model: XMLModel, emptyStoreAt path: String, rows: Int, isDistinct: Bool = false, random: SplitMix64) throws {
    empty = try Contents(of: path)
    layout = Layout(model, stored: empty.numbers)
    self.isDistinct = isDistinct
    self.random = random
    insertObjects(upTo: rows)
    for entity in model.entities {
      for relationship in entity.relationships where !relationship.isTransient { insertLinks(entity, relationship) }
    }
  }

  private mutating func insertObjects(upTo rows: Int) {
    var next: [String: Int64] = [:]
    var count: Int64 = 0
    for entity in layout.model.entities where !entity.isAbstract {
      guard let table = layout.tables[entity.name], let number = layout.numbers[entity.name] else { continue }
      for _ in 0..<(rows == 0 ? 0 : random.below(rows + 1)) {
        // Deletions leave gaps.
        let key = (next[table] ?? 0) + 1 + Int64(random.below(3))
        next[table] = key
        var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
        var cells: [Cell] = [.integer(key), .integer(number), .integer(1 + Int64(random.below(3)))]
        for attribute in layout.attributes[entity.name] ?? [] {
          guard let column = layout.columns[Layout.Name(entity: attribute.entity, property: attribute.property.name)],
            !attribute.property.isOptional || attribute.property.name == SeededCase.mark || random.below(4) != 0
          else { continue }
          columns.append(column)
          count += 1
          cells.append(
            attribute.property.name == SeededCase.mark
              ? .integer(count)
              : SeededValues.value(of: attribute.property, number: isDistinct ? key : nil, using: &random))
        }
        insert(table, columns, cells)
        objects[entity.name, default: []].append(ObjectKey(table: table, key: key))
      }
    }
    for (table, key) in next {
      guard let root = layout.model.entities.first(where: { $0.parent == nil && layout.tables[$0.name] == table })
      else { continue }
      statements.append("UPDATE Z_PRIMARYKEY SET Z_MAX = \(key) WHERE Z_ENT = \(layout.numbers[root.name] ?? 0)")
    }
  }

  private mutating func insert(_ table: String, _ columns: [String], _ cells: [Cell]) {
    statements.append(
      "INSERT OR IGNORE INTO \(quoted(table)) (\(columns.map(quoted).joined(separator: ", ")))"
        + " VALUES (\(cells.map(\.literal).joined(separator: ", ")))")
  }

  private func set(_ object: ObjectKey, _ column: String, _ value: Int64?) -> String {
    let value = value.map { "\($0)" } ?? "NULL"
    return "UPDATE \(quoted(object.table)) SET \(quoted(column)) = \(value) WHERE Z_PK = \(object.key)"
  }

  private func members(of entity: String) -> [(object: ObjectKey, number: Int64)] {
    layout.model.entities.map(\.name).filter { layout.subtrees[entity, default: []].contains($0) }.flatMap { name in
      objects[name, default: []].map { ($0, layout.numbers[name] ?? 0) }
    }
  }

  private mutating func insertLinks(_ entity: XMLModel.Entity, _ relationship: XMLModel.Relationship) {
    let name = Layout.Name(entity: entity.name, property: relationship.name)
    let (owners, targets) = (members(of: entity.name), members(of: relationship.destination))
    guard !owners.isEmpty, !targets.isEmpty else { return }
    guard let inverse = layout.model.inverse(of: relationship) else {
      if relationship.isToMany {
        insertKeysWithoutInverse(name, owners, targets)
      } else {
        for owner in owners where random.below(3) != 0 {
          statements += leading(owner.object, name, to: targets[random.below(targets.count)])
        }
      }
      return
    }
    let inverseName = Layout.Name(entity: inverse.entity, property: inverse.property.name)
    let isFirst = (name.entity, name.property) < (inverseName.entity, inverseName.property)
    switch (relationship.isToMany, inverse.property.isToMany) {
    case (false, true): insertKeys(name, inverse.property.isOrdered, owners, targets)
    case (true, true): if isFirst { insertJoinRows(name, owners, targets) }
    case (false, false): if isFirst { insertPairs(name, inverseName, owners, targets) }
    case (true, false): break
    }
  }

  /// Adds the number of the target's entity where the table has a column for it.
  private func leading(
    _ object: ObjectKey, _ name: Layout.Name, to target: (object: ObjectKey, number: Int64)
  ) -> [String] {
    guard let column = layout.columns[name] else { return [] }
    let number = layout.numberColumn(of: name).map { set(object, $0, target.number) }
    return [set(object, column, target.object.key)] + [number].compactMap { $0 }
  }

  private mutating func insertKeys(
    _ name: Layout.Name, _ isOrdered: Bool, _ owners: [(object: ObjectKey, number: Int64)],
    _ targets: [(object: ObjectKey, number: Int64)]
  ) {
    guard let column = layout.columns[name] else { return }
    for (place, owner) in owners.enumerated() where random.below(4) != 0 {
      statements += leading(owner.object, name, to: targets[random.below(targets.count)])
      if isOrdered {
        statements.append(
          set(owner.object, "Z_FOK_" + column.dropFirst(), Int64(2048 + 1024 * ((place * 7) % owners.count))))
      }
    }
    if let owner = owners.randomElement(using: &random) {
      // A key that leads to no object is no link.
      if random.below(6) == 0 {
        statements.append(set(owner.object, column, 9999))
      }
      changes += leading(owner.object, name, to: targets[random.below(targets.count)])
    }
  }

  private mutating func insertKeysWithoutInverse(
    _ name: Layout.Name, _ owners: [(object: ObjectKey, number: Int64)], _ targets: [(object: ObjectKey, number: Int64)]
  ) {
    let column = layout.inverselessColumn(of: name)
    for (place, target) in targets.enumerated() where random.below(3) != 0 {
      statements.append(set(target.object, column, owners[random.below(owners.count)].object.key))
      if layout.relationship(name)?.isOrdered ?? false {
        statements.append(set(target.object, "Z_FOK_" + column.dropFirst(), Int64(2048 + 1024 * place)))
      }
    }
    let target = targets[random.below(targets.count)].object
    changes.append(set(target, column, owners[random.below(owners.count)].object.key))
  }

  private mutating func insertPairs(
    _ name: Layout.Name, _ inverse: Layout.Name, _ owners: [(object: ObjectKey, number: Int64)],
    _ targets: [(object: ObjectKey, number: Int64)]
  ) {
    var free = targets.shuffled(using: &random)
    for owner in owners where random.below(4) != 0 {
      // An object and itself are left out: both sides' columns would be in one row.
      guard let target = free.popLast(), target.object != owner.object else { continue }
      statements += leading(owner.object, name, to: target) + leading(target.object, inverse, to: owner)
      guard let column = layout.columns[name], let back = layout.columns[inverse] else { continue }
      halves.append(random.below(2) == 0 ? set(owner.object, column, nil) : set(target.object, back, nil))
    }
  }

  private mutating func insertJoinRows(
    _ name: Layout.Name, _ owners: [(object: ObjectKey, number: Int64)], _ targets: [(object: ObjectKey, number: Int64)]
  ) {
    guard let join = layout.join(of: name, in: empty), let columns = empty.tables[join.table]?.columns else { return }
    let orders = columns.filter { $0.hasPrefix("Z_FOK_") }
    for owner in owners {
      for target in targets.shuffled(using: &random).prefix(random.below(3)) {
        insert(
          join.table, [join.ownerColumn, join.targetColumn] + orders,
          [.integer(owner.object.key), .integer(target.object.key)]
            + orders.map { _ in .integer(Int64(2048 + 1024 * random.below(99))) })
      }
    }
    if random.below(6) == 0, let owner = owners.first {
      insert(join.table, [join.ownerColumn, join.targetColumn], [.integer(owner.object.key), .integer(9999)])
    }
  }
}
