// (A name that is missing ends the program, which fails the case.)
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import Heirloom
import HeirloomTesting

/// The code of a recipe as its article has it, but that names of entities and properties can be others.
protocol Recipe {
  /// The name to use for each of the article's.
  static var names: [String: String] { get set }
  static func models() throws -> (first: ManagedObjectModel, second: ManagedObjectModel)
  /// Writes the objects of the first release.
  static func write(_ first: ManagedObjectModel, to storeURL: URL) throws
  static func mappings() -> [EntityMapping]
  /// Adds what the article leaves in an app.
  static func add(
    from first: ManagedObjectModel, to second: ManagedObjectModel, _ history: inout ModelHistory,
    _ options: inout PersistentStoreOptions) throws
}

extension Recipe {
  static func n(_ text: String) -> String {
    var (renamed, word) = ("", "")
    for character in text + "\0" {
      if character.isLetter || character.isNumber {
        word.append(character)
      } else {
        renamed += (names[word] ?? word) + String(character)
        word = ""
      }
    }
    return String(renamed.dropLast())
  }
}

/// What the program is to do, from the one that judges the stores.
struct Job: Decodable {
  struct Part: Decodable {
    let recipe: String
    let isApplied: Bool
    let names: [String: String]
    /// True if the recipe says how an app runs.
    let hasWay: Bool
  }
  /// The recipes in each release.
  let releases: [[Part]]
  /// The release in which one entity becomes part of another, and both: what rows of only one must have is optional from then on.
  let merged: Int?
  let merge: [String]
  /// The attributes that are required nevertheless.
  let stays: [String]
  /// What may be lost, because an article says so.
  let except: [String]
  /// True if a policy keeps the plan from knowing what the person should be asked about.
  let isUnasked: Bool
}

struct Pair {
  let job: Job
  let models: [ManagedObjectModel]

  init(_ job: Job) throws {
    self.job = job
    var models: [ManagedObjectModel] = []
    var optional: Set<String> = []
    for (index, release) in job.releases.enumerated() {
      let parts = try release.map { part in
        Recipes.all[part.recipe]!.names = part.names
        let (first, second) = try Recipes.all[part.recipe]!.models()
        return part.isApplied ? second : first
      }
      if index == job.merged, let before = models.last {
        let attributes = job.merge.map { before.entity(named: $0)?.attributes ?? [] }
        for attribute in attributes.joined() where !attribute.isOptional && !job.stays.contains(attribute.name) {
          optional.insert(attribute.name)
        }
      }
      let model = try parts.dropFirst().reduce(parts[0], Self.union)
      models.append(try optional.isEmpty ? model : model.relaxed(job.merge[1], optional))
    }
    self.models = models
  }

  static func union(_ left: ManagedObjectModel, _ right: ManagedObjectModel) throws -> ManagedObjectModel {
    var entities = left.entities
    for entity in right.entities {
      guard let index = entities.firstIndex(where: { $0.name == entity.name }) else {
        entities.append(entity)
        continue
      }
      for attribute in entity.attributes where !entities[index].attributes.contains(attribute) {
        entities[index].attributes.append(attribute)
      }
      for relationship in entity.relationships where !entities[index].relationships.contains(relationship) {
        entities[index].relationships.append(relationship)
      }
      entities[index].uniquenessConstraints += entity.uniquenessConstraints
    }
    return try ManagedObjectModel(entities: entities)
  }

  /// The app of a release, which still has what the releases before it needed.
  func app(_ release: Int, modelsIn folder: URL? = nil) throws -> (
    history: ModelHistory, options: PersistentStoreOptions
  ) {
    var history = ModelHistory(
      current: models[release], name: "App \(release + 1)",
      earlier: (0..<release).map { (name: "App \($0 + 1)", model: models[$0]) })
    if let folder { history = try ModelHistory(contentsOf: folder) }
    var options = PersistentStoreOptions()
    for later in 0...release where later > 0 {
      let (first, second) = (models[later - 1], models[later])
      let new = zip(job.releases[later - 1], job.releases[later]).filter { !$0.isApplied && $1.isApplied }.map(\.1)
      for part in new { Recipes.all[part.recipe]!.names = part.names }
      let types = new.map { Recipes.all[$0.recipe]! }
      if types.count == 1 {
        try types[0].add(from: first, to: second, &history, &options)
        continue
      }
      // One mapping of a step says what both recipes say of it.
      for type in types where type.mappings().isEmpty { try type.add(from: first, to: second, &history, &options) }
      let mappings = types.flatMap { $0.mappings() }
      if !mappings.isEmpty {
        options.migration.mappings.append(try MappingModel.inferred(from: first, to: second) { mappings })
      }
    }
    return (history, options)
  }

