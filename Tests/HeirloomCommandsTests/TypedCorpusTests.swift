import Foundation
import Heirloom
import HeirloomStore
import TestSupport
import Testing

/// Real stores, read by the types that are generated from them, against SQLite's own values of the same files.
///
/// A program of the generated source and of calls to all of its accessors is compiled and run.
@Suite(.enabled(if: Corpus.isPresent && SwiftCompiler.path != nil, "the corpus or swiftc is absent"))
struct TypedCorpusTests {
  /// A quick run has stores of three apps, with inheritance, ordered relationships and SwiftData's types.
  private static let stores: [String] =
    LongTests.areOn
    // One store of 2010 has no copy of its model.
    ? Corpus.storePaths.filter { !$0.hasPrefix("magicalrecord") }
    : [
      "coredataplus/stores/SampleModel2_V2.sqlite", "objcio-core-data/stores/Moody 5.moody",
      "pegaseuidata-swiftdata/stores/SampleManager.store",
    ]

  @Test
  func `what types read is what SQLite has`() throws {
    var (values, present) = (0, 0)
    let directory = try TemporaryDirectory()
    let stores = try Self.stores.enumerated().map { try Store($1, number: $0, in: directory) }
    let program = try Self.program(reading: stores, in: directory)
    for store in stores {
      let wanted = try store.wanted()
      let found = try Self.lines(of: program, store)
      #expect(Set(found.keys).isSuperset(of: wanted.keys), "\(store.path)")
      for (key, value) in wanted where !value.contains(found[key] ?? "") {
        Issue.record("\(store.path) \(key): found \(found[key] ?? "nothing"), SQLite has \(value[0])")
      }
      values += wanted.count
      present += wanted.values.count { $0[0] != "-" }
    }
    withExtendedLifetime(directory) {}
    #expect(values > (LongTests.areOn ? 50_000 : 500) && present > (LongTests.areOn ? 20_000 : 200))
    print("\(values) values of \(Self.stores.count) stores, \(present) present")
  }

  private struct Store {
    let path: String
    let number: Int
    let url: URL
    let model: ManagedObjectModel

    init(_ path: String, number: Int, in directory: TemporaryDirectory) throws {
      let folder = directory.file("\(number)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      self.path = path
      self.number = number
      url = folder.appendingPathComponent("Store.sqlite")
      for suffix in ["", "-wal", "-shm"] {
        let source = Corpus.folder.path + "/" + path + suffix
        guard let data = FileManager.default.contents(atPath: source) else { continue }
        try data.write(to: URL(fileURLWithPath: url.path + suffix))
      }
      model = try #require(try StoreModelCache.model(inStoreAt: url))
      let tool = Tool(directory: folder)
      for arguments in [
        ["snapshot", "Store.sqlite", "--output", "Model.json"],
        ["generate", "Store.sqlite", "--output", "\(number).swift", "--name", "Model\(number)"],
      ] {
        let outcome = tool.run(arguments)
        #expect(outcome.code == 0, "\(path): \(outcome.error)")
      }
    }

    /// The properties of an entity that have a name of their own in its tree, so that their columns are known.
    private func names(of entity: String, _ all: (String) -> [String]) -> [String] {
      let root = model.rootEntity(of: entity)?.name ?? entity
      let tree = model.entityTree(from: root)
      let columns = tree.flatMap { entity in
        entity.attributes.flatMap { $0.storedLeaves.map(\.name) } + entity.relationships.map(\.name)
      }.map { $0.uppercased() }
      return all(entity).filter { name in columns.count { $0 == name.uppercased() } == 1 }
    }

    func attributes(of entity: String) -> [AttributeDescription] {
      let known = names(of: entity) { model.attributes(of: $0).map(\.name) }
      return model.attributes(of: entity).filter {
        known.contains($0.name) && !$0.isTransient && !$0.allowsExternalBinaryDataStorage && $0.composite == nil
          && $0.type != .undefined
      }
    }

    func destinations(of entity: String) -> [RelationshipDescription] {
      let known = names(of: entity) { model.relationships(of: $0).map(\.name) }
      return model.relationships(of: entity).filter {
        known.contains($0.name) && !$0.isTransient && !$0.isToMany
      }
    }

    var reading: String {
      var text = "import Heirloom\n\nfunc read\(number)(_ context: ManagedObjectContext) throws {\n"
      for entity in model.entities where !entity.isAbstract {
        let names =
          attributes(of: entity.name).map(\.name) + destinations(of: entity.name).map(\.name)
        text += "  for object in try Model\(number).`\(entity.name)`.fetch(in: context) {\n"
        text += "    guard object.managedObject.entityName == \"\(entity.name)\" else { continue }\n"
        for name in names { text += "    show(object.managedObject, \"\(name)\") { text(try object.`\(name)`) }\n" }
        text += "  }\n"
      }
      return text + "}\n"
    }

    /// The texts that a value may be read as, by the object and the property.
    func wanted() throws -> [String: [String]] {
      let connection = try Connection(reading: url, options: .inspecting)
      defer { try? connection.close() }
      var wanted: [String: [String]] = [:]
      for entity in model.entities where !entity.isAbstract {
        let root = model.rootEntity(of: entity.name)?.name ?? entity.name
        let table = "\"Z\(root.uppercased())\""
        let types: [(String, AttributeType)] =
          attributes(of: entity.name).map { ($0.name, $0.type) }
          + destinations(of: entity.name).map { ($0.name, .objectID) }
        let columns = ["Z_PK"] + types.map { "\"Z\($0.0.uppercased())\"" }
        let rows = try connection.rows(
          "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE Z_ENT ="
            + " (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = ?1)", [.text(entity.name)])
        for row in rows {
          guard case .integer(let key) = row[0] else { continue }
          for (index, (name, type)) in types.enumerated() {
            wanted["\(entity.name) \(key) \(name)"] = Self.texts(row[index + 1], type)
          }
        }
      }
      return wanted
    }

    private static func texts(_ value: SQLiteValue, _ type: AttributeType) -> [String] {
      switch (value, type) {
      case (.null, _): ["-", "!missing"]
      case (.integer(let number), .boolean): [number == 0 ? "false" : "true"]
      case (.integer(let number), .double), (.integer(let number), .float), (.integer(let number), .date),
        (.integer(let number), .decimal):
        ["\(Double(number).bitPattern)"]
      case (.integer(let number), _): ["\(number)"]
      case (.real(let number), .float): ["\(Double(Float(number)).bitPattern)"]
      case (.real(let number), _): ["\(number.bitPattern)"]
      case (.text(let text), _): [Data(text.utf8).base64EncodedString()]
      case (.blob(let bytes), _): [Data(bytes).base64EncodedString()]
      }
    }
  }

