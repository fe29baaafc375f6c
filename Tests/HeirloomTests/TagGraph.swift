import Foundation
import Heirloom
import TestSupport

/// The tags of a store with all links to and from them, and the result that a decision about equal names must have.
///
/// It doesn't use the code that carries out decisions.
struct TagGraph: Equatable {
  struct Tag: Equatable {
    var entity: String
    var name: String?
    var memo: String?
    var date: Double?
    var size: Int64?
    var extra: String?
    var parent: Int64?
    var badge: Int64?
  }

  var tags: [Int64: Tag] = [:]
  /// Members in their order, by owner.
  var children: [Int64: [Int64]] = [:]
  var notes: [Int64: [Int64]] = [:]
  var marks: [Int64: [Int64]] = [:]
  var friends: Set<[Int64]> = []
  /// The tag that each leaf, badge or note leads to, or that leads to it.
  var leaves: [Int64: Int64] = [:]
  var badges: [Int64: Int64] = [:]
  var subs: [Int64: Int64] = [:]

  init(_ url: URL) throws {
    let connection = try Connection(reading: url, options: .inspecting)
    let names = try connection.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY")
    let entities = Dictionary(uniqueKeysWithValues: names.map { ($0[0].integer ?? 0, $0[1].text ?? "") })
    func number(_ value: SQLiteValue) -> Double? {
      switch value {
      case .integer(let number): Double(number)
      case .real(let number): number
      default: nil
      }
    }
    for row in try connection.rows(
      "SELECT Z_PK, Z_ENT, ZNAME, ZMEMO, ZDATE, ZSIZE, ZEXTRA, ZPARENT, ZBADGE FROM ZTAG")
    {
      tags[row[0].integer ?? 0] = Tag(
        entity: entities[row[1].integer ?? 0] ?? "", name: row[2].text, memo: row[3].text, date: number(row[4]),
        size: row[5].integer, extra: row[6].text, parent: row[7].integer, badge: row[8].integer)
    }
    let schema = PhysicalSchema(model: try ManagedObjectModel(entities: DataDecisionTests.graph(unique: false)))
    children = try Self.members(
      connection, "SELECT ZPARENT, Z_PK FROM ZTAG WHERE ZPARENT NOT NULL ORDER BY Z_FOK_PARENT")
    notes = try Self.members(connection, "SELECT ZTAG, Z_PK FROM ZNOTE WHERE ZTAG NOT NULL ORDER BY Z_FOK_TAG")
    if case .join(let table, let owner, let target, let order?)? = schema.storage(ofRelationship: "marks", in: "Tag") {
      marks = try Self.members(
        connection, "SELECT \(quote(owner)), \(quote(target)) FROM \(quote(table)) ORDER BY \(quote(order))")
    }
    if case .join(let table, let owner, let target, _)? = schema.storage(ofRelationship: "friends", in: "Tag") {
      friends = Set(
        try connection.rows("SELECT \(quote(owner)), \(quote(target)) FROM \(quote(table))").map {
          [$0[0].integer ?? 0, $0[1].integer ?? 0]
        })
    }
    if case .inverselessKey(let table, let column, _)? = schema.storage(ofRelationship: "loose", in: "Tag") {
      leaves = try Self.pairs(connection, "SELECT Z_PK, \(quote(column)) FROM \(quote(table))")
    }
    badges = try Self.pairs(connection, "SELECT Z_PK, ZTAG FROM ZBADGE")
    subs = try Self.pairs(connection, "SELECT Z_PK, ZSUB FROM ZNOTE")
  }

  private static func members(_ connection: Connection, _ sql: String) throws -> [Int64: [Int64]] {
    var lists: [Int64: [Int64]] = [:]
    for row in try connection.rows(sql) { lists[row[0].integer ?? 0, default: []].append(row[1].integer ?? 0) }
    return lists
  }

  private static func pairs(_ connection: Connection, _ sql: String) throws -> [Int64: Int64] {
    var pairs: [Int64: Int64] = [:]
    for row in try connection.rows(sql) { pairs[row[0].integer ?? 0] = row[1].integer }
    return pairs
  }

  /// Returns tags of equal names, each list with the newest first.
  private func groups(_ choice: DataDecision.Choice) -> [[Int64]] {
    var byDate = false
    switch choice {
    case .keepNewest(let age), .merge(let age): byDate = age == "date"
    default: break
    }
    let named = tags.filter { $0.value.name != nil }
    return Dictionary(grouping: named.keys) { named[$0]?.name ?? "" }.values.map { keys in
      keys.sorted { first, second in
        if byDate {
          let (left, right) = (tags[first]?.date ?? -.infinity, tags[second]?.date ?? -.infinity)
          if left != right { return left > right }
        }
        return first > second
      }
    }.sorted { $0[0] < $1[0] }
  }

