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
    Make.attribute(name, type, optional: optional, value: value, id: id)
  }

  static let paths: [Path] = [
    Path(
      "renamed, and the identifier left out afterwards", [Make.entity("A", [attribute("x")])],
      [Make.entity("A", [attribute("y", id: "x")])], [Make.entity("A", [attribute("y"), attribute("z")])]),
    Path(
      "renamed twice with the first identifier", [Make.entity("A", [attribute("x")])],
      [Make.entity("A", [attribute("y", id: "x")])], [Make.entity("A", [attribute("z", id: "x")])]),
    Path(
      "renamed twice, each time from the previous name", [Make.entity("A", [attribute("x")])],
      [Make.entity("A", [attribute("y", id: "x")])], [Make.entity("A", [attribute("z", id: "y")])]),
    Path(
      "removed and added again", [Make.entity("A", [attribute("x"), attribute("y")])],
      [Make.entity("A", [attribute("y")])],
      [Make.entity("A", [attribute("x"), attribute("y"), attribute("z")])]),
    Path(
      "renamed, then another takes the name", [Make.entity("A", [attribute("x")])],
      [Make.entity("A", [attribute("y", id: "x")])],
      [Make.entity("A", [attribute("x", id: "new"), attribute("y", id: "x")])],
      [Make.entity("A", [attribute("x", id: "new"), attribute("y", id: "x"), attribute("z")])]),
    Path(
      "renamed, then another takes the name without identifiers", [Make.entity("A", [attribute("x")])],
      [Make.entity("A", [attribute("y", id: "x")])], [Make.entity("A", [attribute("y")])],
      [Make.entity("A", [attribute("x", .string), attribute("y")])]),
    Path(
      "another default by the time of the last version", [Make.entity("A", [attribute("x")])],
      [Make.entity("A", [attribute("x"), attribute("y", value: .integer(1))])],
      [Make.entity("A", [attribute("x"), attribute("y", value: .integer(2)), attribute("z")])]),
    Path(
      "a default that came after the attribute", [Make.entity("A", [attribute("x")])],
      [Make.entity("A", [attribute("x"), attribute("y")])],
      [Make.entity("A", [attribute("x"), attribute("y", value: .integer(2)), attribute("z")])]),
    Path(
      "filled on the way, and optional again", [Make.entity("A", [attribute("x")])],
      [Make.entity("A", [attribute("x", optional: false, value: .integer(7))])],
      [Make.entity("A", [attribute("x"), attribute("z")])]),
    Path(
      "a required attribute filled on the way and widened", [Make.entity("A", [attribute("x", .integer16)])],
      [Make.entity("A", [attribute("x", .integer32, optional: false, value: .integer(7))])],
      [Make.entity("A", [attribute("x", .double, optional: false, value: .double(0.5))])]),
    Path(
      "entity removed and added again", [Make.entity("A", [attribute("x")]), Make.entity("B", [attribute("x")])],
      [Make.entity("B", [attribute("x")])],
      [Make.entity("A", [attribute("x")]), Make.entity("B", [attribute("x"), attribute("z")])]),
    Path(
      "entity renamed, and the identifier left out afterwards", [Make.entity("A", [attribute("x")])],
      [Make.entity("B", [attribute("x")], id: "A")], [Make.entity("B", [attribute("x"), attribute("y")])]),
    Path(
      "relationship renamed, and the identifiers left out afterwards",
      [
        Make.entity("A", [], [Make.toOne("b", "B", "as")]),
        Make.entity("B", [], [Make.toMany("as", "A", "b")]),
      ],
      [
        Make.entity("A", [], [Make.toOne("c", "B", "all", id: "b")]),
        Make.entity("B", [], [Make.toMany("all", "A", "c", id: "as")]),
      ],
      [
        Make.entity("A", [attribute("x")], [Make.toOne("c", "B", "all")]),
        Make.entity("B", [], [Make.toMany("all", "A", "c")]),
      ]),
    Path(
      "relationship removed and added again",
      [Make.entity("A", [attribute("x")], [Make.toOne("b", "B")]), Make.entity("B", [attribute("x")])],
      [Make.entity("A", [attribute("x")]), Make.entity("B", [attribute("x")])],
      [Make.entity("A", [attribute("x")], [Make.toOne("b", "B")]), Make.entity("B", [attribute("x"), attribute("z")])]),
    Path(
      "a fraction cut off on the way", [Make.entity("A", [attribute("x", .double)])],
      [Make.entity("A", [attribute("x", .integer64)])], [Make.entity("A", [attribute("x", .double), attribute("z")])]),
    Path(
      "true or false on the way, and filled",
      [Make.entity("A", [attribute("x", .integer16)])],
      [Make.entity("A", [attribute("x", .boolean, optional: false, value: .boolean(true))])],
      [Make.entity("A", [attribute("x", .integer32)])], [Make.entity("A", [attribute("x", .double)])]),
    Path(
      "digits cut off on the way", [Make.entity("A", [attribute("x")])], [Make.entity("A", [attribute("x", .double)])],
      [Make.entity("A", [attribute("x"), attribute("z")])]),
    Path(
      "a default that was cut", [Make.entity("A", [attribute("y")])],
      [Make.entity("A", [attribute("x", .double, value: .double(2.5)), attribute("y")])],
      [Make.entity("A", [attribute("x", .integer32), attribute("y")])],
      [Make.entity("A", [attribute("x", .double), attribute("y")])]),
    Path(
      "transient on the way", [Make.entity("A", [attribute("x"), attribute("y")])],
      [Make.entity("A", [attribute("x").transient, attribute("y")])],
      [Make.entity("A", [attribute("x"), attribute("y"), attribute("z")])]),
  ]

  @Test(arguments: paths)
  func `a jump over several versions comes to what the steps come to`(path: Path) throws {
    let versions = try path.versions.map { try ManagedObjectModel(entities: $0) }
    let directory = try TemporaryDirectory()
    let (stepped, jumped) = (directory.file("Stepped.sqlite"), directory.file("Jumped.sqlite"))
    try StoreGenerator.makeStore(at: stepped, model: versions[0], objects: 20, seed: 3)
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
    MigrationAssistant(store, history, .withBothProofs)
  }

  private static func migrate(_ store: URL, _ history: ModelHistory) throws {
    try assistant(store, history).migrate()
  }
}

extension AttributeDescription {
  fileprivate var transient: AttributeDescription {
    var attribute = self
    attribute.isTransient = true
    return attribute
  }
}
