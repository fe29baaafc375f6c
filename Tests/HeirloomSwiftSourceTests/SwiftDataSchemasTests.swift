import Foundation
import HeirloomModel
import HeirloomSwiftSource
import HeirloomTesting
import TestSupport
import Testing

struct SwiftDataSchemasTests {
  private static let classes = """
    import SwiftData
    @Model final class Crate { var code: String = ""; init() {} }
    @Model final class Label { var text: String = ""; init() {} }
    @Model final class Unlisted { var text: String = ""; init() {} }

    """

  private static func schemas(_ files: String...) -> (source: SwiftDataSource, found: SwiftDataSchemas) {
    var source = SwiftDataSource()
    for (index, file) in ([classes] + files).enumerated() { source.add(Array(file.utf8), path: "App/\(index).swift") }
    #expect(source.faults.isEmpty)
    return (source, SwiftDataSchemas(source))
  }

  /// Of the only schema, by the last names of the classes.
  private static func roots(_ file: String) throws -> [String] {
    let (source, found) = schemas(file)
    try #require(found.schemas.count == 1)
    #expect(found.schemas[0].faults.isEmpty)
    let builder = SwiftDataModelBuilder(of: found.schemas[0].roots, in: source)
    return try builder.model().entities.map(\.name).sorted()
  }

  static let lists = [
    "enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { [Crate.self, Label.self] } }",
    "enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { return [Crate.self, Label.self] } }",
    "enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { get { [Crate.self, Label.self] } } }",
    "enum V1: VersionedSchema { static let models: [any PersistentModel.Type] = [Crate.self] + [Label.self] }",
    "enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { [Crate.self, Label.self] as [any PersistentModel.Type] } }",
    "enum V1: VersionedSchema {}\nextension V1 { static var models: [any PersistentModel.Type] { [Crate.self, Label.self] } }",
    "enum V1 { static var models: [any PersistentModel.Type] { [Crate.self, Label.self] } }\nextension V1: VersionedSchema {}",
    "enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { all + [Label.self] }\n static let all = [Crate.self] }",
    "let shared: [any PersistentModel.Type] = [Crate.self]\nenum V1: VersionedSchema { static var models: [any PersistentModel.Type] { shared + Other.rest } }\nenum Other { static let rest = [Label.self] }",
    "enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { [Box.self, App.Label.self] } }\ntypealias Box = Crate",
    "enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { (Self.all) }\n static var all: [any PersistentModel.Type] { [Crate.self, Label.self] } }",
    // A script: a value ends where the next line is a statement.
    "let shared: [any PersistentModel.Type] = [Crate.self, Label.self]\nprint(shared)\nenum V1: VersionedSchema { static var models: [any PersistentModel.Type] { shared } }",
    // The names of a list are sought from where it stands.
    "enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { [Crate.self] + Other.rest } }\nenum Other { typealias Tag = Label\n static let rest = [Tag.self] }",
    "let schema = Schema([Crate.self, Label.self])",
    "struct Check<Version: VersionedSchema> {}\nlet schema = Schema([Crate.self, Label.self])",
    "protocol Check {}\nstruct Box {}\nextension Box where Self: VersionedSchema {}\nlet schema = Schema([Crate.self, Label.self])",
    "let schema = Schema([Crate.self, Label.self], version: Schema.Version(3, 0, 0))",
    "func f() throws { let c = try ModelContainer(for: Crate.self, Label.self) }",
    "func f() throws { let s = Schema([Crate.self, Label.self]); let c = try ModelContainer(for: s, configurations: []) }",
    "func f() throws { _ = try ModelContainer(for: Schema([Crate.self, Label.self]), configurations: []) }",
    "struct A: App { var body: some Scene { WindowGroup { C() }.modelContainer(for: [Crate.self, Label.self]) } }",
    "struct A: App { var body: some Scene { W().modelContainer(for: [Crate.self, Label.self], inMemory: true) }\n var p: some View { W().modelContainer(for: [Label.self, Crate.self]) } }",
  ]

  @Test(arguments: lists)
  func `a list of classes is found in each form that code gives it`(file: String) throws {
    #expect(try Self.roots(file) == ["Crate", "Label"])
  }

