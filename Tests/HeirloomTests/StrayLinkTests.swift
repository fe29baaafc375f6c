import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Links of objects of other entities than their relationship joins: another program changed the entity.
struct StrayLinkTests {
  enum Storage: CaseIterable, Sendable {
    case key, keyWithEntity, keyOfBoth, pairs, inverselessKey

    var isKey: Bool { [.key, .keyWithEntity, .keyOfBoth].contains(self) }
  }

  /// A next version of a model of fruit in boxes, of which only apples are linked, with crates alone.
  enum Release: CaseIterable, Sendable {
    case renumbered, renamed, required, dropped, movedUp, ownerMovedUp, targetMovedUp, joined, single
    case pearsMovedOut, binsMovedOut, withoutPears, withoutBins, withoutCrates
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let storage: Storage
    let release: Release
    var testDescription: String { "\(storage), \(release)" }
  }

  private static let cases = Storage.allCases.flatMap { storage in
    Release.allCases.compactMap { release -> Case? in
      switch release {
      case .required where !storage.isKey, .joined where storage == .pairs, .single where storage != .pairs: nil
      default: Case(storage: storage, release: release)
      }
    }
  }

  private static func model(_ storage: Storage, _ release: Release?) throws -> ManagedObjectModel {
    let title = Make.attribute("title")
    let isRenamed = release == .renamed
    let (box, apples) = isRenamed ? ("holder", "contents") : ("box", "apples")
    let isFruitUp = [.movedUp, .ownerMovedUp].contains(release)
    let isBoxUp = [.movedUp, .targetMovedUp].contains(release)
    let (fruitEntity, boxEntity) = (isFruitUp ? "Fruit" : "Apple", isBoxUp ? "Box" : "Crate")
    let isOneBox = storage.isKey || release == .single
    let isOneApple = storage == .keyOfBoth
    var fruitSide =
      isOneBox && release != .joined
      ? Make.toOne(box, boxEntity, apples, optional: release != .required) : Make.toMany(box, boxEntity, apples)
    var boxSide =
      isOneApple && release != .joined
      ? Make.toOne(apples, fruitEntity, box) : Make.toMany(apples, fruitEntity, box)
    if isRenamed { (fruitSide.renamingIdentifier, boxSide.renamingIdentifier) = ("box", "apples") }
    var (ofFruit, ofBox) = ([fruitSide], [boxSide])
    if storage == .inverselessKey, release != .joined {
      ofFruit = []
      ofBox[0].inverseRelationship = nil
    }
    if release == .dropped || release == .withoutCrates { (ofFruit, ofBox) = ([], []) }
    func child(_ name: String, _ parent: String, isOut: Bool, _ links: [RelationshipDescription]) -> EntityDescription {
      Make.entity(name, isOut ? [title] : [], links, parent: isOut ? nil : parent)
    }
    var entities = [
      Make.entity("Fruit", [title], isFruitUp ? ofFruit : []), Make.entity("Box", [title], isBoxUp ? ofBox : []),
      child("Apple", "Fruit", isOut: false, isFruitUp ? [] : ofFruit),
    ]
    if release == .renumbered { entities.append(Make.entity("AAAdded", [title])) }
    if release != .withoutPears { entities.append(child("Pear", "Fruit", isOut: release == .pearsMovedOut, [])) }
    if release != .withoutBins { entities.append(child("Bin", "Box", isOut: release == .binsMovedOut, [])) }
    if release != .withoutCrates {
      entities.append(child("Crate", "Box", isOut: false, isBoxUp ? [] : ofBox))
      if storage == .keyWithEntity { entities.append(Make.entity("Pallet", [], parent: "Crate")) }
    }
    return try ManagedObjectModel(entities: entities)
  }

  /// Makes a store of six apples in six crates, of which three apples become pears, and two crates bins.
  private static func fill(_ url: URL, _ model: ManagedObjectModel, _ storage: Storage) throws {
    try PersistentStore.make(at: url, model: model) { context in
      for number in 0..<6 {
        let (apple, crate) = (try context.insert("Apple"), try context.insert("Crate"))
        try apple.set("fruit \(number)", for: "title")
        try crate.set("box \(number)", for: "title")
        switch storage {
        case .key, .keyWithEntity, .keyOfBoth: apple[toOne: "box"] = crate
        case .pairs: apple[toMany: "box"] = [crate]
        case .inverselessKey: crate[toMany: "apples"] = [apple]
        }
      }
    }
    let plain = try Connection(path: url.path, mode: .readWrite)
    for (table, entity, titles) in [("ZFRUIT", "Pear", "fruit [235]"), ("ZBOX", "Bin", "box [45]")] {
      try plain.execute(
        "UPDATE \(table) SET Z_ENT = (SELECT k.Z_ENT FROM Z_PRIMARYKEY AS k WHERE k.Z_NAME = '\(entity)')"
          + " WHERE ZTITLE GLOB '\(titles)'")
    }
    try plain.close()
  }

