import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension StoreAccount {
  func links() throws -> [Line] {
    let allHeirs = linkSides.map { _, sides in sides.map { crossing.heirs(of: $0[1], from: $0[0]) } }
    let continued = Set(allHeirs.joined().joined())
    return try zip(linkSides, allHeirs).compactMap { side, heirs in
      let (relationship, sides) = side
      let dropped = dropped(sides)
      guard let counts = try count(relationship, of: sides, besides: dropped?.query) else { return nil }
      // A side that only the destination has may have no room for the links either.
      let added = heirs.joined().compactMap(crossing.destinationInverse).filter { !continued.contains($0) }
      let withoutRoom = try linksWithoutRoom(in: heirs.joined() + added)
      var code = sources.account.pendingLinks.filter { open in
        sides.contains { open.relationship == $0[1] && source.model.isEntity(open.owner, kindOf: $0[0]) }
      }.flatMap(\.parts.takers)
      let places = heirs.first { !$0.isEmpty } ?? []
      // An expression may read the linked objects without keeping the link.
      if code.isEmpty, places.isEmpty {
        code = sides.flatMap { side in
          source.model.entityTree(from: side[0]).flatMap { crossing.flows(of: $0.name) }.filter { $0.reads(side[1]) }
        }.map(\.mapping)
      }
      return line(
        .links, sides[0].joined(separator: "."), property: sides.dropFirst().first?.joined(separator: "."),
        count: counts.all,
        of: sides.map { .links(entity: $0[0], relationship: $0[1]) }
          + (heirs.joined() + added).map { .linksInto(entity: $0[0], relationship: $0[1]) },
        dropped: try [dropped.map(lost), withoutRoom.part].compactMap(\.self), besides: withoutRoom.entries,
        atRemoved: counts.atRemoved, withObjects: counts.withObjects,
        rest: code.isEmpty
          ? part(.carried, places.map { $0.joined(separator: ".") }) : part(.code, Set(code).ordered()))
    }
  }

  /// If the two sides continue as relationships that aren't each other's inverses, in objects of
  /// all entities, each has a line of its own: both keep the links, or as many as they have room
  /// for.
  static func linkSides(of crossing: Crossing) -> [(RelationshipDescription, sides: [[String]])] {
    let model = crossing.source.model
    var told: Set<[String]> = []
    var found: [(RelationshipDescription, sides: [[String]])] = []
    for entity in model.entities {
      for relationship in entity.relationships
      where !relationship.isTransient && !told.contains([entity.name, relationship.name]) {
        var sides = [[entity.name, relationship.name]]
        if let inverse = model.storedInverse(of: relationship) {
          let side = [inverse.entity.name, inverse.relationship.name]
          if side != sides[0], !crossing.separates(sides[0], side) {
            told.insert(side)
            sides.append(side)
          }
        }
        found.append((relationship, sides))
      }
    }
    return found
  }

  func dropped(_ sides: [[String]]) -> (query: String, reason: String)? {
    var queries: [String] = []
    var reason: String?
    for counted in sources.entries {
      let key = counted.entry.subject.key
      guard let place = sides.firstIndex(where: { Subject.links(entity: $0[0], relationship: $0[1]).key == key }) else {
        continue
      }
      let ends = place == 0 ? "owner, target" : "target, owner"
      queries += counted.entry.links.map { "SELECT \(ends) FROM (\($0))" }
      if !counted.entry.links.isEmpty { reason = reason ?? counted.entry.cause.reason }
    }
    return reason.map { (queries.joined(separator: " UNION "), $0) }
  }

  /// For a one-to-one relationship of which entries of both sides count links without room.
  ///
  /// Each entry counts the objects with too many links, and a link may be one too many at both its
  /// ends. So the links are gathered as a run does it.
  private func linksWithoutRoom(in heirs: [[String]]) throws -> (part: Line.Part?, entries: [Entry]) {
    for heir in heirs {
      guard let inverse = crossing.destinationInverse(of: heir), inverse != heir, heirs.contains(inverse),
        let relationship = crossing.destination.model.relationship(named: heir[1], of: heir[0])
      else { continue }
      let entries = [heir, inverse].compactMap { side in
        let key = Subject.linksInto(entity: side[0], relationship: side[1]).key
        return sources.entries.first {
          $0.entry.subject.key == key && $0.entry.cause.isOfRoom && ($0.links ?? 0) > 0
        }?.entry
      }
      // A plan with decisions has made its own tables already.
      var tables = LinkTables(prefix: "heirloom_counted_links_")
      guard entries.count == 2,
        let pairs = tables.pairs(of: relationship, declaredBy: heir[0], in: crossing)?.table
      else { continue }
      for step in tables.steps {
        for statement in step.statements { try connection.execute(statement.sql) }
      }
      let (all, kept) = (
        try connection.firstInteger("SELECT COUNT(*) FROM (SELECT DISTINCT owner, target FROM (\(pairs.query)))") ?? 0,
        try connection.firstInteger("SELECT COUNT(*) FROM temp.\(quote(pairs.name))") ?? 0
      )
      try connection.execute("DROP TABLE temp.\(quote(pairs.name))")
      let reason = entries[0].cause.reason
      return (Line.Part(fate: .lost, count: all - kept, places: [], reason: reason), entries)
    }
    return (nil, [])
  }

  func lost(_ dropped: (query: String, reason: String)) throws(SQLiteError) -> Line.Part {
    let count = try connection.firstInteger("SELECT COUNT(*) FROM (\(dropped.query))")
    return Line.Part(fate: .lost, count: count ?? 0, places: [], reason: dropped.reason)
  }

  /// If only one end of a link is dropped, the relationship of the kept object reports it, if that
  /// has one; links of the query `dropped` don't count as `atRemoved`.
  func count(
    _ relationship: RelationshipDescription, of sides: [[String]], besides dropped: String?
  ) throws -> (all: Int64, withObjects: Int64, atRemoved: Int64)? {
    let lines = LinkLines(crossing, taken: sources.account.taken)
    guard let links = lines.links(of: relationship, declaredBy: sides[0][0]),
      let owners = source.table(ofEntity: links.ownerRoot)?.name,
      let targets = source.table(ofEntity: links.targetRoot)?.name
    else { return nil }
    func isAmong(_ end: String, _ table: String, where condition: String = "1") -> String {
      "k.\(end) IN (SELECT s.\(quote(PhysicalName.primaryKey)) FROM \(SchemaName.rows(of: table, as: "s"))"
        + " WHERE \(condition))"
    }
    var going = isAmong("owner", owners, where: any(in: owners) { [isUntaken($0)] })
    let inverse = source.model.storedInverse(of: relationship).map { [$0.entity.name, $0.relationship.name] }
    if let inverse, sides.contains(inverse) {
      going += " AND " + isAmong("target", targets, where: any(in: targets) { [isUntaken($0)] })
    }
    let removed = [("owner", owners), ("target", targets)].map { end, table in
      isAmong(end, table, where: any(in: table) { [isRemoved($0)] })
    }
    let isOther = dropped.map { " AND (k.owner, k.target) NOT IN (\($0))" } ?? ""
    let counts = try connection.rows(
      "SELECT COUNT(*), COUNT(CASE WHEN \(going) THEN 1 END),"
        + " COUNT(CASE WHEN (\(removed.chained(by: "OR")))\(isOther) THEN 1 END)"
        + " FROM (\(links.sql)) AS k WHERE \(isAmong("owner", owners)) AND \(isAmong("target", targets))"
    ).first
    return (counts?[0].integer ?? 0, counts?[1].integer ?? 0, counts?[2].integer ?? 0)
  }
}

