import Foundation
import Heirloom
import TestSupport
import Testing

/// Mappings whose values are given by expressions: in SQL by both builders, and object by object.
struct ExpressionMappingTests: ModelMaking {
  private static func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
    let person = Make.entity(
      "Person", attributes.sorted { $0.name < $1.name },
      [
        toOne("boss", "Person", "team"),
        toMany("team", "Person", "boss"),
      ])
    let worker = Make.entity("Worker", [attribute("wage", .integer32)], parent: "Person")
    return try ManagedObjectModel(entities: [person, worker])
  }

  private static func source() throws -> ManagedObjectModel {
    try model([
      attribute("name", .string), attribute("age", .integer16), attribute("born", .date), attribute("height", .double),
      attribute("isActive", .boolean), attribute("path", .string),
    ])
  }

  struct Value: CustomTestStringConvertible, Sendable {
    let name: String
    let type: AttributeType
    let text: String
    /// True when the whole mapping runs as SQL.
    var isCompiled = true

    var testDescription: String { text }
  }

  static let values: [Value] = [
    Value(name: "firstName", type: .string, text: "FUNCTION($source.name, 'componentsSeparatedByString:', ' ')[FIRST]"),
    Value(name: "part", type: .string, text: "FUNCTION($source.name, 'stringByAppendingString:', '!')"),
    Value(name: "nameLength", type: .integer64, text: "length:($source.name)"),
    Value(name: "shortLength", type: .integer16, text: "length:($source.name)"),
    Value(name: "nextAge", type: .integer32, text: "$source.age + 1"),
    Value(name: "half", type: .double, text: "$source.height / 2"),
    Value(name: "label", type: .string, text: "TERNARY($source.age > 10, uppercase:($source.name), 'young')"),
    Value(name: "bossName", type: .string, text: "$source.boss.name"),
    Value(name: "bossBoss", type: .integer32, text: "$source.boss.boss.age"),
    Value(name: "teamSize", type: .integer32, text: "$source.team.@count"),
    Value(name: "oldest", type: .integer16, text: "$source.team.@max.age"),
    Value(
      name: "grownUps", type: .integer64, text: "SUBQUERY($source.team, $p, $p.age > 17 AND $p.name != nil).@count"),
    Value(name: "flag", type: .boolean, text: "TERNARY($source.name CONTAINS[c] 'A', YES, NO)"),
    Value(name: "age", type: .integer16, text: "CAST($source.isActive, 'NSNumber')"),
    Value(name: "later", type: .date, text: "$source.born + 86400"),
    Value(name: "mapping", type: .string, text: "$entityMapping.name"),
    Value(name: "twice", type: .string, text: "FUNCTION($entityPolicy, 'twice:', $source.name)"),
    Value(name: "uri", type: .uri, text: "$source.path"),
    Value(name: "average", type: .double, text: "$source.team.@avg.height", isCompiled: false),
  ]

  private static func migrate(
    _ store: URL, _ values: [Value], to destination: ManagedObjectModel, builder: BuilderChoice = .automatic,
    policy: String? = nil, where condition: String? = nil
  ) throws -> MigrationReport {
    let source = try source()
    var mapping = try MappingModel.inferred(from: source, to: destination)
    for index in mapping.entityMappings.indices {
      for value in values {
        let expression = try ValueExpression(parsing: value.text)
        mapping.entityMappings[index].attributeMappings.removeAll { $0.name == value.name }
        mapping.entityMappings[index].attributeMappings.append(
          PropertyMapping(name: value.name, valueExpression: expression))
      }
      mapping.entityMappings[index].mappingType = policy == nil ? .transform : .custom
      mapping.entityMappings[index].entityMigrationPolicyClassName = policy
      if let condition, let name = mapping.entityMappings[index].sourceEntityName {
        mapping.entityMappings[index].sourceExpression = .sourceRows(ofEntity: name, predicate: condition)
      }
    }
    var configuration = MigrationAssistant.Configuration()
    configuration.mappings = [mapping]
    configuration.policies.register(EntityMigrationPolicy.self, named: "Standard")
    configuration.policies.register(function: "twice:") { _, arguments in
      guard case .value(.string(let text))? = arguments.first else { return .null }
      return .string(text + text)
    }
    let outcome = try MigrationAssistant(store, from: source, to: destination, configuration, builder: builder)
      .migrateStore()
    let report = try #require(outcome.report)
    return report
  }

  private static func store(_ directory: TemporaryDirectory, objects: Int = 9) throws -> URL {
    let url = directory.file("Store.sqlite")
    try StoreGenerator.makeStore(at: url, model: source(), objects: objects, seed: 4)
    return url
  }

  private static func destination(_ values: [Value], optional: Bool = true) throws -> ManagedObjectModel {
    let kept = [attribute("born", .date), attribute("height", .double)]
    return try model(kept + values.map { attribute($0.name, $0.type, optional: optional) })
  }

  @Test(arguments: [values] + values.map { [$0] })
  func `both builders and the evaluation of each object give the same values`(values: [Value]) throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let destination = try Self.destination(values)
    var contents: [StoreContents] = []
    for (name, builder, policy) in [
      ("row", BuilderChoice.automatic, "Standard"), ("rebuild", .always(.rebuild), nil),
      ("alter", .always(.cloneAndAlter), nil),
    ] {
      let folder = directory.file(name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let copy = folder.appendingPathComponent("Store.sqlite")
      try FileManager.default.copyItem(at: store, to: copy)
      let report = try Self.migrate(copy, values, to: destination, builder: builder, policy: policy)
      #expect(report.plan.mappingResults.isEmpty == (policy == nil && values.allSatisfy(\.isCompiled)))
      let found = try StoreContents(of: copy, model: destination)
      #expect(found.objects["Person"]?.count == 9 && found.objects["Worker"]?.count == 9)
      contents.append(found)
    }
    for found in contents.dropFirst() {
      for (entity, objects) in contents[0].objects {
        for (key, object) in objects {
          #expect(found.objects[entity]?[key]?.values == object.values, "\(entity) \(key)")
        }
        #expect(found.objects[entity]?.mapValues(\.links) == objects.mapValues(\.links))
      }
    }
    for value in values {
      #expect(
        contents[0].objects.values.contains { $0.values.contains { $0.values[value.name] != .null } }, "\(value.text)")
    }
  }

  @Test func `what an expression reads is not counted as lost, and all else is`() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let values = [Self.values[0]]
    let report = try Self.migrate(store, values, to: Self.destination(values))
    let lost = Set(report.plan.losses.compactMap(\.property))
    #expect(lost == ["age", "isActive", "path"])
  }

  @Test func `a condition takes some objects, and the others are counted`() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let destination = try Self.destination([Self.values[2]])
    let before = try StoreContents(of: store, model: Self.source()).objects["Person"] ?? [:]
    let taken = before.filter { if case .integer(let age)? = $0.value.values["age"] { age > 100 } else { false } }
    #expect(!taken.isEmpty && taken.count < before.count)
    let report = try Self.migrate(store, [Self.values[2]], to: destination, where: "age > 100")
    let after = try StoreContents(of: store, model: destination).objects["Person"] ?? [:]
    #expect(after.keys.sorted() == taken.keys.sorted())
    let lost = report.plan.losses.filter { $0.property == nil && $0.entity == "Person" }
    #expect(lost.map(\.rows) == [Int64(before.count - taken.count)])
  }

  // MARK: Mistakes

  struct Mistake: CustomTestStringConvertible, Sendable {
    let text: String
    var type = AttributeType.string
    var optional = true
    let parts: [String]

    var testDescription: String { text }
  }

  static let mistakes: [Mistake] = [
    Mistake(text: "$source.boss.nmae", parts: ["\"Person\"", "\"nmae\"", "\"Person.value\""]),
    Mistake(text: "length:($source.team.nmae)", parts: ["\"nmae\""]),
    Mistake(text: "$nobody.name", parts: ["$nobody", "$source"]),
    Mistake(text: "FUNCTION($entityPolicy, 'thrice:', $source.name)", parts: ["\"thrice:\"", "twice:"]),
    Mistake(text: "frobnicate:($source.name)", parts: ["\"frobnicate:\"", "canonical:"]),
    Mistake(text: "$source.name MATCHES '['", parts: []),
  ]

  @Test(arguments: mistakes.filter { !$0.parts.isEmpty })
  func `an expression that can have no value is told before anything is made`(mistake: Mistake) throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let before = try Data(contentsOf: store)
    let value = Value(name: "value", type: mistake.type, text: mistake.text)
    let error = #expect(throws: MigrationAssistantError.self) {
      try Self.migrate(store, [value], to: Self.destination([value]))
    }
    guard case .failed(_, .invalidExpression(let found))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(found.mapping.contains("Person") && found.property == "value")
    for part in mistake.parts { #expect("\(found)".contains(part), "\(found)") }
    #expect(try StoreContents(of: store, model: Self.source()).objects["Person"]?.count == 9)
    #expect(try Data(contentsOf: store).count == before.count)
  }

  static let misfits: [Mistake] = [
    Mistake(text: "$source.name", type: .integer32, parts: ["Integer 32"]),
    Mistake(text: "$source.height", type: .uuid, parts: ["UUID"]),
    Mistake(text: "'text'", type: .date, parts: []),
    Mistake(text: "$source.team", type: .string, parts: ["String"]),
    Mistake(text: "$source.age * 1000", type: .integer16, parts: ["Integer 16"]),
    Mistake(text: "$source.age / 0", type: .integer16, parts: ["divided by zero"]),
    Mistake(text: "$source.boss.name", optional: false, parts: ["required"]),
    Mistake(
      text: "TERNARY($source.age > 10, uppercase:($source.name), nil)", optional: false, parts: ["required"]),
    Mistake(text: "FUNCTION($source.name, 'componentsSeparatedByString:', ' ')[7]", parts: ["index 7"]),
  ]

  @Test(arguments: misfits.filter { !$0.parts.isEmpty }, [BuilderChoice.always(.rebuild), .always(.cloneAndAlter)])
  func `a value that does not fit stops the run and names the object`(mistake: Mistake, builder: BuilderChoice) throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let before = try StoreContents(of: store, model: Self.source())
    let value = Value(name: "value", type: mistake.type, text: mistake.text)
    let destination = try Self.destination([value], optional: mistake.optional)
    let error = #expect(throws: MigrationAssistantError.self) {
      try Self.migrate(store, [value], to: destination, builder: builder)
    }
    guard case .failed(_, .mappingFailed(let failure))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.mapping.contains("Person") || failure.mapping.contains("Worker"))
    #expect(failure.object != nil || mistake.text.contains("boss"))
    #expect("\(failure)".contains("\"value\"") || "\(failure)".contains(".value\""), "\(failure)")
    for part in mistake.parts { #expect("\(failure)".contains(part), "\(failure)") }
    #expect(try StoreContents(of: store, model: Self.source()) == before)
  }

  @Test func `a condition that is none is told with the mapping`() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let before = try StoreContents(of: store, model: Self.source())
    let error = #expect(throws: MigrationAssistantError.self) {
      try Self.migrate(store, [], to: Self.destination([]), where: "age >")
    }
    guard case .failed(_, .unsupportedMapping(let reason))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("Person") && reason.contains("age >"), "\(reason)")
    #expect(try StoreContents(of: store, model: Self.source()) == before)
  }

  @Test(arguments: ["nmae == 1", "age == $nobody", "frobnicate(age) == 1"])
  func `a condition on source objects that can't hold is told before anything is made`(condition: String) throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let error = #expect(throws: MigrationAssistantError.self) {
      try Self.migrate(store, [], to: Self.destination([]), where: condition)
    }
    guard case .failed(_, .invalidExpression(let found))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(found.property == nil && found.mapping.contains("Person"))
  }
}
