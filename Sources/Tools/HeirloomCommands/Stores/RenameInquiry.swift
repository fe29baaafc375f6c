import Heirloom
import HeirloomCompare
import HeirloomOutput

/// Searches stores for evidence about suspected renames; nothing is changed.
struct RenameInquiry {
  static let comparisonLimit: Int64 = 100_000

  let difference: ModelDifference
  /// The store of the earlier version.
  let path: String
  var laterPath: String?

  private struct Place {
    let table: String
    let condition: String
    let column: String?
  }

  /// An unreadable store gives no evidence: this is only advice, and the plan reports the store's
  /// problem.
  func evidence() -> [RenameSuspicion: RenameEvidence] {
    let suspicions = difference.renames
    guard !suspicions.isEmpty else { return [:] }
    do throws(StoreError) {
      return try StoreReading.withQuietConnection(toStoreAt: path) { connection throws(StoreError) in
        guard let laterPath else { return try collect(suspicions, connection, later: nil) }
        return try StoreReading.withQuietConnection(toStoreAt: laterPath) { later throws(StoreError) in
          try collect(suspicions, connection, later: later)
        }
      }
    } catch {
      return [:]
    }
  }

  private func collect(
    _ suspicions: [RenameSuspicion], _ connection: Connection, later: Connection?
  ) throws(StoreError) -> [RenameSuspicion: RenameEvidence] {
    do throws(SQLiteError) {
      let schema = try Self.schema(difference.source, of: connection)
      let laterSchema = try later.map { other throws(SQLiteError) in
        try Self.schema(difference.destination, of: other)
      }
      var found: [RenameSuspicion: RenameEvidence] = [:]
      for suspicion in suspicions {
        let removed = suspicion.kind == .entity ? nil : suspicion.removed
        guard let place = Self.place(of: removed, suspicion.sourceEntity, in: schema) else { continue }
        var evidence = try count(suspicion, at: place, connection)
        if let later, let laterSchema, removed != nil,
          let other = Self.place(of: suspicion.added, suspicion.entity, in: laterSchema)
        {
          let (compared, equal) = try compare(place, connection, with: other, later)
          (evidence.compared, evidence.equal) = (compared, equal)
        }
        found[suspicion] = evidence
      }
      return found
    } catch {
      throw StoreError(error, path: path)
    }
  }

  private static func schema(
    _ model: ManagedObjectModel, of connection: Connection
  ) throws(SQLiteError) -> (physical: PhysicalSchema, actual: ActualSchema) {
    let actual = try ActualSchema(of: connection)
    return (PhysicalSchema(model: model, configuration: nil, actual: actual), actual)
  }

  private static func place(
    of property: String?, _ entity: String, in schema: (physical: PhysicalSchema, actual: ActualSchema)
  ) -> Place? {
    guard let known = schema.physical.entity(named: entity), let table = schema.actual.table(named: known.table) else {
      return nil
    }
    let numbers = known.treeNumbers
    let condition = "\(known.numberSQL()) BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)"
    guard let property else { return Place(table: known.table, condition: condition, column: nil) }
    guard let column = column(of: property, entity, in: schema.physical), table.column(named: column) != nil else {
      return nil
    }
    return Place(table: known.table, condition: condition, column: column)
  }

  /// `nil` for a composite, external values, and links stored in another table.
  private static func column(of property: String, _ entity: String, in schema: PhysicalSchema) -> String? {
    let columns = schema.columns(ofAttribute: property, in: entity)
    if let column = columns.first, columns.count == 1, column.path.count == 1 {
      return column.attribute.allowsExternalBinaryDataStorage ? nil : column.name
    }
    guard case .key(_, let column, _)? = schema.storage(ofRelationship: property, in: entity) else { return nil }
    return column
  }

  private func count(
    _ suspicion: RenameSuspicion, at place: Place, _ connection: Connection
  ) throws(SQLiteError) -> RenameEvidence {
    let column = place.column.map(quote) ?? quote(PhysicalName.primaryKey)
    let counts = try connection.rows(
      "SELECT COUNT(*), COUNT(\(column)), COUNT(DISTINCT \(column)) FROM \(quote(place.table)) WHERE \(place.condition)"
    )
    let numbers = (counts.first ?? []).map { $0.integer ?? 0 }
    guard numbers.count == 3 else { return RenameEvidence(objects: 0, values: 0) }
    var evidence = RenameEvidence(objects: numbers[0], values: numbers[1])
    guard suspicion.kind == .attribute,
      let added = difference.destination.attribute(named: suspicion.added, of: suspicion.entity)
    else { return evidence }
    let empty = numbers[0] - numbers[1]
    if !added.isOptional, added.defaultValue == nil, empty > 0 {
      evidence.misfits.append(
        "\(counted(empty, "object")) \(empty == 1 ? "has" : "have") none, and \"\(added.name)\" is required")
    }
    let constraints = difference.destination.entity(named: suspicion.entity)?.uniquenessConstraints ?? []
    if constraints.contains([added.name]), numbers[1] > numbers[2] {
      let repeated = numbers[1] - numbers[2]
      evidence.misfits.append(
        "\(counted(repeated, "value")) \(verb("occur", repeated)) before, and those of \"\(added.name)\" must differ")
    }
    return evidence
  }

  private func compare(
    _ place: Place, _ connection: Connection, with other: Place, _ later: Connection
  ) throws(SQLiteError) -> (compared: Int64, equal: Int64) {
    guard let column = place.column.map(quote), let otherColumn = other.column.map(quote) else { return (0, 0) }
    let key = quote(PhysicalName.primaryKey)
    var (compared, equal): (Int64, Int64) = (0, 0)
    var last = Int64.min
    while compared < Self.comparisonLimit {
      let rows = try connection.rows(
        "SELECT \(key), \(column) FROM \(quote(place.table)) WHERE \(place.condition) AND \(key) > ?1"
          + " AND \(column) IS NOT NULL ORDER BY \(key) LIMIT 2000", [.integer(last)])
      guard let first = rows.first?[0].integer, let end = rows.last?[0].integer else { break }
      let others = try later.rows(
        "SELECT \(key), \(otherColumn) FROM \(quote(other.table)) WHERE \(other.condition) AND \(key) BETWEEN ?1 AND ?2",
        [.integer(first), .integer(end)])
      var values: [Int64: SQLiteValue] = [:]
      for row in others { if let number = row[0].integer { values[number] = row[1] } }
      for row in rows {
        guard let number = row[0].integer, let value = values[number] else { continue }
        compared += 1
        if value == row[1] { equal += 1 }
      }
      last = end
    }
    return (compared, equal)
  }
}

extension DifferenceText {
  init(_ difference: ModelDifference, storeAt path: String?, laterStoreAt laterPath: String? = nil) {
    let inquiry = path.map { RenameInquiry(difference: difference, path: $0, laterPath: laterPath) }
    self.init(difference, evidence: inquiry?.evidence() ?? [:])
  }
}
