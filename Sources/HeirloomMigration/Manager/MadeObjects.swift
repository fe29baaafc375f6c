import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// The objects that code made or changed, by entity, to be validated as saving validates them.
///
/// Required properties and counts are checked on whole tables; only rules for values are evaluated object by object.
struct MadeObjects {
  let context: ManagedObjectContext
  let setting: RowRunSetting

  struct Fault: Error {
    let entity: String
    let primaryKey: Int64
    let underlying: any Error
  }

  /// Only for objects of exactly this entity with a higher key, or all for `nil`; `note` gets a
  /// decision's index and the number of objects that got its value.
  func fill(_ entity: PhysicalEntity, after key: Int64?, note: (Int, Int64) -> Void) throws {
    let fills = setting.parts.decided.fills
    guard !fills.isEmpty else { return }
    for (property, column) in try context.requiredColumns(ofEntity: entity.name) {
      let fill = fills.first {
        $0.property == property && setting.destination.model.isEntity(entity.name, kindOf: $0.entity)
      }
      guard let fill else { continue }
      try setting.connection.execute(
        "UPDATE \(table(entity.table)) AS s SET \(quote(column)) = \(fill.literal) WHERE"
          + " \(Self.number) = \(entity.number)\(Self.isAfter(key)) AND \(quote(column)) IS NULL")
      note(fill.decision, setting.connection.changes)
    }
  }

  /// Throws a `Fault` for an object of exactly this entity with a higher key; `nil` for all.
  func check(_ entity: PhysicalEntity, after key: Int64?) throws {
    guard !entity.isAbstract else { return }
    try checkRequired(entity, after: key)
    for (relationship, storage) in try context.countedRelationships(ofEntity: entity.name) {
      try checkCount(of: relationship, storage, entity, after: key)
    }
    try checkInverses(of: entity)
    try checkRules(entity, after: key)
  }

  /// Throws a `Fault` if the changed row still breaks the rules of its entity.
  func check(_ suspect: Suspect) throws {
    guard let object = try context.object(numbered: suspect.entity, primaryKey: suspect.primaryKey) else { return }
    do throws(ManagedObjectError) {
      try context.validate(object)
    } catch {
      var underlying: any Error = error
      if case .missingValue(let entity, let property) = error {
        underlying = MigrationManagerError.missingValue(
          entity: entity, property: property, primaryKey: suspect.primaryKey)
      }
      throw Fault(entity: object.entityName, primaryKey: suspect.primaryKey, underlying: underlying)
    }
  }

  private static func isAfter(_ key: Int64?) -> String { key.map { " AND s.\(Self.key) > \($0)" } ?? "" }

  private func table(_ name: String) -> String { "\(quote(SchemaName.candidate)).\(quote(name))" }

  private static let key = quote(PhysicalName.primaryKey)
  private static let number = quote(PhysicalName.entity)

  private func checkRequired(_ entity: PhysicalEntity, after key: Int64?) throws {
    let model = setting.destination.model
    let required = try context.requiredColumns(ofEntity: entity.name).filter { property, _ in
      !setting.parts.decided.links.contains {
        $0.properties == [property] && model.isEntity(entity.name, kindOf: $0.entity)
      }
    }
    guard !required.isEmpty else { return }
    let columns = required.map { quote($0.column) }
    // The first invalid object ends the run, so one row is enough. Its flags select the property to name.
    let rows = try setting.connection.rows(
      "SELECT \(Self.key), \(columns.map { "\($0) IS NULL" }.joined(separator: ", ")) FROM \(table(entity.table))"
        + " AS s WHERE \(Self.number) = ?1\(Self.isAfter(key)) AND (\(columns.map { "\($0) IS NULL" }.chained(by: "OR"))) LIMIT 1",
      [.integer(Int64(entity.number))])
    guard let row = rows.first, let key = row[0].integer,
      let place = row.dropFirst().firstIndex(of: .integer(1))
    else { return }
    throw Fault(
      entity: entity.name, primaryKey: key,
      underlying: MigrationManagerError.missingValue(
        entity: entity.name, property: required[place - 1].property, primaryKey: key))
  }

  /// Other objects may refer to those that were made.
  private func checkInverses(of entity: PhysicalEntity) throws {
    let model = setting.destination.model
    for relationship in model.relationships(of: entity.name) {
      guard let inverse = model.storedInverse(of: relationship), inverse.relationship.isToMany,
        inverse.relationship.minCount > 0 || inverse.relationship.maxCount > 1
      else { continue }
      for owner in model.entityTree(from: inverse.entity.name) {
        guard let owner = setting.destination.entity(named: owner.name), !owner.isAbstract else { continue }
        for (counted, storage) in try context.countedRelationships(ofEntity: owner.name)
        where counted.name == inverse.relationship.name {
          try checkCount(of: counted, storage, owner, after: nil)
        }
      }
    }
  }

  private func checkCount(
    of relationship: RelationshipDescription, _ storage: RelationshipStorage, _ entity: PhysicalEntity,
    after key: Int64?
  ) throws {
    let links: (table: String, owner: String)
    switch storage {
    case .key: return
    case .inverseKey(let table, let column, _, _), .inverselessKey(let table, let column, _): links = (table, column)
    case .join(let table, let owner, _, _): links = (table, owner)
    }
    var conditions: [String] = []
    if relationship.minCount > 0 {
      conditions.append(
        "IFNULL(c.n, 0) < \(relationship.minCount)\(relationship.isOptional ? " AND IFNULL(c.n, 0) > 0" : "")")
    }
    if relationship.maxCount > 1 { conditions.append("c.n > \(relationship.maxCount)") }
    guard !conditions.isEmpty else { return }
    let owner = quote(links.owner)
    // The candidate has no indexes yet, so this makes one pass over the links.
    let rows = try setting.connection.rows(
      "SELECT s.\(Self.key), IFNULL(c.n, 0) FROM \(table(entity.table)) AS s LEFT JOIN (SELECT \(owner) AS k,"
        + " COUNT(*) AS n FROM \(table(links.table)) WHERE \(owner) IS NOT NULL GROUP BY \(owner)) AS c"
        + " ON c.k = s.\(Self.key) WHERE s.\(Self.number) = ?1\(Self.isAfter(key)) AND (\(conditions.chained(by: "OR"))) LIMIT 1",
      [.integer(Int64(entity.number))])
    guard let row = rows.first, let key = row[0].integer, let found = row[1].integer.flatMap({ Int(exactly: $0) })
    else { return }
    let error: ManagedObjectError =
      found < relationship.minCount
      ? .tooFewObjects(
        entity: entity.name, relationship: relationship.name, found: found, minimum: relationship.minCount)
      : .tooManyObjects(
        entity: entity.name, relationship: relationship.name, found: found, maximum: relationship.maxCount)
    throw Fault(entity: entity.name, primaryKey: key, underlying: error)
  }

  private func checkRules(_ entity: PhysicalEntity, after key: Int64?) throws {
    guard try context.hasRules(forEntity: entity.name) else { return }
    var fault: Fault?
    let selection = RowSelection(
      where: key.map { "\(RowSelection.alias).\(Self.key) > \($0)" }, includesSubentities: false)
    try context.forEachStored(entity.name, selection) { object in
      do throws(ManagedObjectError) {
        try context.validateRules(of: object)
        return true
      } catch {
        fault = Fault(entity: entity.name, primaryKey: object.objectID?.primaryKey ?? 0, underlying: error)
        return false
      }
    }
    if let fault { throw fault }
  }
}
