import HeirloomModel

/// The correction of an entity's row in the table of entities, where the model and the other rows tell what is right.
///
/// Core Data derives the numbers from the model. A wrong name is told from a store whose numbers are really others by
/// the rows: objects with the number lie in the table of the model's entity, or the parents are those of the model's
/// entity only.
package struct EntityListCorrection: Hashable, Sendable {
  /// The entity, and its number.
  package let entity: String
  package let number: Int
  /// The name that is wrong, and is replaced; `nil` if none is.
  package let wrongName: String?
  /// The number of the parent that is right; `nil` if that in the table is.
  package let parent: Int?

  /// A clause about the correction.
  package var words: String {
    let list = PhysicalName.primaryKeyTable
    return [
      wrongName.map { "\(list) calls the number \(number) \($0): it gets the name \(entity)" },
      parent.map { "\(list) has another parent for \(entity): it gets \($0 == 0 ? "none" : "the number \($0)")" },
    ].compactMap(\.self).joined(separator: ", and ")
  }

  /// Finds what is to be corrected in a store's table of entities.
  ///
  /// - Parameters:
  ///   - connection: A connection to the store.
  ///   - schema: The schema of the model that fits the store's version hashes.
  ///   - actual: The schema of the file.
  /// - Returns: The corrections, by number; none for what nothing proves.
  /// - Throws: `SQLiteError`.
  package static func all(
    in connection: Connection, _ schema: PhysicalSchema, _ actual: ActualSchema
  ) throws(SQLiteError) -> [EntityListCorrection] {
    let columns = [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity]
    guard let list = actual.table(named: PhysicalName.primaryKeyTable),
      columns.allSatisfy({ list.column(named: $0) != nil })
    else { return [] }
    var rows: [Int64: (name: String?, parent: Int64?)] = [:]
    for row in try connection.rows("SELECT \(columns.map(quote).joined(separator: ", ")) FROM \(quote(list.name))") {
      // Of two rows for one number nothing tells which is right.
      guard let number = row[0].integer, rows.updateValue((row[1].text, row[2].integer), forKey: number) == nil else {
        return []
      }
    }
    let wrongNames = try wrongNames(&rows, connection, schema, actual)
    return schema.entities.compactMap { entity in
      // While a name is in doubt, so is the parent.
      guard let row = rows[Int64(entity.number)], isNamed(entity, row.name, schema) else { return nil }
      let parent = row.parent == Int64(entity.superentityNumber) ? nil : entity.superentityNumber
      let wrongName = wrongNames[entity.number]
      return wrongName == nil && parent == nil
        ? nil : EntityListCorrection(entity: entity.name, number: entity.number, wrongName: wrongName, parent: parent)
    }
  }

  /// Returns true if a row has an entity's name, or one that the model doesn't know: an earlier one of the entity.
  private static func isNamed(_ entity: PhysicalEntity, _ name: String?, _ schema: PhysicalSchema) -> Bool {
    name == entity.name || name.map { schema.entity(named: $0) == nil } ?? false
  }

  /// Corrects the names that are proven to be wrong, and returns them by number.
  private static func wrongNames(
    _ rows: inout [Int64: (name: String?, parent: Int64?)], _ connection: Connection, _ schema: PhysicalSchema,
    _ actual: ActualSchema
  ) throws(SQLiteError) -> [Int: String] {
    var names: [Int: String] = [:]
    var isMore = true
    // One that is corrected proves others: the other entity has its own number then.
    while isMore {
      isMore = false
      for entity in schema.entities {
        guard let row = rows[Int64(entity.number)], !isNamed(entity, row.name, schema),
          try isProven(entity, row.name.flatMap(schema.entity(named:)), rows, connection, actual)
        else { continue }
        names[entity.number] = row.name ?? "nothing"
        rows[Int64(entity.number)] = (entity.name, row.parent)
        isMore = true
      }
    }
    return names
  }

  /// Returns true if a number is that of an entity, and not of another one whose name it has.
  private static func isProven(
    _ entity: PhysicalEntity, _ other: PhysicalEntity?, _ rows: [Int64: (name: String?, parent: Int64?)],
    _ connection: Connection, _ actual: ActualSchema
  ) throws(SQLiteError) -> Bool {
    guard let other else { return true }
    // The other one has its own number besides.
    if rows[Int64(other.number)]?.name == other.name { return true }
    // The parent is one that the model's entity has, and the other one can't have by the names in the table.
    if let parent = rows[Int64(entity.number)]?.parent, parent == Int64(entity.superentityNumber),
      (parent == 0) != (other.superentityNumber == 0)
    {
      return true
    }
    guard entity.table != other.table, let table = actual.table(named: entity.table),
      table.column(named: PhysicalName.entity) != nil
    else { return false }
    let rows = "SELECT 1 FROM \(quote(entity.table)) NOT INDEXED WHERE \(quote(PhysicalName.entity)) ="
    guard try connection.firstInteger("\(rows) \(entity.number) LIMIT 1") != nil else { return false }
    let others = try connection.firstInteger("\(rows) \(other.number) LIMIT 1")
    return others == nil
  }
}