  static let unclear: [(file: String, words: String)] = [
    ("enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { make() } }", "make()"),
    ("enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { [Crate.self] + make() } }", "make()"),
    ("enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { [Crate.self, Gone.self] } }", "Gone"),
    ("enum V1: VersionedSchema { }", "models"),
    (
      "enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { [Crate.self] } }\nextension V1 { static var models: [any PersistentModel.Type] { [] } }",
      "models"
    ),
    ("enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { V1.models } }", "V1.models"),
    (
      "enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { [\n#if DEBUG\nCrate.self\n#endif\n] } }",
      "#if"
    ),
    (
      "enum A { @Model class Crate {} }\nenum B { @Model class Crate {} }\nlet s = Schema([B.Crate.self, C.self])",
      "\"C\""
    ),
    ("@Model class Crate {}\nlet s = Schema([Crate.self])", "declared more than once"),
    ("import Journal\nlet s = Schema([Journal.Crate.self])", "no file that was read declares"),
    // What an extension of a list holds stands in a type.
    (
      "enum V1: VersionedSchema { static var models: [any PersistentModel.Type] { all } }\nextension Array<Int> { var all: [any PersistentModel.Type] { [Crate.self] } }",
      "\"all\""
    ),
  ]

  @Test(arguments: unclear)
  func `a list that the text doesn't tell is a fault with its place`(file: String, words: String) {
    let (source, found) = Self.schemas(file)
    let faults = found.schemas.flatMap(\.faults)
    #expect(faults.contains { $0.reason.contains(words) }, "\(faults.map(\.reason))")
    #expect(faults.allSatisfy { $0.place.map(source.text)?.hasPrefix("App/1.swift:") == true })
  }

  static let slashes = [
    "let bare = text.replacing(/, PRIMARY KEY \\(.*\\) *\\)/, with: \")\")", "let a = [1, 2].reduce(1, /)",
    "func f(_ a: (Int, Int) -> Int, _ b: (Int, Int) -> Int) {}; let b: Void = f(/, /)", "let c = 8 / (2) / 1",
    "let d = /a[)(]b/", "let e = x.split(separator: /[a]/)", "let g = /(a)|(b)/", "let h = (/=)", "let i = 6/2/1",
  ]

  @Test(arguments: slashes)
  func `what follows a slash is read as Swift reads it`(line: String) throws {
    #expect(try Self.roots("\(line)\nlet s = Schema([Crate.self, Label.self])") == ["Crate", "Label"])
  }

  static let quotes = [
    ##"let a = #""""#"##, ##"let a = #"""#"##, ##"let a = #"""a"b"#"##, "let a = #\"\"\"\n\"\n\"\"\"#",
    "let a = \"\"\"\n\"\"\n\"\"\"",
    "let a = ##\"\"\"\n\"#\n\"\"\"##", ##"let a = #""# + #"\("#"##,
  ]

  @Test(arguments: quotes)
  func `what follows quotation marks is read as Swift reads it`(line: String) throws {
    #expect(try Self.roots("\(line)\nlet s = Schema([Crate.self, Label.self])") == ["Crate", "Label"])
  }

  @Test func `a schema in a variable alone has no list, and none is made up`() {
    let (_, found) = Self.schemas("func f(_ s: Schema) throws { _ = try ModelContainer(for: s) }")
    #expect(found.schemas.isEmpty)
  }

