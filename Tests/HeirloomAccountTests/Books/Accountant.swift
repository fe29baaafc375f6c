/// A judge of a migration: it counts on both files what the migration must not lose without a word.
///
/// It reads both files with SQL of its own and both versions from their XML, and shares nothing with the product. A line
/// is one of these:
/// - the objects of an entity: those without an heir are told as `objects`, by that entity;
/// - the cells of an attribute other than NULL, of objects that have an heir: those that are NULL after are told as
///   `values`, those that can't be had back from what is there after as `changedValues`;
/// - the cells of a column that no model knows, of whatever rows: those that aren't there after are told as
///   `unknownContent`;
/// - the links of a relationship and its inverse, by either side's account, between objects that exist.
///
/// Cells of objects that go are told with the objects; so are links between them, see `links()`.
struct Accountant {
  let matching: Matching
  let before: Contents
  let after: Contents
  let told: [ToldLoss]
  let objectsBefore: Objects
  let objectsAfter: Objects
  let moves: ObjectMoves
  let families: Families

  /// `mark` names, in both versions, an attribute with another value in each object, for code that
  /// may give objects other keys.
  init(
    from source: XMLModel, _ before: Contents, to destination: XMLModel, _ after: Contents, told: [ToldLoss],
    mark: String? = nil
  ) {
    matching = Matching(Layout(source, stored: before.numbers), Layout(destination, stored: after.numbers))
    (self.before, self.after, self.told) = (before, after, told)
    objectsBefore = Objects(in: before, matching.source)
    objectsAfter = Objects(in: after, matching.destination)
    if let mark {
      moves = ObjectMoves(
        matching, objectsBefore, objectsAfter, marks: objectsBefore.cells(of: mark, in: before, matching.source),
        heirMarks: objectsAfter.cells(of: mark, in: after, matching.destination))
    } else {
      moves = ObjectMoves(matching, objectsBefore, objectsAfter)
    }
    families = Families(matching)
  }

  func imbalances() -> [Imbalance] {
    let unfit = columnsMissing()
    return unfit.isEmpty
      ? objects() + attributes() + unknownColumns() + links() + otherTables() + strangers() + highestKeys() : unfit
  }

  /// If the file lacks a column, nothing can be counted.
  private func columnsMissing() -> [Imbalance] {
    [(matching.source, before), (matching.destination, after)].flatMap { layout, contents in
      layout.columns.compactMap { name, column -> Imbalance? in
        guard let table = layout.tables[name.entity] else { return nil }
        if contents.tables[table]?.place(of: column) != nil { return nil }
        return Imbalance(
          line: "\(table).\(column) of \(name.entity).\(name.property)", lost: 1, told: 0, kind: "columns")
      }
    }
  }

  /// Each object has an heir or is told, and nothing comes from nowhere.
  private func objects() -> [Imbalance] {
    var imbalances: [Imbalance] = []
    var toldByEntity: [String: Int] = [:]
    for loss in told where loss.kind == .objects { toldByEntity[loss.entity, default: 0] += loss.amount }
    for entity in matching.source.model.entities.map(\.name) {
      let table = matching.source.tables[entity] ?? ""
      let lost = objectsBefore.byEntity[entity, default: []].count { moves[$0] == nil }
      let told = toldByEntity.removeValue(forKey: entity) ?? 0
      if lost != told {
        imbalances.append(Imbalance(line: "\(table) of \(entity)", lost: lost, told: told, kind: "objects"))
      }
    }
    for (entity, told) in toldByEntity {
      imbalances.append(Imbalance(line: "no table of \(entity)", lost: 0, told: told, kind: "objects"))
    }
    let count = objectsAfter.entities.values.reduce(0) { $0 + $1.count }
    if count > moves.count {
      imbalances.append(
        Imbalance(line: "objects from nowhere", lost: moves.count - count, told: 0, kind: "objects"))
    }
    return imbalances
  }

  /// The next object must get a free key: else it would take an object's place.
  private func highestKeys() -> [Imbalance] {
    guard let table = after.tables["Z_PRIMARYKEY"], let number = table.place(of: "Z_ENT"),
      let highest = table.place(of: "Z_MAX")
    else { return [Imbalance(line: "Z_PRIMARYKEY", lost: 1, told: 0, kind: "tables")] }
    return matching.destination.model.entities.filter { $0.parent == nil }.compactMap { root in
      let key = objectsAfter.entities[matching.destination.tables[root.name] ?? ""]?.keys.max() ?? 0
      let row = table.rows.first { $0[number].integer == matching.destination.numbers[root.name] }
      if let found = row?[highest].integer, found >= key { return nil }
      return Imbalance(line: "Z_MAX of \(root.name)", lost: 1, told: 0, kind: "keys")
    }
  }

  /// Told losses that name nothing in either version.
  private func strangers() -> [Imbalance] {
    told.compactMap { loss in
      guard [.links, .values, .changedValues].contains(loss.kind), families.family(told: loss) == nil else {
        return nil
      }
      return Imbalance(line: "\(loss)", lost: 0, told: loss.amount, kind: loss.kind.rawValue)
    }
  }

  /// Tables that belong to no entity and no relationship stay as they are.
  private func otherTables() -> [Imbalance] {
    let own = Set(matching.source.tables.values).union(matching.destination.tables.values)
    return before.tables.compactMap { name, table in
      // Names that begin with these are Core Data's.
      guard !own.contains(name), !name.hasPrefix("Z_"), !name.hasPrefix("A"), after.tables[name] != table else {
        return nil
      }
      return Imbalance(line: "table \(name)", lost: table.rows.count, told: 0, kind: "rows")
    }
  }
}
