import HeirloomModel

extension ManagedObjectContext {
  /// Deletes an object and applies its delete rules.
  ///
  /// Whatever the rule, no remaining object keeps a key or link to a deleted one, if the relationship has an inverse.
  ///
  /// - Parameter object: An object of this context.
  /// - Throws: ``ManagedObjectError/deletionDenied(entity:relationship:)`` if a rule forbids it; nothing is deleted.
  public func delete(_ object: ManagedObject) throws(ManagedObjectError) {
    try checkWritable()
    guard object.context === self else { throw .otherContext(entity: object.entityName) }
    closeLists()
    let objects = try cascade(from: object)
    let doomed = Set(objects)
    for object in objects {
      for relationship in object.plan.relationships where relationship.description.deleteRule == .deny {
        guard try destinations(of: object, relationship).allSatisfy(doomed.contains) else {
          throw .deletionDenied(entity: object.entityName, relationship: relationship.name)
        }
      }
    }
    for object in objects {
      for relationship in object.plan.relationships { try detach(object, relationship) }
    }
    for object in objects {
      object.isDeleted = true
      object.plan.edits?.noteDeletion(of: object.key)
      noteChange(of: object)
    }
  }

  private func cascade(from object: ManagedObject) throws(ManagedObjectError) -> [ManagedObject] {
    var found: [ManagedObject] = []
    var seen: Set<ManagedObject> = [object]
    var next = object.isDeleted ? [] : [object]
    while let object = next.popLast() {
      found.append(object)
      for relationship in object.plan.relationships where relationship.description.deleteRule == .cascade {
        for destination in try destinations(of: object, relationship) where seen.insert(destination).inserted {
          next.append(destination)
        }
      }
    }
    return found
  }

  private func destinations(
    of object: ManagedObject, _ relationship: PlannedRelationship
  ) throws(ManagedObjectError) -> [ManagedObject] {
    try object.relatedObjects(byRelationship: relationship.name)
  }

  /// Removes other objects' keys and links that refer to the object.
  private func detach(
    _ object: ManagedObject, _ relationship: PlannedRelationship
  ) throws(ManagedObjectError) {
    switch relationship.storage {
    case .key:
      guard case .key(_, let column, _) = relationship.inverse?.storage,
        let other = try object.relatedObjects(byRelationship: relationship.name).first, !other.isDeleted
      else { return }
      setReference(to: nil, column: column, of: other)
    case .inverseKey, .inverselessKey, .join:
      try object.setObjects([], forRelationship: relationship.name)
    }
  }
}
