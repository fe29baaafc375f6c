import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The lines of the objects of each entity, and of the cells of each column of their rows.
struct CellLines {
  private struct CellsTaken {
    let columns: Set<String>
    let partly: [CellEntry.PartialReading]
    /// Attributes whose values code converts.
    let converted: Set<String>
  }

  private let crossing: Crossing
  private let taken: MappingConditions
  private let transfers: [TableTransfer]
  private var cellsTaken: [String: CellsTaken] = [:]
  private(set) var entries: [AskedEntry] = []
  private(set) var open: [PendingCells] = []
  /// About counts that are known only after the run.
  private(set) var warnings: [String] = []

  /// `selections` has the values of objects made one by one, by the entity mapping's name.
  init(
    _ crossing: Crossing, mapping: MappingModel, taken: MappingConditions, transfers: [TableTransfer],
    joins: [JoinTransfer], selections: [String: ValueSelection]
  ) {
    (self.crossing, self.taken, self.transfers) = (crossing, taken, transfers)
    let byRow = Set(crossing.split.byRow.map(\.name))
    for entityMapping in mapping.entityMappings {
      guard let flow = RowFlow(entityMapping, from: crossing.source.model, to: crossing.destination.model),
        let entity = crossing.source.entity(named: flow.source.name)
      else { continue }
      let isByRow = byRow.contains(entityMapping.name)
      let columns =
        isByRow
        ? selections[entityMapping.name].map { Array(zip($0.columns, $0.entries)) } ?? []
        : transfer(of: entity)?.columns ?? []
      let evaluated = entityMapping.attributeMappings.filter { property in
        CompiledMappings.expression(
          of: property, in: entityMapping, crossing.source.model, crossing.destination.model) != nil
      }
      let converted = isByRow ? evaluated : []
      cellsTaken[entityMapping.name] = CellsTaken(
        columns: columns.reduce(into: []) { $0.formUnion($1.entry.columnsRead(ofRowsNumbered: entity.number)) },
        partly: columns.compactMap { $0.entry.columnsPartlyRead(ofRowsNumbered: entity.number) },
        converted: Set(converted.compactMap(\.sourceAttributeName)))
      if let table = crossing.destination.table(ofEntity: flow.destination.name)?.name {
        closeChanged(
          (isByRow ? columns : []) + evaluated.compactMap { truthValue($0, flow) }, of: table, from: entity.table,
          [entity.number], taken.known[entityMapping.name])
      }
    }
    for transfer in transfers {
      closeChanged(transfer.columns, of: transfer.table, from: transfer.sourceTable, transfer.sourceNumbers, nil)
    }
    for table in crossing.source.tables {
      let entities = crossing.source.entities.filter {
        $0.table == table.name && crossing.counts.byEntity[$0.name, default: 0] > 0
      }
      for entity in entities { closeObjects(of: entity) }
      for column in table.columns { closeCells(of: column, in: table, entities) }
    }
    for join in joins where join.source == nil { closeUnknownCells(of: join) }
  }

  private func transfer(of entity: PhysicalEntity) -> TableTransfer? {
    transfers.first { $0.sourceTable == entity.table && $0.sourceNumbers.contains(entity.number) }
  }

  private mutating func add(_ entry: Entry, _ count: AskedEntry.Count) { entries.append(AskedEntry(entry, count)) }

  // MARK: Objects

  private mutating func closeObjects(of entity: PhysicalEntity) {
    let takers = crossing.flows(of: entity.name)
    guard !takers.isEmpty else {
      return add(
        Entry(
          .effect(.objectsDropped, entity: entity.name, properties: []), of: .objects(entity: entity.name),
          entity: entity.name), .known(crossing.counts.byEntity[entity.name, default: 0]))
    }
    // A mapping without a condition, or with its own policy, may take all objects.
    let names = takers.map(\.mapping)
    guard names.allSatisfy({ taken.known[$0] != nil || taken.unknown.contains($0) }) else { return }
    guard names.allSatisfy({ taken.known[$0] != nil }) else {
      return warnings.append(
        "the objects of \"\(entity.name)\" that the mapping's conditions leave out are known only when objects are made"
      )
    }
    // The conditions are never NULL, so their negation counts every row that no mapping takes.
    let condition = names.compactMap { taken.known[$0] }.chained(by: "OR")
    add(
      Entry(.noCondition, of: .objects(entity: entity.name), entity: entity.name),
      .rows(where: "\(isOf([entity.number])) AND NOT (\(condition))", in: entity.table))
  }

  // MARK: Cells

  /// Cells of a column that one loss reports.
  private struct Cells {
    let column: String
    let table: String
    /// `nil` for cells outside the model.
    let path: [String]?
    let owner: String
    let property: String
    let cause: LossCause
    /// The literal of a value that isn't counted; `nil` to count all.
    var uncounted: String?
  }

