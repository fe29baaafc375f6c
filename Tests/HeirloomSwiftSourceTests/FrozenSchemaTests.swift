import Foundation
import HeirloomModel
import HeirloomSwiftSource
import TestSupport
import Testing

/// Schemas that are written as source of their own, so that no later edit of the app changes them.
struct FrozenSchemaTests {
  /// The first file is called `0.swift`.
  static func schemas(_ files: [String]) -> SwiftDataSchemas {
    var source = SwiftDataSource()
    for (index, file) in files.enumerated() { source.add(Array(file.utf8), path: "\(index).swift") }
    return SwiftDataSchemas(source)
  }

  /// Freezes what the class `A` leads to.
  static func frozen(_ files: [String], roots: [String] = ["A"]) throws(FreezingError) -> FrozenSchema {
    let found = schemas(files)
    return try FrozenSchema(found.schema(of: roots), of: found, name: "SchemaV1", identifier: "1.0.0")
  }

  // MARK: - From source

  static let shop = [
    """
    import SwiftData
    @Model public class A: Identifiable {
      #Unique<A>([\\.code], [\\.place, \\.code])
      #Index<A>([\\.code], [\\.place, \\.made])
      @Attribute(.externalStorage, originalName: "image") private(set) var picture: Data?
      var code = "x"
      let made: Date = .now
      var place: Place
      var state: State = State.open, last: Optional<Model.Mood>
      var size: Size = Size(width: 1)
      var weight: Weight?
      var tags: [String] = ["a", "b"]
      var limit: Int = Constants.limit
      @Transient var open = false
      var isOpen: Bool { open }
      @Relationship(deleteRule: .cascade, inverse: \\Model.B.owner) var parts: [Model.B] = []
      weak var parent: A?
      @Relationship(inverse: \\A.parent) var children: [A]
      var unit: UInt8 = UInt8(3) { didSet { print(unit) } }
      enum State: String, Codable, CaseIterable { case open = "o", `default`; var name: String { "\\(self)" } }
      init(place: Place) { self.place = place; state = .open }
      func pack() -> Model.B? { parts.first }
    }
    """,
    """
    typealias Weight = TimeInterval
    enum Constants { static let limit = 3 }
    struct Size: Codable, Hashable { var width: Int, height: Int? = nil; var box: Box?; struct Box: Codable { var depth = 1.5 } }
    enum Model {
      @Model final class B { var owner: A?; var kinds: [String: Kind] = [:]; init() {} }
      enum Mood: Codable { case good, bad }
      struct Kind: Codable { var wish: Wish = .none; var list: [Wish] = []; enum Wish: Codable { case none; case some(A.State, to: [Mood]) } }
    }
    typealias Place = String
    """,
  ]

