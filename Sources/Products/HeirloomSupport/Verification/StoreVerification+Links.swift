import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore

extension StoreVerification {
  // MARK: Keys in rows

  func addChecks(
    of relationship: RelationshipDescription, _ entity: PhysicalEntity, _ table: PhysicalTable, _ found: ActualTable,
    to tally: inout RowTally, _ schema: PhysicalSchema
  ) {
    guard
      case .key(_, let column, _)? = schema.storage(ofRelationship: relationship.name, in: entity.name),
      found.column(named: column) != nil
    else { return }
    let name = "\(entity.name).\(relationship.name)"
    let key = "t.\(quote(column))"
    let isOwn = condition(ofKind: entity)
    if !relationship.isOptional {
      tally.add("\(isOwn) AND \(key) IS NULL") { count, example in
        StoreFinding(
          .warning, .missingRequiredValue, entity: entity.name,
          "\(counted(count, "object")) \(has(count)) nothing in \(name), which is required (\(example)): no save that touches"
            + " such an object succeeds. Set the relationship in the app.")
      }
    }
    guard let destination = schema.entity(named: relationship.destinationEntity) else { return }
    addKeyChecks(
      key, isOwn: isOwn, name: name, entity: entity.name, to: destination, tally: &tally, what: "object")
    guard hasKeys(destination.table) else { return }
    addInverseCheck(of: relationship, key: key, isOwn: isOwn, entity, destination, to: &tally, schema)
  }

  func addCheck(of correction: NumberCorrection, _ found: ActualTable, to tally: inout RowTally) {
    guard let link = correction.link, hasKeys(link.target), found.column(named: link.key) != nil,
      found.column(named: correction.column) != nil
    else { return }
    let remedies: [Remedy] = report.isModelFit ? [.repair] : []
    tally.add(correction.condition()) { count, example in
      StoreFinding(
        .error, .wrongDestination, entity: correction.entity,
        "In \(counted(count, "row")) of \(correction.table) \(correction.column) is not the entity number of the object of"
          + " \(correction.entity).\(link.relationship) (\(example)): the app looks for objects that don't exist."
          + " A migration or a repair writes the object's.", remedies: remedies)
    }
  }

  private func addKeyChecks(
    _ key: String, isOwn: String?, name: String, entity: String, to destination: PhysicalEntity,
    tally: inout RowTally, what: String
  ) {
    guard hasKeys(destination.table) else { return }
    let prefix = isOwn.map { "\($0) AND " } ?? ""
    let rows =
      "SELECT 1 FROM \(quote(destination.table)) AS d WHERE d.\(quote(PhysicalName.primaryKey)) = \(key)"
    let isLink = what == "link"
    tally.add("\(prefix)\(key) NOT NULL AND NOT EXISTS (\(rows))") { count, example in
      StoreFinding(
        .error, isLink ? .danglingLink : .danglingKey, entity: entity,
        "\(counted(count, what)) \(refers(count)) by \(name) to a row of \(destination.table) that doesn't exist (\(example)):"
          + " the app fails when it follows the relationship. Was the object deleted by another program?")
    }
    tally.add(
      "\(prefix)\(key) NOT NULL AND EXISTS (\(rows) AND (\(condition(ofKind: destination, "d"))) IS NOT TRUE)"
    ) { count, example in
      StoreFinding(
        .error, .wrongDestination, entity: entity,
        "\(counted(count, what)) \(refers(count)) by \(name) to an object that is not of the entity \(destination.name) (\(example)): the app"
          + " fails when it follows the relationship.")
    }
  }

  private func addInverseCheck(
    of relationship: RelationshipDescription, key: String, isOwn: String, _ entity: PhysicalEntity,
    _ destination: PhysicalEntity, to tally: inout RowTally, _ schema: PhysicalSchema
  ) {
    guard let inverse = schema.model.inverse(of: relationship), !inverse.relationship.isToMany,
      inverse.relationship.inverseRelationship == relationship.name,
      case .key(let table, let column, _)? = schema.storage(
        ofRelationship: inverse.relationship.name, in: inverse.entity.name),
      actual.table(named: table)?.column(named: column) != nil
    else { return }
    let name = "\(entity.name).\(relationship.name)"
    let other = "\(inverse.entity.name).\(inverse.relationship.name)"
    tally.add(
      "\(isOwn) AND \(key) NOT NULL AND EXISTS (SELECT 1 FROM \(quote(table)) AS d WHERE"
        + " d.\(quote(PhysicalName.primaryKey)) = \(key) AND d.\(quote(column)) IS NOT t.\(quote(PhysicalName.primaryKey)))"
    ) { count, example in
      StoreFinding(
        .warning, .disagreeingInverse, entity: entity.name,
        "\(counted(count, "object")) \(refers(count)) by \(name) to an object whose \(other) doesn't refer back (\(example)): which side"
          + " is right is not certain. Set the relationship again in the app.")
    }
  }

  private func hasKeys(_ table: String) -> Bool {
    let found = actual.table(named: table)
    return found?.column(named: PhysicalName.primaryKey) != nil && found?.column(named: PhysicalName.entity) != nil
  }

  // MARK: Keys without a relationship, places in lists

