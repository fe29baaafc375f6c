import Foundation
import HeirloomModel

extension ManagedObjectContext {
  /// Returns the objects that match a request.
  ///
  /// Objects with unsaved changes are matched as changed. A relationship from an unchanged object to a changed one is
  /// followed in the store.
  ///
  /// - Parameter request: The request.
  /// - Returns: The objects; their values are read when they are first used.
  /// - Throws: ``FetchError``.
  public func fetch(_ request: ObjectFetchRequest) throws(FetchError) -> [ManagedObject] {
    var objects: [ManagedObject] = []
    try forEach(request) { object in
      objects.append(object)
      return true
    }
    return objects
  }

  /// Calls a closure with the objects that match a request, one after the other, without retaining them.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - body: Receives an object; returns true to continue. It may save only if the request has a batch size.
  /// - Throws: ``FetchError``, the closure's included.
  public func forEach(
    _ request: ObjectFetchRequest, _ body: (ManagedObject) throws(FetchError) -> Bool
  ) throws(FetchError) {
    let fetch = try PreparedFetch(request, in: self)
    guard request.fetchBatchSize > 0 else { return try fetch.run(body) }
    var keys: [ManagedObjectKey] = []
    var pending: [Int: ManagedObject] = [:]
    try fetch.run { object throws(FetchError) in
      // The context retains changed objects; a new one has no key to look it up by.
      if object.hasChanges { pending[keys.count] = object }
      keys.append(ManagedObjectKey(number: object.entityNumber, key: object.key))
      return true
    }
    for (index, key) in keys.enumerated() {
      guard let object = pending[index] ?? self.object(number: key.number, key: key.key), !object.isDeleted
      else {
        continue
      }
      guard try body(object) else { return }
    }
  }

  /// Counts the objects that match a request.
  ///
  /// - Parameter request: The request.
  /// - Returns: The number, with unsaved changes included.
  /// - Throws: ``FetchError``.
  public func count(_ request: ObjectFetchRequest) throws(FetchError) -> Int {
    try PreparedFetch(request, in: self).count()
  }
}

private struct ManagedObjectKey {
  let number: Int
  let key: Int64
}

private struct PreparedFetch {
  let request: ObjectFetchRequest
  let context: ManagedObjectContext
  let evaluator: ExpressionEvaluator
  /// Of the entity, deleted objects among them.
  let changed: Set<ManagedObject>
  private(set) var pending: [ManagedObject]
  /// `nil` if the condition is evaluated for each object, or there is none.
  let condition: String?
  let bindings: [SQLiteValue]
  let order: String?

  private var isEvaluated: Bool { request.predicate != nil && condition == nil }

  init(_ request: ObjectFetchRequest, in context: ManagedObjectContext) throws(FetchError) {
    let name = request.entityName
    guard let entity = context.store.schema.entity(named: name) else {
      throw .unknownEntity(name, nearest: context.store.schema.model.nearestEntity(to: name))
    }
    self.request = request
    self.context = context
    evaluator = ExpressionEvaluator(
      variables: request.substitutionVariables, now: Date().timeIntervalSinceReferenceDate)
    if let predicate = request.predicate {
      do throws(EvaluationError) { try evaluator.check(predicate) } catch { throw .condition(entity: name, error) }
    }
    var compiler = ExpressionCompiler(
      entity: name, alias: RowSelection.alias, schema: context.store.schema, database: context.store.database,
      connection: context.store.connection, evaluator: evaluator)
    let isBound = try Self.bind(request.substitutionVariables, to: &compiler, in: context)
    var compiled: CompiledCondition?
    if let predicate = request.predicate {
      do throws(CompilationProblem) {
        compiled = try compiler.compile(predicate)
      } catch .unknownProperty(let entity, let property) {
        throw Self.unknown(property, of: entity, in: context)
      } catch {
        // The condition is evaluated row by row instead, which would report nothing if there are no rows.
        if let problem = context.store.schema.model.problem(in: predicate, of: name) {
          throw Self.unknown(problem.property, of: problem.entity, in: context)
        }
      }
    }
    if !isBound { compiled = nil }
    let number = entity.numberSQL(ofRow: RowSelection.alias)
    let numbers = request.includesSubentities ? entity.treeNumbers : entity.number...entity.number
    condition = compiled.map {
      $0.isFallible ? $0.among("\(number) BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)") : $0.sql
    }
    order = try Self.order(request, &compiler, context)
    bindings = compiler.bindings(for: [condition, order])
    do throws(ManagedObjectError) {
      changed = Set(try context.changedObjects(of: name, includesSubentities: request.includesSubentities))
    } catch {
      throw .object(error)
    }
    pending = []
    if !changed.isEmpty { pending = try matchingChanges() }
  }

