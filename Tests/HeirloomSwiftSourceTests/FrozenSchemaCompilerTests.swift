import Foundation
import HeirloomModel
import HeirloomSwiftSource
import TestSupport
import Testing

/// Frozen schemas before the compiler.
///
/// SwiftData's own macros are not there: others of the toolchain stand for them, `@Observable` for `@Model`. So the
/// compiler checks all names, types, initializers and arguments, but not what SwiftData's macros make of them.
@Suite(.enabled(if: SwiftCompiler.path != nil, "there is no swiftc in PATH"))
struct FrozenSchemaCompilerTests {
  private static let framework = """
    import Foundation
    @_exported import Observation
    public typealias PersistentModel = AnyObject & Observable
    @attached(member, names: named(_$observationRegistrar), named(access), named(withMutation), named(shouldNotifyObservers))
    @attached(memberAttribute)
    @attached(extension, conformances: Observable)
    public macro Model() = #externalMacro(module: "ObservationMacros", type: "ObservableMacro")
    public enum AttributeOption {
      case unique, externalStorage, ephemeral, spotlight, allowsCloudEncryption, preserveValueOnDeletion
      public static func transformable(by: any Any.Type) -> AttributeOption { .unique }
    }
    @attached(peer)
    public macro Attribute(_ options: AttributeOption..., originalName: String? = nil, hashModifier: String? = nil)
      = #externalMacro(module: "TestingMacros", type: "PragmaMacro")
    public enum DeleteRule { case nullify, cascade, deny, noAction }
    @attached(peer)
    public macro Relationship(deleteRule: DeleteRule = .nullify, originalName: String? = nil, inverse: AnyKeyPath? = nil)
      = #externalMacro(module: "TestingMacros", type: "PragmaMacro")
    public func check<T>(_ model: T.Type, _ paths: [PartialKeyPath<T>]...) {}
    public class Schema { public class Version { public init(_ major: Int, _ minor: Int, _ patch: Int) {} } }
    public protocol VersionedSchema {
      static var models: [any PersistentModel.Type] { get }
      static var versionIdentifier: Schema.Version { get }
    }
    public protocol SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { get }
      static var stages: [MigrationStage] { get }
    }
    public enum Color { public struct Resolved: Codable { public var opacity: Float } }
    public class ModelContext { public func save() throws {} }
    public enum MigrationStage {
      case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
      case custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)
    }
    """

  /// Has the module that stands for SwiftData.
  private static let modules: Result<TemporaryDirectory, any Error> = Result {
    let directory = try TemporaryDirectory()
    let file = directory.file("Framework.swift")
    try Data(framework.utf8).write(to: file)
    let module = directory.file("SwiftData.swiftmodule").path
    let made = try SwiftCompiler.compile([
      "-emit-module", "-module-name", "SwiftData", "-parse-as-library", file.path, "-o", module,
    ])
    try #require(made.code == 0, "\(made.output)")
    return directory
  }

  /// Checks files of one module, up to whether each property has a value.
  private static func check(_ texts: [String]) throws -> (code: Int32, output: String) {
    let modules = try modules.get()
    let directory = try TemporaryDirectory()
    var paths: [String] = []
    for (index, text) in texts.enumerated() {
      // No macro of the toolchain stands alone in a class.
      let text = text.replacing("#Unique<", with: "static let _unique: Void = check(")
        .replacing("#Index<", with: "static let _index: Void = check(").replacing(">([", with: ".self, [")
      let file = directory.file("F\(index).swift")
      try Data("import SwiftData\n\(text)".utf8).write(to: file)
      paths.append(file.path)
    }
    return try withExtendedLifetime(directory) {
      let options = ["-emit-sil", "-wmo", "-o", "/dev/null", "-module-name", "App", "-parse-as-library"]
      return try SwiftCompiler.compile(options + ["-warnings-as-errors", "-I", modules.url.path] + paths)
    }
  }

  @Test func `frozen schemas of each form compile alone, with what follows on them`() throws {
    let shop = try FrozenSchemaTests.frozen(FrozenSchemaTests.shop)
    let crates = try FrozenSchema(
      ManagedObjectModel(entities: [FrozenSchemaTests.crate, FrozenSchemaTests.label]), name: "CratesV1",
      identifier: "1.0.0")
    let found = FrozenSchemaTests.schemas(["enum Plan: SchemaMigrationPlan {}"])
    let plan = FrozenSuccession(after: shop, classes: ["SchemaV1.A", "SchemaV1.B"], plan: nil, stage: .lightweight)
    let custom = FrozenSuccession(after: crates, classes: ["CratesV1.Crate"], plan: found.plans[0], stage: .custom)
    var texts = [
      shop.text, crates.text, plan.text, custom.text,
      "enum Plan { static var all: [MigrationStage] { [\(custom.stage)] } }",
    ]
    for (index, row) in FrozenSchemaTests.properties.enumerated() where !row.property.contains("UIColor") {
      let found = FrozenSchemaTests.schemas(["@Model class A { \(row.property); var z: Int? }", row.rest])
      texts.append(try FrozenSchema(found.schema(of: ["A"]), of: found, name: "P\(index)", identifier: "1.0.0").text)
    }
    let corpus = SwiftDeclarations.all.filter { LongTests.areOn || $0.file.contains("Preloaded") }
    for (index, item) in corpus.enumerated() {
      let (schema, found) = try FrozenSchemaCorpusTests.schema(item)
      let model = try SwiftDataModelBuilder(of: schema.roots, in: found.source).model()
      // (Where a transformer makes colours, the file imports AppKit, which is not everywhere.)
      guard let written = try? FrozenSchema(model, name: "M\(index)", identifier: "1.0.0") else { continue }
      texts.append(written.text)
      texts.append(try FrozenSchema(schema, of: found, name: "S\(index)", identifier: "1.0.0").text)
    }
    let result = try Self.check(texts)
    #expect(result.code == 0, "\(result.output)")
  }

  static let wrong = [
    ("inverse: \\B.owner", "inverse: \\B.nobody"), ("[\\.place, \\.made]", "[\\.place, \\.nothing]"),
    ("self.limit = limit", ""), ("last: Mood?", "last: Model.Mood?"), ("(.unique)", "(.single)"),
    ("= .now", "= .later"),
  ]

  @Test func `the compiler sees what is wrong in a frozen schema`() throws {
    let shop = try FrozenSchemaTests.frozen(FrozenSchemaTests.shop)
    for (written, wrong) in Self.wrong {
      let text = shop.text.replacing(written, with: wrong)
      try #require(text != shop.text, "\(written)")
      #expect(try Self.check([text]).code != 0, "\(wrong)")
    }
  }
}
