import Foundation
import Heirloom
import TestSupport
import Testing

/// Mappings that the configuration gives for a part of the path, carried out.
struct GivenPathMigrationTests {
  /// A store of one of four versions, and the folder that holds them all.
  private struct Scene {
    let directory: TemporaryDirectory
    let models: [ManagedObjectModel]
    var store: URL { directory.file("Notes.sqlite") }

    init(storeOf version: Int) throws {
      directory = try TemporaryDirectory()
      models = try (1...4).map { count in
        try ManagedObjectModel(entities: [
          Make.entity("Note", (1...count).map { Make.attribute("a\($0)") }),
          Make.entity("Tag", [Make.attribute("name")]),
        ])
      }
      try StoreGenerator.makeStore(at: store, model: models[version - 1], objects: 3, seed: 5)
    }

    /// The order is known, or guessed from names.
    func history(isOrdered: Bool, current: Int = 4) throws -> ModelHistory {
      let named = models.enumerated().map { (name: "v\($0 + 1)", model: $1) }
      let ordered = ModelHistory(
        current: models[current - 1], name: "v\(current)", earlier: Array(named[..<(current - 1)]),
        later: Array(named[current...]))
      if isOrdered { return ordered }
      return ModelHistory(current: models[current - 1], name: "v\(current)", later: Array(named[current...]))
        .adding(Array(named[..<(current - 1)]))
    }

    /// Returns a mapping that leaves its versions in the first attribute, and copies the rest.
    func given(_ from: Int, _ to: Int) -> MappingModel {
      MappingModel(entityMappings: [
        EntityMapping(
          from: "Note", to: "Note", attributeMappings: [PropertyMapping("a1", constant: .string("\(from)-\(to)"))]),
        EntityMapping(from: "Tag", to: "Tag"),
      ]).completed(from: models[from - 1], to: models[to - 1])
    }

    func assistant(_ history: ModelHistory, _ given: [MappingModel]) -> MigrationAssistant {
      return MigrationAssistant(store, history, .init(mappings: given))
    }

    func notes(of version: Int) throws -> Set<String> {
      let objects = try StoreContents(of: store, model: models[version - 1]).objects["Note"] ?? [:]
      try #require(objects.count == 3)
      return Set(objects.values.map { if case .text(let text)? = $0.values["a1"] { text } else { "" } })
    }
  }

  @Test(
    arguments: [true, false],
    [(1, "1-2", true), (2, "2-3", true), (1, "3-4", false), (1, "2-3", false), (1, "1-4", true)])
  func `a mapping for a part of the way is carried out, or an event and the plan say why not`(
    isOrdered: Bool, row: (source: Int, mapping: String, isAtStart: Bool)
  ) throws {
    let scene = try Scene(storeOf: row.source)
    let ends = row.mapping.split(separator: "-").compactMap { Int($0) }
    let assistant = scene.assistant(try scene.history(isOrdered: isOrdered), [scene.given(ends[0], ends[1])])
    let listener = ClosureDelegate()
    assistant.delegate = listener
    let isUsed = isOrdered || row.isAtStart
    let plan = try #require(try assistant.plan())
    // Another warning is about possible losses of later hops.
    let unused = plan.warnings.filter { $0.contains("is not used") }
    #expect(unused.count == (isUsed ? 0 : 1), "\(plan.warnings)")
    listener.events = []
    let report = try assistant.migrate()
    #expect(report.plan.warnings.filter { $0.contains("is not used") } == unused)
    let told = listener.events.compactMap { if case .mappingUnused(let reason) = $0 { reason } else { nil } }
    #expect(told == unused)
    #expect(try (scene.notes(of: 4) == [row.mapping]) == isUsed)
    let picture = FolderPicture(of: scene.directory.url)
    try assistant.requireNothingToDo()
    #expect(FolderPicture(of: scene.directory.url).differences(from: picture) == [])
  }

