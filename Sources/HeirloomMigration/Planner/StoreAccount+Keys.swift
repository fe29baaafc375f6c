import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension StoreAccount {
  func bookkeeping(
    _ column: String, _ role: PhysicalColumn.Role, in table: String, _ counts: CellCounts, _ isOfObjects: Bool
  ) throws -> Line {
    let name = "\(table).\(column)"
    guard let (entity, path) = role.property else {
      return line(
        .bookkeeping, name, count: counts.all, of: [], withObjects: counts.going,
        code: (counts.code, byRow(in: table)), rest: moved(column, in: table))
    }
    let side = [entity, path[0]]
    let property = side.joined(separator: ".")
    let asLinks = part(.links, [linkNames[side] ?? property])
    if case .order = role {
      let lost = lostPlaces(of: side, counts.all)
      var parts = lost.map { [$0] } ?? []
      var left = counts.all - parts.reduce(0) { $0 + $1.count }
      func add(_ rest: Rest, _ count: Int64) {
        guard count > 0 else { return }
        parts.append(Line.Part(fate: rest.fate, count: count, places: rest.places, reason: rest.reason))
        left -= count
      }
      add(part(.withObjects), min(left, counts.going))
      add(part(.code, byRow(in: table)), min(left, counts.code))
      add(isOfObjects ? moved(column, in: table) : asLinks, left)
      return Line(kind: .bookkeeping, name: name, property: property, count: counts.all, parts: parts)
    }
    let dangling = try danglingKeys(column, role, in: table)
    return line(.bookkeeping, name, property: property, count: counts.all - dangling, of: [], rest: asLinks)
      .adding(.leftOut, dangling, reason: "No object has this key.")
  }

  /// ``Line/Fate/remade`` if the keys or numbers are assigned again.
  private func moved(_ column: String, in table: String) -> Rest {
    var places: [String] = []
    for transfer in transfers(of: table) {
      for (name, entry) in transfer.columns
      where transfer.sourceNumbers.contains(where: { number in
        entry.ofRows(numbered: number)?.origin == column
      }) {
        guard entry.isVerbatim else { return part(.remade) }
        places.append("\(transfer.table).\(name)")
      }
    }
    return places.isEmpty ? part(.remade) : part(.carried, places)
  }

  /// Positions whose order no destination relationship keeps.
  private func lostPlaces(of side: [String], _ count: Int64) -> Line.Part? {
    let subjects =
      [Subject.links(entity: side[0], relationship: side[1])]
      + crossing.heirs(of: side[1], from: side[0]).map { Subject.linksInto(entity: $0[0], relationship: $0[1]) }
    let entries = sources.entries.filter { counted in
      counted.entry.cause.isOrder && subjects.contains { $0.key == counted.entry.subject.key }
    }
    guard let first = entries.first else { return nil }
    // A loss that the models imply concerns all positions, while its entry counts the owners.
    let isOfAll = entries.contains { if case .effect = $0.entry.cause { true } else { false } }
    let lost = isOfAll ? count : min(count, entries.reduce(0) { $0 + ($1.links ?? $1.rows) })
    return Line.Part(fate: .lost, count: lost, places: [], reason: first.entry.cause.reason)
  }

  private func danglingKeys(_ column: String, _ role: PhysicalColumn.Role, in table: String) throws(SQLiteError)
    -> Int64
  {
    guard case .key(let entity, let name) = role,
      let relationship = source.model.relationship(named: name, of: entity),
      let target = source.table(ofEntity: relationship.destinationEntity)?.name
    else { return 0 }
    let key = "s.\(quote(column))"
    return try connection.firstInteger(
      "SELECT COUNT(*) FROM \(SchemaName.rows(of: table, as: "s")) WHERE \(key) NOT NULL AND NOT EXISTS (SELECT 1 FROM"
        + " \(SchemaName.rows(of: target, as: "t")) WHERE t.\(quote(PhysicalName.primaryKey)) = \(key))") ?? 0
  }

  func byRow(in table: String) -> [String] {
    source.entities.filter { $0.table == table }.flatMap(byCode)
  }

  /// The entity mappings that make the entity's objects one by one.
  func byCode(_ entity: PhysicalEntity) -> [String] {
    let names = Set(crossing.split.byRow.map(\.name))
    return crossing.flows(of: entity.name).map(\.mapping).filter(names.contains)
  }
}
