import HeirloomMapping
import HeirloomModel
import HeirloomStore

// Content that code was given and didn't read survives only in the previous version, and is known only after the run.
extension CodeAccount {
  /// An object without a destination object is lost as a whole if code read none of its properties;
  /// otherwise its values and links that code didn't read are lost.
  ///
  /// `recounted` are the losses of links and orders that the destination can't hold; the plan may
  /// have counted them already.
  func losses(_ results: [EntityMappingResult]) throws -> (new: [MigrationLoss], recounted: [MigrationLoss]) {
    try close()
    var losses: [MigrationLoss] = []
    /// The conditions of rows without a destination object, and of those among them that are lost as a whole, by
    /// entity.
    var leftOut: [String: String] = [:]
    var lost: [String: String] = [:]
    /// The conditions of rows whose destination objects code deleted.
    var deleted: [String: String] = [:]
    for (name, set) in undone.vanished.ordered(by: \.key) where try sets.count(of: set) > 0 {
      guard let entity = setting.source.entity(named: name) else { continue }
      let key = "s.\(quote(PhysicalName.primaryKey))"
      let rows = "s.\(quote(PhysicalName.entity)) = \(entity.number) AND \(sets.contains(key, in: set))"
      (deleted[name], leftOut[name]) = (rows, rows)
      guard mappings(of: name).isEmpty, let touched = undone.touched[name] else { continue }
      // SQL made the destination objects, and no other mapping takes these objects.
      let count = try setting.connection.firstInteger(
        "SELECT COUNT(*) FROM \(SchemaName.rows(of: entity.table, as: "s")) WHERE \(rows)"
          + " AND NOT \(sets.contains(key, in: touched))")
      guard let count, count > 0 else { continue }
      losses.append(Entry(.deletedByCode, of: .objects(entity: name), entity: name).loss(rows: count))
    }
    for result in results {
      guard let name = result.sourceEntity, lost[name] == nil, let entity = setting.source.entity(named: name) else {
        continue
      }
      let vanished = deleted[name]
      let none = try result.leftBehind > 0 ? associations.unassociated(entity.number) : nil
      let parts = [none, vanished].compactMap { $0 }
      guard !parts.isEmpty else { continue }
      let unassociated =
        "s.\(quote(PhysicalName.entity)) = \(entity.number) AND (\(parts.joined(separator: " OR ")))"
      let end = End(key: "s.\(quote(PhysicalName.primaryKey))", entities: [name])
      let given = try isGiven(end, to: mappings(of: name))
      let rows = [unassociated, given].compactMap { $0 }.joined(separator: " AND ")
      leftOut[name] = rows
      guard result.policy != nil, let touched = try isTouched(end) else { continue }
      let unread = "\(rows) AND NOT \(touched)"
      let count = try setting.connection.firstInteger(
        "SELECT COUNT(*) FROM \(SchemaName.rows(of: entity.table, as: "s")) WHERE \(unread)")
      guard let count, count > 0 else { continue }
      lost[name] = unread
      let cause = LossCause.nothingMade(byPolicyOf: result.mapping, mayBeDeleted: vanished != nil)
      losses.append(Entry(cause, of: .objects(entity: name), entity: name).loss(rows: count))
    }
    let links = try unreadLinks(leftOut, except: lost)
    losses += try unreadValues(except: lost) + links.filter { $0.cause != .noRoom }.losses
    return (losses, try (links.filter { $0.cause == .noRoom } + lostOrders()).losses)
  }

  private func unreadValues(except lost: [String: String]) throws -> [MigrationLoss] {
    var left: [LeftProperty] = []
    for (index, line) in setting.parts.pendingCells.enumerated() {
      let end = End(key: "s.\(quote(PhysicalName.primaryKey))", entities: [line.entity.name])
      guard let read = try line.attribute.map({ try isRead($0, of: end) }) ?? "0" else { continue }
      let taken = try isTaken(end, by: line.carriers, \.made)
      var causes = taken.map { [(line.cause, "NOT \($0)")] } ?? []
      if let set = undone.values[index], try sets.count(of: set) > 0 {
        causes.append((.undone, [sets.contains(end.key, in: set), taken].compactMap { $0 }.joined(separator: " AND ")))
      }
      for (cause, condition) in causes {
        let conditions = [
          "s.\(quote(PhysicalName.entity)) = \(line.entity.number)", try isGiven(end, to: line.takers), condition,
          "NOT \(read)", lost[line.entity.name].map { "NOT (\($0))" },
        ]
        let rows = try setting.connection.firstInteger(
          "SELECT COUNT(s.\(quote(line.column))) FROM \(SchemaName.rows(of: line.entity.table, as: "s"))"
            + " WHERE \(conditions.compactMap { $0 }.joined(separator: " AND "))")
        left.add(
          LeftProperty(
            entity: line.owner, property: line.property, cause: cause, isKnown: line.attribute != nil, rows: rows ?? 0))
      }
    }
    return left.losses
  }

  func keys(of end: End, _ rows: [String: String]) -> [String] {
    end.entities.compactMap { name in
      guard let condition = rows[name], let table = setting.source.entity(named: name)?.table else { return nil }
      return "(\(end.key) IN (SELECT s.\(quote(PhysicalName.primaryKey)) FROM"
        + " \(SchemaName.rows(of: table, as: "s")) WHERE \(condition)))"
    }
  }
}

/// The content of a property that code neither read nor copied.
struct LeftProperty {
  let entity: String
  let property: String
  let cause: PendingCause
  /// False for cells of a column outside the model.
  var isKnown = true
  var rows: Int64
  /// `nil` for values.
  var links: Int64?
  var targets: Set<String> = []

  var loss: MigrationLoss {
    let kind: LossKind = isKnown ? links == nil ? .values : .links : .unknownContent
    let reason = LossCause.unread(cause, kind, entity: entity, property: property, targets: targets.ordered())
    return Entry(reason, of: .objects(entity: entity), entity: entity, property: property).loss(
      rows: rows, links: links)
  }
}

extension [LeftProperty] {
  /// Merges content of the same property with the same cause.
  mutating func add(_ content: LeftProperty) {
    guard content.rows > 0 else { return }
    let place = firstIndex {
      $0.entity == content.entity && $0.property == content.property && $0.cause == content.cause
    }
    guard let place else { return append(content) }
    self[place].rows += content.rows
    if let links = content.links { self[place].links = (self[place].links ?? 0) + links }
    self[place].targets.formUnion(content.targets)
  }

  var losses: [MigrationLoss] {
    ordered { [$0.entity, $0.property] }.map(\.loss)
  }
}
