extension ManagedObjectContext {
  /// Returns an object by the number of its entity and its primary key.
  ///
  /// - Parameters:
  ///   - number: The entity's number.
  ///   - primaryKey: The key.
  /// - Returns: `nil` if there is no such object, or it was deleted.
  /// - Throws: ``ManagedObjectError``.
  package func object(numbered number: Int, primaryKey: Int64) throws(ManagedObjectError) -> ManagedObject? {
    guard let plan = store.plan(numbered: number) else { return nil }
    let object = try object(inTreeOf: plan, key: primaryKey)
    return object?.isDeleted == true ? nil : object
  }

  /// Returns the number of an object's entity and its key; `nil` if it is of another context or has no key yet.
  package func key(of object: ManagedObject) -> (entity: Int, primaryKey: Int64)? {
    guard object.contextReference.toOpaque() == Unmanaged.passUnretained(self).toOpaque(), object.key != 0 else {
      return nil
    }
    return (object.plan.entity.number, object.key)
  }

  /// Throws the first error that a subscript left.
  package func throwDeferredError() throws(ManagedObjectError) {
    if let error = takeDeferredError() { throw error }
  }

  /// Returns the required properties of an entity with the columns that must have a value.
  package func requiredColumns(
    ofEntity name: String
  ) throws(ManagedObjectError) -> [(property: String, column: String)] {
    let plan = try plan(for: name)
    return plan.required.map { ($0.property, plan.columns[$0.slot]) }
  }
}

extension ManagedObject {
  /// Returns true if the object's entity is exactly the one of a name.
  package func isOf(_ entityName: String?) -> Bool { plan.entity.name == entityName }

  /// Sets the stored value of a column without checking it, for values that SQL has made.
  ///
  /// - Parameters:
  ///   - value: The value as it is stored.
  ///   - column: A column of the object's table.
  package func setStoredValue(_ value: SQLiteValue, inColumn column: String) {
    guard let slot = plan.slot(ofColumn: column) else { return }
    change(slot, toValue: value)
  }
}
