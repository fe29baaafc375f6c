import HeirloomModel
import HeirloomSwiftSource
import TestSupport
import Testing

/// Source in which one production of the grammar repeats or nests as often as no person writes it.
///
/// Whatever the reader keeps of it, on a small stack, has to be small: it reads, reviews and freezes what it finds, and
/// releases it there as well.
struct SwiftRepetitionTests {
  struct Production: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let text: @Sendable (Int) -> String

    init(_ name: String, _ text: @escaping @Sendable (Int) -> String) { (testDescription, self.text) = (name, text) }

    /// A text in the middle of some text that repeats before it and some that repeats after it.
    init(
      _ name: String, _ place: Place, _ before: String, _ middle: String, _ after: String = "", end: String = ""
    ) {
      self.init(name) { count in
        place.around(
          String(repeating: before, count: count) + middle + String(repeating: after, count: count) + end)
      }
    }

    /// A text for each number, with the numbers of itself and the next one.
    static func chain(_ name: String, _ start: String, _ part: @escaping @Sendable (Int) -> String) -> Production {
      Production(name) { count in start + "\n" + (0..<count).map(part).joined(separator: "\n") }
    }
  }

  enum Place: Sendable {
    case file, members, type, value, code

    func around(_ text: String) -> String {
      switch self {
      case .file: text
      case .members: "@Model final class A { \(text) }"
      case .type: "@Model final class A { var x: \(text) }"
      case .value: "@Model final class A { var x: Int = \(text) }"
      case .code:
        """
        @Model final class A { var x: Int }
        enum V1: VersionedSchema { static let versionIdentifier = Schema.Version(1, 0, 0); static var models: [any PersistentModel.Type] { [A.self] } }
        enum V2: VersionedSchema { static let versionIdentifier = Schema.Version(2, 0, 0); static var models: [any PersistentModel.Type] { [A.self] } }
        enum P: SchemaMigrationPlan {
          static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
          static var stages: [MigrationStage] { [.custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: { context in \(text) }, didMigrate: nil)] }
        }
        """
      }
    }
  }

  static let types: [Production] = [
    .init("question marks", .type, "", "Int", "?"), .init("exclamation marks", .type, "", "Int", "!"),
    .init("both marks", .type, "", "Int", "?!"), .init("lists", .type, "[", "Int", "]"),
    .init("optional lists", .type, "[", "Int", "]?"), .init("parentheses", .type, "(", "Int", ")"),
    .init("optional parentheses", .type, "(", "Int", ")?"),
    .init("values of dictionaries", .type, "[Int: ", "Int", "]"),
    .init("keys of dictionaries", .type, "[", "Int", ": Int]"), .init("generic types", .type, "Optional<", "Int", ">"),
    .init("unknown generic types", .type, "A<", "Int", ">"), .init("generic types without an end", .type, "A<", "Int"),
    .init("generic arguments", .type, "", "Pair<Int", ", Int", end: ">"),
    .init("parts of a name", .type, "", "B", ".C"),
    .init("generic parts of a name", .type, "", "B", ".C<Int>"), .init("metatypes", .type, "", "B", ".Type"),
    .init("compositions", .type, "", "B", " & C"), .init("words before a type", .type, "any ", "B"),
    .init("attributes of a type", .type, "@b ", "B"), .init("attributes with arguments", .type, "@b(c) ", "B"),
    .init("suppressions", .type, "~", "B"), .init("functions", .type, "() -> ", "Int"),
    .init("functions with effects", .type, "(B) async throws(C) -> ", "Int"),
    .init("effects", .type, "", "B", " async"),
    .init("members of a tuple", .type, "", "(Int", ", b: Int", end: ")"),
    .init("brackets in brackets", .type, "[(", "B", ")]"),
  ]

  static let values: [Production] = [
    .init("operators", .value, "", "1", " + 1"), .init("signs", .value, "-", "1"),
    .init("operator signs", .value, "", "1", "+"),
    .init("ternaries", .value, "a ? b : ", "c"), .init("ternaries within", .value, "a ? ", "b", " : c"),
    .init("lists", .value, "[", "1", "]"), .init("parentheses", .value, "(", "1", ")"),
    .init("calls", .value, "Int(", "1", ")"),
    .init("unknown calls", .value, "f(", "1", ")"), .init("members", .value, "", "a", ".b"),
    .init("optional members", .value, "", "a", "?.b"),
    .init("forced values", .value, "", "a", "!"), .init("subscripts", .value, "", "a", "[0]"),
    .init("calls of calls", .value, "", "a", "()"),
    .init("key paths", .value, "", "\\A", ".b"), .init("closures", .value, "{ ", "1", " }"),
    .init("getters", .value, "{ get { ", "1", " } }"),
    .init("words before a value", .value, "try ", "a"),
    .init("returns", .members, "", "var y: Int { ", "return ", end: "1 }"),
    .init("casts", .value, "", "a", " as Int"), .init("conditions", .value, "if a { b } else ", "{ c }"),
    .init("switches", .value, "switch a { default: ", "b", " }"), .init("items", .value, "", "[1", ", 1", end: "]"),
    .init("generic values", .value, "B<", "Int", ">", end: "()"), .init("digits", .value, "1", "1"),
    .init("points", .value, "", "1", ".1"),
    .init("interpolations within", .value, "\"\\(", "1", ")\""),
    .init("interpolations", .value, "", "\"", "\\(1)", end: "\""),
    .init("parentheses of an interpolation", .value, "", "\"\\(", "(", end: "1"),
    .init("raw strings", .value, "#", "\"a\"", "#"), .init("number signs", .value, "#", "1"),
    .init("quotation marks", .value, "\"", ""),
    .init("lines of a string", .value, "", "\"\"\"\n", "a\n", end: "\"\"\""),
    .init("escapes", .value, "", "\"", "\\\\", end: "\""),
    .init("regular expressions", .value, "[/a/, ", "1", "]"), .init("slashes", .value, " / ", "1"),
    .init("classes of characters", .value, "", "/[", "[", end: "]/"),
    .init("groups of an expression", .value, "", "/", "(", end: "/"),
    .init("comments within", .value, "/*", "", "*/", end: " 1"),
    .init("open comments", .value, "/*", "1"), .init("comments", .value, "/**/", "1"),
    .init("string lists", .members, "var y: [String] = ", "", ""),
  ]

  static let members: [Production] = [
    .init("attributes", .members, "@b ", "var x: Int"),
    .init("attributes with arguments", .members, "@b(c) ", "var x: Int"),
    .init("generic attributes", .members, "@b<C> ", "var x: Int"),
    .init("parts of an attribute", .members, "", "@b", ".c", end: " var x: Int"),
    .init("arguments", .members, "", "@Attribute(.unique", ", .unique", end: ") var x: Int"),
    .init("inverses", .members, "", "@Relationship(inverse: \\A", ".b", end: ") var x: A?"),
    .init("modifiers", .members, "public ", "var x: Int"),
    .init("modifiers with arguments", .members, "private(set) ", "var x: Int"),
    .init("open conditions", .members, "@b\n#if C\n", "var x: Int"),
    .init("conditions", .members, "#if C\n", "var x: Int", "\n#endif"),
    .init("branches", .members, "", "#if C", "\n#elseif D\nvar x: Int", end: "\n#endif\n"),
    .init("properties of one name", .members, "var x: Int\n", ""),
    .init("links of one name", .members, "var x: A?\n", ""),
    .init("names of one property", .members, "", "var x", ", x", end: ": Int"),
    .init("patterns", .members, "", "var (x", ", y", end: ") = b"),
    .init("constraints", .members, "#Unique<A>([\\.x])\n", "var x: Int"),
    .init("indexes", .members, "#Index<A>([\\.x])\n", "var x: Int"),
    .init("key paths of a constraint", .members, "", "var x: Int\n#Unique<A>([\\.x", ", \\.x", end: "])"),
    .init("groups of a constraint", .members, "", "var x: Int\n#Unique<A>([\\.x]", ", [\\.x]", end: ")"),
    .init("macros", .members, "#b\n", ""),
    .init("functions", .members, "func f() {}\n", ""), .init("initializers", .members, "init?() {}\n", ""),
    .init("aliases", .members, "typealias B = Int\n", "var x: B"),
    .init("cases", .file, "", "enum E: Codable { case a", ", b", end: " }\n@Model class A { var x: E }"),
    .init("lines of cases", .file, "", "enum E: Codable { ", "case a\n", end: " }\n@Model class A { var x: E }"),
    .init(
      "associated values", .file, "", "enum E: Codable { case a(Int", ", Int", end: ") }\n@Model class A { var x: E }"),
    .init("types within", .members, "struct B { ", "", " }"), .init("braces", .members, "{ ", "", " }"),
    .init("semicolons", .members, ";", ""),
    .init("quoted names", .members, "var `x`: Int\n", ""), .init("wide names", .members, "var é: Int\n", ""),
    .init("observers", .members, "var x: Int = 1 { didSet {} }\n", ""),
    .chain("properties", "@Model final class A {}") { "extension A { var x\($0): Int { 1 } }" },
    .init("names of properties") { "@Model final class A { \((0..<$0).map { "var x\($0): Int\n" }.joined()) }" },
    .init("names of links") { "@Model final class A { \((0..<$0).map { "var x\($0): A?\n" }.joined()) }" },
    .init("leaves") {
      "struct S: Codable { \((0..<$0).map { "var x\($0): Int\n" }.joined()) }\n@Model class A { var x: S }"
    },
  ]

  static let files: [Production] = [
    .init("classes of one name", .file, "@Model class A {}\n", ""),
    .init("extensions", .file, "extension A {}\n", "@Model class A {}"),
    .init(
      "parts of an extension's name", .file, "", "extension A", ".B",
      end: ": VersionedSchema { static var models: [any PersistentModel.Type] { list } }"),
    .init("parents", .file, "", "@Model class A: B", ", B", end: " {}"),
    .init("generic parameters", .file, "", "@Model class A<T", ", T", end: "> {}"),
    .init("generic brackets", .file, "", "@Model class A", "<", end: " {}"),
    .init("requirements", .file, "", "@Model class A<T> where T: B", ", T: B", end: " {}"),
    .init("imports", .file, "import B\n", ""), .init("lines", .file, "\n", ""), .init("spaces", .file, " ", ""),
    .init("quoted words", .file, "`a` ", ""),
    .init("lines of comments", .file, "// a\n", ""), .init("signs", .file, "@", ""), .init("arrows", .file, "->", ""),
    .init("backslashes", .file, "\\", ""),
    .init("opening brackets", .file, "([{", ""), .init("closing brackets", .file, ")", ""),
    .init("lists", .file, "Schema(A.self)\n", "@Model class A {}"),
    .init("unknown lists", .file, "Schema(B.self)\n", ""),
    .init("containers within", .file, "ModelContainer(for: ", "", ")"),
    .init("schemas within", .file, "Schema(", "", ")"),
    .init("classes of a list", .file, "", "@Model class A {}\nSchema(A.self", ", A.self", end: ")"),
    .init("sums of lists", .file, "", "@Model class A {}\nlet l = [A.self]\nSchema(l", " + l", end: ")"),
    .init("lists in lists", .file, "", "@Model class A {}\nSchema(", "[", end: ""),
    .init("variables", .file, "let a = b\n", ""),
    .chain("classes", "@Model class A {}") { "@Model class A\($0) {}" },
    .chain("protocols", "struct S: Codable, P0 { var y: Int }\n@Model class A { var x: S }") {
      "protocol P\($0): P\($0 + 1) {}"
    },
    .chain("parents of parents", "@Model class A: A0 {}") { "class A\($0): A\($0 + 1) {}" },
    .chain("structures in structures", "@Model class A { var x: S0 }") {
      "struct S\($0): Codable { var x: S\($0 + 1) }"
    },
    .chain("aliases of aliases", "@Model class A { var x: T0 }") { "typealias T\($0) = [T\($0 + 1)?]" },
    .chain("doubled aliases", "@Model class A { var x: T0 }") { "typealias T\($0) = [T\($0 + 1): T\($0 + 1)]" },
    .chain("classes that lead to classes", "@Model class A { var x: A0? }") {
      "@Model class A\($0) { var x: A\($0 + 1)? }"
    },
    .chain("lists that name lists", "@Model class A {}\nSchema(l0)") { "let l\($0) = l\($0 + 1)" },
    .chain("containers of many classes", "@Model class A {}") { "@Model class A\($0) {}\nSchema(A\($0).self)" },
  ]

  static let code: [Production] = [
    .init("calls", .code, "f(context)\n", ""), .init("calls within", .code, "f(", "context", ")"),
    .init("members of a call", .code, "", "f", ".f", end: "(context)"),
    .init("closures", .code, "{ ", "context.save()", " }"), .init("classes", .code, "A.self\n", ""),
    .init("calls of many functions") { Place.code.around((0..<$0).map { "f\($0)(context)\n" }.joined()) },
    .init("functions that call functions") { count in
      Place.code.around("f0(context)") + "\n"
        + (0..<count).map { "func f\($0)(_ context: ModelContext) { f\($0 + 1)(context) }\n" }.joined()
    },
    .init("stages") { count in
      "enum P: SchemaMigrationPlan { static var schemas: [any VersionedSchema.Type] { [\(String(repeating: "V1.self, ", count: count))] } static var stages: [MigrationStage] { [\(String(repeating: ".lightweight(fromVersion: V1.self, toVersion: V1.self), ", count: count))] } }\nenum V1: VersionedSchema {}"
    },
    .init("stages within") { count in
      "enum P: SchemaMigrationPlan { static var stages: [MigrationStage] { \(String(repeating: "[", count: count))a\(String(repeating: "]", count: count)) } }"
    },
  ]

  /// Returns the number of doubts and faults, or of entities.
  private func outcome(of text: String) -> Int? {
    onSmallStack(debugByteCount: 512 << 10) {
      var source = SwiftDataSource()
      source.add(Array(text.utf8), path: "App.swift")
      let found = SwiftDataSchemas(source)
      let schema = found.schema(of: ["A"])
      let builder = SwiftDataModelBuilder(of: schema.roots, in: found.source)
      let entities = (try? builder.model().entities.count) ?? 0
      let findings = SwiftDataReview(found).findings.count
      let frozen = try? FrozenSchema(schema, of: found, name: "Frozen", identifier: "1.0.0")
      return source.faults.count + schema.faults.count + builder.doubts.count + findings + entities
        + (frozen == nil ? 0 : 1)
    }
  }

  private static let count = LongTests.areOn ? 200_000 : 1_000

  @Test(arguments: types + values + members + files + code)
  func `whatever repeats ends in a result or a doubt`(_ production: Production) throws {
    #expect(try #require(outcome(of: production.text(Self.count))) > 0)
  }

  @Test func `200,000 question marks are a doubt with a place`() throws {
    let text = Self.types[0].text(200_000)
    let place = onSmallStack(debugByteCount: 512 << 10) { () -> Int? in
      var source = SwiftDataSource()
      source.add(Array(text.utf8), path: "App.swift")
      let found = SwiftDataSchemas(source)
      let doubts = SwiftDataModelBuilder(of: found.schema(of: ["A"]).roots, in: found.source).doubts
      return doubts.first { $0.property == "x" }?.place.line
    }
    #expect(place == 1)
  }

  @Test func `thirty question marks are what they were`() {
    var source = SwiftDataSource()
    source.add(Array(Self.types[0].text(30).utf8), path: "App.swift")
    let found = SwiftDataSchemas(source)
    let reasons = SwiftDataModelBuilder(of: found.schema(of: ["A"]).roots, in: found.source).doubts.map(\.reason)
    #expect(reasons == ["no known store has a property of type Int\(String(repeating: "?", count: 30))"])
  }
}