  private mutating func closeCells(of column: PhysicalColumn, in table: PhysicalTable, _ entities: [PhysicalEntity]) {
    switch (column.role, table.kind) {
    case (.attribute(let owner, let path), .objects(let root)):
      let model = crossing.source.model
      guard let attribute = path.first.flatMap({ model.attribute(named: $0, of: owner) }), attribute.hasOwnValues
      else { return }
      let property = path.joined(separator: ".")
      let isOwn = Dictionary(grouping: entities) { model.isEntity($0.name, kindOf: owner) }
      close(
        Cells(
          column: column.name, table: table.name, path: path, owner: owner, property: property,
          cause: .effect(.valuesDropped, entity: owner, properties: [property])),
        of: isOwn[true] ?? [])
      // Another program may change an object's entity and leave the old entity's values in its row.
      close(
        Cells(
          column: column.name, table: table.name, path: nil, owner: root, property: column.name,
          cause: .foreignCells(column.name, table: table.name, attribute: "\(owner).\(property)", byDecision: false),
          uncounted: crossing.source.filling(of: column.role)),
        of: isOwn[false] ?? [])
    case (.unknown, .objects(let root)):
      close(
        Cells(
          column: column.name, table: table.name, path: nil, owner: root, property: column.name,
          cause: .unknownColumn(column.name, table: table.name, .untaken)),
        of: entities)
    // Links have their own lines, and join tables are counted by `closeUnknownCells(of:)`.
    default: return
    }
  }

  private mutating func close(_ cells: Cells, of entities: [PhysicalEntity]) {
    let path = cells.path
    var cause = cells.cause
    var rows: [(entity: PhysicalEntity, condition: String?)] = []
    for entity in entities {
      let takers = crossing.flows(of: entity.name)
      guard !takers.isEmpty else {
        // Values of attributes are dropped with their objects, which are reported already.
        if path == nil { rows.append((entity, nil)) }
        continue
      }
      let carriers = takers.filter { carries($0, cells.column, of: path) }
      guard !takers.contains(where: \.isUninstantiable),
        carriers.allSatisfy({ $0.isFiltered || $0.isOpaque })
      else { continue }
      // Code can read attributes only; columns outside the model are copied by its default.
      let code = (path == nil ? carriers : takers).filter(\.isOpaque)
      if !code.isEmpty {
        open.append(
          PendingCells(
            entity: entity, column: cells.column, owner: cells.owner, attribute: path.map { _ in cells.property },
            takers: Set(code.map(\.mapping)), carriers: Set(carriers.map(\.mapping)),
            cause: carriers.contains(where: \.isOpaque) ? .passedOver : .unmapped))
      }
      let taking = carriers + code
      let losing = RowFlow.losing(
        of: takers, carried: takers.map { taker in taking.contains { $0 === taker } })
      guard let losing else { continue }
      let unread = unread(cells.column, by: takers)
      if path != nil, unread != nil {
        cause = .effect(.valuesNotTaken, entity: cells.owner, properties: [cells.property])
      }
      let conditions = [taken.condition(of: losing), unread].compactMap(\.self)
      rows.append((entity, conditions.isEmpty ? nil : conditions.chained(by: "AND")))
    }
    guard !rows.isEmpty else { return }
    let cell = "s.\(quote(cells.column))"
    count(
      Entry(
        cause, of: .cells(column: cells.column, table: cells.table), entity: cells.owner, property: cells.property
      ),
      cells.uncounted.map { "NULLIF(\(cell), \($0))" } ?? cell, in: cells.table, of: rows)
  }

  /// `nil` unless some mapping reads the column in some rows only.
  private func unread(_ column: String, by takers: [RowFlow]) -> String? {
    let readings = takers.flatMap { taker -> [String] in
      let mapping = taker.mapping
      // Without an SQL condition, the rows that the mapping takes aren't known.
      if taker.isFiltered, taken.known[mapping] == nil { return [] }
      return (cellsTaken[mapping]?.partly ?? []).filter { $0.columns.contains(column) }.map { reading in
        ([taken.known[mapping]].compactMap(\.self) + [reading.condition]).map { "(\($0))" }.chained(by: "AND")
      }
    }
    return readings.isEmpty ? nil : "(\(readings.map { "(\($0))" }.chained(by: "OR"))) IS NOT TRUE"
  }

  /// Counts cells in dropped rows of the join table.
  private mutating func closeUnknownCells(of join: JoinTransfer) {
    guard let pairs = join.pairs, case .links(let entity, _)? = crossing.source.table(named: pairs)?.kind else {
      return
    }
    for (column, name) in join.unknown {
      add(
        Entry(
          .unknownColumn(column.name, table: pairs, .partlyGone), of: .cells(column: column.name, table: pairs),
          entity: entity, property: column.name),
        .query(
          "SELECT (SELECT COUNT(\(quote(column.name))) FROM \(SchemaName.rows(of: pairs)))"
            + " - (SELECT COUNT(k.\(name)) \(join.survivors))"))
    }
  }

  /// `path` is `nil` for a column outside the model.
  private func carries(_ taker: RowFlow, _ column: String, of path: [String]?) -> Bool {
    guard let cells = cellsTaken[taker.mapping] else { return false }
    if cells.columns.contains(column) { return true }
    guard let path, let attribute = path.first else { return false }
    return taker.reads(path.joined(separator: ".")) || cells.converted.contains(attribute)
  }

