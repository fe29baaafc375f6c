import HeirloomMapping
import HeirloomModel
import TestSupport
import Testing

/// Mappings as an app writes them.
struct MappingWritingTests {
  private static func models() throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    func toMany(_ name: String, _ entity: String) -> RelationshipDescription {
      var relationship = RelationshipDescription(name: name, destinationEntity: entity)
      relationship.maxCount = 0
      return relationship
    }
    let person = Make.entity(
      "Person",
      [
        AttributeDescription(name: "first", type: .string), AttributeDescription(name: "age", type: .integer16),
      ], [toMany("books", "Book")])
    let author = Make.entity(
      "Author",
      [
        AttributeDescription(name: "name", type: .string), AttributeDescription(name: "age", type: .integer16),
        AttributeDescription(name: "kind", type: .string),
      ], [toMany("works", "Book"), toMany("best", "Book")])
    let book = EntityDescription(name: "Book")
    return (try ManagedObjectModel(entities: [person, book]), try ManagedObjectModel(entities: [author, book]))
  }

  @Test func `properties are written one a line, and the rest is inferred`() throws {
    let (source, destination) = try Self.models()
    let isShort = true
    let mapping = try MappingModel.inferred(from: source, to: destination) {
      EntityMapping(from: "Person", to: "Author", where: "age > 3", userInfo: ["modelVersion": "2"]) {
        PropertyMapping("name", expression: "uppercase:(first)")
        PropertyMapping("works", linksOf: "books")
        if isShort { PropertyMapping("best", linksOf: "books", through: "IEM_Copy_Book") }
        PropertyMapping("kind", constant: .string("person"))
      }
    }
    let author = try #require(mapping.entityMappings(toEntity: "Author").first)
    #expect(
      author.attributeMapping(named: "name")?.form
        == .expression(.function(operand: nil, selector: "uppercase:", arguments: [.keyPath("first")])))
    #expect(author.attributeMapping(named: "age")?.form == .attribute("age"))
    #expect(author.attributeMapping(named: "kind")?.form == .constant(.string("person")))
    #expect(author.relationshipMapping(named: "works")?.form == .links(relationship: "books"))
    #expect(
      author.relationshipMapping(named: "best")?.form
        == .linksThroughMapping(entityMapping: "IEM_Copy_Book", relationship: "books"))
    #expect(author.sourceExpression?.sourceRows?.predicate == "age > 3")
    #expect(author.userInfo == ["modelVersion": "2"])
    #expect(mapping.entityMappings.map(\.name).sorted() == ["IEM_Copy_Book", "Person->Author"])
  }

  @Test func `an expression of a relationship comes to the relationships`() throws {
    let (source, destination) = try Self.models()
    let mapping = MappingInference(
      from: source, to: destination,
      given: [
        EntityMapping(from: "Person", to: "Author") {
          PropertyMapping("best", expression: "$manager.favourites")
          PropertyMapping("kind")
        }
      ]
    ).draft
    let author = try #require(mapping.entityMappings(toEntity: "Author").first)
    #expect(author.attributeMappings.map(\.name).sorted() == ["age", "kind", "name"])
    #expect(author.relationshipMapping(named: "best")?.valueExpression != nil)
  }

  @Test func `what is malformed is named with its mapping and property`() throws {
    let (source, destination) = try Self.models()
    let error = try #require(throws: MappingInferenceError.self) {
      try MappingModel.inferred(from: source, to: destination) {
        EntityMapping(from: "Person", to: "Author", name: "M", where: "age >") {
          PropertyMapping("name", expression: "uppercase:(first")
          PropertyMapping("height", constant: .integer(1))
          PropertyMapping("kind", copying: "sort")
          PropertyMapping("works", linksOf: "books", through: "Nobody")
        }
      }
    }
    let reasons = error.obstacles.filter { $0.kind == .invalidMapping }.map(\.reason)
    #expect(reasons.count == 5)
    for words in [
      ["\"M\"", "\"age >\""], ["\"M\"", "\"name\"", "not an expression"], ["\"M\"", "\"height\""],
      ["\"M\"", "\"sort\""],
      ["\"M\"", "\"works\"", "\"Nobody\""],
    ] {
      #expect(reasons.contains { reason in words.allSatisfy { reason.contains($0) } }, "\(words)")
    }
  }

  @Test func `a mapping made for another version says which entity of which mapping`() throws {
    let (source, destination) = try Self.models()
    var mapping = EntityMapping(from: "Person", to: "Author", name: "M") {}
    mapping.sourceEntityVersionHash = source.versionHashes()["Book"]
    let error = try #require(throws: MappingInferenceError.self) {
      try MappingModel.inferred(from: source, to: destination) { mapping }
    }
    #expect(error.obstacles.count == 1)
    #expect(
      error.obstacles.first?.reason.contains("\"M\" was made for another version of the source entity \"Person\"")
        == true)
  }
}