  /// Writes a store of the first release: in each entity, an object has the values that both articles give the one in its place.
  func writeFirst(to url: URL) throws {
    let store = try PersistentStore.open(at: url, history: ModelHistory(current: models[0], name: "1"))
    defer { try? store.close() }
    let context = ManagedObjectContext(store: store)
    var written: [(ManagedObjectModel, [String: [ManagedObject]])] = []
    for part in job.releases[0] {
      let type = Recipes.all[part.recipe]!
      type.names = part.names
      let own = url.deletingLastPathComponent().appendingPathComponent("\(part.recipe)-alone.sqlite")
      let model = try type.models().first
      try type.write(model, to: own)
      let its = ManagedObjectContext(
        store: try PersistentStore.open(at: own, history: ModelHistory(current: model, name: "1")))
      contexts.append(its)
      written.append(
        (model, try Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, try its.fetch($0.name)) })))
    }
    var objects: [String: [ManagedObject]] = [:]
    for entity in models[0].entities {
      let count = written.map { $1[entity.name]?.count ?? 0 }.max() ?? 0
      objects[entity.name] = try (0..<count).map { _ in try context.insert(entity.name) }
    }
    for (model, its) in written {
      for entity in model.entities {
        guard let from = its[entity.name], let to = objects[entity.name], !from.isEmpty else { continue }
        for (index, object) in to.enumerated() {
          for attribute in entity.attributes {
            try object.setValue(
              from[index % from.count].value(forAttribute: attribute.name), forAttribute: attribute.name)
          }
          guard index < from.count else { continue }
          for relationship in entity.relationships {
            let place = relationship.destinationEntity
            func twin(_ other: ManagedObject) throws -> ManagedObject {
              objects[place]![its[place]!.firstIndex { $0.objectID == other.objectID }!]
            }
            if relationship.isToMany {
              let related = try from[index].objects(forRelationship: relationship.name).map(twin)
              try object.setObjects(related, forRelationship: relationship.name)
            } else {
              let related = try from[index].object(forRelationship: relationship.name).map(twin)
              try object.setObject(related, forRelationship: relationship.name)
            }
          }
        }
      }
    }
    try context.save()
  }
}

extension Pair {
  struct Wrong: Error { let text: String }

  /// Launches a release with a store of an earlier one, in the ways of the recipes that it has by then.
  func launch(_ url: URL, of made: Int, _ release: Int) throws {
    let (history, options) = try app(release)
    // What is left in the app keeps the names of its own step, which it asks for only when a store goes over it.
    for part in job.releases[release] where part.hasWay { Recipes.all[part.recipe]!.names = part.names }
    let ways = Set(job.releases[release].filter(\.isApplied).map(\.recipe))
    func open() throws { try PersistentStore.open(at: url, history: history, options: options).close() }
    func ask() throws {
      let before = try StoreContents(of: url, model: models[made])
      let asked = try AskThePerson.way(url, history, options, false)
      if !asked.isEmpty {
        try before.expectUnchanged(in: url, model: models[made])
        let again = try AskThePerson.way(url, history, options, true)
        if asked != Array(again.prefix(1)) { throw Wrong(text: "asked \(asked), then \(again)") }
        let after = try AskThePerson.way(url, history, options, true)
        if !after.isEmpty { throw Wrong(text: "asked once more: \(after)") }
      }
      let alone = try StoreArchive(storeURL: url).previousVersions().first.map { $0.isPinned ? $0.alone : [] } ?? []
      let expected = job.isUnasked ? [AskThePerson.n("mood")] : []
      if alone.map(\.property) != expected { throw Wrong(text: "after \(asked), pinned by \(alone)") }
    }
    func start() throws { try ways.contains("AskThePerson") ? ask() : open() }
    func group() throws {
      guard ways.contains("AppGroup") else { return try start() }
      let said = try AppGroup.way(url, history, start)
      let store = try PersistentStore.open(at: url, history: history, options: options)
      let count = try ManagedObjectContext(store: store).count(AppGroup.n("Note"))
      try store.close()
      if said != ["Open the app once.", "\(count) notes"] { throw Wrong(text: "the widget said \(said)") }
    }
    if ways.contains("SeveralStores") {
      for name in try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
      where name.hasPrefix("Settings") {
        try FileManager.default.removeItem(at: url.deletingLastPathComponent().appendingPathComponent(name))
      }
      let (without, with) = try SeveralStores.way(url, history, options, group)
      if without.count != with.count + 1 { throw Wrong(text: "obstacles \(without), then \(with)") }
    } else {
      try group()
    }
    guard ways.contains("GoBackToAnEarlierRelease") else { return }
    // What only this release has room for would be lost.
    let isNew = job.releases[release - 1].contains { $0.recipe == "GoBackToAnEarlierRelease" && !$0.isApplied }
    if isNew { try writeMood(url, history, options) }
    let (earlier, its) = try app(release - 1)
    let isRestored = try GoBackToAnEarlierRelease.way(url, earlier) { history in
      try PersistentStore.open(at: url, history: history, options: its).close()
    }
    if isNew, !isRestored { throw Wrong(text: "release \(release) opened a store whose mood it can't hold") }
    for _ in 1...3 { try open() }
  }

