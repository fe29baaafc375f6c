import HeirloomStore

struct CarriedIndexes {
  /// By their names in the store, with their new description.
  private(set) var kept: [(name: String, index: PhysicalIndex)] = []
  private(set) var dropped: [String] = []

  init(on tables: [CarriedTable], in crossing: Crossing) {
    let (actual, source, destination) = (crossing.actual, crossing.source, crossing.destination)
    for table in tables {
      let changing = Set(table.updates.map(\.column))
      var usable = source.indexes.filter { index in
        index.table == table.sourceTable && index.ordering != nil && !index.columns.contains(where: changing.contains)
          && Self.isThere(index, in: actual)
      }
      for index in destination.indexes where index.table == table.table.name && index.ordering != nil {
        let columns = index.columns.map { table.origins[$0] }
        guard let place = usable.firstIndex(where: { $0.columns == columns && $0.ordering == index.ordering }) else {
          continue
        }
        kept.append((usable.remove(at: place).name, index))
      }
    }
    let keptNames = Set(kept.map(\.name))
    let names = Set(tables.map(\.sourceTable))
    for (object, ownership) in actual.ownership(under: source) where object.kind == .index {
      guard names.contains(object.table), object.sql != nil, [.model, .leftover, .pending].contains(ownership) else {
        continue
      }
      if !keptNames.contains(object.name) { dropped.append(object.name) }
    }
  }

  private static func isThere(_ index: PhysicalIndex, in actual: ActualSchema) -> Bool {
    let object = SchemaObject(kind: .index, name: index.name, table: index.table, sql: index.sql)
    return actual.object(.index, named: index.name)?.normalizedSQL == object.normalizedSQL
  }
}
