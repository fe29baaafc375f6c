import HeirloomMapping
import HeirloomModel
import HeirloomStore

// The properties that code was given and didn't read are in the previous version alone, and only the run tells which.
extension MigrationManager {
  /// Counts the objects, values and links that policies were given, and that neither a mapping takes nor a policy read.
  ///
  /// Code reads a property if it asks any object of the entity for it. Objects that became nothing are lost as a whole, if
  /// code read no property of their entity.
  ///
  /// - Parameter results: The results of the mappings that ran object by object.
  /// - Returns: The losses.
  /// - Throws: SQLite's error.
  func unreadLosses(_ results: [EntityMappingResult]) throws -> [MigrationLoss] {
    var losses: [MigrationLoss] = []
    /// The conditions of rows that are lost as a whole, by the entity's name.
    var lost: [String: String] = [:]
    for result in results where result.leftBehind > 0 && result.policy != nil {
      guard let name = result.sourceEntity, lost[name] == nil, isUnread(name),
        let entity = setting.source.entity(named: name), let rows = try associations.unassociated(entity.number)
      else { continue }
      lost[name] = rows
      losses.append(
        MigrationLoss(
          entity: name, property: nil,
          reason:
            "The policy of \"\(result.mapping)\" made nothing of these objects and read none of their properties.",
          rows: result.leftBehind, kind: .objects))
    }
    return losses + (try unreadValues(except: lost)) + (try unreadLinks(except: lost))
  }

  private func isUnread(_ entity: String) -> Bool { setting.sourceStore.askedProperties(of: entity).isEmpty }

  private func unreadValues(except lost: [String: String]) throws -> [MigrationLoss] {
    let unread = setting.parts.openLines.filter { line in
      !setting.sourceStore.askedProperties(of: line.entity.name).contains(line.property)
    }
    var rows: [[String]: Int64] = [:]
    for line in unread {
      let others = lost[line.entity.name].map { " AND NOT (\($0))" } ?? ""
      rows[[line.owner, line.property], default: 0] +=
        try setting.connection.firstInteger(
          "SELECT COUNT(s.\(quote(line.column))) FROM \(SchemaName.rows(of: line.entity.table, as: "s"))"
            + " WHERE s.\(quote(PhysicalName.entity)) = \(line.entity.number)\(others)") ?? 0
    }
    return rows.filter { $0.value > 0 }.sorted { $0.key.utf16Precedes($1.key) }.map { name, rows in
      MigrationLoss(
        entity: name[0], property: name[1],
        reason: "No property mapping takes \"\(name[0]).\(name[1])\", and the code of the mapping never read it.",
        rows: rows,
        kind: .values)
    }
  }

  private func unreadLinks(except lost: [String: String]) throws -> [MigrationLoss] {
    let model = setting.source.model
    var found: [[String]: (owners: Int64, links: Int64)] = [:]
    var seen: Set<[String]> = []
    for (mapping, names) in setting.mapping.propertiesLeftToPolicies(from: model, to: setting.destination.model) {
      for name in names {
        guard let source = mapping.sourceEntityName, let entity = setting.source.entity(named: source),
          seen.insert([source, name]).inserted, let relationship = model.relationship(named: name, of: source),
          !isAsked(relationship, of: source, in: model),
          let links = setting.source.links(of: name, in: source, isReversed: false)
        else { continue }
        let others = lost[source].map { " AND NOT (\($0))" } ?? ""
        let row = try setting.connection.rows(
          "SELECT COUNT(DISTINCT k.owner), COUNT(*) FROM (\(links.sql)) AS k"
            + " JOIN \(SchemaName.rows(of: entity.table, as: "s")) ON s.\(quote(PhysicalName.primaryKey)) = k.owner"
            + " AND s.\(quote(PhysicalName.entity)) = \(entity.number)\(others)"
        ).first
        guard let owners = row?[0].integer, owners > 0 else { continue }
        let owner = model.declaringEntity(ofProperty: name, in: source)?.name ?? source
        found[[owner, name], default: (0, 0)].owners += owners
        found[[owner, name], default: (0, 0)].links += row?[1].integer ?? 0
      }
    }
    return found.sorted { $0.key.utf16Precedes($1.key) }.map { name, count in
      MigrationLoss(
        entity: name[0], property: name[1],
        reason: "No property mapping takes \"\(name[0]).\(name[1])\", and the code of the mapping never read it.",
        rows: count.owners, links: count.links, kind: .links)
    }
  }

  /// Returns true if code asked objects for a relationship or its inverse.
  private func isAsked(_ relationship: RelationshipDescription, of entity: String, in model: ManagedObjectModel) -> Bool
  {
    if setting.sourceStore.askedProperties(of: entity).contains(relationship.name) { return true }
    guard let inverse = model.inverse(of: relationship) else { return false }
    return model.entityTree(from: inverse.entity.name).contains {
      setting.sourceStore.askedProperties(of: $0.name).contains(inverse.relationship.name)
    }
  }
}
