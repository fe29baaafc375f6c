import Foundation
import Heirloom
import HeirloomSupport
import TestSupport
import Testing

/// The results of opening a store, whatever is in its place and whatever the options say.
struct StoreOpeningTests {
  enum Place: String, CaseIterable, CustomTestStringConvertible {
    case nothing, noFolder, current, older, newer, unknown, needsMapping, corrupt, folder, empty, straySideFile,
      halfDone

    var testDescription: String { rawValue }
  }

  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case standard, notMigrating, notInferring, readOnly, part

    var testDescription: String { rawValue }

    var options: PersistentStoreOptions {
      var options = PersistentStoreOptions()
      switch self {
      case .standard: break
      case .notMigrating: options.migratesAutomatically = false
      case .notInferring: options.infersMappingModel = false
      case .readOnly: options.isReadOnly = true
      case .part: options.configuration = "part"
      }
      return options
    }
  }

  /// A current model and those around it: each adds an attribute to `Item`; `Other` never changes.
  private struct Models {
    let versions: [ManagedObjectModel]

    init() throws {
      let attributes = (0..<3).map { Make.attribute("x\($0)") }
      versions = try (1...3).map { count in
        try ManagedObjectModel(
          entities: [
            Make.entity("Item", [Make.attribute("name")] + attributes.prefix(count)),
            Make.entity("Other", [Make.attribute("name")]),
          ], configurations: [ConfigurationDescription(name: "part", entityNames: ["Other"])])
      }
    }

    var history: ModelHistory {
      ModelHistory(current: versions[1], name: "2", earlier: [("1", versions[0])], later: [("3", versions[2])])
    }
  }

  private static func makeStore(_ url: URL, _ model: ManagedObjectModel, configuration: String? = nil) throws {
    let store = try PersistentStore.create(at: url, model: model, configuration: configuration)
    let context = ManagedObjectContext(store: store)
    for index in 0..<5 {
      for entity in store.schema.entities { try context.insert(entity.name)["name"] = .string("\(index)") }
    }
    try context.save()
    try store.close()
  }

  private static func prepare(_ place: Place, _ url: URL, _ models: Models, _ way: Way) throws {
    let part = way == .part ? "part" : nil
    switch place {
    case .nothing, .noFolder: break
    case .current: try makeStore(url, models.versions[1], configuration: part)
    case .older: try makeStore(url, models.versions[0], configuration: part)
    case .newer: try makeStore(url, models.versions[2], configuration: part)
    case .unknown:
      let model = try ManagedObjectModel(entities: [
        Make.entity("Item", [Make.attribute("name"), Make.attribute("mine", .integer16)]),
        Make.entity("Other", [Make.attribute("name"), Make.attribute("y")]),
      ])
      try makeStore(url, model)
      let store = try PersistentStore.open(at: url, model: model)
      try store.connection.execute("UPDATE ZITEM SET ZMINE = 7")
      try store.close()
    case .needsMapping:
      let attributes = [Make.attribute("name"), Make.attribute("x1", .uuid)]
      try makeStore(
        url, ManagedObjectModel(entities: [Make.entity("Item", attributes), Make.entity("Other", attributes)]))
    case .corrupt: try Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: url)
    case .folder: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    case .empty: try Data().write(to: url)
    case .straySideFile: try Data([1, 2, 3]).write(to: URL(fileURLWithPath: url.path + "-wal"))
    case .halfDone:
      // This is a crash while a candidate was built: the store is the old one, and no manifest
      // names the candidate.
      try makeStore(url, models.versions[0], configuration: part)
      let folder = URL(fileURLWithPath: url.path + ".heirloom/incoming/0123456789abcdef0123456789abcdef")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data([1]).write(to: folder.appendingPathComponent(url.lastPathComponent))
    }
  }

  /// The expected result: the objects that are there afterwards, or Core Data's code of the error.
  private enum Result: Equatable {
    case objects(Int)
    case code(Int)
  }

  private static func expected(_ place: Place, _ way: Way) -> Result {
    switch (place, way) {
    case (.nothing, .readOnly), (.noFolder, .readOnly), (.straySideFile, .readOnly): .code(260)
    case (.nothing, _), (.noFolder, _): .objects(0)
    case (.straySideFile, _): .code(134_080)
    case (.corrupt, _), (.empty, _): .code(259)
    case (.folder, _): .code(256)
    case (.current, _): .objects(5)
    // The configuration's only entity is the same in all of them.
    case (.older, .part), (.newer, .part), (.halfDone, .part): .objects(5)
    case (.older, .standard), (.halfDone, .standard): .objects(5)
    case (.older, .notInferring), (.halfDone, .notInferring): .code(134_140)
    case (.older, _), (.halfDone, _): .code(134_100)
    // That the history doesn't know the version comes before the mapping that is missing.
    case (.newer, _), (.unknown, _), (.needsMapping, _): .code(134_100)
    }
  }

  /// Returns everything in a folder except what shows that something was read.
  private static func files(in folder: URL) throws -> [String: Data] {
    var files: [String: Data] = [:]
    guard let enumerator = FileManager.default.enumerator(atPath: folder.path) else { return [:] }
    for case let path as String in enumerator where !path.hasSuffix("-shm") && !path.hasSuffix("-wal") {
      files[path] = (try? Data(contentsOf: folder.appendingPathComponent(path))) ?? Data()
    }
    return files
  }

  @Test(arguments: Place.allCases, Way.allCases)
  func `gives a store or says why not, and never changes what it doesn't open`(place: Place, way: Way) throws {
    let directory = try TemporaryDirectory()
    let models = try Models()
    let url = directory.file(place == .noFolder ? "a/b c/Store.sqlite" : "Store.sqlite")
    try Self.prepare(place, url, models, way)
    let before = try Self.files(in: directory.url)
    let wanted = Self.expected(place, way)
    do throws(MigrationAssistantError) {
      let store = try PersistentStore.open(at: url, history: models.history, options: way.options)
      let entity = way == .part ? "Other" : "Item"
      let context = ManagedObjectContext(store: store)
      #expect(Result.objects((try? context.count(entity)) ?? -1) == wanted)
      #expect(store.model == models.versions[1])
      #expect(store.isReadOnly == (way == .readOnly))
      try? store.close()
    } catch {
      #expect(error.coreDataCode.map { .code($0) } == wanted, "\(error)")
      #expect(error.storePath == url.path && error.recoverySuggestion != nil)
      // The vault's own folder may be there: it holds the lock.
      let after = try Self.files(in: directory.url).filter { !$0.key.contains(".heirloom") || before[$0.key] != nil }
      #expect(after.filter { before[$0.key] != nil } == before.filter { after[$0.key] != nil })
      #expect(Set(before.keys).subtracting(after.keys).allSatisfy { $0.contains(".heirloom/incoming") })
      #expect(way != .readOnly || after == before)
      if case .code(134_100) = wanted, place == .older {
        guard case .unreadableStore(let problem) = error else {
          Issue.record("\(error)")
          return
        }
        #expect(problem.problem == .incompatible(entities: ["Item"]))
      }
    }
    // A second time gives the same result; an open store has its model beside it.
    let snapshot = url.path + ".heirloom/model.json.gz"
    if case .objects = wanted, way == .standard {
      #expect(try ModelController(storeURL: url).snapshot()?.model == models.versions[1])
      let bytes = try Data(contentsOf: url)
      let dates = try FileManager.default.attributesOfItem(atPath: snapshot)[.modificationDate] as? Date
      try PersistentStore.open(at: url, history: models.history).close()
      #expect(try Data(contentsOf: url) == bytes)
      #expect(try FileManager.default.attributesOfItem(atPath: snapshot)[.modificationDate] as? Date == dates)
      let kept = try MigrationAssistant(url, models.history).archive.previousVersions()
      #expect(kept.count == (place == .older || place == .halfDone ? 1 : 0))
      let incoming = try? FileManager.default.contentsOfDirectory(atPath: url.path + ".heirloom/incoming")
      #expect(incoming ?? [] == [])
    }
    withExtendedLifetime(directory) {}
  }

  @Test func `a store that can't be written to is opened for reading only`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("Store.sqlite")
    let models = try Models()
    try Self.makeStore(url, models.versions[1])
    var bytes = try Data(contentsOf: url)
    // A file in a later SQLite's format can only be read, like one without the right to write.
    bytes[18] = 9
    try bytes.write(to: url)
    let error = #expect(throws: MigrationAssistantError.self) {
      try PersistentStore.open(at: url, history: models.history)
    }
    #expect(error?.coreDataCode == 513)
    var options = PersistentStoreOptions()
    options.isReadOnly = true
    let store = try PersistentStore.open(at: url, history: models.history, options: options)
    #expect(try ManagedObjectContext(store: store).count("Item") == 5)
    withExtendedLifetime(directory) {}
  }

  @Test func `a part of a model is told by its tables, and verified as one`() throws {
    let directory = try TemporaryDirectory()
    let models = try Models()
    for configuration in ["part", nil] {
      let url = directory.file("\(configuration ?? "whole").sqlite")
      try Self.makeStore(url, models.versions[1], configuration: configuration)
      let metadata = try StoreMetadata(contentsOf: url)
      #expect(metadata.versionHashes == models.versions[1].versionHashes())
      let report = try StoreVerification.report(onStoreAt: url.path)
      #expect(report.findings.isEmpty && report.configuration == configuration)
    }
    withExtendedLifetime(directory) {}
  }

  @Test func `a mapping, a delegate and stages go with the options`() throws {
    let directory = try TemporaryDirectory()
    let (old, new) = try (
      ManagedObjectModel(entities: [Make.entity("Old", [Make.attribute("name")])]),
      ManagedObjectModel(entities: [Make.entity("New", [Make.attribute("name")])])
    )
    for way in ["mapping", "delegate"] {
      let url = directory.file("\(way).sqlite")
      try Self.makeStore(url, old)
      var options = PersistentStoreOptions()
      options.infersMappingModel = false
      let delegate = ClosureDelegate(mapping: { _, _, _ in
        MappingModel(entityMappings: [EntityMapping(from: "Old", to: "New")])
      })
      if way == "delegate" {
        options.delegate = delegate
      } else {
        options.migration.mappings = [
          MappingModel(entityMappings: [EntityMapping(from: "Old", to: "New")]).completed(from: old, to: new)
        ]
      }
      let store = try PersistentStore.open(at: url, model: new, options: options)
      #expect(try ManagedObjectContext(store: store).count("New") == 5)
      #expect(delegate.events.isEmpty == (way != "delegate"))
    }
    withExtendedLifetime(directory) {}
  }

  @Test func `of several launches at once one makes the store, and all open it`() async throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("made/Store.sqlite")
    let models = try Models()
    let history = models.history
    let identifiers = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let store = try PersistentStore.open(at: url, history: history)
          let context = ManagedObjectContext(store: store)
          _ = try context.count("Item")
          return store.metadata.identifier
        }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(identifiers.count == 1)
    withExtendedLifetime(directory) {}
  }

  @Test func `a crash at any step of making a store leaves none or a whole one`() throws {
    let models = try Models()
    var steps = 0
    var left = 0
    while true {
      let directory = try TemporaryDirectory()
      let url = directory.file("a/Store.sqlite")
      let files = StoppingFiles(after: steps)
      let opening = StoreOpening(url: url, history: models.history, options: PersistentStoreOptions(), files: files)
      let isDone = (try? opening.store()) != nil
      if FileManager.default.fileExists(atPath: url.path) {
        left += 1
        #expect(
          try PersistentStore.open(at: url, model: models.versions[1], isReadOnly: true).schema.entities.count == 2)
      }
      let store = try PersistentStore.open(at: url, history: models.history)
      #expect(try ManagedObjectContext(store: store).count("Item") == 0)
      withExtendedLifetime(directory) {}
      if isDone { break }
      steps += 1
    }
    #expect(steps > 10 && left > 1)
  }
}
