import Foundation
import Heirloom
import TestSupport
import Testing

/// Mappings that name missing things, in a whole migration: each error says which mapping is wrong, and where.
struct BadMappingTests {
  struct Mistake: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let mapping: EntityMapping
    let words: [String]
    var code = "mappingNeeded"
  }

  private static func mistake(
    _ name: String, _ words: [String], code: String = "mappingNeeded", _ change: (inout EntityMapping) -> Void
  ) -> Mistake {
    var mapping = EntityMapping(from: "Old", to: "New", name: "M")
    change(&mapping)
    return Mistake(testDescription: name, mapping: mapping, words: ["\"M\""] + words, code: code)
  }

  static let mistakes: [Mistake] = [
    mistake("unknown source entity", ["\"Nobody\""]) { $0.sourceEntityName = "Nobody" },
    mistake("unknown destination entity", ["\"Nowhere\""]) { $0.destinationEntityName = "Nowhere" },
    mistake("unknown source property", ["\"nothing\"", "\"Old\""]) {
      $0.attributeMappings = [PropertyMapping(name: "name", copying: "nothing")]
    },
    mistake("unknown destination property", ["\"nothing\"", "\"New\""]) {
      $0.attributeMappings = [PropertyMapping(name: "nothing", copying: "name")]
    },
    mistake("unknown function", ["\"New.name\"", "unheard:"], code: "failed") {
      $0.attributeMappings = [
        PropertyMapping(name: "name", valueExpression: ValueExpression(keeping: "unheard:($source.name)"))
      ]
    },
    mistake("malformed expression", ["\"name\"", "not an expression"]) {
      $0.attributeMappings = [PropertyMapping(name: "name", valueExpression: .unparsed("uppercase:($source.name"))]
    },
    mistake("malformed condition", ["name ==", "not a predicate"]) {
      $0.sourceExpression = .sourceRows(ofEntity: "Old", predicate: "name ==")
    },
    mistake("unknown entity mapping", ["\"others\"", "\"Nobody\""]) {
      $0.relationshipMappings = [PropertyMapping("others", linksOf: "others", through: "Nobody")]
    },
    mistake("another version of the source", ["another version", "\"Old\""]) {
      $0.sourceEntityVersionHash = VersionHash.zero
    },
    mistake("another version of the destination", ["another version", "\"New\""]) {
      $0.destinationEntityVersionHash = VersionHash.zero
    },
    mistake("no policy", ["custom"]) { $0.mappingType = .custom },
    Mistake(
      testDescription: "unknown policy",
      mapping: EntityMapping(from: "Old", to: "New", name: "M", policyNamed: "Unheard"), words: ["\"Unheard\""],
      code: "failed"),
  ]

  private static func makeStore(in directory: TemporaryDirectory) throws -> (url: URL, model: ManagedObjectModel) {
    let model = try ManagedObjectModel(entities: [
      Make.entity("Old", [Make.attribute("name")], [Make.toMany("others", "Old", "others")])
    ])
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: model, objects: 5, seed: 2)
    return (url, model)
  }

  @Test(arguments: mistakes) func `what a mapping names and there isn't is told, and the store stays`(
    mistake: Mistake
  ) throws {
    let directory = try TemporaryDirectory()
    let (url, source) = try Self.makeStore(in: directory)
    let destination = try ManagedObjectModel(entities: [
      Make.entity("New", [Make.attribute("name")], [Make.toMany("others", "New", "others")])
    ])
    let before = try StoreContents(of: url, model: source)
    let assistant = MigrationAssistant(url, from: source, to: destination)
    assistant.delegate = ClosureDelegate(mapping: { _, _, _ in MappingModel(entityMappings: [mistake.mapping]) })
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    #expect(error.code == mistake.code, "\(error)")
    for word in mistake.words { #expect(error.description.contains(word), "\(error)") }
    #expect(try StoreContents(of: url, model: source) == before)
    let left = FileManager.default.enumerator(atPath: url.path + ".heirloom")?.allObjects as? [String] ?? []
    #expect(!left.contains { $0.hasPrefix("incoming/") || $0.hasPrefix("previous/") || $0 == "manifest.json" })
    withExtendedLifetime(directory) {}
  }

  @Test func `mappings that lead in a circle end in an error that says so, and the store stays`() throws {
    let directory = try TemporaryDirectory()
    func version(_ type: AttributeType) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [Make.entity("A", [Make.attribute("x", type)])])
    }
    let versions = try [version(.string), version(.uuid), version(.date)]
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: versions[0], objects: 5, seed: 2)
    func given(_ from: Int, _ to: Int) -> MappingModel {
      MappingModel(entityMappings: [
        EntityMapping(from: "A", to: "A", name: "\(from) to \(to)", attributeMappings: [PropertyMapping(name: "x")])
      ]).completed(from: versions[from], to: versions[to])
    }
    let assistant = MigrationAssistant(
      url, ModelHistory(current: versions[2], earlier: [("1", versions[0]), ("2", versions[1])]),
      .init(mappings: [given(0, 1), given(1, 0)]))
    let before = try StoreContents(of: url, model: versions[0])
    let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .mappingNeeded(_, let obstacles, _) = error else { throw error }
    #expect(obstacles.contains { $0.kind == .invalidMapping && $0.reason.contains("circle") }, "\(obstacles)")
    #expect(try StoreContents(of: url, model: versions[0]) == before)
    withExtendedLifetime(directory) {}
  }
}

extension VersionHash {
  fileprivate static let zero: VersionHash? = try? VersionHash([UInt8](repeating: 0, count: byteCount))
}
