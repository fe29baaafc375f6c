import Foundation
import HeirloomMigration
import TestSupport
import Testing

/// Migrations that have to come to the same, whatever that is.
struct MetamorphicAccountTests {
  private static let parts = RandomSeeds.parts(quick: 32, long: 3000)

  /// A store of a case, migrated over versions one after the other.
  ///
  /// - Returns: All tables afterwards and what was told; `nil` if one of the versions can't be reached.
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
      case .migrated(let losses): told += losses
      case .upToDate: break
      case .refused: return nil
      }
    }
    return (try Contents(of: url.path), told)
  }

  /// Returns the names of the tables that differ, without those that describe the model.
  private func differences(_ first: Contents, _ second: Contents, except: Set<String> = []) -> [String] {
    Set(first.tables.keys).union(second.tables.keys)
      .subtracting(["Z_METADATA", "Z_MODELCACHE"]).subtracting(except)
      .filter { first.rows(of: $0) != second.rows(of: $0) }.sorted()
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
      return differences(hops.contents, jump.contents)
    }
  }

  @Test(arguments: parts)
  func `a rename and back is the identity`(seeds: [UInt64]) {
    forEach(seeds, kinds: SeededEdit.renames) { example, _ in
      guard let there = try migrate(example, over: [example.source]),
        let back = try migrate(example, over: [example.source, example.destination, example.source])
      else { return ["not migrated"] }
      return differences(there.contents, back.contents) + back.told.map(\.description)
    }
  }

  @Test(arguments: parts)
  func `adding an unrelated entity changes nothing else`(seeds: [UInt64]) {
    forEach(seeds, kinds: SeededEdit.allCases) { example, _ in
      var more = example.destination
      // The last name, so that no entity gets another number.
      more.entities.append(
        XMLModel.Entity(
          name: "Zzz", identifier: "Zzz", attributes: [XMLModel.Attribute(name: "a", identifier: "a", type: "String")]))
      guard let without = try migrate(example, over: [example.source, example.destination]),
        let with = try migrate(example, over: [example.source, more])
      else { return [] }
      let unlike = Set(without.told).symmetricDifference(with.told).map(\.description)
      return differences(without.contents, with.contents, except: ["ZZZZ", "Z_PRIMARYKEY"]) + unlike
    }
  }
}

extension Contents {
  /// Returns the rows of a table as sets of named cells, in whatever order the columns are.
  fileprivate func rows(of table: String) -> Set<[String: Cell]>? {
    guard let found = tables[table] else { return nil }
    return Set(found.rows.map { Dictionary(zip(found.columns, $0), uniquingKeysWith: { first, _ in first }) })
  }
}
