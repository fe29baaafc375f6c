import Foundation
import HeirloomMigration
import TestSupport
import Testing

/// Migrations that have to come to the same, whatever that is.
struct MetamorphicAccountTests {
  private static let parts = RandomSeeds.parts(quick: 32, long: 3000)

  /// Returns `nil` if one of the versions can't be reached.
  private func migrate(
    _ example: SeededCase, over versions: [XMLModel]
  ) throws -> (contents: Contents, told: [ToldLoss])? {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let url = directory.file("Store.sqlite")
    try example.makeStore(at: url, in: directory)
    var told: [ToldLoss] = []
    let folders = try versions.enumerated().map { try ModelFolder($1, named: "v\($0)", in: directory) }
    for (source, destination) in zip(folders, folders.dropFirst()) {
      let builder = SeededAccountTests.builders[Int(example.seed % 2)]
      switch try AccountedMigration(url, from: source, to: destination, by: builder) {
      case .migrated(let losses, _): told += losses
      case .upToDate: break
      case .refused: return nil
      }
    }
    return (try Contents(of: url.path), told)
  }

  /// A row for each table that differs, which only one of the two has.
  private func differences(
    _ first: Contents, _ second: Contents, _ version: XMLModel, except: Set<String> = []
  ) -> [String] {
    let sides = [first, second].map { $0.facts(Layout(version, stored: $0.numbers)) }
    return Set(sides.flatMap(\.keys)).subtracting(except).sorted().compactMap { table in
      let (own, other) = (sides[0][table] ?? [], sides[1][table] ?? [])
      if own == other { return nil }
      let rows = [own.subtracting(other), other.subtracting(own)].map { rows in
        rows.map { row in row.map { "\($0.key) \($0.value.literal)" }.sorted().joined(separator: ", ") }.min() ?? "none"
      }
      return "\(table): \(rows.joined(separator: " against "))"
    }
  }

  private func forEach(
    _ seeds: [UInt64], kinds: [SeededEdit], _ body: (SeededCase, inout SplitMix64) throws -> [String]
  ) {
    for seed in seeds {
      let example = SeededCase(seed: seed, kinds: kinds)
      var random = SplitMix64(seed: seed &+ 99)
      do {
        let problems = try body(example, &random)
        if !problems.isEmpty {
          SeededAccountTests.report(example, SeededAccountTests.builders[Int(seed % 2)], problems)
        }
      } catch {
        SeededAccountTests.report(example, SeededAccountTests.builders[Int(seed % 2)], ["\(error)"])
      }
    }
  }

  @Test(arguments: parts)
  func `a jump comes to what two hops come to, of which the first loses nothing`(seeds: [UInt64]) {
    forEach(seeds, kinds: SeededEdit.lossless) { example, random in
      var last = example.destination
      let kinds = SeededEdit.allCases.filter { $0 != .reuseName }
      for _ in 0..<2 { _ = kinds[random.below(kinds.count)].apply(to: &last, using: &random) }
      guard let hops = try migrate(example, over: [example.source, example.destination, last]),
        let jump = try migrate(example, over: [example.source, last])
      else { return [] }
      // The values of an unknown column may be lost by one hop more, which tells them; names change on the way.
      guard total(hops.told) == total(jump.told) else { return [] }
      return differences(hops.contents, jump.contents, last)
    }
  }

  private func total(_ told: [ToldLoss]) -> Int { told.filter { $0.kind == .values }.reduce(0) { $0 + $1.amount } }

  @Test(arguments: parts)
  func `a rename and back is the identity`(seeds: [UInt64]) {
    forEach(seeds, kinds: SeededEdit.renames) { example, _ in
      guard let there = try migrate(example, over: [example.source]),
        let back = try migrate(example, over: [example.source, example.destination, example.source])
      else { return ["not migrated"] }
      // A row that links to no object isn't copied, and a value in an unknown column of it is told.
      let stray = there.contents.strayValues(Layout(example.source, stored: there.contents.numbers))
      let told = back.told.filter { $0.kind != .values || $0.amount != stray[$0.property ?? ""] }
      return differences(there.contents, back.contents, example.source) + told.map(\.description)
    }
  }

  @Test(arguments: parts)
  func `adding an unrelated entity changes nothing else`(seeds: [UInt64]) {
    // A name that is used again may leave the hashes as they were; then there is a migration with the entity only.
    forEach(seeds, kinds: SeededEdit.allCases.filter { $0 != .reuseName }) { example, _ in
      var more = example.destination
      // The last name, so that no entity gets another number.
      more.entities.append(
        XMLModel.Entity(
          name: "Zzz", identifier: "Zzz", attributes: [XMLModel.Attribute(name: "a", identifier: "a", type: "String")]))
      guard let without = try migrate(example, over: [example.source, example.destination]),
        let with = try migrate(example, over: [example.source, more])
      else { return [] }
      let unlike = Set(without.told).symmetricDifference(with.told).map(\.description)
      return differences(without.contents, with.contents, more, except: ["ZZZZ", "Z_PRIMARYKEY"]) + unlike
    }
  }
}

