import HeirloomCompare
import HeirloomCompare
import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

struct MatchingDiagnosticTests {
  static func diagnostics(
    _ before: [AttributeDescription], _ after: [AttributeDescription]
  ) throws -> [String] {
    func make(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
      let entity = Make.entity("E", attributes)
      return try ManagedObjectModel(entities: [entity])
    }
    return ModelDifference(from: try make(before), to: try make(after)).diagnostics.map(\.code)
  }

  @Test func `the previous name as identifier is noticed and the right one suggested`() throws {
    let before = try model(entity("E", attribute("b", id: "a")))
    let after = try model(entity("E", attribute("c", id: "b")))
    let diagnostics = ModelDifference(from: before, to: after).diagnostics
    #expect(diagnostics.map(\.code) == ["previousNameAsIdentifier E.c b a"])
    #expect(
      diagnostics.first?.description == """
        "E.c" has the previous name "b" as its renaming identifier, but the identifier of that one is "a": did you mean the \
        renaming identifier "a"?
        """)
  }

  @Test func `names that are swapped while stores fit both models are noticed, since nothing is migrated`() throws {
    let before = try model(entity("E", attribute("a"), attribute("b"), attribute("c")))
    let after = try model(entity("E", attribute("a", id: "b"), attribute("b", id: "a"), attribute("c")))
    #expect(before.versionHashes() == after.versionHashes())
    let difference = ModelDifference(from: before, to: after)
    #expect(difference.verdict == .compatible)
    #expect(difference.diagnostics.map(\.code) == ["renameWithoutMigration E.a b b", "renameWithoutMigration E.b a a"])
    #expect(difference.diagnostics.first?.description.contains("\"E.a\" keeps the content of \"a\"") == true)
    // Where a migration is made, the contents follow.
    let migrated = try model(entity("E", attribute("a", id: "b"), attribute("b", id: "a"), attribute("d", id: "c")))
    #expect(ModelDifference(from: before, to: migrated).diagnostics.isEmpty)
    #expect(ModelDifference(from: after, to: after).diagnostics.isEmpty)
  }

  @Test func `the same of an entity`() throws {
    let before = try model(entity("B", id: "A", attribute("x")))
    let after = try model(entity("C", id: "B", attribute("x")))
    #expect(ModelDifference(from: before, to: after).diagnostics.map(\.code) == ["previousNameAsIdentifier C B A"])
  }

  @Test func `following the suggestion makes the rename`() throws {
    let before = try model(entity("E", attribute("b", id: "a"), attribute("title")))
    let after = try model(entity("E", attribute("c", id: "b"), attribute("headline")))
    var fixed = after.entities[0]
    for diagnostic in ModelDifference(from: before, to: after).diagnostics {
      let index = try #require(fixed.attributes.firstIndex { $0.name == diagnostic.property })
      fixed.attributes[index].renamingIdentifier = diagnostic.suggestedIdentifier
    }
    let difference = ModelDifference(from: before, to: try model(fixed))
    #expect(difference.effects.isEmpty && difference.diagnostics.isEmpty)
    #expect(difference.changes.filter { $0.kind == .attributeRenamed }.map(\.before) == ["b", "title"])
  }

  static let cases: [([AttributeDescription], [AttributeDescription], [String])] = [
    ([attribute("title")], [attribute("name")], ["suspectedRename E.name title title"]),
    ([attribute("title")], [attribute("count", .integer64)], []),
    ([attribute("title")], [], []),
    ([], [attribute("title")], []),
    // Among several attributes of one type, the names decide.
    (
      [attribute("firstName"), attribute("color")], [attribute("personFirstName"), attribute("size")],
      ["suspectedRename E.personFirstName firstName firstName"]
    ),
    ([attribute("abc"), attribute("def")], [attribute("uvw"), attribute("xyz")], []),
    ([attribute("old", id: "older")], [attribute("new")], ["suspectedRename E.new old older"]),
    // A named identifier says what is meant.
    ([attribute("title")], [attribute("name", id: "something")], []),
    ([attribute("x")], [attribute("x", id: "fresh")], ["sameNameOtherIdentifier E.x x x"]),
    ([attribute("x") { $0.isTransient = true }], [attribute("y") { $0.isTransient = true }], []),
    ([attribute("x")], [ChangeTable.derived("y", "canonical:(z)")], []),
  ]

  @Test(arguments: cases)
  func `a removed and an added attribute of one type may be a rename`(
    before: [AttributeDescription], after: [AttributeDescription], expected: [String]
  ) throws {
    #expect(try Self.diagnostics(before, after) == expected)
  }

  @Test func `a removed and an added relationship may be a rename if they lead to the same`() throws {
    let before = try model(entity("E", relationships: [toOne("owner", "F")]), entity("F"), entity("G"))
    let same = try model(entity("E", relationships: [toOne("holder", "F")]), entity("F"), entity("G"))
    let other = try model(entity("E", relationships: [toOne("holder", "G")]), entity("F"), entity("G"))
    let many = try model(entity("E", relationships: [toMany("holder", "F")]), entity("F"), entity("G"))
    #expect(ModelDifference(from: before, to: same).diagnostics.map(\.code) == ["suspectedRename E.holder owner owner"])
    #expect(ModelDifference(from: before, to: other).diagnostics.isEmpty)
    #expect(ModelDifference(from: before, to: many).diagnostics.isEmpty)
  }

  @Test func `an added entity with the properties of a removed one may be a rename`() throws {
    let before = try model(
      entity("Note", attribute("text"), attribute("date", .date)), entity("Tag", attribute("label")))
    let after = try model(
      entity("Page", attribute("text"), attribute("date", .date), attribute("color")),
      entity("Mood", attribute("score")))
    #expect(ModelDifference(from: before, to: after).diagnostics.map(\.code) == ["suspectedRename Page Note Note"])
  }

  @Test func `an inherited attribute is noticed once, with the entity that declares it`() throws {
    func make(_ name: String) throws -> ManagedObjectModel {
      try model(entity("P", attribute(name)), entity("A", parent: "P"), entity("B", parent: "P"))
    }
    #expect(
      ModelDifference(from: try make("title"), to: try make("name")).diagnostics.map(\.code)
        == ["suspectedRename P.name title title"])
  }
}

extension MatchingDiagnostic {
  var code: String { "\(kind) \(entity)\(property.map { "." + $0 } ?? "") \(counterpart) \(suggestedIdentifier)" }
}