extension PhysicalIndex {
  /// Returns true if rows with equal values keep the index from being made.
  package func isPrevented(in connection: Connection) throws(SQLiteError) -> Bool {
    guard case .constraint = kind else { return false }
    return try connection.firstInteger("SELECT 1 FROM (\(equalValues)) LIMIT 1") != nil
  }

  /// The query of the values that several rows share: the values, the number of rows, and two of their keys.
  package var equalValues: String {
    let (columns, key) = (self.columns.map(quote), quote(PhysicalName.primaryKey))
    return "SELECT COUNT(*) AS n, MIN(\(key)) AS first, MAX(\(key)) AS last FROM \(quote(table)) NOT INDEXED WHERE "
      + columns.map { "\($0) NOT NULL" }.chained(by: "AND")
      + " GROUP BY \(columns.joined(separator: ", ")) HAVING COUNT(*) > 1"
  }
}

extension Connection {
  /// Returns true if an index of another name is on the same columns: earlier versions of Core Data named them otherwise.
  package func hasEquivalent(of index: PhysicalIndex) -> Bool {
    var mustBeUnique = false
    switch index.kind {
    case .constraint: mustBeUnique = true
    case .rTree: return false
    case .standard, .fetchIndex: break
    }
    let sql =
      "SELECT l.name, l.\"unique\", (SELECT GROUP_CONCAT(name, char(0)) FROM (SELECT x.name FROM pragma_index_info(l.name)"
      + " AS x ORDER BY x.seqno)) FROM pragma_index_list(?1) AS l WHERE l.partial = 0"
    guard let rows = try? rows(sql, [.text(index.table)]) else { return false }
    return rows.contains { row in
      row[2].text?.split(separator: "\0", omittingEmptySubsequences: false).map(String.init) == index.columns
        && (!mustBeUnique || row[1] == .integer(1))
    }
  }

  /// Returns the missing indexes of a schema that can be made: no R-tree, and none that equal rows are in the way of.
  package func indexesToMake(
    of schema: PhysicalSchema, _ actual: ActualSchema
  ) throws(SQLiteError) -> [PhysicalIndex] {
    var made: [PhysicalIndex] = []
    for case .missingIndex(let name) in actual.drift(from: schema) {
      guard let index = schema.indexes.first(where: { $0.name == name }), !hasEquivalent(of: index) else { continue }
      if case .rTree = index.kind { continue }
      // Without its table or columns there can be none.
      guard let table = actual.table(named: index.table), index.columns.allSatisfy({ table.column(named: $0) != nil }),
        try !index.isPrevented(in: self)
      else { continue }
      made.append(index)
    }
    return made
  }
}

extension PhysicalEntity {
  /// The highest key that leaves room for new objects: 4 billion more can be made.
  static let highestKeyWithRoom = Int64.max - (1 << 32)

  /// Returns true if a record of the highest key is wrong, given the highest key in the table.
  ///
  /// It is one that is lower, or no number; or one after which there are no more keys, though there would be.
  package static func isWrong(record: Int64?, highest: Int64) -> Bool {
    guard let record else { return true }
    return record < highest || record > highestKeyWithRoom && highest <= highestKeyWithRoom
  }
}