  private mutating func count(
    _ entry: Entry, _ cell: String, in table: String, of rows: [(entity: PhysicalEntity, condition: String?)]
  ) {
    // Most tables have one entity; SQLite counts their values without a condition for each row.
    if crossing.source.onlyNumber(inTable: table) != nil, rows.count == 1, rows[0].condition == nil {
      return add(entry, .values(of: cell, in: table))
    }
    let whole = rows.filter { $0.condition == nil }.map(\.entity.number)
    let parts = rows.compactMap { row in row.condition.map { "(\(isOf([row.entity.number])) AND \($0))" } }
    let conditions = (whole.isEmpty ? [] : [isOf(whole)]) + parts
    add(entry, .rows(where: "\(cell) IS NOT NULL AND (\(conditions.chained(by: "OR")))", in: table))
  }

  /// Counts cells that converting back would not restore.
  private mutating func closeChanged(
    _ columns: [(name: String, entry: CellEntry)], of table: String, from sourceTable: String,
    _ numbers: [Int], _ condition: String?
  ) {
    let rows = ([isOf(numbers)] + [condition].compactMap { $0 }).joined(separator: " AND ")
    closeRounded(columns, of: table, from: sourceTable, numbers, condition)
    for (name, entry) in columns {
      guard let change = entry.change,
        case .attribute(let entity, let path)? = crossing.destination.table(named: table)?.column(named: name)?.role
      else { continue }
      let target = crossing.destination.column(atPath: path, in: entity)?.attribute.type
      let origin = entry.origin.flatMap { type(of: $0, in: sourceTable) }
      let property = path.joined(separator: ".")
      let kind = DataEffect.Kind.valuesChanged(from: origin ?? .undefined, to: target ?? .undefined)
      add(
        Entry(
          .effect(kind, entity: entity, properties: [property]),
          of: .cells(column: entry.origin ?? name, table: sourceTable), entity: entity, property: property),
        .rows(where: "\(rows) AND (\(change))", in: sourceTable))
    }
  }

  /// Counts values that are rounded and aren't copied unchanged to another column.
  private mutating func closeRounded(
    _ columns: [(name: String, entry: CellEntry)], of table: String, from sourceTable: String,
    _ numbers: [Int], _ condition: String?
  ) {
    for (name, entry) in columns {
      guard
        case .attribute(let entity, let path)? = crossing.destination.table(named: table)?.column(named: name)?.role,
        let type = crossing.destination.column(atPath: path, in: entity)?.attribute.type
      else { continue }
      let conditions = numbers.compactMap { number -> String? in
        guard let rounding = entry.ofRows(numbered: number)?.rounding else { return nil }
        let copied = columns.compactMap { $0.entry.ofRows(numbered: number) }.filter(\.isVerbatim)
        guard !rounding.columns.isSubset(of: copied.compactMap(\.origin)) else { return nil }
        return "\(isOf([number])) AND (\(rounding.condition))"
      }
      guard !conditions.isEmpty else { continue }
      let property = path.joined(separator: ".")
      let all = ["(\(conditions.map { "(\($0))" }.chained(by: "OR")))"] + [condition].compactMap { $0 }
      let read = numbers.lazy.compactMap { entry.ofRows(numbered: $0)?.rounding?.columns.min() }.first
      add(
        Entry(
          .effect(.rounded(to: type), entity: entity, properties: [property]),
          of: .cells(column: read ?? name, table: sourceTable), entity: entity, property: property),
        .rows(where: all.chained(by: "AND"), in: sourceTable))
    }
  }

  /// Each number other than 0 is read as true, and so is stored as 1.
  private func truthValue(_ property: PropertyMapping, _ flow: RowFlow) -> (name: String, entry: CellEntry)? {
    guard case .attribute(let name) = property.form,
      let before = crossing.source.column(atPath: [name], in: flow.source.name), before.attribute.type == .boolean,
      let after = crossing.destination.column(atPath: [property.name], in: flow.destination.name)
    else { return nil }
    let column = "s.\(quote(before.name))"
    var entry = CellEntry(sql: column, isVerbatim: false).from(before.name)
    entry.change = "\(column) NOT IN (0, 1)"
    return (after.name, entry)
  }

  private func type(of column: String, in table: String) -> AttributeType? {
    guard case .attribute(let entity, let path)? = crossing.source.table(named: table)?.column(named: column)?.role
    else { return nil }
    return crossing.source.column(atPath: path, in: entity)?.attribute.type
  }

  private func isOf(_ numbers: [Int]) -> String {
    "s.\(quote(PhysicalName.entity)) IN (\(numbers.map(String.init).joined(separator: ", ")))"
  }
}

extension PhysicalSchema {
  /// The literal that Core Data writes into a new column in all rows, whatever their entity.
  func filling(of role: PhysicalColumn.Role?) -> String? {
    guard case .attribute(let entity, let path)? = role, let name = path.first,
      let leaf = model.attribute(named: name, of: entity)?.element(atPath: path.dropFirst())
    else { return nil }
    return leaf.defaultValue.map { ValueConversion.literal($0, for: leaf) }
  }
}
