/// The objects of a candidate that continue those of a source.
struct ObjectMoves {
  private let heirs: [ObjectKey: ObjectKey]

  /// Finds each object's heir: of the entity that continues its own, with its own key.
  ///
  /// Where tables become one, the keys of each are higher by one number; that which leaves fewest without an heir.
  init(_ matching: Matching, _ before: Objects, _ after: Objects) {
    var groups: [[String]: [(object: ObjectKey, heirEntity: String)]] = [:]
    for (table, entities) in before.entities {
      for (key, entity) in entities {
        guard let heirEntity = matching.entities[entity], let heirTable = matching.destination.tables[heirEntity] else {
          continue
        }
        groups[[table, heirTable], default: []].append((ObjectKey(table: table, key: key), heirEntity))
      }
    }
    var heirs: [ObjectKey: ObjectKey] = [:]
    for (tables, moves) in groups {
      let there = after.entities[tables[1], default: [:]]
      func found(_ offset: Int64) -> Int {
        moves.count { there[$0.object.key &+ offset] == $0.heirEntity }
      }
      var best = (offset: Int64(0), found: found(0))
      if best.found < moves.count {
        for start in moves.sorted(by: { $0.object < $1.object }).prefix(3) {
          for key in there.keys.sorted() where there[key] == start.heirEntity {
            let offset = key &- start.object.key
            let count = found(offset)
            if count > best.found { best = (offset, count) }
            if count == moves.count { break }
          }
        }
      }
      for (object, heirEntity) in moves {
        let heir = ObjectKey(table: tables[1], key: object.key &+ best.offset)
        if there[heir.key] == heirEntity { heirs[object] = heir }
      }
    }
    self.heirs = heirs
  }

  /// Finds each heir by a number that only one object has, whatever keys code has given.
  init(
    _ matching: Matching, _ before: Objects, _ after: Objects, marks: [ObjectKey: Cell], heirMarks: [ObjectKey: Cell]
  ) {
    let objects = Dictionary(heirMarks.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    heirs = marks.compactMapValues { objects[$0] }.filter { object, heir in
      before.entity(object).flatMap { matching.entities[$0] } == after.entity(heir)
    }
  }

  subscript(object: ObjectKey) -> ObjectKey? { heirs[object] }

  var count: Int { heirs.count }

  /// Returns `nil` if either object has no heir.
  subscript(link: Link) -> Link? {
    guard let owner = heirs[link.owner], let target = heirs[link.target] else { return nil }
    return Link(owner: owner, target: target)
  }
}