extension Contents {
  /// The rows of each table as sets of named cells, in whatever order rows and columns are.
  ///
  /// Left out is what says nothing: cells without a value, cells of properties that an object's
  /// entity hasn't got, the number of an entity beside no key, links to objects that don't exist,
  /// tables that describe the model, the next keys, which are only large enough, and places, of
  /// which only the order counts (the accountant looks at that).
  fileprivate func facts(_ layout: Layout) -> [String: Set<[String: Cell]>] {
    let objects = Objects(in: self, layout)
    let ends = joins(layout).mapValues(\.ends)
    var facts: [String: Set<[String: Cell]>] = [:]
    for (name, table) in tables where !["Z_METADATA", "Z_MODELCACHE"].contains(name) {
      let known = layout.knownColumns(of: name)
      let rows = table.rows.compactMap { cells -> [String: Cell]? in
        var row = Dictionary(zip(table.columns, cells), uniquingKeysWith: { first, _ in first })
        row = row.filter { $0.value != .null && !$0.key.hasPrefix("Z_FOK_") }
        if name == "Z_PRIMARYKEY" { row["Z_MAX"] = nil }
        if isStray(row, ends[name] ?? [], objects) { return nil }
        if layout.tables.values.contains(name),
          let entity = row["Z_ENT"]?.integer.flatMap({ layout.entitiesByNumber[$0] })
        {
          let own = layout.columns(of: entity, besides: row, objects)
          row = row.filter { !known.contains($0.key) || own.contains($0.key) }
        }
        return row
      }
      facts[name] = Set(rows)
    }
    return facts
  }

  /// By column, in join rows that link to no object.
  fileprivate func strayValues(_ layout: Layout) -> [String: Int] {
    let objects = Objects(in: self, layout)
    var counts: [String: Int] = [:]
    for (name, (join, ends)) in joins(layout) {
      guard let table = tables[name] else { continue }
      for cells in table.rows {
        let row = Dictionary(zip(table.columns, cells), uniquingKeysWith: { first, _ in first })
        guard isStray(row, ends, objects) else { continue }
        for column in join.unknownColumns where row[column] != .null { counts[column, default: 0] += 1 }
      }
    }
    return counts
  }

  /// A column of keys and the table of the objects that these are keys of.
  private typealias LinkEnd = (column: String, table: String)

  private func joins(_ layout: Layout) -> [String: (join: Layout.Join, ends: [LinkEnd])] {
    var joins: [String: (join: Layout.Join, ends: [LinkEnd])] = [:]
    for entity in layout.model.entities {
      for relationship in entity.relationships {
        guard let join = layout.join(of: Layout.Name(entity: entity.name, property: relationship.name), in: self),
          let own = layout.tables[entity.name], let other = layout.tables[relationship.destination]
        else { continue }
        joins[join.table] = (join, [(join.ownerColumn, own), (join.targetColumn, other)])
      }
    }
    return joins
  }

  private func isStray(_ row: [String: Cell], _ ends: [LinkEnd], _ objects: Objects) -> Bool {
    ends.contains { column, table in
      guard let key = row[column]?.integer else { return true }
      return !objects.contains(ObjectKey(table: table, key: key))
    }
  }
}

extension Layout {
  /// Only columns that say something about the object.
  ///
  /// A key that leads nowhere says nothing: where objects move to its table, it is emptied so that
  /// it leads to none of them.
  fileprivate func columns(of entity: String, besides row: [String: Cell], _ objects: Objects) -> Set<String> {
    var own: Set = ["Z_PK", "Z_ENT", "Z_OPT"]
    for declared in attributes[entity] ?? [] {
      if let column = columns[Name(entity: declared.entity, property: declared.property.name)] { own.insert(column) }
    }
    for declared in relationships[entity] ?? [] {
      let name = Name(entity: declared.entity, property: declared.property.name)
      guard let column = columns[name], row[column] != nil else { continue }
      if let key = row[column]?.integer, let table = relationship(name).flatMap({ tables[$0.destination] }),
        !objects.contains(ObjectKey(table: table, key: key))
      {
        continue
      }
      own.insert(column)
      if let number = numberColumn(of: name) { own.insert(number) }
    }
    // The owners' relationships without an inverse have their keys here.
    for other in model.entities {
      for relationship in other.relationships
      where relationship.isToMany && model.inverse(of: relationship) == nil
        && subtrees[relationship.destination, default: []].contains(entity)
      {
        let column = inverselessColumn(of: Name(entity: other.name, property: relationship.name))
        if row[column] != nil { own.insert(column) }
      }
    }
    return own
  }
}
