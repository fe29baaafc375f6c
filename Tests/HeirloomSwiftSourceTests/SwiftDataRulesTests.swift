import HeirloomModel
import HeirloomSwiftSource
import TestSupport
import Testing

/// The hashes and doubts of small sources; a hash without a doubt has to be that of a model made by hand.
struct SwiftDataRulesTests {
  struct Rule: CustomTestStringConvertible, Sendable {
    let files: [String]
    /// The entities, also those that are doubted if others lead to them.
    var entities: [EntityDescription] = []
    /// Words of the reason, by the entity that isn't certain.
    var doubts: [String: String] = [:]
    var roots = ["A"]

    var testDescription: String { files.joined(separator: " // ") }
  }

  static func certain(_ property: String, _ files: String..., is attribute: AttributeDescription) -> Rule {
    Rule(files: ["@Model final class A { \(property) }"] + files, entities: [Make.entity("A", [attribute])])
  }

  static func doubtful(_ property: String, _ files: String..., because words: String) -> Rule {
    Rule(files: ["@Model final class A { \(property) }"] + files, doubts: ["A": words])
  }

  static func plain(_ type: AttributeType, optional: Bool = false) -> AttributeDescription {
    Make.attribute("x", type, optional: optional)
  }

  static func composite(_ leaves: AttributeDescription...) -> AttributeDescription {
    Make.composite("x", leaves, optional: false)
  }

  /// A composite of an enumeration with the cases `a` and `b`, and without a raw type.
  static let cases = composite(Make.attribute("a"), Make.attribute("b"))