  @Test func `a mapping that leads back is consent to the direction, and one that doesn't start there is none`() throws
  {
    for isOrdered in [true, false] {
      let scene = try Scene(storeOf: 4)
      let history = try scene.history(isOrdered: isOrdered, current: 2)
      let before = FolderPicture(of: scene.directory.url)
      for given in [[], [scene.given(3, 2)], [scene.given(1, 2)]] {
        let assistant = scene.assistant(history, given)
        #expect(try assistant.status() == .tooNew)
        let error = try #require(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
        #expect(error.code == "newerVersion")
      }
      #expect(FolderPicture(of: scene.directory.url).differences(from: before) == [])
      // The paths are a mapping to the version itself, two mappings, and one that inference continues.
      let assistant = scene.assistant(
        history, isOrdered ? [scene.given(4, 3), scene.given(3, 2)] : [scene.given(4, 3)])
      #expect(try assistant.status() == .tooOld)
      let plan = try #require(try assistant.plan())
      // The losses of going back are counted as always: the generator left some values out.
      #expect(plan.losses.contains { $0.property == "a4" })
      try assistant.migrate()
      #expect(try scene.notes(of: 2) == [isOrdered ? "3-2" : "4-3"])
      #expect(try scene.assistant(history, []).status() == .current)
    }
  }

  @Test func `parts of one step are carried out together, and those that overlap refused before anything is written`()
    throws
  {
    let scene = try Scene(storeOf: 1)
    let (first, last) = (scene.models[0], scene.models[3])
    func part(_ mapping: EntityMapping) -> MappingModel {
      MappingModel(entityMappings: [mapping]).completed(from: first, to: last)
    }
    let note = part(
      EntityMapping(from: "Note", to: "Note", attributeMappings: [PropertyMapping("a1", constant: .string("note"))]))
    let tag = part(
      EntityMapping(from: "Tag", to: "Tag", attributeMappings: [PropertyMapping("name", constant: .string("tag"))]))
    let other = part(EntityMapping(from: "Note", to: "Note", name: "Other"))
    let history = ModelHistory(current: last, earlier: [("v1", first)])
    let picture = FolderPicture(of: scene.directory.url)
    let error = try #require(throws: MigrationAssistantError.self) {
      try scene.assistant(history, [note, tag, other]).plan()
    }
    for words in ["Mapping model 1 (\"Note->Note\")", "mapping model 3 (\"Other\")", "the source entity \"Note\""] {
      #expect(error.description.contains(words), "\(error)")
    }
    #expect(FolderPicture(of: scene.directory.url).differences(from: picture) == [])
    try scene.assistant(history, [note, tag]).migrate()
    #expect(try scene.notes(of: 4) == ["note"])
    let tags = try StoreContents(of: scene.store, model: last).objects["Tag"] ?? [:]
    #expect(tags.count == 3 && tags.values.allSatisfy { $0.values["name"] == .text("tag") })
  }

  @Test func `objects that no given entity mapping takes are told so, and not laid to a renaming identifier`() throws {
    let scene = try Scene(storeOf: 1)
    var note = MappingModel(entityMappings: [EntityMapping(from: "Note", to: "Note")])
      .completed(from: scene.models[0], to: scene.models[3])
    // The mapping acts as a file's: one that is given in Swift leaves the other entities to inference.
    note.entityMappings[0].openProperties = EntityMapping.OpenProperties()
    let plan = try #require(
      try scene.assistant(ModelHistory(current: scene.models[3], earlier: [("v1", scene.models[0])]), [note]).plan())
    #expect(plan.losses.map(\.entity) == ["Tag"])
    #expect(
      plan.warnings == [
        "3 objects of \"Tag\" are dropped although the destination has an entity of that name: no entity mapping of the given"
          + " mapping has \"Tag\" as its source; is that a mistake?"
      ])
  }
}

