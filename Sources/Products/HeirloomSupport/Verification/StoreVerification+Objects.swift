import HeirloomFormats
import HeirloomModel
import HeirloomStore

extension StoreVerification {
  func checkObjects(in table: PhysicalTable, root: String, _ schema: PhysicalSchema) {
    guard let found = actual.table(named: table.name), found.column(named: PhysicalName.primaryKey) != nil else {
      return
    }
    checkEntityNumbers(in: table, found: found, root: root, schema)
    guard found.column(named: PhysicalName.entity) != nil else { return }
    var tally = RowTally(table: table.name, key: PhysicalName.primaryKey)
    addSystemChecks(table, found, root, to: &tally)
    for number in schema.entity(named: root)?.treeNumbers ?? 1...1 {
      guard let entity = schema.entity(numbered: number), let description = schema.model.entity(named: entity.name)
      else { continue }
      for attribute in description.attributes {
        addChecks(of: attribute, entity, table, found, to: &tally, schema)
      }
      for relationship in description.relationships {
        addChecks(of: relationship, entity, table, found, to: &tally, schema)
      }
    }
    for correction in schema.keyNumberCorrections where correction.table == table.name {
      addCheck(of: correction, found, to: &tally)
    }
    let findings = reading("the table \(table.name)", entity: root) { connection throws(SQLiteError) in
      try tally.findings(connection)
    }
    report.findings += findings ?? []
    checkConstraints(in: table, found: found, root: root, schema)
    checkOrderDuplicates(in: table, found: found, root: root)
  }

  // MARK: Entity numbers

  private func checkEntityNumbers(
    in table: PhysicalTable, found: ActualTable, root: String, _ schema: PhysicalSchema
  ) {
    guard found.column(named: PhysicalName.entity) != nil, let tree = schema.entity(named: root)?.treeNumbers else {
      return
    }
    let number = quote(PhysicalName.entity)
    let rows = reading("the table \(table.name)", entity: root) { connection throws(SQLiteError) in
      try connection.rows(
        "SELECT \(number), COUNT(*), MIN(\(quote(PhysicalName.primaryKey))) FROM \(quote(table.name)) GROUP BY \(number)"
      )
    }
    for row in rows ?? [] {
      let count = row[1].integer ?? 0
      let entity = row[0].integer.flatMap { Int(exactly: $0) }.flatMap { schema.entity(numbered: $0) }
      guard let entity, tree.contains(entity.number) else {
        let name = entity.map { ", which is \($0.name)'s" } ?? ""
        let found =
          "\(counted(count, "row")) of \(table.name) (first: \(PhysicalName.primaryKey) \(Self.text(row[2]))) \(has(count)) the"
          + " entity number \(Self.text(row[0]))\(name), where \(Self.text(tree)) is expected: "
        if let sole = schema.soleEntity(inTreeOf: root), report.isModelFit {
          // Core Data doesn't read the number in the table of a single entity.
          add(
            tree.count == 1 ? .warning : .error, .unknownEntityNumber, entity: root,
            found + "the table can hold objects of \(sole.name) only, and a migration or a repair writes its number.",
            remedies: [.repair])
        } else {
          add(
            .error, .unknownEntityNumber, entity: root,
            found + "no app finds these objects, and a migration can't determine their entity. Keep the store as it is;"
              + " restore a previous version or a backup, or salvage the others, with a list of these.")
        }
        continue
      }
      if entity.isAbstract {
        add(
          .warning, .abstractEntity, entity: entity.name,
          "\(counted(count, "object")) \(isOrAre(count)) of the abstract entity \(entity.name), which should have no objects."
        )
      }
    }
  }

