import Foundation
import Heirloom
import TestSupport
import Testing

struct GenerateTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "Typed")

  /// Command lines without the output; these tests are built with the files that they write.
  private static let goldens: [(String, [String])] = [
    ("AircraftModel", [Tool.snapshots.path + "/Aircraft/Aircraft.xcdatamodeld", "--access", "public"]),
    ("ShelfModel", ["Shelf.xcdatamodeld"]),
    ("ShelfSource", ["Shelf.xcdatamodeld", "--version", "Shelf", "--source"]),
  ]

  @Test(arguments: goldens)
  func `the source is as it was when somebody looked at it`(name: String, arguments: [String]) throws {
    let directory = try TemporaryDirectory()
    let output = directory.file("New.swift").path
    let outcome = Tool(directory: Self.folder).run(["generate"] + arguments + ["--output", output, "--json"])
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try outcome.json()["name"] as? String == name)
    let text = try String(contentsOfFile: output, encoding: .utf8)
    let file = Self.folder.appendingPathComponent(name + ".swift")
    if let complaint = try TextSnapshot.complaint(about: text, file: file) { Issue.record("\(complaint)") }
  }

  @Test func `what is left out is said on standard error, in the JSON and in the source`() throws {
    let directory = try TemporaryDirectory()
    let output = directory.file("Shelf.swift").path
    let arguments = ["generate", "Shelf.xcdatamodeld", "--output", output]
    let notes = [
      "\"Book\": the attribute \"scratch\" is left out: its type, Undefined, has none in Swift.",
      "\"Book\": the fetched property \"cheaper\" is left out: the app fetches it itself.",
    ]
    let tool = Tool(directory: Self.folder)
    #expect(tool.run(arguments).error == notes.map { "note: \($0)\n" }.joined())
    let json = try tool.run(arguments + ["--json"]).json()
    #expect(json["notes"] as? [String] == notes)
    #expect(json["entities"] as? Int == 4)
    let text = try String(contentsOfFile: output, encoding: .utf8)
    #expect(text.contains("// Left out: the attribute \"scratch\": its type, Undefined, has none in Swift.\n"))
    #expect(text.contains("// Left out: the fetched property \"cheaper\": the app fetches it itself.\n"))
  }

  @Test func `a version that was edited since it was shipped stops a build`() throws {
    let directory = try TemporaryDirectory()
    let history = directory.file("Done")
    try FileManager.default.copyItem(at: Tool.snapshots.appendingPathComponent("Done"), to: history)
    let tool = Tool(directory: directory.url)
    #expect(tool("generate", "Done/Done.xcdatamodeld", "--output", "New.swift").code == 0)
    let contents = history.appendingPathComponent("Done.xcdatamodeld/Done 2.xcdatamodel/contents")
    let text = try String(contentsOf: contents, encoding: .utf8)
    try Data(text.replacing("\"updatedAt\"", with: "\"changedAt\"").utf8).write(to: contents)
    let refused = tool("generate", "Done/Done.xcdatamodeld", "--output", "New.swift", "--json")
    #expect(refused.code == 1)
    let error = try #require(try refused.json()["error"] as? [String: Any])
    #expect(error["code"] as? String == "editedVersion")
    #expect((error["message"] as? String ?? "").hasPrefix("\"Done 2\" was shipped and must not change"))
  }

  @Test func `another's file is left alone, and a version, an access or a model that isn't there is told`() throws {
    let directory = try TemporaryDirectory()
    let tool = Tool(directory: Self.folder)
    let other = directory.file("Mine.swift")
    try Data("// my own\n".utf8).write(to: other)
    #expect(tool("generate", "Shelf.xcdatamodeld", "--output", other.path).code == 1)
    #expect(try String(contentsOf: other, encoding: .utf8) == "// my own\n")
    let output = directory.file("New.swift").path
    let version = tool("generate", "Shelf.xcdatamodeld", "--output", output, "--version", "Shelf 3")
    #expect(version.code == 2)
    #expect(version.error.hasPrefix("heirloom: Unknown version \"Shelf 3\": did you mean \"Shelf 2\"?\n"))
    let access = tool("generate", "Shelf.xcdatamodeld", "--output", output, "--access", "pubic")
    #expect(access.code == 2)
    #expect(access.error.hasPrefix("heirloom: Unknown access \"pubic\": did you mean \"public\"?\n"))
    #expect(tool("generate", "Self.xcdatamodeld", "--output", output).code == 1)
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  // MARK: Names

  /// Names that are words of Swift, or of the source itself.
  private static let words = [
    "actor", "any", "Any", "as", "associatedtype", "async", "await", "borrowing", "break", "case", "catch", "class",
    "consuming", "continue", "default", "defer", "deinit", "do", "dynamic", "each", "else", "enum", "extension",
    "fallthrough", "false", "fileprivate", "final", "for", "func", "get", "guard", "if", "import", "in", "indirect",
    "infix", "init", "inout", "internal", "is", "isolated", "lazy", "left", "let", "macro", "mutating", "nil", "none",
    "nonisolated", "open", "operator", "optional", "override", "package", "postfix", "precedence", "prefix", "private",
    "protocol", "Protocol", "public", "repeat", "required", "rethrows", "return", "right", "self", "Self", "sending",
    "set", "some", "static", "struct", "subscript", "super", "switch", "then", "throw", "throws", "true", "try", "Type",
    "typealias", "unowned", "unsafe", "var", "weak", "where", "while", "willSet", "_", "dynamicType", "type", "of",
    "managedObject", "value", "context", "entityName", "properties", "Properties", "keyPath", "hashValue", "hash",
    "attributeValue", "e0", "e1", "elements", "description", "fetch", "insert", "request", "String", "Data", "Int16",
    "Optional", "Array", "Bool", "AttributeValue", "TypedObject", "TypedAttribute", "TypedValue", "ManagedObject",
    "ManagedObjectError", "Foundation", "Swift", "Heirloom", "Error", "Result", "Hashable", "Element", "Tag",
  ]
  /// Names that would be code if they were written as they are, or two of which become one.
  private static let injections = [
    "x: Int { fatalError() } var y", "\")} } func f() { fatalError() } //", "\\(fatalError())", "a\"b", "a`b", "*/",
    "//",
    "#if os(Linux)", "2nd", "a b", "a_b", "a-b", "é", "naïve", "日本語", "👩‍👩‍👧", "$0", "@count", "a.b", "\u{202E}desrever",
    "a\u{2028}b",
    String(repeating: "n", count: 255), "İıß", "_2", "__", "#\"x\"#", "\"\"\"",
  ]

  /// Every name is one of a list: entities, and in eight of them all other kinds of names.
  private static func model(_ names: [String]) throws -> ManagedObjectModel {
    func attributes(_ type: AttributeType, _ isOptional: Bool) -> [AttributeDescription] {
      names.map { name in Make.attribute(name, type, optional: isOptional) }
    }
    var entities: [EntityDescription] = []
    for (index, name) in names.enumerated() {
      var entity = EntityDescription(name: name)
      switch index {
      case 0, 4: entity.attributes = attributes(index == 0 ? .string : .binary, index == 0)
      case 1, 5:
        entity.relationships = names.map { name in Make.toOne(name, name, optional: index == 1) }
      case 2, 6:
        entity.relationships = names.map { name in
          var relationship = RelationshipDescription(name: name, destinationEntity: name)
          relationship.maxCount = 0
          return relationship
        }
      case 3, 7:
        entity.attributes = names.prefix(8).map { name in
          var composite = AttributeDescription(name: name, type: .composite)
          var inner = composite
          inner.composite = CompositeAttributeDescription(elements: Array(attributes(.date, true).prefix(5)))
          inner.name = "inner"
          composite.isOptional = index == 3
          composite.composite = CompositeAttributeDescription(
            elements: attributes(.integer64, index == 3) + [inner])
          return composite
        }
      default: break
      }
      entities.append(entity)
    }
    return try ManagedObjectModel(entities: entities)
  }

  @Test(.enabled(if: SwiftCompiler.path != nil, "swiftc is not in PATH"))
  func `whatever a model's names are, the source compiles and no name is code`() throws {
    let directory = try TemporaryDirectory()
    var files: [URL] = []
    for (index, names) in [Self.words, Self.injections].enumerated() {
      for access in LongTests.areOn ? ["public", "package", "internal"] : ["public"] {
        let model = try Notebook.write(try Self.model(names), "\(access)\(index)", in: directory)
        let file = directory.file("\(access)\(index).swift")
        let outcome = Tool(directory: directory.url)(
          "generate", model, "--output", file.path, "--access", access, "--name", names[index * 3] + "\(index)\(access)"
        )
        #expect(outcome.code == 0, "\(outcome.error)")
        files.append(file)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.matches(of: /: TypedObject \{/).count == names.count)
        #expect(text.matches(of: /: TypedValue \{/).count == 32)
        // A name is in a comment, in a literal, or an identifier.
        for line in text.split(separator: "\n") where line.contains("fatalError") && !line.contains("/// ") {
          let rest = line.replacing(/"(\\.|[^"\\])*"/, with: "")
          #expect(rest.matches(of: /fatalError\(/).isEmpty, "\(line)")
        }
      }
    }
    let settings = [
      ["-package-name", "other"], ["-package-name", "other", "-default-isolation", "MainActor"],
      ["-package-name", "other", "-enable-upcoming-feature", "InternalImportsByDefault"]
        + ["-enable-upcoming-feature", "MemberImportVisibility", "-enable-upcoming-feature", "ExistentialAny"],
    ]
    for setting in LongTests.areOn ? settings : Array(settings.prefix(1)) {
      let (code, output) = try SwiftCompiler.check(files, setting)
      #expect(code == 0, "\(output.prefix(4000))")
    }
    withExtendedLifetime(directory) {}
  }

  /// Of the corpus and of the sample histories; a quick run takes every 60th.
  private static let models: [String] = {
    let snapshots = FileManager.default.enumerator(atPath: Tool.snapshots.path)?.compactMap { $0 as? String } ?? []
    let samples = snapshots.filter { $0.hasSuffix(".xcdatamodel") }.sorted().map { Tool.snapshots.path + "/" + $0 }
    // One bundle is in a binary format that nothing reads.
    let corpus = (Corpus.modelPaths + Corpus.compiledModelPaths)
      .filter { !$0.hasPrefix("magicalrecord/models/Recipes.xcdatamodeld/") }.map { Corpus.folder.path + "/" + $0 }
    return samples + LongTests.selection(of: corpus, every: 60)
  }()

  @Test(.enabled(if: SwiftCompiler.path != nil, "swiftc is not in PATH"))
  func `the source of each real model compiles`() throws {
    #expect(Self.models.count >= (Corpus.isPresent ? LongTests.areOn ? 500 : 15 : 9))
    let batch = 30
    for start in stride(from: 0, to: Self.models.count, by: batch) {
      let directory = try TemporaryDirectory()
      var files: [URL] = []
      for (index, model) in Self.models[start..<min(start + batch, Self.models.count)].enumerated() {
        let file = directory.file("\(index).swift")
        let access = ["public", "internal"][index % 2]
        let outcome = Tool(directory: directory.url)(
          "generate", model, "--output", file.path, "--name", "Model\(index)", "--access", access)
        #expect(outcome.code == 0, "\(model): \(outcome.error)")
        files.append(file)
      }
      let (code, output) = try SwiftCompiler.check(files)
      #expect(code == 0, "\(output.prefix(4000))")
      withExtendedLifetime(directory) {}
    }
  }
}
