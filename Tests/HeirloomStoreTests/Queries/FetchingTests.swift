import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

struct FetchingTests {
  private let directory: TemporaryDirectory
  private let store: PersistentStore

  init() throws {
    directory = try TemporaryDirectory()
    let url = directory.url.appendingPathComponent("Everything.sqlite")
    let model = try Models.everything()
    try StoreGenerator.makeStore(at: url, model: model, objects: 9, seed: 4)
    store = try PersistentStore.open(at: url, model: model)
  }

  private func change(_ context: ManagedObjectContext) throws {
    let notes = try context.fetch("Note")
    let people = try context.fetch("Person")
    notes[1]["text"] = .string("changed")
    notes[2]["a16"] = nil
    notes[3][toOne: "author"] = people.last
    try context.delete(notes[4])
    people[0]["name"] = .string("Ännchen")
    for index in 0..<3 {
      let note = try context.insert("Note")
      note["text"] = .string("new \(index)")
      note["a16"] = .integer(Int64(index) - 1)
      note[toOne: "author"] = people[index]
      try context.insert("Worker")["name"] = .string("worker \(index)")
    }
  }

  @Test(arguments: [false, true])
  func `a fetch finds what filtering and sorting all objects finds`(isChanged: Bool) throws {
    let context = ManagedObjectContext(store: store)
    if isChanged { try change(context) }
    let evaluator = ExpressionEvaluator(now: 0)
    var found = 0
    for entity in ["Note", "Person", "Worker"] {
      let all = try context.fetch(entity)
      let samples = all.prefix(4).compactMap { $0[entity == "Note" ? "text" : "name"] }
      // A relationship of an unchanged object is followed in the store, which doesn't know the changes.
      let model = isChanged ? try Self.withoutRelationships(store.model) : store.model
      var random = RandomQueries(model: model, entity: entity, samples: samples, seed: 21)
      var numbers = SplitMix64(seed: 5)
      for _ in 0..<80 {
        var request = ObjectFetchRequest(entity, predicate: random.predicate(depth: 2))
        let paths = entity == "Note" ? ["text", "a16", "author.name", "place.city", "date"] : ["name"]
        for path in paths where numbers.below(3) == 0 {
          request.sortDescriptors.append(SortDescription(keyPath: path, ascending: numbers.below(2) == 0))
        }
        request.fetchOffset = numbers.below(3)
        request.fetchLimit = numbers.below(4) * 2
        request.fetchBatchSize = numbers.below(2) * 4
        let predicate = try #require(request.predicate)
        let wanted = Result { try Self.filter(all, predicate, request, evaluator) }
        let fetched = Result { try context.fetch(request) }
        switch (wanted, fetched) {
        case (.success(let wanted), .success(let fetched)):
          let isSame = wanted == fetched
          #expect(isSame, "\(predicate) finds \(fetched.map(\.key)) instead of \(wanted.map(\.key))")
          #expect(try context.count(request) == wanted.count)
          found += wanted.count
        // A limit or another order of the rows may leave out the object that fails.
        case (.failure, _): continue
        case (.success, .failure(let error)): Issue.record("\(predicate) fails with \(error)")
        }
      }
    }
    #expect(found > 200)
  }