  private static func text(_ value: SQLiteValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let integer): "\(integer)"
    // Any other value is user data.
    case .real, .text, .blob: "that is not an integer"
    }
  }

  private static func text(_ range: ClosedRange<Int>) -> String {
    range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
  }

  private func addSystemChecks(_ table: PhysicalTable, _ found: ActualTable, _ root: String, to tally: inout RowTally) {
    tally.add("t.\(quote(PhysicalName.primaryKey)) < 1") { count, example in
      StoreFinding(
        .warning, .invalidKey, entity: root,
        "\(counted(count, "row")) of \(table.name) \(has(count)) a key below 1 (\(example)); Core Data counts from 1.")
    }
    guard found.column(named: PhysicalName.optimisticLock) != nil else { return }
    let lock = "t.\(quote(PhysicalName.optimisticLock))"
    tally.add("\(lock) IS NULL OR typeof(\(lock)) <> 'integer' OR \(lock) < 1") { count, example in
      StoreFinding(
        .warning, .invalidLockCount, entity: root,
        "\(counted(count, "row")) of \(table.name) \(has(count)) no count of saves from 1 on in \(PhysicalName.optimisticLock)"
          + " (\(example)): an app may report its own changes as conflicts.")
    }
  }

  /// Includes descendants of the entity.
  func condition(ofKind entity: PhysicalEntity, _ alias: String = "t") -> String {
    let number = entity.numberSQL(ofRow: alias)
    return entity.treeNumbers.count == 1
      ? "\(number) = \(entity.number)"
      : "\(number) BETWEEN \(entity.treeNumbers.lowerBound) AND \(entity.treeNumbers.upperBound)"
  }

  // MARK: Attributes

  /// An element is required only if each composite around it is too.
  private static func isRequired(_ path: ArraySlice<String>, of attribute: AttributeDescription) -> Bool {
    guard !attribute.isOptional else { return false }
    guard let name = path.first, let element = attribute.composite?.elements.first(where: { $0.name == name }) else {
      return true
    }
    return isRequired(path.dropFirst(), of: element)
  }

  private func addChecks(
    of attribute: AttributeDescription, _ entity: PhysicalEntity, _ table: PhysicalTable, _ found: ActualTable,
    to tally: inout RowTally, _ schema: PhysicalSchema
  ) {
    let isOwn = condition(ofKind: entity)
    for column in schema.columns(ofAttribute: attribute.name, in: entity.name)
    where found.column(named: column.name) != nil {
      let name = "\(entity.name).\(column.path.joined(separator: "."))"
      let value = "t.\(quote(column.name))"
      // Core Data fills in a derived value.
      if Self.isRequired(column.path.dropFirst(), of: attribute), attribute.derivation == nil {
        tally.add("\(isOwn) AND \(value) IS NULL") { count, example in
          StoreFinding(
            .warning, .missingRequiredValue, entity: entity.name,
            "\(counted(count, "object")) \(has(count)) no value for \(name), which is required (\(example)): no save that touches"
              + " such an object succeeds. Set a value in the app.")
        }
      }
      if entity.treeNumbers.count < (schema.entity(named: entity.rootName)?.treeNumbers.count ?? 1) {
        // Core Data gives the default of a new attribute to all rows of the table.
        let ordinary = Self.ordinaryNumbers(of: column.attribute).map { " AND \(value) NOT IN (\($0))" } ?? ""
        tally.add("NOT (\(isOwn)) AND \(value) NOT NULL\(ordinary)") { count, example in
          StoreFinding(
            .warning, .valueOfOtherEntity, entity: entity.name,
            "Other entities have a value in \(table.name).\(column.name), which belongs to \(name), in \(counted(count, "row"))"
              + " (\(example)): no app sees it there. Check where it comes from.")
        }
      }
      for (condition, words) in Self.wrongTypes(of: column.attribute, value) {
        tally.add("\(value) NOT NULL AND \(isOwn) AND (\(condition))") { count, example in
          StoreFinding(
            .error, .wrongValueType, entity: entity.name,
            "\(counted(count, "value")) of \(name) \(isOrAre(count)) not stored in the form of \(column.attribute.type.name): \(words)"
              + " (\(example)). An app may read another value, or none. Keep the store; compare the values with a backup."
          )
        }
      }
      if let limits = Self.range(of: column.attribute.type) {
        tally.add(
          "\(isOwn) AND typeof(\(value)) = 'integer' AND \(value) NOT BETWEEN \(limits.lowerBound) AND \(limits.upperBound)"
        ) { count, example in
          StoreFinding(
            .warning, .valueOutOfRange, entity: entity.name,
            "\(counted(count, "value")) of \(name) \(isOrAre(count)) outside \(column.attribute.type.name) (\(example)): an app reads"
              + " another number. The store holds the whole number.")
        }
      }
    }
  }

  /// Conditions that hold for values in another form, with the expected form.
  private static func wrongTypes(
    of attribute: AttributeDescription, _ value: String
  ) -> [(condition: String, words: String)] {
    switch ValueKind(attribute.type) {
    case .integer, .boolean:
      [
        (
          "typeof(\(value)) NOT IN ('integer', 'real') OR typeof(\(value)) = 'real' AND \(value) <> CAST(\(value) AS INTEGER)",
          "a whole number is expected"
        )
      ]
    case .double, .date, .decimal:
      [("typeof(\(value)) NOT IN ('integer', 'real')", "a number is expected")]
    case let kind? where kind.isText:
      [("typeof(\(value)) <> 'text'", "text is expected")]
    case .uuid:
      [("typeof(\(value)) <> 'blob' OR length(\(value)) <> 16", "16 bytes are expected")]
    case .binary:
      attribute.allowsExternalBinaryDataStorage
        ? [
          (
            "typeof(\(value)) <> 'blob' OR length(\(value)) > 0 AND substr(\(value), 1, 1) <> x'01' AND NOT"
              + " (substr(\(value), 1, 1) = x'02' AND length(\(value)) = 38 AND substr(\(value), 38, 1) = x'00')",
            "bytes that begin with 1, or 2 and the name of a file, are expected"
          )
        ] : [("typeof(\(value)) <> 'blob'", "bytes are expected")]
    default: []
    }
  }

  /// Zero and the default of a number, as a list in SQL; `nil` for other types.
  private static func ordinaryNumbers(of attribute: AttributeDescription) -> String? {
    switch attribute.type {
    case .integer16, .integer32, .integer64, .boolean, .double, .float, .decimal, .date: break
    default: return nil
    }
    switch try? ValueCoding.encode(attribute.defaultValue, for: attribute) {
    case .integer(let number)?: return "0, \(number)"
    case .real(let number)? where number.isFinite: return "0, \(number)"
    default: return "0"
    }
  }

  /// `nil` if the type isn't narrower than SQLite's integers.
  private static func range(of type: AttributeType) -> ClosedRange<Int64>? {
    switch type {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    case .boolean: 0...1
    default: nil
    }
  }

  // MARK: Constraints

  private func checkConstraints(
    in table: PhysicalTable, found: ActualTable, root: String, _ schema: PhysicalSchema
  ) {
    for index in schema.indexes where index.table == table.name {
      guard case .constraint(let entity, let properties) = index.kind,
        index.columns.allSatisfy({ found.column(named: $0) != nil })
      else { continue }
      let rows = reading("the table \(table.name)", entity: entity) { connection throws(SQLiteError) in
        try connection.rows("SELECT COUNT(*), SUM(n), first, last FROM (\(index.equalValues) ORDER BY first)")
      }
      guard let row = rows?.first, let groups = row[0].integer, groups > 0 else { continue }
      let key = PhysicalName.primaryKey
      let example = "first: \(key) \(row[2].integer ?? 0) and \(row[3].integer ?? 0)"
      add(
        .error, .duplicateValues, entity: entity,
        "\(counted(row[1].integer ?? 0, "object")) share \(counted(groups, "value")) of \(listed(properties)) (\(example)), although"
          + " \(entity) requires unique ones: the app can't save them, and a migration fails on them. Make their values differ in"
          + " the app, or delete all but one; a salvage keeps the object with the lowest key for each value, and lists the others."
      )
    }
  }
}