  private static func bind(
    _ variables: [String: EvaluatedValue], to compiler: inout ExpressionCompiler, in context: ManagedObjectContext
  ) throws(FetchError) -> Bool {
    var isBound = true
    for (name, value) in variables.ordered(by: { $0.key < $1.key }) {
      let objects: [any ValueSource]
      switch value {
      case .object(let source): objects = [source]
      case .list(let elements):
        objects = elements.compactMap { if case .object(let source) = $0 { source } else { nil } }
      case .null, .value: continue
      }
      for source in objects {
        guard let object = source as? ManagedObject else { continue }
        guard object.context === context else { throw .otherContext(entity: object.entityName) }
      }
      guard case .object(let source) = value else {
        isBound = isBound && compiler.bind(name, toObjects: objects.compactMap { $0 as? ManagedObject }, of: value)
        continue
      }
      guard let object = source as? ManagedObject, !object.isNew, !object.isDeleted else {
        isBound = false
        continue
      }
      guard (try? compiler.bind(name, toObjectOf: object.entityName, primaryKey: object.key)) != nil else {
        isBound = false
        continue
      }
    }
    return isBound
  }

  private static func order(
    _ request: ObjectFetchRequest, _ compiler: inout ExpressionCompiler, _ context: ManagedObjectContext
  ) throws(FetchError) -> String? {
    var terms: [String] = []
    for key in request.sortDescriptors {
      do throws(CompilationProblem) {
        terms.append(try compiler.sortTerm(key.keyPath) + (key.ascending ? "" : " DESC"))
      } catch .unknownProperty(let entity, let property) {
        throw unknown(property, of: entity, in: context)
      } catch {
        throw .unsortable(entity: request.entityName, keyPath: key.keyPath)
      }
    }
    return terms.isEmpty ? nil : terms.joined(separator: ", ")
  }

  private static func unknown(_ property: String, of entity: String, in context: ManagedObjectContext) -> FetchError {
    .unknownProperty(
      entity: entity, property: property,
      nearest: context.store.schema.model.nearestProperty(to: property, of: entity))
  }

  // MARK: Changed objects

  private func matchingChanges() throws(FetchError) -> [ManagedObject] {
    var matching: [(object: ManagedObject, keys: [EvaluatedValue])] = []
    let all = try objectErrors { () throws(ManagedObjectError) in
      try context.changedObjects(of: request.entityName, includesSubentities: request.includesSubentities)
    }
    for object in all where !object.isDeleted {
      guard try matches(object) else { continue }
      matching.append((object, try sortKeys(of: object)))
    }
    return try matching.enumerated().sorted(wrapping: { left, right throws(FetchError) in
      let order = try compare(left.element, right.element)
      return order == 0 ? left.offset < right.offset : order < 0
    }).map(\.element.object)
  }

  private func matches(_ object: ManagedObject) throws(FetchError) -> Bool {
    guard let predicate = request.predicate else { return true }
    return try evaluating { try evaluator.evaluate(predicate, on: .object(object)) }
  }

  private func sortKeys(of object: ManagedObject) throws(FetchError) -> [EvaluatedValue] {
    var keys: [EvaluatedValue] = []
    for key in request.sortDescriptors {
      keys.append(try evaluating { try evaluator.evaluate(.keyPath(key.keyPath), on: .object(object)) })
    }
    return keys
  }

  private typealias Keyed = (object: ManagedObject, keys: [EvaluatedValue])

