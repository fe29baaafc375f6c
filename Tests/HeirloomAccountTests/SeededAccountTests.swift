import Foundation
import HeirloomMigration
import TestSupport
import Testing

/// Migrations of small models on small stores, some of them damaged or extended by other programs, each balanced by the
/// accountant.
///
/// `HEIRLOOM_LONG_TESTS=1` runs 40,000 seeds by both builders, which with those of ``GivenAccountTests`` are 100,000
/// migrations; `HEIRLOOM_SEED=…` runs the one that a failure named, or with `…-…` a range.
struct SeededAccountTests {
  /// The last ones failed once: sides that become separate relationships, a column with an attribute's name, a new side
  /// without room, two sides without room for the same links, or with links to dropped objects, and columns of one name
  /// in two tables.
  private static let parts =
    RandomSeeds.parts(quick: 152, long: 40_000)
    + [[701], [759], [1173], [1471], [6288], [10060], [14680], [22112]]
  static let builders: [BuilderChoice] = [.always(.rebuild), .always(.cloneAndAlter)]

  @Test(.slow("three hundred stores, each made and migrated"), arguments: parts)
  func `whatever was in the store is in the new one, or told`(seeds: [UInt64]) throws {
    for seed in seeds {
      let example = SeededCase(seed: seed)
      // In a quick run the builders take turns.
      let builders = LongTests.areOn ? Self.builders : [Self.builders[Int(seed % 2)]]
      for builder in builders {
        do {
          let problems = try Self.problems(of: example, by: builder) ?? []
          if !problems.isEmpty { Self.report(example, builder, problems) }
        } catch {
          Self.report(example, builder, ["\(error)"])
        }
      }
    }
  }

  /// Returns `nil` if nothing is migrated.
  private static func problems(of example: SeededCase, by builder: BuilderChoice) throws -> [String]? {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let url = directory.file("Store.sqlite")
    try example.makeStore(at: url, in: directory)
    let before = try Contents(of: url.path)
    let source = try ModelFolder(example.source, named: "source", in: directory)
    let destination = try ModelFolder(example.destination, named: "destination", in: directory)
    let migration = try AccountedMigration(url, from: source, to: destination, by: builder)
    guard let told = migration.told else { return nil }
    let after = try Contents(of: url.path)
    let accountant = Accountant(from: source.xml, before, to: destination.xml, after, told: told)
    let imbalances = accountant.imbalances() + accountant.imbalances(of: migration.account)
    if imbalances.isEmpty { return [] }
    return imbalances.map(\.description) + ["told: \(told)"]
  }

  static func report(_ example: SeededCase, _ builder: BuilderChoice, _ problems: [String]) {
    // Somebody asks for one seed alone to see its models.
    if ProcessInfo.processInfo.environment["HEIRLOOM_SEED"].map({ UInt64($0) != nil }) ?? false {
      print(example.source.xml, example.destination.xml)
    }
    let edits = example.edits.map(\.rawValue).joined(separator: ", ")
    let damage = example.damage.map(\.rawValue).sorted().joined(separator: ", ")
    Issue.record(
      """
      HEIRLOOM_SEED=\(example.seed) \(builder) [\(edits)] [\(damage)]:
        \(problems.prefix(6).joined(separator: "\n  "))
      """)
  }

  @Test func `the reader understands what the writer writes`() throws {
    for seed in UInt64(0)..<50 {
      let example = SeededCase(seed: seed)
      for model in [example.source, example.destination] {
        var read = try XMLModelReader.model(Data(model.xml.utf8))
        for index in read.entities.indices {
          // The reader sorts them.
          read.entities[index].attributes = model.entities[index].attributes.filter { attribute in
            read.entities[index].attributes.contains(attribute)
          }
        }
        #expect(read == model)
      }
    }
  }

  @Test func `a thousand cases meet each kind of change and of damage often`() {
    var edits: [SeededEdit: Int] = [:]
    var damage: [SeededDamage.Kind: Int] = [:]
    for seed in UInt64(0)..<1000 {
      let example = SeededCase(seed: seed)
      for edit in Set(example.edits) { edits[edit, default: 0] += 1 }
      for kind in example.damage { damage[kind, default: 0] += 1 }
    }
    for edit in SeededEdit.allCases { #expect(edits[edit, default: 0] >= 10, "\(edit)") }
    for kind in SeededDamage.Kind.allCases { #expect(damage[kind, default: 0] >= 100, "\(kind)") }
  }

  @Test func `most cases are migrated, and many lose something`() throws {
    var migrated = 0
    for seed in UInt64(10_000)..<10_040 where try Self.problems(of: SeededCase(seed: seed), by: .automatic) != nil {
      migrated += 1
    }
    #expect(migrated >= 24, "\(migrated) of 40")
  }
}
