import HeirloomModel
import TestSupport
import Testing

// What stands in a condition, and what a name means from its place.
extension SwiftDataRulesTests {
  static let conditions: [Rule] = [
    Rule(
      files: ["#if os(iOS)\n@Model final class A { var x: E }\nenum E: String, Codable { case a }\n#endif"],
      entities: [Make.entity("A", [composite(Make.attribute("x"))])]),
    Rule(
      files: [
        "#if os(iOS)\nenum V1 { @Model class A { var b: B? }\n@Model class B { var x: Int } }\n#endif",
        "@Model class B { var y: Int }",
      ],
      entities: [Make.entity("A", [], [Make.toOne("b", "B")]), Make.entity("B", [plain(.integer64)])], roots: ["V1.A"]),
    Rule(
      files: ["#if canImport(SwiftData)\n@Model\n#endif\nfinal class A { var x: Int }"],
      entities: [Make.entity("A", [plain(.integer64)])]),
    doubtful(
      "var x: S", "#if DEBUG\nstruct S: Codable { var a: Int }\n#else\nstruct S: Codable { var b: Int }\n#endif",
      because: "several types"),
    doubtful(
      "var x: S", "#if DEBUG\nstruct S: Codable { var a: Int }\n#else\ntypealias S = Int\n#endif",
      because: "several types"),
    doubtful("var x: S", "struct S: Codable {\n#if DEBUG\nvar a: Int\n#endif\n}", because: "S.a"),
    // Where the inner class isn't there, the name is that of the outer one.
    Rule(
      files: [
        "enum V1 { @Model class A { var b: B? }\n#if DEBUG\n@Model class B { var x: Int }\n#endif\n}",
        "@Model class B { var y: Int }",
      ],
      doubts: ["A": "several types", "B": "another class of this name"], roots: ["V1.A"]),
  ]

  @Test(arguments: conditions + conditionalExtensions)
  func `what stands whole in a condition is certain if it is declared once`(_ rule: Rule) throws { try check(rule) }

  static let conditionalExtensions: [Rule] = [
    Rule(
      files: [
        "enum V1 { @Model class A { var b: B? } }", "#if DEBUG\nextension V1 { @Model class B { var x: Int } }\n#endif",
        "@Model class B { var y: Int }",
      ],
      doubts: ["A": "several types", "B": "another class of this name"], roots: ["V1.A"]),
    Rule(
      files: ["#if DEBUG\nextension V1 { @Model class A { var x: Int } }\n#endif", "enum V1 {}"],
      entities: [Make.entity("A", [plain(.integer64)])], roots: ["V1.A"]),
    Rule(
      files: ["@available(iOS 18, *)\n#Preview { Text(\"\") }\n@Model class A { var x: Int }"],
      entities: [Make.entity("A", [plain(.integer64)])]),
  ]

  static let names: [Rule] = [
    certain(
      "var x: S }\nprivate struct S: Codable { var a: Int", "private struct S: Codable { var b: Int }",
      "fileprivate struct S: Codable { var c: Int }",
      is: composite(Make.attribute("a", .integer64, optional: false))),
    doubtful(
      "var x: Word }\nprivate enum V { fileprivate typealias Word = Int? }\nprivate typealias Word = V.Word?; enum U {",
      "private extension V { typealias Word = Int }", because: "Int??"),
    // The compiler takes neither.
    doubtful(
      "var x: S }\nprivate struct S: Codable { var a: Int", "struct S: Codable { var b: Int }", because: "several types"
    ),
    doubtful("var x: S", "private struct S: Codable { var b: Int }", because: "another module"),
    doubtful("var x: S", "private extension S { struct T: Codable { var b: Int } }", because: "another module"),
    Rule(
      files: ["@Model class A { var x: Int }", "@Model class B { var a: A? }\nprivate class A {}"],
      entities: [Make.entity("A", [plain(.integer64)])], doubts: ["B": "several types"], roots: ["B"]),
    Rule(
      files: ["@Model class A { var x: Int }", "typealias A = Int"], doubts: ["A": "declared more than once"],
      roots: ["App.A"]),
    // An extension sees the members of the type that it names, and of no other.
    Rule(
      files: [
        "enum V { enum W {}; struct S: Codable { var b: Int } }", "struct S: Codable { var a: Int }",
        "extension V.W { @Model class A { var x: S } }",
      ],
      entities: [Make.entity("A", [composite(Make.attribute("a", .integer64, optional: false))])], roots: ["V.W.A"]),
    Rule(
      files: [
        "enum V { enum W {}; struct S: Codable { var b: Int } }",
        "extension V { enum U { @Model class A { var x: S } } }",
      ],
      entities: [Make.entity("A", [composite(Make.attribute("b", .integer64, optional: false))])], roots: ["V.U.A"]),
    // An extension of an alias extends the type, also with a module before its name.
    doubtful(
      "var x: V.S", "enum V { struct S: Codable { var a: Int } }\ntypealias T = V.S",
      "extension T { func encode(to e: Encoder) throws {} }", because: "encode(to:)"),
    doubtful(
      "var x: S", "struct S: Codable { var a: Int }", "extension App.S { func encode(to e: Encoder) throws {} }",
      because: "encode(to:)"),
    certain(
      "var x: V.S", "enum V { struct S { var a: Int } }\ntypealias T = V.S", "extension T: Codable {}",
      is: composite(Make.attribute("a", .integer64, optional: false))),
    Rule(
      files: [
        "enum V { @Model class A { var x: S } }; typealias T = V", "struct S: Codable { var a: Int }",
        "extension T { struct S: Codable { var b: U }; typealias U = Int?; enum W {} }", "typealias U = String",
      ],
      entities: [Make.entity("A", [composite(Make.attribute("b", .integer64))])], roots: ["V.A"]),
    Rule(
      files: [
        "enum V { struct S: Codable { var a: Int } }; typealias T = V", "struct S: Codable { var b: Int }",
        "extension T { @Model class A { var x: S; var next: V.A? } }",
      ],
      doubts: ["A": "from a class to itself"], roots: ["T.A"]),
    Rule(
      files: ["@Model class A { var b: App.B? }", "@Model class B { var a: A? }"],
      doubts: ["A": "App.B", "B": "A may have"]),
    // A nested type hides one further out.
    certain(
      "var x: S; struct S: Codable { var a: Int }", "struct S: Codable { var b: Int }",
      is: composite(Make.attribute("a", .integer64, optional: false))),
    certain("var x: S; typealias S = Int", "struct S: Codable { var b: Int }", is: plain(.integer64)),
    Rule(
      files: [
        "enum V { @Model class A { var b: B? }; @Model class B {} }", "@Model class C { var b: B?; var a: V.A? }",
        "@Model class B { var x: Int }",
      ],
      entities: [], doubts: ["A": "two classes", "B": "another class", "C": "two classes"], roots: ["C"]),
  ]