  private func writeMood(_ url: URL, _ history: ModelHistory, _ options: PersistentStoreOptions) throws {
    let store = try PersistentStore.open(at: url, history: history, options: options)
    let context = ManagedObjectContext(store: store)
    let name = GoBackToAnEarlierRelease.n("Note")
    try context.fetch(name).first?.set("glad", for: GoBackToAnEarlierRelease.n("mood"))
    try context.save()
    try store.close()
  }
}

/// The contexts of objects that are still used.
nonisolated(unsafe) var contexts: [ManagedObjectContext] = []

extension ManagedObjectModel {
  func relaxed(_ entity: String, _ names: Set<String>) throws -> ManagedObjectModel {
    var entities = entities
    for index in entities.indices where entities[index].name == entity {
      for attribute in entities[index].attributes.indices
      where names.contains(entities[index].attributes[attribute].name) {
        entities[index].attributes[attribute].isOptional = true
      }
    }
    return try ManagedObjectModel(entities: entities)
  }
}

@main
enum Main {
  static func main() {
    do { try run() } catch { print("thrown: \(error)") }
  }

  static func run() throws {
    let job = try JSONDecoder().decode(Job.self, from: Data(CommandLine.arguments[1].utf8))
    let folder = URL(fileURLWithPath: CommandLine.arguments[2])
    if CommandLine.arguments.count > 3 { return try runChecked(job, folder) }
    let files = FileManager.default
    var failures: [String] = []
    func attempt(_ what: String, _ body: () throws -> Void) {
      do { try body() } catch { failures.append("\(what): \(error)") }
    }
    func store(_ name: String) -> URL { folder.appendingPathComponent("\(name)/App.sqlite") }
    func copy(_ from: String, _ to: String) throws {
      try files.copyItem(at: store(from).deletingLastPathComponent(), to: store(to).deletingLastPathComponent())
    }
    let pair = try Pair(job)
    try pair.writeFirst(to: store("1"))
    for release in 1..<job.releases.count {
      let (history, options) = try pair.app(release)
      for made in 1...release {
        attempt("release \(release + 1), a store of release \(made)") {
          try copy(made == 1 ? "1" : "1-\(made)", "\(made)-\(release + 1)")
          let url = store("\(made)-\(release + 1)")
          do {
            try pair.launch(url, of: made - 1, release)
            for _ in 1...2 { try PersistentStore.open(at: url, history: history, options: options).close() }
          } catch {
            try files.removeItem(at: url)
            throw error
          }
        }
      }
      attempt("release \(release + 1), its expectMigrations") {
        try history.expectMigrations(configuration: options.migration, except: Set(job.except))
      }
    }
    for failure in failures { print(failure) }
  }

  /// The same app, whose models and lock were checked in CI.
  static func runChecked(_ job: Job, _ folder: URL) throws {
    let release = job.releases.count - 1
    let (history, options) = try Pair(job).app(release, modelsIn: folder.appendingPathComponent("Models"))
    try history.expectMigrations(configuration: options.migration)
    for made in 1...release {
      let store = folder.appendingPathComponent("\(made)-ci/App.sqlite")
      try PersistentStore.open(at: store, history: history, options: options).close()
    }
  }
}
