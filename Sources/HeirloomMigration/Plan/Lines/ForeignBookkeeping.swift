import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// Columns and rows of other programs in the bookkeeping tables, which are rebuilt.
///
/// Values in additional columns are copied to the candidate's row of the same entity. Additional
/// rows are lost.
struct ForeignBookkeeping {
  private let crossing: Crossing
  /// The lowest number of Core Data's own entities, whose rows are kept.
  let frameworkNumber: Int64
  var hasModel = true

  init(_ crossing: Crossing) {
    self.crossing = crossing
    // Numbers above those of models are the framework's own entities: history, CloudKit mirroring.
    frameworkNumber = max(
      Int64(crossing.source.entities.count + 1), Int64(crossing.destination.entities.count + 1),
      PhysicalName.firstFrameworkNumber)
  }

  private var tables: [(table: String, own: String, columns: [PhysicalColumn])] {
    ActualSchema.bookkeeping.map { table, _, own in
      (table, own[0], crossing.actual.otherColumns(of: table, besides: own))
    }
  }

  /// For tables that are filled already.
  var statements: [PlannedStatement] {
    tables.flatMap { table, _, columns -> [PlannedStatement] in
      guard !columns.isEmpty else { return [] }
      let candidate = "\(quote(SchemaName.candidate)).\(quote(table))"
      let (place, own) = (
        place(in: table), table == PhysicalName.primaryKeyTable ? "t.\(quote(PhysicalName.entity))" : "1"
      )
      let values = columns.map { column in
        let name = quote(column.name)
        // If entities are merged, the first one with a value gives it.
        return "\(name) = (SELECT s.\(name) FROM \(SchemaName.rows(of: table, as: "s")) WHERE s.\(name) IS NOT NULL"
          + " AND \(place) = \(own) LIMIT 1)"
      }
      return columns.map {
        PlannedStatement("ALTER TABLE \(candidate) ADD COLUMN \(quote($0.name)) \($0.type.rawValue)")
      } + [PlannedStatement("UPDATE \(candidate) AS t SET \(values.joined(separator: ", "))")]
    }
  }

  /// The SQL of the candidate's row for a row `s`: the entity's number, or 1; NULL for none.
  private func place(in table: String) -> String {
    guard table == PhysicalName.primaryKeyTable else {
      return table == PhysicalName.modelCacheTable && !hasModel ? "NULL" : "1"
    }
    let number = "s.\(quote(PhysicalName.entity))"
    let numbers = EntityTransition.fates(in: crossing).compactMap { fate in
      // Code decides the keys of objects, but not the destination of their entity.
      let byCode = crossing.split.byRow.first { $0.sourceEntityName == fate.source.name }?.destinationEntityName
      return (fate.destination ?? byCode.flatMap(crossing.destination.entity(named:))).map {
        " WHEN \(number) = \(fate.source.number) THEN \($0.number)"
      }
    }
    return "CASE\(numbers.joined()) WHEN \(number) >= \(frameworkNumber) THEN \(number) END"
  }

  var entries: [AskedEntry] {
    tables.flatMap { table, own, columns in
      let rows = SchemaName.rows(of: table, as: "s")
      let values = columns.map { column in
        let name = "s.\(quote(column.name))"
        return AskedEntry(
          Entry(
            .unknownColumn(column.name, table: table, .untaken), of: .cells(column: column.name, table: table),
            entity: table, property: column.name),
          .query(
            "SELECT COUNT(\(name)) - COUNT(DISTINCT CASE WHEN \(name) IS NOT NULL THEN \(place(in: table)) END)"
              + " FROM \(rows)"))
      }
      let strangers = crossing.actual.strangers(
        in: table, entities: crossing.source.entities.count, frameworkNumber: frameworkNumber,
        database: SchemaName.store
      ).map { condition in
        AskedEntry(
          Entry(.foreignRows(table: table), of: .rows(table: table), entity: table, property: own),
          .query("SELECT COUNT(*) FROM \(SchemaName.rows(of: table, as: "r")) WHERE \(condition)"))
      }
      return values + [strangers].compactMap(\.self)
    }
  }

  var warnings: [String] {
    tables.flatMap { table, _, columns in columns.map { UnknownColumns.warning($0.name, of: table) } }
  }
}
