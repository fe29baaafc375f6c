import Foundation
import HeirloomFormats
import HeirloomModel
import HeirloomStore
import TestSupport
import Testing

/// A comparison of SQL's results with the evaluator's, row by row.
struct QueryComparison {
  let store: PersistentStore
  let entity: String
  let objects: [(key: Int64, object: ManagedObject)]
  let samples: [AttributeValue]
  private(set) var compiled = 0
  private(set) var refused = 0
  private(set) var failures = 0
  private(set) var truths = 0
  private(set) var differences: [String] = []

  init(store: PersistentStore, entity: String, limit: Int = 40) throws {
    self.store = store
    self.entity = entity
    objects = try ManagedObjectContext(store: store).fetch(entity, limit: limit).compactMap { object in
      object.objectID.map { ($0.primaryKey, object) }
    }
    var samples: [AttributeValue] = []
    for (_, object) in objects.prefix(6) {
      for attribute in store.model.attributes(of: entity) where !attribute.allowsExternalBinaryDataStorage {
        if case .value(let value)? = try? object.value(forKey: attribute.name) { samples.append(value) }
      }
    }
    self.samples = samples
  }

  private func compiler(_ evaluator: ExpressionEvaluator, writesLiterals: Bool) -> ExpressionCompiler {
    ExpressionCompiler(
      entity: entity, alias: "s", schema: store.schema, database: "main", connection: store.connection,
      evaluator: evaluator, writesLiterals: writesLiterals)
  }

  private func run(_ sql: String, _ compiler: ExpressionCompiler, key: Int64) throws -> SQLiteValue? {
    let table = try #require(store.schema.table(ofEntity: entity)?.name)
    let statement = try store.connection.prepare("SELECT \(sql) FROM \(quote(table)) AS s WHERE s.Z_PK = \(key)")
    for (index, value) in compiler.values.enumerated() where index < statement.parameterCount {
      try statement.bind(value, at: index + 1)
    }
    return try statement.step() ? statement.value(at: 0) : nil
  }

  mutating func compare(_ predicate: PredicateDescription, writesLiterals: Bool) throws {
    let evaluator = ExpressionEvaluator(now: 700_000_000)
    var compiler = compiler(evaluator, writesLiterals: writesLiterals)
    guard let condition = try? compiler.compile(predicate) else {
      refused += 1
      return
    }
    compiled += 1
    for (key, object) in objects {
      let wanted = Result { try evaluator.evaluate(predicate, on: .object(object)) }
      let found = Result { try run("\(condition.sql) IS TRUE", compiler, key: key) }
      switch (wanted, found) {
      case (.success(let wanted), .success(let found)):
        if wanted { truths += 1 }
        if found != .integer(wanted ? 1 : 0) {
          note("\(predicate) of \(key) is \(wanted), in SQL \(String(describing: found)): \(condition.sql)")
        }
      case (.failure, .failure): failures += 1
      case (.failure(let error), .success):
        note("\(predicate) of \(key) fails with \(error), in SQL not: \(condition.sql)")
      case (.success, .failure(let error)): note("\(predicate) of \(key) fails in SQL with \(error)")
      }
    }
  }

  mutating func compare(_ expression: ValueExpression, for attribute: AttributeDescription) throws {
    let evaluator = ExpressionEvaluator(now: 700_000_000)
    var compiler = compiler(evaluator, writesLiterals: true)
    guard
      let value = try? compiler.compile(
        expression, for: attribute, adapt: { value, _ in try Self.stored(value()) })
    else {
      refused += 1
      return
    }
    compiled += 1
    for (key, object) in objects {
      let wanted = Result { try Self.stored(evaluator.evaluate(expression, on: .object(object))) }
      let found = Result { try run(value.sql, compiler, key: key) }
      switch (wanted, found) {
      case (.success(let wanted), .success(let found)):
        if wanted != .null { truths += 1 }
        if found.map(Self.number) != Self.number(wanted) {
          note("\(expression) of \(key) is \(wanted), in SQL \(String(describing: found)): \(value.sql)")
        }
      case (.failure, .failure): failures += 1
      case (.failure(let error), .success):
        note("\(expression) of \(key) fails with \(error), in SQL not: \(value.sql)")
      case (.success, .failure(let error)): note("\(expression) of \(key) fails in SQL with \(error)")
      }
    }
  }

  private mutating func note(_ difference: String) {
    if differences.count < 20 { differences.append(difference) }
  }

  private struct NoSingleValue: Error {}