  /// The number of tags beyond one of each name.
  var surplus: Int64 { groups(.merge()).reduce(0) { $0 + Int64($1.count) - 1 } }

  func expected(_ choice: DataDecision.Choice) -> TagGraph {
    var isMerge = false
    if case .merge = choice { isMerge = true }
    let groups = groups(choice)
    /// The fate of each tag; `nil` for one that goes.
    var fates: [Int64: Int64?] = [:]
    var places: [Int64: Int] = [:]
    for group in groups {
      for (place, key) in group.dropFirst().enumerated() {
        fates[key] = isMerge ? group[0] : Int64?.none
        places[key] = place + 1
      }
    }
    func fate(_ key: Int64) -> Int64? { fates[key] ?? key }
    func place(_ key: Int64) -> Int { places[key] ?? 0 }
    var result = self
    /// The tags that take the parent of one merged into them, by that one: they take its place as well.
    var standIns: [Int64: Int64] = [:]
    if isMerge {
      for group in groups {
        let survivor = group[0]
        // A link between objects that become one goes, unless it was one of an object to itself.
        if let parent = tags[survivor]?.parent, parent != survivor, fate(parent) == survivor {
          result.tags[survivor]?.parent = nil
        }
        for key in group.dropFirst() {
          guard var tag = result.tags[survivor], let other = tags[key] else { continue }
          tag.memo = tag.memo ?? other.memo
          tag.date = tag.date ?? other.date
          tag.size = tag.size ?? other.size
          tag.badge = tag.badge ?? other.badge
          if tag.entity == "SubTag" { tag.extra = tag.extra ?? other.extra }
          if tag.parent == nil, let parent = other.parent, parent == key || fate(parent) != survivor {
            tag.parent = parent == key ? survivor : parent
            standIns[key] = survivor
          }
          result.tags[survivor] = tag
        }
      }
    }
    for key in fates.keys { result.tags[key] = nil }
    for (key, tag) in result.tags {
      guard let parent = tag.parent, fates[parent] != nil else { continue }
      let new = fate(parent)
      result.tags[key]?.parent = new == key ? nil : new
    }
    // A child leads to a parent; the list has the parent's own children first, then those that came.
    result.children = [:]
    for owner in result.tags.keys.sorted() {
      let own = children[owner, default: []].map { standIns[$0] ?? $0 }.filter { result.tags[$0]?.parent == owner }
      var came: [(Int, Int, Int64)] = []
      for (key, tag) in result.tags where tag.parent == owner && !own.contains(key) {
        let origin = standIns.first { $0.value == key }?.key ?? key
        let former = tags[origin]?.parent ?? 0
        // A child of a merged parent has the position of the parent's removed self, if it was one.
        came.append((place(former), children[former]?.firstIndex(of: origin) ?? -1, key))
      }
      came.sort { $0 < $1 }
      let members = own + came.map(\.2)
      if !members.isEmpty { result.children[owner] = members }
    }
    result.notes = Self.united(notes, groups: groups, isMerge: isMerge)
    result.marks = Self.united(marks, groups: groups, isMerge: isMerge)
    result.friends = Set(
      friends.compactMap { pair in
        guard let first = fate(pair[0]), let second = fate(pair[1]) else { return nil }
        return first == second && pair[0] != pair[1] ? nil : [first, second]
      })
    result.leaves = leaves.compactMapValues(fate)
    result.badges = badges.filter { badge, tag in
      guard let new = fate(tag) else { return false }
      return fates[tag] == nil && !groups.contains { $0.count > 1 && $0[0] == tag } || result.tags[new]?.badge == badge
    }.compactMapValues(fate)
    result.subs = subs.compactMapValues { tag in
      guard let new = fate(tag) else { return nil }
      return tags[new]?.entity == "SubTag" ? new : nil
    }
    return result
  }

  private static func united(
    _ lists: [Int64: [Int64]], groups: [[Int64]], isMerge: Bool
  ) -> [Int64: [Int64]] {
    var result = lists
    for group in groups where group.count > 1 {
      var members = lists[group[0], default: []]
      for key in group.dropFirst() {
        if isMerge { members += lists[key, default: []].filter { !members.contains($0) } }
        result[key] = nil
      }
      result[group[0]] = members.isEmpty ? nil : members
    }
    return result
  }
}
