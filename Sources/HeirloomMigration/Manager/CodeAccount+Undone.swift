import HeirloomMapping
import HeirloomModel
import HeirloomStore

// Values that the default copied count as kept only if the candidate still has them at the end.
extension CodeAccount {
  /// Called once everything is written.
  func findUndone() throws {
    try close()
    try findVanished()
    try findValues()
    try findLinks()
    try close()
  }

  private func findVanished() throws {
    for mapping in setting.mapping.entityMappings {
      guard let name = mapping.destinationEntityName, let edits = undone.edits[name], let reads = undone.reads[name],
        let entity = setting.destination.entity(named: name), let source = sourceEntity(of: mapping),
        let vanished = undone.vanished[source.name], let touched = undone.touched[source.name]
      else { continue }
      try sets.forEachMember(of: edits.deleted) { key in
        for object in try sources(ofKey: key, entity, mapping.name, source)
        where try !successors(of: object).contains(where: isThere) {
          sets.insert(object.primaryKey, into: vanished)
          guard try sets.contains(key, in: reads.ofAny) else { continue }
          // Code knew of the object, so it is not lost as a whole.
          sets.insert(object.primaryKey, into: touched)
          if let reads = self.reads[source.name] { sets.insert(object.primaryKey, into: reads.ofAny) }
        }
      }
    }
  }

  private func sourceEntity(of mapping: EntityMapping) -> PhysicalEntity? {
    mapping.sourceEntityName.flatMap { setting.source.entity(named: $0) }
  }

  private func sources(
    ofKey key: Int64, _ entity: PhysicalEntity, _ mapping: String, _ source: PhysicalEntity
  ) throws -> [Associations.Key] {
    try associations.sources(of: Associations.Key(entity: entity.number, primaryKey: key), mapping: mapping)
      .filter { $0.entity == source.number }
  }

  private func successors(of object: Associations.Key) throws -> [Associations.Key] {
    let entity = setting.source.entity(numbered: object.entity)?.name
    return try setting.mapping.entityMappings.filter { $0.sourceEntityName == entity }
      .flatMap { try associations.destinations(of: object, mapping: $0.name) }
  }

  private func isThere(_ key: Associations.Key) throws -> Bool { try cell(PhysicalName.primaryKey, of: key) != nil }

  /// `nil` if the row is gone.
  private func cell(_ column: String, of key: Associations.Key) throws -> SQLiteValue? {
    guard let table = setting.destination.entity(numbered: key.entity)?.table else { return nil }
    return try setting.destinationStore.statements.withStatement(
      "SELECT \(quote(column)) FROM \(quote(SchemaName.candidate)).\(quote(table))"
        + " WHERE \(quote(PhysicalName.primaryKey)) = ?1 AND \(quote(PhysicalName.entity)) = ?2",
      [.integer(key.primaryKey), .integer(Int64(key.entity))]
    ) { row throws(SQLiteError) in try row.step() ? row.value(at: 0) : nil }
  }

  private func findValues() throws {
    for (index, line) in setting.parts.pendingCells.enumerated() {
      let end = End(key: "s.\(quote(PhysicalName.primaryKey))", entities: [line.entity.name])
      guard let set = undone.values[index], line.carriers.allSatisfy({ deeds[$0] != nil }),
        try line.attribute == nil || isRead(line.attribute ?? "", of: end) != nil
      else { continue }
      for run in runs where line.carriers.contains(run.mapping.name) {
        guard let deeds = run.deeds, let entity = run.destination, let edits = undone.edits[entity.name] else {
          continue
        }
        for edited in [edits.changed, edits.deleted] {
          try sets.forEachMember(of: edited, alsoIn: deeds.products) { key in
            for object in try sources(ofKey: key, entity, run.mapping.name, line.entity)
            where try !isHeld(object, line, index) { sets.insert(object.primaryKey, into: set) }
          }
        }
      }
    }
  }

  /// True also if code read the cells in a destination object.
  private func isHeld(_ object: Associations.Key, _ line: PendingCells, _ index: Int) throws -> Bool {
    for run in runs where line.carriers.contains(run.mapping.name) {
      let targets = undone.targets[index]?[run.mapping.name] ?? []
      let expected = try run.storedValues(ofKey: object.primaryKey)
      for key in try associations.destinations(of: object, mapping: run.mapping.name) {
        if targets.isEmpty, try isThere(key) { return true }
        let reads = setting.destination.entity(numbered: key.entity).flatMap { undone.reads[$0.name] }
        for target in targets {
          if let set = reads?.set(of: target.path), try sets.contains(key.primaryKey, in: set) { return true }
          guard let value = try cell(target.column, of: key) else { continue }
          // The value of an expression isn't computed again.
          guard let place = target.place else {
            if value != .null { return true }
            continue
          }
          if place < expected.count, value == expected[place] { return true }
        }
      }
    }
    return false
  }
}
