package import HeirloomModel

extension ManagedObjectContext {
  /// A streaming context writes without validating; a migration validates all objects at the end.
  ///
  /// The store's indexes enforce unique values.
  package func validate(_ object: ManagedObject) throws(ManagedObjectError) {
    guard object.context === self else { throw .otherContext(entity: object.entityName) }
    try validate(object, onlyChanges: false)
  }

  func validateChanges(of object: ManagedObject) throws(ManagedObjectError) {
    try validate(object, onlyChanges: !object.isNew)
  }

  private func validate(_ object: ManagedObject, onlyChanges: Bool) throws(ManagedObjectError) {
    let plan = object.plan
    for (property, slot) in plan.required where !onlyChanges || object.isChanged(slot) {
      guard try object.storedValue(slot) == .null, !isToBeLinked(object, slot) else { continue }
      throw .missingValue(entity: object.entityName, property: property)
    }
    try validateRules(of: object, onlyChanges: onlyChanges)
    for relationship in plan.countedRelationships where !onlyChanges || object.linkChanges[relationship.name] != nil {
      let description = relationship.description
      let count = try object.objects(forRelationship: relationship.name).count
      guard count > 0 || !description.isOptional else { continue }
      if count < description.minCount {
        throw .tooFewObjects(
          entity: object.entityName, relationship: relationship.name, found: count, minimum: description.minCount)
      }
      if description.maxCount > 1, count > description.maxCount {
        throw .tooManyObjects(
          entity: object.entityName, relationship: relationship.name, found: count, maximum: description.maxCount)
      }
    }
  }

  /// As a whole; the rules of its elements are validated by slot.
  private static func validateRules(
    of composite: AttributeDescription, _ object: ManagedObject
  ) throws(ManagedObjectError) {
    guard !composite.validationRules.isEmpty, let value = try object.value(forAttribute: composite.name) else { return }
    for rule in composite.validationRules where !isMet(rule, by: .value(value)) {
      throw .invalidValue(
        entity: object.entityName, property: composite.name, rule: rule.predicate.predicateFormat)
    }
  }

  package func hasRules(forEntity entityName: String) throws(ManagedObjectError) -> Bool {
    let plan = try plan(for: entityName)
    return !plan.ruledSlots.isEmpty || !plan.composites.isEmpty
  }

  package func validateRules(of object: ManagedObject) throws(ManagedObjectError) {
    try validateRules(of: object, onlyChanges: false)
  }

  package func countedRelationships(
    ofEntity entityName: String
  ) throws(ManagedObjectError) -> [(description: RelationshipDescription, storage: RelationshipStorage)] {
    try plan(for: entityName).countedRelationships.map { ($0.description, $0.storage) }
  }

  private func validateRules(of object: ManagedObject, onlyChanges: Bool) throws(ManagedObjectError) {
    let plan = object.plan
    for slot in plan.ruledSlots where !onlyChanges || object.isChanged(slot) {
      guard let value = try object.value(ofSlot: slot) else { continue }
      let attribute = plan.attributes[slot]
      for rule in attribute.description.validationRules
      where !Self.isMet(rule, by: .value(value)) {
        throw .invalidValue(
          entity: object.entityName, property: attribute.path, rule: rule.predicate.predicateFormat)
      }
    }
    for composite in plan.composites where !onlyChanges || object.isChanged(composite) {
      try object.validate(composite, at: composite.name, mustHaveValue: !composite.isOptional)
      try Self.validateRules(of: composite, object)
    }
  }

  /// Records an object that a save would reject; later validation shows whether it was corrected.
  func suspect(_ object: ManagedObject) throws(ManagedObjectError) {
    let plan = object.plan
    let lacks = plan.required.contains { required in
      if case .null = object.pendingValue(required.slot) { true } else { false }
    }
    let hasRules = !plan.ruledSlots.isEmpty || !plan.composites.isEmpty
    guard lacks || hasRules && (try? validateRules(of: object, onlyChanges: true)) == nil else {
      return
    }
    try sql { () throws(SQLiteError) in
      if suspects == nil {
        suspects = try SuspectTable(connection: store.connection, statements: store.statements)
      }
      try suspects?.note(Suspect(entity: plan.entity.number, primaryKey: object.key))
    }
  }

  /// Assigns rows recorded since the last call; the holder validates them later.
  package func leaveSuspects(to holder: Int) throws(ManagedObjectError) {
    try sql { () throws(SQLiteError) in try suspects?.leave(to: holder) }
  }

  /// The rows may have been changed again since they were recorded.
  package func takeSuspects(leftTo holder: Int) throws(ManagedObjectError) -> [Suspect] {
    try sql { () throws(SQLiteError) in try suspects?.take(leftTo: holder) ?? [] }
  }

  /// At the end of a streaming context's work.
  package func removeSuspects() throws(ManagedObjectError) {
    try sql { () throws(SQLiteError) in try suspects?.remove() }
    suspects = nil
  }

  private func isToBeLinked(_ object: ManagedObject, _ slot: Int) -> Bool {
    object.pendingReference(slot).map { !$0.isDeleted } ?? false
  }

  /// A rule that can't be evaluated counts as met.
  private static func isMet(_ rule: ValidationRule, by value: EvaluatedValue) -> Bool {
    (try? ExpressionEvaluator().evaluate(rule.predicate, on: value)) ?? true
  }
}
