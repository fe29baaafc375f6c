import HeirloomModel

/// A correction derived from the model and the other rows.
///
/// The rows distinguish a wrong name from a store whose numbers are really different: objects with
/// the number are in the table of the model's entity, or only the model's entity can have the
/// parent.
package struct EntityListCorrection: Equatable, Sendable {
  package let entity: String
  package let number: Int
  /// `nil` if the name is right.
  package let wrongName: String?
  package let parent: Int?

  package var words: String {
    let list = PhysicalName.primaryKeyTable
    return [
      wrongName.map { "\(list) has the name \($0) for the number \(number): it is changed to \(entity)" },
      parent.map {
        "\(list) has a wrong parent for \(entity): it is changed to \($0 == 0 ? "none" : "the number \($0)")"
      },
    ].compactMap(\.self).joined(separator: ", and ")
  }

  /// The schema's model must fit the store's version hashes.
  package static func all(
    in connection: Connection, _ schema: PhysicalSchema, _ actual: ActualSchema
  ) throws(SQLiteError) -> [EntityListCorrection] {
    let columns = [PhysicalName.entity, PhysicalName.name, PhysicalName.superentity]
    guard let list = actual.table(named: PhysicalName.primaryKeyTable),
      columns.allSatisfy({ list.column(named: $0) != nil })
    else { return [] }
    var rows: [Int64: (name: String?, parent: Int64?)] = [:]
    for row in try connection.rows("SELECT \(columns.map(quote).joined(separator: ", ")) FROM \(quote(list.name))") {
      // If two rows have one number, nothing shows which is right.
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

  /// A name that the model doesn't know is an earlier one of the entity.
  private static func isNamed(_ entity: PhysicalEntity, _ name: String?, _ schema: PhysicalSchema) -> Bool {
    name == entity.name || name.map { schema.entity(named: $0) == nil } ?? false
  }

  /// Corrects `rows`, and returns the wrong names by number.
  private static func wrongNames(
    _ rows: inout [Int64: (name: String?, parent: Int64?)], _ connection: Connection, _ schema: PhysicalSchema,
    _ actual: ActualSchema
  ) throws(SQLiteError) -> [Int: String] {
    var names: [Int: String] = [:]
    var isMore = true
    // A correction may prove others: the other entity has its own number then.
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

  /// True if a number is proven not to be that of `other`, whose name it has.
  private static func isProven(
    _ entity: PhysicalEntity, _ other: PhysicalEntity?, _ rows: [Int64: (name: String?, parent: Int64?)],
    _ connection: Connection, _ actual: ActualSchema
  ) throws(SQLiteError) -> Bool {
    guard let other else { return true }
    if rows[Int64(other.number)]?.name == other.name { return true }
    // The model's entity can have the parent, and the other can't: only one of the two is a root.
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