  /// Returns the links of a store by the titles of fruit and box, by plain SQL, whatever holds them.
  static func links(_ url: URL) throws -> Set<String> {
    let plain = try Connection(reading: url)
    let names = try plain.rows("SELECT name FROM sqlite_schema WHERE type = 'table'").compactMap { $0[0].text }
    let (fruit, boxes) = (["ZFRUIT", "ZPEAR"].filter(names.contains), ["ZBOX", "ZBIN"].filter(names.contains))
    func columns(_ table: String) throws -> [String] {
      try plain.rows("SELECT name FROM pragma_table_info('\(table)')").compactMap { $0[0].text }
    }
    var links: Set<String> = []
    func add(_ sql: String) throws {
      for row in try plain.rows(sql) { links.insert("\(row[0].text ?? "") in \(row[1].text ?? "")") }
    }
    for fruit in fruit {
      for box in boxes {
        // All other columns are keys, but `Z_PK` and its like, and the numbers of entities, such as `Z4_BOX`.
        func keys(_ table: String) throws -> [String] {
          try columns(table).filter { $0 != "ZTITLE" && $0.drop { $0 == "Z" || $0.isNumber }.first != "_" }
        }
        for key in try keys(fruit) {
          try add("SELECT f.ZTITLE, b.ZTITLE FROM \(fruit) AS f JOIN \(box) AS b ON b.Z_PK = f.\(key)")
        }
        for key in try keys(box) {
          try add("SELECT f.ZTITLE, b.ZTITLE FROM \(box) AS b JOIN \(fruit) AS f ON f.Z_PK = b.\(key)")
        }
      }
    }
    for join in names where join.hasPrefix("Z_") && !["Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY"].contains(join) {
      // A column is named after the relationship of the objects whose keys it holds.
      let found = try columns(join)
      let ofFruit = try #require(found.first { $0.hasSuffix("APPLES") || $0.hasSuffix("CONTENTS") })
      let ofBox = try #require(found.first { $0.hasSuffix("BOX") || $0.hasSuffix("HOLDER") })
      try add(
        "SELECT f.ZTITLE, b.ZTITLE FROM \(join) AS j JOIN ZFRUIT AS f ON f.Z_PK = j.\(ofFruit)"
          + " JOIN ZBOX AS b ON b.Z_PK = j.\(ofBox)")
    }
    return links
  }

  static func migrate(
    _ url: URL, from before: ManagedObjectModel, to after: ManagedObjectModel, by builder: BuilderChoice
  ) throws -> (assistant: MigrationAssistant, report: MigrationReport) {
    let assistant = MigrationAssistant(
      url, ModelHistory(current: after, earlier: [("before", before)]), .withBothProofs, builder: builder)
    let report = try assistant.migrate()
    return (assistant, report)
  }

  @Test(arguments: cases, [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `links of objects that their relationship does not join are there or told, and kept`(
    test: Case, builder: BuilderChoice
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Fruit.sqlite")
    let before = try Self.model(test.storage, nil)
    try Self.fill(url, before, test.storage)
    let stored = try Self.links(url)
    #expect(stored.count == 6)
    let (assistant, report) = try Self.migrate(
      url, from: before, to: Self.model(test.storage, test.release), by: builder)
    let there = try Self.links(url)
    #expect(there.isSubset(of: stored))
    let sound: Set = ["fruit 0 in box 0", "fruit 1 in box 1"]
    let strays = stored.subtracting(sound).subtracting(there).count
    let told = report.plan.losses.filter { $0.kind == .unknownContent }
    #expect(told.reduce(0) { $0 + $1.rows } == Int64(strays), "\(told), \(there.sorted())")
    // Either side tells the links that both know; where one is gone with its objects, its links go with them.
    let lost = test.storage == .inverselessKey && test.release == .withoutCrates ? 0 : sound.subtracting(there).count
    let known = report.plan.losses.filter { [.links, .linksWithoutRoom].contains($0.kind) }
    #expect(known.map { $0.links ?? $0.rows }.max() ?? 0 == Int64(lost), "\(known), \(there.sorted())")
    guard there != stored else { return }
    let kept = try #require(try assistant.archive.previousVersions().first)
    #expect(kept.isPinned)
    #expect(try Self.links(kept.storeURL) == stored)
  }
}
