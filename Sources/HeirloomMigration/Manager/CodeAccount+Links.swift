import HeirloomMapping
import HeirloomModel
import HeirloomStore

/// An ordered relationship whose order only code can keep, because code makes the owners or the related objects.
struct PendingOrder {
  /// The names for a loss: those of the destination's relationship that continues this one, else the source's own.
  let name: (entity: String, property: String)
  let owner: String
  let relationship: String
  let targets: [String]
  /// The mappings that take the owners; none if SQL copies them.
  let takers: Set<String>
  /// True if the links are continued by an ordered relationship.
  let isOrdered: Bool
  let heirs: [CandidateLinks.Heir]

  static func all(in setting: RowRunSetting, byCode: Set<String>) -> [PendingOrder] {
    let (source, destination) = (setting.source.model, setting.destination.model)
    return source.entities.flatMap { entity in
      entity.relationships.filter { $0.isToMany && $0.isOrdered && !$0.isTransient }.flatMap { relationship in
        let targets = source.entityTree(from: relationship.destinationEntity).map(\.name)
        return source.entityTree(from: entity.name).compactMap { owner -> PendingOrder? in
          let isOwnByCode = byCode.contains(owner.name)
          guard isOwnByCode || !byCode.isDisjoint(with: targets) else { return nil }
          let own = setting.heirs(of: relationship.name, from: [owner.name], isReversed: false)
          let ordered = own.filter { heir in
            destination.relationship(named: heir.relationship, of: heir.entity).map { $0.isToMany && $0.isOrdered }
              ?? false
          }
          // The plan counts the orders that SQL drops.
          guard isOwnByCode || !ordered.isEmpty else { return nil }
          let inverse = source.storedInverse(of: relationship)?.relationship
          let others = inverse.map { setting.heirs(of: $0.name, from: targets, isReversed: true) } ?? []
          let told = own.first.flatMap { heir in
            destination.declaringEntity(ofProperty: heir.relationship, in: heir.entity).map {
              ($0.name, heir.relationship)
            }
          }
          let mappings = setting.mapping.entityMappings.filter { $0.sourceEntityName == owner.name }.map(\.name)
          return PendingOrder(
            name: told ?? (entity.name, relationship.name), owner: owner.name, relationship: relationship.name,
            targets: targets, takers: isOwnByCode ? Set(mappings) : [], isOrdered: !ordered.isEmpty,
            heirs: ordered.isEmpty ? own + others : ordered)
        }
      }
    }
  }
}

extension PendingLinks {
  func heirs(in setting: RowRunSetting) -> [CandidateLinks.Heir] {
    setting.heirs(of: relationship, from: [owner], isReversed: false)
      + (inverse.map { setting.heirs(of: $0, from: targets, isReversed: true) } ?? [])
  }

  /// The to-one relationship that continues a to-many one of the source.
  func narrowed(in setting: RowRunSetting) -> CandidateLinks.Heir? {
    let (source, destination) = (setting.source.model, setting.destination.model)
    return heirs(in: setting).first { heir in
      let before =
        heir.isReversed
        ? targets.lazy.compactMap { source.relationship(named: inverse ?? "", of: $0) }.first
        : source.relationship(named: relationship, of: owner)
      return before?.isToMany == true
        && destination.relationship(named: heir.relationship, of: heir.entity)?.isToMany == false
    }
  }
}

extension RowRunSetting {
  func heirs(of relationship: String, from sources: [String], isReversed: Bool) -> [CandidateLinks.Heir] {
    var found: [CandidateLinks.Heir] = []
    for entity in mapping.entityMappings where entity.sourceEntityName.map(sources.contains) ?? false {
      guard let name = entity.destinationEntityName else { continue }
      for property in entity.relationshipMappings where property.sourceRelationshipName == relationship {
        let heir = CandidateLinks.Heir(entity: name, relationship: property.name, isReversed: isReversed)
        if destination.storage(ofRelationship: property.name, in: name) != nil, !found.contains(heir) {
          found.append(heir)
        }
      }
    }
    return found
  }
}

struct FoundLinks {
  let line: Int
  /// The sets of owners and of targets whose destination objects' links code read.
  let readOwners: Int
  let readTargets: Int
}

// Links count as kept if they exist in the candidate at the end.
extension CodeAccount {
  private func ends(of links: PendingLinks) -> (own: End, other: End) {
    (End(key: "k.owner", entities: [links.owner]), End(key: "k.target", entities: links.targets))
  }

  func findLinks() throws {
    for (index, links) in setting.parts.pendingLinks.enumerated() {
      let (own, other) = ends(of: links)
      // A relationship that code read of all objects is no loss.
      guard try isRead(links.relationship, of: own) != nil,
        try links.inverse == nil || isRead(links.inverse ?? "", of: other) != nil
      else { continue }
      foundLinks[index] = try find(
        CandidateLinks.Search(owner: links.owner, targets: links.targets, heirs: links.heirs(in: setting)),
        byKeys: links.narrowed(in: setting) == nil)
    }
    for (index, order) in orders.enumerated() {
      guard try isRead(order.relationship, of: End(key: "k.owner", entities: [order.owner])) != nil else { continue }
      foundOrders[index] = try find(
        CandidateLinks.Search(owner: order.owner, targets: order.targets, heirs: order.heirs), byKeys: false)
    }
  }

