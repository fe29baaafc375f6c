import HeirloomStore
import HeirloomModel
import HeirloomModel
import HeirloomModel

/// Plans the clean-up in a copy of the store that can be deferred until after the launch.
///
/// An object that stays must do no harm: it must not have a name that the destination needs,
/// prevent rows from being added, or come from an earlier deferred migration. Rows of a removed
/// entity can't stay in a table that is read: they would count as rows of another.
struct DeferralPlanner {
  let crossing: Crossing
  let carried: [CarriedTable]
  let rowCounts: [(table: String, rows: Int64)]
  /// True when SQLite can return empty pages to the file system step by step.
  let canReleasePages: Bool

  private var actual: ActualSchema { crossing.actual }
  private var source: PhysicalSchema { crossing.source }
  private var destination: PhysicalSchema { crossing.destination }

  var deferral: DeferredMigration {
    let indexes = CarriedIndexes(on: carried, in: crossing)
    var columns: [String: [String]] = [:]
    for table in carried { columns[table.table.name] = table.pending }
    let tables = tables
    let unused = unusedIndexes(indexes)
    let frees = !tables.isEmpty || !unused.isEmpty || columns.contains { !$0.value.isEmpty }
    return DeferredMigration(
      tables: tables, columns: columns, unusedIndexes: unused, missingIndexes: missingIndexes(indexes),
      releasesPages: frees && canReleasePages)
  }

  /// In lower case; tables and indexes share one namespace.
  private var needed: Set<String> {
    Set((destination.tables.map(\.name) + destination.indexes.map(\.name)).map { $0.lowercased() })
  }

  private var tables: [String] {
    let kept = Set(carried.map(\.sourceTable))
    let needed = needed
    return actual.ownership(under: source).filter { object, ownership in
      guard object.kind == .table, ownership == .model, !kept.contains(object.name),
        actual.table(named: object.name)?.isVirtual == false
      else { return false }
      let names = actual.objects.filter { $0.kind == .index && $0.table == object.name && $0.sql != nil }.map(\.name)
      return ([object.name] + names).allSatisfy { !needed.contains($0.lowercased()) }
    }.map(\.object.name).ordered()
  }

  private func unusedIndexes(_ indexes: CarriedIndexes) -> [String] {
    let needed = needed
    return indexes.dropped.filter { name in
      guard !needed.contains(name.lowercased()), let index = actual.object(.index, named: name),
        let table = carried.first(where: { $0.sourceTable == index.table }), table.table.name == index.table,
        let planned = source.indexes.first(where: { $0.name == name }), planned.ordering?.first == "",
        index.normalizedSQL == SchemaObject(kind: .index, name: name, table: "", sql: planned.sql).normalizedSQL
      else { return false }
      let changing = Set(table.updates.map(\.column))
      return planned.columns.allSatisfy { column in
        !changing.contains(column) && (table.pending.contains(column) || table.origins[column] == column)
      }
    }.ordered()
  }

  private func missingIndexes(_ indexes: CarriedIndexes) -> [String] {
    let kept = Set(indexes.kept.map(\.index.name))
    let left = Set(actual.pending(under: source).missingIndexes)
    let filled = Set(rowCounts.filter { $0.rows > 0 }.map(\.table))
    return destination.indexes.filter { index in
      index.mayWait && !kept.contains(index.name) && !left.contains(index.name) && filled.contains(index.table)
    }.map(\.name).ordered()
  }
}