  func check(_ rule: Rule) throws {
    var source = SwiftDataSource()
    for (index, file) in rule.files.enumerated() { source.add(Array(file.utf8), path: "\(index).swift") }
    #expect(source.faults.isEmpty)
    let roots = try rule.roots.map { name in
      let meaning = source.meaning(of: name.split(separator: ".").map(String.init), in: [])
      guard case .type(let root)? = meaning else { throw UnknownRoot(name: name) }
      return root
    }
    let builder = SwiftDataModelBuilder(of: roots, in: source)
    let expected = try ManagedObjectModel(entities: rule.entities).versionHashes()
    for (entity, words) in rule.doubts {
      let reasons = builder.doubts.filter { $0.entity == entity }.map(\.reason)
      #expect(reasons.contains { $0.contains(words) }, "\(entity): \(reasons)")
    }
    #expect(builder.uncertainEntities == Set(rule.doubts.keys), "\(builder.doubts.map { ($0.entity, $0.reason) })")
    let hashes = try builder.model().versionHashes()
    for (entity, hash) in hashes where rule.doubts[entity] == nil { #expect(hash == expected[entity], "\(entity)") }
    #expect(Set(hashes.keys).isSuperset(of: expected.keys))
  }

  // MARK: - Enumerations

  static let rawTypes: [Rule] =
    [
      "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "CGFloat", "Character", "Float",
      "Double", "TimeInterval", "Decimal", "Shade", "Other.Shade", "OptionSet", "RawRepresentable",
    ].map { doubtful("var x: E", "enum E: \($0), Codable { case a, b }", because: $0) } + [
      certain("var x: E", "enum E: Int, Codable { case a, b }", is: composite(Make.attribute("x", .integer64))),
      certain("var x: E", "enum E: Swift.String, Codable { case a, b }", is: composite(Make.attribute("x"))),
      certain(
        "var x: E", "enum E: Code, Codable { case a, b }", "typealias Code = Int",
        is: composite(Make.attribute("x", .integer64))),
      certain(
        "var x: E", "enum E: Code, Codable { case a, b }", "typealias Code = Kind\ntypealias Kind = Swift.String",
        is: composite(Make.attribute("x"))),
      doubtful(
        "var x: E", "enum E: Code, Codable { case a, b }", "typealias Code = Int16", because: "may have the raw type"),
      // The name in the clause is sought outside of the enumeration.
      certain(
        "var x: E", "enum E: Code, Codable { case a, b; typealias Code = Int16 }", "typealias Code = Int",
        is: composite(Make.attribute("x", .integer64))),
      doubtful(
        "var x: E", "enum E: Code, Codable { case a, b }",
        "#if os(iOS)\ntypealias Code = Int\n#else\ntypealias Code = String\n#endif", because: "may have the raw type"),
      doubtful(
        "var x: E", "enum E: Word, Codable { case a, b }", "struct Word: ExpressibleByStringLiteral {}",
        because: "may have the raw type Word"),
      doubtful(
        "var x: E", "enum E: String, Codable { case a, b }", "struct String: ExpressibleByStringLiteral {}",
        because: "may have the raw type String"),
      certain("var x: E", "enum E: Coded, Codable { case a, b }", "protocol Coded {}", is: cases),
      certain("var x: E", "enum E: Codable, CaseIterable, Identifiable { case a, b }", is: cases),
      certain("var x: E", "enum E { case a, b }", "extension E: Codable {}", is: cases),
      certain("var x: E", "indirect enum E: Codable { case a; case b }", is: cases),
    ]

  @Test(arguments: rawTypes)
  func `an enumeration has the raw type that its first inherited name stands for`(_ rule: Rule) throws {
    try check(rule)
  }

  static let enumerations: [Rule] = [
    doubtful("var x: E", "enum E: Codable { case a(Int), b }", because: "has associated values"),
    doubtful("var x: E", "enum E: Codable { case a\n#if DEBUG\ncase b\n#endif\n}", because: "in a branch of #if"),
    certain(
      "var x: E", "enum E: Int, Codable { case a\n#if DEBUG\ncase b\n#endif\n}",
      is: composite(Make.attribute("x", .integer64))),
    doubtful("var x: E", "enum E: Codable { case a, `default` }", because: "in backticks"),
    certain(
      "var x: E", "enum E: String, Codable { case a, `default` }", is: composite(Make.attribute("x"))),
    doubtful("var x: E", "enum E: Codable {}", because: "has no cases"),
    doubtful("var x: E", "enum E: Codable { case a, b, a }", because: "a of E is declared twice"),
    doubtful(
      "var x: E", "enum E: Codable { case a, b; enum CodingKeys: String, CodingKey { case a = \"z\", b } }",
      because: "has coding keys"),
    doubtful("var x: E", "enum E: String { case a }", because: "known to be Codable"),
    // A raw-value initializer that the compiler writes can fail.
    doubtful("var x = E(rawValue: 1)", "enum E: Int, Codable { case a, b }", because: "only the compiler"),
  ]

  @Test(arguments: enumerations)
  func `the cases of an enumeration count as far as they are certain`(_ rule: Rule) throws { try check(rule) }

  // MARK: - Coding

  /// They have nine to the eighth members together.
  static let tower =
    (0..<8).map { level in
      let members = (0..<9).map { "var p\($0): S\(level + 1)" }
      return "struct S\(level): Codable { \(members.joined(separator: "; ")) }"
    }.joined(separator: "\n") + "\nstruct S8: Codable { var a = 1 }"

  static let coding: [Rule] = [
    doubtful("var x: S", "struct S: OptionSet, Codable { let rawValue: Int }", because: "OptionSet"),
    doubtful("var x: S", "struct S: Codable { let rawValue: Int }", "extension S: OptionSet {}", because: "OptionSet"),
    doubtful("var x: S", "struct S: RawRepresentable, Codable { var rawValue: Int }", because: "RawRepresentable"),
    doubtful(
      "var x: S", "struct S: Codable { var a = 1; func encode(to e: Encoder) throws {} }", because: "encode(to:)"),
    doubtful(
      "var x: S", "struct S: Codable { var a = 1; init(from d: any Decoder) throws {} }", because: "init(from:)"),
    doubtful(
      "var x: S", "struct S: Codable { var a = 1 }", "extension S {\n  init(\n    from d: Swift.Decoder) throws {} }",
      because: "init(from:)"),
    doubtful(
      "var x: E", "enum E: String, Codable { case a }", "extension E { init(from d: Decoder) throws { self = .a } }",
      because: "init(from:)"),
    doubtful("var x: S", "struct S: Codable, Stored { var a = 1 }", because: "S is Stored"),
    doubtful("var x: S", "struct S: Codable { var a = 1 }", "extension S: Stored {}", because: "S is Stored"),
    doubtful(
      "var x: S", "struct S: Codable, Stored { var a = 1 }", "protocol Stored {}",
      "extension Stored where Self: Hashable { func encode(to encoder: Encoder) throws {} }", because: "an extension of"
    ),
    doubtful(
      "var x: S", "struct S: Codable, Stored { var a = 1 }", "protocol Stored: Base {}", "protocol Base: OptionSet {}",
      because: "OptionSet"),
    doubtful(
      "var x: S", "struct S: Codable { var a = 1 }", "extension Encodable { func encode(to e: Encoder) throws {} }",
      because: "an extension of"),
    doubtful("var x: S", "@Coded struct S: Codable { var a = 1 }", because: "@Coded"),
    doubtful("var x: S", "struct S: Codable { var a = 1; #coded }", because: "#coded"),
    doubtful("var x: S", "struct S: Codable { @Coded var a = 1 }", because: "S.a"),
    doubtful("var x: S", "struct S: Codable { var a = 1; typealias CodingKeys = Keys }", because: "has coding keys"),
    doubtful(
      "var x: S", "struct S: Codable { var a = 1 }", "extension S { private enum CodingKeys: CodingKey { case a } }",
      because: "has coding keys"),
    doubtful("var x: S", "struct S: Codable { let a = 1 }", because: "S.a"),
    doubtful("var x: S", "struct S: Codable { var `a` = 1 }", because: "S.a"),
    doubtful("var x: S", "struct S: Codable { lazy var a = 1 }", because: "S.a"),
    doubtful("var x: S", "struct S: Codable { var a = 1; var b = 2; var a = 3 }", because: "S declares a twice"),
    doubtful("var x: S", "struct S: Codable { static let a = 1; var b: Int { 1 } }", because: "no stored properties"),
    doubtful("var x: S0", tower, because: "too many members"),
    doubtful("var x: S", "struct S<T>: Codable { var a = 1 }", because: "generic"),
    doubtful("var x: S", "struct S: Codable { var a: [String] }", because: "a member of a structure"),
    doubtful(
      "var x: S", "struct S: Codable { var a: [String: T] }\nstruct T: Codable { var b = 1 }", because: "[String: T]"),
    doubtful(
      "var x: S", "struct S: Codable { var a: [T] }\nstruct T: Codable { func encode(to e: Encoder) {} }",
      because: "encode(to:)"),
    doubtful("var x: [String: T]", "struct T: OptionSet, Codable { var rawValue = 1 }", because: "OptionSet"),
    doubtful("var x: S", "struct S: ~Copyable, Codable { var a = 1 }", because: "~Copyable"),
    doubtful(
      "var x: S", "struct S: Codable, Hashable { var a = 1 }",
      "extension Hashable { func encode(to e: Encoder) throws {} }", because: "an extension of Hashable"),
    certain(
      "var x: S", "struct S: Codable, P0 { var a: Int? }",
      (0..<40).map { "protocol P\($0): P\($0 + 1), P\($0 + 1), P0 {}" }.joined(separator: "\n") + "\nprotocol P40 {}",
      is: composite(Make.attribute("a", .integer64))),
    // Functions of other kinds tell nothing.
    certain(
      "var x: S", "struct S: Codable, Stored, Hashable { var a: TimeInterval\nlet b: Int? }",
      "protocol Stored: Codable {}",
      "extension S { func encode() -> Int { 1 }; init(from s: S) { self = s }; func encode(to s: String) {} }",
      "extension Encodable { func encode(with c: Encoder) {} }",
      is: composite(Make.attribute("a", .double, optional: false), Make.attribute("b", .integer64))),
    certain(
      "var x: S", "struct S: Codable { var a: [E]? }\nenum E: String, Codable { case b }",
      is: composite(Make.attribute("a", .binary))),
    certain("var x: [String: T]?", "struct T: Codable { var b = 1 }", is: plain(.binary, optional: true)),
  ]

  @Test(arguments: coding)
  func `a type that may be coded in its own way isn't certain`(_ rule: Rule) throws { try check(rule) }

  // MARK: - Types and values

  static let plainTypes: [Rule] = [
    ("Bool", AttributeType.boolean), ("String", .string), ("Date", .date), ("Data", .binary), ("UUID", .uuid),
    ("Int", .integer64), ("Int64", .integer64), ("UInt64", .integer64), ("Int32", .integer32), ("UInt32", .integer32),
    ("Int16", .integer16), ("UInt8", .integer16), ("Double", .double), ("Float", .float), ("Decimal", .decimal),
  ].flatMap { name, type in
    [certain("var x: \(name)", is: plain(type)), certain("var x: \(name)?", is: plain(type, optional: true))]
  }

  @Test(arguments: plainTypes)
  func `a type of the library has its attribute`(_ rule: Rule) throws { try check(rule) }

  /// As SwiftUI resolves a colour.
  static func color(optional: Bool) -> AttributeDescription {
    composite(
      Make.attribute("linearRed", .float, optional: optional),
      Make.attribute("linearGreen", .float, optional: optional),
      Make.attribute("linearBlue", .float, optional: optional), Make.attribute("opacity", .float, optional: optional))
  }

  static let types: [Rule] = [
    certain("var x: Color.Resolved", is: color(optional: false)),
    certain("var x: Color.Resolved?", is: color(optional: true)),
    doubtful("var x: E.Type", "enum E: String, Codable { case a }", because: "E.Type"),
    certain("var x: TimeInterval", is: plain(.double)),
    certain("var x: Foundation.TimeInterval?", is: plain(.double, optional: true)),
    certain("var x: Word", "typealias Word = String?", is: plain(.string, optional: true)),
    certain("var x: Word?", "typealias Word = Text\ntypealias Text = String", is: plain(.string, optional: true)),
    doubtful("var x: Word?", "typealias Word = String?", because: "String??"),
    certain("var x: Words", "typealias Words = [Word]\ntypealias Word = String", is: plain(.transformable)),
    certain("var x: Array<String>?", is: plain(.transformable, optional: true)),
    certain("var x: Swift.Optional<Foundation.Date>", is: plain(.date, optional: true)),
    doubtful("var x: Optional<Optional<Int>>", because: "Int??"),
    doubtful("var x: Int??", because: "Int??"),
    doubtful("var x: Int!", because: "Int!"),
    doubtful("var x: [String?]", because: "[String?]"),
    doubtful("var x: [[String]]", because: "[[String]]"),
    doubtful("var x: [TimeInterval]", because: "[TimeInterval]"),
    doubtful("var x: Set<String>", because: "Set<String>"),
    doubtful("var x: URL", because: "URL"),
    doubtful("var x: CGFloat", because: "CGFloat"),
    doubtful("var x: List<Int>", "typealias List<T> = [T]", because: "List<Int>"),
    doubtful("var x: S", "typealias S = S", because: "S"),
    doubtful("var x: S.T", "typealias S = S", because: "S.T"),
    doubtful(
      "var x: V0.Z.T",
      (0..<40).reduce("\n#if DEBUG\ntypealias Z = Z.B\n#endif\n") {
        "\n#if DEBUG\ntypealias Z = Z.B\n#endif\nenum V\(40 - $1) {\($0)}"
      } + "\nenum V0 { typealias Z = V1.V2.V3.V4.V5.V6.V7.V8.Z }", because: "Z.T"),
    // Aliases that lead to very many names.
    doubtful(
      "var x: A0", (0..<30).map { "typealias A\($0) = [A\($0 + 1): (A\($0 + 1), A\($0 + 1))]" }.joined(separator: "\n"),
      because: "property of type"),
    doubtful(
      "var x: Word", "#if DEBUG\ntypealias Word = Int\n#else\ntypealias Word = Int?\n#endif", because: "several types"),
    certain("var x: Word", "#if DEBUG\ntypealias Word = Int\n#endif", is: plain(.integer64)),
    // A type of the library's name, in these files.
    certain(
      "var x: Date", "struct Date: Codable { var day: Int }",
      is: composite(Make.attribute("day", .integer64, optional: false))),
    certain("var x: Foundation.Date", "struct Date: Codable { var day: Int }", is: plain(.date)),
    doubtful("var x: Date", "#if os(Linux)\nstruct Date: Codable { var day: Int }\n#endif", because: "several types"),
    doubtful("var x: [String]", "enum String: Codable { case a }", because: "[String]"),
    doubtful(
      "var x: [String: T]", "enum String: Codable { case a }\nstruct T: Codable { var a = 1 }", because: "[String: T]"),
    doubtful("var x = \"\"", "enum String: Codable { case a }", because: "only the compiler"),
    doubtful("@Attribute(.transformable(by: \"T\")) var x: NSColor!", because: "NSColor!"),
    certain(
      "@Attribute(.transformable(by: \"T\")) var x: Shade", "typealias Shade = NSColor?",
      is: plain(.transformable, optional: true)),
  ]

  @Test(arguments: types)
  func `an alias is its type, and an unusual type isn't certain`(_ rule: Rule) throws { try check(rule) }

  static let values: [Rule] =
    [
      ("0b1", AttributeType.integer64), ("0o17", .integer64), ("0xFF", .integer64), ("0xE1", .integer64),
      ("-1", .integer64), ("1_000", .integer64), ("0x1p3", .double), ("-0x1.8p-2", .double), ("1e3", .double),
      ("1E+3", .double), ("0e1", .double), ("-1_0.5", .double), ("true", .boolean), ("\"a\\(1)\"", .string),
      ("UUID()", .uuid), ("Date()", .date), ("Date(timeIntervalSince1970: 0)", .date), ("Foundation.Data()", .binary),
      ("[String]()", .transformable), ("T()", .integer64),
    ].map { certain("var x = \($0.0)", "typealias T = Int", is: plain($0.1)) }
    + [
      "UUID(uuidString: \"\")", "Int(\"1\")", "Double(1)", "Data(base64Encoded: \"\")", "1 + 1", "make()", "[1]", "+1",
      "T(1)", "V1.make()", "0.5.rounded()",
    ].map { doubtful("var x = \($0)", "typealias T = Int", because: "only the compiler") } + [
      doubtful("var x = S(1)", "struct S: Codable { var a = 1; init?(_ a: Int) {} }", because: "only the compiler"),
      doubtful(
        "var x = S(1)", "struct S: Codable { var a = 1 }", "extension S { init?(_ a: Int) {} }",
        because: "only the compiler"),
      doubtful("var x = S(a: 1)\n  as S?", "struct S: Codable { var a = 1 }", because: "only the compiler"),
      // One that stands in an extension of a protocol, of the library's or of these files.
      doubtful(
        "var x = S(b: 1)", "struct S: T, Codable { var a = 1 }", "protocol T: U {}\nprotocol U {}",
        "extension U { init?(b: Int) {} }", because: "only the compiler"),
      doubtful(
        "var x = S(b: 1)", "struct S: Codable { var a = 1 }", "extension S: T & Sendable {}",
        "protocol T {}\nextension T { init?(b: Int) {} }", because: "only the compiler"),
      doubtful(
        "var x = S(b: 1)", "struct S: Codable { var a = 1 }", "extension S: Comparable {}",
        "extension Equatable { init?(b: Int) {} }", because: "only the compiler"),
      doubtful("var x = Date(b: 1)", "extension Date { init?(b: Int) {} }", because: "only the compiler"),
      certain(
        "var x = S(a: 1)", "struct S: T, Codable { var a = 1 }", "protocol T { init?(a: Int) }",
        is: composite(Make.attribute("a", .integer64, optional: false))),
      certain(
        "var x = S(a: 1)", "struct S: Codable { var a = 0b1 }",
        is: composite(Make.attribute("a", .integer64, optional: false))),
    ]

  /// A module can give its literals another type; an alias within a type can't.
  static let literals: [Rule] =
    [
      ("1", "IntegerLiteralType"), ("0.5", "FloatLiteralType"), ("true", "BooleanLiteralType"),
      ("\"\"", "StringLiteralType"),
    ].map { doubtful("var x = \($0.0)", "typealias \($0.1) = Own", because: "only the compiler") } + [
      doubtful("var x = 1 }\nprivate typealias IntegerLiteralType = Int16; class B {", because: "only the compiler"),
      certain("var x = 1", "private typealias IntegerLiteralType = Int16", is: plain(.integer64)),
      certain("var x = 1", "typealias FloatLiteralType = Float", is: plain(.integer64)),
      certain("var x = 1", "struct B { typealias IntegerLiteralType = Int16 }", is: plain(.integer64)),
      certain("var x: Double = 1", "typealias IntegerLiteralType = Int16", is: plain(.double)),
    ]

  @Test(arguments: literals)
  func `a literal has the type of the library unless the module says otherwise`(_ rule: Rule) throws { try check(rule) }

  @Test(arguments: values)
  func `an initial value tells the type if it can tell just one`(_ rule: Rule) throws { try check(rule) }

  // MARK: - Relationships

  /// A class `A` with `kids` and a class `B`, which each have the other in one property.
  static func family(
    _ kids: String, _ parent: String = "var parent: A?", _ files: String..., optional: Bool = false,
    toMany: Bool = true, doubts: [String: String] = [:]
  ) -> Rule {
    var relationship = toMany ? Make.toMany("kids", "B", "parent") : Make.toOne("kids", "B", "parent")
    relationship.isOptional = optional
    return Rule(
      files: ["@Model final class A { \(kids) }\n@Model final class B { \(parent) }"] + files,
      entities: [Make.entity("A", [], [relationship]), Make.entity("B", [], [Make.toOne("parent", "A", "kids")])],
      doubts: doubts, roots: ["A", "B"])
  }

  static let relationships: [Rule] = [
    // A name that no file declares may be another one of a model class, and that property the inverse.
    family("var kids: Kids", doubts: ["A": "Kids", "B": "A may have further relationships"]),
    family("var kids: Set<Kid>", doubts: ["A": "Set<Kid>", "B": "A may have further relationships"]),
    Rule(
      files: ["@Model class A { var a: Kids; @Relationship(inverse: \\B.a) var b: [B] }\n@Model class B { var a: A? }"],
      entities: [
        Make.entity("A", [], [Make.toMany("b", "B", "a")]), Make.entity("B", [], [Make.toOne("a", "A", "b")]),
      ], doubts: ["A": "Kids"], roots: ["A", "B"]),
    family("var kids: [B]; var link: URL?; var marks: [CGFloat]", doubts: ["A": "URL"]),
    family("var kids: [B]; var others: Kids", doubts: ["A": "Kids", "B": "A may have further relationships"]),
    family(
      "@Relationship(inverse: \\B.parent) var kids: [B]; @Relationship(inverse: \\B.parent) var others: Kids",
      doubts: ["A": "Kids", "B": "A.others names it"]),
    family("var kids: [B]"),
    family("@Relationship(inverse: \\B.parent) var kids: Array<B>?", optional: true),
    family("var kids: Kids", "var parent: A?", "typealias Kids = [B]"),
    family(
      "@Relationship(inverse: \\B.parent) var kids: Kids?", "var parent: A?",
      "typealias Kids = Array<Kid>\ntypealias Kid = B", optional: true),
    family("var kids: [Kid]", "var parent: Parent", "typealias Kid = B\ntypealias Parent = Optional<A>"),
    family("var kids: Kid", "var parent: A?", "typealias Kid = B?", optional: true, toMany: false),
    family("var kids = Kids()", "weak var parent: A?", "typealias Kids = [B]"),
    family("@Relationship(deleteRule: .cascade, inverse: \\B.parent)\n  var kids: [B]"),
    family("var kids: [B]", "@Relationship(\n  inverse: \\Parent.kids) var parent: A?", "typealias Parent = A"),
    // Forms that no store shows: nor is the other side certain then.
    family("var kids: Kids?", "var parent: A?", "typealias Kids = [B]?", doubts: ["A": "[B]??", "B": "A may have"]),
    family("var kids: [B?]", doubts: ["A": "[B?]", "B": "A may have"]),
    family("var kids: [[B]]", doubts: ["A": "[[B]]", "B": "A may have"]),
    family("var kids: Set<B>", doubts: ["A": "Set<B>", "B": "A may have"]),
    family("var kids: B!", doubts: ["A": "B!", "B": "A may have"]),
    family("var kids: [B]", "var parent: A!", doubts: ["A": "B may have", "B": "A!"]),
    family("var kids = makeKids()", doubts: ["A": "only the compiler", "B": "A may have"]),
    family("#if DEBUG\n var kids: [B]\n#endif", doubts: ["A": "in a branch", "B": "isn't certain"]),
    family("@Cached var kids: [B]", doubts: ["A": "@Cached", "B": "isn't certain"]),
    family("var `kids`: [B]", doubts: ["A": "backticks", "B": "isn't certain"]),
    family("var kids: [B]", "@Attribute(.unique) var parent: A?", doubts: ["A": "isn't certain", "B": "@Attribute"]),
    family(
      "var kids: [B]", "@Relationship(minimumModelCount: 1) var parent: A?",
      doubts: ["A": "isn't certain", "B": "minimum"]),
    family(
      "var kids: [B]", "@Relationship(hashModifier: \"2\") var parent: A?",
      doubts: ["A": "isn't certain", "B": "hash modifier"]),
    family(
      "@Relationship(.unique, inverse: \\B.parent) var kids: [B]",
      doubts: ["A": "option .unique", "B": "isn't certain"]),
    family("@Relationship @Relationship var kids: [B]", doubts: ["A": "twice", "B": "isn't certain"]),
    // Inverses that lead elsewhere.
    family(
      "@Relationship(inverse: \\B.none) var kids: [B]",
      doubts: ["A": "isn't a relationship of B", "B": "isn't certain"]),
    family(
      "@Relationship(inverse: \\A.kids) var kids: [B]",
      doubts: ["A": "doesn't seem to be a property of B", "B": "isn't certain"]),
    family(
      "@Relationship(inverse: \\B.parent.parent) var kids: [B]",
      doubts: ["A": "doesn't seem to be a property of B", "B": "isn't certain"]),
    family("@Relationship(inverse: \\B.parent?.kids) var kids: [B]", doubts: ["A": "inverse", "B": "isn't certain"]),
    family(
      "#if DEBUG\n@Relationship(inverse: \\B.parent)\n#endif\nvar kids: [B]",
      doubts: ["A": "in a branch", "B": "isn't certain"]),
    // One candidate that the macro keeps alone.
    Rule(
      files: ["@Model class A { @Relationship(inverse: nil) var b: B? }; @Model class B { var a: A? }"],
      entities: [Make.entity("A", [], [Make.toOne("b", "B")]), Make.entity("B", [], [Make.toOne("a", "A")])]),
    Rule(
      files: ["@Model class A { var b: B? }; @Model class B { var a: A?; var other: A? }"],
      doubts: ["A": "more than one inverse", "B": "more than one inverse"]),
    Rule(
      files: ["@Model class A { var b: B }; @Model class B { var a: A }"],
      doubts: ["A": "of these types", "B": "of these types"]),
    Rule(
      files: ["@Model class A { var b: [B]? }; @Model class B { var a: [A]? }"],
      doubts: ["A": "of these types", "B": "of these types"]),
    Rule(
      files: ["@Model class A { var b: [B] }; @Model class B { var a: [A] }"],
      doubts: ["A": "of these types", "B": "of these types"]),
    family("var kids: [B]?", doubts: ["A": "of these types", "B": "of these types"]),
    family("var kids: B", toMany: false, doubts: ["A": "of these types", "B": "of these types"]),
    // Within one class.
    Rule(files: ["@Model class A { var next: A? }"], doubts: ["A": "from a class to itself"]),
    Rule(files: ["@Model class A { @Relationship var next: A? }"], doubts: ["A": "from a class to itself"]),
    Rule(files: ["@Model class A { @Relationship(inverse: \\A.next) var next: A? }"], doubts: ["A": "its own inverse"]),
    Rule(
      files: ["@Model class A { @Relationship(inverse: \\A.parent) var kids: [A]?; var parent: A? }"],
      entities: [Make.entity("A", [], [Make.toMany("kids", "A", "parent"), Make.toOne("parent", "A", "kids")])]),
  ]

  @Test(arguments: relationships)
  func `a relationship without a doubt has its form and its inverse`(_ rule: Rule) throws { try check(rule) }

  static let claims: [Rule] = [
    Rule(
      files: [
        "@Model class A { @Relationship(inverse: \\C.one) var c: C? }",
        "@Model class B { @Relationship(inverse: \\C.one) var c: C? }",
        "@Model class C { var one: A? }",
      ],
      doubts: ["A": "several inverses", "B": "refers to A", "C": "several inverses"], roots: ["A", "B"]),
    Rule(
      files: [
        "@Model class A { @Relationship(inverse: \\C.one) var c: C?; @Relationship(inverse: \\C.one) var d: C? }",
        "@Model class C { var one: A?; var two: A? }",
      ],
      doubts: ["A": "several inverses", "C": "isn't certain"]),
    Rule(
      files: [
        "@Model class A { @Relationship(inverse: \\C.one) var c: C?; var d: C? }",
        "@Model class C { @Relationship(inverse: \\A.d) var one: A? }",
      ],
      doubts: ["A": "several inverses", "C": "several inverses"]),
    Rule(
      files: [
        "@Model class A { @Relationship(inverse: \\C.one) var c: C? }", "@Model class B { var c: C? }",
        "@Model class C { var one: B? }",
      ],
      doubts: ["A": "refers to B", "B": "isn't certain", "C": "refers to B"], roots: ["A", "B"]),
    Rule(
      files: [
        "@Model class A { @Relationship(inverse: \\C.one) var c: C?; var d: C? }",
        "@Model class C { var one: A?; var two: A? }",
      ],
      doubts: ["A": "more than one inverse", "C": "more than one inverse"]),
    // A side that is written stays certain beside one that is taken.
    Rule(
      files: [
        "@Model class A { @Relationship(inverse: \\C.one) var c: C?; var d: C? }", "@Model class C { var one: A? }",
      ],
      entities: [
        Make.entity("A", [], [Make.toOne("c", "C", "one"), Make.toOne("d", "C")]),
        Make.entity("C", [], [Make.toOne("one", "A", "c")]),
      ]),
  ]

  @Test(arguments: claims)
  func `an inverse that two relationships claim isn't certain for any of them`(_ rule: Rule) throws { try check(rule) }

  // MARK: - Classes

  static let classes: [Rule] = [
    certain("var x = 1", is: plain(.integer64)),
    certain("class var y = 1; static let z = 2; var x = 1; var w: Int { x }", is: plain(.integer64)),
    certain("var x: Int { willSet { print(x) } }", is: plain(.integer64)),
    // What stands between the signs of generic arguments is one type.
    certain("@Transient var y = Pair<Int, [String]>(); var x = 1", is: plain(.integer64)),
    certain("@Transient var y = x < 1, z: Int; var x = 1", is: plain(.integer64)),
    certain("private(set) var x = 1 { didSet { print(x) } }", is: plain(.integer64)),
    certain("nonisolated(unsafe) public internal(set) var x: Int = 1", is: plain(.integer64)),
    certain("@Transient var y: String; @Transient var z: Int { 1 }; var x = 1", is: plain(.integer64)),
    certain(
      "@Attribute(\n    .externalStorage, // large\n    originalName: \"y\"\n  )\n  var x: Data",
      is: Make.attribute("x", .binary, optional: false, external: true)),
    certain(
      "@Attribute (.externalStorage) var x: Data", is: Make.attribute("x", .binary, optional: false, external: true)),
    certain("@Attribute(.ephemeral) var x: Int?", is: Make.attribute("x", .integer64, transient: true)),
    doubtful("@Attribute(.unique) var x: Int { 1 }", because: "computed"),
    doubtful("@Attribute(.unique) @Attribute(.ephemeral) var x: Int", because: "twice"),
    doubtful("@Attribute(.ephemeral) var x: S", "struct S: Codable { var a = 1 }", because: ".ephemeral"),
    doubtful("#if DEBUG\n@Transient\n#endif\nvar x: Int", because: "in a branch"),
    doubtful("@Attribute(.externalStorage) var x: String", because: ".externalStorage"),
    doubtful("@Attribute(.preserveValueOnDeletion) var x: Int", because: ".preserveValueOnDeletion"),
    doubtful("@Attribute(hashModifier: \"2\") var x: Int", because: "hash modifier"),
    doubtful("@Attribute(.unique, other: 1) var x: Int", because: "other"),
    doubtful("@Attribute(.transformable(x)) var x: Int", because: ".transformable(x)"),
    doubtful("@Attribute(.transformable()) var x: Int", because: ".transformable()"),
    doubtful("@Attribute(.transformable(by: A.self, B.self)) var x: Int", because: ".transformable(by"),
    doubtful("@Relationship var x: [String]", because: "@Relationship"),
    doubtful("#if DEBUG\n@Attribute(.externalStorage)\n#endif\nvar x: Data", because: "in a branch"),
    doubtful("@Attribute(.externalStorage)\n#if DEBUG\n@objc\n#endif\nvar x: Data", because: "in a branch"),
    doubtful("var `class`: Int", because: "backticks"),
    doubtful("\n#if DEBUG\nvar x: Int\n#else\nvar x: String\n#endif", because: "in a branch"),
    doubtful("\n#if DEBUG\nvar x: Int\n#else\nvar x: A?\n#endif", because: "twice"),
    doubtful("lazy var x = 1", because: "lazy"),
    doubtful("var (x, y) = (1, 2)", because: "pattern"),
    doubtful("@Wrapped var x: Int", because: "@Wrapped"),
    doubtful("#members; var x: Int", because: "#members"),
    Rule(files: ["@Observable @Model class A { var x: Int }"], doubts: ["A": "@Observable"]),
    Rule(files: ["@objc(B) @Model class A { var x: Int }"], doubts: ["A": "@objc"]),
    Rule(files: ["class A { var x: Int }"], doubts: ["A": "has no @Model"]),
    Rule(files: ["@Model class A<T> { var x: Int }"], doubts: ["A": "generic"]),
    Rule(files: ["@Model class A: Base { var x: Int }"], doubts: ["A": "may inherit from Base"]),
    Rule(
      files: ["@Model class A: Base { var x: Int }", "class Base { var x: Int }"], doubts: ["A": "may inherit from"]),
    Rule(
      files: ["@available(iOS 18, *) @Model class A: Local, Other, Hashable { var x: Int }", "protocol Local {}"],
      entities: [Make.entity("A", [plain(.integer64)])]),
    // What a class may have from another is seen in no relationship that leads to it.
    Rule(
      files: ["@Model class A: Base { var b: B? }", "@Model class B { @Relationship var a: A? }"],
      doubts: ["A": "may inherit from", "B": "A may have"]),
  ]

  @Test(arguments: classes)
  func `a class is certain if its macros, parents and properties are`(_ rule: Rule) throws { try check(rule) }

  static let constraints: [Rule] = [
    Rule(
      files: ["@Model class A { #Unique<A>([\\.x], [\\A.x, \\.b]); var x: Int; var b: B? }\n@Model class B {}"],
      entities: [
        Make.entity("A", [plain(.integer64)], [Make.toOne("b", "B")], unique: [["x"], ["x", "b"]]), Make.entity("B"),
      ]),
    doubtful("#Unique<A>([\\.x.y]); var x: S", "struct S: Codable { var y: Int }", because: "list of key paths"),
    doubtful("#Unique<A>([\\.x]); var x: S", "struct S: Codable { var y: Int }", because: "of this kind"),
    doubtful("@Attribute(.unique) var x: [String]", because: "of this kind"),
    doubtful("@Attribute(.unique, .ephemeral) var x: Int", because: "of this kind"),
    doubtful("#Unique<A>([\\.x]); @Transient var x: Int = 1", because: "of this kind"),
    doubtful("#Unique<A>([\\.x], options: 1); var x: Int", because: "list of key paths"),
    doubtful("#Unique<A>([\\.x]); #Unique<A>([\\.y]); var x: Int; var y: Int", because: "twice"),
    doubtful("#Unique<A>([\\.x]); @Attribute(.unique) var x: Int", because: "twice"),
    doubtful("#Unique<B>([\\.x]); var x: Int", "@Model class B { var x: Int }", because: "is about B"),
    doubtful("\n#if DEBUG\n#Unique<A>([\\.x])\n#endif\nvar x: Int", because: "#Unique is in"),
    doubtful("var x: Int", "extension A { #Unique<A>([\\.x]) }", because: "#Unique in an extension"),
    doubtful("#Index<A>([\\.y]); var x: Int; var y: Int { x }", because: "an index of #Index"),
    doubtful("#Index<A>([\\.s.a]); var s: S; var a: Int", "struct S: Codable { var a: Int }", because: "an index"),
    doubtful("#Index<A>(.rtree([\\.x])); var x: Int", because: "an index of #Index"),
    certain("#Index<A>([\\.x], [\\A.x]); var x: Int", is: plain(.integer64)),
    certain("\n#if DEBUG\n#warning(\"x\")\n#endif\nvar x: Int", is: plain(.integer64)),
  ]

  @Test(arguments: constraints)
  func `a constraint is certain if it is a list of plain properties`(_ rule: Rule) throws { try check(rule) }
}

private struct UnknownRoot: Error {
  let name: String
}