  private func find(_ search: CandidateLinks.Search, byKeys: Bool) throws -> FoundLinks {
    let candidate = self.candidate ?? CandidateLinks(setting: setting, associations: associations)
    self.candidate = candidate
    let found = FoundLinks(
      line: try candidate.find(search, byKeys: byKeys), readOwners: sets.add(), readTargets: sets.add())
    for heir in search.heirs {
      guard let set = undone.reads[heir.entity]?.set(of: heir.relationship) else { continue }
      let entities = (heir.isReversed ? search.targets : [search.owner]).compactMap {
        setting.source.entity(named: $0)?.number
      }
      try sets.forEachMember(of: set) { key in
        try candidate.forEachSource(found.line, of: key, in: entities, isOwner: !heir.isReversed) { source in
          sets.insert(source, into: heir.isReversed ? found.readTargets : found.readOwners)
        }
      }
    }
    return found
  }

  /// `leftOut` holds the conditions of rows without a destination object, by entity; `lost` those
  /// of rows that are already lost as whole objects.
  func unreadLinks(_ leftOut: [String: String], except lost: [String: String]) throws -> [LeftProperty] {
    var left: [LeftProperty] = []
    for (index, links) in setting.parts.pendingLinks.enumerated() {
      let (own, other) = ends(of: links)
      let parts = links.parts
      guard let candidate, let found = foundLinks[index], let read = try isRead(links.relationship, of: own),
        let readBack = try links.inverse.map({ try isRead($0, of: other) }) ?? "0"
      else { continue }
      // Links whose ends both have a destination object, but which no mapping copied.
      var gone: [String] = []
      if parts.cause != .leftOut, let taken = try isTaken(own, by: parts.ownCarriers, \.related),
        let takenBack = try isTaken(other, by: parts.otherCarriers, \.related)
      {
        gone.append("NOT \(taken) AND NOT \(takenBack)")
      }
      gone += keys(of: own, leftOut) + keys(of: other, leftOut)
      let isGone = gone.isEmpty ? "0" : "(\(gone.joined(separator: " OR ")))"
      let areMade =
        "NOT \(isGone) AND \(candidate.haveHeir(found.line, own.key, own.entities))"
        + " AND \(candidate.haveHeir(found.line, other.key, other.entities))"
      let narrowed = links.narrowed(in: setting)
      let hasNoRoom = narrowed.map {
        candidate.contain(found.line, end: $0.isReversed ? other.key : own.key, isOwner: !$0.isReversed)
      }
      var causes = [(parts.cause, isGone), (.undone, "\(areMade) AND NOT \(hasNoRoom ?? "0")")]
      // The line of the inverse, if there is one, counts the same links.
      let isTold =
        narrowed?.isReversed == true
        && setting.parts.pendingLinks.contains { $0.relationship == links.inverse && links.targets.contains($0.owner) }
      if let hasNoRoom, !isTold { causes.append((.noRoom, "\(areMade) AND \(hasNoRoom)")) }
      let given = try isGiven(parts.areOwnersTaken ? own : other, to: parts.takers)
      let unread = [
        given, "NOT \(read)", "NOT \(readBack)", "NOT \(sets.contains(own.key, in: found.readOwners))",
        "NOT \(sets.contains(other.key, in: found.readTargets))",
        "NOT \(candidate.contain(found.line, owner: own.key, target: other.key))",
      ]
      for (cause, condition) in causes where condition != "0" {
        let conditions = unread.compactMap { $0 } + keys(of: own, lost).map { "NOT \($0)" } + [condition]
        let isReversed = cause == .noRoom && narrowed?.isReversed == true
        let row = try setting.connection.rows(
          "SELECT COUNT(DISTINCT \(isReversed ? other.key : own.key)), COUNT(*) FROM (\(links.query)) AS k"
            + " WHERE \(conditions.joined(separator: " AND "))"
        ).first
        var name = (entity: links.entity, property: links.property)
        if cause == .noRoom, let narrowed {
          let owner = setting.destination.model.declaringEntity(
            ofProperty: narrowed.relationship, in: narrowed.entity)
          name = (owner?.name ?? narrowed.entity, narrowed.relationship)
        }
        left.add(
          LeftProperty(
            entity: name.entity, property: name.property, cause: cause, rows: row?[0].integer ?? 0,
            links: row?[1].integer, targets: Set(links.targets)))
      }
    }
    return left
  }

  /// An order is lost if no destination object of an owner has its links in the source's order, and
  /// code read none of them.
  func lostOrders() throws -> [LeftProperty] {
    var left: [LeftProperty] = []
    for (index, order) in orders.enumerated() {
      let own = End(key: "k.owner", entities: [order.owner])
      guard let candidate, let found = foundOrders[index], let read = try isRead(order.relationship, of: own),
        let entity = setting.source.entity(named: order.owner),
        let query = setting.source.links(of: order.relationship, in: order.owner, isReversed: false)
      else { continue }
      let owners =
        "SELECT \(quote(PhysicalName.primaryKey)) FROM \(SchemaName.rows(of: entity.table))"
        + " WHERE \(quote(PhysicalName.entity)) = \(entity.number)"
      let links = "SELECT k.owner, k.target, k.position FROM (\(query.sql)) AS k WHERE k.owner IN (\(owners))"
      let disordered =
        order.isOrdered
        ? candidate.disordered(found.line, links)
        : "SELECT k.owner FROM (\(links)) AS k WHERE \(candidate.contain(found.line, owner: "k.owner", target: "k.target"))"
          + " GROUP BY k.owner HAVING COUNT(DISTINCT k.position) > 1"
      let given = order.takers.isEmpty ? nil : try isGiven(own, to: order.takers)
      let conditions = [given, "NOT \(read)", "NOT \(sets.contains(own.key, in: found.readOwners))"]
      let rows = try setting.connection.firstInteger(
        "SELECT COUNT(*) FROM (\(disordered)) AS k WHERE \(conditions.compactMap { $0 }.joined(separator: " AND "))")
      left.add(
        LeftProperty(
          entity: order.name.entity, property: order.name.property, cause: order.isOrdered ? .otherOrder : .noOrder,
          rows: rows ?? 0))
    }
    return left
  }
}