  private static let preamble = """
    import Foundation
    import Heirloom

    func text(_ value: String?) -> String { value.map { Data($0.utf8).base64EncodedString() } ?? "-" }
    func text(_ value: URL?) -> String { text(value?.absoluteString) }
    func text(_ value: Data?) -> String { value?.base64EncodedString() ?? "-" }
    func text(_ value: UUID?) -> String { text(value.map { withUnsafeBytes(of: $0.uuid) { Data($0) } }) }
    func text(_ value: Bool?) -> String { value.map { "\\($0)" } ?? "-" }
    func text<Number: FixedWidthInteger>(_ value: Number?) -> String { value.map { "\\($0)" } ?? "-" }
    func text(_ value: Double?) -> String { value.map { "\\($0.bitPattern)" } ?? "-" }
    func text(_ value: Float?) -> String { text(value.map { Double($0) }) }
    func text(_ value: Decimal?) -> String { text(value.flatMap { Double("\\($0)") }) }
    func text(_ value: Date?) -> String { text(value?.timeIntervalSinceReferenceDate) }
    func text<Object: TypedObject>(_ value: Object?) -> String { text(value?.managedObject.objectID?.primaryKey) }

    func show(_ object: ManagedObject, _ name: String, _ value: () throws -> String) {
      var shown = "!"
      do { shown = try value() } catch ManagedObjectError.missingValue { shown = "!missing" } catch { shown = "!\\(error)" }
      print("\\(object.entityName) \\(object.objectID?.primaryKey ?? 0) \\(name)\\t\\(shown)")
    }

    """

  private static func program(reading stores: [Store], in directory: TemporaryDirectory) throws -> URL {
    var main = "import Foundation\nimport Heirloom\n\n"
    main += "let folder = URL(fileURLWithPath: CommandLine.arguments[1])\n"
    main += "let history = try ModelHistory(contentsOf: folder.appendingPathComponent(\"Model.json\"))\n"
    main +=
      "let store = try PersistentStore.open(at: folder.appendingPathComponent(\"Store.sqlite\"), history: history)\n"
    main += "let context = ManagedObjectContext(store: store)\n"
    main += "switch CommandLine.arguments[2] {\n"
    for store in stores { main += "case \"\(store.number)\": try read\(store.number)(context)\n" }
    main += "default: fatalError()\n}\n"
    // A file for each store: the compiler works on several at a time, and needs the memory of these alone.
    var files = stores.map { $0.url.deletingLastPathComponent().appendingPathComponent("\($0.number).swift") }
    for (name, text) in [("main", main), ("text", preamble)] + stores.map({ ("read\($0.number)", $0.reading) }) {
      let file = directory.file("\(name).swift")
      try Data(text.utf8).write(to: file)
      files.append(file)
    }
    let program = directory.file("program")
    let (code, output) = try SwiftCompiler.build(files, as: program)
    try #require(code == 0, "\(output.prefix(4000))")
    return program
  }

  private static func lines(of program: URL, _ store: Store) throws -> [String: String] {
    let process = Process()
    process.executableURL = program
    process.arguments = [store.url.deletingLastPathComponent().path, "\(store.number)"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(store.path)")
    var lines: [String: String] = [:]
    for line in output.split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { lines[String(parts[0])] = String(parts[1]) }
    }
    return lines
  }
}
