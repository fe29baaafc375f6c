import Foundation
import Heirloom
import HeirloomMapping
import TestSupport
import Testing

/// The source that is printed for what can't be inferred.
struct MappingSkeletonTests {
  private typealias Make = InferableChangeTests

  /// Two models whose names are as odd as models allow, with an obstacle of every kind that a skeleton speaks of.
  private static func models() throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
    func odd(_ type: AttributeType) -> EntityDescription {
      Make.entity("2 \"odd\" \\(names)\u{2028}ö", [Make.attribute("it's \\n \"x\"", type), Make.attribute("y")])
    }
    let source = [
      Make.entity(
        "Note", [Make.attribute("mood", .string), Make.attribute("image", .binary, external: true)],
        [Make.toMany("tags", "Tag", "notes"), Make.toOne("other", "Old")]),
      Make.entity("Tag", [], [Make.toMany("notes", "Note", "tags")]), Make.entity("Old", []), odd(.string),
      Make.entity("Left", []), Make.entity("Right", []), Make.entity("Far", []),
      Make.entity("Farther", [], parent: "Far"),
      Make.entity("A", [], id: "same"), Make.entity("B", [], id: "same"),
    ]
    let destination = [
      Make.entity(
        "Note", [Make.attribute("mood", .date), Make.attribute("image", .binary)],
        [Make.toMany("tags", "Tag", "notes"), Make.toOne("other", "Left")]),
      Make.entity("Tag", [], [Make.toMany("notes", "Note", "tags")]), Make.entity("Old", []), odd(.uuid),
      Make.entity("Root", [], isAbstract: true), Make.entity("Left", [], parent: "Root"),
      Make.entity("Right", [], parent: "Root"), Make.entity("Far", []), Make.entity("Farther", [], parent: "Far"),
      Make.entity("C", [], id: "same"), Make.entity("D", [], id: "same"),
    ]
    return (try ManagedObjectModel(entities: source), try ManagedObjectModel(entities: destination))
  }

  @Test func `there is something to fill in for each obstacle`() throws {
    let (source, destination) = try Self.models()
    let inference = MappingInference(from: source, to: destination)
    let kinds = Set(inference.obstacles.map(\.kind))
    #expect(
      kinds == [
        .incompatibleTypes, .externalStorageDisabled, .mergedHierarchies, .ambiguousEntity, .relationshipDestination,
      ])
    let text = try #require(MappingSkeleton(inference)).source
    for word in [
      "EntityMapping(from: \"Note\", to: \"Note\", policy: NotePolicy.self)", "class NotePolicy: EntityMigrationPolicy",
      "destination[\"mood\"] = …, a value of type Date", "destination[\"image\"]", "forRelationship: \"other\"",
      "NotFilledIn(hole: \"Note.image, Note.mood\"", "\"same\"",
    ] {
      #expect(text.contains(word), "\(word)")
    }
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 120 || $0.contains("odd") })
    // The same is handed on where inference fails.
    let error = try #require(throws: MappingInferenceError.self) { try inference.mappingModel() }
    #expect(error.skeleton?.source == text)
    #expect(MappingSkeleton(from: source, to: source) == nil)
  }

  @Test func `what the skeleton says is all that was missing`() throws {
    let (source, destination) = try Self.models()
    let inference = MappingInference(from: source, to: destination)
    let skeleton = try #require(MappingSkeleton(inference)).source
    // What the source's builder holds, but for what can't be told at all.
    let given = inference.mappingModelForTests().filter { mapping in
      guard let from = mapping.sourceEntityName, let to = mapping.destinationEntityName else { return false }
      return skeleton.contains("EntityMapping(from: \"\(from)\", to: \"\(to)\"") || from.contains("odd")
    }
    let completed = MappingInference(
      from: source, to: destination,
      given: given.map { EntityMapping(from: $0.sourceEntityName, to: $0.destinationEntityName, policyNamed: "P") })
    #expect(completed.obstacles.map(\.kind) == [.ambiguousEntity])
  }

  @Test(.enabled(if: Compiler.path != nil, "swiftc is not in PATH"), .timeLimit(.minutes(5)))
  func `the source compiles as it is`() throws {
    let modules = try #require(Compiler.modules, "the build's modules are not beside the tests")
    let directory = try TemporaryDirectory()
    let (source, destination) = try Self.models()
    let text = try #require(MappingSkeleton(from: source, to: destination)).source
    let file = directory.file("Skeleton.swift")
    try Data(text.utf8).write(to: file)
    let (code, output) = try Compiler.check(file, modules: modules)
    #expect(code == 0, "\(output)")
    withExtendedLifetime(directory) {}
  }
}

extension MappingInference {
  fileprivate func mappingModelForTests() -> [EntityMapping] { draft.entityMappings }
}

/// The compiler that built the tests.
private enum Compiler {
  static let path: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// The folder with the modules of the build that the tests are of.
  static let modules: String? = BuiltTool.url.map {
    $0.deletingLastPathComponent().appendingPathComponent("Modules").path
  }
  .flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }

  static func check(_ file: URL, modules: String) throws -> (code: Int32, output: String) {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(path))
    process.arguments = ["-typecheck", "-swift-version", "6", "-warnings-as-errors", "-I", modules]
    for name in ["CHeirloomSQLite", "CHeirloomZlib"] {
      process.arguments? += ["-I", sources.appendingPathComponent(name).path]
    }
    process.arguments?.append(file.path)
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, output)
  }
}
