import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The bits in the table of changes that mark changed properties.
struct ChangedBits {
  private var plans: [Int: ChangedColumns] = [:]
  private let table: String
  private(set) var warnings: [String] = []

  init(_ fates: [EntityTransition], _ table: ActualTable, source: ManagedObjectModel, destination: ManagedObjectModel) {
    self.table = table.name
    guard table.column(named: PhysicalName.changedColumns) != nil else { return }
    for fate in fates {
      let plan = ChangedColumns(fate, source: source, destination: destination)
      if !plan.areKept { plans[fate.source.number] = plan }
    }
  }

  var concernsAny: Bool { !plans.isEmpty }

  /// `entity` is the SQL of a row's entity number.
  mutating func expression(
    for fates: [EntityTransition], _ entity: String, _ connection: Connection
  ) throws(SQLiteError) -> String? {
    let concerned = fates.filter { plans[$0.source.number] != nil }
    guard !concerned.isEmpty else { return nil }
    let column = "s.\(quote(PhysicalName.changedColumns))"
    let numbers = concerned.map { String($0.source.number) }.joined(separator: ", ")
    var untold: [Int: Int64] = [:]
    var found: Set<Int> = []
    // Bits of another length than the source's properties need can't be translated.
    for row in try connection.rows(
      "SELECT \(entity), LENGTH(\(column)), COUNT(*) FROM \(SchemaName.rows(of: table, as: "s"))"
        + " WHERE \(entity) IN (\(numbers)) AND \(column) NOT NULL GROUP BY \(entity), LENGTH(\(column))")
    {
      guard let number = row[0].integer.flatMap({ Int(exactly: $0) }), let plan = plans[number] else { continue }
      found.insert(number)
      guard !plan.isCertain(forByteCount: Int(clamping: row[1].integer ?? 0)) else { continue }
      untold[number, default: 0] += row[2].integer ?? 0
    }
    let changing = concerned.filter { found.contains($0.source.number) }
    guard !changing.isEmpty else { return nil }
    warnings = changing.compactMap { fate in
      untold[fate.source.number].map {
        "\($0) updates of \"\(fate.source.name)\" in persistent history now mark every property as changed: the changed ones"
          + " can't be determined because properties were added, removed or computed"
      }
    }
    let cases = changing.compactMap { fate in
      plans[fate.source.number].map { "WHEN \(fate.source.number) THEN \($0.expression(over: column))" }
    }
    return "CASE \(entity) \(cases.joined(separator: " ")) ELSE \(column) END"
  }
}

/// The values of deleted objects: one column for each attribute marked for it, ordered by name.
struct Tombstones {
  /// By entity number: the source's column for each of the destination's columns.
  private var plans: [Int: [Int?]] = [:]
  private var used: [Int: Int] = [:]
  private let table: String
  private let columns: [String]
  private(set) var warnings: [String] = []

  init(_ fates: [EntityTransition], _ table: ActualTable, source: ManagedObjectModel, destination: ManagedObjectModel) {
    self.table = table.name
    columns = (0..<table.columns.count).map { "\(PhysicalName.tombstonePrefix)\($0)" }
      .filter { table.column(named: $0) != nil }
    guard !columns.isEmpty else { return }
    for fate in fates {
      let old = Self.kept(fate.source.name, source)
      let new = Self.kept(fate.destination?.name ?? "", destination)
      let origins = new.map { attribute in
        old.firstIndex {
          $0.name == fate.properties?[attribute.name]?.sourceAttributeName && $0.type == attribute.type
            && $0.composite == nil
        }
      }
      guard !old.isEmpty, origins != Array(old.indices) else { continue }
      plans[fate.source.number] = origins
      used[fate.source.number] = old.count
    }
  }

  private static func kept(_ entity: String, _ model: ManagedObjectModel) -> [AttributeDescription] {
    model.attributes(of: entity).filter(\.preservesValueInHistoryOnDeletion).ordered(by: \.name)
  }

  var concernsAny: Bool { !plans.isEmpty }

  /// `entity` is the SQL of a row's entity number.
  mutating func expressions(
    for fates: [EntityTransition], _ entity: String, _ connection: Connection
  ) throws(SQLiteError) -> [String: String] {
    var cases: [String: [String]] = [:]
    for fate in fates {
      let number = fate.source.number
      guard let plan = plans[number], let used = used[number] else { continue }
      for (place, column) in columns.enumerated() {
        let origin = place < plan.count ? plan[place].flatMap { $0 < columns.count ? columns[$0] : nil } : nil
        cases[column, default: []].append("WHEN \(number) THEN \(origin.map { "s.\(quote($0))" } ?? "NULL")")
      }
      let going = columns.indices.filter { $0 < used && !plan.prefix(columns.count).contains($0) }
      guard !going.isEmpty else { continue }
      let holds = going.map { "s.\(quote(columns[$0])) NOT NULL" }.chained(by: "OR")
      // A deletion loses something only if it has a value in a dropped column.
      let rows = try connection.firstInteger(
        "SELECT COUNT(*) FROM \(SchemaName.rows(of: table, as: "s")) WHERE \(entity) = \(number) AND (\(holds))"
      )
      guard let rows, rows > 0 else { continue }
      warnings.append(
        "\(CountText.counted(rows, "deletion")) of \"\(fate.source.name)\" in persistent history"
          + " \(CountText.verb("lose", rows)) preserved values: the attributes were removed, changed their"
          + " type, or are no longer preserved")
    }
    return Dictionary(
      uniqueKeysWithValues: cases.map { column, cases in
        (column, "CASE \(entity) \(cases.joined(separator: " ")) ELSE s.\(quote(column)) END")
      })
  }
}
