import Foundation
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

struct ListEditTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// The to-many relationships of a node with their inverses: by key and by pairs, ordered and not, alone and in pairs.
  private static let lists: [(name: String, inverse: String?)] = [
    ("children", "parent"), ("items", "holder"), ("loose", nil), ("bits", nil), ("uses", "sources"),
    ("before", "after"), ("left", "right"), ("friends", "friends"),
  ]

  private static func model() throws -> ManagedObjectModel {
    func list(_ name: String, _ inverse: String? = nil, ordered: Bool = false) -> RelationshipDescription {
      Make.toMany(name, "Node", inverse, ordered: ordered)
    }
    return try ManagedObjectModel(entities: [
      Make.entity(
        "Node", [Make.attribute("name", .integer64)],
        [
          list("children", "parent"), Make.toOne("parent", "Node", "children"),
          list("items", "holder", ordered: true), Make.toOne("holder", "Node", "items"),
          list("loose"), list("bits", ordered: true), list("uses", "sources"), list("sources", "uses"),
          list("before", "after", ordered: true), list("after", "before"), list("left", "right", ordered: true),
          list("right", "left", ordered: true), list("friends", "friends"),
        ]),
      Make.entity("Leaf", parent: "Node"), Make.entity("Other"),
    ])
  }

  private func context(_ name: String) throws -> ManagedObjectContext {
    ManagedObjectContext(store: try PersistentStore.create(at: directory.file(name), model: try Self.model()))
  }

  private func full(_ context: ManagedObjectContext, _ name: String) throws -> ManagedObject {
    let owner = try context.insert("Node")
    owner[toMany: name] = try (0..<20).map { _ in try context.insert("Node") }
    try context.save()
    return owner
  }

  // MARK: The same as setting the whole list

  /// A store with its nodes, whose lists are edited in one of two ways.
  private final class Side {
    let url: URL
    let isInPlace: Bool
    var context: ManagedObjectContext
    var nodes: [ManagedObject] = []
    /// Those that the last edit found.
    var found: [Int?] = []
    /// The error that the next save is to throw.
    private var error: ManagedObjectError?

    init(_ url: URL, isInPlace: Bool) throws {
      (self.url, self.isInPlace) = (url, isInPlace)
      context = ManagedObjectContext(store: try PersistentStore.create(at: url, model: try ListEditTests.model()))
    }

    func attempt<Value>(_ body: () throws -> Value) -> Value? {
      do {
        return try body()
      } catch {
        self.error = self.error ?? error as? ManagedObjectError
        return nil
      }
    }

    func edit(_ owner: ManagedObject, _ name: String, _ change: (inout [ManagedObject]) -> Void) {
      func body(_ list: inout [ManagedObject]) {
        found = labels(list)
        change(&list)
      }
      if isInPlace { return body(&owner[toMany: name]) }
      var list = attempt { try owner.objects(forRelationship: name) } ?? []
      body(&list)
      attempt { try owner.setObjects(list, forRelationship: name) }
    }

    func save() -> ManagedObjectError? {
      if let error {
        self.error = nil
        return error
      }
      do throws(ManagedObjectError) {
        try context.save()
        return nil
      } catch {
        return error
      }
    }

    func rollback() {
      error = nil
      context.rollback()
    }

    func append(_ object: ManagedObject, to owner: ManagedObject, _ name: String, reopens: Bool) throws {
      let store = reopens ? try PersistentStore.open(at: url, model: try ListEditTests.model()) : context.store
      let other = ManagedObjectContext(store: store)
      guard let id = owner.objectID, let objectID = object.objectID, let owner = try other.object(with: id),
        let object = try other.object(with: objectID)
      else { return }
      try owner.setObjects(try owner.objects(forRelationship: name) + [object], forRelationship: name)
      try other.save()
    }

    func labels(_ objects: [ManagedObject]) -> [Int?] {
      let labels = Dictionary(uniqueKeysWithValues: zip(nodes, 0...))
      return objects.map { labels[$0] }
    }

    func rows() throws -> [String: [[SQLiteValue]]] {
      let names = try context.store.connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
      var rows: [String: [[SQLiteValue]]] = [:]
      for name in names.compactMap({ $0[0].text }) where name != "Z_METADATA" && name != "Z_MODELCACHE" {
        rows[name] = try context.store.connection.rows("SELECT * FROM \"\(name)\" ORDER BY 1, 2")
      }
      return rows
    }
  }

  @Test(arguments: 0..<LongTests.count(quick: 12, long: 32))
  func `edits in place are what setting the whole list is`(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let sides = [
      try Side(directory.file("A.sqlite"), isInPlace: true), try Side(directory.file("B.sqlite"), isInPlace: false),
    ]
    // Two relationships take turns, one of them by the seed.
    let lists = [Self.lists[seed % Self.lists.count], Self.lists[random.below(Self.lists.count)]]
    for side in sides {
      for index in 0..<40 { side.nodes.append(try side.context.insert(index % 5 == 0 ? "Leaf" : "Node")) }
      side.edit(side.nodes[0], lists[0].name) { $0 = Array(side.nodes[2..<20]) }
      side.edit(side.nodes[1], lists[0].name) { $0 = Array(side.nodes[20..<38]) }
    }
    func compare(_ step: Int) throws {
      for (name, inverse) in lists {
        for name in [name, inverse].compactMap({ $0 }) {
          for index in sides[0].nodes.indices where !sides[0].nodes[index].isDeleted {
            let found = try sides.map { side in
              side.labels(try side.nodes[index].relatedObjects(byRelationship: name))
            }
            try #require(found[0] == found[1], "seed \(seed), step \(step): \(name) of \(index)")
          }
        }
      }
    }
    func sentence(_ error: ManagedObjectError?) -> String? {
      error?.cause.replacing(/x-coredata:..[-0-9A-F]+/, with: "")
    }
    for step in 0..<200 {
      let list = lists[random.below(3) / 2]
      let (owner, index, kind) = (random.below(2), random.below(sides[0].nodes.count), random.below(100))
      let (place, count) = (random.below(40), 1 + random.below(3))
      var errors: [ManagedObjectError?] = []
      for side in sides {
        let (owner, object) = (side.nodes[owner], side.nodes[index])
        func edit(_ body: (inout [ManagedObject]) -> Void) { side.edit(owner, list.name, body) }
        switch kind {
        case 0..<40:
          side.nodes.append(try side.context.insert(kind == 0 ? "Leaf" : "Node"))
          edit { $0.append(side.nodes[side.nodes.count - 1]) }
        case 40..<58: edit { $0.append(object) }
        case 58..<62: edit { $0 += (0..<count).map { side.nodes[(index + $0) % side.nodes.count] } }
        case 62..<65: edit { $0.insert(object, at: min(place, $0.count)) }
        case 65..<69: edit { if place < $0.count { $0.remove(at: place) } }
        case 69: edit { $0 = Array(side.nodes[min(index, 20)..<min(index, 20) + 18]) }
        case 70: edit { $0.reverse() }
        case 71..<73: edit { if $0.count > 1 { $0.swapAt(place % $0.count, $0.count - 1) } }
        case 73: edit { if !$0.isEmpty { $0[place % $0.count] = object } }
        case 74: edit { _ in }
        case 75..<80:
          guard let inverse = list.inverse else { continue }
          if object.isDeleted { continue }
          if side.context.store.model.relationship(named: inverse, of: "Node")?.isToMany == true {
            side.edit(object, inverse) { $0.append(owner) }
          } else {
            side.attempt { try object.setObject(place < 30 ? owner : nil, forRelationship: inverse) }
          }
        case 80..<82:
          if index > 1, !object.isDeleted { side.attempt { try side.context.delete(object) } }
        case 82..<88:
          errors.append(side.save())
          if errors.last != .some(nil) { side.rollback() }
        case 88: side.rollback()
        case 89..<92: _ = try? side.context.fetch(ObjectFetchRequest("Node"))
        case 92: edit { $0.append((try? side.context.insert("Other")) ?? object) }
        case 93..<97:
          guard !owner.isDeleted, !object.isDeleted, !owner.hasChanges, !object.hasChanges else { continue }
          try side.append(object, to: owner, list.name, reopens: place < 20)
        default:
          // All objects anew.
          errors.append(side.save())
          if errors.last != .some(nil) { side.rollback() }
          side.context = ManagedObjectContext(
            store: try PersistentStore.open(at: side.url, model: try Self.model()))
          side.nodes = try side.context.fetch("Node")
        }
      }
      try #require(sides[0].found == sides[1].found, "seed \(seed), step \(step)")
      if let first = errors.first { try #require(sentence(first) == sentence(errors[1]), "seed \(seed), step \(step)") }
      if kind >= 82 {
        try #require(try sides[0].rows() == sides[1].rows(), "seed \(seed), step \(step)")
      }
      if sides[0].nodes[0].isDeleted || sides[0].nodes[1].isDeleted || sides[0].nodes.count < 25 { break }
      if kind == 74 || kind >= 96 { try compare(step) }
    }
    try compare(200)
  }

  // MARK: Work

  private final class Counter {
    var steps = 0
  }

  /// Counts the members that are read and SQLite's steps while objects are appended.
  private func work(
    _ count: Int, _ name: String, saved: Bool, in file: String
  ) throws -> (members: Int, steps: Int, saving: Int) {
    let context = try context(file)
    let owners = [try full(context, name), try full(context, name)]
    let objects = try (0..<count).map { _ in try context.insert("Node") }
    if saved { try context.save() }
    let counter = Counter()
    try context.store.connection.interrupt(every: 1) {
      counter.steps += 1
      return false
    }
    let members = context.membersRead
    // Saved objects may be another list's, so that two lists can't stay open in turns.
    for (index, object) in objects.enumerated() {
      owners[saved ? index * 2 / count : index % 2][toMany: name].append(object)
      object["name"] = .integer(Int64(index))
    }
    let (read, steps) = (context.membersRead - members, counter.steps)
    try context.save()
    let saving = counter.steps - steps
    #expect(Set(owners.flatMap { $0[toMany: name] }).isSuperset(of: objects))
    #expect(owners.reduce(0) { $0 + $1[toMany: name].count } == 40 + count)
    return (read, steps, saving)
  }

  @Test(arguments: lists.map(\.name), [false, true])
  func `appending takes as long for each object, however long the list is`(name: String, saved: Bool) throws {
    let few = try work(100, name, saved: saved, in: "Few.sqlite")
    let many = try work(400, name, saved: saved, in: "Many.sqlite")
    #expect(many.members == few.members)
    #expect(Double(many.steps) < 4.4 * Double(few.steps))
    #expect(Double(many.saving) < 4.4 * Double(few.saving))
  }

  // MARK: What else happens

  @Test(arguments: lists.map(\.name))
  func `an edit that changes more than the end of an open list is not lost`(name: String) throws {
    let context = try context("A.sqlite")
    let owner = try full(context, name)
    var expected = owner[toMany: name]
    func added() throws -> ManagedObject { try context.insert("Node") }
    func edit(_ body: (inout [ManagedObject]) -> Void) {
      body(&owner[toMany: name])
      body(&expected)
    }
    let (first, second, third) = (try added(), try added(), try added())
    let gone = expected[3]
    edit { $0.append(first) }
    edit {
      $0[3] = second
      $0.append(third)
    }
    try context.save()
    let isOrdered = context.store.model.relationship(named: name, of: "Node")?.isOrdered == true
    #expect(Set(owner[toMany: name]) == Set(expected))
    if isOrdered { #expect(owner[toMany: name] == expected) }
    #expect(!owner[toMany: name].contains(gone))
  }

  @Test func `an edit that throws or that looks at the list itself leaves what it did`() throws {
    struct Stop: Error {}
    let context = try context("A.sqlite")
    let owner = try full(context, "children")
    let added = try (0..<4).map { _ in try context.insert("Node") }
    func stop(_ list: inout [ManagedObject]) throws {
      list.append(added[1])
      throw Stop()
    }
    owner[toMany: "children"].append(added[0])
    #expect(throws: Stop.self) { try stop(&owner[toMany: "children"]) }
    func look(_ list: inout [ManagedObject]) {
      list.append(added[2])
      // The outer edit sets its own list, without this object.
      owner[toMany: "children"].append(added[3])
    }
    look(&owner[toMany: "children"])
    #expect(Array(owner[toMany: "children"].suffix(3)) == Array(added[...2]))
    #expect(added[3][toOne: "parent"] == nil)
  }

  @Test func `what was changed before the end of an open list shows from the other side`() throws {
    let context = try context("A.sqlite")
    let owner = try full(context, "children")
    let added = try (0..<3).map { _ in try context.insert("Node") }
    func change(_ list: inout [ManagedObject]) {
      list[3] = added[1]
      list.append(added[2])
    }
    owner[toMany: "children"].append(added[0])
    change(&owner[toMany: "children"])
    #expect(added[1][toOne: "parent"] === owner)
  }

  @Test func `open lists of both sides tell the same`() throws {
    let context = try context("A.sqlite")
    let (user, source) = (try full(context, "uses"), try full(context, "sources"))
    user[toMany: "uses"].append(try context.insert("Node"))
    source[toMany: "sources"].append(try context.insert("Node"))
    user[toMany: "uses"].append(source)
    source[toMany: "sources"].removeFirst()
    #expect(user[toMany: "uses"].contains(source))
    #expect(source[toMany: "sources"].count == 21)
  }

  @Test func `an open list doesn't keep an object that was deleted`() throws {
    // Nothing leads to a note's own notes, so that deleting one looks at no list of this kind.
    let context = ManagedObjectContext(
      store: try PersistentStore.create(at: directory.file("A.sqlite"), model: try Models.everything()))
    let owner = try context.insert("Person")
    owner[toMany: "notes"] = try (0..<20).map { _ in try context.insert("Note") }
    try context.save()
    let gone = owner[toMany: "notes"][5]
    owner[toMany: "notes"].append(try context.insert("Note"))
    try context.delete(gone)
    owner[toMany: "notes"].removeFirst()
    try context.save()
    #expect(owner[toMany: "notes"].count == 19)
  }

  @Test func `a link that comes back is where the store has it`() throws {
    let context = try context("A.sqlite")
    let owner = try full(context, "uses")
    let first = owner[toMany: "uses"].removeFirst()
    owner[toMany: "uses"].append(first)
    owner[toMany: "uses"].append(try context.insert("Node"))
    func look(_ list: inout [ManagedObject]) { #expect(list.first === first) }
    look(&owner[toMany: "uses"])
  }

  @Test func `members with equal places get different ones`() throws {
    let context = try context("A.sqlite")
    let owner = try full(context, "items")
    try context.store.connection.execute("UPDATE ZNODE SET Z_FOK_HOLDER = 4096 WHERE ZHOLDER NOT NULL")
    let added = try (0..<2).map { _ in try context.insert("Node") }
    for object in added { owner[toMany: "items"].append(object) }
    try context.save()
    #expect(
      try context.store.connection.rows("SELECT COUNT(DISTINCT Z_FOK_HOLDER) FROM ZNODE WHERE ZHOLDER NOT NULL")
        == [[.integer(22)]])
    #expect(Array(owner[toMany: "items"].suffix(2)) == added)
  }

  @Test(arguments: [false, true])
  func `an object that others appended meanwhile stays`(reopens: Bool) throws {
    let context = try context("A.sqlite")
    let owner = try full(context, "items")
    let (first, second) = (try context.insert("Node"), try context.insert("Node"))
    try context.save()
    owner[toMany: "items"].append(first)
    let store =
      reopens
      ? try PersistentStore.open(at: directory.file("A.sqlite"), model: try Self.model()) : context.store
    let other = ManagedObjectContext(store: store)
    let id = try #require(second.objectID)
    let same = try #require(try other.object(with: id))
    same[toOne: "holder"] = try other.object(with: try #require(owner.objectID))
    try other.save()
    owner[toMany: "items"].removeFirst()
    #expect(owner[toMany: "items"].contains(second))
    #expect(owner[toMany: "items"].count == 21)
  }

  @Test func `a context with an open list is released once changes are ended`() throws {
    weak var released: ManagedObjectContext?
    do {
      let context = try context("A.sqlite")
      let owner = try full(context, "children")
      owner[toMany: "children"].append(try context.insert("Node"))
      released = context
      context.rollback()
      #expect(owner[toMany: "children"].count == 20)
    }
    #expect(released == nil)
  }
}