  private static func filter(
    _ objects: [ManagedObject], _ predicate: PredicateDescription, _ request: ObjectFetchRequest,
    _ evaluator: ExpressionEvaluator
  ) throws -> [ManagedObject] {
    let matching = try objects.filter { try evaluator.evaluate(predicate, on: .object($0)) }
    let keyed = try matching.map { object in
      (
        object: object,
        keys: try request.sortDescriptors.map { try evaluator.evaluate(.keyPath($0.keyPath), on: .object(object)) }
      )
    }
    let sorted = try keyed.enumerated().sorted { left, right in
      for (index, key) in request.sortDescriptors.enumerated() {
        let order = try evaluator.sortOrder(of: left.element.keys[index], to: right.element.keys[index])
        if order != 0 { return (order < 0) == key.ascending }
      }
      return left.offset < right.offset
    }.map(\.element.object).dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? sorted.prefix(request.fetchLimit) : sorted)
  }

  private static func withoutRelationships(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: model.entities.map { entity in
        var entity = entity
        entity.relationships = []
        return entity
      })
  }

  // MARK: Arguments

  @Test func `arguments are values and never text`() throws {
    let context = ManagedObjectContext(store: store)
    let hostile = "x\" OR TRUEPREDICATE OR name == \"'; DROP TABLE ZNOTE; --"
    let person = try #require(try context.fetch("Person").first)
    person["name"] = .string(hostile)
    try context.save()
    let found = try context.fetch(ObjectFetchRequest("Person", where: "%K == %@", "name", hostile))
    #expect(found == [person])
    #expect(try context.fetch(ObjectFetchRequest("Person", where: "name == '%@'")).isEmpty)
    #expect(throws: FetchError.self) {
      try context.fetch(ObjectFetchRequest("Person", where: "%K == 1", "name\" OR 1 == 1 OR \"name"))
    }
    #expect(try context.count(ObjectFetchRequest("Note")) > 0)
  }

  @Test func `objects, lists, dates and key paths are arguments`() throws {
    let context = ManagedObjectContext(store: store)
    let notes = try context.fetch("Note")
    let note = try #require(notes.first { $0[toOne: "author"] != nil })
    let author = try #require(note[toOne: "author"])
    let wanted = notes.filter { $0[toOne: "author"] === author }
    #expect(try context.fetch(ObjectFetchRequest("Note", where: "author == %@", author)) == wanted)
    #expect(try context.fetch(ObjectFetchRequest("Note", where: "author IN %@", [author])) == wanted)
    #expect(try context.fetch(ObjectFetchRequest("Note", where: "SELF IN %@", wanted)) == wanted)
    #expect(try context.fetch(ObjectFetchRequest("Person", where: "notes CONTAINS %@", note)) == [author])
    let none: String? = nil
    #expect(
      try context.count(ObjectFetchRequest("Note", where: "%K == %@", "place.city", none))
        == notes.count { $0["place.city"] == nil })
    let date = Date(timeIntervalSinceReferenceDate: 1_000_000)
    #expect(
      try context.count(ObjectFetchRequest("Note", where: "date > %@ AND a16 >= %d", date, -1_000))
        == notes.count { note in
          guard case .date(let seconds)? = note["date"], case .integer(let number)? = note["a16"] else { return false }
          return seconds > 1_000_000 && number >= -1_000
        })
  }

  @Test(arguments: [
    ("a16 == %d", ["text"], "%"), ("a16 == %@ AND text == %@", ["1"], "arguments"), ("a16 == 1", ["1"], "arguments"),
    ("%K == 1", [""], "empty"), ("a16 == %q", ["1"], "%q"), ("a16 ==", [], "ends"),
  ])
  func `text or arguments that don't fit are told`(format: String, arguments: [String], part: String) throws {
    let error = #expect(throws: ExpressionError.self) {
      switch arguments.count {
      case 0: _ = try ObjectFetchRequest("Note", where: format)
      default: _ = try ObjectFetchRequest("Note", where: format, arguments[0])
      }
    }
    #expect(error?.description.contains(part) == true)
  }

  // MARK: Mistakes

  @Test func `unknown names are told before a row is looked at`() throws {
    let context = ManagedObjectContext(store: store)
    func problem(_ entity: String, _ format: String, sortedBy path: String? = nil) throws -> String {
      var request = try ObjectFetchRequest(entity, where: format)
      if let path { request.sortDescriptors = [SortDescription(keyPath: path)] }
      let error = #expect(throws: FetchError.self) { try context.fetch(request) }
      return error?.description ?? ""
    }
    #expect(try problem("Nobody", "TRUEPREDICATE").contains("\"Nobody\""))
    #expect(try problem("Note", "author.nmae == 'x'").contains("\"nmae\""))
    #expect(try problem("Note", "author.nmae == 'x'").contains("\"Person\""))
    #expect(try problem("Note", "text == $nobody").contains("$nobody"))
    #expect(try problem("Note", "frobnicate(text) == 1").contains("canonical:"))
    #expect(try problem("Note", "text MATCHES '['").contains("not a supported regular expression"))
    #expect(try problem("Note", "text > 5").contains("a string and an integer"))
    #expect(try problem("Note", "TRUEPREDICATE", sortedBy: "author").contains("sorted"))
    #expect(try problem("Note", "TRUEPREDICATE", sortedBy: "editors.name").contains("sorted"))
    let stranger = try #require(try ManagedObjectContext(store: store).fetch("Person").first)
    #expect(throws: FetchError.self) { try context.fetch(ObjectFetchRequest("Note", where: "author == %@", stranger)) }
  }

  @Test func `with a batch size the context may be saved between objects`() throws {
    let context = ManagedObjectContext(store: store)
    var request = try ObjectFetchRequest("Note", where: "text != %@", "done")
    request.fetchBatchSize = 2
    let count = try context.count(request)
    var seen = 0
    try context.forEach(request) { object throws(FetchError) in
      object["text"] = .string("done")
      do throws(ManagedObjectError) { try context.save() } catch { throw .object(error) }
      seen += 1
      return true
    }
    #expect(seen == count && seen > 3)
    #expect(try context.fetch(request).isEmpty)
  }
}
