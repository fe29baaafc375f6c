import Foundation
import Heirloom
import HeirloomFormats
import HeirloomStore
import TestSupport
import Testing

/// A jump over several versions, compared with the same path taken hop by hop.
struct DirectJumpTests {
  struct Path: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let versions: [[EntityDescription]]

    init(_ name: String, _ versions: [EntityDescription]...) {
      testDescription = name
      self.versions = versions
    }
  }

  private static func attribute(
    _ name: String, _ type: AttributeType = .integer64, id: String? = nil, optional: Bool = true,
    value: AttributeValue? = nil
  ) -> AttributeDescription {
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = optional
    attribute.renamingIdentifier = id
    attribute.defaultValue = value
    return attribute
  }

  private static func entity(
    _ name: String, _ attributes: [AttributeDescription], _ relationships: [RelationshipDescription] = [],
    id: String? = nil
  ) -> EntityDescription {
    var entity = EntityDescription(name: name)
    entity.attributes = attributes
    entity.relationships = relationships
    entity.renamingIdentifier = id
    return entity
  }

  private static func link(
    _ name: String, to entity: String, many: Bool = false, inverse: String? = nil, id: String? = nil
  ) -> RelationshipDescription {
    var link = RelationshipDescription(name: name, destinationEntity: entity)
    link.isOptional = true
    link.maxCount = many ? 0 : 1
    link.inverseRelationship = inverse
    link.renamingIdentifier = id
    return link
  }

  static let paths: [Path] = [
    Path(
      "renamed, and the identifier left out afterwards", [entity("A", [attribute("x")])],
      [entity("A", [attribute("y", id: "x")])], [entity("A", [attribute("y"), attribute("z")])]),
    Path(
      "renamed twice with the first identifier", [entity("A", [attribute("x")])],
      [entity("A", [attribute("y", id: "x")])], [entity("A", [attribute("z", id: "x")])]),
    Path(
      "renamed twice, each time from the previous name", [entity("A", [attribute("x")])],
      [entity("A", [attribute("y", id: "x")])], [entity("A", [attribute("z", id: "y")])]),
    Path(
      "removed and added again", [entity("A", [attribute("x"), attribute("y")])], [entity("A", [attribute("y")])],
      [entity("A", [attribute("x"), attribute("y"), attribute("z")])]),
    Path(
      "renamed, then another takes the name", [entity("A", [attribute("x")])],
      [entity("A", [attribute("y", id: "x")])], [entity("A", [attribute("x", id: "new"), attribute("y", id: "x")])],
      [entity("A", [attribute("x", id: "new"), attribute("y", id: "x"), attribute("z")])]),
    Path(
      "renamed, then another takes the name without identifiers", [entity("A", [attribute("x")])],
      [entity("A", [attribute("y", id: "x")])], [entity("A", [attribute("y")])],
      [entity("A", [attribute("x", .string), attribute("y")])]),
    Path(
      "another default by the time of the last version", [entity("A", [attribute("x")])],
      [entity("A", [attribute("x"), attribute("y", value: .integer(1))])],
      [entity("A", [attribute("x"), attribute("y", value: .integer(2)), attribute("z")])]),
    Path(
      "a default that came after the attribute", [entity("A", [attribute("x")])],
      [entity("A", [attribute("x"), attribute("y")])],
      [entity("A", [attribute("x"), attribute("y", value: .integer(2)), attribute("z")])]),
    Path(
      "filled on the way, and optional again", [entity("A", [attribute("x")])],
      [entity("A", [attribute("x", optional: false, value: .integer(7))])],
      [entity("A", [attribute("x"), attribute("z")])]),
    Path(
      "a required attribute filled on the way and widened", [entity("A", [attribute("x", .integer16)])],
      [entity("A", [attribute("x", .integer32, optional: false, value: .integer(7))])],
      [entity("A", [attribute("x", .double, optional: false, value: .double(0.5))])]),
    Path(
      "entity removed and added again", [entity("A", [attribute("x")]), entity("B", [attribute("x")])],
      [entity("B", [attribute("x")])], [entity("A", [attribute("x")]), entity("B", [attribute("x"), attribute("z")])]),
    Path(
      "entity renamed, and the identifier left out afterwards", [entity("A", [attribute("x")])],
      [entity("B", [attribute("x")], id: "A")], [entity("B", [attribute("x"), attribute("y")])]),
    Path(
      "relationship renamed, and the identifiers left out afterwards",
      [
        entity("A", [], [link("b", to: "B", inverse: "as")]),
        entity("B", [], [link("as", to: "A", many: true, inverse: "b")]),
      ],
      [
        entity("A", [], [link("c", to: "B", inverse: "all", id: "b")]),
        entity("B", [], [link("all", to: "A", many: true, inverse: "c", id: "as")]),
      ],
      [
        entity("A", [attribute("x")], [link("c", to: "B", inverse: "all")]),
        entity("B", [], [link("all", to: "A", many: true, inverse: "c")]),
      ]),
    Path(
      "relationship removed and added again",
      [entity("A", [attribute("x")], [link("b", to: "B")]), entity("B", [attribute("x")])],
      [entity("A", [attribute("x")]), entity("B", [attribute("x")])],
      [entity("A", [attribute("x")], [link("b", to: "B")]), entity("B", [attribute("x"), attribute("z")])]),
    Path(
      "a fraction cut off on the way", [entity("A", [attribute("x", .double)])],
      [entity("A", [attribute("x", .integer64)])], [entity("A", [attribute("x", .double), attribute("z")])]),
    Path(
      "true or false on the way, and filled",
      [entity("A", [attribute("x", .integer16)])],
      [entity("A", [attribute("x", .boolean, optional: false, value: .boolean(true))])],
      [entity("A", [attribute("x", .integer32)])], [entity("A", [attribute("x", .double)])]),
    Path(
      "digits cut off on the way", [entity("A", [attribute("x")])], [entity("A", [attribute("x", .double)])],
      [entity("A", [attribute("x"), attribute("z")])]),
    Path(
      "a default that was cut", [entity("A", [attribute("y")])],
      [entity("A", [attribute("x", .double, value: .double(2.5)), attribute("y")])],
      [entity("A", [attribute("x", .integer32), attribute("y")])],
      [entity("A", [attribute("x", .double), attribute("y")])]),
    Path(
      "transient on the way", [entity("A", [attribute("x"), attribute("y")])],
      [entity("A", [attribute("x").transient, attribute("y")])],
      [entity("A", [attribute("x"), attribute("y"), attribute("z")])]),
  ]

  @Test(arguments: paths)
  func `a jump over several versions comes to what the steps come to`(path: Path) throws {
    let versions = try path.versions.map { try ManagedObjectModel(entities: $0) }
    let directory = try TemporaryDirectory()
    let (stepped, jumped) = (directory.file("Stepped.sqlite"), directory.file("Jumped.sqlite"))
    var generator = StoreGenerator(objectsPerEntity: 20, seed: 3)
    try generator.makeStore(at: stepped, model: versions[0])
    try FileManager.default.copyItem(at: stepped, to: jumped)
    try Self.take(stepped, through: versions)
    try Self.migrate(jumped, Self.history(over: versions))
    let last = try #require(versions.last)
    let (expected, found) = (try StoreContents(of: stepped, model: last), try StoreContents(of: jumped, model: last))
    #expect(found == expected)
    withExtendedLifetime(directory) {}
  }

  static func take(_ store: URL, through versions: [ManagedObjectModel]) throws {
    for (before, after) in zip(versions, versions.dropFirst()) where before.versionHashes() != after.versionHashes() {
      // Each hop knows only the version before, as the app of that time did.
      try migrate(store, ModelHistory(current: after, earlier: [("before", before)]))
    }
  }

  /// The order of the versions is known.
  static func history(over versions: [ManagedObjectModel]) throws -> ModelHistory {
    ModelHistory(
      current: try #require(versions.last),
      earlier: versions.dropLast().enumerated().map { (name: "v\($0.offset)", model: $0.element) })
  }

  static func assistant(_ store: URL, _ history: ModelHistory) -> MigrationAssistant {
    // The snapshot of the first version is not written: the history knows each version.
    MigrationAssistant(
      storeURL: store, modelController: ModelController(storeURL: store), history: history,
      configuration: .withBothProofs)
  }

  private static func migrate(_ store: URL, _ history: ModelHistory) throws {
    guard case .migrated = try assistant(store, history).migrateStore() else {
      Issue.record("expected a migration")
      return
    }
  }
}

extension AttributeDescription {
  fileprivate var transient: AttributeDescription {
    var attribute = self
    attribute.isTransient = true
    return attribute
  }
}
