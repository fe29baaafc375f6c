import HeirloomModel

/// In rows whose number follows from other data of the store.
///
/// A row's own number is that of the only entity whose objects its table can hold. The number
/// beside a key is that of the object with the key. Core Data doesn't read a row's number in the
/// table of a single entity, so an app may have worked with such rows for years.
package final class NumberCorrection {
  package let table: String
  package let column: String
  /// The entity that the table's rows are of, or that declares the relationship.
  package let entity: String
  /// `nil` for the rows' own number.
  package let link: (relationship: String, key: String, target: String)?
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

  private func object(_ row: String) -> String? {
    link.map { "FROM \(quote($0.target)) AS d WHERE d.\(quote(PhysicalName.primaryKey)) = \(row).\(quote($0.key))" }
  }

  private static let objectNumber = "d.\(quote(PhysicalName.entity))"

  private func isIn(_ numbers: ClosedRange<Int>, _ number: String) -> String {
    "\(number) BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)"
  }

  package func condition(_ row: String = "t") -> String {
    let cell = "\(row).\(quote(column))"
    guard let object = object(row) else {
      return "TYPEOF(\(cell)) <> 'integer' OR NOT \(isIn(numbers, cell))"
    }
    return (rows.map { isIn($0, "\(row).\(quote(PhysicalName.entity))") + " AND " } ?? "")
      + "EXISTS (SELECT 1 \(object) AND \(Self.objectNumber) IS NOT \(cell) AND \(isIn(numbers, Self.objectNumber)))"
  }

  package var sql: String {
    let value = object("t").map { "(SELECT \(Self.objectNumber) \($0))" } ?? "\(number)"
    return "UPDATE \(quote(table)) AS t NOT INDEXED SET \(quote(column)) = \(value) WHERE \(condition())"
  }

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
  /// Returns `nil` if the tree's table can hold objects of several entities.
  package func soleEntity(inTreeOf root: String) -> PhysicalEntity? {
    guard let numbers = entity(named: root)?.treeNumbers else { return nil }
    var sole: Int?
    for number in numbers where numbers.count == 1 || !entities[number - 1].isAbstract {
      if sole != nil { return nil }
      sole = number
    }
    return sole.map { entities[$0 - 1] }
  }

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

  /// First the rows' own numbers, from which those beside keys follow.
  package var numberCorrections: [NumberCorrection] {
    var corrections: [NumberCorrection] = []
    for root in entities where root.superentityNumber == 0 {
      guard let entity = soleEntity(inTreeOf: root.name) else { continue }
      corrections.append(
        NumberCorrection(root.table, PhysicalName.entity, entity, numbers: root.treeNumbers))
    }
    return corrections + keyNumberCorrections
  }

  package func onlyNumber(inTable name: String) -> Int? {
    guard case .objects(let root)? = table(named: name)?.kind, let entity = entity(named: root),
      entity.treeNumbers.count == 1
    else { return nil }
    return entity.number
  }

  /// See ``PhysicalEntity/numberSQL(ofRow:)``.
  func numberSQL(inTable name: String) -> String {
    onlyNumber(inTable: name).map(String.init) ?? quote(PhysicalName.entity)
  }
}

extension PhysicalEntity {
  package func words(ofRecord record: Int64?, highest: Int64) -> String {
    Self.words(ofRecord: record, of: name, highest: highest, in: table)
  }

  package static func words(ofRecord record: Int64?, of name: String, highest: Int64, in table: String) -> String {
    "\(PhysicalName.primaryKeyTable) has \(record.map(String.init) ?? "no number") as the highest key of \(name): it is changed to"
      + " \(highest), the highest in \(table)"
  }

  /// In the table of a single entity, the number is certain: Core Data doesn't read the column.
  package func numberSQL(ofRow row: String? = nil) -> String {
    superentityNumber == 0 && treeNumbers.count == 1
      ? "\(number)" : (row.map { $0 + "." } ?? "") + quote(PhysicalName.entity)
  }
}

extension PhysicalEntity {
  package static let highestKeyWithRoom = Int64.max - (1 << 32)

  /// Too low, no number, or without room for new keys although the table has some.
  package static func isWrong(record: Int64?, highest: Int64) -> Bool {
    guard let record else { return true }
    return record < highest || record > highestKeyWithRoom && highest <= highestKeyWithRoom
  }
}