  @Test func `a schema of many forms is written with nothing but its own names`() throws {
    let frozen = try Self.frozen(Self.shop)
    #expect(
      frozen.text == #"""
        // Frozen by heirloom freeze: stores of this version were shipped. Do not edit.

        import Foundation
        import SwiftData

        enum SchemaV1: VersionedSchema {
          static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
          static var models: [any PersistentModel.Type] {
            [
              A.self,
              B.self,
            ]
          }

          @Model
          final class A {
            #Unique<A>([\.place, \.code])
            #Index<A>([\.code], [\.place, \.made])

            @Attribute(.externalStorage, originalName: "image") var picture: Data?
            @Attribute(.unique) var code: String = "x"
            let made: Date = .now
            var place: String
            var state: A.State = A.State.open
            var last: Mood?
            // The initial value was left out: Size(width: 1)
            var size: Size
            var weight: TimeInterval?
            var tags: [String] = ["a", "b"]
            // The initial value was left out: Constants.limit
            var limit: Int
            @Relationship(deleteRule: .cascade, inverse: \B.owner) var parts: [B] = []
            var parent: A?
            @Relationship(inverse: \A.parent) var children: [A]
            var unit: UInt8 = UInt8(3)

            enum State: String, Codable {
              case open = "o"
              case `default`
            }

            init(place: String, size: Size, limit: Int, children: [A]) {
              self.place = place
              self.size = size
              self.limit = limit
              self.children = children
            }
          }

          @Model
          final class B {
            var owner: A?
            var kinds: [String: Kind] = [:]

            init() {}
          }

          struct Kind: Codable {
            var wish: Kind.Wish = .none
            var list: [Kind.Wish] = []

            enum Wish: Codable {
              case none
              case some(A.State, to: [Mood])
            }
          }

          enum Mood: Codable {
            case good
            case bad
          }

          struct Size: Codable {
            var width: Int
            var height: Int? = nil
            var box: Size.Box?

            struct Box: Codable {
              var depth: Double = 1.5
            }
          }
        }

        """#)
    #expect(
      frozen.notes == [
        "0.swift:10: the initial value of A.size was left out, since it may refer to declarations outside it",
        "0.swift:13: the initial value of A.limit was left out, since it may refer to declarations outside it",
      ])
    #expect(frozen.hashes == (try Self.model(Self.shop).versionHashes()))
  }

  static func model(_ files: [String]) throws -> ManagedObjectModel {
    let found = schemas(files)
    return try SwiftDataModelBuilder(of: found.schema(of: ["A"]).roots, in: found.source).model()
  }

  /// A property of `A`, what it needs, and the line that the frozen class has for it.
  static let properties: [(property: String, rest: String, line: String)] = [
    ("var x: Int32", "", "var x: Int32"), ("var x: UInt32? = 3", "", "var x: UInt32? = 3"),
    ("var x = -1.5", "", "var x: Double = -1.5"), ("var x: Decimal = 1", "", "var x: Decimal = 1"),
    ("var x: UUID = UUID()", "", "var x: UUID = UUID()"), ("var x = Date()", "", "var x: Date = Date()"),
    ("var x: Foundation.Data = Foundation.Data()", "", "var x: Data = Data()"),
    ("var x: [String]?", "", "var x: [String]?"), ("var x = [String]()", "", "var x: [String] = [String]()"),
    ("var x: String? = nil", "", "var x: String? = nil"),
    ("var x = \"\\\"q\\\" \\u{41}\"", "", "var x: String = \"\\\"q\\\" \\u{41}\""),
    ("var x: Bool = B.isOn", "enum B { static let isOn = true }", "var x: Bool"),
    ("var x = \"\\(word)\"", "let word = 1", "var x: String"),
    ("var x: Date = Date(timeIntervalSince1970: 0)", "", "var x: Date = Date(timeIntervalSince1970: 0)"),
    ("var x: Date = .epoch", "extension Date { static let epoch = Date() }", "var x: Date"),
    ("var x: E = .a", "enum E: Int, Codable { case a = 3, b }", "var x: E = .a"),
    ("var x: E? = E.b", "enum E: Codable { case a, b }", "var x: E? = E.b"),
    ("var x: E = .usual", "enum E: String, Codable { case a; static let usual = E.a }", "var x: E"),
    ("var x: S = S()", "struct S: Codable { var a = 1 }", "var x: S"),
    ("var x = S()", "struct S: Codable { var a = 1 }", "var x: S"),
    ("var x: Date = Date(iso: \"1\")", "extension Date { init(iso: String) { self.init() } }", "var x: Date"),
    ("var x: Double? = .zero", "", "var x: Double? = .zero"),
    ("var x: Bool = make()", "func make() -> Bool { true }", "var x: Bool"),
    ("var x: Old", "typealias Old = E?\nenum E: String, Codable { case a }", "var x: E?"),
    ("var x: N.E", "enum N { enum E: String, Codable { case a } }", "var x: E"),
    ("@Attribute(.ephemeral) var x: Int?", "", "@Attribute(.ephemeral) var x: Int?"),
    ("@Attribute(.unique) var x: String", "", "@Attribute(.unique) var x: String"),
    ("@Attribute(originalName: \"y\") var x: String", "", "@Attribute(originalName: \"y\") var x: String"),
    (
      "@Attribute(.spotlight, .allowsCloudEncryption) var x: Int?", "",
      "@Attribute(.spotlight, .allowsCloudEncryption) var x: Int?"
    ),
    (
      "@Attribute(.transformable(by: Paint.self)) var x: UIColor?", "class Paint {}",
      "@Attribute(.transformable(by: Paint.self)) var x: UIColor?"
    ),
    ("var x: B?", "@Model class B { var y: A? }", "@Relationship(inverse: \\B.y) var x: B?"),
    ("var x: [B] = []", "@Model class B { var y: A? }", "@Relationship(inverse: \\B.y) var x: [B] = []"),
    (
      "var x: [N.B]", "enum N { @Model class B { @Relationship(deleteRule: .deny, inverse: \\A.x) var y: A } }",
      "var x: [B]"
    ),
    (
      "@Relationship(originalName: \"z\") var x: B?", "@Model class B {}",
      "@Relationship(originalName: \"z\") var x: B?"
    ),
    ("var x: B?", "@Model class B {}", "@Relationship var x: B?"),
  ]

  @Test(arguments: properties)
  func `a property is written so that it means the same`(property: String, rest: String, line: String) throws {
    let files = ["import UIKit\n@Model class A { \(property); var z: Int? }", rest]
    let frozen = try Self.frozen(files)
    #expect(frozen.text.split(separator: "\n").contains("    \(line)"), "\(frozen.text)")
    #expect(frozen.hashes == (try Self.model(files).versionHashes()))
    #expect(frozen.text.contains("import UIKit") == property.contains("UIColor"))
    // Nothing is left out or kept as it is without a word.
    let isWhole = property.contains(" = ") == line.contains(" = ") && !line.contains("transformable")
    #expect(frozen.notes.isEmpty == isWhole, "\(frozen.notes)")
  }

  static let refused: [(files: [String], words: [String])] = [
    (["@Model class A { var x: URL; var y: [Int] }"], ["0.swift:1: A.x is not certain", "A.y is not certain"]),
    (["@Model class A { var x: Int }\n}"], ["0.swift:2: this bracket"]),
    (["@Model class B {}"], ["declares \"A\""]),
    (
      [
        "@Model class A { var x: Kind; var y: N.Kind }",
        "enum Kind: String, Codable { case a }\nenum N { enum Kind: String, Codable { case b } }",
      ], ["called Kind: 1.swift:1, 1.swift:2"]
    ),
    (
      ["@Model class A { var b: N.B? }", "enum N { @Model class B { var k: B? }\nstruct B: Codable { var a = 1 } }"],
      ["B"]
    ),
    (
      [
        "@Model class A { var x: [String: S] }",
        "struct S: Codable { var t: T }\nstruct T: Codable { enum CodingKeys: String, CodingKey { case a }\nvar a = 1 }",
      ],
      ["1.swift:2: T has coding keys"]
    ),
    (
      ["@Model class A { var x: [String: S] }", "struct S: Codable { var t: Set<Int> }"],
      ["1.swift:1: only the compiler", "Set<Int>"]
    ),
    (
      ["@Model class A { var x: [String: S] }", "struct S: Codable { var t: URL?; var u: Wine }"],
      ["declares the type Wine"]
    ),
    (["@Model class A { var x: [String: S] }", "struct S: Codable { @Wrapped var t: Int }"], ["how S.t is stored"]),
    (
      ["@Model class A { var x: E }", "enum E: Int, Codable { case a\n#if DEBUG\ncase b\n#endif\n}"],
      ["1.swift:3: the case b of E is in a branch"]
    ),
    (
      [
        "@Model class A { var x: [String: S] }",
        "struct S: Codable { var t: Date; var u: N.Date }\nenum N { struct Date: Codable { var a = 1 } }",
      ],
      ["1.swift:1: it uses Date"]
    ),
    (["@Model class A { var x: Schema? }", "@Model class Schema {}"], ["called Schema"]),
    (["@Model class A { var x: String; var y: N.String? }", "enum N { @Model class String {} }"], ["it uses String"]),
  ]

  @Test(arguments: refused)
  func `what can't be frozen is refused with all reasons and places`(files: [String], words: [String]) throws {
    let error = try #require(throws: FreezingError.self) { try Self.frozen(files) }
    for word in words { #expect(error.reasons.contains { $0.contains(word) }, "\(error.reasons)") }
  }

  @Test(arguments: ["", "a b", "class", "1", "Schema.V1", "_"])
  func `a name that no type can have is refused, and a number that is none`(name: String) throws {
    let found = Self.schemas(["@Model class A { var x: Int? }"])
    let error = try #require(throws: FreezingError.self) {
      try FrozenSchema(found.schema(of: ["A"]), of: found, name: name, identifier: "1.-2.0")
    }
    #expect(error.reasons.count == 2)
  }

  @Test func `a name that two types within types have is led by the schema's`() throws {
    let frozen = try Self.frozen([
      "@Model class A { var x: Kind; var b: B?; enum Kind: String, Codable { case a } }",
      "@Model class B { var y: B.Kind; var z: Kind?; struct Kind: Codable { var a = 1; enum A: Int, Codable { case c }; var d: A? } }",
    ])
    // Within Kind, A is the enumeration: the class needs its schema's name.
    #expect(frozen.text.contains("var x: SchemaV1.A.Kind") && frozen.text.contains("var d: B.Kind.A?"))
  }

  // MARK: - Which schema

  private static let plan = """
    @Model class A { var x: Int? }
    enum V1: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 0, 0)
      static var models: [any PersistentModel.Type] { [A.self] }
      @Model class A { var kind: Kind; enum Kind: String, Codable { case a } }
    }
    enum V2: VersionedSchema {
      static let versionIdentifier = Schema.Version(1, 1, 0)
      static var models: [any PersistentModel.Type] { [A.self] }
    }
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
      static var stages: [MigrationStage] { [] + make() }
    }
    let other = Schema([V1.A.self])
    """

  @Test func `the current schema is the last one of the plan`() throws {
    let found = Self.schemas([Self.plan])
    let current = try found.currentSchema()
    #expect(current.name == "V2" && !found.isFrozen(current) && found.classNames(of: current) == ["A"])
    #expect(found.isFrozen(found.schema(of: ["V1"])))
    #expect(found.plans[0].schemasPlace?.line == 12 && found.plans[0].stagesPlace?.line == 13)
    #expect(found.places(ofType: "V1", besides: current).map(\.line) == [2])
    #expect(found.places(ofType: "V2", besides: current).isEmpty)
  }

  @Test func `a schema that uses a type of another place is not frozen`() {
    let found = Self.schemas([
      Self.plan.replacing("enum Kind: String, Codable { case a }", with: ""), "enum Kind: String, Codable { case a }",
    ])
    #expect(!found.isFrozen(found.schema(of: ["V1"])))
  }

  static let unclear: [(file: String, words: String)] = [
    ("", "no schema and no container"),
    ("let s = Schema([A.self]); let t = Schema([V1.A.self])", "the current schema among these"),
    (plan.replacing("[V1.self, V2.self]", with: "[V1.self] + make()"), "0.swift:12"),
  ]

  @Test(arguments: unclear)
  func `what the source doesn't tell about the current schema is refused`(file: String, words: String) throws {
    let error = try #require(throws: FreezingError.self) { try Self.schemas([file]).currentSchema() }
    #expect(error.reasons.contains { $0.contains(words) }, "\(error.reasons)")
  }

  // MARK: - From a model

  private static func frozen(_ entities: EntityDescription...) throws -> FrozenSchema {
    try FrozenSchema(ManagedObjectModel(entities: entities), name: "V3", identifier: "3.1.0")
  }

  private static func composite(
    _ name: String, _ elements: AttributeDescription..., isEnumeration: Bool = false, optional: Bool = false
  ) -> AttributeDescription {
    var attribute = Make.composite(name, elements, optional: optional)
    if isEnumeration { attribute.userInfo = ["EnumType": "true"] }
    return attribute
  }

  static let crate: EntityDescription = {
    var list = Make.attribute("tags", .transformable, optional: false, value: .binary([]))
    list.attributeValueClassName = "Array<String>"
    var entity = Make.entity(
      "Crate",
      [
        Make.attribute("code", optional: false, value: .string("a\"\n"), id: "number"),
        Make.attribute("data", .binary, external: true), Make.attribute("height", .double, value: .double(-0.5)),
        Make.attribute("id", .uuid, optional: false, value: .uuid(Array(repeating: 1, count: 16)), id: "id"),
        Make.attribute("isOpen", .boolean, optional: false, value: .boolean(true)),
        Make.attribute("made", .date, optional: false, value: .date(700_000_000.25)),
        Make.attribute("price", .decimal, optional: false, value: .decimal("12.50")),
        Make.attribute("size", .integer16, optional: false), Make.attribute("width", .integer32), list,
        composite("box", Make.attribute("depth", .float, optional: false), composite("lid", Make.attribute("a"))),
        composite("mood", Make.attribute("bad"), Make.attribute("good"), isEnumeration: true, optional: true),
        composite("state", Make.attribute("state"), isEnumeration: true),
      ],
      [
        Make.toMany("labels", "Label", "crate"), Make.toOne("lid", "Label"), Make.toOne("owner", "Label", "owned"),
      ], unique: [["code"], ["size", "owner"]])
    entity.relationships[0].isOptional = false
    entity.relationships[2].isOptional = false
    entity.indexes = [FetchIndexDescription(name: "x", elements: [FetchIndexElementDescription(property: "made")])]
    return entity
  }()

  static let label: EntityDescription = {
    var label = Make.entity(
      "Label", [], [Make.toOne("crate", "Crate", "labels"), Make.toOne("owned", "Crate", "owner", optional: true)])
    label.relationships[1].deleteRule = .cascade
    return label
  }()

  @Test func `a model of a store is written as classes that make it`() throws {
    let frozen = try Self.frozen(Self.crate, Self.label)
    #expect(
      frozen.text.hasSuffix(
        """

          @Model
          final class Crate {
            #Unique<Crate>([\\.size, \\.owner])
            #Index<Crate>([\\.made])

            var box: CrateBox
            @Attribute(.unique, originalName: "number") var code: String = "a\\"\\u{a}"
            @Attribute(.externalStorage) var data: Data?
            var height: Double? = -0.5
            var id: UUID = UUID()
            var isOpen: Bool = true
            var made: Date = Date(timeIntervalSinceReferenceDate: 700000000.25)
            var mood: CrateMood?
            var price: Decimal = Decimal(string: "12.50")!
            var size: Int16
            var state: CrateState
            // Its default value was left out.
            var tags: [String]
            var width: Int32?
            @Relationship(inverse: \\Label.crate) var labels: [Label] = []
            @Relationship var lid: Label?
            var owner: Label

            init(box: CrateBox, size: Int16, state: CrateState, tags: [String], owner: Label) {
              self.box = box
              self.size = size
              self.state = state
              self.tags = tags
              self.owner = owner
            }
          }

          @Model
          final class Label {
            var crate: Crate?
            @Relationship(deleteRule: .cascade, inverse: \\Crate.owner) var owned: Crate?

            init() {}
          }

          struct CrateBoxLid: Codable {
            var a: String?
          }

          struct CrateBox: Codable {
            var depth: Float
            var lid: CrateBoxLid
          }

          enum CrateMood: Codable {
            case bad
            case good
          }

          struct CrateState: Codable {
            var state: String?
          }
        }

        """), "\(frozen.text)")
    #expect(frozen.notes.count == 3, "\(frozen.notes)")
  }

  @Test func `what no class of SwiftData makes is refused with all reasons`() throws {
    var ordered = Make.toMany("a", "B", ordered: true)
    ordered.minCount = 1
    let painted = Make.attribute("paint", .transformable)
    let entities = [
      Make.entity("B", [painted, Make.attribute("in"), Make.attribute("link", .uri)], [ordered]),
      Make.entity("C", parent: "B"), Make.entity("my D", isAbstract: true),
      Make.entity(
        "Type", [Self.composite("e", Make.attribute("n", .integer64), Make.attribute("o"), isEnumeration: true)]),
    ]
    let error = try #require(throws: FreezingError.self) {
      try FrozenSchema(ManagedObjectModel(entities: entities), name: "V3", identifier: "3.0.0")
    }
    let words = [
      "B.paint is of type Transformable", "B.in has a name", "B.link is of type URI", "B.a is ordered",
      "B.a has a least", "C has a parent", "\"my D\" has a name", "my D is abstract", "case n has associated values",
      "called Type can't be nested",
    ]
    for word in words { #expect(error.reasons.contains { $0.contains(word) }, "\(word): \(error.reasons)") }
    #expect(error.reasons.count == words.count)
  }

  @Test func `what would read back otherwise is refused by the entity's name`() throws {
    // The leaf of an optional structure is always optional.
    let odd = Self.composite("x", Make.attribute("a", optional: false), optional: true)
    let error = try #require(throws: FreezingError.self) { try Self.frozen(Make.entity("Odd", [odd])) }
    #expect(error.reasons == ["Odd can't be written so that it keeps its version hash"])
  }

  // MARK: - What follows

  @Test func `a plan is written with the next schema and the stage where there is none`() throws {
    let frozen = try Self.frozen(Self.shop)
    let next = FrozenSuccession(after: frozen, classes: ["A", "Model.B"], plan: nil, stage: .lightweight)
    #expect(
      next.text == """
        enum SchemaV2: VersionedSchema {
          static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
          static var models: [any PersistentModel.Type] { [A.self, Model.B.self] }
        }

        enum MigrationPlan: SchemaMigrationPlan {
          static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self] }
          static var stages: [MigrationStage] { [schemaV1ToSchemaV2] }

          static var schemaV1ToSchemaV2: MigrationStage {
            .lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)
          }
        }
        """)
    // What is to be pasted is read as what it says.
    let found = Self.schemas(Self.shop + [frozen.text, next.text])
    let plan = try #require(found.plans.first)
    #expect(plan.schemas == ["SchemaV1", "SchemaV2"] && plan.faults.isEmpty)
    #expect(plan.stages.map(\.destination) == ["SchemaV2"] && plan.stages.map(\.kind) == [.lightweight])
    #expect(try found.currentSchema().name == "SchemaV2")
    #expect(found.isFrozen(found.schema(of: ["SchemaV1"])) && plan.hasAllSchemas)
  }

  @Test func `a plan that is there gets a stage, and a schema whose name is free`() throws {
    let found = Self.schemas([Self.plan])
    let frozen = try FrozenSchema(found.currentSchema(), of: found, name: "V1", identifier: "1.0.0")
    let next = FrozenSuccession(after: frozen, classes: ["A"], plan: found.plans[0], stage: .custom)
    #expect(next.next == "V3" && next.entry == "V3.self" && next.stage == "v1ToV3")
    #expect(
      next.text == """
        enum V3: VersionedSchema {
          static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
          static var models: [any PersistentModel.Type] { [A.self] }
        }

        extension Plan {
          static var v1ToV3: MigrationStage {
            .custom(
              fromVersion: V1.self, toVersion: V3.self,
              willMigrate: { context in
                // The store has the classes of V1 here: no others can be used.
                try context.save()
              },
              didMigrate: { context in
                // The store has the classes of V3 here: no others can be used.
                try context.save()
              }
            )
          }
        }
        """)
    let before = FrozenSuccession(
      after: frozen, before: "V2", classes: ["A"], plan: found.plans[0], stage: .lightweight)
    #expect(before.next == "V2" && before.entry == "V1.self" && before.stage == "v1ToV2")
    #expect(!before.text.contains("VersionedSchema"))
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct FrozenSchemaCorpusTests {
  static func schema(
    _ item: SwiftDeclarations.Case
  ) throws -> (schema: SwiftDataSchemas.Schema, found: SwiftDataSchemas) {
    let declarations = try SwiftDeclarations(item.file)
    // What a case of one enumeration holds is not told there.
    let rest = [
      "Agave", "Amaro", "Bitters", "Brandy", "FortifiedWine", "Fruit", "Gin", "Herbs", "Juice", "Liqueur",
      "OtherAlcohol", "OtherNA", "Rum", "Seasoning", "Soda", "Syrup", "Vodka", "Whiskey", "Wine",
    ].map { "enum \($0): String, Codable { case a }" }
    let found = FrozenSchemaTests.schemas([declarations.source, rest.joined(separator: "\n")])
    return (found.schema(of: declarations.roots), found)
  }

  @Test(arguments: SwiftDeclarations.all)
  func `source keeps the hashes of its store when it is frozen`(_ item: SwiftDeclarations.Case) throws {
    let (schema, found) = try Self.schema(item)
    let frozen = try FrozenSchema(schema, of: found, name: "Frozen", identifier: "1.0.0")
    var equal = 0
    for (entity, hash) in item.hashes where frozen.hashes[entity]?.description == hash { equal += 1 }
    #expect(equal == (item.isNegative ? 0 : item.hashes.count))
    let model = try SwiftDataModelBuilder(of: schema.roots, in: found.source).model()
    do throws(FreezingError) {
      let written = try FrozenSchema(model, name: "Frozen", identifier: "1.0.0")
      #expect(written.hashes == frozen.hashes)
    } catch {
      // Only colours that a transformer makes are not to be told from a model.
      #expect(error.reasons.allSatisfy { $0.contains(".color is of type Transformable") }, "\(error.reasons)")
    }
  }

  @Test(arguments: Corpus.compiledModelPaths.filter { $0.contains("-swiftdata/") })
  func `the model in a store keeps its hashes when it is frozen`(path: String) throws {
    let model = try Corpus.model(at: Corpus.folder.appendingPathComponent(path).path)
    let frozen = try FrozenSchema(model, name: "Frozen", identifier: "1.0.0")
    #expect(frozen.hashes == model.versionHashes())
  }
}
