import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Places in ordered lists of links of objects of other entities than their relationship joins.
struct StrayPlaceTests {
  enum Storage: CaseIterable, Sendable {
    case key, pairs, inverselessKey
  }

  /// A next version of a model of fruit in boxes, of which only apples are linked, with crates alone.
  enum Release: CaseIterable, Sendable {
    case renumbered, renamed, unordered, ownerMovedUp, ownerMovedUpUnordered, movedUp, movedUpUnordered
    case joined, joinedUnordered, single, singleUnordered, separated, separatedUnordered, turned

    var isUnordered: Bool { self == .turned || "\(self)".lowercased().hasSuffix("unordered") }
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let storage: Storage
    let release: Release
    var testDescription: String { "\(storage), \(release)" }
  }

  private static let cases = Storage.allCases.flatMap { storage in
    Release.allCases.compactMap { release -> Case? in
      switch release {
      case .joined where storage == .pairs, .joinedUnordered where storage == .pairs: nil
      case .turned where storage != .pairs: nil
      case .single where storage == .key, .singleUnordered where storage == .key: nil
      case .separated where storage != .key, .separatedUnordered where storage != .key: nil
      default: Case(storage: storage, release: release)
      }
    }
  }

  private static func model(_ storage: Storage, _ release: Release?) throws -> ManagedObjectModel {
    let title = Make.attribute("title")
    let (box, apples) = release == .renamed ? ("holder", "contents") : ("box", "apples")
    let isFruitUp = [.ownerMovedUp, .ownerMovedUpUnordered, .movedUp, .movedUpUnordered, .turned].contains(release)
    let isBoxUp = [.movedUp, .movedUpUnordered, .turned].contains(release)
    let (fruitEntity, boxEntity) = (isFruitUp ? "Fruit" : "Apple", isBoxUp ? "Box" : "Crate")
    let isJoined = [.joined, .joinedUnordered].contains(release)
    let isSingle = [.single, .singleUnordered].contains(release)
    let isSeparated = [.separated, .separatedUnordered].contains(release)
    var fruitSide =
      isJoined || storage == .pairs && !isSingle
      ? Make.toMany(box, boxEntity, apples, ordered: release == .turned)
      : Make.toOne(box, boxEntity, isSeparated ? nil : apples)
    var boxSide = Make.toMany(
      apples, fruitEntity, isSeparated ? nil : box, ordered: !(release?.isUnordered ?? false))
    if release == .renamed { (fruitSide.renamingIdentifier, boxSide.renamingIdentifier) = ("box", "apples") }
    var ofFruit = [fruitSide]
    if storage == .inverselessKey, !isJoined, !isSingle {
      ofFruit = []
      boxSide.inverseRelationship = nil
    }
    var entities = [
      Make.entity("Fruit", [title], isFruitUp ? ofFruit : []), Make.entity("Box", [title], isBoxUp ? [boxSide] : []),
      Make.entity("Apple", [], isFruitUp ? [] : ofFruit, parent: "Fruit"), Make.entity("Pear", [], parent: "Fruit"),
      Make.entity("Crate", [], isBoxUp ? [] : [boxSide], parent: "Box"), Make.entity("Bin", [], parent: "Box"),
    ]
    if release == .renumbered { entities.append(Make.entity("AAAdded", [title])) }
    return try ManagedObjectModel(entities: entities)
  }

  /// The numbers of the apples in each crate's list.
  private static let lists = [[2, 0, 1], [5, 3, 4], [7, 6, 8], [9], [10]]

