import HeirloomModel

/// A correction of a column of entity numbers, in rows whose number follows from other data of the store.
///
/// A row's own number is that of the only entity whose objects its table can hold. The number beside a key is that of
/// the object with the key. Core Data doesn't read a row's number in the table of a single entity, so an app may have
/// worked with such rows for years.
package final class NumberCorrection {
  /// The table.
  package let table: String
  /// The column.
  package let column: String
  /// The entity that the table's rows are of, or that declares the relationship.
  package let entity: String
  /// The relationship whose key is beside the number, and its destination's table; `nil` for the rows' own number.
  package let link: (relationship: String, key: String, target: String)?
  /// The valid numbers.
  private let numbers: ClosedRange<Int>
  /// The entity numbers of the rows that are checked; `nil` for all.
  private let rows: ClosedRange<Int>?
  /// The right number if there is no link.
  private let number: Int

  fileprivate init(
    _ table: String, _ column: String, _ entity: PhysicalEntity,
    link: (relationship: String, key: String, target: String)? = nil, numbers: ClosedRange<Int>
  ) {
    (self.table, self.column, self.entity, self.link, self.numbers) = (table, column, entity.name, link, numbers)
    // Another entity of the table may have left a key in its row.
    rows = link == nil || entity.superentityNumber == 0 ? nil : entity.treeNumbers
    number = entity.number
  }

  /// Returns the `FROM` clause of the query for the right number.
  private func object(_ row: String) -> String? {
    link.map { "FROM \(quote($0.target)) AS d WHERE d.\(quote(PhysicalName.primaryKey)) = \(row).\(quote($0.key))" }
  }

  private static let objectNumber = "d.\(quote(PhysicalName.entity))"

  private func isIn(_ numbers: ClosedRange<Int>, _ number: String) -> String {
    "\(number) BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)"
  }

  /// Returns the SQL condition of the rows that are corrected; `row` is the table's alias.
  package func condition(_ row: String = "t") -> String {
    let cell = "\(row).\(quote(column))"
    guard let object = object(row) else {
      return "TYPEOF(\(cell)) <> 'integer' OR NOT \(isIn(numbers, cell))"
    }
    return (rows.map { isIn($0, "\(row).\(quote(PhysicalName.entity))") + " AND " } ?? "")
      + "EXISTS (SELECT 1 \(object) AND \(Self.objectNumber) IS NOT \(cell) AND \(isIn(numbers, Self.objectNumber)))"
  }

  /// The statement that corrects the rows.
  package var sql: String {
    let value = object("t").map { "(SELECT \(Self.objectNumber) \($0))" } ?? "\(number)"
    return "UPDATE \(quote(table)) AS t NOT INDEXED SET \(quote(column)) = \(value) WHERE \(condition())"
  }

  /// Returns a clause about a number of corrected rows.
  package func words(_ count: Int64) -> String {
    "\(CountText.counted(count, "row")) of \(table) \(CountText.verb("have", count)) "
      + (link.map {
        "another entity number in \(column) than the object of \(entity).\($0.relationship), and"
          + " \(CountText.verb("get", count)) that of the object"
      }
        ?? "no entity number of the table's, and \(CountText.verb("are", count)) treated as \(entity), the only entity that it can hold")
  }
}

extension PhysicalSchema {
  /// Returns the only entity whose objects the table of a tree can hold; `nil` if there are several.
  package func soleEntity(inTreeOf root: String) -> PhysicalEntity? {
    guard let numbers = entity(named: root)?.treeNumbers else { return nil }
    var sole: Int?
    for number in numbers where numbers.count == 1 || !entities[number - 1].isAbstract {
      if sole != nil { return nil }
      sole = number
    }
    return sole.map { entities[$0 - 1] }
  }

  /// Returns the corrections of the numbers beside keys.
  package var keyNumberCorrections: [NumberCorrection] {
    var corrections: [NumberCorrection] = []
    for entity in entities {
      for relationship in model.entity(named: entity.name)?.relationships ?? [] {
        guard
          case .key(let table, let key, let column?)? = storage(ofRelationship: relationship.name, in: entity.name),
          let target = self.entity(named: relationship.destinationEntity)
        else { continue }
        corrections.append(
          NumberCorrection(
            table, column, entity, link: (relationship.name, key, target.table), numbers: target.treeNumbers))
      }
    }
    return corrections
  }

  /// All corrections: first the rows' own numbers, from which those beside keys follow.
  package var numberCorrections: [NumberCorrection] {
    var corrections: [NumberCorrection] = []
    for root in entities where root.superentityNumber == 0 {
      guard let entity = soleEntity(inTreeOf: root.name) else { continue }
      corrections.append(
        NumberCorrection(root.table, PhysicalName.entity, entity, numbers: root.treeNumbers))
    }
    return corrections + keyNumberCorrections
  }

  /// Returns the entity number that all rows of a table have, if it holds objects of one entity only.
  package func onlyNumber(inTable name: String) -> Int? {
    guard case .objects(let root)? = table(named: name)?.kind, let entity = entity(named: root),
      entity.treeNumbers.count == 1
    else { return nil }
    return entity.number
  }

  /// Returns the SQL of the entity number of a row of a table, as ``PhysicalEntity/numberSQL(ofRow:)`` does.
  func numberSQL(inTable name: String) -> String {
    onlyNumber(inTable: name).map(String.init) ?? quote(PhysicalName.entity)
  }
}

extension PhysicalEntity {
  /// Returns the clause about a record of the tree's highest key that is too low or is no number.
  package func words(ofRecord record: Int64?, highest: Int64) -> String {
    Self.words(ofRecord: record, of: name, highest: highest, in: table)
  }

  /// Returns the same clause for another table.
  package static func words(ofRecord record: Int64?, of name: String, highest: Int64, in table: String) -> String {
    "\(PhysicalName.primaryKeyTable) has \(record.map(String.init) ?? "no number") as the highest key of \(name): it is changed to"
      + " \(highest), the highest in \(table)"
  }

  /// Returns the SQL of the entity number of a row of the entity's table.
  ///
  /// In the table of a single entity, the number is certain, and Core Data doesn't read the column either. `row` is the
  /// table's alias; `nil` for none.
  package func numberSQL(ofRow row: String? = nil) -> String {
    superentityNumber == 0 && treeNumbers.count == 1
      ? "\(number)" : (row.map { $0 + "." } ?? "") + quote(PhysicalName.entity)
  }
}

extension PhysicalEntity {
  /// The highest key that leaves room for new objects: 4 billion more can be made.
  package static let highestKeyWithRoom = Int64.max - (1 << 32)

  /// Returns true if a record of the highest key is wrong, given the highest key in the table.
  ///
  /// It is wrong if it is too low or is no number, or if it leaves no room for new keys although the table does.
  package static func isWrong(record: Int64?, highest: Int64) -> Bool {
    guard let record else { return true }
    return record < highest || record > highestKeyWithRoom && highest <= highestKeyWithRoom
  }
}