  @Test func `a plan has its schemas in their order, with the stages between them`() throws {
    let (_, found) = Self.schemas(
      """
      enum V1: VersionedSchema {
        static var versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Crate.self] }
        @Model final class Crate { var label: Label?; init() {} }
        @Model final class Label { var text = ""; init() {} }
      }
      enum V2: VersionedSchema {
        static let versionIdentifier: Schema.Version = .init(2, 1, 0)
        static var models: [any PersistentModel.Type] { [Crate.self] }
      }
      """,
      """
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] { [first, .custom(fromVersion: V2.self, toVersion: V1.self, willMigrate: { c in
          _ = [c] }, didMigrate: nil)] }
        static let first = MigrationStage.lightweight(fromVersion: V1.self, toVersion: V2.self)
      }
      """)
    let plan = try #require(found.plans.first)
    #expect(plan.schemas == ["V1", "V2"] && plan.faults.isEmpty)
    #expect(
      plan.stages.map { [$0.kind.rawValue, $0.source, $0.destination] } == [
        ["lightweight", "V1", "V2"], ["custom", "V2", "V1"],
      ])
    #expect(found.schemas.map(\.identifier) == ["1.0.0", "2.1.0"])
    // The first version's classes are its own, not the app's of today.
    #expect(found.schemas[0].roots.count == 1 && found.schema(of: ["V1"]).name == "V1")
  }

  static let unclearStages = [
    "make()", "[make()]", "[.lightweight(fromVersion: A.self, toVersion: B.self)] + make()",
    "[.lightweight(fromVersion: A.self, toVersion: B.self).make()]", "[.lightweight(fromVersion: A.self, to: make())]",
  ]

  @Test(arguments: unclearStages)
  func `stages that only the compiler knows are told`(stages: String) {
    let (_, found) = Self.schemas(
      "enum P: SchemaMigrationPlan { static var schemas: [any VersionedSchema.Type] { [] }\n static var stages: [MigrationStage] { \(stages) } }"
    )
    #expect(found.plans[0].faults.contains { $0.reason.contains("make()") })
  }

  /// Declarations in great numbers, each of which could be compared with all others.
  static let crowds = [
    "@Model final class A {\(lines { "var p\($0): Int" }) }",
    "@Model final class A { #Unique<A>([\\.p0]\(lines { ", [\\.p\($0)]" })) \(lines { "var p\($0): Int" }) }",
    "@Model final class A {\(lines { "var p\($0): B?" }) }\n@Model final class B { \(lines { "@Relationship(inverse: \\A.p\($0)) var p\($0): A?" }) }",
    "@Model final class A {\(lines { "var p\($0): B?" }) }\n@Model final class B { \(lines { "var p\($0): A?" }) }",
    "@Model final class A {\(lines { "@Relationship(inverse: \\B.p) var p\($0): B?" }) }\n@Model final class B { var p: A? }",
    "@Model final class A { var e: E }\nenum E: Codable {\(lines { "case c\($0)" }) }",
    "@Model final class A {}\n" + String(repeating: "#", count: 400_000),
  ].map { "\($0)\nlet s = Schema([A.self])" }

  private static func lines(_ line: (Int) -> String) -> String { (0..<10_000).map(line).joined(separator: "\n") }

  /// Short texts that are hardly declarations, or whose lists name each other again and again.
  static let oddities = [
    "let s = Schema `(`", "let s = Schema(`[`)", "enum V: VersionedSchema { static var models: [Int] { `(` + `[` } }",
    // Each list names the one before sixteen times.
    "enum V: VersionedSchema { static let models = a15; "
      + (0..<16).map { level in
        let one = level == 0 ? "[Crate.self]" : "a\(level - 1)"
        return "static let a\(level) = \(Array(repeating: one, count: 16).joined(separator: " + "))"
      }.joined(separator: "; ") + " }",
    "enum P: SchemaMigrationPlan { static let schemas = []; static let stages = a15; "
      + (0..<16).map { level in
        let one = level == 0 ? "[.lightweight(fromVersion: A.self, toVersion: B.self)]" : "a\(level - 1)"
        return "static let a\(level) = \(Array(repeating: one, count: 16).joined(separator: " + "))"
      }.joined(separator: "; ") + " }",
  ]

  static let hostile = crowds + oddities

  // (By number: the texts are long.)
  @Test(.slow("sources of ten thousand declarations"), arguments: hostile.indices)
  func `no source keeps the reader or ends it`(number: Int) {
    let clock = ContinuousClock()
    let time = clock.measure {
      var source = SwiftDataSource()
      source.add(Array((Self.classes + Self.hostile[number]).utf8), path: "App.swift")
      for schema in SwiftDataSchemas(source).schemas { _ = SwiftDataModelBuilder(of: schema.roots, in: source).doubts }
    }
    #expect(time < .seconds(10))
  }

  @Test func `a changed source is read, or told, and ends nothing`() {
    // (The crowds are left out: hardly a change would touch anything else.)
    let whole = Array((Self.classes + (Self.lists + Self.oddities).joined(separator: "\n")).utf8)
    var random = SplitMix64(seed: 42)
    let pieces = [
      "(", ")", "[", "]", "{", "}", "\"", "`", ".", ",", "+", ":", "=", "\\", "/", "#if X\n", "\n", "@", "<", "?",
    ]
    for _ in 0..<LongTests.count(quick: 30, long: 5_000) {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        if Bool.random(using: &random) {
          bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...9, using: &random)))
        } else {
          bytes.insert(contentsOf: pieces.randomElement(using: &random)!.utf8, at: place)
        }
      }
      var source = SwiftDataSource()
      source.add(bytes, path: "App.swift")
      for schema in SwiftDataSchemas(source).schemas { _ = SwiftDataModelBuilder(of: schema.roots, in: source).doubts }
    }
  }

  private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let folders = ["Tests/HeirloomTests", "Sources/HeirloomMigration", "Sources", "Tests"]

  @Test(arguments: LongTests.selection(of: folders, every: 4))
  func `each Swift file of this package is read without a fault`(name: String) throws {
    let folder = try SwiftFolder(Self.checkout.appendingPathComponent(name).path)
    #expect(folder.fileCount > 50)
    #expect(folder.source.faults.isEmpty, "\(folder.source.faults)")
  }

  @Test func `a folder's hidden folders, links and fetched packages are passed over and named`() throws {
    let directory = try TemporaryDirectory()
    let files = ["App/Crate.swift", ".build/Crate.swift", "Pods/X/Crate.swift", "App/Old/Crate.swift", "App/Notes.txt"]
    for file in files {
      let url = directory.file(file)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("@Model class Crate {}\nlet s = Schema([Crate.self])".utf8).write(to: url)
    }
    try FileManager.default.createSymbolicLink(at: directory.file("Link"), withDestinationURL: directory.file("App"))
    #expect(SwiftFolder.isSource(directory.url.path) && !SwiftFolder.isSource(directory.file("Pods/X/none").path))
    let folder = try SwiftFolder(directory.url.path + "/", excluding: ["./App/Old/"])
    #expect(folder.fileCount == 1)
    #expect(Set(folder.passedOver) == [".build", "App/Old", "Link", "Pods"])
    #expect(SwiftDataSchemas(folder.source).schemas.map { $0.place.map(folder.source.text) } == ["App/Crate.swift:2"])
    #expect(throws: Never.self) { try SwiftFolder(directory.file("App/Crate.swift").path) }
  }
}