  /// Checks places in ordered relationships, and keys of to-many relationships without inverse.
  func checkOrderDuplicates(in table: PhysicalTable, found: ActualTable, root: String) {
    guard let schema else { return }
    var tally = RowTally(table: table.name, key: PhysicalName.primaryKey)
    var places: [(name: String, entity: String, key: String, order: String)] = []
    for owner in schema.model.entities {
      for relationship in owner.relationships {
        let name = "\(owner.name).\(relationship.name)"
        switch schema.storage(ofRelationship: relationship.name, in: owner.name) {
        case .inverseKey(table.name, let column, _, let order?):
          places.append((name, owner.name, column, order))
        case .inverselessKey(table.name, let column, let order):
          if let order { places.append((name, owner.name, column, order)) }
          guard found.column(named: column) != nil, let destination = schema.entity(named: owner.name) else { continue }
          // The key refers to the owner.
          addKeyChecks(
            "t.\(quote(column))", isOwn: nil, name: name, entity: owner.name, to: destination, tally: &tally,
            what: "link")
        default: continue
        }
      }
    }
    for place in places
    where found.column(named: place.key) != nil && found.column(named: place.order) != nil {
      addPlaceChecks(name: place.name, entity: place.entity, key: place.key, order: place.order, to: &tally)
      checkDuplicatePlaces(
        in: table.name, name: place.name, entity: place.entity, key: place.key, order: place.order)
    }
    let findings = reading("the table \(table.name)", entity: root) { connection throws(SQLiteError) in
      try tally.findings(connection)
    }
    report.findings += findings ?? []
  }

  private func addPlaceChecks(name: String, entity: String, key: String, order: String, to tally: inout RowTally) {
    let (keyTerm, orderTerm) = ("t.\(quote(key))", "t.\(quote(order))")
    tally.add("\(keyTerm) NOT NULL AND typeof(\(orderTerm)) <> 'integer'") { count, example in
      StoreFinding(
        .warning, .invalidOrder, entity: entity,
        "\(counted(count, "member")) of \(name) \(has(count)) no place in \(order) (\(example)): their position in the list is not"
          + " certain. Sort the list again in the app.")
    }
  }

  private func checkDuplicatePlaces(in table: String, name: String, entity: String, key: String, order: String) {
    let columns = "\(quote(key)), \(quote(order))"
    let rows = reading("the table \(table)", entity: entity) { connection throws(SQLiteError) in
      try connection.rows(
        "SELECT COUNT(*), SUM(n) FROM (SELECT COUNT(*) AS n FROM \(quote(table)) WHERE \(quote(key)) NOT NULL AND"
          + " \(quote(order)) NOT NULL GROUP BY \(columns) HAVING COUNT(*) > 1)")
    }
    guard let row = rows?.first, let count = row[0].integer, count > 0 else { return }
    add(
      .warning, .invalidOrder, entity: entity,
      "\(row[1].integer ?? 0) members of \(name) share \(counted(count, "place")) in \(order): their relative order is"
        + " not certain. Sort the list again in the app.")
  }

  // MARK: Tables of links

  func checkLinks(in table: PhysicalTable, _ schema: PhysicalSchema) {
    guard let found = actual.table(named: table.name), case .links(let owner, let forward) = table.kind,
      case .join(_, let ownerColumn, let destinationColumn, let order)? = schema.storage(
        ofRelationship: forward, in: owner),
      found.column(named: ownerColumn) != nil, found.column(named: destinationColumn) != nil,
      let relationship = schema.model.relationship(named: forward, of: owner),
      let destination = schema.entity(named: relationship.destinationEntity), let source = schema.entity(named: owner)
    else { return }
    let name = "\(owner).\(forward)"
    var tally = RowTally(table: table.name, key: ownerColumn)
    let ends = [(ownerColumn, source), (destinationColumn, destination)]
    for (column, entity) in ends {
      addKeyChecks(
        "t.\(quote(column))", isOwn: nil, name: name, entity: owner, to: entity, tally: &tally, what: "link")
    }
    tally.add("t.\(quote(ownerColumn)) IS NULL OR t.\(quote(destinationColumn)) IS NULL") { count, _ in
      StoreFinding(
        .error, .danglingLink, entity: owner,
        "\(counted(count, "link")) of \(name) in \(table.name) \(has(count)) only one end and can't be used."
      )
    }
    if let order, found.column(named: order) != nil {
      addPlaceChecks(name: name, entity: owner, key: ownerColumn, order: order, to: &tally)
      checkDuplicatePlaces(in: table.name, name: name, entity: owner, key: ownerColumn, order: order)
    }
    if let inverse = schema.model.inverse(of: relationship), inverse.relationship.name != forward,
      let order = schema.storage(ofRelationship: inverse.relationship.name, in: inverse.entity.name)?.orderColumn,
      found.column(named: order) != nil
    {
      let name = "\(inverse.entity.name).\(inverse.relationship.name)"
      addPlaceChecks(name: name, entity: inverse.entity.name, key: destinationColumn, order: order, to: &tally)
      checkDuplicatePlaces(
        in: table.name, name: name, entity: inverse.entity.name, key: destinationColumn, order: order)
    }
    let findings = reading("the table \(table.name)", entity: owner) { connection throws(SQLiteError) in
      try tally.findings(connection)
    }
    report.findings += findings ?? []
  }
}