  /// New objects come after saved ones that are equal.
  private func compare(_ left: Keyed, _ right: Keyed) throws(FetchError) -> Int {
    for (index, key) in request.sortDescriptors.enumerated() {
      let order = try evaluating { try evaluator.sortOrder(of: left.keys[index], to: right.keys[index]) }
      if order != 0 { return key.ascending ? order : -order }
    }
    let (first, second) = (left.object, right.object)
    if first.isNew || second.isNew { return first.isNew == second.isNew ? 0 : first.isNew ? 1 : -1 }
    return first.key < second.key ? -1 : first.key > second.key ? 1 : 0
  }

  // MARK: Running

  func run(_ body: (ManagedObject) throws(FetchError) -> Bool) throws(FetchError) {
    var toSkip = max(0, request.fetchOffset)
    var left = request.fetchLimit > 0 ? request.fetchLimit : Int.max
    var waiting = pending[...]
    var waitingKeys: [EvaluatedValue]?
    var failure: FetchError?

    func pass(_ object: ManagedObject) throws(FetchError) -> Bool {
      if toSkip > 0 {
        toSkip -= 1
        return true
      }
      left -= 1
      return try body(object) && left > 0
    }
    func passWaiting(before object: ManagedObject?) throws(FetchError) -> Bool {
      while let next = waiting.first {
        if let object {
          let keys = if let waitingKeys { waitingKeys } else { try sortKeys(of: next) }
          waitingKeys = keys
          guard try compare((next, keys), (object, sortKeys(of: object))) < 0 else { return true }
        }
        waiting.removeFirst()
        waitingKeys = nil
        guard try pass(next) else { return false }
      }
      return true
    }

    var goesOn = true
    let isPlain = changed.isEmpty && !isEvaluated
    let selection = RowSelection(
      where: condition, bindings: bindings, order: order, limit: isPlain && request.fetchLimit > 0 ? left : nil,
      offset: isPlain ? toSkip : 0, includesSubentities: request.includesSubentities)
    if isPlain { toSkip = 0 }
    try objectErrors { () throws(ManagedObjectError) in
      try context.forEachStored(request.entityName, selection) { object throws(ManagedObjectError) in
        do throws(FetchError) {
          if !changed.isEmpty, changed.contains(object) { return true }
          if isEvaluated, try !matches(object) { return true }
          goesOn = try passWaiting(before: object)
          if goesOn { goesOn = try pass(object) }
        } catch {
          failure = error
          return false
        }
        return goesOn
      }
    }
    if let failure { throw failure }
    if goesOn { _ = try passWaiting(before: nil) }
  }

  func count() throws(FetchError) -> Int {
    guard changed.isEmpty, !isEvaluated else {
      var count = 0
      try run { _ in
        count += 1
        return true
      }
      return count
    }
    let selection = RowSelection(
      where: condition, bindings: bindings, limit: request.fetchLimit > 0 ? request.fetchLimit : nil,
      offset: max(0, request.fetchOffset), includesSubentities: request.includesSubentities)
    return try objectErrors { () throws(ManagedObjectError) in
      try context.countStored(request.entityName, selection)
    }
  }

  // MARK: Errors

  private func evaluating<Value>(_ body: () throws -> Value) throws(FetchError) -> Value {
    do {
      return try body()
    } catch {
      throw wrap(error)
    }
  }

  private func wrap(_ error: any Error) -> FetchError {
    switch error {
    case let error as EvaluationError: .condition(entity: request.entityName, error)
    case let error as ManagedObjectError: .object(error)
    default: .functionFailed(entity: request.entityName, underlying: error)
    }
  }

  private func objectErrors<Value>(
    _ body: () throws(ManagedObjectError) -> Value
  ) throws(FetchError) -> Value {
    let functions = context.store.connection.expressionFunctions
    _ = functions.takeFailure()
    do throws(ManagedObjectError) {
      return try body()
    } catch {
      // SQLite passes on only the text of a function's error.
      if let failure = functions.takeFailure() { throw wrap(failure) }
      throw .object(error)
    }
  }
}

extension Sequence {
  fileprivate func sorted<Failure: Error>(
    wrapping comesBefore: (Element, Element) throws(Failure) -> Bool
  ) throws(Failure) -> [Element] {
    var failure: Failure?
    let sorted = sorted { left, right in
      guard failure == nil else { return false }
      do throws(Failure) {
        return try comesBefore(left, right)
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
    return sorted
  }
}