/// Mapping models that real apps shipped, for one hop of a longer path.
@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct GivenPathCorpusTests {
  private static func bundle(of path: String) throws -> (url: URL, read: ReadMappingModel)? {
    let read = try MappingModelFile.read(Corpus.folder.appendingPathComponent(path).path).read
    let project = String(path.prefix { $0 != "/" })
    guard let from = read.sourceModelName, let to = read.destinationModelName else { return nil }
    let bundles = Set(
      Corpus.modelPaths.filter { $0.hasPrefix("\(project)/models/") && $0.hasSuffix("/\(from).xcdatamodel") }
        .map { String($0.dropLast("/\(from).xcdatamodel".count)) })
    let bundle = bundles.filter {
      $0.hasSuffix(".xcdatamodeld") && Corpus.modelPaths.contains("\($0)/\(to).xcdatamodel")
    }
    return bundle.min().map { (Corpus.folder.appendingPathComponent($0), read) }
  }

  @Test func `no mapping model that an app shipped is passed over on a jump to a later version`() throws {
    var tried = 0
    var jumps = 0
    for path in CorpusMappingTests.files {
      guard let (url, read) = try Self.bundle(of: path), let from = read.sourceModelName,
        let to = read.destinationModelName
      else { continue }
      let bundle = try ModelHistory(contentsOf: url)
      func model(_ name: String) throws -> ManagedObjectModel {
        try Corpus.model(at: url.appendingPathComponent("\(name).xcdatamodel").path)
      }
      let (source, end) = (try model(from), try model(to))
      guard source.versionHashes() != end.versionHashes() else { continue }
      let mapping = try bundle.mappingModel(contentsOf: Corpus.folder.appendingPathComponent(path))
      let names = bundle.versionNames
      guard let place = names.firstIndex(of: to), names.firstIndex(of: from) ?? place < place else { continue }
      for last in Set(names[place...].prefix(2)).union(names.suffix(1)) {
        guard let current = try? model(last) else { continue }
        // The order is only guessed from names.
        let history = ModelHistory(current: current, name: last).adding(
          names.filter { $0 != last }.compactMap { name in (try? model(name)).map { (name, $0) } })
        guard source.versionHashes() != current.versionHashes() else { continue }
        tried += 1
        do {
          let path = try history.path(
            from: source, named: from, to: current, named: last, given: [mapping], labels: [path])
          #expect(path.unused.isEmpty && path.conflict == nil, "\(path.unused)")
          // Another version may have the same hashes for everything that the mapping makes.
          let hop = path.hops.first
          let hashes = hop?.destination.versionHashes() ?? [:]
          #expect(hop?.isGiven == true, "from \(from) to \(last)")
          for entity in mapping.entityMappings.compactMap(\.destinationEntityName) {
            #expect(hashes[entity] == end.versionHashes()[entity], "from \(from) to \(last)")
          }
          if path.hops.count > 1 { jumps += 1 }
        } catch {
          // If nothing leads on, the error names it.
          #expect(error.obstacles.contains { $0.reason.hasPrefix("\(path) ends at \"\(to)\"") }, "\(error.obstacles)")
        }
      }
    }
    print("given mapping models of the corpus: \(tried) paths, \(jumps) that go on by inference")
    #expect(tried > 20 && jumps > 5)
  }

  @Test(arguments: [true, false])
  func `a jump over a real app's versions by one mapping model in its middle keeps the objects`(isOrdered: Bool) throws
  {
    let project = Corpus.folder.appendingPathComponent("objcio-core-data")
    try Corpus.withCopy(of: "objcio-core-data/stores/Moody 2.moody") { store in
      let bundle = try ModelHistory(contentsOf: project.appendingPathComponent("models/Moody.xcdatamodeld"))
      let named = try (2...4).map { number in
        (name: "Moody \(number)", model: try #require(try bundle.model(named: "Moody \(number)")))
      }
      let history =
        isOrdered
        ? ModelHistory(current: named[2].model, name: "Moody 4", earlier: Array(named[..<2]))
        : ModelHistory(current: named[2].model, name: "Moody 4").adding(Array(named[..<2]))
      var configuration = MigrationAssistant.Configuration()
      configuration.mappings = [
        try bundle.mappingModel(
          contentsOf: project.appendingPathComponent("mappings/Moody 2-Moody 3.xcmappingmodel"))
      ]
      let before = try StoreContents(of: store, model: named[0].model).objects["Mood"]?.count
      let assistant = MigrationAssistant(store, history, configuration)
      let report = try assistant.migrate()
      #expect(report.plan.destination == named[1].model || report.plan.hops.count == 2)
      #expect(report.plan.warnings.allSatisfy { !$0.contains("is not used") })
      #expect(try StoreContents(of: store, model: named[2].model).objects["Mood"]?.count == before)
      try assistant.requireNothingToDo()
    }
  }
}
