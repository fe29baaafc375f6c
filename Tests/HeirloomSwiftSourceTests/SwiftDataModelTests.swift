import HeirloomModel
import HeirloomSwiftSource
import TestSupport
import Testing

/// The content of a model made of source, beside its hashes.
struct SwiftDataModelTests {
  private static func entity(_ content: String, _ rest: String = "") throws -> EntityDescription {
    var source = SwiftDataSource()
    source.add(Array("@Model final class A { \(content) }\n\(rest)".utf8), path: "A.swift")
    let root = try #require(source.declaration(of: ["A"], in: []))
    return try #require(try SwiftDataModelBuilder(of: [root], in: source).model().entity(named: "A"))
  }

  static let values: [(String, AttributeType, AttributeValue?)] = [
    ("var x = -1", .integer64, .integer(-1)), ("var x = 1_000", .integer64, .integer(1000)),
    ("var x = -0xFF", .integer64, .integer(-255)), ("var x = 0o17", .integer64, .integer(15)),
    ("var x = 0b101", .integer64, .integer(5)), ("var x: Int16 = 7", .integer16, .integer(7)),
    ("var x = -2.5", .double, .double(-2.5)), ("var x: Double = 1", .double, .double(1)),
    ("var x: Float = 0x10", .float, .double(16)), ("var x: Decimal = 1.50", .decimal, .decimal("1.50")),
    ("var x = true", .boolean, .boolean(true)), ("var x = false", .boolean, .boolean(false)),
    ("var x = \"a b\"", .string, .string("a b")), ("var x = \"\"", .string, .string("")),
    // What is evaluated when the app runs has no place in source.
    ("var x = \"\\(1)\"", .string, nil), ("var x = UUID()", .uuid, nil), ("var x: Int = make()", .integer64, nil),
    ("var x: Int = 1 + 1", .integer64, nil), ("var x: Decimal = 0x10", .decimal, nil),
  ]

  @Test(arguments: values)
  func `a plain initial value is the default`(line: String, type: AttributeType, value: AttributeValue?) throws {
    #expect(try Self.entity(line).attributes == [Make.attribute("x", type, optional: false, value: value)])
  }

  private static func attribute(
    _ type: AttributeType = .integer64, optional: Bool = false, _ change: (inout AttributeDescription) -> Void
  ) -> AttributeDescription {
    Make.attribute("x", type, optional: optional, change)
  }

  static let options: [(String, AttributeDescription)] = [
    ("@Attribute(.spotlight) var x: Int", attribute { $0.isIndexedBySpotlight = true }),
    ("@Attribute(.allowsCloudEncryption) var x: Int", attribute { $0.allowsCloudEncryption = true }),
    ("@Attribute(.preserveValueOnDeletion) var x: Int", attribute { $0.preservesValueInHistoryOnDeletion = true }),
    ("@Attribute(.ephemeral) var x: Int", attribute { $0.isTransient = true }),
    ("@Attribute(.externalStorage) var x: Data", attribute(.binary) { $0.allowsExternalBinaryDataStorage = true }),
    ("@Attribute(originalName: \"y\") var x: Int", attribute { $0.renamingIdentifier = "y" }),
    ("@Attribute(hashModifier: \"2\") var x: Int", attribute { $0.versionHashModifier = "2" }),
    (
      "@Attribute(.transformable(by: Colors.self)) var x: NSColor?",
      attribute(.transformable, optional: true) { $0.valueTransformerName = "Colors" }
    ),
    (
      "var x: [Data]",
      attribute(.transformable) {
        ($0.valueTransformerName, $0.attributeValueClassName) = ("NSSecureUnarchiveFromData", "Array<Data>")
      }
    ),
  ]

  @Test(arguments: options)
  func `an option of an attribute is its flag`(line: String, attribute: AttributeDescription) throws {
    #expect(try Self.entity(line).attributes == [attribute])
  }

  private static func relationship(_ change: (inout RelationshipDescription) -> Void) -> RelationshipDescription {
    Make.toOne("b", "B") { change(&$0) }
  }

  static let relationships: [(String, RelationshipDescription)] = [
    ("@Relationship var b: B?", relationship { $0.deleteRule = .nullify }),
    ("@Relationship(deleteRule: .cascade) var b: B?", relationship { $0.deleteRule = .cascade }),
    (
      "@Relationship(deleteRule: Schema.Relationship.DeleteRule.deny) var b: B?",
      relationship { $0.deleteRule = .deny }
    ),
    ("@Relationship(deleteRule: .noAction) var b: B?", relationship { $0.deleteRule = .noAction }),
    ("@Relationship(originalName: \"c\") var b: B?", relationship { $0.renamingIdentifier = "c" }),
    ("@Relationship(hashModifier: \"2\") var b: B?", relationship { $0.versionHashModifier = "2" }),
    ("@Relationship var b: B", relationship { ($0.isOptional, $0.minCount, $0.maxCount) = (false, 0, 1) }),
    ("@Relationship var b: [B]", relationship { ($0.isOptional, $0.maxCount, $0.isOrdered) = (false, 0, false) }),
  ]

  @Test(arguments: relationships)
  func `an argument of a relationship is in the model`(line: String, relationship: RelationshipDescription) throws {
    #expect(try Self.entity(line, "@Model final class B {}").relationships == [relationship])
  }

  @Test func `an index has the names of its properties run together`() throws {
    let entity = try Self.entity("#Index<A>([\\.x], [\\.y, \\A.x]); var x: Int; var y: Int")
    #expect(entity.indexes.map(\.name) == ["SwiftDataIndexOnBinaryx", "SwiftDataIndexOnBinaryyx"])
    let elements = [["x"], ["y", "x"]].map { $0.map { FetchIndexElementDescription(property: $0) } }
    #expect(entity.indexes.map(\.elements) == elements)
  }

  @Test func `a model has the number of its schema`() throws {
    var source = SwiftDataSource()
    source.add(Array("@Model final class A { var x: Int }".utf8), path: "A.swift")
    let root = try #require(source.declaration(of: ["A"], in: []))
    let builder = SwiftDataModelBuilder(of: [root], in: source)
    #expect(try builder.model(identifier: "2.1.0").versionIdentifiers == ["2.1.0"])
    #expect(try builder.model().versionIdentifiers == ["1.0.0"])
  }
}
