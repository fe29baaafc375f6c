import Foundation
import HeirloomMapping
import HeirloomModel
import HeirloomStore

extension MigrationManager {
  /// Runs inside the caller's transaction, which must be rolled back if this throws.
  func run(policies: MigrationPolicyRegistry) throws -> RowRunOutcome {
    do {
      try prepare(policies: policies)
      for run in runs { try create(run) }
      try relateLateLinks()
      for run in runs { try relate(run) }
      for run in runs { try validate(run) }
      try destinationContext.writePendingChanges()
      // Rows that changed after they were validated.
      for run in runs { try validateWritten(by: run) }
      try validateLateLinks()
      currentEntityMapping = nil
      try destinationContext.writeKeyCounters()
      try account?.findUndone()
      try destinationContext.removeSearchIndexes()
      let outcome = try outcome()
      try removeTables()
      return outcome
    } catch {
      try? removeTables()
      throw error
    }
  }

  private func removeTables() throws {
    runs.removeAll()
    try account?.remove()
    account = nil
    try associations.removeAll()
    try destinationContext.removeSuspects()
  }

  private func prepare(policies: MigrationPolicyRegistry) throws {
    let byRow = Set(setting.split.byRow.map(\.name))
    for mapping in mappingModel.entityMappings {
      guard byRow.contains(mapping.name) else {
        try associations.add(mapping: mapping.name, rule: rule(of: mapping))
        continue
      }
      try associations.add(mapping: mapping.name, rule: nil)
    }
    for mapping in setting.split.byRow {
      runs.append(try RowMapping(mapping, policy: policies.policy(for: mapping), setting: setting))
    }
    account = try CodeAccount(runs, setting: setting, associations: associations)
  }

  /// A mapping without a source or destination matches no objects.
  private func rule(of mapping: EntityMapping) -> Associations.Rule {
    guard let source = mapping.sourceEntityName.flatMap({ setting.source.entity(named: $0) }),
      let destination = mapping.destinationEntityName.flatMap({ setting.destination.entity(named: $0) })
    else { return Associations.Rule(sourceEntity: -1, destinationEntity: -1, offset: 0) }
    return Associations.Rule(
      sourceEntity: source.number, destinationEntity: destination.number,
      offset: setting.keys.offset(from: source.rootName, to: destination.rootName))
  }

  // MARK: Phases

  private func create(_ run: RowMapping) throws {
    currentEntityMapping = run.mapping
    try call(.begin, run) { try run.policy.begin(run.mapping, manager: self) }
    if let source = run.source {
      let evaluator = evaluator(for: run)
      // A condition that SQL can't evaluate is checked object by object.
      let (selection, condition) = run.selection(setting: setting, evaluator: evaluator)
      var visited: Int64 = 0
      try forEachSource(source, selection) { object in
        try call(.createDestinationInstances, run, object) {
          try checkCancellation()
          if let condition, try !isTaken(object, condition, evaluator) { return }
          run.sourceObjects += 1
          account?.note(object, in: \.given, of: run)
          try createInstances(of: object, run)
        }
        visited += 1
        // Reporting progress costs more than a row.
        if visited % 128 == 0 { progress.completedUnitCount += 128 }
      }
      progress.completedUnitCount += visited % 128
    }
    try call(.endInstanceCreation, run) { try run.policy.endInstanceCreation(for: run.mapping, manager: self) }
    try noteWritten(by: run)
  }

  private func isTaken(
    _ object: ManagedObject, _ condition: PredicateDescription, _ evaluator: ExpressionEvaluator
  ) throws -> Bool {
    guard let account else { return try evaluator.evaluate(condition, on: .object(object)) }
    return try account.withoutNotes { try evaluator.evaluate(condition, on: .object(object)) }
  }

