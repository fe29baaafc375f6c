import Foundation
import Heirloom
import HeirloomModel
import HeirloomStore
import HeirloomTesting
import TestSupport
import Testing

struct SampleObjectsTests {
  @Test func `values of every type come with those at the edges, and optional ones are missing in some objects`() throws
  {
    let directory = try TemporaryDirectory()
    let model = try Garden.model()
    let url = directory.file("Garden.sqlite")
    let samples = SampleObjects(of: model)
    #expect(samples.notes.isEmpty)
    try samples.makeStore(at: url)
    let plants = try #require(try StoreContents(of: url, model: model).objects["Plant"]).values
    #expect(plants.count == 12)
    func values(_ path: String) -> Set<SQLiteValue> { Set(plants.compactMap { $0.values[path] }) }
    for attribute in model.attributes(of: "Plant") where attribute.isOptional && attribute.composite == nil {
      #expect(values(attribute.name).contains(.null), "\(attribute.name)")
    }
    #expect(values("small").isSuperset(of: [.integer(-32768), .integer(32767)]))
    #expect(values("large").isSuperset(of: [.integer(.min), .integer(.max)]))
    // A whole number of seconds is stored as an integer.
    #expect(values("born").contains(.integer(-63_113_904_000)))
    #expect(values("name").contains { ($0.text?.utf8.count ?? 0) > 10_000 })
    #expect(
      values("name").contains { $0.text?.unicodeScalars.contains { $0.properties.isEmoji && $0.value > 255 } ?? false })
    #expect(values("photo").contains { ($0.blob?.count ?? 0) > 100_000 })
    #expect(values("place.street").count > 3)
    let folder = ExternalStorage.folder(forStoreAt: url.path)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(!names.isEmpty && names.allSatisfy { UUID(uuidString: $0) != nil })
    #expect(try ArchivedValue(decoding: try #require(values("tags").compactMap(\.blob).first)) != .null)
  }

  @Test func `equal seeds give equal content, other seeds other content`() throws {
    let directory = try TemporaryDirectory()
    let model = try Garden.model()
    for (name, seed) in [("A", UInt64(7)), ("B", 7), ("C", 8)] {
      try SampleObjects(of: model, objectsPerEntity: 9, seed: seed).makeStore(at: directory.file(name))
    }
    let contents = try ["A", "B", "C"].map { try StoreContents(of: directory.file($0), model: model) }
    #expect(contents[0] == contents[1])
    #expect(contents[0] != contents[2])
    #expect(throws: Never.self) { try contents[0].expectUnchanged(in: directory.file("B"), model: model) }
    #expect(throws: MigrationNotKept.self) { try contents[0].expectUnchanged(in: directory.file("C"), model: model) }
  }

  @Test func `rules, constraints and required links are kept, links are deep and of every kind`() throws {
    let directory = try TemporaryDirectory()
    let model = try Garden.model()
    let url = directory.file("Garden.sqlite")
    try SampleObjects(of: model, objectsPerEntity: 20, seed: 3).makeStore(at: url)
    try Garden.expectValid(url, model)
    let contents = try StoreContents(of: url, model: model)
    func links(_ entity: String, _ name: String) -> [[Int64]] {
      (contents.objects[entity] ?? [:]).values.map { $0.links[name] ?? [] }
    }
    #expect(links("Bed", "plants").contains { $0.count > 2 && $0 != $0.sorted() })
    #expect(links("Plant", "bed").allSatisfy { $0.count == 1 })
    #expect(links("Plant", "label").count == 20 && links("Plant", "label").allSatisfy { $0.count == 1 })
    #expect(links("Plant", "friends").contains { $0.count > 1 })
    let ids = (contents.objects["Label"] ?? [:]).values.compactMap { $0.values["code"] }
    #expect(Set(ids).count == ids.count && ids.count >= 40)
    // Some objects form a chain of parents.
    let parents = (contents.objects["Bed"] ?? [:]).compactMapValues { $0.links["parent"]?.first }
    let depth = parents.keys.map { key in
      var (next, steps) = (parents[key], 0)
      while let place = next, steps < 100 { (next, steps) = (parents[place], steps + 1) }
      return steps
    }.max()
    #expect((depth ?? 0) >= 3)
    #expect(contents.count(ofEntity: "Tree") == 20)
  }

  @Test func `what can't be made is told`() throws {
    var entity = EntityDescription(name: "Impossible")
    var name = AttributeDescription(name: "name", type: .string)
    name.validationRules = [ValidationRule(predicate: .alwaysFalse)]
    entity.attributes = [name]
    let samples = SampleObjects(of: try ManagedObjectModel(entities: [entity]))
    #expect(samples.count == 0)
    #expect(samples.notes.count == 2 && samples.notes[0].contains("Impossible.name"))
  }

  @Test(arguments: RandomSeeds.parts(quick: 24, long: 160))
  func `objects of random models are as their models want them`(seeds: [UInt64]) throws {
    for seed in seeds {
      let directory = try TemporaryDirectory()
      let model = try RandomCase(seed: seed).source.model()
      let url = directory.file("Random.sqlite")
      try SampleObjects(of: model, objectsPerEntity: 4, seed: seed).makeStore(at: url)
      try Garden.expectValid(url, model)
    }
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct SampleObjectsCorpusTests {
  @Test(arguments: LongTests.selection(of: Corpus.modelPaths, every: 60))
  func `objects of real models are as their models want them`(path: String) throws {
    let directory = try TemporaryDirectory()
    let model = try Corpus.model(at: Corpus.folder.appendingPathComponent(path).path)
    // A model may still be an empty page: then there is nothing to make.
    guard model.entities.contains(where: { !$0.isAbstract }) else { return }
    let url = directory.file("Real.sqlite")
    let samples = SampleObjects(of: model, objectsPerEntity: 6, seed: 1)
    try samples.makeStore(at: url)
    #expect(samples.notes.isEmpty, "\(samples.notes)")
    #expect(samples.count > 0)
    try Garden.expectValid(url, model)
  }
}
