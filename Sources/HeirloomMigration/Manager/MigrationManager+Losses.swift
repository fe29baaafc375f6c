import HeirloomMapping
import HeirloomModel
import HeirloomStore

// The properties that code was given and didn't read are in the previous version alone, and only the run tells which.
extension MigrationManager {
  /// Counts the objects, values and links that policies were given, and that neither their default took along nor they
  /// read.
  ///
  /// Code reads a property if it asks any object of the entity for it. Objects that became nothing are lost as a whole,
  /// if code read no property of their entity.
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
    let defaults = Set(runs.filter { $0.ranDefault || $0.sourceObjects == 0 }.map(\.mapping.name))
    let unread = setting.parts.openLines.filter { line in
      let asked = setting.sourceStore.askedProperties(of: line.entity.name)
      return line.carriers.isDisjoint(with: defaults) && !(line.attribute.map(asked.contains) ?? false)
    }
    var left: [LeftProperty] = []
    for line in unread {
      let others = lost[line.entity.name].map { " AND NOT (\($0))" } ?? ""
      let rows = try setting.connection.firstInteger(
        "SELECT COUNT(s.\(quote(line.column))) FROM \(SchemaName.rows(of: line.entity.table, as: "s"))"
          + " WHERE s.\(quote(PhysicalName.entity)) = \(line.entity.number)\(others)")
      left.add(
        LeftProperty(
          entity: line.owner, property: line.property, cause: line.cause,
          kind: line.attribute == nil ? .unknownContent : .values, rows: rows ?? 0))
    }
    return left.losses
  }

  private func unreadLinks(except lost: [String: String]) throws -> [MigrationLoss] {
    let defaults = Set(runs.filter { $0.relatedByDefault || $0.sourceObjects == 0 }.map(\.mapping.name))
    let key = quote(PhysicalName.primaryKey)
    var left: [LeftProperty] = []
    for links in setting.parts.openLinks where links.carriers.isDisjoint(with: defaults) && !isAsked(links) {
      guard let table = setting.source.entity(named: links.owner)?.table else { continue }
      let others = lost[links.owner].map {
        " WHERE owner NOT IN (SELECT s.\(key) FROM \(SchemaName.rows(of: table, as: "s")) WHERE \($0))"
      }
      let row = try setting.connection.rows(
        "SELECT COUNT(DISTINCT owner), COUNT(*) FROM (\(links.query))\(others ?? "")"
      ).first
      left.add(
        LeftProperty(
          entity: links.entity, property: links.property, cause: links.cause,
          kind: links.cause == .foreign ? .linksWithoutRoom : .links, rows: row?[0].integer ?? 0,
          links: row?[1].integer, targets: Set(links.targets)))
    }
    return left.losses
  }

  /// Returns true if code asked objects for a relationship or its inverse.
  private func isAsked(_ links: OpenLinks) -> Bool {
    if setting.sourceStore.askedProperties(of: links.owner).contains(links.relationship) { return true }
    guard let inverse = links.inverse else { return false }
    return links.targets.contains { setting.sourceStore.askedProperties(of: $0).contains(inverse) }
  }
}

/// The content of a property that code left.
private struct LeftProperty {
  let entity: String
  let property: String
  let cause: OpenCause
  let kind: MigrationLoss.Kind
  var rows: Int64
  /// The number of links; `nil` for values.
  var links: Int64?
  /// The entities of the objects that the links lead to.
  var targets: Set<String> = []

  var loss: MigrationLoss {
    let reason =
      switch cause {
      case .unmapped:
        "No property mapping takes \"\(entity).\(property)\", and the code of the mapping never read it."
      case .passedOver:
        "The code of the mapping never read \"\(entity).\(property)\", nor called the default that takes it."
      case .foreign:
        DataEffect(
          kind: .foreignLinks(to: targets.ordered()), entity: entity, properties: [property],
          rows: []
        ).description
      }
    return MigrationLoss(
      entity: entity, property: property, reason: reason, rows: rows, links: links, kind: kind)
  }
}

extension [LeftProperty] {
  /// Adds content to that of the same property which was left for the same reason.
  fileprivate mutating func add(_ content: LeftProperty) {
    guard content.rows > 0 else { return }
    let place = firstIndex {
      $0.entity == content.entity && $0.property == content.property && $0.cause == content.cause
    }
    guard let place else { return append(content) }
    self[place].rows += content.rows
    if let links = content.links { self[place].links = (self[place].links ?? 0) + links }
    self[place].targets.formUnion(content.targets)
  }

  /// The losses, by entity and property.
  fileprivate var losses: [MigrationLoss] {
    ordered { [$0.entity, $0.property] }.map(\.loss)
  }
}
