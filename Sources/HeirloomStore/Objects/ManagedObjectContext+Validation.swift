import HeirloomModel

extension ManagedObjectContext {
  /// Looks whether an object is as its model wants it: required properties, rules for values, numbers of related objects.
  ///
  /// A streaming context writes without looking; a migration asks for each object when all are there. That values differ
  /// where they must is left to the store's indexes.
  ///
  /// - Parameter object: An object of this context that is not deleted.
  /// - Throws: ``ManagedObjectError`` for the first thing that is not as it should be.
  package func validate(_ object: ManagedObject) throws(ManagedObjectError) {
    guard object.context === self else { throw .otherContext(entity: object.entityName) }
    try validate(object, onlyChanges: false)
  }

  /// Looks at a changed object before it is saved.
  ///
  /// What an object had before and nobody changed is not refused.
  func validateChanges(of object: ManagedObject) throws(ManagedObjectError) {
    try validate(object, onlyChanges: !object.isNew)
  }

  private func validate(_ object: ManagedObject, onlyChanges: Bool) throws(ManagedObjectError) {
    let plan = object.plan
    for (property, slot) in plan.required where !onlyChanges || object.isChanged(slot) {
      guard try object.storedValue(slot) == .null, !isToBeLinked(object, slot) else { continue }
      throw .missingValue(entity: object.entityName, property: property)
    }
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

  /// Looks at the rules for a composite attribute as a whole; those of its elements are like others'.
  private static func validateRules(
    of composite: AttributeDescription, _ object: ManagedObject
  ) throws(ManagedObjectError) {
    guard !composite.validationRules.isEmpty, let value = try object.value(forAttribute: composite.name) else { return }
    for rule in composite.validationRules where !isMet(rule, by: .value(value)) {
      throw .invalidValue(
        entity: object.entityName, property: composite.name, rule: rule.predicate.predicateFormat)
    }
  }

  /// Whether a key is to lead to an object that has no key yet.
  private func isToBeLinked(_ object: ManagedObject, _ slot: Int) -> Bool {
    object.pendingReference(slot).map { !$0.isDeleted } ?? false
  }

  /// Whether a value is as a rule wants it; a rule that can't be evaluated here refuses nothing.
  private static func isMet(_ rule: ValidationRule, by value: EvaluatedValue) -> Bool {
    (try? ExpressionEvaluator().evaluate(rule.predicate, on: value)) ?? true
  }
}
