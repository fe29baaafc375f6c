extension ManagedObjectContext {
  package func object(numbered number: Int, primaryKey: Int64) throws(ManagedObjectError) -> ManagedObject? {
    guard let plan = store.plan(numbered: number) else { return nil }
    let object = try object(inTreeOf: plan, key: primaryKey)
    return object?.isDeleted == true ? nil : object
  }

  package func key(of object: ManagedObject) -> (entity: Int, primaryKey: Int64)? {
    guard object.contextReference.toOpaque() == Unmanaged.passUnretained(self).toOpaque(), object.key != 0 else {
      return nil
    }
    return (object.plan.entity.number, object.key)
  }

  package func throwDeferredError() throws(ManagedObjectError) {
    if let error = takeDeferredError() { throw error }
  }

  package func requiredColumns(
    ofEntity name: String
  ) throws(ManagedObjectError) -> [(property: String, column: String)] {
    let plan = try plan(for: name)
    return plan.required.map { ($0.property, plan.columns[$0.slot]) }
  }
}

extension ManagedObject {
  package func isOf(_ entityName: String?) -> Bool { plan.entity.name == entityName }
}

extension Statement {
  /// Unchecked, for values that SQL computed; positions count from 0.
  package func giveValue(at position: Int, to object: ManagedObject, inColumn column: String) {
    guard let slot = object.plan.slot(ofColumn: column) else { return }
    // Text may contain invalid UTF-8, which a `String` would replace.
    guard object.isStreaming, object.plan.kinds[slot].isText, storageClass(at: position) == .text else {
      return object.change(slot, toValue: value(at: position))
    }
    withStoredBytes(at: position) { object.change(slot, toCopyOf: $0) }
  }
}