/// The whole way from a folder to hashes, on what the corpus tells of real apps.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct SwiftFolderCorpusTests {
  @Test(arguments: SwiftDeclarations.all)
  func `the container's schema of a folder has the hashes of the app's store`(_ item: SwiftDeclarations.Case) throws {
    let declarations = try SwiftDeclarations(item.file)
    let directory = try TemporaryDirectory()
    try Data(declarations.source.utf8).write(to: directory.file("Models.swift"))
    let listed = declarations.roots.map { "\($0).self" }.joined(separator: ", ")
    try Data("let container = try! ModelContainer(for: \(listed))".utf8).write(to: directory.file("App.swift"))
    let folder = try SwiftFolder(directory.url.path)
    let schema = try #require(SwiftDataSchemas(folder.source).schemas.first { $0.kind == .modelContainer })
    #expect(schema.faults.isEmpty)
    let builder = SwiftDataModelBuilder(of: schema.roots, in: folder.source)
    let hashes = try builder.model().versionHashes()
    guard !item.isNegative else { return }
    // (One list is published of some entities alone.)
    #expect(Set(hashes.keys).isSuperset(of: item.hashes.keys))
    for (entity, hash) in item.hashes where !builder.uncertainEntities.contains(entity) {
      #expect(hashes[entity]?.description.lowercased() == hash, "\(entity)")
    }
  }
}
