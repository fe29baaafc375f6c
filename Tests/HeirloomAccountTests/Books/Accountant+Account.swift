extension Accountant {
  /// Finds missing and unknown lines, wrong counts and sums, and wrong entries of what goes.
  ///
  /// If code makes the objects, only the run reports what is lost.
  func imbalances(of account: [ListedLine], isByCode: Bool = false) -> [Imbalance] {
    let sums = account.compactMap { line -> Imbalance? in
      let sum = line.parts.reduce(0) { $0 + $1.count }
      return sum == line.count
        ? nil : Imbalance(line: "\(line.kind) \(line.name)", lost: line.count, told: sum, kind: "sum")
    }
    let nowhere = account.flatMap { line in
      line.parts.filter { ["carried", "changed"].contains($0.fate) && $0.places.isEmpty }.map { part in
        Imbalance(line: "\(line.kind) \(line.name)", lost: part.count, told: 0, kind: "places")
      }
    }
    let counts = expectedCounts
    let found = Dictionary(account.map { (Key(kind: $0.kind, name: $0.name), $0.count) }, uniquingKeysWith: { $0 + $1 })
    let missing = counts.compactMap { key, count -> Imbalance? in
      if found[key] == count { return nil }
      return Imbalance(line: "\(key.kind) \(key.name)", lost: count, told: found[key] ?? -1, kind: "count")
    }
    let strange = found.keys.filter { counts[$0] == nil && !["metadata", "files"].contains($0.kind) }.map {
      Imbalance(line: "\($0.kind) \($0.name)", lost: 0, told: found[$0] ?? 0, kind: "nothing")
    }
    return sums + nowhere + missing + strange + (isByCode ? [] : gone(account))
  }

  private struct Key: Hashable {
    let kind: String
    let name: String
  }

  private var expectedCounts: [Key: Int] {
    var counts: [Key: Int] = [:]
    for entity in matching.source.model.entities where !entity.isAbstract || objectsBefore.byEntity[entity.name] != nil
    {
      counts[Key(kind: "objects", name: entity.name)] = objectsBefore.byEntity[entity.name, default: []].count
    }
    for entity in matching.source.model.entities { counts[Key(kind: "objects", name: entity.name), default: 0] += 0 }
    let objectTables = Set(matching.source.tables.values)
    let bookkeeping = Set(["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"])
    for (name, table) in before.tables {
      let isJoin = isJoin(name)
      if !objectTables.contains(name) { counts[Key(kind: "rows", name: name)] = table.rows.count }
      guard objectTables.contains(name) || isJoin || bookkeeping.contains(name) else { continue }
      let known = objectTables.contains(name) ? matching.source.knownColumns(of: name) : []
      let attributes = attributeColumns(of: name)
      let joinColumns = isJoin ? self.joinColumns(of: name) : []
      for (place, column) in table.columns.enumerated() {
        let count = table.rows.count { $0[place] != .null }
        if bookkeeping.contains(name) {
          guard !Self.ownColumns.contains(column) else { continue }
          counts[Key(kind: "cells", name: "\(name).\(column)")] = count
          continue
        }
        let isCells = attributes.contains(column) || (isJoin ? !joinColumns.contains(column) : !known.contains(column))
        counts[Key(kind: isCells ? "cells" : "bookkeeping", name: "\(name).\(column)")] = count
      }
    }
    let links = Links(in: before, matching.source, objectsBefore)
    for name in sides {
      counts[Key(kind: "links", name: "\(name.entity).\(name.property)")] = links.all(of: name).count
    }
    return counts
  }

  private static let ownColumns: Set<String> = [
    "Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX", "Z_VERSION", "Z_UUID", "Z_PLIST", "Z_CONTENT",
  ]

  private func attributeColumns(of table: String) -> Set<String> {
    var columns: Set<String> = []
    for entity in matching.source.model.entities where matching.source.tables[entity.name] == table {
      for attribute in entity.attributes {
        if let column = matching.source.columns[Layout.Name(entity: entity.name, property: attribute.name)] {
          columns.insert(column)
        }
      }
    }
    return columns
  }

  private var joins: [Layout.Join] {
    matching.source.model.entities.flatMap { entity in
      entity.relationships.filter { !$0.isTransient }.compactMap {
        matching.source.join(of: Layout.Name(entity: entity.name, property: $0.name), in: before)
      }
    }
  }

  private func isJoin(_ table: String) -> Bool { joins.contains { $0.table == table } }

  private func joinColumns(of table: String) -> Set<String> {
    guard let found = before.tables[table] else { return [] }
    let unknown = joins.filter { $0.table == table }.reduce(Set(found.columns)) { $0.intersection($1.unknownColumns) }
    return Set(found.columns).subtracting(unknown)
  }

  /// One of two inverses, the first by the order of the model; both if they go on as relationships
  /// that aren't inverses.
  private var sides: [Layout.Name] {
    var told: Set<Layout.Name> = []
    var sides: [Layout.Name] = []
    for entity in matching.source.model.entities.sorted(by: { $0.name < $1.name }) {
      for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) where !relationship.isTransient {
        let name = Layout.Name(entity: entity.name, property: relationship.name)
        if told.contains(name) { continue }
        if let inverse = matching.source.model.inverse(of: relationship),
          separation(relationship, of: name.entity) != .whole
        {
          told.insert(Layout.Name(entity: inverse.entity, property: inverse.property.name))
        }
        sides.append(name)
      }
    }
    return sides
  }

  private enum Separation { case none, part, whole }

  /// Says if two inverses go on as relationships that aren't inverses, in all entities or in a
  /// part.
  private func separation(_ relationship: XMLModel.Relationship, of entity: String) -> Separation {
    guard let inverse = matching.source.model.inverse(of: relationship) else { return .none }
    var isWhole = true
    func heirs(_ relationship: XMLModel.Relationship, _ entity: String) -> [Layout.Name: XMLModel.Relationship] {
      let owners = matching.source.subtrees[entity, default: []].filter { matching.entities[$0] != nil }
      let found = owners.compactMap { matching.heir(of: relationship, in: $0) }
      isWhole = isWhole && found.count == owners.count
      return Dictionary(
        found.map { (Layout.Name(entity: $0.entity, property: $0.property.name), $0.property) },
        uniquingKeysWith: { first, _ in first })
    }
    let (own, others) = (heirs(relationship, entity), heirs(inverse.property, inverse.entity))
    let isSeparated =
      !own.isEmpty && !others.isEmpty
      && !own.values.contains { heir in
        matching.destination.model.inverse(of: heir).map {
          others[Layout.Name(entity: $0.entity, property: $0.property.name)] != nil
        } ?? false
      }
    return isSeparated ? isWhole ? .whole : .part : .none
  }

  /// Compares what lines say is lost, or goes with objects, with what has no heir.
  private func gone(_ account: [ListedLine]) -> [Imbalance] {
    var lines: [Key: ListedLine] = [:]
    for line in account { lines[Key(kind: line.kind, name: line.name)] = line }
    var found: [Imbalance] = []
    for entity in matching.source.model.entities.map(\.name) {
      let lost = objectsBefore.byEntity[entity, default: []].count { moves[$0] == nil }
      let told = lines[Key(kind: "objects", name: entity)]?.count(of: "lost", "decided") ?? -1
      if lost != told { found.append(Imbalance(line: "account of \(entity)", lost: lost, told: told, kind: "objects")) }
    }
    for entity in matching.source.model.entities {
      let table = matching.source.tables[entity.name] ?? ""
      let owners = matching.source.subtrees[entity.name, default: []]
      for attribute in entity.attributes {
        let name = Layout.Name(entity: entity.name, property: attribute.name)
        guard let column = matching.source.columns[name],
          let line = lines[Key(kind: "cells", name: "\(table).\(column)")]
        else { continue }
        let keys = before.values(of: column, in: table).keys.map { ObjectKey(table: table, key: $0) }
        let own = keys.filter { objectsBefore.entity($0).map(owners.contains) ?? false }
        let going = own.count { moves[$0] == nil }
        var cells = CellLine()
        for owner in owners where matching.entities[owner] != nil { count(attribute, name, in: owner, &cells) }
        var expected = [("withObjects", going)]
        // Cells of other entities' rows have entries of their own, and what is computed may be told or not.
        if own.count == keys.count, !cells.isDerived { expected += [("lost", cells.lost), ("changed", cells.changed)] }
        for (fate, count) in expected where line.count(of: fate) != count {
          found.append(
            Imbalance(line: "account of \(table).\(column)", lost: count, told: line.count(of: fate), kind: fate))
        }
      }
    }
    return found + keys(lines) + goneLinks(lines)
  }

  /// Compares the keys that lines say are carried, or go with objects, with those that objects have afterwards.
  private func keys(_ lines: [Key: ListedLine]) -> [Imbalance] {
    Set(matching.source.tables.values).sorted().flatMap { table -> [Imbalance] in
      guard let line = lines[Key(kind: "bookkeeping", name: "\(table).Z_PK")] else { return [] }
      let entities = matching.source.model.entities.map(\.name).filter { matching.source.tables[$0] == table }
      let objects = entities.flatMap { Array(objectsBefore.byEntity[$0, default: []]) }
      let kept = objects.count { object in moves[object].map { $0.key == object.key } ?? false }
      let all = kept == objects.count { moves[$0] != nil } ? kept : 0
      let expected = [("withObjects", objects.count { moves[$0] == nil }), ("carried", all)]
      return expected.filter { line.count(of: $0.0) != $0.1 }.map { fate, count in
        Imbalance(line: "account of \(table).Z_PK", lost: count, told: line.count(of: fate), kind: fate)
      }
    }
  }

  /// Compares the links that lines say are lost, or go with objects, with those that nothing has.
  private func goneLinks(_ lines: [Key: ListedLine]) -> [Imbalance] {
    let own = Links(in: before, matching.source, objectsBefore)
    let heirs = HeirLinks(matching, Links(in: after, matching.destination, objectsAfter))
    let families = sides.map { self.families.family(ofSource: $0) }
    return zip(sides, families).compactMap { name, family in
      // Where several become one, only together they tell what has no room.
      guard let relationship = matching.source.relationship(name), families.count(where: { $0 == family }) == 1,
        let line = lines[Key(kind: "links", name: "\(name.entity).\(name.property)")]
      else { return nil }
      let inverse = matching.source.model.inverse(of: relationship)
      let separation = separation(relationship, of: name.entity)
      let known = own.own(of: name)
      let gone = own.all(of: name).count { link in
        guard let moved = moves[link] else { return true }
        // One of two separate relationships tells what it has told itself; the rest may stay with the other.
        let mayLeave =
          separation != .whole || !known.contains(link)
          || objectsBefore.entity(link.owner).flatMap { matching.heir(of: relationship, in: $0) } == nil
        let isThere =
          heirs.contain(moved, of: relationship, in: objectsBefore.entity(link.owner))
          || mayLeave
            && inverse.map { heirs.contain(moved.reversed, of: $0.property, in: objectsBefore.entity(link.target)) }
              ?? false
        return !isThere
      }
      let told = line.count(of: "lost", "decided", "withObjects")
      // Where only some entities keep a side, both sides tell what they have no room for, and the line has the sum.
      return gone == told || separation == .part && gone < told
        ? nil : Imbalance(line: "account of \(name.entity).\(name.property)", lost: gone, told: told, kind: "links")
    }
  }
}