  private static func stored(_ value: EvaluatedValue) throws -> SQLiteValue {
    switch value {
    case .null: return .null
    case .list, .object: throw NoSingleValue()
    case .value(let value):
      switch value {
      case .integer(let number): return .integer(number)
      case .boolean(let flag): return .integer(flag ? 1 : 0)
      case .double(let number), .date(let number): return .real(number)
      case .decimal(let text): return try .real(#require(Double(text)))
      case .string(let text), .uri(let text): return .text(text)
      case .binary(let bytes), .uuid(let bytes): return .blob(bytes)
      case .composite: throw NoSingleValue()
      }
    }
  }

  /// A column of dates holds whole seconds as integers.
  private static func number(_ value: SQLiteValue) -> SQLiteValue {
    if case .integer(let number) = value { return .real(Double(number)) }
    return value
  }
}

struct ExpressionCompilerTests {
  /// `HEIRLOOM_QUERY_SEEDS=100` tries as many.
  private static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["HEIRLOOM_QUERY_SEEDS"].flatMap(UInt64.init).map { Array(0..<$0) } ?? [3, 4, 8]

  private static func store(_ directory: TemporaryDirectory, seed: UInt64) throws -> PersistentStore {
    let url = directory.url.appendingPathComponent("Everything.sqlite")
    var generator = StoreGenerator(objectsPerEntity: 12, seed: seed)
    generator.isVaried = seed % 3 != 0
    let model = try Models.everything()
    try generator.makeStore(at: url, model: model)
    return try PersistentStore.open(at: url, model: model, isReadOnly: true)
  }

  @Test(arguments: Self.seeds)
  func `random conditions hold in SQL for the rows that the evaluator finds`(seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory, seed: seed)
    for entity in ["Note", "Person", "Boss"] {
      var comparison = try QueryComparison(store: store, entity: entity)
      var random = RandomQueries(model: store.model, entity: entity, samples: comparison.samples, seed: seed)
      for index in 0..<250 { try comparison.compare(random.predicate(depth: 3), writesLiterals: index % 2 == 0) }
      #expect(comparison.differences.isEmpty, "\(comparison.differences.joined(separator: "\n"))")
      #expect(
        comparison.compiled > comparison.refused, "\(comparison.compiled) of \(entity), \(comparison.refused) refused")
      #expect(comparison.truths >= comparison.objects.count * 10 && comparison.failures >= comparison.objects.count)
    }
  }

  @Test(arguments: Self.seeds)
  func `random expressions have in SQL the values that the evaluator finds`(seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory, seed: seed)
    var comparison = try QueryComparison(store: store, entity: "Note")
    var random = RandomQueries(model: store.model, entity: "Note", samples: comparison.samples, seed: seed)
    let types: [AttributeType] = [.integer64, .integer16, .string, .double, .date, .boolean, .binary]
    for index in 0..<600 {
      let attribute = AttributeDescription(name: "value", type: types[index % types.count])
      try comparison.compare(random.expression(depth: 3), for: attribute)
    }
    #expect(comparison.differences.isEmpty, "\(comparison.differences.joined(separator: "\n"))")
    #expect(comparison.compiled > comparison.refused * 2, "\(comparison.compiled), \(comparison.refused) refused")
    #expect(comparison.truths >= comparison.objects.count * 100)
  }
}

@Suite(.enabled(if: Corpus.isPresent, Corpus.absence))
struct ExpressionCompilerCorpusTests {
  /// A third of the stores, each with an entity that has objects.
  private static let paths = CorpusStore.paths.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)

  @Test(arguments: paths)
  func `random conditions hold in SQL for the objects of real stores`(path: String) throws {
    let corpus = try CorpusStore(path)
    let store = try PersistentStore.open(at: corpus.url, model: corpus.model, isReadOnly: true)
    let context = ManagedObjectContext(store: store)
    let counts = try store.schema.entities.map { ($0.name, try context.count($0.name)) }
    guard let entity = counts.max(by: { $0.1 < $1.1 }), entity.1 > 0 else { return }
    var comparison = try QueryComparison(store: store, entity: entity.0, limit: 8)
    var random = RandomQueries(model: store.model, entity: entity.0, samples: comparison.samples, seed: 11)
    for index in 0..<60 { try comparison.compare(random.predicate(depth: 2), writesLiterals: index % 2 == 0) }
    #expect(comparison.differences.isEmpty, "\(comparison.differences.joined(separator: "\n"))")
    #expect(comparison.compiled > 20)
  }
}