extension Crossing {
  /// Each as entity and name.
  func heirs(of relationship: String, from entity: String) -> [[String]] {
    var heirs: [[String]] = []
    for name in source.model.entityTree(from: entity).map(\.name) {
      for taker in flows(of: name) {
        for heir in taker.heirs[relationship] ?? [] where !heirs.contains(heir) { heirs.append(heir) }
      }
    }
    return heirs
  }

  /// True if the sides continue as relationships with links of their own.
  fileprivate func separates(_ one: [String], _ other: [String]) -> Bool {
    let heirs = [one, other].map { self.heirs(of: $0[1], from: $0[0]) }
    // Where only some entities keep a side, the other side reports its lost links.
    let isEverywhere = [one, other].allSatisfy { side in
      source.model.entityTree(from: side[0]).flatMap { flows(of: $0.name) }.allSatisfy { $0.heirs[side[1]] != nil }
    }
    guard isEverywhere, !heirs[0].isEmpty, !heirs[1].isEmpty else { return false }
    return !heirs[0].contains { heir in destinationInverse(of: heir).map(heirs[1].contains) ?? false }
  }

  /// As entity and name.
  fileprivate func destinationInverse(of side: [String]) -> [String]? {
    guard let relationship = destination.model.relationship(named: side[1], of: side[0]) else { return nil }
    return destination.model.storedInverse(of: relationship).map { [$0.entity.name, $0.relationship.name] }
  }
}