  /// Makes a store with these lists, in one of which an apple becomes a pear, while the crate of another becomes a bin.
  ///
  /// The same happens to two lists of one apple.
  private static func fill(_ url: URL, _ model: ManagedObjectModel) throws {
    let store = try PersistentStore.create(at: url, model: model)
    let context = ManagedObjectContext(store: store)
    for (number, list) in lists.enumerated() {
      let crate = try context.insert("Crate")
      try crate.set("box \(number)", for: "title")
      crate[toMany: "apples"] = try list.map { number in
        let apple = try context.insert("Apple")
        try apple.set("fruit \(number)", for: "title")
        return apple
      }
    }
    try context.save()
    try store.close()
    let plain = try Connection(path: url.path, mode: .readWrite)
    for (table, entity, titles) in [
      ("ZFRUIT", "Pear", "'fruit 3', 'fruit 10'"), ("ZBOX", "Bin", "'box 2', 'box 3'"),
    ] {
      try plain.execute(
        "UPDATE \(table) SET Z_ENT = (SELECT k.Z_ENT FROM Z_PRIMARYKEY AS k WHERE k.Z_NAME = '\(entity)')"
          + " WHERE ZTITLE IN (\(titles))")
    }
    try plain.close()
  }

  /// Returns the fruit in the list of each box, by plain SQL: those whose place is beside their link.
  private static func places(_ url: URL) throws -> [String: [String]] {
    let plain = try Connection(reading: url)
    var lists: [String: [String]] = [:]
    for table in try plain.rows("SELECT name FROM sqlite_schema WHERE type = 'table'").compactMap({ $0[0].text }) {
      let columns = try plain.rows("SELECT name FROM pragma_table_info('\(table)')").compactMap { $0[0].text }
      // (Those among the boxes of one fruit are others.)
      for order in columns where order.hasPrefix("Z_FOK_") && (table == "ZFRUIT" || !order.hasSuffix("BOX")) {
        let name = order.dropFirst(6)
        let sql: String
        if table == "ZFRUIT" {
          sql = "SELECT ZFRUIT.ZTITLE, ZBOX.ZTITLE FROM ZFRUIT JOIN ZBOX ON ZBOX.Z_PK = ZFRUIT.Z\(name)"
        } else {
          // The other key of the row is the box's.
          let box = try #require(columns.first { $0 != "Z_\(name)" })
          sql =
            "SELECT ZFRUIT.ZTITLE, ZBOX.ZTITLE FROM \(table) AS j JOIN ZFRUIT ON ZFRUIT.Z_PK = j.Z_\(name)"
            + " JOIN ZBOX ON ZBOX.Z_PK = j.\(box)"
        }
        for row in try plain.rows("\(sql) WHERE \(order) IS NOT NULL ORDER BY \(order)") {
          lists[row[1].text ?? "", default: []].append(row[0].text ?? "")
        }
      }
    }
    return lists
  }

  @Test(arguments: cases, [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `places of links that their relationship does not join are there or told, and kept`(
    test: Case, builder: BuilderChoice
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Fruit.sqlite")
    let before = try Self.model(test.storage, nil)
    try Self.fill(url, before)
    let stored = try Self.places(url)
    #expect(stored.count == 5)
    #expect(stored["box 1"] == ["fruit 5", "fruit 3", "fruit 4"])
    let (assistant, report) = try StrayLinkTests.migrate(
      url, from: before, to: Self.model(test.storage, test.release), by: builder)
    let (there, links) = (try Self.places(url), try StrayLinkTests.links(url))
    var lost = 0
    for (box, list) in stored {
      // The order of those that have a place is the same.
      #expect(there[box, default: []] == list.filter { there[box, default: []].contains($0) })
      guard list.count > 1 else { continue }
      let strays = box == "box 2" ? list : list.filter { $0 == "fruit 3" }
      lost += strays.count { links.contains("\($0) in \(box)") && !there[box, default: []].contains($0) }
    }
    let told = report.plan.losses.filter { $0.kind == .unknownContent && $0.reason.contains(" has an order ") }
    #expect(told.reduce(0) { $0 + $1.rows } == Int64(lost), "\(told), \(there), \(links.sorted())")
    #expect(told.allSatisfy { $0.entity == "Crate" && $0.property == "apples" })
    let mustLose = test.storage == .key && [.unordered, .separated].contains(test.release) || test.release == .turned
    if mustLose { #expect(lost > 0) }
    guard lost > 0 else { return }
    let kept = try #require(try assistant.archive.previousVersions().first)
    #expect(kept.isPinned)
    #expect(try Self.places(kept.storeURL) == stored)
  }
}