  private func forEachSource(
    _ entity: PhysicalEntity, _ selection: RowSelection, _ body: (ManagedObject) throws -> Void
  ) throws {
    var failure: (any Error)?
    try sourceContext.forEachStored(
      entity.name, selection
    ) { object in
      do {
        try body(object)
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  private func createInstances(of object: ManagedObject, _ run: RowMapping) throws {
    let made = run.destination.map { destinationContext.insertedObjects(ofEntity: $0.number) } ?? 0
    let associated = associatedObjects
    try run.policy.createDestinationInstances(forSource: object, in: run.mapping, manager: self)
    let madeNow = (run.destination.map { destinationContext.insertedObjects(ofEntity: $0.number) } ?? 0) - made
    if madeNow > 0, associatedObjects - associated < madeNow {
      throw MigrationManagerError.notAssociated(
        entity: run.mapping.destinationEntityName ?? "", made: madeNow - (associatedObjects - associated))
    }
    run.destinationObjects += associatedObjects - associated
  }

  private func relate(_ run: RowMapping) throws {
    currentEntityMapping = run.mapping
    if run.policy.createsRelationships {
      // The standard policy has nothing to do for a mapping that sets no relationship.
      let isStandard = type(of: run.policy) == EntityMigrationPolicy.self
      if !isStandard || !run.relationships.isEmpty {
        try associations.forEachDestination(ofMapping: run.mapping.name, wrapping: { $0 as any Error }) { key in
          guard
            let object = try destinationContext.object(numbered: key.entity, primaryKey: key.primaryKey)
          else { return }
          try call(.createRelationships, run, object) {
            try checkCancellation()
            try run.policy.createRelationships(forDestination: object, in: run.mapping, manager: self)
          }
        }
      }
    }
    try call(.endRelationshipCreation, run) {
      try run.policy.endRelationshipCreation(for: run.mapping, manager: self)
    }
    try noteWritten(by: run)
  }

  private func validate(_ run: RowMapping) throws {
    currentEntityMapping = run.mapping
    try call(.performCustomValidation, run) {
      try run.policy.performCustomValidation(for: run.mapping, manager: self)
    }
    try noteWritten(by: run)
    // A policy that made objects of another mapping's destination leaves their validation to that mapping.
    let others = Set(runs.filter { $0 !== run }.compactMap(\.destination?.number))
    run.writtenEntities.subtract(others)
    if let own = run.destination?.number { run.writtenEntities.insert(own) }
    try validateWritten(by: run)
    try call(.end, run) {
      try run.policy.end(run.mapping, manager: self)
      // After the last mapping, no further object checks for cancellation.
      try checkCancellation()
    }
    try noteWritten(by: run)
  }

  private func noteWritten(by run: RowMapping) throws {
    run.writtenEntities.formUnion(destinationContext.takeWrittenEntities())
    try destinationContext.leaveSuspects(to: place(of: run))
  }

  private func place(of run: RowMapping) -> Int { runs.firstIndex { $0 === run } ?? runs.count }

  /// For objects whose own mapping ran as SQL, only the additions and changes of code are checked.
  private func validateWritten(by run: RowMapping) throws {
    currentEntityMapping = run.mapping
    let made = MadeObjects(context: destinationContext, setting: setting)
    for entity in run.writtenEntities.sorted().compactMap({ setting.destination.entity(numbered: $0) }) {
      try check(run) {
        let isCopied = setting.split.declarative.entityMappings.contains {
          $0.destinationEntityName == entity.name && $0.sourceEntityName != nil
        }
        let key = isCopied ? destinationContext.keyBeforeInsertions(inTreeOf: entity) : nil
        if isCopied, key == nil { return }
        try made.fill(entity, after: key) { filled[$0, default: 0] += $1 }
        try made.check(entity, after: key)
      }
    }
    let place = place(of: run)
    while case let suspects = try destinationContext.takeSuspects(leftTo: place), !suspects.isEmpty {
      for suspect in suspects { try check(run) { try made.check(suspect) } }
    }
    run.writtenEntities.removeAll()
  }

  private func check(_ run: RowMapping, _ body: () throws -> Void) throws {
    try call(.performCustomValidation, run) {
      do {
        try checkCancellation()
        if let account { try account.withoutNotes(body) } else { try body() }
      } catch let fault as MadeObjects.Fault {
        throw EntityMappingFailure(
          mapping: run.mapping.name, hook: .performCustomValidation, entity: fault.entity,
          object: ManagedObjectID(
            storeIdentifier: setting.destinationStore.metadata.identifier, entityName: fault.entity,
            primaryKey: fault.primaryKey), underlying: fault.underlying)
      }
    }
  }

  private func outcome() throws -> RowRunOutcome {
    let candidate = quote(SchemaName.candidate)
    var objects: [String: Int64] = [:]
    var rowCounts: [String: Int64] = [:]
    for table in destinationContext.writtenTables {
      rowCounts[table] =
        try setting.connection.firstInteger("SELECT COUNT(*) FROM \(candidate).\(quote(table))") ?? 0
      let entities = setting.destination.entities.filter { $0.table == table }
      for entity in entities {
        objects[entity.name] =
          entities.count == 1
          ? rowCounts[table]
          : try setting.connection.firstInteger(
            "SELECT COUNT(*) FROM \(candidate).\(quote(table)) WHERE \(quote(PhysicalName.entity)) = \(entity.number)")
      }
    }
    // A mapping whose policy made no objects also has a count.
    for name in runs.compactMap(\.mapping.destinationEntityName) where objects[name] == nil {
      guard let entity = setting.destination.entity(named: name) else { continue }
      objects[name] = try setting.connection.firstInteger(
        "SELECT COUNT(*) FROM \(candidate).\(quote(entity.table)) WHERE \(quote(PhysicalName.entity)) = \(entity.number)"
      )
    }
    let results = try runs.map(result)
    let losses = try account?.losses(results)
    return RowRunOutcome(
      results: results, objects: objects, rowCounts: rowCounts, losses: losses?.new ?? [],
      recounted: losses?.recounted ?? [],
      removedLinks: removedLinks, filled: filled)
  }

  private func result(of run: RowMapping) throws -> EntityMappingResult {
    var left: Int64 = 0
    if let source = run.source {
      left = try associations.unassociated(entity: source.number, table: source.table)
    }
    return EntityMappingResult(
      mapping: run.mapping.name, policy: run.mapping.entityMigrationPolicyClassName,
      sourceEntity: run.mapping.sourceEntityName, destinationEntity: run.mapping.destinationEntityName,
      sourceObjects: Int64(run.sourceObjects), destinationObjects: Int64(run.destinationObjects), leftBehind: left)
  }

  // MARK: Calling

  private func call(
    _ hook: MigrationHook, _ run: RowMapping, _ object: ManagedObject? = nil, _ body: () throws -> Void
  ) throws {
    do {
      try withAutoreleasePool(body)
      try sourceContext.throwDeferredError()
      try destinationContext.writePendingChanges()
    } catch let error as EntityMappingFailure {
      throw error
    } catch {
      // Cancelling interrupts the statements that a policy runs, so its error may be any error of the store.
      if progress.isCancelled { throw MigrationError.cancelled }
      throw EntityMappingFailure(
        mapping: run.mapping.name, hook: hook,
        entity: object?.entityName ?? run.mapping.destinationEntityName ?? run.mapping.sourceEntityName ?? "",
        object: object?.objectID, underlying: error)
    }
  }

  private func checkCancellation() throws {
    if let cancellation { throw cancellation }
    if progress.isCancelled { throw MigrationError.cancelled }
  }
}
