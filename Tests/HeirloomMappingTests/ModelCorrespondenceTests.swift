import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

struct ModelCorrespondenceTests {
  /// Versions 1 to 3 of a property that is renamed twice: a, then b, then c.
  static let chains: [(second: String, third: String, matchedInThird: String?)] = [
    ("a", "a", "b"),  // the identifier is repeated, as Apple says
    ("a", "b", nil),  // the previous name is given, which is not the previous identifier
  ]

  @Test(arguments: chains)
  func `a renamed attribute is found only by the identifier its predecessor has`(
    second: String, third: String, matchedInThird: String?
  ) throws {
    let first = try model(entity("E", attribute("a")))
    let middle = try model(entity("E", attribute("b", id: second)))
    let last = try model(entity("E", attribute("c", id: third)))
    #expect(ModelCorrespondence(from: first, to: middle).sourceAttribute(of: "b", in: "E")?.name == "a")
    #expect(ModelCorrespondence(from: middle, to: last).sourceAttribute(of: "c", in: "E")?.name == matchedInThird)
    let isChained = matchedInThird != nil
    #expect(
      ModelCorrespondence(from: first, to: last).sourceAttribute(of: "c", in: "E")?.name == (isChained ? "a" : nil))
  }

  @Test(arguments: [("A", "B"), ("B", nil)])
  func `a renamed entity is found only by the identifier its predecessor has`(id: String, found: String?) throws {
    let middle = try model(entity("B", id: "A", attribute("x")))
    let last = try model(entity("C", id: id, attribute("x")))
    #expect(ModelCorrespondence(from: middle, to: last).pair(ofDestination: "C")?.source.name == found)
  }

  @Test func `an attribute that moves up is found in every subentity that had it`() throws {
    let source = try model(
      entity("P", attribute("n")), entity("A", parent: "P", attribute("x")),
      entity("B", parent: "P", attribute("y", id: "x")))
    let destination = try model(
      entity("P", attribute("n"), attribute("x")), entity("A", parent: "P"), entity("B", parent: "P"))
    let correspondence = ModelCorrespondence(from: source, to: destination)
    #expect(correspondence.sourceAttribute(of: "x", in: "A")?.name == "x")
    #expect(correspondence.sourceAttribute(of: "x", in: "B")?.name == "y")
    #expect(correspondence.sourceAttribute(of: "x", in: "P") == nil)
    #expect(correspondence.sourceAttribute(of: "n", in: "B")?.name == "n")
  }

  @Test func `an attribute that moves down is found where it arrives`() throws {
    let source = try model(entity("P", attribute("x")), entity("A", parent: "P"), entity("B", parent: "P"))
    let destination = try model(entity("P"), entity("A", parent: "P", attribute("x")), entity("B", parent: "P"))
    let correspondence = ModelCorrespondence(from: source, to: destination)
    #expect(correspondence.sourceAttribute(of: "x", in: "A")?.name == "x")
    #expect(correspondence.sourceAttribute(of: "x", in: "B") == nil)
  }

  @Test func `attributes survive the removal of an intermediate parent if they move down`() throws {
    let source = try model(
      entity("P"), entity("M", parent: "P", attribute("x"), attribute("y")), entity("A", parent: "M"))
    let destination = try model(entity("P"), entity("A", parent: "P", attribute("x")))
    let correspondence = ModelCorrespondence(from: source, to: destination)
    #expect(correspondence.sourceAttribute(of: "x", in: "A")?.name == "x")
    #expect(correspondence.pair(ofSource: "M") == nil)
  }

  @Test func `attributes and relationships of one name are not matched with each other`() throws {
    let source = try model(entity("E", attribute("x")))
    let destination = try model(entity("E", relationships: [toOne("x", "E")]))
    let pair = try #require(ModelCorrespondence(from: source, to: destination).pair(ofDestination: "E"))
    #expect(pair.attributes.isEmpty && pair.relationships.isEmpty)
  }

  @Test func `two names may be swapped by identifiers`() throws {
    let source = try model(entity("E", attribute("x"), attribute("y")))
    let destination = try model(entity("E", attribute("x", id: "y"), attribute("y", id: "x")))
    let pair = try #require(ModelCorrespondence(from: source, to: destination).pair(ofDestination: "E"))
    #expect(pair.attributes == ["x": "y", "y": "x"])
  }

  /// Source and destination as name and identifier, and the expected matches.
  static let claims: [([(String, String?)], [(String, String?)], [String: String])] = [
    // b replaced a long ago; a new a without an identifier is new.
    ([("b", "a")], [("a", nil), ("b", "a")], ["b": "b"]),
    // Both claim a, and both may be meant.
    ([("a", nil)], [("a", nil), ("b", "a")], [:]),
    ([("a", nil)], [("c", "a"), ("b", "a")], [:]),
    ([("b", "a"), ("a", nil)], [("a", nil), ("b", "a")], ["a": "a", "b": "b"]),
    ([("b", "a"), ("a", nil)], [("b", "a")], ["b": "b"]),
    ([("b", "a"), ("a", nil)], [("c", "a")], [:]),
    ([("b", "a"), ("c", "a")], [("d", "a"), ("e", "a")], [:]),
  ]

  @Test(arguments: claims)
  func `an identifier claimed twice is settled only where nothing can be mistaken`(
    source: [(String, String?)], destination: [(String, String?)], matched: [String: String]
  ) throws {
    func make(_ elements: [(String, String?)]) throws -> ManagedObjectModel {
      let entity = Make.entity("E", elements.map { attribute($0.0, id: $0.1) })
      return try ManagedObjectModel(entities: [entity])
    }
    let correspondence = ModelCorrespondence(from: try make(source), to: try make(destination))
    #expect(correspondence.pair(ofDestination: "E")?.attributes == matched)
  }

  @Test func `elements of composites are matched at every level`() {
    let source = composite(
      "scheme", composite("body", attribute("red", .double), attribute("gone", .double)), attribute("name"))
    let destination = composite(
      "colors", id: "scheme", attribute("title", id: "name"),
      composite("hull", id: "body", attribute("red", .double), attribute("new", .double)))
    let leaves = AttributeLeaves(from: source, to: destination)
    #expect(
      leaves.leaves.map { $0.path.joined(separator: ".") } == ["colors.title", "colors.hull.red", "colors.hull.new"])
    #expect(leaves.leaves.map { $0.sourcePath?.joined(separator: ".") } == ["scheme.name", "scheme.body.red", nil])
    #expect(leaves.dropped == [["scheme", "body", "gone"]])
  }

  @Test func `a composite that becomes an ordinary attribute drops its leaves`() {
    let leaves = AttributeLeaves(from: composite("c", attribute("a"), attribute("b")), to: attribute("c"))
    #expect(leaves.leaves.map(\.path) == [["c"]])
    #expect(leaves.leaves.first?.sourceLeaf == nil)
    #expect(leaves.dropped == [["c", "a"], ["c", "b"]])
  }

  @Test func `a transient attribute has no leaves`() {
    let transient = attribute("a") { $0.isTransient = true }
    #expect(AttributeLeaves(from: attribute("a"), to: transient).leaves.isEmpty)
    #expect(AttributeLeaves(from: attribute("a"), to: transient).dropped == [["a"]])
    #expect(AttributeLeaves(from: transient, to: attribute("a")).leaves.first?.sourceLeaf == nil)
  }

  @Test func `a new relationship finds the links of the inverse that was there`() throws {
    let source = try model(
      entity("Book", relationships: [toOne("author", "Person")]), entity("Person", attribute("name")))
    let destination = try model(
      entity("Book", relationships: [toOne("author", "Person", inverse: "books")]),
      entity("Person", attribute("name"), relationships: [toMany("books", "Book", inverse: "author")]))
    let correspondence = ModelCorrespondence(from: source, to: destination)
    let books = try #require(destination.relationship(named: "books", of: "Person"))
    #expect(correspondence.sourceOfInverse(of: books)?.relationship.name == "author")
    let backwards = ModelCorrespondence(from: destination, to: source)
    #expect(backwards.inverseSurvives(books))
  }
}