  static let inheritedNames: [Rule] = [
    Rule(
      files: ["@Model class A: P { var x: T }", "protocol P { typealias T = Int }"],
      entities: [Make.entity("A", [plain(.integer64)])]),
    Rule(
      files: ["@Model class A: P { var x: T }", "protocol P: Q {}\nprotocol Q {}\nextension Q { typealias T = Int }"],
      entities: [Make.entity("A", [plain(.integer64)])]),
    Rule(
      files: ["@Model class A { var x: T }", "extension A: P {}", "protocol P { typealias T = Int }"],
      entities: [Make.entity("A", [plain(.integer64)])]),
    Rule(
      files: [
        "@Model class A: P { var x: T }", "protocol P { typealias T = Int }", "struct T: Codable { var a: Int }",
      ],
      doubts: ["A": "several types"]),
    Rule(
      files: ["@Model class A { var x: T }", "extension Equatable { typealias T = Int }", "typealias T = String"],
      doubts: ["A": "several types"]),
    Rule(
      files: [
        "enum V: P { @Model class A { var x: T } }", "protocol P { associatedtype T }", "typealias T = String",
      ], doubts: ["A": "several types"], roots: ["V.A"]),
    Rule(
      files: ["@Model class A: P { var x: T }", "protocol P { associatedtype T = Int }"], doubts: ["A": "associated"]),
    Rule(files: ["@Model class A { var x: ID }", "typealias ID = String"], doubts: ["A": "several types"]),
    Rule(
      files: ["enum V: Int { @Model class A { var x: RawValue } }", "typealias RawValue = String"],
      doubts: ["A": "several types"], roots: ["V.A"]),
    Rule(
      files: ["class V: W { @Model class A { var x: T } }", "class W { struct T: Codable { var a: Int } }"],
      entities: [Make.entity("A", [composite(Make.attribute("a", .integer64, optional: false))])], roots: ["V.A"]),
    // What the type declares itself comes first; what a stranger has doesn't count.
    certain("var x: ID; typealias ID = Int", "typealias ID = String", is: plain(.integer64)),
    certain(
      "var x: S", "struct S: Codable { var a: ID }", "typealias ID = Int",
      is: composite(
        Make.attribute("a", .integer64, optional: false))),
    certain("var x: T", "protocol P { typealias T = Int }", "typealias T = String", is: plain(.string)),
    Rule(
      files: ["@Model class A: P { var x: T; typealias T = Int }", "protocol P { associatedtype T }", "struct T {}"],
      entities: [Make.entity("A", [plain(.integer64)])]),
    // Protocols that lead to each other are no Swift; the reader ends all the same.
    Rule(
      files: ["@Model class A: P { var x: Int }", "protocol P: Q {}\nprotocol Q: P { typealias T = Int }"],
      entities: [Make.entity("A", [plain(.integer64)])]),
  ]

  @Test(arguments: inheritedNames)
  func `a name that a protocol or a superclass has is found before those around the type`(_ rule: Rule) throws {
    try check(rule)
  }

  @Test(arguments: names)
  func `a name means what Swift finds from its place`(_ rule: Rule) throws { try check(rule) }
}
