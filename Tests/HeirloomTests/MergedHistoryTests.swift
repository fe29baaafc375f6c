import Foundation
import Heirloom
import HeirloomFormats
import HeirloomMapping
import HeirloomStore
import HeirloomTesting
import TestSupport
import Testing

/// Stores whose model is merged of several, each with a history of its own.
struct MergedHistoryTests {
  private static func assistant(_ url: URL, _ history: ModelHistory) -> MigrationAssistant {
    var configuration = MigrationAssistant.Configuration.withBothProofs
    configuration.losses = .stop
    return MigrationAssistant(url, history, configuration)
  }

  private static func history(
    _ name: String, _ models: [ManagedObjectModel], current: Int? = nil, later: Bool = false
  ) -> ModelHistory {
    let last = current ?? models.count - 1
    func named(_ range: Range<Int>) -> [(name: String, model: ManagedObjectModel)] {
      range.map { ("\(name) \($0 + 1)", models[$0]) }
    }
    return ModelHistory(
      current: models[last], name: "\(name) \(last + 1)", earlier: named(0..<last),
      later: later ? named(last + 1..<models.count) : [])
  }

  private static func merged(_ histories: ModelHistory...) throws -> ModelHistory {
    try ModelHistory(merging: histories)
  }

  private static func model(_ entities: EntityDescription...) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: entities)
  }

  /// The texts are the names of their attributes.
  private static func fill(_ url: URL, _ models: ManagedObjectModel...) throws {
    let model = try ManagedObjectModel(merging: models)
    try PersistentStore.make(at: url, model: model) { context in
      for entity in model.entities {
        let object = try context.insert(entity.name)
        for attribute in entity.attributes { object[attribute.name] = .string(attribute.name) }
      }
    }
  }

  private static func values(_ url: URL, _ model: ManagedObjectModel) throws -> [String: [[String: SQLiteValue]]] {
    try StoreContents(of: url, model: model).objects.mapValues { $0.values.map(\.values) }.filter { !$0.value.isEmpty }
  }

  // MARK: Real data

  /// DuckDuckGo's store of 2019, which Core Data wrote with a model merged of several `.momd`.
  private static let realStore = "duckduckgo-ios/stores/Database.sqlite"

  private static func realPart(_ bundle: String) throws -> ModelHistory {
    try ModelHistory(contentsOf: Corpus.folder.appendingPathComponent("duckduckgo-ios/models/\(bundle).xcdatamodeld"))
  }

  @Test(.enabled(if: Corpus.isPresent, Corpus.absence))
  func `a real store is made of two models and of entities that are missing, and migrates once their model is given`()
    throws
  {
    try Corpus.withCopy(of: Self.realStore) { url in
      let rating = try Self.realPart("@ac7764ab/AppRatingPrompt")
      let upgrade = try Self.realPart("@94dac068/HTTPSUpgrade")
      let two = try Self.merged(rating, upgrade)
      let own = try #require(try StoreModelCache.model(inStoreAt: url))
      let messages = try ManagedObjectModel(entities: own.entities.filter { $0.name.hasPrefix("RemoteMess") })
      // Without rows nothing would be lost, so there have to be some.
      let opened = try PersistentStore.open(at: url, model: own)
      let context = ManagedObjectContext(store: opened)
      for entity in own.entities {
        for _ in 0..<3 {
          let object = try context.insert(entity.name)
          for attribute in entity.attributes where !attribute.isOptional && attribute.defaultValue == nil {
            object[attribute.name] = attribute.type == .string ? .string("x") : .integer(1)
          }
        }
      }
      try context.save()
      try opened.close()
      for history in [two, try Self.merged(upgrade, rating)] {
        let error = #expect(throws: MigrationAssistantError.self) { try Self.assistant(url, history).migrateStore() }
        guard case .partsMissing(_, let versions, let entities, let plan) = try #require(error) else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(Set(versions) == ["AppRatingPrompt", "HTTPSUpgrade 3"])
        #expect(entities == ["RemoteMessageManagedObject", "RemoteMessagingConfigManagedObject"])
        #expect(plan != nil)
      }
      let three = try Self.merged(rating, upgrade, ModelHistory(current: messages, name: "Messages"))
      let metadata = try StoreMetadata(contentsOf: url)
      let start = try #require(three.version(withHashes: metadata.versionHashes))
      #expect(start.name == "AppRatingPrompt, HTTPSUpgrade 3 and Messages")
      // Core Data's own merged model had these.
      #expect(Set(start.model.versionIdentifiers + [""]) == Set(metadata.versionIdentifiers))
      #expect(start.model.versionHashes() == metadata.versionHashes)
      let before = try StoreContents(of: url, model: own)
      let report = try Self.assistant(url, three).migrate()
      #expect(report.plan.losses.isEmpty)
      let after = try StoreContents(of: url, model: three.current)
      #expect(after.objects.mapValues(\.count) == before.objects.mapValues(\.count))
      #expect(
        try StoreMetadata(contentsOf: url).versionHashes["AppRatingPromptEntity"]
          == rating.current.versionHashes()["AppRatingPromptEntity"])
      try Self.assistant(url, three).requireNothingToDo()
    }
  }

  /// Three versions of a bundle, of which each becomes the next without a word.
  struct Part: Sendable, CustomTestStringConvertible {
    let name: String
    let versions: [Corpus.Version]
    var testDescription: String { name }

    /// Finds the last such versions of each bundle of the corpus, at most so many entities.
    static let all: [Part] = {
      let bundles = Set(Corpus.modelPaths.map { ($0 as NSString).deletingLastPathComponent })
        .filter { $0.hasSuffix(".xcdatamodeld") }.sorted()
      var parts: [Part] = []
      for bundle in bundles {
        guard let versions = try? Corpus.versions(of: bundle), versions.count > 2, versions.count < 30 else { continue }
        func isPlain(_ index: Int) -> Bool {
          let (source, destination) = (versions[index], versions[index + 1])
          let inference = MappingInference(from: source.model, to: destination.model)
          return source.hashes != destination.hashes && inference.obstacles.isEmpty
            && inference.effects.allSatisfy { $0.kind.severity != .loss } && source.model.entities.count < 30
        }
        let place = (0..<versions.count - 2).last { isPlain($0) && isPlain($0 + 1) }
        let name = ((bundle as NSString).lastPathComponent as NSString).deletingPathExtension
        guard let place, !parts.contains(where: { $0.name == name }) else { continue }
        parts.append(Part(name: name, versions: Array(versions[place...place + 2])))
      }
      return parts
    }()

    func history(current: Int) -> ModelHistory {
      ModelHistory(
        current: versions[current].model, name: versions[current].name,
        earlier: versions[..<current].map { ($0.name, $0.model) })
    }
  }

  @Test(.enabled(if: Corpus.isPresent, Corpus.absence), .slow("stores of each pair of real bundles, over two releases"))
  func `each part of a merged store becomes what it would alone, over two releases, whichever part is ahead`() throws {
    let parts = Part.all
    #expect(parts.count >= 4)
    var (count, conflicts) = (0, 0)
    let pairs = parts.indices.flatMap { first in parts.indices.filter { $0 > first }.map { [parts[first], parts[$0]] } }
    for (number, pair) in LongTests.selection(of: pairs, every: 3).enumerated() {
      for start in [[0, 0], number % 2 == 0 ? [1, 0] : [0, 1]] {
        var models = zip(pair, start).map { $0.versions[$1].model }
        guard let source = try? ManagedObjectModel(merging: models) else {
          conflicts += 1
          continue
        }
        let directory = try TemporaryDirectory()
        let url = directory.file("Merged.sqlite")
        try StoreGenerator.makeStore(at: url, model: source, objects: 4, seed: UInt64(number), isFull: true)
        for release in [1, 2] {
          let history = try ModelHistory(merging: pair.map { $0.history(current: release) })
          let before = try StoreContents(of: url, model: try ManagedObjectModel(merging: models))
          let outcome = try Self.assistant(url, history).migrateStore()
          guard case .migrated(let report) = outcome else {
            Issue.record("\(pair): \(outcome)")
            continue
          }
          #expect(report.plan.losses.isEmpty && report.plan.blockers.isEmpty)
          let after = try StoreContents(of: url, model: history.current)
          for (part, model) in zip(pair, models) {
            let destination = part.versions[release].model
            let mapping = try MappingInference(from: model, to: destination).mappingModel()
            let findings = KeptObjects.differences(
              before: before.part(model), source: model, after: after.part(destination), destination: destination,
              mapping: mapping)
            #expect(findings.isEmpty, "\(pair), \(start): \(findings.prefix(3))")
          }
          let total = { (contents: StoreContents) in contents.objects.values.reduce(0) { $0 + $1.count } }
          #expect(total(before) > 0 && total(after) >= total(before))
          models = pair.map { $0.versions[release].model }
          count += 1
        }
      }
    }
    print(parts.map(\.name), "\(count) migrations of merged stores, \(conflicts) pairs that can't be merged")
    #expect(count > 20)
  }

  // MARK: What the parts' histories say

  private static func other() throws -> [ManagedObjectModel] {
    try [
      model(Make.entity("Animal", [Make.attribute("name")])),
      model(Make.entity("Animal", [Make.attribute("called", id: "name")])),
      model(Make.entity("Animal", [Make.attribute("label", id: "name"), Make.attribute("more")])),
    ]
  }

  private static func notes() throws -> [ManagedObjectModel] {
    try [
      model(Make.entity("Note", [Make.attribute("text"), Make.attribute("old")])),
      model(Make.entity("Note", [Make.attribute("body", id: "text"), Make.attribute("old")])),
      model(Make.entity("Note", [Make.attribute("content", id: "text")])),
    ]
  }

  private static func losing(_ versions: [ManagedObjectModel], acknowledging isAcknowledged: Bool) -> VersionLock {
    var lock = VersionLock(
      versions: versions.enumerated().map { VersionLock.Entry(name: "Notes \($0 + 1)", model: $1) })
    if isAcknowledged { lock.acknowledge("Note.old", from: "Notes 2", to: "Notes 3") }
    return lock
  }

  @Test(arguments: [0, 1, 2], [0, 1, 2])
  func `each part follows its own renames, and its lock consents to its own losses`(note: Int, animal: Int) throws {
    let (notes, animals) = (try Self.notes(), try Self.other())
    guard note + animal < 4 else { return }
    for isAcknowledged in [true, false] {
      for isFirst in [true, false] {
        let directory = try TemporaryDirectory()
        let url = directory.file("Merged.sqlite")
        try Self.fill(url, notes[note], animals[animal])
        let own = Self.history("Notes", notes).locked(by: Self.losing(notes, acknowledging: isAcknowledged))
        let parts = [own, Self.history("Animals", animals)]
        let history = try ModelHistory(merging: isFirst ? parts : parts.reversed())
        let assistant = Self.assistant(url, history)
        if note < 2, !isAcknowledged {
          let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
          guard case .lossesNotConsented(_, let plan) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
          }
          #expect(plan.unconsentedLosses.map(\.name) == ["Note.old"])
          continue
        }
        let report = try assistant.migrate()
        #expect(report.plan.losses.map(\.consent) == (note < 2 ? [.lock] : []))
        let values = try Self.values(url, history.current)
        #expect(values["Note"] == [["content": .text(["text", "body", "content"][note])]])
        let label = SQLiteValue.text(["name", "called", "label"][animal])
        #expect(values["Animal"] == [["label": label, "more": animal == 2 ? .text("more") : .null]])
      }
    }
  }

  @Test func `a consent to all of a part's way counts for it, and for no other loss`() throws {
    let (notes, animals) = (try Self.notes(), try Self.other())
    let directory = try TemporaryDirectory()
    let url = directory.file("Merged.sqlite")
    try Self.fill(url, notes[0], animals[0])
    for (name, isConsented) in [("Note.old", true), ("Animal.old", false)] {
      var lock = Self.losing(notes, acknowledging: false)
      lock.acknowledge(name, kind: .values, from: "Notes 1", to: "Notes 3")
      let history = try Self.merged(Self.history("Notes", notes).locked(by: lock), Self.history("Animals", animals))
      let plan = try #require(try Self.assistant(url, history).plan())
      #expect(plan.losses.map(\.name) == ["Note.old"] && plan.unconsentedLosses.isEmpty == isConsented)
    }
  }

  @Test func `an acknowledgement doesn't count for a version of the part that was edited`() throws {
    let (notes, animals) = (try Self.notes(), try Self.other())
    let directory = try TemporaryDirectory()
    let url = directory.file("Merged.sqlite")
    try Self.fill(url, notes[1], animals[0])
    var lock = Self.losing(notes, acknowledging: true)
    lock.versions[2] = VersionLock.Entry(name: "Notes 3", model: notes[0])
    let own = Self.history("Notes", notes).locked(by: lock)
    let history = try Self.merged(own, Self.history("Animals", animals))
    let plan = try #require(try Self.assistant(url, history).plan())
    #expect(plan.unconsentedLosses.map(\.name) == ["Note.old"])
    #expect(plan.warnings.contains { $0.contains("\"Notes 3\" was shipped and must not change") })
  }

  @Test(arguments: [true, false])
  func `a store below the floor of a part is refused, with and without the version's model`(isThere: Bool) throws {
    let (notes, animals) = (try Self.notes(), try Self.other())
    let directory = try TemporaryDirectory()
    let url = directory.file("Merged.sqlite")
    var lock = Self.losing(notes, acknowledging: true)
    lock.floor = "Notes 2"
    let own =
      isThere
      ? Self.history("Notes", notes).locked(by: lock)
      : ModelHistory(current: notes[2], name: "Notes 3", earlier: [("Notes 2", notes[1])]).locked(by: lock)
    let history = try Self.merged(Self.history("Animals", animals), own)
    try Self.fill(url, notes[0], animals[1])
    let assistant = Self.assistant(url, history)
    #expect(try assistant.status() == .belowFloor)
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .belowFloor(_, let version, let floor) = try #require(error) else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(version == "Animals 2 and Notes 1" && floor == "Notes 2")
    try FileManager.default.removeItem(at: url)
    try Self.fill(url, notes[1], animals[1])
    guard case .migrated = try Self.assistant(url, history).migrateStore() else {
      Issue.record("a store of the floor is not migrated")
      return
    }
  }

  @Test func `a part's decision and a part's step with code count for its own step`() throws {
    let animals = try Self.other()
    let notes = [
      try Self.model(Make.entity("Note", [Make.attribute("text")])),
      try Self.model(
        Make.entity("Note", [Make.attribute("text"), Make.attribute("must", optional: false)])),
    ]
    let directory = try TemporaryDirectory()
    let url = directory.file("Merged.sqlite")
    try Self.fill(url, notes[0], animals[0])
    var lock = VersionLock(versions: notes.enumerated().map { VersionLock.Entry(name: "Notes \($0 + 1)", model: $1) })
    lock.decide(
      VersionLock.Decision(
        step: VersionLock.Step(source: "Notes 1", destination: "Notes 2"), entity: "Note", properties: ["must"],
        choice: "fill", value: .string("filled")))
    let own = Self.history("Notes", notes).locked(by: lock)
    var other = Self.history("Animals", animals)
    let ran = Locked(0)
    try other.step(
      from: "Animals 1", to: "Animals 2",
      didMigrate: { context in
        let notes = try context.fetch(ObjectFetchRequest("Note"))
        ran.withLock { $0 += notes.count }
      }
    ) {
      EntityMapping(from: "Animal", to: "Animal") { PropertyMapping("called", expression: "uppercase:(name)") }
    }
    let history = try Self.merged(own, other)
    try Self.assistant(url, history).migrate()
    let values = try Self.values(url, history.current)
    #expect(values["Note"] == [["text": .text("text"), "must": .text("filled")]])
    #expect(values["Animal"] == [["label": .text("NAME"), "more": .null]])
    #expect(ran.withLock { $0 } == 1)
  }

  // MARK: Parts that come and go

  @Test func `a store of one part gets the entities of the other`() throws {
    let (notes, animals) = (try Self.notes(), try Self.other())
    let own = Self.history("Notes", notes).locked(by: Self.losing(notes, acknowledging: true))
    for history in [
      try Self.merged(own, Self.history("Animals", animals)), try Self.merged(Self.history("Animals", animals), own),
    ] {
      let directory = try TemporaryDirectory()
      let url = directory.file("Notes.sqlite")
      try Self.fill(url, notes[0])
      let assistant = Self.assistant(url, history)
      #expect(try assistant.status() == .tooOld)
      try assistant.migrate()
      #expect(try Self.values(url, history.current) == ["Note": [["content": .text("text")]]])
      #expect(try StoreMetadata(contentsOf: url).versionHashes["Animal"] != nil)
    }
  }

  @Test(arguments: [true, false])
  func `a store of two parts is not one of an app that has one, which names the entities`(hasCache: Bool) throws {
    let (notes, animals) = (try Self.notes(), try Self.other())
    let directory = try TemporaryDirectory()
    let url = directory.file("Merged.sqlite")
    try Self.fill(url, notes[0], animals[0])
    if !hasCache {
      try Connection.execute("DELETE FROM Z_MODELCACHE", on: url.path)
    }
    let bytes = try Data(contentsOf: url)
    let error = #expect(throws: MigrationAssistantError.self) {
      try Self.assistant(url, Self.history("Notes", notes)).migrateStore()
    }
    guard case .partsMissing(_, ["Notes 1"], ["Animal"], let plan) = try #require(error) else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect((plan != nil) == hasCache)
    let words = try #require(error).description
    #expect(words.contains("has the entities of \"Notes 1\" and others that no version of the history has: Animal"))
    #expect(try Data(contentsOf: url) == bytes)
    let own = Self.history("Notes", notes).locked(by: Self.losing(notes, acknowledging: true))
    try Self.assistant(url, Self.merged(own, Self.history("Animals", animals))).migrate()
  }

  @Test func `an app's own test tries the versions of a merged history`() throws {
    let own = Self.history("Notes", try Self.notes()).locked(by: Self.losing(try Self.notes(), acknowledging: true))
    try Self.merged(own, Self.history("Animals", try Self.other())).expectMigrations()
  }

  @Test func `two versions of one model make no merged store, and of two that fit, each model gives one`() throws {
    let (x, y) = (Make.entity("X", [Make.attribute("x")]), Make.entity("Y", [Make.attribute("y")]))
    let z = try Self.model(Make.entity("Z", [Make.attribute("z")]))
    let (first, second) = (try Self.model(x), try Self.model(y))
    let swapped = try Self.merged(Self.history("A", [first, second]), Self.history("Z", [z]))
    let hashes = try ManagedObjectModel(merging: [first, second, z]).versionHashes()
    #expect(swapped.version(withHashes: hashes) == nil)
    #expect(swapped.versions(havingAllOf: hashes).versions == [nil, nil])
    // Y is in a version of either model; one of them has to give X.
    let both = try Self.merged(Self.history("A", [first, second]), Self.history("B", [second, z]))
    let start = try #require(both.version(withHashes: ManagedObjectModel(merging: [first, second]).versionHashes()))
    #expect(start.name == "A 1 and B 1")
  }

  @Test func `a store with a later version of a part is newer`() throws {
    let (notes, animals) = (try Self.notes(), try Self.other())
    let directory = try TemporaryDirectory()
    let url = directory.file("Merged.sqlite")
    try Self.fill(url, notes[0], animals[2])
    let history = try Self.merged(
      Self.history("Notes", notes), Self.history("Animals", animals, current: 1, later: true))
    let assistant = Self.assistant(url, history)
    #expect(try assistant.status() == .tooNew)
    let error = #expect(throws: MigrationAssistantError.self) { try assistant.migrateStore() }
    guard case .newerVersion(let store) = try #require(error) else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(store.versionName == "Notes 1 and Animals 3")
  }

  @Test func `an earlier release sees that a merged store went on`() throws {
    let (notes, animals) = (try Self.notes(), try Self.other())
    let directory = try TemporaryDirectory()
    let url = directory.file("Merged.sqlite")
    try Self.fill(url, notes[0], animals[0])
    let own = Self.history("Notes", notes).locked(by: Self.losing(notes, acknowledging: true))
    let newer = Self.assistant(url, try Self.merged(own, Self.history("Animals", animals)))
    _ = try newer.migrateStore()
    try newer.modelController.archive(newer.history.current)
    // The version that was kept notes none after it: it can come back.
    let kept = try #require(try newer.archive.previousVersions().first)
    let beside = kept.storeURL.deletingLastPathComponent().appendingPathComponent("model.json.gz")
    #expect(try ModelController(snapshotURL: beside).snapshot()?.earlierVersions == [])
    let first = try ManagedObjectModel(merging: [notes[0], animals[0]])
    #expect(try newer.modelController.snapshot()?.earlierVersions.contains(first.versionChecksum()) == true)
    let older = Self.assistant(
      url, try Self.merged(Self.history("Notes", notes, current: 0), Self.history("Animals", animals, current: 0)))
    #expect(try older.status() == .tooNew)
  }

  // MARK: Entities that parts share

  @Test func `parts may share an entity that both change, and can't be merged where theirs differ`() throws {
    let person = [
      Make.entity("Person", [Make.attribute("name")]), Make.entity("Person", [Make.attribute("full", id: "name")]),
    ]
    let notes = try person.map { try Self.model($0, Make.entity("Note", [Make.attribute("text")])) }
    let tasks = try person.enumerated().map { index, person in
      try Self.model(person, Make.entity("Task", [Make.attribute("title"), Make.attribute("mark\(index)")]))
    }
    #expect(throws: ModelError.unequalEntities(entity: "Person", models: ["Notes 2", "Tasks 1"])) {
      try Self.merged(Self.history("Notes", notes), Self.history("Tasks", tasks, current: 0))
    }
    let directory = try TemporaryDirectory()
    let url = directory.file("Merged.sqlite")
    try Self.fill(url, notes[0], tasks[0])
    var lock = VersionLock(versions: tasks.enumerated().map { VersionLock.Entry(name: "Tasks \($0 + 1)", model: $1) })
    lock.acknowledge("Task.mark0", from: "Tasks 1", to: "Tasks 2")
    let history = try Self.merged(Self.history("Notes", notes), Self.history("Tasks", tasks).locked(by: lock))
    try Self.assistant(url, history).migrate()
    let values = try Self.values(url, history.current)
    #expect(values["Person"] == [["full": .text("name")]])
    #expect(values["Note"] == [["text": .text("text")]])
    #expect(values["Task"] == [["title": .text("title"), "mark1": .null]])
  }

  @Test func `one history merges to itself, and merged ones are taken apart`() throws {
    let (notes, animals) = (Self.history("Notes", try Self.notes()), Self.history("Animals", try Self.other()))
    #expect(try Self.merged(notes).versionNames == notes.versionNames)
    #expect(try Self.merged().current.entities.isEmpty)
    let third = Self.history("Third", [try Self.model(Make.entity("Third", [Make.attribute("x")]))])
    let nested = try Self.merged(Self.merged(notes, animals), third)
    #expect(nested.currentName == "Notes 3, Animals 3 and Third 1")
    #expect(
      nested.versionNames == [
        "Notes 1, Animals 1 and Third 1", "Notes 2, Animals 1 and Third 1", "Notes 3, Animals 1 and Third 1",
        "Notes 3, Animals 2 and Third 1", "Notes 3, Animals 3 and Third 1",
      ])
  }
}

extension StoreContents {
  fileprivate func part(_ model: ManagedObjectModel) -> StoreContents {
    var part = self
    part.objects = objects.filter { model.entity(named: $0.key) != nil }
    return part
  }
}
