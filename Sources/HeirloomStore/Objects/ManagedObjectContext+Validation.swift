package import HeirloomModel

extension ManagedObjectContext {
  /// Validates an object against its model: required properties, rules for values, numbers of related objects.
  ///
  /// A streaming context writes without validating; a migration validates each object when all are there. The store's
  /// indexes see to it that values differ where they must.
  ///
  /// - Parameter object: An object of this context that is not deleted.
  /// - Throws: ``ManagedObjectError`` for the first thing that is not as it should be.
  package func validate(_ object: ManagedObject) throws(ManagedObjectError) {
    guard object.context === self else { throw .otherContext(entity: object.entityName) }
    try validate(object, onlyChanges: false)
  }

  /// Validates a changed object before it is saved.
  ///
  /// Values that an object had before and that nobody changed are not refused.
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

  /// Validates a composite attribute as a whole; the rules of its elements are validated like others.
  private static func validateRules(
    of composite: AttributeDescription, _ object: ManagedObject
  ) throws(ManagedObjectError) {
    guard !composite.validationRules.isEmpty, let value = try object.value(forAttribute: composite.name) else { return }
    for rule in composite.validationRules where !isMet(rule, by: .value(value)) {
      throw .invalidValue(
        entity: object.entityName, property: composite.name, rule: rule.predicate.predicateFormat)
    }
  }

  /// Returns true if the model has rules for values of an entity's objects.
  ///
  /// - Parameter entityName: The entity's name.
  /// - Returns: True if ``validateRules(of:)`` has something to validate.
  /// - Throws: ``ManagedObjectError/unknownEntity(_:nearest:)``.
  package func hasRules(forEntity entityName: String) throws(ManagedObjectError) -> Bool {
    let plan = try plan(for: entityName)
    return !plan.ruledSlots.isEmpty || !plan.composites.isEmpty
  }

  /// Validates an object's values against the rules of its model, and composites as a whole.
  ///
  /// - Parameter object: An object of this context that is not deleted.
  /// - Throws: ``ManagedObjectError/invalidValue(entity:property:rule:)`` for the first value that breaks a rule, or
  ///   ``ManagedObjectError/missingValue(entity:property:)`` for an element.
  package func validateRules(of object: ManagedObject) throws(ManagedObjectError) {
    try validateRules(of: object, onlyChanges: false)
  }

  /// Returns an entity's to-many relationships that lead to a limited number of objects, with their links' storage.
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

  /// Notes a changed object that a save would refuse; a later validation shows whether it was mended.
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

  /// Leaves the rows that were noted since the last call to a holder, who validates them later.
  ///
  /// - Parameter holder: The holder's number, from 0.
  /// - Throws: ``ManagedObjectError``.
  package func leaveSuspects(to holder: Int) throws(ManagedObjectError) {
    try sql { () throws(SQLiteError) in try suspects?.leave(to: holder) }
  }

  /// Takes some of the rows that were left to a holder, as far as they could be seen at once to be wrong.
  ///
  /// - Parameter holder: The holder's number.
  /// - Returns: Rows, which may have been changed again; none when there are no more.
  /// - Throws: ``ManagedObjectError``.
  package func takeSuspects(leftTo holder: Int) throws(ManagedObjectError) -> [Suspect] {
    try sql { () throws(SQLiteError) in try suspects?.take(leftTo: holder) ?? [] }
  }

  /// Forgets rows that nobody validated, at the end of a streaming context's work.
  ///
  /// - Throws: ``ManagedObjectError``.
  package func removeSuspects() throws(ManagedObjectError) {
    try sql { () throws(SQLiteError) in try suspects?.remove() }
    suspects = nil
  }

  /// Returns true if a key is to lead to an object that has no key yet.
  private func isToBeLinked(_ object: ManagedObject, _ slot: Int) -> Bool {
    object.pendingReference(slot).map { !$0.isDeleted } ?? false
  }

  /// Returns true if a value meets a rule; a rule that can't be evaluated here refuses nothing.
  private static func isMet(_ rule: ValidationRule, by value: EvaluatedValue) -> Bool {
    (try? ExpressionEvaluator().evaluate(rule.predicate, on: value)) ?? true
  }
}
